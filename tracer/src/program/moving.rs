//! The code after a leader that may be moved away, so that a jump can stand in its place.
//!
//! Whatever control can come to from elsewhere has to stay where it is: leaders, the targets of jumps, the places after
//! calls, landing pads of exceptions. Where an indirect jump goes, its table tells; or else everything in the image's
//! data that looks like an address in the function.

use std::collections::HashSet;

use iced_x86::{Mnemonic, RflagsBits};

use super::code::{Code, ControlFlow};
use super::flow::JumpTables;

/// The most that is ever moved from one leader, in bytes.
const MOST: u64 = 64;

/// The instructions of a function, by index, to which control can come other than from the one before.
pub(super) struct JumpTargets(HashSet<usize>);

impl JumpTargets {
    /// The jump targets of the function with this code. `pointers` hands out what looks like an address of code in the
    /// image's data.
    pub(super) fn new<'p>(
        code: &Code,
        leaders: &[usize],
        tables: &JumpTables,
        pointers: impl FnOnce() -> &'p [u64],
    ) -> JumpTargets {
        let predecessors = code.predecessors();
        let stands_alone = |insn: &usize| {
            predecessors[*insn].is_empty() || code.at(*insn).iced.mnemonic() == Mnemonic::Endbr64
        };
        let mut landings: HashSet<usize> = (0..predecessors.len()).filter(stands_alone).collect();
        landings.extend(leaders);
        let targets = code.insns().iter().filter_map(|insn| insn.flow.target());
        landings.extend(targets.filter_map(|target| code.index_of(target)));
        landings.extend(tables.targets());
        if !tables.are_complete() {
            landings.extend(pointers().iter().filter_map(|&pointer| code.index_of(pointer)));
        }
        JumpTargets(landings)
    }

    /// The number of bytes of code from `start` on that may be moved: whole instructions, up to the next landing or the
    /// end of the first that ends the straight line.
    pub(super) fn movable(&self, code: &Code, start: usize) -> u8 {
        let first = code.at(start).address;
        let mut end = code.at(start).end();
        let mut last = start;
        while let Some(next) = code.fall_through(last) {
            let room = code.at(next).end() - first <= MOST;
            if code.at(last).flow == ControlFlow::Call || self.0.contains(&next) || !room {
                break;
            }
            end = code.at(next).end();
            last = next;
        }
        (end - first) as u8
    }
}

/// The jumps of a function to addresses that are not its own.
pub(super) fn jumps_out(code: &Code) -> impl Iterator<Item = u64> {
    let targets = code.insns().iter().filter_map(|insn| insn.flow.target());
    targets.filter(|&target| code.index_of(target).is_none())
}

/// Whether a status flag is live after each instruction: read before it is written. Calls and returns hand on no flags
/// (System V ABI); where an indirect jump goes is not asked.
pub(super) fn flags_live(code: &Code) -> Vec<bool> {
    let mut live = vec![0; code.insns().len()];
    let mut changed = true;
    while changed {
        changed = false;
        for insn in (0..live.len()).rev() {
            let iced = &code.at(insn).iced;
            let behind = match code.at(insn).flow {
                ControlFlow::Call | ControlFlow::Return | ControlFlow::Halt => 0,
                ControlFlow::Indirect => STATUS_FLAGS,
                ControlFlow::Next | ControlFlow::Jump(_) | ControlFlow::Branch(_) => {
                    code.successors(insn).fold(0, |flags, successor| flags | live[successor])
                }
            };
            let written = iced.rflags_modified() & !iced.rflags_undefined();
            let before = (iced.rflags_read() | behind & !written) & STATUS_FLAGS;
            changed |= before != live[insn];
            live[insn] = before;
        }
    }
    live.into_iter().map(|flags| flags != 0).collect()
}

/// The flags that carry a result from one instruction to the next. The direction flag and the like
/// are settings, which every statement may rely on.
pub(super) const STATUS_FLAGS: u32 =
    RflagsBits::OF | RflagsBits::SF | RflagsBits::ZF | RflagsBits::AF | RflagsBits::CF | RflagsBits::PF;
