//! Execution of a run instruction by instruction, along its trace.

use std::sync::atomic::Ordering;

use super::files::FileWriters;
use super::library::LibraryState;
use super::{Detective, Investigation, Pending};
use crate::dependence::{Dependences, Incomplete};
use crate::engine::crash::registers;
use crate::engine::{Execution, Method, Replayer, Trap};
use crate::process::{ProcessError, SIGTRAP, Stop};
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
        let mut at = registers(execution.tracee);
        loop {
            if let Some(outcome) = self.enough(execution) {
                return Ok(outcome);
            }
            let is_known = signal == 0 && !execution.replaced;
            let pending = at.filter(|_| is_known).and_then(|at| self.before(execution, at));
            self.instructions += 1;
            if execution.replaced {
                execution.tracee.go_on(signal)
            } else {
                execution.tracee.step(signal)
            }
            let stop = execution.tracee.wait()?;
            let delivered = std::mem::take(&mut signal);
            if let Stop::Trap = stop {
                let now = registers(execution.tracee);
                let has_begun = |(before, now): (RegisterValues, RegisterValues)| {
                    now.sp() < before.sp().saturating_sub(RED_ZONE) || now.sp() > before.sp()
                };
                if delivered != 0 && at.zip(now).is_some_and(has_begun) {
                    self.enter_handler(delivered as u64);
                }
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
            at = registers(execution.tracee);
        }
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

    /// An instruction has been executed.
    fn stepped(
        &mut self,
        execution: &mut Execution<'_>,
        guide: &mut Replayer<'_>,
        pending: Option<Pending>,
        now: Option<RegisterValues>,
    ) -> Result<Trap, ProcessError> {
        let Some(now) = now else { return Ok(Trap::Served) };
        // Who sends itself a signal does so by a system call.
        let may_trap =
            |pending: &Pending| matches!(pending.operation.role, InsnRole::Trap | InsnRole::SystemCall);
        let is_trap = pending.as_ref().is_some_and(may_trap);
        if let Some(pending) = pending {
            self.after(execution, pending, &now);
        }
        let placement = &execution.placement;
        let is_noted = placement.leader_at(now.pc).is_some() || placement.is_loader_hook(now.pc);
        if !is_noted && !is_trap && !execution.replaced {
            return Ok(Trap::Served);
        }
        let before = execution.pace.arrivals;
        let trap = execution.trap(Method::SingleStep, guide)?;
        if execution.pace.arrivals > before
            && let (Trap::Served, Some(event)) = (&trap, guide.current())
        {
            self.arrive(execution, event, &now);
        }
        Ok(trap)
    }
}
