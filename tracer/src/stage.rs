//! The stage: programs are started and run to their ends on it, whatever the engine.

use std::path::{Path, PathBuf};
use std::time::Instant;

use agent::pace::Pace;

use crate::engine::{Conditions, Execution, Guide, Method, Placement};
use crate::invocation::Replacement;
use crate::invocation::{Invocation, Limits, Stdout};
use crate::process::{
    Alarm, Attachments, Bytes, Containment, Launch, Output, Pid, ProcessError, Sandbox, Subject, Tracee,
    WaitingWork, Watchdog,
};
use crate::program::Program;
use crate::run::{Run, Usage};
use crate::termination::{Cut, Termination};

/// The stage of a worker: what all its runs have in common.
pub(crate) struct Stage<'p> {
    pub(crate) program: &'p Program,
    stdout: Stdout,
    sandbox: Sandbox,
    watchdog: Watchdog,
    /// The files that runs find instead of those that are there.
    pub(crate) files: Vec<Replacement>,
}

/// A started program that waits to be run.
pub(crate) struct Start {
    pub(crate) tracee: Tracee,
    /// The stack pointer before the program's first instruction.
    pub(crate) stack_base: u64,
    /// The time at which it was started.
    pub(crate) time: Instant,
}

/// The course of a run: what it is run with.
pub(crate) struct Course<'c> {
    pub(crate) conditions: &'c Conditions,
    pub(crate) placement: &'c mut Placement,
    pub(crate) method: Method<'c>,
}

impl<'p> Stage<'p> {
    /// Prepares for runs of `program` by `invocation`.
    pub(crate) fn new(program: &'p Program, invocation: &Invocation) -> Result<Stage<'p>, ProcessError> {
        Ok(Stage {
            program,
            stdout: invocation.stdout,
            sandbox: Sandbox::new(invocation)?,
            watchdog: Watchdog::new()?,
            files: Vec::new(),
        })
    }

    /// The level of containment of the runs.
    pub(crate) fn containment(&self) -> Containment {
        self.sandbox.containment()
    }

    /// The kind of file of the standard output.
    pub(crate) fn stdout(&self) -> Stdout {
        self.stdout
    }

    /// The waiting work of a thread that works on what the program waits for.
    pub(crate) fn attendance(&self) -> WaitingWork {
        self.watchdog.attendance()
    }

    /// Removes what the latest run has left in the file system. True if that makes programs that were started before
    /// see another world than those that will be.
    pub(crate) fn clear(&mut self) -> Result<bool, ProcessError> {
        let is_other = self.sandbox.refresh()?;
        for Replacement { path, content } in &self.files {
            self.sandbox.replace(path, content.as_deref())?;
        }
        Ok(is_other)
    }

    /// Takes over the arguments, the environment, the standard input and the kind of output of this invocation, which
    /// is of the same program, for what is started from now on.
    pub(crate) fn take_over(&mut self, invocation: &Invocation) -> Result<(), ProcessError> {
        self.stdout = invocation.stdout;
        self.sandbox.take_over(invocation)
    }

    /// Replaces a file for the next run by one with this content, or by none.
    pub(crate) fn replace(&mut self, file: &Path, content: Option<&[u8]>) -> Result<(), ProcessError> {
        self.sandbox.replace(file, content)
    }

    /// Watches a program together with all that it starts.
    pub(crate) fn watch_family(&self, pid: Pid, conditions: &Conditions) -> Result<Alarm<'_>, ProcessError> {
        self.watchdog.watch(pid, Subject::Family, &conditions.limits, &conditions.stop)
    }

    /// Starts the program; its first instruction is next.
    pub(crate) fn start(
        &self,
        conditions: &Conditions,
        attachments: Attachments<'_>,
    ) -> Result<(Start, Output), ProcessError> {
        let output = Output::new(self.stdout, conditions.limits.file_size)?;
        let time = Instant::now();
        let launch = Launch {
            output: &output,
            limits: &conditions.limits,
            poison: conditions.heap_poison(),
            attachments,
        };
        let tracee = Tracee::start(&self.sandbox, &launch)?;
        let stack_base = tracee.location().map_or(0, |location| location.sp);
        Ok((Start { tracee, stack_base, time }, output))
    }

    /// Runs a program until the reason why it goes no further. Its output is not part of the result yet.
    pub(crate) fn run(
        &self,
        start: &mut Start,
        course: Course<'_>,
        guide: &mut dyn Guide,
    ) -> Result<Run, ProcessError> {
        let method = course.method;
        let mut run = self.run_by(start, course, |execution| execution.run(method, &mut *guide))?;
        if let Termination::Cut(cut) = run.termination
            && guide.waits_for_ever(cut)
        {
            run.termination = Termination::Endless(cut);
        }
        Ok(run)
    }

    /// Runs a program as [`Stage::run`] does, led by `lead`.
    pub(crate) fn run_by(
        &self,
        start: &mut Start,
        course: Course<'_>,
        lead: impl FnOnce(&mut Execution<'_>) -> Result<Termination, ProcessError>,
    ) -> Result<Run, ProcessError> {
        let Course { conditions, placement, .. } = course;
        let alarm = self.watchdog.watch(
            start.tracee.pid(),
            Subject::Process,
            &conditions.limits,
            &conditions.stop,
        )?;
        let mut execution = Execution {
            program: self.program,
            placement,
            tracee: &mut start.tracee,
            alarm,
            conditions,
            pace: Pace::new(conditions.limits.arrivals),
            started: start.time,
            usage: Usage::default(),
            scratch: Vec::new(),
            stack_base: start.stack_base,
            replaced: false,
            overwritten: None,
            objects: Vec::new(),
            operand: None,
            unwritten: 0,
        };
        let termination = lead(&mut execution)?;
        self.must_be_unchanged(&execution.objects)?;
        let Execution { usage, pace, objects, operand, unwritten, tracee, alarm, .. } = execution;
        let Pace { arrivals, redirections, .. } = pace;
        let termination = match (termination, alarm.end()) {
            // Otherwise somebody would go on with a dead process.
            (Termination::Cut(Cut::Stopped), Some(cut)) => Termination::Cut(cut),
            (termination, _) => termination,
        };
        let denied = tracee.denied();
        let (stdout, stderr) = (Bytes::default(), Bytes::default());
        Ok(Run {
            open_files: Vec::new(),
            stdout,
            stderr,
            termination,
            usage,
            arrivals,
            redirections,
            denied,
            objects,
            operand,
            unwritten,
            value: None,
        })
    }

    /// Checks that a run, and so all before it, has executed the code that was examined. These are files that it had in
    /// memory; its own copies are not for others to change.
    fn must_be_unchanged(&self, objects: &[PathBuf]) -> Result<(), ProcessError> {
        let files = self.program.code_files();
        objects.iter().filter(|path| !self.sandbox.holds(path)).for_each(|path| files.add(path));
        files.changed().map_or(Ok(()), |path| Err(ProcessError::Changed { path }))
    }

    /// Ends what is left of a program that was run, and adds its output.
    pub(crate) fn finish(
        &self,
        mut start: Start,
        output: Output,
        mut run: Run,
        limits: &Limits,
    ) -> Result<Run, ProcessError> {
        start.tracee.end();
        run.usage.wall = start.time.elapsed();
        (run.stdout, run.stderr) = output.collect()?;
        self.measure(&mut run, limits);
        Ok(run)
    }

    /// Notes that a run that is over has written more than it may.
    pub(crate) fn measure(&self, run: &mut Run, limits: &Limits) {
        run.measure(limits, || self.sandbox.is_full());
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use agent::poison::Poison;

    use super::*;
    use crate::invocation::tests::limits;
    use crate::process::Stop;
    use crate::program::sketch::{Outline, program};

    #[test]
    fn what_has_stopped_and_was_killed_then_is_no_stopped_program() {
        let outline = program(&[Outline { name: "main", lines: &[2], decisions: &[] }]);
        let invocation = Invocation::new("/bin/true".into(), "/".into());
        let stage = Stage::new(&outline, &invocation).expect("a sandbox");
        let soon = limits(Duration::from_millis(50));
        let conditions = Conditions {
            poison: Poison::Off,
            untouched: Default::default(),
            limits: soon,
            stop: Default::default(),
            asked: None,
        };
        let (mut start, output) = stage.start(&conditions, Attachments::default()).expect("started");
        let mut placement = Placement::default();
        let course =
            Course { conditions: &conditions, placement: &mut placement, method: Method::Breakpoint };
        let run = stage.run_by(&mut start, course, |execution| {
            // As if it had been seen to stop just before that.
            assert!(matches!(execution.tracee.wait()?, Stop::Killed(_)));
            Ok(Termination::Cut(Cut::Stopped))
        });
        let run = stage.finish(start, output, run.expect("a run"), &soon).expect("ended");
        assert_eq!(run.termination, Termination::Cut(Cut::WallTime));
    }
}
