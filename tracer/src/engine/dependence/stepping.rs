//! Execution of a run instruction by instruction, along its trace.

use std::sync::atomic::Ordering;

use agent::poison::Poison;

use super::files::FileWriters;
use super::interpreter::Interpreted;
use super::library::LibraryState;
use super::{Detective, Investigation, Pending};
use crate::dependence::{Dependences, Incomplete};
use crate::engine::{Execution, Method, Replayer, Trap};
use crate::process::{ProcessError, SIGTRAP, Stop};
use crate::program::interpretation::MachineState;
use crate::program::operations::InsnRole;
use crate::program::variables::RegisterValues;
use crate::termination::{Cut, Termination};

/// The number of instructions after which the limits are checked.
const INTERVAL: u64 = 1024;
/// The distance between the stack of a signal's handler and that of what it has interrupted: the red zone, in bytes.
const RED_ZONE: u64 = 128;

/// Executes the run to its end, or until a limit is reached.
pub(crate) fn follow(
    execution: &mut Execution<'_>,
    guide: &mut Replayer<'_>,
    investigation: Investigation<'_>,
) -> Result<(Dependences, Option<Termination>), ProcessError> {
    let mut detective = Detective::new(investigation);
    let ended = match execution.begin(Method::SingleStep)? {
        Some(termination) => Outcome::Ended(termination),
        None => {
            detective.library = LibraryState::new(execution.tracee);
            detective.files = FileWriters::new(execution.tracee);
            detective.run(execution, guide)?
        }
    };
    let (termination, enough) = match ended {
        Outcome::Ended(termination) => (Some(termination), None),
        Outcome::Enough(why) => (None, Some(why)),
    };
    Ok((detective.finish(execution.tracee, termination.as_ref(), enough), termination))
}

/// The reason why the run is followed no further.
enum Outcome {
    Ended(Termination),
    Enough(Incomplete),
}

impl Detective<'_> {
    fn run(
        &mut self,
        execution: &mut Execution<'_>,
        guide: &mut Replayer<'_>,
    ) -> Result<Outcome, ProcessError> {
        let mut signal = 0;
        let mut at = self.interpreter.look(execution.tracee);
        loop {
            if let Some(outcome) = self.enough(execution) {
                return Ok(outcome);
            }
            let known = at.filter(|_| signal == 0 && !execution.replaced);
            let pending = known.and_then(|at| self.before(execution, at.registers));
            self.instructions += 1;
            let mut expected = None;
            if let (Some(pending), Some(state)) = (&pending, &known) {
                match self.interpreter.execute(execution.tracee, &pending.operation, state) {
                    Interpreted::Done(now) => {
                        let arrivals = execution.pace.arrivals;
                        if let Trap::End(termination) =
                            self.executed(execution, guide, (pending, &now.registers), Method::Interpreted)?
                        {
                            return Ok(Outcome::Ended(termination));
                        }
                        at = if execution.pace.arrivals > arrivals {
                            self.look_again(execution)
                        } else {
                            Some(now)
                        };
                        continue;
                    }
                    Interpreted::Expected(expectation) => expected = Some(expectation),
                    Interpreted::Left => {}
                }
            }
            self.interpreter.hand_over(execution.tracee);
            let is_plain = |pending: &Pending| pending.operation.role != InsnRole::SystemCall;
            self.interpreter.let_go(signal == 0 && pending.as_ref().is_some_and(is_plain));
            if execution.replaced {
                execution.tracee.go_on(signal)
            } else {
                execution.tracee.step(signal)
            }
            let stop = execution.tracee.wait()?;
            let delivered = std::mem::take(&mut signal);
            if let Stop::Trap = stop {
                let now = self.interpreter.look(execution.tracee);
                let has_begun = |(before, now): (MachineState, MachineState)| {
                    let (before, now) = (before.registers.sp(), now.registers.sp());
                    now < before.saturating_sub(RED_ZONE) || now > before
                };
                if delivered != 0 && at.zip(now).is_some_and(has_begun) {
                    self.enter_handler(delivered as u64);
                }
                if let Some((expected, now)) = expected.zip(now.as_ref()) {
                    self.interpreter.compare(execution.tracee, &expected, now);
                }
                let now = now.map(|now| now.registers);
                match self.stepped(execution, guide, pending, now)? {
                    Trap::Served => {}
                    Trap::Foreign => signal = SIGTRAP,
                    Trap::End(termination) => return Ok(Outcome::Ended(termination)),
                }
            } else if let Stop::Signal(other) = stop {
                signal = other;
            } else if let Some(termination) = execution.event(stop, Method::SingleStep, guide) {
                return Ok(Outcome::Ended(termination));
            }
            if signal != 0 && execution.tracee.is_fatal(signal) {
                return Ok(Outcome::Ended(execution.crash(signal, Method::SingleStep, guide)));
            }
            at = self.interpreter.look(execution.tracee);
        }
    }

    /// The state at an event: what is undefined there may have been set.
    fn look_again(&mut self, execution: &Execution<'_>) -> Option<MachineState> {
        if execution.conditions.poison != Poison::Off {
            self.interpreter.let_go(true);
        }
        self.interpreter.look(execution.tracee)
    }

    /// The limit that is reached, if there is one.
    fn enough(&self, execution: &Execution<'_>) -> Option<Outcome> {
        if !self.instructions.is_multiple_of(INTERVAL) {
            return None;
        }
        if execution.conditions.stop.load(Ordering::Relaxed) {
            return Some(Outcome::Ended(Termination::Cut(Cut::Interrupted)));
        }
        if self.instructions >= self.investigation.instructions {
            return Some(Outcome::Enough(Incomplete::Instructions(self.last)));
        }
        (self.memory_used() > self.investigation.memory)
            .then_some(Outcome::Enough(Incomplete::Memory(self.last)))
    }

    /// The processor has executed an instruction.
    fn stepped(
        &mut self,
        execution: &mut Execution<'_>,
        guide: &mut Replayer<'_>,
        pending: Option<Pending>,
        now: Option<RegisterValues>,
    ) -> Result<Trap, ProcessError> {
        let Some(now) = now else { return Ok(Trap::Served) };
        match pending {
            Some(pending) => self.executed(execution, guide, (&pending, &now), Method::SingleStep),
            None => self.arrived(execution, guide, &now, (Method::SingleStep, false)),
        }
    }

    /// Handles the stop after a step.
    fn executed(
        &mut self,
        execution: &mut Execution<'_>,
        guide: &mut Replayer<'_>,
        (pending, now): (&Pending, &RegisterValues),
        method: Method<'_>,
    ) -> Result<Trap, ProcessError> {
        self.after(execution, pending, now);
        // A program that sends itself a signal does so by a system call.
        let may_trap = matches!(pending.operation.role, InsnRole::Trap | InsnRole::SystemCall);
        self.arrived(execution, guide, now, (method, may_trap))
    }

    /// The program is at another instruction.
    fn arrived(
        &mut self,
        execution: &mut Execution<'_>,
        guide: &mut Replayer<'_>,
        now: &RegisterValues,
        (method, may_trap): (Method<'_>, bool),
    ) -> Result<Trap, ProcessError> {
        let placement = &execution.placement;
        let is_noted = placement.leader_at(now.pc).is_some() || placement.is_loader_hook(now.pc);
        if !is_noted && !may_trap && !execution.replaced {
            return Ok(Trap::Served);
        }
        self.interpreter.hand_over(execution.tracee);
        let before = execution.pace.arrivals;
        let trap = execution.trap(method, guide)?;
        if execution.pace.arrivals > before
            && let (Trap::Served, Some(event)) = (&trap, guide.current())
        {
            self.arrive(execution, event, now);
        }
        Ok(trap)
    }
}
