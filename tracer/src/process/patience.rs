//! Retries where the kernel is short of processes, threads or memory at the moment.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{Builder, Scope, ScopedJoinHandle, sleep};
use std::time::Duration;

use nix::errno::Errno;

use super::ProcessError;

/// The number of attempts, and the length of the first pause between them. Each pause is twice as long as the one
/// before: a second in all.
const ATTEMPTS: u32 = 11;
const PAUSE: Duration = Duration::from_millis(1);

/// An error that may be a shortage that passes.
pub trait Refusal {
    /// Whether an attempt may succeed in a moment: as fork(2) says it, there are too many processes, or there is too
    /// little memory.
    fn may_pass(&self) -> bool;
}

impl Refusal for Errno {
    fn may_pass(&self) -> bool {
        [Errno::EAGAIN, Errno::ENOMEM].contains(self)
    }
}

impl Refusal for io::Error {
    fn may_pass(&self) -> bool {
        self.raw_os_error().is_some_and(|errno| Errno::from_raw(errno).may_pass())
    }
}

impl Refusal for ProcessError {
    fn may_pass(&self) -> bool {
        // Of all others it is not known how far what was asked for has come.
        matches!(self, ProcessError::NotForked { source } if source.may_pass())
    }
}

/// Repeats the attempt until it succeeds, or is refused for a reason that does not pass, or a second is over; pauses in
/// between. Makes only system calls itself, so that it is of use after a fork as well.
///
/// # Errors
/// The error of the last attempt.
pub fn patiently<T, E: Refusal>(mut attempt: impl FnMut() -> Result<T, E>) -> Result<T, E> {
    let mut pause = PAUSE;
    for _ in 1..ATTEMPTS {
        match attempt() {
            Err(refusal) if refusal.may_pass() => sleep(pause),
            result => return result,
        }
        pause *= 2;
    }
    attempt()
}

/// Starts a thread of a scope, patiently.
///
/// # Errors
/// If the machine has no room for it.
pub fn start_thread<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> io::Result<ScopedJoinHandle<'scope, T>> {
    // A thread that does not start takes its work with it.
    let work = Arc::new(Mutex::new(Some(work)));
    patiently(|| {
        let work = Arc::clone(&work);
        Builder::new().spawn_scoped(scope, move || {
            let work = work.lock().unwrap_or_else(PoisonError::into_inner).take();
            work.expect("a single thread takes it")()
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Refuses attempts with these errors in turn; returns the number of attempts and the result.
    fn tries(refusals: &[Errno]) -> (usize, Result<(), Errno>) {
        let mut tries = 0;
        let result = patiently(|| {
            tries += 1;
            refusals.get(tries - 1).map_or(Ok(()), |errno| Err(*errno))
        });
        (tries, result)
    }

    #[test]
    fn what_passes_is_waited_for_and_nothing_else() {
        assert_eq!(tries(&[]), (1, Ok(())));
        assert_eq!(tries(&[Errno::EAGAIN, Errno::ENOMEM]), (3, Ok(())));
        assert_eq!(tries(&[Errno::EAGAIN, Errno::EPERM]), (2, Err(Errno::EPERM)));
        assert_eq!(tries(&[Errno::EAGAIN; 99]), (ATTEMPTS as usize, Err(Errno::EAGAIN)));
    }
}
