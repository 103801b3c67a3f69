//! The operand that an instruction could not use, in the words of the source: `row->next`, where `row` is NULL.

use super::crash_state::{CrashState, ProgramMemory};
use crate::program::accesses::{self, Mode};
use crate::program::origins;
use crate::program::variables::{MemoryPiece, RegisterValues, Variables, View};
use crate::program::{Leader, LeaderId};
use crate::run::Operand;

/// The operand of the instruction that has stopped because of `address`; `None` if the debug information does not tell.
pub(super) fn told(
    scene: &CrashState<'_>,
    variables: &Variables,
    at: &RegisterValues,
    address: u64,
) -> Option<Operand> {
    let text = scene.placement.text(at.pc)?;
    let effect = accesses::effect(&text[..text.len().min(15)], at)?;
    let holds = |piece: &MemoryPiece| address.checked_sub(piece.address).is_some_and(|at| at < piece.length);
    let &(piece, mode) = effect.accesses.iter().find(|(piece, _)| holds(piece))?;
    let (first, leader, end) = around(scene, at.pc)?;
    let bias = scene.placement.bias(leader.image);
    let memory = ProgramMemory(scene.tracee);
    let start = first.address.0.wrapping_add(bias);
    let code = scene.placement.text(start)?;
    let length = end.wrapping_add(bias).wrapping_sub(start).min(code.len() as u64) as usize;
    let line = leader.address.0.wrapping_add(bias);
    let pointers = origins::pointers((start, &code[..length]), line, at, &memory);
    let followed = pointers.as_ref().map_or(&[][..], |pointers| &pointers.read);
    let view = View { function: leader.function, registers: at, bias, memory: &memory, followed };
    let through = pointers.as_ref().and_then(|pointers| variables.through(view, pointers.last, piece));
    let is_written = mode != Mode::Read;
    if let Some((pointer, part)) = through {
        let value = variables.value(&pointer, &memory)?.text;
        return Some(Operand { name: part.name, pointer: Some((pointer.name, value)), is_written });
    }
    let named = variables.name(view, piece)?;
    Some(Operand { name: named.name, pointer: None, is_written })
}

/// The first leader of the function that holds an instruction, the last one before the instruction, and the
/// address at which another function begins.
fn around<'s>(scene: &'s CrashState<'_>, pc: u64) -> Option<(&'s Leader, &'s Leader, u64)> {
    let program = scene.program;
    let place = scene.placement.image_place(program, pc)?;
    let leaders = program.leaders().iter().filter(|leader| leader.image == place.image);
    let before = leaders.clone().filter(|leader| leader.address <= place.address);
    let latest = before.max_by_key(|leader| leader.address)?;
    let first = program.leader(LeaderId(program.function(latest.function).leaders.start));
    let others = leaders.filter(|leader| leader.function != latest.function);
    let behind = others.map(|leader| leader.address.0).filter(|&address| address > place.address.0);
    (first.address <= latest.address).then_some((first, latest, behind.min().unwrap_or(u64::MAX)))
}
