//! Resource limits: raise them for the work of this program, and restore those of the shell for programs.
//!
//! A limit of resources has two values, see setrlimit(2): the soft one holds, and may be raised to the hard one. This
//! program raises its own, so that a limit that was meant for the program under study does not end the tracer. Before a
//! process becomes that program, they are restored.

use std::io;
use std::sync::OnceLock;
use std::thread::Builder;

use nix::sys::resource::{Resource, getrlimit, rlim_t, setrlimit};
use nix::sys::signal::SigSet;

use super::ProcessError;

/// The resources whose limits this program raises for itself.
const RAISED: [Resource; 4] =
    [Resource::RLIMIT_FSIZE, Resource::RLIMIT_NOFILE, Resource::RLIMIT_AS, Resource::RLIMIT_DATA];

/// The soft limits that were found, in the order of [`RAISED`].
static FOUND: OnceLock<[Option<rlim_t>; RAISED.len()]> = OnceLock::new();

/// The smallest number of open files that a single worker needs.
const FEWEST_FILES: rlim_t = 64;

/// The size of the stack for the work; and the least limit of the shell under which it is done on the stack of the
/// first thread. Both in bytes.
const STACK: usize = 8 << 20;
const ENOUGH: rlim_t = 1 << 20;

/// Raises the limits of this process as far as that is allowed. Call it first.
///
/// # Errors
/// If so little is allowed that nothing could be done.
pub fn raise_limits() -> Result<(), ProcessError> {
    FOUND.get_or_init(|| RAISED.map(raise));
    share_one_heap_where_memory_is_limited();
    match getrlimit(Resource::RLIMIT_NOFILE) {
        Ok((files, _)) if files < FEWEST_FILES => {
            Err(ProcessError::TooFewFiles { files, needed: FEWEST_FILES })
        }
        _ => Ok(()),
    }
}

/// Makes all threads share one heap where memory is limited. Otherwise each thread reserves 64 MiB of addresses for a
/// heap (arena) of its own, see mallopt(3). A limit on addresses would be used up by that, and then the smallest
/// allocation fails.
fn share_one_heap_where_memory_is_limited() {
    if getrlimit(Resource::RLIMIT_AS).is_ok_and(|(soft, _)| soft != libc::RLIM_INFINITY) {
        // SAFETY: mallopt takes two numbers, and there is one thread yet. A failure changes nothing.
        #[cfg(target_env = "gnu")]
        unsafe {
            libc::mallopt(libc::M_ARENA_MAX, 1);
        }
    }
}

/// Raises one soft limit to the hard one; returns what it was.
fn raise(resource: Resource) -> Option<rlim_t> {
    let (soft, hard) = getrlimit(resource).ok()?;
    setrlimit(resource, hard, hard).ok().map(|()| soft)
}

/// Restores the limits that were found, for this process. Makes only system calls.
pub(super) fn put_back() {
    let found = FOUND.get().into_iter().flatten();
    for (resource, soft) in RAISED.into_iter().zip(found) {
        if let (Some(soft), Ok((_, hard))) = (soft, getrlimit(resource)) {
            let _ = setrlimit(resource, *soft, hard);
        }
    }
}

/// Sets the limit of this process, to the most that is allowed if that is less. Makes only system calls.
pub(super) fn limit(resource: Resource, most: rlim_t) -> nix::Result<()> {
    let (_, hard) = getrlimit(resource)?;
    let most = most.min(hard);
    setrlimit(resource, most, most)
}

/// Runs `work` on a stack that is large enough: on that of a thread, where the limit of the shell (`ulimit -s`) is low.
/// Programs are still to get that limit, so that it is not raised.
///
/// # Errors
/// If no thread can be started.
pub fn with_room<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    match getrlimit(Resource::RLIMIT_STACK) {
        Ok((stack, _)) if stack < ENOUGH => on_a_stack_of_its_own(work),
        _ => Ok(work()),
    }
}

/// Runs `work` in a new thread. Signals are handled there.
fn on_a_stack_of_its_own<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    std::thread::scope(|scope| {
        let worker = Builder::new().name("main".into()).stack_size(STACK).spawn_scoped(scope, work)?;
        let _ = SigSet::all().thread_block();
        worker.join().map_err(|_| io::Error::other("it ended by a panic"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_for_deep_calls() {
        fn deep(depth: u32) -> u64 {
            let filling = [u64::from(depth); 128];
            if depth == 0 { 0 } else { deep(depth - 1) + std::hint::black_box(filling)[7] }
        }
        assert_eq!(on_a_stack_of_its_own(|| deep(4000)).expect("a thread"), 8_002_000);
    }

    #[test]
    fn no_limit_is_above_what_is_allowed() {
        let (soft, hard) = getrlimit(Resource::RLIMIT_CORE).expect("a limit");
        limit(Resource::RLIMIT_CORE, hard.saturating_add(1).max(hard)).expect("at most what is allowed");
        assert_eq!(getrlimit(Resource::RLIMIT_CORE).expect("a limit"), (hard, hard));
        let _ = setrlimit(Resource::RLIMIT_CORE, soft, hard);
    }
}
