//! Emulation of the instructions that read from the processor what differs from run to run: `rdtsc`, `rdrand` and
//! the like.
//!
//! Random numbers cannot be trapped, and a program that asks whether they exist cannot be denied them; C++'s
//! `std::random_device` is one that uses them. The count of cycles can be (PR_SET_TSC), but that makes each
//! switch between processes dearer, which doubles the cost of a stop. So at the start, once the libraries are
//! in memory, an instruction that faults is put in place of those in libraries; and only where the
//! executable itself counts cycles, whose code is the engines' to change, the count is trapped.

use std::collections::HashMap;
use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use libc::user_regs_struct;
use nix::unistd::Pid;

use super::super::mapped::Mapped;
use super::Task;
use super::memory::TaskMemory;
use crate::invocation::{Answers, Constancy};
use crate::program::{ProcessorReading, Read, readings};

/// `ud2`, which is no longer than the instructions that it replaces.
const FAULT: [u8; 2] = [0x0f, 0x0b];
/// The carry flag, by which the instructions say that they have a number; and the flags that they clear.
const CARRY: u64 = 1;
const CLEARED: u64 = 0x8d4;

/// The instructions of a program that are replaced, by their addresses.
pub(super) type Replaced = Arc<HashMap<u64, ProcessorReading>>;

/// Replaces these instructions in the libraries of a process by a fault.
pub(super) fn replace(pid: Pid, constancy: Constancy) -> Replaced {
    let program = executable(pid);
    let is_wanted = |reading: &&ProcessorReading| match reading.what {
        Read::Random { .. } => constancy.chance == Answers::Constant,
        Read::Cycles | Read::CyclesAndProcessor => constancy.time == Answers::Constant,
    };
    let mut replaced = HashMap::new();
    for mapped in Mapped::of(pid).into_iter().filter(|mapped| mapped.is_code && mapped.path != program) {
        for reading in known(&mapped.path).iter().filter(is_wanted) {
            let place = reading.offset.checked_sub(mapped.offset).filter(|&place| place < mapped.length);
            replaced.extend(place.map(|place| (mapped.start.0 + place, *reading)));
        }
    }
    if !replaced.is_empty() {
        // As a debugger does: the text cannot be written otherwise.
        let memory = File::options().write(true).open(format!("/proc/{pid}/mem"));
        let written = |&at: &u64| memory.as_ref().is_ok_and(|memory| memory.write_all_at(&FAULT, at).is_ok());
        replaced.retain(|at, _| written(at));
    }
    Arc::new(replaced)
}

/// Whether the executable of a process reads the cycle counter (`rdtsc`).
pub(super) fn counts_cycles(pid: Pid) -> bool {
    known(&executable(pid)).iter().any(|reading| !matches!(reading.what, Read::Random { .. }))
}

/// The instruction at an address, if it reads the cycle counter.
pub(super) fn at(memory: TaskMemory, address: u64) -> Option<ProcessorReading> {
    let mut code = [0; 3];
    // The last instruction of a piece of memory may be the shorter one.
    let is_read = memory.read(address, &mut code) || memory.read(address, &mut code[..2]);
    let (length, what) = match code {
        _ if !is_read => return None,
        [0x0f, 0x31, _] => (2, Read::Cycles),
        [0x0f, 0x01, 0xf9] => (3, Read::CyclesAndProcessor),
        _ => return None,
    };
    Some(ProcessorReading { offset: address, length, what })
}

fn executable(pid: Pid) -> PathBuf {
    fs::read_link(format!("/proc/{pid}/exe")).unwrap_or_default()
}

/// The instructions to be replaced in a file, which is read once.
fn known(path: &Path) -> Arc<[ProcessorReading]> {
    static KNOWN: Mutex<Option<HashMap<PathBuf, Arc<[ProcessorReading]>>>> = Mutex::new(None);
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let known = known.get_or_insert_default();
    Arc::clone(known.entry(path.to_owned()).or_insert_with(|| readings(path).into()))
}

/// Sets the registers as after an instruction that a task has come to.
pub(super) fn execute(
    reading: &ProcessorReading,
    task: &mut Task,
    before: user_regs_struct,
) -> user_regs_struct {
    let mut after = user_regs_struct { rip: before.rip + reading.length, ..before };
    match reading.what {
        Read::Random { register, size } => draw(register, size, task.chance.seed(), &mut after),
        Read::Cycles | Read::CyclesAndProcessor => {
            let cycles = task.clock.cycles();
            (after.rax, after.rdx) = (cycles & 0xffff_ffff, cycles >> 32);
            if reading.what == Read::CyclesAndProcessor {
                after.rcx = 0;
            }
        }
    }
    after
}

fn draw(register: usize, size: usize, drawn: u64, after: &mut user_regs_struct) {
    after.eflags = after.eflags & !CLEARED | CARRY;
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
    if let Some(register) = registers.into_iter().nth(register) {
        *register = match size {
            2 => *register & !0xffff | drawn & 0xffff,
            4 => drawn & 0xffff_ffff,
            _ => drawn,
        };
    }
}
