//! Build a version and test it, in a tree of a worker's own.
//!
//! Contained as plain runs are, but that builds and tests may write in their tree. The result of a version is known
//! from then on, whatever changes have led to it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use dd::Outcome;
use regex::bytes::Regex;
use tracer::invocation::{Answers, Constancy, Input, Invocation, Limits};
use tracer::plain::Runner;
use tracer::program::Program;
use tracer::run::Run;
use tracer::termination::{Cut, Termination, signal_name};
use tracer::trace::Trace;
use tracer::{Containment, ProcessError, start_thread};

use super::records::{Examination, Inconsistency, Records};
use super::tree::{Overlay, fingerprint};
use super::work_tree::{BaseVersion, WorkTree};
use crate::circumstances::{RunLock, TestError};
use crate::oracle::{Evidence, Oracle};
use crate::subject::Recorded;

/// The number of bytes that are kept of what builds and tests print, of its end.
const KEPT: usize = 16 << 10;

/// The judge of a version.
pub enum Judge {
    /// The exit status of a command, as for `git bisect run`.
    Command,
    /// The run of a program: it shows the failure, or does not.
    Program {
        /// The oracle of the failure.
        oracle: Box<Oracle>,
        /// The signal by which the run has to end, if so.
        signal: Option<i32>,
    },
}

/// The setup that all tests of versions share.
pub struct ChangeTestSetup<'a> {
    /// The version that works.
    pub base: &'a BaseVersion,
    /// The program that is started; nothing of it is traced.
    pub program: &'a Program,
    /// The invocation that builds a version; its directory is one within the tree.
    pub build: Option<Invocation>,
    /// The invocation that tests a version; its directory is one within the tree.
    pub test: Invocation,
    /// The judge of tests.
    pub judge: Judge,
    /// The limits of a build.
    pub build_limits: Limits,
    /// The limits of a test.
    pub test_limits: Limits,
    /// The number of tests of each version, which says nothing if they differ.
    pub repeat: u32,
    /// True if each version is built in a clean tree.
    pub is_always_clean: bool,
    /// A pattern that finds names in what builds print, besides those in quotes.
    pub error_pattern: Option<Regex>,
    /// The lock that says which runs may go on at the same time.
    pub turns: RunLock,
    /// True once the user has asked for the end.
    pub interrupt: Arc<AtomicBool>,
    /// The records of versions that were built and tested.
    pub records: Records,
    /// The number of builds and tests that were made, those of other workers' bets included.
    pub runs: AtomicU64,
    /// Versions of which nothing was known before.
    pub fresh: AtomicU64,
    /// Is told what a version has shown of which nothing was known.
    pub keep: &'a (dyn Fn(u128, &Examination) + Sync),
}

/// A worker's tree and sandboxes, in which it builds and tests.
pub struct ChangeWorker<'p> {
    tree: WorkTree<'p>,
    build: Option<(Invocation, Runner<'p>)>,
    test: (Invocation, Runner<'p>),
    program: &'p Program,
}

impl<'p> ChangeWorker<'p> {
    /// Creates a tree, and prepares for runs in it.
    ///
    /// # Errors
    /// If the system refuses what they need.
    pub fn new(setup: &ChangeTestSetup<'p>, number: usize) -> Result<ChangeWorker<'p>, TestError> {
        let tree = setup.base.work_tree(number).map_err(TestError::Files)?;
        let program = setup.program;
        let build = setup.build.as_ref().map(|build| within(&tree, build)).transpose()?;
        let build = build.map(|build| runner(program, build)).transpose()?;
        let test = runner(program, within(&tree, &setup.test)?)?;
        Ok(ChangeWorker { tree, build, test, program })
    }

    /// The containment of runs.
    pub fn containment(&self) -> Containment {
        self.test.1.containment()
    }

    /// Replaces tree and sandboxes by new ones.
    fn renew(&mut self) -> Result<(), TestError> {
        self.tree.renew().map_err(TestError::Files)?;
        let anew = |(invocation, _): &(Invocation, Runner<'p>)| runner(self.program, invocation.clone());
        let (build, test) = (self.build.as_ref().map(anew).transpose()?, anew(&self.test)?);
        (self.build, self.test) = (build, test);
        Ok(())
    }
}

fn runner<'p>(
    program: &'p Program,
    invocation: Invocation,
) -> Result<(Invocation, Runner<'p>), ProcessError> {
    let runner = Runner::new(program, &invocation)?;
    Ok((invocation, runner))
}

/// The same invocation within a tree, in which it may write.
fn within(tree: &WorkTree<'_>, invocation: &Invocation) -> Result<Invocation, TestError> {
    let mut invocation = invocation.clone();
    invocation.directory = tree.root().join(&invocation.directory);
    std::fs::create_dir_all(&invocation.directory).map_err(TestError::Files)?;
    invocation.permissions.writable.push(tree.root().to_owned());
    Ok(invocation)
}

/// The invocation of a shell command in a version: with the environment and the permissions of `like`, and with
/// the real time, because builds compare it with the times of files.
pub fn shell_command(like: &Invocation, command: &str) -> Invocation {
    Invocation {
        arguments: ["sh", "-c", command].map(Into::into).into(),
        stdin: Input::default(),
        constancy: Constancy { time: Answers::Real, chance: Answers::Real },
        ..like.clone()
    }
}

impl<'a> ChangeTestSetup<'a> {
    /// Builds and tests a version, unless its examination is recorded, and counts it.
    ///
    /// # Errors
    /// If the test setup is broken.
    pub fn counted(
        &self,
        overlay: &Overlay,
        worker: &mut ChangeWorker<'a>,
        stop: &Arc<AtomicBool>,
    ) -> Result<Arc<Examination>, TestError> {
        let seen = self.examine(overlay, worker, stop)?;
        self.records.count(fingerprint(overlay));
        Ok(seen)
    }

    /// Builds and tests a version, unless its examination is recorded.
    ///
    /// # Errors
    /// If the test setup is broken.
    pub fn examine(
        &self,
        overlay: &Overlay,
        worker: &mut ChangeWorker<'a>,
        stop: &Arc<AtomicBool>,
    ) -> Result<Arc<Examination>, TestError> {
        if let Some(known) = self.records.known(overlay) {
            return Ok(known);
        }
        if self.is_always_clean && !worker.tree.is_clean() {
            worker.renew()?;
        }
        let seen = Arc::new(self.make(overlay, worker, stop)?.0);
        // A test that was cancelled says nothing.
        if !self.is_ended(stop) {
            self.fresh.fetch_add(1, Ordering::Relaxed);
            (self.keep)(fingerprint(overlay), &seen);
            self.records.learn(fingerprint(overlay), Arc::clone(&seen));
        }
        Ok(seen)
    }

    /// The same in a clean tree and new sandboxes, whatever is known; with the last run.
    ///
    /// # Errors
    /// If the test setup is broken.
    pub fn examine_clean(
        &self,
        overlay: &Overlay,
        worker: &mut ChangeWorker<'a>,
        stop: &Arc<AtomicBool>,
    ) -> Result<(Examination, Run), TestError> {
        worker.renew()?;
        self.make(overlay, worker, stop)
    }

    fn make(
        &self,
        overlay: &Overlay,
        worker: &mut ChangeWorker<'a>,
        stop: &Arc<AtomicBool>,
    ) -> Result<(Examination, Run), TestError> {
        let (mut builds, mut build_usage) = (0, None);
        loop {
            let brought = worker.tree.bring(overlay).map_err(TestError::Files)?;
            self.records.tamper(brought.tampered.iter().map(|path| path.display().to_string()));
            let Some((invocation, runner)) = &mut worker.build else { break };
            worker.tree.soil();
            let run = self.run(invocation, runner, &self.build_limits, stop)?;
            (builds, build_usage) = (builds + 1, Some(run.usage));
            if run.termination == Termination::Exited(0) {
                break;
            }
            // What was built from removed files may disturb, as may files that list them as dependences.
            if worker.tree.has_lost() && !self.is_ended(stop) {
                worker.tree.renew().map_err(TestError::Files)?;
                continue;
            }
            let why = format!("the build {}", ended(&run));
            let evidence = Evidence::new(Outcome::Unresolved, with_last_line(why, &run));
            let inconsistency = Some(Inconsistency::Construction);
            let printed = printed(&run);
            let usage = [build_usage, None];
            return Ok((Examination { evidence, inconsistency, builds, printed, usage }, run));
        }
        worker.tree.soil();
        let mut seen: Option<(Evidence, Run)> = None;
        for _ in 0..self.repeat {
            let (invocation, runner) = &mut worker.test;
            let run = self.run(invocation, runner, &self.test_limits, stop)?;
            let evidence = self.judge(&run)?;
            if let Some((first, _)) = seen.as_ref().filter(|(first, _)| first.outcome != evidence.outcome) {
                let why = format!("not the same each time: {}, then {}", first.why, evidence.why);
                seen = Some((Evidence::new(Outcome::Unresolved, why), run));
                break;
            }
            seen = Some((evidence, run));
        }
        let (evidence, run) = seen.expect("tested once at least");
        let inconsistency = (evidence.outcome == Outcome::Unresolved).then_some(Inconsistency::Execution);
        let usage = [build_usage, Some(run.usage)];
        Ok((Examination { evidence, inconsistency, builds, printed: printed(&run), usage }, run))
    }

    /// Runs a command. A time-out that a busy machine can bring about proves nothing: it is confirmed by a run that
    /// has more time, and that no other worker disturbs.
    fn run(
        &self,
        invocation: &Invocation,
        runner: &mut Runner<'_>,
        limits: &Limits,
        stop: &Arc<AtomicBool>,
    ) -> Result<Run, ProcessError> {
        let mut once = |limits: &Limits| {
            self.runs.fetch_add(1, Ordering::Relaxed);
            let end = Arc::default();
            self.ending(&end, stop, || runner.run(invocation, &[], limits, &end))?
        };
        let run = self.turns.beside_others(|| once(limits))?;
        match run.termination {
            Termination::Cut(Cut::WallTime | Cut::Asleep) if !self.is_ended(stop) => {
                const MORE: u32 = 3;
                self.turns.alone(|| once(&limits.with_time(MORE)))
            }
            _ => Ok(run),
        }
    }

    /// Makes a run, and sets `end` as soon as it is cancelled, or the user asks for the end of all.
    fn ending<T>(
        &self,
        end: &Arc<AtomicBool>,
        stop: &Arc<AtomicBool>,
        run: impl FnOnce() -> T,
    ) -> Result<T, ProcessError> {
        const INTERVAL: Duration = Duration::from_millis(20);
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            let bridge = start_thread(scope, || {
                while !is_over.load(Ordering::Acquire) {
                    if self.is_ended(stop) {
                        end.store(true, Ordering::Relaxed);
                    }
                    thread::park_timeout(INTERVAL);
                }
            });
            let bridge =
                bridge.map_err(|source| ProcessError::System { what: "starting a thread", source })?;
            let run = run();
            is_over.store(true, Ordering::Release);
            bridge.thread().unpark();
            Ok(run)
        })
    }

    /// True if the test is cancelled, or the user has asked for the end.
    fn is_ended(&self, stop: &Arc<AtomicBool>) -> bool {
        stop.load(Ordering::Relaxed) || self.interrupt.load(Ordering::Relaxed)
    }

    fn judge(&self, run: &Run) -> Result<Evidence, TestError> {
        let (oracle, signal) = match &self.judge {
            Judge::Command => return Ok(with_status(run)),
            Judge::Program { oracle, signal } => (oracle, *signal),
        };
        if let Termination::Exited(status @ (126 | 127)) = run.termination {
            let why = format!("the program cannot be started (exit status {status})");
            return Ok(Evidence::new(Outcome::Unresolved, with_last_line(why, run)));
        }
        let recorded = Recorded { program: self.program, trace: &Trace::default() };
        let evidence = oracle.judge(run, recorded)?;
        Ok(match (&run.termination, signal) {
            (Termination::Crashed(crash), Some(wanted)) if crash.signal != wanted => {
                Evidence::new(Outcome::Unresolved, format!("the program {}", ended(run)))
            }
            _ => evidence,
        })
    }
}

/// The evidence of a test command's exit status: as for `git bisect run`, but a command that cannot be started says
/// nothing.
fn with_status(run: &Run) -> Evidence {
    let why = with_last_line(format!("the test {}", ended(run)), run);
    match run.termination {
        Termination::Exited(0) => Evidence::new(Outcome::Pass, "the test exited with 0"),
        Termination::Exited(1..=124) => Evidence::new(Outcome::Fail, why),
        _ => Evidence::new(Outcome::Unresolved, why),
    }
}

/// The end of a run, as a part of a sentence.
fn ended(run: &Run) -> String {
    match &run.termination {
        Termination::Exited(126) => "exited with 126: its command cannot be executed".into(),
        Termination::Exited(127) => "exited with 127: its command was not found".into(),
        Termination::Exited(status) => format!("exited with {status}"),
        Termination::Crashed(crash) => format!("was ended by {}", signal_name(crash.signal)),
        Termination::Cut(cut) | Termination::Endless(cut) => cut.to_string(),
        Termination::Left(_) | Termination::Reached => "was ended".into(),
    }
}

/// Adds the most informative line of what was printed: the first of an error, or else the last one.
fn with_last_line(why: String, run: &Run) -> String {
    let all = printed(run);
    let text = String::from_utf8_lossy(&all);
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let speaks = |line: &&str| {
        line.contains("error:") || line.contains("Error:") || line.contains("undefined reference")
    };
    match lines().find(speaks).or_else(|| lines().next_back()) {
        Some(line) => format!("{why}: {}", line.chars().take(200).collect::<String>()),
        None => why,
    }
}

/// The end of what a run has printed.
fn printed(run: &Run) -> Vec<u8> {
    let all = [&run.stdout[..], &run.stderr[..]].concat();
    all[all.len().saturating_sub(KEPT)..].to_vec()
}
