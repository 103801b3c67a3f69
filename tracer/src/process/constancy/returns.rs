//! Amendment of the kernel's results.

use std::io::Write;

use nix::unistd::Pid;

use super::clock::SECOND;
use super::questions::{Asked, NOT_THERE, ResultRewrite, Wait};
use super::random_source::RandomSource;
use super::{PLACE_OF_SENDER, SIZE_OF_USAGE};

/// The lowest result of the kernel that is an error.
const FIRST_ERROR: i64 = -4095;
/// A signal has interrupted a wait, which goes on unless a handler is called: ERESTART_RESTARTBLOCK. Even
/// a signal that is ignored does so under ptrace.
const INTERRUPTED: i64 = -516;
/// The number of random bytes that can be read from a file of them before it ends.
const SIZE_OF_RANDOM_FILE: usize = 1 << 20;

impl Asked<'_> {
    /// Returns the result for the program in place of the kernel's, and changes its memory accordingly.
    pub(super) fn amend(&mut self, result: i64, amendment: ResultRewrite) -> i64 {
        let failed = (FIRST_ERROR..0).contains(&result);
        match amendment {
            ResultRewrite::Wait(wait) => self.waited(result, wait),
            ResultRewrite::NotThere => return NOT_THERE,
            _ if failed => {}
            ResultRewrite::Nothing => {}
            ResultRewrite::Process => return self.shown(result),
            ResultRewrite::Owner { number } => self.show_number(number),
            ResultRewrite::Waited { usage } => {
                if result > 0 {
                    self.forget_usage(usage);
                }
                return self.shown(result);
            }
            ResultRewrite::WaitedFor { info, usage } => {
                self.show_sender(info);
                self.forget_usage(usage);
            }
            ResultRewrite::Random { seed } => fill(self.memory.0, result, seed),
            ResultRewrite::System { at } => self.forget_load(at),
        }
        result
    }

    fn shown(&mut self, number: i64) -> i64 {
        self.numbers.shown(number as i32).into()
    }

    fn waited(&mut self, result: i64, wait: Wait) {
        let is_over = result == wait.expired;
        self.task.interrupted = (result == INTERRUPTED).then_some(wait);
        if is_over {
            self.task.clock.pass(wait.most);
        }
        // What the kernel says is left of a wait that has ended early differs from run to run.
        if let Some((at, original)) = wait.original.filter(|_| wait.translated || !is_over) {
            let mut now = [0; 16];
            if self.memory.read(at, &mut now) && now != original {
                self.memory.write(at, &original);
            }
        }
    }

    fn forget_usage(&self, at: u64) {
        if at != 0 {
            self.memory.write(at, &[0; SIZE_OF_USAGE]);
        }
    }

    /// Translates the sender's number in the description of a signal.
    fn show_sender(&mut self, info: u64) {
        if info != 0 {
            self.show_number(info.wrapping_add(PLACE_OF_SENDER));
        }
    }

    /// Translates the process number at an address.
    fn show_number(&mut self, at: u64) {
        let mut number = [0; 4];
        if self.memory.read(at, &mut number) {
            let shown = self.numbers.shown(i32::from_ne_bytes(number));
            self.memory.write(at, &shown.to_ne_bytes());
        }
    }

    /// Makes the load in the answer to sysinfo(2) constant; the machine's size stays.
    fn forget_load(&mut self, at: u64) {
        let uptime = self.task.clock.ask(libc::CLOCK_MONOTONIC).unwrap_or(0) / SECOND;
        let word = |place: u64| self.memory.word(at.wrapping_add(place)).unwrap_or(0);
        let (memory, swap) = (word(32), word(64));
        let words = [(0, uptime), (8, 0), (16, 0), (24, 0), (40, memory / 2), (48, 0), (56, 0), (72, swap)];
        for (place, value) in words {
            self.memory.write(at.wrapping_add(place), &value.to_ne_bytes());
        }
        self.memory.write(at.wrapping_add(80), &1_u16.to_ne_bytes());
    }
}

/// Fills a file that the process has just opened, under this descriptor, with random bytes.
fn fill(pid: Pid, descriptor: i64, seed: u64) {
    let mut bytes = vec![0; SIZE_OF_RANDOM_FILE];
    RandomSource::new(seed).fill(&mut bytes);
    let file = std::fs::File::options().write(true).open(format!("/proc/{pid}/fd/{descriptor}"));
    let _ = file.and_then(|mut file| file.write_all(&bytes));
}
