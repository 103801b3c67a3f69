//! Engines: they run the program statement by statement, as a guide directs.
//!
//! The reference engine: an `int3` at every leader and one stop per event. The breakpoint at the leader
//! where the program goes on is out of the way until the next stop, so no single step is needed, and an
//! arrival at the leader that was reached last goes unnoticed, as the definition of events asks. What
//! an arrival means is for the guide to say: the recorder or the lockstep of a replay. Where the agent
//! inside of the program decides ([`Method::Inside`]), only what is no arrival comes to this place.

mod asked;
mod checkpoint;
mod crash;
mod crash_state;
mod dependence;
mod drain;
mod inside;
mod integrity;
mod intervene;
mod ledger;
mod operand;
mod placement;
mod recorder;
mod replayer;
mod server;
mod undefined;
mod watch;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use agent::lockstep::Directive;
use agent::names::LeaderId;
use agent::pace::{Pace, Step, Undefined};
use agent::poison::Poison;

pub(crate) use crash::crash_of_untraced;
pub(crate) use dependence::{Investigation, follow};
pub(crate) use drain::Drain;
pub(crate) use inside::{Inside, Tape, Unable};
pub(crate) use intervene::{Changed, Changes};
pub(crate) use placement::Placement;
pub(crate) use recorder::Recorder;
pub(crate) use replayer::Replayer;
pub(crate) use server::{ReplayPosition, Server, Terms};
use undefined::Poisoner;
pub(crate) use watch::{Assignment, watch};

use crate::address::{FileAddress, RuntimeAddress};
use crate::invocation::Limits;
use crate::process::{Alarm, ProcessError, SIGBUS, SIGFPE, SIGILL, SIGSEGV, SIGSTOP, SIGTRAP, Stop, Tracee};
use crate::program::Program;
use crate::program::detour::Detours;
use crate::run::{Operand, Usage};
use crate::termination::{Cut, Termination};
use crate::trace::{EventId, Trace};
use crate::untouched::Untouched;

/// The conditions of a run, in which runs under the same schedule may differ.
#[derive(Clone, Debug)]
pub struct Conditions {
    /// The pattern of undefined values.
    pub poison: Poison,
    /// The undefined memory that is not filled with it.
    pub untouched: Arc<Untouched>,
    /// The resource limits of the run.
    pub limits: Limits,
    /// Ends the run soon once it is set.
    pub stop: Arc<AtomicBool>,
    /// The variable whose value is asked for where the last event of the trace begins: a replay ends there. `None`
    /// for one that goes on to its end.
    pub asked: Option<Arc<str>>,
}

impl Conditions {
    /// The pattern of freshly allocated memory.
    pub(crate) fn heap_poison(&self) -> Poison {
        if self.untouched.heap { Poison::Off } else { self.poison }
    }
}

/// The guide of a run: it says what an arrival means.
pub(crate) trait Guide {
    /// The program has reached `leader` with the stack pointer `sp`. Nobody asks where the agent decides.
    fn arrive(&mut self, _leader: LeaderId, _sp: u64) -> Directive {
        Directive::RunFreely
    }

    /// Whether the run ends where it is now, before the statement is executed.
    fn is_over(&self) -> bool {
        false
    }

    /// The position of the program, for the account of a crash: the leaders of the innermost frame's latest event, then
    /// of its callers. `None` for a frame that is not known.
    fn position(&self) -> Vec<Option<LeaderId>>;

    /// Whether a program that was ended for this reason was in the statement in which the recorded run has not
    /// ended, for a reason of this kind.
    fn waits_for_ever(&self, _cut: Cut) -> bool {
        false
    }
}

/// Whether a replay of `trace` that was ended for this reason after its event `latest` has done as the recorded run,
/// which has not ended because of a single statement.
///
/// A busy machine may let any run take too long. So that counts only where nothing else was to be seen of the recorded
/// run either.
pub(crate) fn waits_for_ever(trace: &Trace, latest: Option<EventId>, cut: Cut) -> bool {
    let Some(endless) = trace.endless().filter(|endless| endless.enough == 0) else { return false };
    let is_of_this_kind = matches!(cut, Cut::CpuTime | Cut::Asleep) || endless.cut == cut;
    cut.is_time() && is_of_this_kind && latest.is_some_and(|latest| trace.tape().loops_from(latest))
}

/// The method by which arrivals at leaders are noticed.
#[derive(Clone, Copy)]
pub(crate) enum Method<'d> {
    /// By an `int3` at each leader.
    Breakpoint,
    /// After every single instruction: slow, and needs no trick. Only for recording, to compare with.
    SingleStep,
    /// After every single instruction that the tracer has executed in the program's place.
    Interpreted,
    /// By the agent inside of the program, to which these detours lead.
    Inside(&'d Detours),
}

/// A run of the program under way.
pub(crate) struct Execution<'a> {
    pub(crate) program: &'a Program,
    pub(crate) placement: &'a mut Placement,
    pub(crate) tracee: &'a mut Tracee,
    pub(crate) alarm: Alarm<'a>,
    pub(crate) conditions: &'a Conditions,
    /// The arrivals so far. The breakpoint of the current leader is out of the way.
    pub(crate) pace: Pace,
    pub(crate) started: Instant,
    pub(crate) usage: Usage,
    pub(crate) scratch: Vec<u8>,
    /// The stack pointer before the first instruction.
    pub(crate) stack_base: u64,
    /// Whether the program has become another one, of which nothing is traced.
    pub(crate) replaced: bool,
    /// The first address of its text that was found changed when it was about to exit.
    pub(crate) overwritten: Option<FileAddress>,
    /// The files whose code was in memory at the end.
    pub(crate) objects: Vec<PathBuf>,
    /// The operand that the instruction which crashed could not use, if the run is recorded.
    pub(crate) operand: Option<Operand>,
    /// The number of bytes of output that the C library held when it crashed, if the run is recorded.
    pub(crate) unwritten: u64,
}

impl Execution<'_> {
    /// Runs the program to its end.
    pub(crate) fn run(
        &mut self,
        method: Method<'_>,
        guide: &mut dyn Guide,
    ) -> Result<Termination, ProcessError> {
        let resume = |execution: &mut Self, signal| match method {
            Method::Breakpoint | Method::Inside(_) => execution.tracee.go_on(signal),
            Method::SingleStep | Method::Interpreted => execution.tracee.step(signal),
        };
        if let Some(termination) = self.begin(method)? {
            return Ok(termination);
        }
        resume(self, 0);
        loop {
            let stop = self.tracee.wait()?;
            let signal = match stop {
                Stop::Trap => match self.trap(method, guide)? {
                    Trap::Served => 0,
                    Trap::Foreign => SIGTRAP,
                    Trap::End(termination) => return Ok(termination),
                },
                Stop::Signal(signal) => match method {
                    Method::Inside(detours) if self.critical_pc(detours).is_some() => {
                        if signal == SIGSTOP {
                            return Ok(Termination::Cut(Cut::Stopped));
                        }
                        self.leave_critical_code(signal, detours)?
                    }
                    _ => signal,
                },
                _ => match self.event(stop, method, guide) {
                    Some(termination) => return Ok(termination),
                    None => 0,
                },
            };
            if signal != 0 && self.tracee.is_fatal(signal) {
                self.objects = self.tracee.mapped_code();
                return Ok(self.crash(signal, method, guide));
            }
            resume(self, signal);
        }
    }

    /// Runs the program to where its first leader can be; returns the termination if it has ended before.
    fn begin(&mut self, method: Method<'_>) -> Result<Option<Termination>, ProcessError> {
        match method {
            Method::Breakpoint => self.placement.arm_all(self.tracee, None),
            // No library in scope can run before the executable's own first instruction: skip the loader.
            Method::SingleStep if !self.placement.awaits_libraries() => {
                let entry = self.placement.entry(self.program);
                let original = self.tracee.read(entry, 1).unwrap_or_default();
                self.tracee.write(entry, &[INT3]);
                self.tracee.go_on(0);
                if self.tracee.wait()? != Stop::Trap {
                    return Ok(Some(self.ended_early()));
                }
                self.tracee.write(entry, &original);
                self.tracee.set_pc(entry);
            }
            // The agent is there already.
            Method::SingleStep | Method::Interpreted | Method::Inside(_) => {}
        }
        Ok(None)
    }

    /// The leader at which the program was resumed last.
    fn current(&self) -> Option<LeaderId> {
        self.pace.current.get().map(LeaderId)
    }

    fn ended_early(&mut self) -> Termination {
        self.tracee.end();
        Termination::Cut(self.alarm.raised().unwrap_or(Cut::Stopped))
    }

    fn trap(&mut self, method: Method<'_>, guide: &mut dyn Guide) -> Result<Trap, ProcessError> {
        let Some(location) = self.tracee.location() else {
            return Ok(Trap::Served);
        };
        if self.replaced {
            return Ok(Trap::Foreign);
        }
        let pc = match method {
            Method::Inside(detours) => return self.lead_on(detours, location.pc.wrapping_sub(1)),
            Method::Breakpoint => location.pc.wrapping_sub(1),
            Method::SingleStep | Method::Interpreted => location.pc,
        };
        let takes_trap = !matches!(method, Method::Interpreted);
        if self.placement.is_loader_hook(pc) {
            if takes_trap {
                self.tracee.take_trap()?;
            }
            self.placement.place_libraries(self.program, self.tracee);
            if let Method::Breakpoint = method {
                self.placement.arm_all(self.tracee, self.current());
                self.return_at_once();
            }
            return Ok(Trap::Served);
        }
        let stepped = || self.tracee.signal_cause().is_none_or(|(code, _)| code > 0 && code != SI_KERNEL);
        let is_step = matches!(method, Method::SingleStep | Method::Interpreted);
        if matches!(method, Method::SingleStep) && !stepped() {
            return Ok(Trap::Foreign);
        }
        let reached = self.placement.leader_at(pc).filter(|leader| !self.pace.current.is(leader.0));
        let Some(leader) = reached else {
            return Ok(if is_step { Trap::Served } else { Trap::Foreign });
        };
        if self.conditions.stop.load(Ordering::Relaxed) {
            return Ok(Trap::End(Termination::Cut(Cut::Interrupted)));
        }
        if takes_trap {
            self.tracee.take_trap()?;
        }
        let before = self.current();
        let (at, undefined) = match self.pace.arrive(leader, || guide.arrive(leader, location.sp)) {
            Step::GoOn { at, undefined } => (at, undefined),
            Step::Leave(deviation) => return Ok(Trap::End(Termination::Left(deviation))),
            Step::Enough => return Ok(Trap::End(Termination::Cut(Cut::Arrivals))),
            Step::LoopsOn => return Ok(Trap::End(Termination::Endless(Cut::Arrivals))),
        };
        match undefined {
            Undefined::Nothing => {}
            Undefined::Frame => {
                let (mut poisoner, tracee) = self.poisoner();
                poisoner.frame(tracee, leader, location.sp)?;
            }
            Undefined::Registers => {
                let (poisoner, tracee) = self.poisoner();
                poisoner.registers(tracee, leader, at);
            }
        }
        if let Method::Breakpoint = method {
            if before != Some(at) {
                self.placement.give_way(self.tracee, before, at);
            }
            self.tracee.set_pc(self.placement.address(at));
        }
        if guide.is_over() {
            return Ok(Trap::End(Termination::Reached));
        }
        Ok(Trap::Served)
    }

    /// Leads the program from a breakpoint to the agent, where no jump does.
    fn lead_on(&mut self, detours: &Detours, pc: u64) -> Result<Trap, ProcessError> {
        match detours.breakpoint(pc) {
            Some(leader) => {
                self.tracee.take_trap()?;
                self.tracee.set_pc(detours.arrival(leader));
                Ok(Trap::Served)
            }
            None => Ok(Trap::Foreign),
        }
    }

    /// The program counter, if it is in code that must not be interrupted.
    fn critical_pc(&self, detours: &Detours) -> Option<RuntimeAddress> {
        let pc = self.tracee.location()?.pc;
        detours.is_critical(pc).then_some(RuntimeAddress(pc))
    }

    /// Lets the agent finish its work, so that the handler of a signal that has come meanwhile finds it idle. Returns
    /// the signal to be delivered then. A fault of the code itself is no such signal.
    fn leave_critical_code(&mut self, signal: i32, detours: &Detours) -> Result<i32, ProcessError> {
        const PUSHFQ: [u8; 1] = [0x9c];
        let details = self.tracee.signal_details();
        let is_sent = |signal| !matches!(signal, SIGSEGV | SIGBUS | SIGILL | SIGFPE);
        let mut others = Vec::new();
        while let Some(pc) = self.critical_pc(detours).filter(|_| is_sent(signal)) {
            let pushes_flags = self.tracee.read(pc, 1).is_some_and(|code| code == PUSHFQ);
            self.tracee.step(0);
            match self.tracee.wait()? {
                Stop::Trap if pushes_flags => self.clear_trap_flag(),
                Stop::Trap => {}
                Stop::Signal(other) if is_sent(other) => others.push(other),
                // It ends meanwhile, as will be seen.
                _ => return Ok(0),
            }
        }
        if let Some(details) = details {
            self.tracee.set_signal_details(&details);
        }
        others.into_iter().for_each(|other| self.tracee.send(other));
        Ok(signal)
    }

    /// Clears the trap flag of a single step in the flags that have just been pushed.
    fn clear_trap_flag(&self) {
        const TRAP_FLAG: u8 = 1;
        let second_byte = self.tracee.location().map(|location| RuntimeAddress(location.sp + 1));
        if let Some((place, flags)) = second_byte.and_then(|place| Some((place, self.tracee.read(place, 1)?)))
        {
            self.tracee.write(place, &[flags[0] & !TRAP_FLAG]);
        }
    }

    /// Returns from the loader's hook, a function that does nothing.
    fn return_at_once(&self) {
        let Some(mut registers) = self.tracee.registers() else {
            return;
        };
        let address = self.tracee.read(RuntimeAddress(registers.rsp), 8);
        registers.rip = address.and_then(|bytes| bytes.try_into().ok()).map_or(0, u64::from_le_bytes);
        registers.rsp += 8;
        self.tracee.set_registers(&registers);
    }

    /// Handles a stop that is neither a trap nor a signal; returns the termination if it is the last.
    fn event(&mut self, stop: Stop, method: Method<'_>, guide: &dyn Guide) -> Option<Termination> {
        match stop {
            Stop::Trap | Stop::Signal(_) | Stop::Call => {}
            Stop::Executed => self.replaced = true,
            Stop::SharedMemory | Stop::OwnMemoryAgain | Stop::Forked(_) if self.replaced => {}
            Stop::SharedMemory => self.placement.disarm_all(self.tracee),
            Stop::OwnMemoryAgain => match method {
                Method::Breakpoint => self.placement.arm_all(self.tracee, self.current()),
                Method::Inside(_) => self.placement.arm_all(self.tracee, None),
                Method::SingleStep | Method::Interpreted => {}
            },
            Stop::Forked(child) => {
                self.usage.forked += 1;
                self.placement.disarm_fork(self.tracee, child);
            }
            Stop::Thread => {
                let statement = guide.position().first().copied().flatten();
                let statement = statement.map(|leader| self.program.leader(leader).statement);
                return Some(Termination::Cut(Cut::Thread(statement)));
            }
            Stop::Exiting => {
                let (cpu, memory) = self.tracee.usage();
                self.usage = Usage { cpu, memory, wall: self.started.elapsed(), ..self.usage };
                self.objects = self.tracee.mapped_code();
                if !self.replaced {
                    self.overwritten = self.placement.overwritten_text(self.tracee);
                }
            }
            Stop::Stopped => return Some(Termination::Cut(Cut::Stopped)),
            Stop::Cut(cut) => return Some(Termination::Cut(cut)),
            Stop::Exited(status) => {
                let overwritten = self.overwritten.map(|address| Termination::Cut(Cut::ChangedText(address)));
                return Some(overwritten.unwrap_or(Termination::Exited(status)));
            }
            Stop::Killed(signal) => {
                let cut = self.alarm.raised();
                return Some(cut.map_or_else(|| self.crash(signal, method, guide), Termination::Cut));
            }
        }
        None
    }

    /// The poisoner, which sets what is undefined to the pattern of this run.
    fn poisoner(&mut self) -> (Poisoner<'_>, &mut Tracee) {
        let Conditions { poison, ref untouched, .. } = *self.conditions;
        let (program, placement, scratch) = (self.program, &*self.placement, &mut self.scratch);
        let stack_base = self.stack_base;
        (Poisoner { program, placement, poison, untouched, stack_base, scratch }, self.tracee)
    }
}

/// The result of a trap.
enum Trap {
    /// The program can go on.
    Served,
    /// The trap is the program's own.
    Foreign,
    /// The run is over.
    End(Termination),
}

/// The breakpoint instruction, `int3`.
const INT3: u8 = 0xcc;
/// The code of a signal that the kernel sends without saying more.
const SI_KERNEL: i32 = 0x80;
