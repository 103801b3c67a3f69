//! The replies to system calls that ask for what differs from run to run.

use libc::{EFAULT, EINVAL, ENOSYS, EPERM, ETIMEDOUT};
use nix::sys::resource::{Resource, getrlimit};
use nix::unistd::{Pid, geteuid};

use super::clock::SECOND;
use super::memory::{TaskMemory, time};
use super::numbers::{Numbers, PARENT};
use super::{LIMITED, SIZE_OF_USAGE, Task, readings};
use crate::invocation::Answers;

/// A system call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    /// Its number.
    pub(super) number: i64,
    /// Its arguments.
    pub(super) arguments: [u64; 6],
}

/// The decision about a system call.
#[derive(Debug)]
pub(super) enum Reply {
    /// The kernel executes it unchanged.
    Kernel,
    /// The result is this, and the kernel hears nothing of the call.
    Is(i64),
    /// The kernel executes this call instead, and its result is amended.
    Amended(Call, ResultRewrite),
}

/// The change to be made to the kernel's result.
#[derive(Clone, Copy, Debug)]
pub(super) enum ResultRewrite {
    /// None: the result is right.
    Nothing,
    /// The result is the number of a process, to be translated.
    Process,
    /// At this address is the number of the process that gets signals about a file, to be translated.
    Owner { number: u64 },
    /// The result is the number of a process that has ended, to be translated; its resource usage is at this address.
    Waited { usage: u64 },
    /// The end of a process is described at these addresses: `siginfo_t` and resource usage.
    WaitedFor { info: u64, usage: u64 },
    /// The result says whether a wait has come to its end.
    Wait(Wait),
    /// The result is a new file, to be filled with random bytes of this seed.
    Random { seed: u64 },
    /// At this address is the state of the machine, sysinfo(2).
    System { at: u64 },
    /// The call was about something else: the program hears that there is no such call.
    NotThere,
}

/// The result of a system call that the kernel does not know.
pub(super) const NOT_THERE: i64 = -(ENOSYS as i64);

/// A wait with a timeout.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    /// The timeout, in nanoseconds.
    pub(super) most: u64,
    /// The result if the timeout has expired.
    pub(super) expired: i64,
    /// The address of the timeout and what the program has put there, where the kernel changes it.
    pub(super) original: Option<(u64, [u8; 16])>,
    /// Whether the tracer has changed the timeout for the kernel.
    pub(super) translated: bool,
}

impl Wait {
    /// Whether the kernel accepts the timeout as a time.
    fn is_valid(&self) -> bool {
        let part = |bytes: &[u8]| bytes.try_into().map_or(u64::MAX, u64::from_ne_bytes);
        self.original.is_none_or(|(_, time)| part(&time[..8]) <= i64::MAX as u64 && part(&time[8..]) < SECOND)
    }
}

/// The state on which the answers depend.
pub(super) struct Asked<'a> {
    pub(super) task: &'a mut Task,
    pub(super) numbers: &'a mut Numbers,
    pub(super) memory: TaskMemory,
    pub(super) time: Answers,
    pub(super) chance: Answers,
}

/// The command of fcntl(2) that asks for the owner of a file, who gets the signals about it. The C library uses it
/// for `F_GETOWN`, too.
pub(super) const F_GETOWN_EX: i32 = 16;
/// A second as counted in the structures of the kernel: by nanoseconds, and by microseconds.
const NANOSECONDS: u64 = 1;
const MICROSECONDS: u64 = 1000;
/// A tick of times(2), in nanoseconds.
const TICK: u64 = 10_000_000;
/// The largest number of bytes that getrandom(2) gives at once.
const MOST_RANDOM: u64 = (1 << 25) - 1;
/// The files from which random bytes can be read.
const RANDOM_FILES: [&[u8]; 2] = [b"/dev/urandom", b"/dev/random"];

impl Asked<'_> {
    /// Decides about a call that the filter has stopped.
    pub(super) fn reply(&mut self, call: Call) -> Reply {
        let [first, second, third, fourth, fifth, _] = call.arguments;
        match call.number {
            libc::SYS_getpid => Reply::Is(self.task.process.into()),
            libc::SYS_gettid => Reply::Is(self.task.thread.into()),
            libc::SYS_getppid if self.task.process == self.numbers.first() => Reply::Is(PARENT.into()),
            libc::SYS_getppid | libc::SYS_getpgrp | libc::SYS_setsid => {
                Reply::Amended(call, ResultRewrite::Process)
            }
            libc::SYS_fork | libc::SYS_vfork | libc::SYS_clone | libc::SYS_clone3 => {
                Reply::Amended(call, ResultRewrite::Process)
            }
            libc::SYS_fcntl if second as i32 == libc::F_SETOWN => {
                Reply::Amended(self.with_real(call, &[2]), ResultRewrite::Nothing)
            }
            libc::SYS_fcntl => Reply::Amended(call, ResultRewrite::Owner { number: third.wrapping_add(4) }),
            libc::SYS_getpgid | libc::SYS_getsid => {
                Reply::Amended(self.with_real(call, &[0]), ResultRewrite::Process)
            }
            libc::SYS_wait4 => {
                let amendment = ResultRewrite::Waited { usage: self.if_constant(fourth) };
                Reply::Amended(self.with_real(call, &[0]), amendment)
            }
            libc::SYS_waitid => {
                let amendment = ResultRewrite::WaitedFor { info: third, usage: self.if_constant(fifth) };
                Reply::Amended(self.waitid(call), amendment)
            }
            libc::SYS_prlimit64 => match limited(second) {
                Some(place) if [0, self.task.process].contains(&(first as i32)) => {
                    self.limits(place, third, fourth)
                }
                _ => Reply::Amended(self.with_real(call, &[0]), ResultRewrite::Nothing),
            },
            libc::SYS_getrlimit => {
                limited(first).map_or(Reply::Kernel, |place| self.limits(place, 0, second))
            }
            libc::SYS_setrlimit => {
                limited(first).map_or(Reply::Kernel, |place| self.limits(place, second, 0))
            }
            libc::SYS_sched_getaffinity => self.affinity(second, third),
            libc::SYS_getcpu => written(self.zero_if_given(first, 4) && self.zero_if_given(second, 4)),
            libc::SYS_rseq if self.time == Answers::Constant && readings::counts_cycles(self.memory.0) => {
                let arguments = [libc::PR_SET_TSC as u64, libc::PR_TSC_SIGSEGV as u64, 0, 0, 0, 0];
                Reply::Amended(Call { number: libc::SYS_prctl, arguments }, ResultRewrite::NotThere)
            }
            libc::SYS_rseq => Reply::Is(NOT_THERE),
            libc::SYS_getrandom => self.random_bytes(call),
            libc::SYS_open | libc::SYS_openat | libc::SYS_openat2 => self.open(call),
            _ => match places_of_processes(call.number) {
                [] => self.reply_about_time(call),
                places => Reply::Amended(self.with_real(call, places), ResultRewrite::Nothing),
            },
        }
    }

    fn reply_about_time(&mut self, call: Call) -> Reply {
        let [first, second, ..] = call.arguments;
        match call.number {
            libc::SYS_clock_gettime => match self.task.clock.ask(first as i32) {
                Some(now) => written(self.memory.set_time(second, now, NANOSECONDS)),
                None => Reply::Kernel,
            },
            libc::SYS_gettimeofday => {
                let now = self.ask(libc::CLOCK_REALTIME);
                let is_set = first == 0 || self.memory.set_time(first, now, MICROSECONDS);
                written(is_set && self.zero_if_given(second, 8))
            }
            libc::SYS_time => {
                let seconds = self.ask(libc::CLOCK_REALTIME) / SECOND;
                match first == 0 || self.memory.write(first, &seconds.to_ne_bytes()) {
                    true => Reply::Is(seconds as i64),
                    false => Reply::Is(-i64::from(EFAULT)),
                }
            }
            libc::SYS_times => {
                let used = self.task.clock.used() / TICK;
                let is_set = first == 0
                    || self.zero_if_given(first, 32) && self.memory.write(first, &used.to_ne_bytes());
                let ticks = self.ask(libc::CLOCK_MONOTONIC) / TICK;
                Reply::Is(if is_set { ticks as i64 } else { -i64::from(EFAULT) })
            }
            libc::SYS_getrusage => {
                let used = self.task.clock.used();
                let is_set = self.memory.write(second, &[0; SIZE_OF_USAGE]);
                written(is_set && self.memory.set_time(second, used, MICROSECONDS))
            }
            libc::SYS_sysinfo => Reply::Amended(call, ResultRewrite::System { at: first }),
            libc::SYS_alarm | libc::SYS_setitimer | libc::SYS_timer_settime | libc::SYS_timerfd_settime => {
                self.task.has_timer = true;
                Reply::Kernel
            }
            _ => self.wait(call),
        }
    }

    /// The reply to a call that may wait, but not for ever.
    fn wait(&mut self, call: Call) -> Reply {
        let [first, second, third, fourth, fifth, _] = call.arguments;
        let again = -i64::from(libc::EAGAIN);
        let timed_out = -i64::from(ETIMEDOUT);
        let wait = match call.number {
            libc::SYS_nanosleep => self.for_time(first, NANOSECONDS, 0),
            libc::SYS_clock_nanosleep if second & libc::TIMER_ABSTIME as u64 == 0 => {
                self.for_time(third, NANOSECONDS, 0)
            }
            libc::SYS_clock_nanosleep => self.until(third, first as i32, 0),
            libc::SYS_poll => for_milliseconds(third),
            libc::SYS_epoll_wait | libc::SYS_epoll_pwait => for_milliseconds(fourth),
            libc::SYS_epoll_pwait2 => self.for_time(fourth, NANOSECONDS, 0),
            libc::SYS_ppoll => self.for_time(third, NANOSECONDS, 0),
            libc::SYS_select => self.for_time(fifth, MICROSECONDS, 0),
            libc::SYS_pselect6 => self.for_time(fifth, NANOSECONDS, 0),
            libc::SYS_rt_sigtimedwait => self.for_time(third, NANOSECONDS, again),
            libc::SYS_futex => match second as i32 & !(libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME)
            {
                libc::FUTEX_WAIT => self.for_time(fourth, NANOSECONDS, timed_out),
                libc::FUTEX_WAIT_BITSET => {
                    let by_date = second as i32 & libc::FUTEX_CLOCK_REALTIME != 0;
                    let clock = if by_date { libc::CLOCK_REALTIME } else { libc::CLOCK_MONOTONIC };
                    self.until(fourth, clock, timed_out)
                }
                _ => None,
            },
            libc::SYS_restart_syscall => self.task.interrupted,
            _ => None,
        };
        match wait {
            None => Reply::Kernel,
            Some(wait) if sleeps(call) && wait.is_valid() && self.is_undisturbed() => self.skip(call, wait),
            Some(wait) => Reply::Amended(call, ResultRewrite::Wait(wait)),
        }
    }

    /// Whether nothing of the run can end a sleep of the program before its time.
    fn is_undisturbed(&self) -> bool {
        self.numbers.is_alone() && !self.task.has_timer
    }

    /// Skips a sleep, by advancing the emulated clock instead.
    fn skip(&mut self, call: Call, wait: Wait) -> Reply {
        if let Some((at, original)) = wait.original {
            // The kernel tells some that nothing is left of the time.
            let tells = matches!(call.number, libc::SYS_select | libc::SYS_pselect6 | libc::SYS_ppoll);
            self.memory.write(at, if tells { &[0; 16] } else { &original });
        }
        self.task.clock.pass(wait.most);
        Reply::Is(wait.expired)
    }

    /// The wait for the duration at an address, where the kernel may put what is left of it.
    fn for_time(&self, at: u64, unit: u64, expired: i64) -> Option<Wait> {
        let most = self.memory.time(at, unit)?;
        let mut original = [0; 16];
        let original = self.memory.read(at, &mut original).then_some((at, original));
        Some(Wait { most, expired, original, translated: false })
    }

    /// The wait until the time at an address, which becomes one by the kernel's clock.
    fn until(&self, at: u64, clock: i32, expired: i64) -> Option<Wait> {
        let wait = self.for_time(at, NANOSECONDS, expired)?;
        let most = self.task.clock.until(clock, wait.most)?;
        let now = nix::time::clock_gettime(nix::time::ClockId::from_raw(clock)).ok()?;
        let now = now.tv_sec() as u64 * SECOND + now.tv_nsec() as u64;
        let translated = self.memory.write(at, &time(now.saturating_add(most), NANOSECONDS));
        Some(Wait { most, translated, ..wait })
    }

    /// The call with the kernel's numbers of processes in place of the shown ones, in these arguments.
    fn with_real(&mut self, mut call: Call, places: &[usize]) -> Call {
        for &place in places {
            let argument = &mut call.arguments[place];
            *argument = i64::from(self.numbers.real(*argument as i32)) as u64;
        }
        call
    }

    fn waitid(&mut self, call: Call) -> Call {
        match call.arguments[0] as u32 {
            libc::P_PID | libc::P_PGID => self.with_real(call, &[1]),
            _ => call,
        }
    }

    /// Emulates the resource limits, as if the tracer had set none: those at the address `new`, if any, are set, and
    /// what
    /// they were is put at `old`.
    fn limits(&mut self, place: usize, new: u64, old: u64) -> Reply {
        let shown = self.task.limits[place].or_else(|| getrlimit(LIMITED[place]).ok());
        let Some((now, most)) = shown else { return Reply::Kernel };
        if new != 0 {
            let words = (self.memory.word(new), self.memory.word(new.wrapping_add(8)));
            let (Some(new_now), Some(new_most)) = words else { return Reply::Is(-i64::from(EFAULT)) };
            if new_now > new_most {
                return Reply::Is(-i64::from(EINVAL));
            }
            if new_most > most && !geteuid().is_root() {
                return Reply::Is(-i64::from(EPERM));
            }
            lower(self.memory.0, LIMITED[place], (new_now, new_most));
            self.task.limits[place] = Some((new_now, new_most));
        }
        written(old == 0 || self.memory.write(old, &[now.to_ne_bytes(), most.to_ne_bytes()].concat()))
    }

    /// Emulates sched_getaffinity(2): one processor.
    fn affinity(&self, length: u64, at: u64) -> Reply {
        const SIZE_OF_SET: u64 = 8;
        match length {
            ..SIZE_OF_SET => Reply::Is(-i64::from(EINVAL)),
            _ if self.memory.write(at, &1_u64.to_ne_bytes()) => Reply::Is(SIZE_OF_SET as i64),
            _ => Reply::Is(-i64::from(EFAULT)),
        }
    }

    fn random_bytes(&mut self, call: Call) -> Reply {
        const FLAGS: u64 = (libc::GRND_NONBLOCK | libc::GRND_RANDOM | libc::GRND_INSECURE) as u64;
        const PIECE: u64 = 1 << 16;
        let [at, length, flags, ..] = call.arguments;
        if flags & !FLAGS != 0 {
            return Reply::Kernel;
        }
        let length = length.min(MOST_RANDOM);
        let mut bytes = vec![0; length.min(PIECE) as usize];
        for done in (0..length).step_by(PIECE as usize) {
            let piece = &mut bytes[..(length - done).min(PIECE) as usize];
            self.task.chance.fill(piece);
            if !self.memory.write(at.wrapping_add(done), piece) {
                return Reply::Is(-i64::from(EFAULT));
            }
        }
        Reply::Is(length as i64)
    }

    /// Opens a file of random bytes as one in memory.
    fn open(&mut self, call: Call) -> Reply {
        let [first, second, third, ..] = call.arguments;
        let (path, flags) = match call.number {
            libc::SYS_open => (first, Some(second)),
            libc::SYS_openat => (second, Some(third)),
            _ => (second, None),
        };
        // The sandbox may have stopped the call, whatever is said of chance.
        if self.chance == Answers::Real || !self.memory.is_text(path, &RANDOM_FILES) {
            return Reply::Kernel;
        }
        // Of openat2(2) they are at an address.
        let flags = flags.or_else(|| self.memory.word(third)).unwrap_or(0);
        let closes = flags & libc::O_CLOEXEC as u64 != 0;
        let flags = if closes { u64::from(libc::MFD_CLOEXEC) } else { 0 };
        let call = Call { number: libc::SYS_memfd_create, arguments: [path, flags, 0, 0, 0, 0] };
        Reply::Amended(call, ResultRewrite::Random { seed: self.task.chance.seed() })
    }

    fn ask(&mut self, clock: i32) -> u64 {
        self.task.clock.ask(clock).unwrap_or(0)
    }

    fn zero_if_given(&self, at: u64, length: usize) -> bool {
        at == 0 || self.memory.write(at, &[0; SIZE_OF_USAGE][..length])
    }

    /// The address if time is emulated, or else 0, for one at which the kernel tells of time.
    fn if_constant(&self, address: u64) -> u64 {
        match self.time {
            Answers::Constant => address,
            Answers::Real => 0,
        }
    }
}

/// Whether a call does nothing but wait for its time to pass, by a clock that goes on meanwhile.
fn sleeps(call: Call) -> bool {
    // A mask may let a signal in that is pending.
    let [first, second, _, mask_of_poll, _, mask_of_select] = call.arguments;
    match call.number {
        libc::SYS_nanosleep => true,
        libc::SYS_clock_nanosleep => {
            [libc::CLOCK_REALTIME, libc::CLOCK_MONOTONIC, libc::CLOCK_BOOTTIME, libc::CLOCK_TAI]
                .contains(&(first as i32))
        }
        libc::SYS_poll => second == 0,
        libc::SYS_ppoll => second == 0 && mask_of_poll == 0,
        libc::SYS_select => first as i32 == 0,
        libc::SYS_pselect6 => first as i32 == 0 && mask_of_select == 0,
        _ => false,
    }
}

/// A wait of so many milliseconds; none if it is endless.
fn for_milliseconds(argument: u64) -> Option<Wait> {
    let most = u64::try_from(argument as i32).ok()?.saturating_mul(1_000_000);
    Some(Wait { most, expired: 0, original: None, translated: false })
}

/// The place of a resource among the [`LIMITED`] ones.
fn limited(resource: u64) -> Option<usize> {
    LIMITED.iter().position(|&limited| limited as u32 == resource as u32)
}

/// Sets the limits of a process, but none beyond what it may have.
fn lower(process: Pid, resource: Resource, (now, most): (u64, u64)) {
    let mut real = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: both calls read and write limits that outlive them. One that fails leaves the limits of the run.
    unsafe {
        libc::prlimit(process.as_raw(), resource as u32, std::ptr::null(), &raw mut real);
        let wanted = libc::rlimit { rlim_cur: now.min(real.rlim_max), rlim_max: most.min(real.rlim_max) };
        libc::prlimit(process.as_raw(), resource as u32, &raw const wanted, std::ptr::null_mut());
    }
}

fn written(is_written: bool) -> Reply {
    Reply::Is(if is_written { 0 } else { -i64::from(EFAULT) })
}

/// The indexes of a call's arguments that are the numbers of processes.
fn places_of_processes(number: i64) -> &'static [usize] {
    match number {
        libc::SYS_kill
        | libc::SYS_tkill
        | libc::SYS_rt_sigqueueinfo
        | libc::SYS_pidfd_open
        | libc::SYS_sched_setparam
        | libc::SYS_sched_getparam
        | libc::SYS_sched_setscheduler
        | libc::SYS_sched_getscheduler
        | libc::SYS_sched_setaffinity
        | libc::SYS_sched_rr_get_interval
        | libc::SYS_process_vm_readv
        | libc::SYS_process_vm_writev => &[0],
        libc::SYS_ptrace
        | libc::SYS_getpriority
        | libc::SYS_setpriority
        | libc::SYS_ioprio_get
        | libc::SYS_ioprio_set => &[1],
        libc::SYS_setpgid | libc::SYS_tgkill | libc::SYS_rt_tgsigqueueinfo => &[0, 1],
        _ => &[],
    }
}
