//! The agent: it runs inside of the program at each arrival at a leader.
//!
//! Compiled by the tracer's build script into a few kilobytes of position-independent code that need no
//! library, no relocation and no data of their own. The code at a leader saves the registers, puts the
//! stack pointer on the agent's stack and calls [`arrive`]; where the program goes on stands in the
//! session afterwards. This file only gives the pure rules of the crate `agent` their memory, and makes
//! system calls; it decides nothing.

#![no_std]
#![no_main]

use core::arch::asm;
use core::hint::black_box;
use core::mem::MaybeUninit;
use core::panic::PanicInfo;
use core::slice;

use agent::calls::Call;
use agent::lockstep::{CHECKPOINT, Directive, Expectation, Frame, Lockstep, Script};
use agent::names::{LeaderId, LeaderKind, Mark};
use agent::pace::{Step, Undefined};
use agent::poison::Poison;
use agent::session::{
    AgentMode, Arrival, BUFFER_FULL, End, MAX_FRAME, MOST_FILES, OUTPUT, OWN_CALL, Session, Site, Span,
    Verdict, Wanted,
};
use agent::stack::Bounded;
use agent::tape::{Endless, Tape};

/// Handles an arrival at a leader; [`Session::target`] then says where the program goes on.
///
/// # Safety
/// `session` is the session of this process, and nobody else in it uses it meanwhile.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn arrive(session: *mut Session, leader: u32) {
    // SAFETY: the caller says so. The tracer writes to it only while the program is stopped, but for
    // two counts, which are read as volatile.
    let session = unsafe { &mut *session };
    if session.duty == AgentMode::Serve {
        serve(session);
    }
    if leader == BUFFER_FULL {
        return hand_over(session);
    }
    let leader = LeaderId(leader);
    let step = match session.duty {
        AgentMode::Replay | AgentMode::Serve => {
            let step = replay(session, leader);
            if is_checkpoint(session) && !has_timer() {
                serve(session);
            }
            step
        }
        AgentMode::Record => record(session, leader),
        AgentMode::Assist => {
            take_down(session, leader);
            Step::GoOn { at: leader, undefined: Undefined::Nothing }
        }
        AgentMode::Free => Step::GoOn { at: leader, undefined: fresh(session, leader) },
    };
    match step {
        Step::GoOn { at, undefined } => go_on(session, leader, at, undefined),
        Step::Leave(deviation) => end(session, End::Left(deviation)),
        Step::Enough => end(session, End::Enough),
        Step::LoopsOn => end(session, End::LoopsOn),
    }
}

#[inline(always)]
fn replay(session: &mut Session, leader: LeaderId) -> Step {
    let sp = session.program_sp;
    // SAFETY: the tracer has put these tables where the spans say, before the program's first arrival.
    let (script, calls) = unsafe {
        let (events, activations) = (table(session.events), table(session.activations));
        let endless = Endless { leaders: table(session.looping), enough: session.enough };
        let tape = Tape { events, activations, endless };
        let (marks, kept) = (table::<Mark>(session.marks), table(session.kept));
        let script = Script { marks, tape, control: session.control, kept };
        (script, table_mut::<Call<Frame>>(session.calls))
    };
    let calls = Bounded::new(calls, &mut session.depth);
    let mut lockstep = Lockstep::new(script, session.position, calls);
    // The number of events stands for none, so that the code at the leaders need not look.
    let none = session.events.count as u32;
    let latest = session.expectation.event.get().filter(|&event| event != none);
    if let Some(current) = lockstep.catch_up(latest.into()) {
        session.pace.current = current.0.into();
    }
    let step = session.pace.arrive(leader, || lockstep.arrive(leader, sp));
    session.position = lockstep.position();
    let Expectation { event, entry_sp } = lockstep.expectation();
    session.expectation = Expectation { event: event.get().unwrap_or(none).into(), entry_sp };
    if u64::from(session.depth) > session.calls.count {
        end(session, End::TooDeep);
    }
    step
}

/// Whether the replay has just come to the event where the tracer wants a server.
#[inline(always)]
fn is_checkpoint(session: &Session) -> bool {
    // SAFETY: as in `replay`.
    let kept: &[u8] = unsafe { table(session.kept) };
    let event = session.expectation.event.get().unwrap_or(u32::MAX);
    kept.get(event as usize) == Some(&CHECKPOINT)
}

#[inline(always)]
fn record(session: &mut Session, leader: LeaderId) -> Step {
    // SAFETY: as in `replay`.
    let kind = unsafe { table::<Mark>(session.marks) }[leader.0 as usize].kind;
    let mut pace = session.pace;
    let step = pace.arrive(leader, || {
        take_down(session, leader);
        match kind {
            LeaderKind::Entry => Directive::Enter,
            LeaderKind::Statement | LeaderKind::Epilogue => Directive::RunFreely,
        }
    });
    session.pace = pace;
    step
}

/// What becomes undefined at an arrival of a program that goes its own way: the frame of a function that is entered.
fn fresh(session: &Session, leader: LeaderId) -> Undefined {
    // SAFETY: as in `replay`.
    match unsafe { table::<Mark>(session.marks) }[leader.0 as usize].kind {
        LeaderKind::Entry => Undefined::Frame,
        LeaderKind::Statement | LeaderKind::Epilogue => Undefined::Nothing,
    }
}

fn take_down(session: &mut Session, leader: LeaderId) {
    let arrival = Arrival { sp: session.program_sp, leader: leader.0, unused: 0 };
    // SAFETY: the address lies in the buffer that is being filled.
    unsafe { (session.ring.next as *mut Arrival).write(arrival) };
    session.ring.next += size_of::<Arrival>() as u64;
    if session.ring.next >= session.ring.end {
        hand_over(session);
    }
}

/// Gives the full buffer to the tracer, and waits for a free one.
#[cold]
#[inline(never)]
fn hand_over(session: &mut Session) {
    if session.pace.limit == 0 {
        end(session, End::Enough);
    }
    let ring = &mut session.ring;
    let count = (ring.buffers.count / ring.size) as u32;
    ring.filled = ring.filled.wrapping_add(1);
    futex_wake(&raw mut ring.filled);
    loop {
        let drained = volatile(&raw const ring.drained);
        if ring.filled.wrapping_sub(drained) < count {
            break;
        }
        futex_wait(&raw mut ring.drained, drained);
    }
    let size = ring.size * size_of::<Arrival>() as u64;
    ring.next = ring.buffers.address + u64::from(ring.filled % count) * size;
    ring.end = ring.next + size;
}

#[inline(always)]
fn go_on(session: &mut Session, reached: LeaderId, at: LeaderId, undefined: Undefined) {
    // SAFETY: as in `replay`.
    let sites = unsafe { table::<Site>(session.sites) };
    let site = &sites[at.0 as usize];
    session.target = site.body;
    if undefined == Undefined::Nothing || session.poison == Poison::Off {
        return;
    }
    match undefined {
        Undefined::Nothing => {}
        Undefined::Frame => fill_frame(session, site.frame_size.min(MAX_FRAME)),
        Undefined::Registers => {
            session.undefinition.keep = sites[reached.0 as usize].live & site.live;
            session.undefinition.resume = site.body;
            session.target = session.undefine;
        }
    }
}

/// Fills the frame of the function that is entered, which lies below the return address.
fn fill_frame(session: &mut Session, size: u64) {
    let bottom = session.program_sp.wrapping_sub(size);
    // Asking whether there is memory writes to it, and the return address lies above.
    if size < SIZE_OF_MASK || !is_memory(session, bottom) {
        return;
    }
    // By the distance from the stack's first word: the environment moves the stack.
    let place = bottom.wrapping_sub(session.stack.base);
    // SAFETY: the frame lies between an address that is memory and the stack pointer, on the same
    // stack, and what is below the stack pointer at an entry is nobody's.
    let frame = unsafe { slice::from_raw_parts_mut(bottom as *mut u8, size as usize) };
    session.poison.fill(place, frame);
}

/// Whether there is memory at an address of a stack. Asks the kernel, which lets the stack grow on the
/// way; without it, a store would crash where the stack is exhausted.
fn is_memory(session: &mut Session, address: u64) -> bool {
    let stack = &mut session.stack;
    let on_stack = address < stack.base && address >= stack.base.saturating_sub(stack.limit);
    if on_stack && address >= stack.floor {
        return true;
    }
    // Changes no mask, and stores the present one at the address.
    let arguments = [0, 0, address, SIZE_OF_MASK, 0];
    let stored = insistently(SYS_RT_SIGPROCMASK, arguments, |error| error == EFAULT) == 0;
    if stored && on_stack {
        stack.floor = address & !0xfff;
    }
    stored
}

/// Becomes a server: returns in each child that it forks, and in this process only if that is asked for.
///
/// Servers are children of servers. While one lives, the one that has forked it waits for its end, so
/// that only the last of them hears what is asked for.
#[cold]
#[inline(never)]
fn serve(session: &mut Session) {
    const FLAGS: u64 = CLONE_PTRACE | CLONE_PARENT_SETTID | CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID;
    // The children use the same session; what they need of this arrival stays on the stack, of which
    // each has a copy.
    let program_sp = session.program_sp;
    let mut tid_address: u64 = 0;
    let arguments = [PR_GET_TID_ADDRESS, &raw mut tid_address as u64, 0, 0, 0];
    insistently(SYS_PRCTL, arguments, |error| error == EINVAL);
    session.service.tid_address = tid_address;
    let positions: [i64; MOST_FILES] = core::array::from_fn(|file| seek(file, 0, SEEK_CUR));
    // A child that has executed another program sends a signal at its end, which nobody here expects.
    let mask = block_signals();
    // As a constant it would be copied by a vector register, which would have to be saved at each arrival.
    session.verdict = Verdict::from(black_box(End::Serving));
    let rank = session.service.rank;
    let service = &raw mut session.service;
    // SAFETY: pointers to fields of a session that lasts as long as the process.
    let (wanted, child) = unsafe { (&raw mut (*service).wanted, &raw mut (*service).child) };
    let mut served = volatile(wanted);
    stop();
    loop {
        while volatile(wanted) == served {
            futex_wait(wanted, served);
        }
        served = volatile(wanted);
        if !Wanted(served).is_for(rank) {
            continue;
        }
        if Wanted(served).is_to_go_on() {
            break;
        }
        let pid = system_call(SYS_CLONE, [FLAGS, 0, child as u64, tid_address, 0]);
        if pid == 0 {
            // As the tracer starts a program: with a session and a group of its own; and with its
            // files where they were, because all children share them.
            insistently(SYS_SETSID, [OWN_CALL, 0, 0, 0, 0], never);
            for (file, &position) in positions.iter().enumerate().filter(|&(_, &position)| position >= 0) {
                if !OUTPUT.contains(&file) && seek(file, position as u64, SEEK_SET) < 0 {
                    // What it would read is not what the recorded run has read.
                    end(session, End::Serving);
                }
            }
            break;
        }
        if pid < 0 {
            stop();
        } else {
            while system_call(SYS_WAIT4, [pid as u64, 0, WALL, 0, 0]) == -EINTR {}
        }
    }
    restore_signals(mask);
    session.program_sp = program_sp;
}

/// Blocks all signals that can be blocked; returns the mask of before.
fn block_signals() -> u64 {
    let (all, mut before) = (u64::MAX, 0u64);
    let arguments = [SIG_SETMASK, &raw const all as u64, &raw mut before as u64, SIZE_OF_MASK, OWN_CALL];
    insistently(SYS_RT_SIGPROCMASK, arguments, never);
    before
}

fn restore_signals(mask: u64) {
    let arguments = [SIG_SETMASK, &raw const mask as u64, 0, SIZE_OF_MASK, OWN_CALL];
    insistently(SYS_RT_SIGPROCMASK, arguments, never);
}

/// The position of a standard descriptor after a seek; negative if it has none.
fn seek(file: usize, offset: u64, whence: u64) -> i64 {
    let arguments = [file as u64, offset, whence, 0, 0];
    insistently(SYS_LSEEK, arguments, |error| error == ESPIPE || error == EBADF)
}

/// Whether an alarm is set, getitimer(2), which children would not get.
fn has_timer() -> bool {
    [ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF].into_iter().any(|timer| {
        let mut setting = MaybeUninit::<[u64; 4]>::uninit();
        let words = setting.as_mut_ptr().cast::<u64>();
        let is_told = insistently(SYS_GETITIMER, [timer, words as u64, 0, 0, 0], never) == 0;
        // SAFETY: the kernel has filled the four words. One by one, without a vector register.
        is_told && (0..4).any(|word| unsafe { words.add(word).read_volatile() } != 0)
    })
}

/// Stops this process, for the tracer: by a signal that cannot be blocked and that it keeps to itself. If that is refused
/// again and again the process ends, because the tracer waits for either.
fn stop() {
    for _ in 0..TRIES {
        let pid = system_call(SYS_GETPID, [0; 5]) as u64;
        let tid = system_call(SYS_GETTID, [0; 5]) as u64;
        if system_call(SYS_TGKILL, [pid, tid, SIGSTOP, 0, 0]) == 0 {
            return;
        }
    }
    exit();
}

/// Ends the run, and leaves the reason in the session.
#[cold]
#[inline(never)]
fn end(session: &mut Session, end: End) -> ! {
    session.verdict = Verdict::from(end);
    exit();
}

fn exit() -> ! {
    loop {
        system_call(SYS_EXIT_GROUP, [0; 5]);
    }
}

/// The table that a span describes.
///
/// # Safety
/// The tracer has put them there, and they stay as they are.
#[inline(always)]
unsafe fn table<T>(span: Span) -> &'static [T] {
    // SAFETY: the caller says so.
    unsafe { slice::from_raw_parts(span.address as *const T, span.count as usize) }
}

/// The table that a span describes, to be changed.
///
/// # Safety
/// As for [`table`]; and nobody else uses them.
#[inline(always)]
unsafe fn table_mut<T>(span: Span) -> &'static mut [T] {
    // SAFETY: the caller says so.
    unsafe { slice::from_raw_parts_mut(span.address as *mut T, span.count as usize) }
}

/// Reads a count that the tracer changes while the program runs.
fn volatile(count: *const u32) -> u32 {
    // SAFETY: points into the session.
    unsafe { count.read_volatile() }
}

fn futex_wait(count: *mut u32, value: u32) {
    system_call(SYS_FUTEX, [count as u64, FUTEX_WAIT, u64::from(value), 0, 0]);
}

fn futex_wake(count: *mut u32) {
    system_call(SYS_FUTEX, [count as u64, FUTEX_WAKE, 1, 0, 0]);
}

// Numbers of the system calls and their arguments, from the headers of Linux for x86-64.
const SYS_LSEEK: u64 = 8;
const SYS_RT_SIGPROCMASK: u64 = 14;
const SYS_GETITIMER: u64 = 36;
const SYS_GETPID: u64 = 39;
const SYS_CLONE: u64 = 56;
const SYS_WAIT4: u64 = 61;
const SYS_SETSID: u64 = 112;
const SYS_PRCTL: u64 = 157;
const SYS_GETTID: u64 = 186;
const SYS_FUTEX: u64 = 202;
const SYS_EXIT_GROUP: u64 = 231;
const SYS_TGKILL: u64 = 234;
const CLONE_PTRACE: u64 = 0x0000_2000;
const CLONE_PARENT_SETTID: u64 = 0x0010_0000;
const CLONE_CHILD_CLEARTID: u64 = 0x0020_0000;
const CLONE_CHILD_SETTID: u64 = 0x0100_0000;
const ITIMER_REAL: u64 = 0;
const ITIMER_VIRTUAL: u64 = 1;
const ITIMER_PROF: u64 = 2;
const PR_GET_TID_ADDRESS: u64 = 40;
const SIG_SETMASK: u64 = 2;
const SIZE_OF_MASK: u64 = 8;
const SEEK_SET: u64 = 0;
const SEEK_CUR: u64 = 1;
const FUTEX_WAIT: u64 = 0;
const FUTEX_WAKE: u64 = 1;
const SIGSTOP: u64 = 19;
const WALL: u64 = 0x4000_0000;
const EINTR: i64 = 4;
const EBADF: i64 = 9;
const EFAULT: i64 = 14;
const EINVAL: i64 = 22;
const ESPIPE: i64 = 29;

/// The number of times that a system call is made which fails for no reason of its own.
const TRIES: usize = 3;

/// Makes a system call, again if it fails with an error that is no answer: because of a shortage that passes. Without it
/// a test would begin in another state than the recorded run, and its result would be wrong without a word.
fn insistently(number: u64, arguments: [u64; 5], is_answer: impl Fn(i64) -> bool) -> i64 {
    let mut result = 0;
    for _ in 0..TRIES {
        result = system_call(number, arguments);
        if result >= 0 || is_answer(-result) {
            break;
        }
    }
    result
}

fn never(_error: i64) -> bool {
    false
}

/// Makes a system call; a negative result is the number of an error.
fn system_call(number: u64, arguments: [u64; 5]) -> i64 {
    let [first, second, third, fourth, fifth] = arguments;
    let result;
    // SAFETY: the registers are those of the kernel's convention; the calls made here write to no
    // memory but to what their arguments point to.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number => result,
            in("rdi") first,
            in("rsi") second,
            in("rdx") third,
            in("r10") fourth,
            in("r8") fifth,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    result
}

/// Ends the run as a crash by SIGILL: a fault of the agent.
#[panic_handler]
fn panic(_: &PanicInfo) -> ! {
    // SAFETY: `ud2` does nothing but raise the exception.
    unsafe { asm!("ud2", options(noreturn, nomem, nostack)) }
}

/// A symbol that the precompiled core library names; nothing here unwinds.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

/// memcpy(3), which compilers take for granted even without a library.
///
/// # Safety
/// As of memcpy(3).
#[unsafe(no_mangle)]
unsafe extern "C" fn memcpy(to: *mut u8, from: *const u8, count: usize) -> *mut u8 {
    // SAFETY: the caller says that both are memory of this length, apart from each other.
    unsafe {
        asm!("rep movsb", inout("rcx") count => _, inout("rdi") to => _, inout("rsi") from => _,
             options(nostack, preserves_flags));
    }
    to
}

/// memset(3), which compilers take for granted even without a library.
///
/// # Safety
/// As of memset(3).
#[unsafe(no_mangle)]
unsafe extern "C" fn memset(to: *mut u8, value: i32, count: usize) -> *mut u8 {
    // SAFETY: the caller says that there is memory of this length.
    unsafe {
        asm!("rep stosb", inout("rcx") count => _, inout("rdi") to => _, in("al") value as u8,
             options(nostack, preserves_flags));
    }
    to
}
