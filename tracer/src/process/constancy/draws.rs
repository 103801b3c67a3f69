//! Answer the instructions by which libraries get random numbers from the processor.
//!
//! They cannot be trapped, and a program that asks whether they exist cannot be denied them. So at the
//! start, once its libraries are in memory, an instruction that faults is put in their place. C++'s
//! `std::random_device` is one that uses them.

use std::collections::HashMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use libc::user_regs_struct;
use nix::unistd::Pid;

use super::super::mapped::Mapped;
use super::chance::Chance;
use crate::program::{Draw, draws};

/// `ud2`, which is shorter than what it stands for.
const FAULT: [u8; 2] = [0x0f, 0x0b];
/// The carry flag, by which the instructions say that they have a number; and the flags that they clear.
const CARRY: u64 = 1;
const CLEARED: u64 = 0x8d4;

/// Those of a program, by their addresses.
pub(super) type Draws = Arc<HashMap<u64, Draw>>;

/// Traps those in the libraries of a process.
pub(super) fn trap(pid: Pid) -> Draws {
    let program = fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default();
    let mut trapped = HashMap::new();
    for mapped in Mapped::of(pid).into_iter().filter(|mapped| mapped.is_code && mapped.path != program) {
        for draw in known(&mapped.path).iter() {
            let place = draw.offset.checked_sub(mapped.offset).filter(|&place| place < mapped.length);
            trapped.extend(place.map(|place| (mapped.start.0 + place, *draw)));
        }
    }
    if !trapped.is_empty() {
        // As a debugger does: the text cannot be written otherwise.
        let memory = File::options().write(true).open(format!("/proc/{pid}/mem"));
        let written = |&at: &u64| memory.as_ref().is_ok_and(|memory| memory.write_all_at(&FAULT, at).is_ok());
        trapped.retain(|at, _| written(at));
    }
    Arc::new(trapped)
}

/// Those of a file, which is read once.
fn known(path: &Path) -> Arc<[Draw]> {
    static KNOWN: Mutex<Option<HashMap<PathBuf, Arc<[Draw]>>>> = Mutex::new(None);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_default();
    Arc::clone(known.entry(path.to_owned()).or_insert_with(|| draws(path).into()))
}

/// The registers behind a trapped instruction.
pub(super) fn execute(draw: Draw, chance: &mut Chance, before: user_regs_struct) -> user_regs_struct {
    let mut after = before;
    let registers: [&mut u64; 16] = [
        &mut after.rax,
        &mut after.rcx,
        &mut after.rdx,
        &mut after.rbx,
        &mut after.rsp,
        &mut after.rbp,
        &mut after.rsi,
        &mut after.rdi,
        &mut after.r8,
        &mut after.r9,
        &mut after.r10,
        &mut after.r11,
        &mut after.r12,
        &mut after.r13,
        &mut after.r14,
        &mut after.r15,
    ];
    let drawn = chance.seed();
    if let Some(register) = registers.into_iter().nth(draw.register) {
        *register = match draw.size {
            2 => *register & !0xffff | drawn & 0xffff,
            4 => drawn & 0xffff_ffff,
            _ => drawn,
        };
    }
    after.eflags = before.eflags & !CLEARED | CARRY;
    after.rip = before.rip + draw.length;
    after
}
