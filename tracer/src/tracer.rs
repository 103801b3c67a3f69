//! Record and replay: the two verbs of this crate.
//!
//! A [`Tracer`] is one worker's place for runs of one program: it holds what all runs share, such as
//! the sandbox, the standard input and the addresses of the breakpoints. Runs of a tracer follow one
//! after the other; several tracers may work side by side, each on its own thread from start to end,
//! because ptrace ties a program to the thread that started it.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use agent::pace::Pace;
use agent::poison::Poison;

use crate::engine::{Conditions, Execution, Method, Placement, Recorder, Replayer};
use crate::invocation::{Invocation, Limits, Stdout};
use crate::process::{
    AT_RANDOM, Containment, Launch, Launcher, Output, ProcessError, SIGTRAP, Sandbox, Stop, Tracee, Watchdog,
};
use crate::program::{LeaderId, Program};
use crate::run::{Recording, Run, Usage};
use crate::schedule::Schedule;
use crate::termination::{Cut, Termination};
use crate::trace::{BrokenTrace, Trace};

/// Why a run cannot be recorded.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages are the documentation of the fields")]
pub enum RecordError {
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error(
        "the program starts a thread ({call}{}): events of several threads have no fixed order; make it run on one thread",
        at(.place)
    )]
    Thread { call: &'static str, place: Option<String> },
    #[error(
        "the program reaches {0} without a call: it switches stacks (makecontext, coroutines), which cannot be replayed; keep the function out with --scope"
    )]
    StackSwitch(String),
    #[error("the program executes more than 4,294,967,294 statements: record a shorter run")]
    TooLong,
    #[error(
        "the program's code in memory differs from the file at {0}: it is packed or changes itself; use the original executable"
    )]
    ChangedText(String),
    #[error(
        "the program {0} while it was recorded: raise --timeout if it needs more, or record a shorter run"
    )]
    Cut(Cut),
    #[error(
        "the program executed none of the functions in scope: name those to trace with --scope, for example --scope '*.c'"
    )]
    NothingTraced,
}

fn at(place: &Option<String>) -> String {
    place.as_ref().map_or_else(String::new, |place| format!(", called at {place}"))
}

/// The functions by which C programs start threads; what else does so calls the kernel itself.
const THREAD_STARTERS: [&str; 2] = ["pthread_create", "thrd_create"];

/// One worker's place for runs of a program.
pub struct Tracer<'p> {
    program: &'p Program,
    stdout: Stdout,
    launcher: Launcher,
    sandbox: Sandbox,
    watchdog: Watchdog,
    placement: Placement,
}

impl<'p> Tracer<'p> {
    /// Prepares for runs of `program` that are started as `invocation` says.
    ///
    /// # Errors
    /// If the machine refuses files, threads or processes.
    pub fn new(program: &'p Program, invocation: &Invocation) -> Result<Tracer<'p>, ProcessError> {
        Ok(Tracer {
            program,
            stdout: invocation.stdout,
            launcher: Launcher::new(invocation)?,
            sandbox: Sandbox::new(&invocation.directory),
            watchdog: Watchdog::new()?,
            placement: Placement::default(),
        })
    }

    /// How well the runs are contained.
    pub fn containment(&self) -> Containment {
        self.sandbox.containment()
    }

    /// Runs the program and takes down its events.
    ///
    /// # Errors
    /// If the run cannot be recorded, or must not be because it could not be replayed.
    pub fn record(&mut self, method: Method, conditions: &Conditions) -> Result<Recording, RecordError> {
        let program = self.program;
        let mut recorder = Recorder::new(program);
        let run = self.run(conditions, |execution| {
            if let Some(address) = execution.placement.changed_text(execution.tracee) {
                return Err(RecordError::ChangedText(address.to_string()));
            }
            execution.tracee.stop_at_exit();
            Ok(execution.run(method, &mut recorder)?)
        })?;
        if let Termination::Cut(cut) = run.termination {
            return Err(match cut {
                Cut::Thread(statement) => {
                    let imports = &program.executable().imports;
                    let call =
                        THREAD_STARTERS.into_iter().find(|call| imports.iter().any(|name| name == call));
                    let place = statement.map(|statement| program.place_of(statement).to_string());
                    RecordError::Thread { call: call.unwrap_or("clone"), place }
                }
                cut => RecordError::Cut(cut),
            });
        }
        let place =
            |leader: LeaderId| format!("{} in {}", program.place(leader), program.function_of(leader).name);
        let trace = recorder.finish().map_err(|broken| match broken {
            BrokenTrace::NotEntered(leader) => RecordError::StackSwitch(place(leader)),
            BrokenTrace::TooLong => RecordError::TooLong,
        })?;
        if trace.is_empty() {
            return Err(RecordError::NothingTraced);
        }
        Ok(Recording { run, trace })
    }

    /// Runs the program along `trace`, and omits what `schedule` leaves out.
    ///
    /// # Errors
    /// If the machine refuses; whatever the program does is a [`Run`].
    pub fn replay(
        &mut self,
        trace: &Trace,
        schedule: &Schedule,
        conditions: &Conditions,
    ) -> Result<Run, ProcessError> {
        let mut replayer = Replayer::new(self.program, trace, schedule);
        self.run(conditions, |execution| execution.run(Method::Breakpoint, &mut replayer))
    }

    fn run<E: From<ProcessError>>(
        &mut self,
        conditions: &Conditions,
        execute: impl FnOnce(&mut Execution<'_>) -> Result<Termination, E>,
    ) -> Result<Run, E> {
        self.sandbox.refresh()?;
        let output = Output::new(self.stdout, conditions.limits.file_size)?;
        let started = Instant::now();
        let launch = Launch {
            sandbox: &self.sandbox,
            output: &output,
            limits: &conditions.limits,
            poison: conditions.poison,
        };
        let mut tracee = Tracee::start(&self.launcher, &launch)?;
        let alarm = self.watchdog.watch(tracee.pid(), &conditions.limits, &conditions.stop)?;
        self.placement.start(self.program, &tracee);
        fix_random_bytes(&tracee);
        let stack_base = tracee.location().map_or(0, |location| location.sp);
        let mut execution = Execution {
            program: self.program,
            placement: &mut self.placement,
            tracee: &mut tracee,
            alarm,
            conditions,
            pace: Pace::new(conditions.limits.arrivals),
            started,
            usage: Usage::default(),
            scratch: Vec::new(),
            stack_base,
        };
        let termination = execute(&mut execution)?;
        let (mut usage, Pace { arrivals, redirections, .. }) = (execution.usage, execution.pace);
        drop(execution);
        tracee.end();
        usage.wall = started.elapsed();
        let (stdout, stderr) = output.collect()?;
        Ok(Run { stdout, stderr, termination, usage, arrivals, redirections })
    }
}

/// Makes the bytes that the kernel hands to the program for canaries and hash seeds the same in each
/// run.
fn fix_random_bytes(tracee: &Tracee) {
    if let Some(address) = tracee.auxiliary(AT_RANDOM) {
        tracee.write(crate::address::RuntimeAddress(address), &[0x5a; 16]);
    }
}

/// Runs the program once, without tracing its statements, and tells which shared libraries it had
/// loaded at its end.
///
/// # Errors
/// If the program cannot be started.
pub fn survey(invocation: &Invocation, conditions: &Conditions) -> Result<Vec<PathBuf>, ProcessError> {
    let launcher = Launcher::new(invocation)?;
    let sandbox = Sandbox::new(&invocation.directory);
    let watchdog = Watchdog::new()?;
    let output = Output::new(invocation.stdout, conditions.limits.file_size)?;
    let launch =
        Launch { sandbox: &sandbox, output: &output, limits: &conditions.limits, poison: conditions.poison };
    let mut tracee = Tracee::start(&launcher, &launch)?;
    let _alarm = watchdog.watch(tracee.pid(), &conditions.limits, &conditions.stop)?;
    tracee.stop_at_exit();
    let mut libraries = BTreeSet::new();
    let mut signal = 0;
    loop {
        tracee.go_on(signal);
        signal = match tracee.wait()? {
            Stop::Signal(signal) => signal,
            Stop::Trap => SIGTRAP,
            Stop::Exiting => {
                libraries.extend(tracee.mapped_files().into_iter().map(|(_, path)| path));
                0
            }
            Stop::Exited(_) | Stop::Killed(_) | Stop::Stopped | Stop::TooManyTasks => break,
            _ => 0,
        };
    }
    libraries.remove(&invocation.program);
    Ok(libraries.into_iter().collect())
}

/// Starts this very program under the tracer, and ends it before its first instruction, to see whether
/// the machine allows that.
///
/// # Errors
/// If it does not; the message says what was refused.
pub fn probe() -> Result<(), ProcessError> {
    let failed = |source| ProcessError::System { what: "finding this program", source };
    let invocation = Invocation {
        program: std::env::current_exe().map_err(failed)?,
        arguments: Vec::new(),
        environment: Vec::new(),
        directory: PathBuf::from("/"),
        stdin: Vec::new(),
        stdout: Stdout::File,
    };
    let sandbox = Sandbox::new(&invocation.directory);
    let limits = Limits {
        cpu: Duration::from_secs(1),
        wall: Duration::from_secs(1),
        arrivals: 0,
        memory: None,
        file_size: 0,
        tasks: 1,
    };
    let output = Output::new(invocation.stdout, 0)?;
    let launch = Launch { sandbox: &sandbox, output: &output, limits: &limits, poison: Poison::Off };
    Tracee::start(&Launcher::new(&invocation)?, &launch).map(drop)
}
