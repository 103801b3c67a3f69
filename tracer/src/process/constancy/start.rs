//! The auxiliary vector of a new program, made the same in each run.

use super::memory::TaskMemory;
use crate::invocation::Answers;

/// The kinds of entries of the auxiliary vector that matter here, getauxval(3): its end, one without a
/// meaning, the address of random bytes, and that of the kernel's functions for telling the time.
const AT_NULL: u64 = 0;
const AT_IGNORE: u64 = 1;
const AT_RANDOM: u64 = 25;
const AT_SYSINFO_EHDR: u64 = 33;
/// The random bytes for stack canaries and hash seeds, AT_RANDOM.
const RANDOM_BYTES: [u8; 16] = [0x5a; 16];
/// The largest number of entries of the lists: execve(2) takes at most 2 GiB of them.
const MOST: u64 = 1 << 28;

/// Changes the auxiliary vector of a program whose first instruction is next, with this stack pointer.
///
/// Without the kernel's functions the C library asks by system calls, which the filter sees.
pub(super) fn fix(memory: TaskMemory, sp: u64, time: Answers) {
    let Some(mut at) = vector(memory, sp) else { return };
    while let (Some(kind), Some(value)) = (memory.word(at), memory.word(at + 8)) {
        match kind {
            AT_NULL => break,
            AT_RANDOM => {
                memory.write(value, &RANDOM_BYTES);
            }
            AT_SYSINFO_EHDR if time == Answers::Constant => {
                memory.write(at, &AT_IGNORE.to_ne_bytes());
            }
            _ => {}
        }
        at += 16;
    }
}

/// The address of the auxiliary vector: after the number of arguments, the arguments, and the environment.
fn vector(memory: TaskMemory, sp: u64) -> Option<u64> {
    let arguments = memory.word(sp).filter(|&count| count < MOST)?;
    let environment = sp + 8 * (arguments + 2);
    (0..MOST).map(|number| environment + 8 * number).find_map(|at| match memory.word(at) {
        Some(0) => Some(Some(at + 8)),
        Some(_) => None,
        None => Some(None),
    })?
}
