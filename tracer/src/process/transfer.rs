//! Completion of system calls that an interruption by the tracer has ended early, so that a program does not notice.
//!
//! The kernel goes on by itself with most calls that are interrupted. Some it ends with `EINTR`, which they do without a
//! signal in no other case; and what writes to a pipe or a socket tells that it has written a part.
//!
//! Source: signal(7), pipe(7).

use std::collections::VecDeque;
use std::fs::{self, File};
use std::os::unix::fs::{FileExt, FileTypeExt};

use libc::user_regs_struct;
use nix::unistd::Pid;

use super::status;

/// The length of the instruction `syscall`.
const SYSCALL: u64 = 2;
/// The results of a call that the kernel makes again after an interruption (ERESTARTSYS to ERESTARTNOHAND).
const AGAIN: std::ops::RangeInclusive<i64> = -514..=-512;

/// The rest of a write to a pipe or a socket.
pub(super) struct Transfer {
    /// The registers after the call that was cut short.
    original: user_regs_struct,
    /// The call for the rest.
    call: i64,
    /// The ranges of memory that are left: addresses and lengths.
    pieces: VecDeque<(u64, u64)>,
    done: u64,
    /// Whether the process has entered the call for the next piece.
    is_inside: bool,
}

impl Transfer {
    /// Prepares a process that was interrupted to go on as if it had not been: makes a call again that failed because
    /// of it, or begins with the rest of a transfer, which is returned.
    pub(super) fn interrupted(process: Pid) -> Option<Transfer> {
        let registers = nix::sys::ptrace::getregs(process).ok()?;
        let (call, result) = (registers.orig_rax as i64, registers.rax as i64);
        if call >= 0 && result == -i64::from(libc::EINTR) && !has_signal(process) {
            repeat(process, registers);
        }
        let pieces = match call {
            _ if result <= 0 => return None,
            libc::SYS_write => VecDeque::from([(registers.rsi, registers.rdx)]),
            libc::SYS_sendto if registers.r8 == 0 => VecDeque::from([(registers.rsi, registers.rdx)]),
            libc::SYS_writev => vectors(process, registers.rsi, registers.rdx)?,
            _ => return None,
        };
        let call = if call == libc::SYS_sendto { call } else { libc::SYS_write };
        let mut transfer = Transfer { original: registers, call, pieces, done: 0, is_inside: false };
        transfer.advance(result as u64);
        (!transfer.pieces.is_empty() && leads_to_reader(process, registers.rdi)).then(|| {
            transfer.begin(process);
            transfer
        })
    }

    /// Goes on at a stop of the process at the entry or the end of a call; true if the transfer has come to its end.
    pub(super) fn proceed(&mut self, process: Pid) -> bool {
        self.is_inside = !self.is_inside;
        if self.is_inside {
            return false;
        }
        let Ok(registers) = nix::sys::ptrace::getregs(process) else { return true };
        match registers.rax as i64 {
            written @ 1.. => self.advance(written as u64),
            result if AGAIN.contains(&result) && !has_signal(process) => {}
            _ => self.pieces.clear(),
        }
        if self.pieces.is_empty() {
            self.finish(process);
            return true;
        }
        self.begin(process);
        false
    }

    /// Ends the call as one that has transferred what was done.
    pub(super) fn finish(&self, process: Pid) {
        let registers = user_regs_struct { rax: self.done, ..self.original };
        let _ = nix::sys::ptrace::setregs(process, registers);
    }

    fn begin(&self, process: Pid) {
        let &Transfer { original, call, ref pieces, .. } = self;
        let Some(&(rsi, rdx)) = pieces.front() else { return };
        repeat(process, user_regs_struct { orig_rax: call as u64, rsi, rdx, ..original });
    }

    fn advance(&mut self, mut written: u64) {
        self.done += written;
        while let Some((address, length)) = self.pieces.pop_front() {
            if written < length {
                self.pieces.push_front((address + written, length - written));
                return;
            }
            written -= length;
        }
    }
}

/// Makes a process repeat the call that has just been interrupted; false if it has ended in another way.
pub(super) fn rewound(process: Pid) -> bool {
    let Ok(registers) = nix::sys::ptrace::getregs(process) else { return false };
    let result = registers.rax as i64;
    let is_interrupted = AGAIN.contains(&result) || result == -i64::from(libc::EINTR);
    let is_repeated = is_interrupted && !has_signal(process);
    if is_repeated {
        repeat(process, registers);
    }
    is_repeated
}

/// Sets a process to make this call, `orig_rax`, with the instruction that it has just executed.
fn repeat(process: Pid, registers: user_regs_struct) {
    let (rax, rip) = (registers.orig_rax, registers.rip.wrapping_sub(SYSCALL));
    let _ =
        nix::sys::ptrace::setregs(process, user_regs_struct { rax, rip, orig_rax: u64::MAX, ..registers });
}

/// Whether a signal is about to be delivered to a process.
fn has_signal(process: Pid) -> bool {
    let set =
        |key| status::field(process, key).and_then(|set| u64::from_str_radix(&set, 16).ok()).unwrap_or(0);
    (set("SigPnd:") | set("ShdPnd:")) & !set("SigBlk:") != 0
}

/// Whether somebody reads at the other end of a descriptor. Elsewhere a write that is short has met a limit.
fn leads_to_reader(process: Pid, descriptor: u64) -> bool {
    fs::metadata(format!("/proc/{process}/fd/{}", descriptor as i32))
        .is_ok_and(|data| data.file_type().is_fifo() || data.file_type().is_socket())
}

/// The ranges of memory that so many vectors (`iovec`) name.
fn vectors(process: Pid, address: u64, count: u64) -> Option<VecDeque<(u64, u64)>> {
    const MOST: u64 = 1024;
    const SIZE: usize = 16;
    let mut bytes = vec![0; count.min(MOST) as usize * SIZE];
    File::open(format!("/proc/{process}/mem")).ok()?.read_exact_at(&mut bytes, address).ok()?;
    let word = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_ne_bytes);
    Some(bytes.chunks_exact(SIZE).map(|vector| (word(&vector[..8]), word(&vector[8..]))).collect())
}
