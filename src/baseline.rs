//! Record the failing run, and find out whether it can be trusted.
//!
//! The program is recorded several times: as it is, and with undefined memory set to each pattern. If
//! all agree, it is deterministic and does not depend on uninitialised memory. This comes before any
//! reduction, because no outcome means anything otherwise.

use regex::bytes::Regex;
use tracer::invocation::Limits;
use tracer::poison::Poison;
use tracer::program::Program;
use tracer::run::{Recording, Run};
use tracer::termination::Termination;
use tracer::trace::Trace;
use tracer::{Conditions, Method, RecordError, Tracer};

use crate::oracle::{diff, first_difference, usual_causes};
use crate::slice::Recorded;

/// Whether undefined values are set to patterns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PoisonChoice {
    /// Unless the program reads uninitialised memory.
    #[default]
    Auto,
    /// Never.
    Off,
}

/// What runs must agree in, and how they are made to disagree.
#[derive(Clone, Debug, Default)]
pub struct Demands {
    /// Whether undefined values are set to patterns.
    pub poison: PoisonChoice,
    /// Of the output, only the lines that match count, because the user compares no others.
    pub only_lines: Option<Regex>,
}

/// A run that others can be compared with.
#[derive(Debug)]
pub struct Baseline {
    /// The recorded run.
    pub recording: Recording,
    /// The patterns under which the run stays the same.
    pub patterns: Vec<Poison>,
    /// What weakens every answer about this run; each one sentence.
    pub warnings: Vec<String>,
}

/// Why there is no run that others could be compared with.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages are the documentation of the fields")]
pub enum BaselineError {
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error("{0}")]
    Flaky(String),
}

impl Baseline {
    /// Records the program under `conditions`, whose poison does not matter.
    ///
    /// # Errors
    /// If the program cannot be recorded, or differs from run to run.
    pub fn establish(
        program: &Program,
        tracer: &mut Tracer<'_>,
        conditions: &Conditions,
        demands: &Demands,
    ) -> Result<Baseline, BaselineError> {
        let mut record =
            |poison| tracer.record(Method::Breakpoint, &Conditions { poison, ..conditions.clone() });
        let recording = record(Poison::Off)?;
        let mut warnings = optimisation_warning(program).into_iter().collect::<Vec<_>>();
        let patterns: &[Poison] = match demands.poison {
            PoisonChoice::Auto => &Poison::PATTERNS,
            PoisonChoice::Off => &[Poison::Off],
        };
        for &poison in patterns {
            let other = record(poison)?;
            if demands.met(&recording, &other) {
                continue;
            }
            let repeated = if poison == Poison::Off { other } else { record(Poison::Off)? };
            if !demands.met(&recording, &repeated) {
                return Err(BaselineError::Flaky(demands.flaky(program, &recording, &repeated)));
            }
            let other = record(poison)?;
            warnings.push(demands.uninitialised(program, &recording, &other));
            return Ok(Baseline { recording, patterns: vec![Poison::Off], warnings });
        }
        Ok(Baseline { recording, patterns: patterns.to_vec(), warnings })
    }

    /// What a replay may use up: generously more than the recorded run did.
    pub fn limits(&self) -> Limits {
        use std::time::Duration;
        let Recording { run, trace } = &self.recording;
        let output = (run.stdout.len() + run.stderr.len()) as u64;
        Limits {
            cpu: (run.usage.cpu * 10).max(Duration::from_millis(200)),
            wall: (run.usage.wall * 10).clamp(Duration::from_secs(1), Duration::from_secs(300)),
            arrivals: 2 * trace.len() as u64 + 10_000,
            memory: (run.usage.memory > 0).then(|| (2 * run.usage.memory).max(run.usage.memory + (1 << 30))),
            file_size: (4 * output).max(64 << 20),
            tasks: 64,
        }
    }
}

/// What a recording may use up, if the user sets no limit.
pub fn recording_limits() -> Limits {
    use std::time::Duration;
    Limits {
        cpu: Duration::from_secs(600),
        wall: Duration::from_secs(600),
        arrivals: u64::MAX,
        memory: None,
        file_size: 1 << 30,
        tasks: 1000,
    }
}

impl Demands {
    fn met(&self, one: &Recording, other: &Recording) -> bool {
        one.trace == other.trace
            && one.run.termination == other.run.termination
            && first_difference("output", &one.run.stdout, &other.run.stdout, self.only_lines.as_ref())
                .is_none()
    }

    /// Two runs of the same program on the same input differ: where first, and what the usual causes
    /// are.
    fn flaky(&self, program: &Program, one: &Recording, other: &Recording) -> String {
        let mut words = "two runs of the program differ, so that no test would mean anything".to_owned();
        let path = path_difference(program, &one.trace, &other.trace);
        words += path.as_deref().unwrap_or_default();
        if let Some(difference) = self.output_difference(&one.run, &other.run) {
            words += &format!("; {difference}");
        }
        let imports = &program.executable().imports;
        let called = match usual_causes(imports)[..] {
            [] => String::new(),
            ref causes => format!(" (it uses {})", causes.join(", ")),
        };
        let remedy = match path {
            Some(_) => "make them constant",
            None => "make them constant, or name with --only-lines what does not depend on them",
        };
        words
            + &format!(
                "; the usual causes are time, process numbers, random numbers and addresses{called}: {remedy}"
            )
    }

    /// The program behaves differently with other values in memory that it has not initialised.
    fn uninitialised(&self, program: &Program, clean: &Recording, poisoned: &Recording) -> String {
        let mut words = "the program reads uninitialised memory".to_owned();
        words += &path_difference(program, &clean.trace, &poisoned.trace).unwrap_or_default();
        if let Some(difference) = self.output_difference(&clean.run, &poisoned.run) {
            words += &format!("; with other values there, {difference}");
        }
        words
            + "; this may well be the fault; undefined values are left as they are, so that some needed statements may be missing"
    }

    fn output_difference(&self, one: &Run, other: &Run) -> Option<String> {
        let output = first_difference("output", &one.stdout, &other.stdout, self.only_lines.as_ref());
        let ended = || {
            let ended = |run: &Run| match &run.termination {
                Termination::Exited(status) => format!("exit status {status}"),
                Termination::Crashed(how) => crate::oracle::signal(how),
                Termination::Left(_) | Termination::Cut(_) => "an end by the tracer".into(),
            };
            (one.termination != other.termination)
                .then(|| format!("{} instead of {}", ended(other), ended(one)))
        };
        output.or_else(ended)
    }
}

fn path_difference(program: &Program, one: &Trace, other: &Trace) -> Option<String> {
    let event = one.first_difference(other)?;
    let place = |trace: &Trace| match (event.0 as usize) < trace.len() {
        true => program.place(trace.leader(event)).to_string(),
        false => "its end".into(),
    };
    Some(format!("; at event {} one is at {}, the other at {}", event.time(), place(one), place(other)))
}

/// The option by which the compiler was asked to optimise, as far as the debug information tells.
pub fn optimisation(program: &Program) -> Option<&str> {
    let producers = program.images().iter().flat_map(|image| &image.producers);
    let mut options = producers.flat_map(|producer| producer.split_whitespace());
    options.find(|option| option.starts_with("-O") && *option != "-O0")
}

fn optimisation_warning(program: &Program) -> Option<String> {
    let option = optimisation(program)?;
    Some(format!(
        "the program is compiled with {option}: few statements have code of their own; compile with -O0 to see them all"
    ))
}

/// Explains why the recorded run does not show the failure.
pub fn not_reproduced(
    why: &str,
    texts: Option<(Vec<u8>, Vec<u8>)>,
    recorded: Recorded<'_>,
    run: &Run,
) -> String {
    let ended = crate::oracle::termination(&run.termination, recorded);
    let mut words = format!(
        "the recorded run does not show the failure: {why} (it ended with {ended}); check the input, the arguments and \
         what is expected"
    );
    if let Some((expected, actual)) = texts {
        words += &format!("\nexpected (-) and actual (+):\n{}", diff(&expected, &actual, 10).trim_end());
    }
    words
}
