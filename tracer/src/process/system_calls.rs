//! The effects of system calls on a program's memory: what the kernel reads and writes.
//!
//! Source: the pages of section 2 of the Linux manual. Only what a call certainly touches is here, for the calls
//! that programs make usually; of any other one it is told that it is not known.

/// A system call that has been made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SystemCall {
    pub(crate) number: u64,
    /// The arguments: rdi, rsi, rdx, r10, r8, r9.
    pub(crate) arguments: [u64; 6],
    /// The result; a negative one is an error.
    pub(crate) result: i64,
}

/// A range of memory: address and length.
pub(crate) type MemoryRange = (u64, u64);

/// The effect of a system call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CallEffect {
    /// The memory that it has read for the program's sake, such as a path.
    pub(crate) reads: Vec<MemoryRange>,
    /// The memory that it has written.
    pub(crate) writes: Vec<MemoryRange>,
    /// The memory that has other contents than before, made by nobody: zeros, or those of a file.
    pub(crate) fresh: Vec<MemoryRange>,
    /// Memory that has moved: the range before, and the address after.
    pub(crate) moved: Option<(MemoryRange, u64)>,
    /// The state in the kernel that the call has looked at.
    pub(crate) asks: Vec<KernelState>,
    /// The state in the kernel that the call has changed.
    pub(crate) changes: Vec<KernelState>,
    /// The action on a file.
    pub(crate) file: Option<FileAction>,
    /// Whether the call is one that is not known.
    pub(crate) is_unknown: bool,
}

/// A piece of state that the kernel keeps for a program, and that a call can change for others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum KernelState {
    /// The clock: where time is made constant, each question and each sleep lets some of it pass.
    Clock,
    /// The state of the random numbers: which one is next.
    RandomSource,
    /// The action of this signal, sigaction(2).
    Handler(u64),
    /// The pending signals, the mask, and the stack on which handlers run.
    Signals,
    /// The timers: when an alarm comes.
    Timer,
    /// The file that this descriptor leads to.
    Descriptor(u64),
    /// The working directory.
    Directory,
    /// The names of files.
    Names,
}

/// The action of a call on the file of a descriptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileAction {
    /// It has read from the file position, into the memory that was written.
    Reads(u64),
    /// It has read from another position.
    ReadsElsewhere(u64),
    /// It has written these ranges of memory.
    Writes(u64, Vec<MemoryRange>),
    /// It has changed the file position.
    Seeks(u64),
}

impl SystemCall {
    /// The effect of the call. `read` reads the program's memory.
    pub(crate) fn effect(&self, read: impl Fn(u64, usize) -> Option<Vec<u8>>) -> CallEffect {
        let &SystemCall { number, arguments: [a, b, c, d, ..], result } = self;
        let mut effect = CallEffect::default();
        if result < 0 {
            return effect;
        }
        let length = result as u64;
        let text = |address: u64| (address, text_length(&read, address));
        let path_or_record = |path: u64, record: MemoryRange| (vec![text(path)], vec![record]);
        self.keep_states(&mut effect);
        match number as i64 {
            libc::SYS_read | libc::SYS_recvfrom => {
                effect.writes.push((b, length));
                effect.file = Some(FileAction::Reads(a));
            }
            libc::SYS_pread64 => {
                effect.writes.push((b, length));
                effect.file = Some(FileAction::ReadsElsewhere(a));
            }
            libc::SYS_readv => {
                effect.writes = vectors(&read, (b, c), length);
                effect.file = Some(FileAction::Reads(a));
            }
            libc::SYS_getdents64 => {
                effect.writes.push((b, length));
                effect.file = Some(FileAction::Reads(a));
            }
            libc::SYS_write | libc::SYS_pwrite64 | libc::SYS_sendto => {
                effect.file = Some(FileAction::Writes(a, vec![(b, length)]));
            }
            libc::SYS_writev => {
                effect.file = Some(FileAction::Writes(a, vectors(&read, (b, c), length)));
            }
            libc::SYS_lseek => effect.file = Some(FileAction::Seeks(a)),
            libc::SYS_mmap => effect.fresh.push((length, b)),
            libc::SYS_munmap => effect.fresh.push((a, b)),
            libc::SYS_mremap => effect.moved = Some(((a, b), length)),
            libc::SYS_madvise => {
                if c == libc::MADV_DONTNEED as u64 {
                    effect.fresh.push((a, b));
                }
            }
            libc::SYS_fstat => effect.writes.push((b, size_of::<libc::stat>() as u64)),
            libc::SYS_stat | libc::SYS_lstat => {
                (effect.reads, effect.writes) = path_or_record(a, (b, size_of::<libc::stat>() as u64));
            }
            libc::SYS_newfstatat => {
                (effect.reads, effect.writes) = path_or_record(b, (c, size_of::<libc::stat>() as u64));
            }
            libc::SYS_open
            | libc::SYS_creat
            | libc::SYS_unlink
            | libc::SYS_access
            | libc::SYS_mkdir
            | libc::SYS_rmdir
            | libc::SYS_chdir => {
                effect.reads.push(text(a));
            }
            libc::SYS_openat
            | libc::SYS_unlinkat
            | libc::SYS_mkdirat
            | libc::SYS_faccessat
            | libc::SYS_faccessat2 => {
                effect.reads.push(text(b));
            }
            libc::SYS_rename => effect.reads = vec![text(a), text(b)],
            libc::SYS_readlink => (effect.reads, effect.writes) = path_or_record(a, (b, length)),
            libc::SYS_getcwd => effect.writes.push((a, length)),
            libc::SYS_getrandom => effect.writes.push((a, length)),
            libc::SYS_clock_gettime | libc::SYS_clock_getres => effect.writes.push((b, 16)),
            libc::SYS_gettimeofday => effect.writes.push((a, 16)),
            libc::SYS_time if a != 0 => effect.writes.push((a, 8)),
            libc::SYS_uname => effect.writes.push((a, size_of::<libc::utsname>() as u64)),
            libc::SYS_sysinfo => effect.writes.push((a, size_of::<libc::sysinfo>() as u64)),
            libc::SYS_getrlimit => effect.writes.push((b, 16)),
            libc::SYS_prlimit64 if d != 0 => effect.writes.push((d, 16)),
            libc::SYS_pipe | libc::SYS_pipe2 => effect.writes.push((a, 8)),
            libc::SYS_wait4 if b != 0 => effect.writes.push((b, 4)),
            libc::SYS_poll | libc::SYS_ppoll => effect.writes.push((a, b.saturating_mul(8))),
            libc::SYS_select | libc::SYS_pselect6 => {
                const SET: u64 = 128;
                effect.writes.extend([b, c, d].into_iter().filter(|&set| set != 0).map(|set| (set, SET)));
            }
            libc::SYS_getrusage => effect.writes.push((b, size_of::<libc::rusage>() as u64)),
            libc::SYS_times if a != 0 => effect.writes.push((a, size_of::<libc::tms>() as u64)),
            libc::SYS_getitimer => effect.writes.push((b, 32)),
            libc::SYS_setitimer if c != 0 => effect.writes.push((c, 32)),
            libc::SYS_rt_sigprocmask if c != 0 => effect.writes.push((c, d)),
            libc::SYS_rt_sigpending => effect.writes.push((a, b)),
            libc::SYS_rt_sigaction if c != 0 => effect.writes.push((c, 32)),
            libc::SYS_ioctl => effect.is_unknown = b != libc::TCGETS,
            libc::SYS_brk
            | libc::SYS_close
            | libc::SYS_time
            | libc::SYS_prlimit64
            | libc::SYS_wait4
            | libc::SYS_rt_sigprocmask
            | libc::SYS_rt_sigaction
            | libc::SYS_rt_sigreturn
            | libc::SYS_sigaltstack
            | libc::SYS_exit
            | libc::SYS_exit_group
            | libc::SYS_getpid
            | libc::SYS_gettid
            | libc::SYS_getppid
            | libc::SYS_getuid
            | libc::SYS_geteuid
            | libc::SYS_getgid
            | libc::SYS_getegid
            | libc::SYS_getpgrp
            | libc::SYS_getpgid
            | libc::SYS_getsid
            | libc::SYS_times
            | libc::SYS_setitimer
            | libc::SYS_fchdir
            | libc::SYS_pause
            | libc::SYS_rt_sigsuspend
            | libc::SYS_kill
            | libc::SYS_tgkill
            | libc::SYS_tkill
            | libc::SYS_mprotect
            | libc::SYS_futex
            | libc::SYS_dup
            | libc::SYS_dup2
            | libc::SYS_dup3
            | libc::SYS_fcntl
            | libc::SYS_ftruncate
            | libc::SYS_fsync
            | libc::SYS_alarm
            | libc::SYS_nanosleep
            | libc::SYS_clock_nanosleep
            | libc::SYS_sched_yield
            | libc::SYS_arch_prctl
            | libc::SYS_set_tid_address
            | libc::SYS_set_robust_list
            | libc::SYS_rseq
            | libc::SYS_fork
            | libc::SYS_vfork
            | libc::SYS_clone
            | libc::SYS_clone3
            | libc::SYS_fadvise64
            | libc::SYS_umask => {}
            _ => effect.is_unknown = true,
        }
        effect
    }

    /// Adds the state in the kernel that it has looked at and changed.
    fn keep_states(&self, effect: &mut CallEffect) {
        use KernelState::{Clock, Descriptor, Directory, Handler, Names, RandomSource, Signals, Timer};
        let &SystemCall { number, arguments: [a, b, ..], result } = self;
        let new = Descriptor(result as u64);
        let (asks, changes) = match number as i64 {
            libc::SYS_clock_gettime
            | libc::SYS_gettimeofday
            | libc::SYS_time
            | libc::SYS_times
            | libc::SYS_getrusage
            | libc::SYS_nanosleep
            | libc::SYS_clock_nanosleep
            | libc::SYS_select
            | libc::SYS_pselect6
            | libc::SYS_poll
            | libc::SYS_ppoll => (vec![Clock], vec![Clock]),
            libc::SYS_getrandom => (vec![RandomSource], vec![RandomSource]),
            libc::SYS_rt_sigaction if b != 0 => (vec![], vec![Handler(a)]),
            libc::SYS_rt_sigaction => (vec![Handler(a)], vec![]),
            libc::SYS_rt_sigprocmask
            | libc::SYS_sigaltstack
            | libc::SYS_kill
            | libc::SYS_tkill
            | libc::SYS_tgkill => (vec![Signals], vec![Signals]),
            libc::SYS_rt_sigpending => (vec![Signals], vec![]),
            libc::SYS_alarm | libc::SYS_setitimer | libc::SYS_getitimer => (vec![Timer], vec![Timer]),
            libc::SYS_dup | libc::SYS_fcntl => (vec![Descriptor(a), new], vec![new]),
            libc::SYS_dup2 | libc::SYS_dup3 => (vec![Descriptor(a)], vec![Descriptor(b)]),
            libc::SYS_close => (vec![Descriptor(a)], vec![Descriptor(a)]),
            libc::SYS_open | libc::SYS_openat | libc::SYS_creat => (vec![new, Directory, Names], vec![new]),
            libc::SYS_chdir | libc::SYS_fchdir => (vec![Directory, Names], vec![Directory]),
            libc::SYS_unlink
            | libc::SYS_unlinkat
            | libc::SYS_rename
            | libc::SYS_renameat
            | libc::SYS_renameat2
            | libc::SYS_mkdir
            | libc::SYS_mkdirat
            | libc::SYS_rmdir
            | libc::SYS_link
            | libc::SYS_symlink => (vec![Directory, Names], vec![Names]),
            libc::SYS_stat
            | libc::SYS_lstat
            | libc::SYS_newfstatat
            | libc::SYS_access
            | libc::SYS_faccessat
            | libc::SYS_faccessat2
            | libc::SYS_readlink
            | libc::SYS_getdents64 => (vec![Directory, Names], vec![]),
            libc::SYS_read | libc::SYS_pread64 | libc::SYS_readv | libc::SYS_lseek | libc::SYS_fstat => {
                (vec![Descriptor(a)], vec![])
            }
            _ => return,
        };
        (effect.asks, effect.changes) = (asks, changes);
    }

    /// Whether it returns from the handler of a signal.
    pub(crate) fn returns_from_handler(&self) -> bool {
        self.number as i64 == libc::SYS_rt_sigreturn
    }
}

/// The length of the longest path, in bytes.
const LONGEST_TEXT: usize = 4096;

fn text_length(read: impl Fn(u64, usize) -> Option<Vec<u8>>, address: u64) -> u64 {
    let mut length = 0;
    while length < LONGEST_TEXT {
        // Not beyond the page: the next one may not be there.
        let room = 4096 - ((address as usize).wrapping_add(length) & 0xfff);
        let Some(bytes) = read(address.wrapping_add(length as u64), room) else { break };
        match bytes.iter().position(|&byte| byte == 0) {
            Some(end) => return (length + end + 1) as u64,
            None => length += room,
        }
    }
    length as u64
}

/// The ranges of memory that `count` vectors (`iovec`) at an address name, as far as so many bytes were used.
fn vectors(
    read: impl Fn(u64, usize) -> Option<Vec<u8>>,
    (address, count): (u64, u64),
    mut used: u64,
) -> Vec<MemoryRange> {
    const MOST: u64 = 1024;
    let bytes = read(address, (count.min(MOST) * 16) as usize).unwrap_or_default();
    let word = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_le_bytes);
    let mut pieces = Vec::new();
    for vector in bytes.chunks_exact(16) {
        let length = word(&vector[8..]).min(used);
        used -= length;
        pieces.push((word(&vector[..8]), length));
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    fn effect(number: i64, arguments: [u64; 6], result: i64) -> CallEffect {
        let memory = |address: u64, length: usize| {
            let mut bytes = vec![0; length];
            if address == 0x1000 {
                bytes[..4].copy_from_slice(b"/tmp");
            }
            if address == 0x2000 {
                bytes[..8].copy_from_slice(&0x5000u64.to_le_bytes());
                bytes[8..16].copy_from_slice(&10u64.to_le_bytes());
            }
            Some(bytes)
        };
        SystemCall { number: number as u64, arguments, result }.effect(memory)
    }

    #[test]
    fn a_read_writes_as_many_bytes_as_it_has_returned() {
        let read = effect(libc::SYS_read, [3, 0x4000, 100, 0, 0, 0], 7);
        assert_eq!((read.writes, read.file), (vec![(0x4000, 7)], Some(FileAction::Reads(3))));
        assert_eq!(effect(libc::SYS_read, [3, 0x4000, 100, 0, 0, 0], -9), CallEffect::default());
    }

    #[test]
    fn vectors_are_followed_as_far_as_they_were_used() {
        let write = effect(libc::SYS_writev, [1, 0x2000, 1, 0, 0, 0], 6);
        assert_eq!(write.file, Some(FileAction::Writes(1, vec![(0x5000, 6)])));
    }

    #[test]
    fn a_path_is_read_up_to_its_end() {
        assert_eq!(effect(libc::SYS_openat, [0, 0x1000, 0, 0, 0, 0], 3).reads, [(0x1000, 5)]);
    }

    #[test]
    fn what_is_not_known_is_told() {
        assert!(effect(libc::SYS_bpf, [0; 6], 0).is_unknown);
        assert!(!effect(libc::SYS_close, [0; 6], 0).is_unknown);
    }
}
