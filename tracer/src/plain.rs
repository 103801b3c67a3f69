//! Runs of a program as it is, again and again, each time with other circumstances: another standard input, other
//! arguments, another environment, other contents of files.
//!
//! Nothing is traced, so that it may be any program that can be started: a script, one without debug
//! information, one with threads, one that starts others. It is contained, answered and watched as programs are
//! whose statements are traced.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use agent::names::LeaderId;

use crate::address::RuntimeAddress;
use crate::engine::{Changed, Changes, Conditions, Placement, crash_of_untraced};
use crate::fork_servers::ForkServers;
use crate::intervention::{Alterations, Intervention};
use crate::invocation::{Invocation, Limits, Replacement};
use crate::process::{
    Alarm, Attachments, Containment, OpenFile, ProcessError, SIGTRAP, SIGXFSZ, Stop, Tracee,
};
use crate::program::{ImageId, Program};
use crate::run::{Run, Usage};
use crate::stage::Stage;
use crate::termination::{Cut, Termination};

/// A runner: one worker's place for runs of a program of which nothing is traced.
pub struct Runner<'p> {
    forks: ForkServers,
    stage: Stage<'p>,
    placement: Placement,
    notes_open_files: bool,
}

impl<'p> Runner<'p> {
    /// Prepares for runs of `program`, which is [`Program::untraced`]. Of `invocation` they all have the program,
    /// the working directory, the permissions and what is constant.
    ///
    /// # Errors
    /// If the machine refuses files, threads or processes.
    pub fn new(program: &'p Program, invocation: &Invocation) -> Result<Runner<'p>, ProcessError> {
        let stage = Stage::new(program, invocation)?;
        Ok(Runner {
            forks: ForkServers::default(),
            stage,
            placement: Placement::default(),
            notes_open_files: false,
        })
    }

    /// The level of containment of the runs.
    pub fn containment(&self) -> Containment {
        self.stage.containment()
    }

    /// Whether runs tell which files were open at their end ([`Run::open_files`]), for which several files of `/proc` are
    /// read after each.
    pub fn note_open_files(&mut self, is_wanted: bool) {
        self.notes_open_files = is_wanted;
    }

    /// Runs the program to its end with the arguments, the environment, the standard input and the kind of
    /// output of `invocation`, and with these files. It is ended soon once `stop` is set. The processor's time, and
    /// time asleep, are those of the program and of all that it starts together.
    ///
    /// # Errors
    /// If the machine refuses, or if a file cannot be replaced; whatever the program does is a [`Run`].
    pub fn run(
        &mut self,
        invocation: &Invocation,
        files: &[Replacement],
        limits: &Limits,
        stop: &Arc<AtomicBool>,
    ) -> Result<Run, ProcessError> {
        self.run_with(invocation, files, &Alterations::of(&[]), limits, stop)
    }

    /// Runs the program as [`Runner::run`] does, with the files as they are and with alterations, which need a
    /// [`Program::load`]ed program.
    ///
    /// # Errors
    /// As of [`Runner::run`].
    pub fn run_changed(
        &mut self,
        invocation: &Invocation,
        alterations: &Alterations<'_>,
        limits: &Limits,
        stop: &Arc<AtomicBool>,
    ) -> Result<Run, ProcessError> {
        self.run_with(invocation, &[], alterations, limits, stop)
    }

    /// Has all runs started, none forked.
    #[cfg(test)]
    pub(crate) fn start_all(&mut self) {
        self.forks.refuse();
    }

    /// The number of runs that were forked.
    #[cfg(test)]
    pub(crate) fn forked(&self) -> usize {
        self.forks.count()
    }

    fn run_with(
        &mut self,
        invocation: &Invocation,
        files: &[Replacement],
        alterations: &Alterations<'_>,
        limits: &Limits,
        stop: &Arc<AtomicBool>,
    ) -> Result<Run, ProcessError> {
        if self.stage.clear()? {
            self.forks.clear();
        }
        let conditions = Conditions {
            poison: alterations.poison,
            untouched: Arc::new(alterations.untouched.clone()),
            limits: *limits,
            stop: Arc::clone(stop),
            asked: None,
        };
        if files.is_empty()
            && let Some(run) = self.run_forked(invocation, alterations, &conditions)?
        {
            return Ok(run);
        }
        self.stage.take_over(invocation)?;
        for Replacement { path, content } in files {
            self.stage.replace(path, content.as_deref())?;
        }
        let (mut start, output) = self.stage.start(&conditions, Attachments::default())?;
        if let Some(program) = known(self.stage.program) {
            self.placement.start(program, &start.tracee);
        }
        let run = self.follow(&mut start.tracee, (alterations, &HashSet::new()), &conditions)?;
        self.stage.finish(start, output, run, limits)
    }

    /// Runs a fork of the program; `None` if that has to be started.
    fn run_forked(
        &mut self,
        invocation: &Invocation,
        alterations: &Alterations<'_>,
        conditions: &Conditions,
    ) -> Result<Option<Run>, ProcessError> {
        let bias = self.placement.bias(ImageId(0));
        let address = |change: &Intervention| RuntimeAddress(change.place.address.0.wrapping_add(bias));
        let is_fit = alterations.interventions.iter().all(|change| self.forks.executes(address(change)));
        if self.stage.program.leaders().is_empty() || !is_fit {
            return Ok(None);
        }
        let started = Instant::now();
        let fork = self.forks.fork(&mut self.stage, &self.placement, invocation, conditions)?;
        let Some(mut fork) = fork else { return Ok(None) };
        let filled = self.forks.filled();
        let mut run = self.follow(&mut fork.tracee, (alterations, &filled), conditions)?;
        let Some(written) = self.forks.finish(fork)? else { return Ok(None) };
        (run.stdout, run.stderr) = written;
        run.usage.wall = started.elapsed();
        self.stage.measure(&mut run, &conditions.limits);
        Ok(Some(run))
    }

    /// Follows a program to its end. Its output is not part of the result yet. The frames of these functions are made
    /// undefined by the agent.
    fn follow(
        &mut self,
        tracee: &mut Tracee,
        (alterations, filled): (&Alterations<'_>, &HashSet<LeaderId>),
        conditions: &Conditions,
    ) -> Result<Run, ProcessError> {
        let alarm = self.stage.watch_family(tracee.pid(), conditions)?;
        let mut course = Course {
            program: known(self.stage.program),
            placement: &self.placement,
            filled,
            usage: Usage::default(),
            notes_open_files: self.notes_open_files,
            open_files: Vec::new(),
            alarm: &alarm,
        };
        let termination = course.follow(tracee, alterations)?;
        let (usage, open_files) = (course.usage, std::mem::take(&mut course.open_files));
        let termination = match (termination, alarm.end()) {
            (Termination::Cut(Cut::Stopped), Some(cut)) => Termination::Cut(cut),
            (termination, _) => termination,
        };
        Ok(Run {
            termination,
            usage,
            denied: tracee.denied(),
            open_files,
            ..Run::with_output(Vec::new(), b"")
        })
    }
}

/// The program, if anything is known of its code.
fn known(program: &Program) -> Option<&Program> {
    Some(program).filter(|program| !program.images().is_empty())
}

/// A program under way.
struct Course<'c> {
    /// The program; `None` once the process has become another one, or if nothing is known of it.
    program: Option<&'c Program>,
    placement: &'c Placement,
    /// The functions whose frames are made undefined by somebody else.
    filled: &'c HashSet<LeaderId>,
    usage: Usage,
    notes_open_files: bool,
    open_files: Vec<OpenFile>,
    alarm: &'c Alarm<'c>,
}

impl Course<'_> {
    /// Follows the program to its end.
    fn follow(
        &mut self,
        tracee: &mut Tracee,
        alterations: &Alterations<'_>,
    ) -> Result<Termination, ProcessError> {
        let mut changes = None;
        if let Some(program) = self.program {
            changes = Some(Changes::make(alterations, program, (self.placement, self.filled), tracee));
        }
        tracee.stop_at_exit();
        let (mut signal, mut seen) = (0, None);
        loop {
            let stop = match seen.take() {
                Some(stop) => stop,
                None => {
                    tracee.go_on(signal);
                    tracee.wait()?
                }
            };
            signal = match (stop, &mut changes) {
                (Stop::Signal(signal), _) => signal,
                (Stop::Trap, Some(changes)) => match self.trap(changes, tracee)? {
                    Changed::Served => 0,
                    Changed::Foreign => SIGTRAP,
                    Changed::Stopped(stop) => {
                        seen = Some(stop);
                        continue;
                    }
                },
                (Stop::Trap, None) => SIGTRAP,
                (Stop::Executed, changes) => {
                    (self.program, *changes) = (None, None);
                    0
                }
                (stop, changes) => match self.event(stop, tracee, changes.as_ref()) {
                    Some(termination) => return Ok(termination),
                    None => 0,
                },
            };
            // The signal itself is not delivered: a handler of core dumps must not be started for each test.
            if signal != 0 && tracee.is_fatal(signal) {
                self.look(tracee);
                return Ok(self.crashed(tracee, signal));
            }
        }
    }

    /// Looks at what is gone once the program has ended.
    fn look(&mut self, tracee: &Tracee) {
        (self.usage.cpu, self.usage.memory) = tracee.usage_of_family();
        if self.notes_open_files {
            self.open_files = tracee.open_files();
        }
    }

    fn trap(&self, changes: &mut Changes<'_>, tracee: &mut Tracee) -> Result<Changed, ProcessError> {
        match self.program {
            Some(program) => changes.trap(program, self.placement, tracee),
            None => Ok(Changed::Foreign),
        }
    }

    /// Handles a stop that is neither a trap nor a signal; returns the termination if it is the last.
    fn event(&mut self, stop: Stop, tracee: &Tracee, changes: Option<&Changes<'_>>) -> Option<Termination> {
        match stop {
            Stop::Exited(status) => return Some(Termination::Exited(status)),
            Stop::Stopped => return Some(Termination::Cut(Cut::Stopped)),
            Stop::Cut(cut) => return Some(Termination::Cut(cut)),
            // A signal has hit another of its threads than the first one, or somebody has killed it.
            Stop::Killed(signal) => {
                self.program = None;
                let killed = || self.crashed(tracee, signal);
                return Some(self.alarm.raised().map_or_else(killed, Termination::Cut));
            }
            Stop::Forked(child) => {
                self.usage.forked += 1;
                changes.into_iter().for_each(|changes| changes.leave_fork(tracee, child));
            }
            Stop::Exiting => self.look(tracee),
            Stop::SharedMemory => changes.into_iter().for_each(|changes| changes.set_aside(tracee, true)),
            Stop::OwnMemoryAgain => changes.into_iter().for_each(|changes| changes.set_aside(tracee, false)),
            Stop::Signal(_) | Stop::Trap | Stop::Executed | Stop::Thread | Stop::Call => {}
        }
        None
    }

    /// The termination by a fatal signal.
    fn crashed(&self, tracee: &Tracee, signal: i32) -> Termination {
        if signal == SIGXFSZ {
            return Termination::Cut(Cut::FileSize);
        }
        let unknown = (Program::untraced(Path::new("")), Placement::default());
        let known = self.program.map(|program| (program, self.placement));
        let (program, placement) = known.unwrap_or((&unknown.0, &unknown.1));
        Termination::Crashed(crash_of_untraced(program, placement, tracee, signal))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use super::*;
    use crate::invocation::Input;
    use crate::invocation::tests::limits;
    use crate::termination::{BadAddress, Crash};

    const LONG: Duration = Duration::from_secs(60);

    fn shell(script: &str, directory: &Path) -> Invocation {
        let shell = Path::new("/bin/sh").canonicalize().expect("a shell");
        let words = ["sh", "-c", script].map(Into::into);
        Invocation { arguments: words.into(), ..Invocation::new(shell, directory.into()) }
    }

    fn runs(invocation: &Invocation, files: &[&[Replacement]]) -> Vec<Run> {
        let program = Program::untraced(&invocation.program);
        let mut runner = Runner::new(&program, invocation).expect("a sandbox");
        let limits = Limits { tasks: 100, ..limits(LONG) };
        let run = |files: &&[Replacement]| runner.run(invocation, files, &limits, &Arc::default());
        files.iter().map(run).collect::<Result<_, _>>().expect("a run")
    }

    fn replacement(path: &Path, content: Option<&str>) -> Replacement {
        let content = content.map(|text| Input::from(text.as_bytes().to_vec()));
        Replacement { path: path.into(), content }
    }

    #[test]
    fn each_run_has_what_it_is_given_and_nothing_of_the_runs_before() {
        let folder = tempfile::tempdir().expect("a folder");
        let directory = folder.path().canonicalize().expect("there");
        let file = directory.join("in put");
        fs::write(&file, "own").expect("written");
        let script = "cat 'in put' 2>&1; cat; echo $V $1; rm -f 'in put'; echo left >left; ls left";
        let program = Program::untraced(Path::new("/bin/sh"));
        let mut first = shell(script, &directory);
        first.arguments.extend(["sh".into(), "argument".into()]);
        first.environment = vec![("PATH".into(), "/usr/bin:/bin".into()), ("V".into(), "value".into())];
        first.stdin = b"input ".to_vec().into();
        let mut other = first.clone();
        (other.arguments[4], other.environment[1].1) = ("another".into(), "".into());
        other.stdin = Input::default();
        let mut runner = Runner::new(&program, &first).expect("a sandbox");
        let limits = Limits { tasks: 100, ..limits(LONG) };
        let mut printed = |invocation, content| {
            let files: Vec<Replacement> =
                Option::into_iter(content).map(|text| replacement(&file, text)).collect();
            let run = runner.run(invocation, &files, &limits, &Arc::default()).expect("a run");
            assert_eq!(run.termination, Termination::Exited(0));
            String::from_utf8_lossy(&run.stdout).into_owned()
        };
        for _ in 0..2 {
            assert_eq!(printed(&first, None), "owninput value argument\nleft\n");
            assert_eq!(printed(&other, Some(Some("given\n"))), "given\nanother\nleft\n");
            assert_eq!(printed(&first, Some(Some(""))), "input value argument\nleft\n");
            assert!(printed(&other, Some(None)).contains("in put"), "it is not there");
        }
        assert_eq!(fs::read(&file).expect("still there"), b"own");
        assert!(!directory.join("left").exists());
    }

    #[test]
    fn a_crash_is_that_of_the_program_and_no_signal_of_a_program_that_it_has_started() {
        let ends = |script: &str| {
            let runs = runs(&shell(script, Path::new("/")), &[&[], &[]]);
            assert_eq!(runs[0].termination, runs[1].termination);
            runs[0].termination.clone()
        };
        assert_eq!(ends("sh -c 'kill -SEGV $$'; exit 3"), Termination::Exited(3));
        let Termination::Crashed(Crash { signal, address, .. }) = ends("kill -SEGV $$") else {
            panic!("it crashes")
        };
        assert_eq!((signal, address), (11, BadAddress::None));
        assert_eq!(ends("kill -STOP $$"), Termination::Cut(Cut::Stopped));
        assert_eq!(ends("exec sh -c 'exit 4'"), Termination::Exited(4));
        assert!(matches!(ends("while :; do sh -c : & done"), Termination::Cut(Cut::Tasks)));
    }

    #[test]
    fn a_file_elsewhere_cannot_be_replaced() {
        let invocation = shell(":", Path::new("/"));
        let program = Program::untraced(&invocation.program);
        let mut runner = Runner::new(&program, &invocation).expect("a sandbox");
        let elsewhere = [replacement(Path::new("/etc/passwd"), Some("nobody"))];
        let refused = runner.run(&invocation, &elsewhere, &limits(LONG), &Arc::default());
        let refused = refused.expect_err("it is not in the working directory").to_string();
        assert!(refused.starts_with("/etc/passwd cannot be replaced for a run: "), "{refused}");
    }
}
