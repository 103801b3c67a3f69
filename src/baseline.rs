//! Record the failing run, and check whether it can be trusted.
//!
//! The program is run five times: it is recorded as it is, and then repeated along its trace, as it is and
//! with undefined memory set to each pattern, each time started anew. If all agree, it is deterministic
//! and does not depend on uninitialised memory. This comes before any reduction, because no outcome
//! means anything otherwise.

mod unread;

use std::sync::Arc;

use regex::bytes::Regex;
use tracer::denial::Actions;
use tracer::invocation::Limits;
use tracer::poison::Poison;
use tracer::program::Program;
use tracer::run::{Recording, Run};
use tracer::schedule::{Control, Schedule};
use tracer::termination::{Cut, Termination};
use tracer::trace::{Endless, Trace};
use tracer::{Conditions, NotEnded, RecordError, Tracer, Untouched};

use self::unread::Unread;

use crate::oracle::{InnerCriterion, Unmet, crash, deviation, diff, first_difference, instead, usual_causes};
use crate::subject::Recorded;

/// The choice whether undefined values are set to patterns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PoisonChoice {
    /// Unless the program reads uninitialised memory.
    #[default]
    Auto,
    /// Never.
    Off,
}

/// The demands: what runs must agree in, and how undefined values are set.
#[derive(Clone, Debug, Default)]
pub struct Demands {
    /// The choice whether undefined values are set to patterns.
    pub poison: PoisonChoice,
    /// The filter of output lines: only those that match count, because the user compares no others.
    pub only_lines: Option<Regex>,
    /// The expected end of the program.
    pub ending: Ending,
    /// The question inside of the run: it ends there.
    pub inner: Option<InnerCriterion>,
}

/// The end of a failing run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ending {
    /// By itself.
    #[default]
    Itself,
    /// Never.
    Never,
}

impl Demands {
    fn record(&self, tracer: &mut Tracer<'_>, conditions: &Conditions) -> Result<Recording, RecordError> {
        match self.ending {
            Ending::Itself => tracer.record(conditions),
            Ending::Never => tracer.record_endless(conditions),
        }
    }
}

/// The number of runs that must agree.
const RUNS: usize = 5;

/// The baseline: a recorded run that others can be compared with.
#[derive(Debug)]
pub struct Baseline {
    /// The recorded run.
    pub recording: Recording,
    /// The patterns under which the run stays the same.
    pub patterns: Vec<Poison>,
    /// The undefined memory that none of them is written to, because the run reads it.
    pub untouched: Arc<Untouched>,
    /// The warnings that weaken every answer about this run; each one sentence.
    pub warnings: Vec<String>,
}

/// The reason why there is no run that others could be compared with.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages are the documentation of the fields")]
pub enum BaselineError {
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error("{0}")]
    Flaky(String),
    #[error("{0}")]
    NoPlace(String),
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
        let mut recording =
            demands.record(tracer, &Conditions { poison: Poison::Off, ..conditions.clone() })?;
        if let Some(inner) = &demands.inner {
            recording = beginning(inner, recording, program, tracer, conditions)?;
        }
        let forked = forked_warning(recording.run.usage.forked);
        let mut warnings: Vec<String> = optimisation_warning(program).into_iter().chain(forked).collect();
        let patterns: &[Poison] = match demands.poison {
            PoisonChoice::Auto => &Poison::PATTERNS,
            PoisonChoice::Off => &[Poison::Off],
        };
        let file_size = limits_like(&recording).file_size;
        let mut repetition =
            Repetition { program, tracer, conditions, demands, original: &recording, file_size };
        let dependence = repetition.dependence(patterns)?;
        let mut untouched = Untouched::default();
        let mut patterns = patterns.to_vec();
        if let Some((first, difference)) = dependence {
            // The pattern that shows a difference most easily comes first.
            patterns.sort_by_key(|&pattern| pattern != first);
            let unread = repetition.unread(&patterns)?;
            untouched = unread.untouched;
            warnings.push(difference.uninitialised(&unread.words));
            patterns = if unread.is_anything { Poison::PATTERNS.to_vec() } else { vec![Poison::Off] };
        }
        recording.run.usage.longest_file = repetition.file_size;
        Ok(Baseline { recording, patterns, untouched: Arc::new(untouched), warnings })
    }

    /// The limits of a replay: generously more than the recorded run used.
    pub fn limits(&self) -> Limits {
        limits_like(&self.recording)
    }
}

/// Records a run up to where something is asked.
fn beginning(
    inner: &InnerCriterion,
    Recording { run: whole, trace }: Recording,
    program: &Program,
    tracer: &mut Tracer<'_>,
    conditions: &Conditions,
) -> Result<Recording, BaselineError> {
    let events = inner.events(Recorded { program, trace: &trace }).map_err(BaselineError::NoPlace)?;
    let trace = trace.beginning(events);
    let everything = Schedule::everything(&trace, Control::Program);
    let conditions = Conditions { poison: Poison::Off, ..conditions.clone() };
    let run = tracer.replay(&trace, &everything, &conditions).map_err(RecordError::Process)?;
    let Run { usage, objects, .. } = whole;
    Ok(Recording { run: Run { usage, objects, ..run }, trace })
}

/// The limits of a recording, if the user sets none.
pub fn recording_limits() -> Limits {
    use std::time::Duration;
    Limits {
        cpu: Duration::from_secs(600),
        wall: Duration::from_secs(600),
        idle: Duration::from_secs(600),
        arrivals: u64::MAX,
        memory: None,
        trace: u64::MAX,
        file_size: 1 << 30,
        output: 1 << 30,
        tasks: 1000,
        tolerated: Actions::ALL,
    }
}

/// The limits of a replay: generously more than the recorded run used.
pub fn limits_like(recording: &Recording) -> Limits {
    use std::time::Duration;
    let Recording { run, trace } = recording;
    let output = (run.stdout.len() + run.stderr.len()) as u64;
    let wall = (run.usage.wall * 10).clamp(Duration::from_secs(1), Duration::from_secs(300));
    let limits = Limits {
        cpu: (run.usage.cpu * 10).max(Duration::from_millis(50)),
        wall,
        idle: wall / 4,
        arrivals: 2 * trace.len() as u64 + 10_000,
        trace: u64::MAX,
        // A length that was left undefined asks for much memory, and filling it would cost more than all else.
        memory: (run.usage.memory > 0).then(|| (2 * run.usage.memory).max(run.usage.memory + (64 << 20))),
        file_size: (4 * output).max(64 << 20).max(run.usage.longest_file),
        output: (4 * output).max(1 << 20),
        tasks: 64,
        tolerated: run.denied,
    };
    match trace.endless() {
        Some(endless) => limits_of_endless(limits, endless, run),
        None => limits,
    }
}

/// The limits for a run that never ends. Where arrivals can show that, there must be room for them; where only
/// time can, a test takes as long as it has to: a share of what the recorded run was given, but more than that
/// one has needed to get into its loop.
fn limits_of_endless(limits: Limits, endless: &Endless, run: &Run) -> Limits {
    use std::time::Duration;
    let (there, least) = (run.usage.wall.saturating_sub(endless.silence), Duration::from_millis(100));
    let arrivals = limits.arrivals + 2 * endless.arrivals;
    if endless.enough > 0 {
        return Limits { cpu: (10 * run.usage.wall).max(limits.cpu), idle: limits.wall, arrivals, ..limits };
    }
    let time = (run.usage.wall / 25).max(least) + 3 * there;
    Limits { cpu: time, idle: time, wall: 10 * time + Duration::from_secs(5), arrivals, ..limits }
}

/// Repeats the recorded run, to compare with it.
struct Repetition<'r, 'p> {
    program: &'r Program,
    tracer: &'r mut Tracer<'p>,
    conditions: &'r Conditions,
    demands: &'r Demands,
    original: &'r Recording,
    /// The limit of the length of a file: as replays usually have it, or as the program needs it.
    file_size: u64,
}

impl Repetition<'_, '_> {
    /// Runs the program again, as it is and with undefined values of these patterns. Returns the first
    /// pattern that makes it differ, with the difference, if one does; a program that differs by itself is refused.
    fn dependence(&mut self, patterns: &[Poison]) -> Result<Option<(Poison, Difference)>, BaselineError> {
        self.must_agree(RUNS - 1 - patterns.len())?;
        for &poison in patterns {
            if self.difference(poison)?.is_none() {
                continue;
            }
            // Does the run itself differ, or because of the undefined values?
            self.must_agree(RUNS - 1)?;
            // One time-out on a busy machine proves nothing.
            if let Some(difference) = self.difference(poison)? {
                return Ok(Some((poison, difference)));
            }
        }
        Ok(None)
    }

    /// Repeats the unpatterned run so many times more, and refuses a program that differs.
    fn must_agree(&mut self, times: usize) -> Result<(), BaselineError> {
        for _ in 0..times {
            if let Some(difference) = self.difference(Poison::Off)? {
                return Err(BaselineError::Flaky(difference.flaky(self.program)));
            }
        }
        Ok(())
    }

    /// The difference of a further run, if there is one. With other undefined values a program may run for
    /// ever, so that it gets limits close to what the original used.
    fn difference(&mut self, poison: Poison) -> Result<Option<Difference>, RecordError> {
        let limits = match poison {
            Poison::Off => self.conditions.limits,
            _ => limits_like(self.original),
        };
        let limits = Limits { file_size: self.file_size, ..limits };
        let conditions = Conditions { poison, limits, ..self.conditions.clone() };
        let Some(first) = self.difference_of_replay(&conditions)? else { return Ok(None) };
        if self.demands.inner.is_some() {
            return Ok(Some(first));
        }
        let difference = match self.demands.record(self.tracer, &conditions) {
            // By chance it may be as the original again.
            Ok(other) => self.compare(&other).unwrap_or(first),
            Err(error @ (RecordError::Process(_) | RecordError::Cut(Cut::Interrupted))) => return Err(error),
            Err(error) if poison == Poison::Off => return Err(error),
            Err(RecordError::Cut(cut) | RecordError::NotEnded(NotEnded { cut, .. })) => {
                Difference::unseen(format!("the program {cut}"))
            }
            Err(error) => Difference::unseen(error.to_string()),
        };
        Ok(Some(difference))
    }

    /// Finds the undefined memory that the run does not read, where it reads some: what can be filled with
    /// each of these patterns without making it differ.
    fn unread(&mut self, patterns: &[Poison]) -> Result<Unread, RecordError> {
        let (program, limits) = (self.program, limits_like(self.original));
        let all = unread::parts(program, &self.original.trace);
        unread::divide(program, &all, |filled| {
            let untouched = Arc::new(unread::untouched(&all, filled));
            for &poison in patterns {
                let untouched = Arc::clone(&untouched);
                let conditions = Conditions { poison, untouched, limits, ..self.conditions.clone() };
                if self.persistent_difference(conditions)?.is_some() {
                    return Ok(false);
                }
            }
            Ok(true)
        })
    }

    /// The difference of a full replay, also if it gets more time: one time-out on a busy machine proves nothing.
    fn persistent_difference(&mut self, conditions: Conditions) -> Result<Option<Difference>, RecordError> {
        let limits = Limits { file_size: self.file_size, ..conditions.limits };
        let conditions = Conditions { limits, ..conditions };
        match self.difference_of_replay(&conditions)? {
            Some(difference) if difference.is_late => {
                self.difference_of_replay(&Conditions { limits: limits.with_time(2), ..conditions })
            }
            first => Ok(first),
        }
    }

    /// The difference of a full replay of a program that is started anew. Unlike a second recording it needs no
    /// memory for a second trace; that is made only to describe the difference.
    fn difference_of_replay(&mut self, conditions: &Conditions) -> Result<Option<Difference>, RecordError> {
        let trace = &self.original.trace;
        self.tracer.start_anew(conditions);
        let run = self.tracer.replay(trace, &Schedule::everything(trace, Control::Program), conditions)?;
        let longer = self.conditions.limits.file_size;
        if run.termination == Termination::Cut(Cut::FileSize)
            && conditions.poison == Poison::Off
            && self.file_size < longer
        {
            self.file_size = longer;
            let limits = Limits { file_size: longer, ..conditions.limits };
            return self.difference_of_replay(&Conditions { limits, ..conditions.clone() });
        }
        let recorded = Recorded { program: self.program, trace };
        if let Termination::Left(left) = &run.termination
            && run.termination != self.original.run.termination
        {
            return Ok(Some(Difference {
                path: Some(format!("; {}", deviation(left, recorded))),
                seen: None,
                is_late: false,
            }));
        }
        let seen = self.visible_difference(&run);
        // The number of rounds of a loop that never ends depends on the limits.
        let is_shorter = trace.endless().is_none() && run.arrivals != self.original.run.arrivals;
        let path = (seen.is_none() && is_shorter).then(|| "; one ends before the other".into());
        let is_late = matches!(run.termination, Termination::Cut(cut) if cut.is_time());
        Ok((path.is_some() || seen.is_some()).then_some(Difference { path, seen, is_late }))
    }

    fn compare(&self, other: &Recording) -> Option<Difference> {
        let path = path_difference(self.program, &self.original.trace, &other.trace);
        let seen = self.visible_difference(&other.run);
        (path.is_some() || seen.is_some()).then_some(Difference { path, seen, is_late: false })
    }

    fn visible_difference(&self, run: &Run) -> Option<String> {
        let original = &self.original.run;
        let only = self.demands.only_lines.as_ref();
        // The output of a run that never ends depends on when it is ended.
        let output = match self.original.trace.endless() {
            None => first_difference("output", &original.stdout, &run.stdout, only),
            Some(_) => None,
        };
        let value = || {
            let told =
                |run: &Run| run.value.as_ref().map_or_else(|| "nothing".to_owned(), |it| it.told.clone());
            let differs = original.value != run.value;
            differs.then(|| format!("the value is {} instead of {}", told(run), told(original)))
        };
        output.or_else(|| termination_difference(original, run, self.program)).or_else(value)
    }
}

/// The difference of two runs of the same program on the same input.
struct Difference {
    /// The difference of their traces.
    path: Option<String>,
    /// The difference that could be seen from outside.
    seen: Option<String>,
    /// True if the run has taken too long.
    is_late: bool,
}

impl Difference {
    /// Creates the difference for a second run that failed, with the reason.
    fn unseen(why: String) -> Difference {
        Difference { path: None, seen: Some(why), is_late: false }
    }

    /// The message that the program differs by itself: the first difference, and the usual causes.
    fn flaky(&self, program: &Program) -> String {
        let imports = &program.executable().imports;
        let called = match usual_causes(imports)[..] {
            [] => String::new(),
            ref causes => format!(" (it uses {})", causes.join(", ")),
        };
        let remedy = match self.path {
            Some(_) => "make them constant",
            None => "make them constant, or name with --only-lines what does not depend on them",
        };
        let seen = self.seen.as_ref().map_or_else(String::new, |seen| format!("; {seen}"));
        format!(
            "two runs of the program differ, so that no test would mean anything{}{seen}; the usual causes are \
             --real-time and --real-random, timers, files that change and other processes{called}: {remedy}",
            self.path.as_deref().unwrap_or_default()
        )
    }

    /// The warning that the program differs with other values in memory that it has not initialised.
    /// These are left as they are.
    fn uninitialised(&self, untouched: &str) -> String {
        let seen =
            self.seen.as_ref().map_or_else(String::new, |seen| format!("; with other values there, {seen}"));
        format!(
            "the program reads uninitialised memory{}{seen}; this may well be the fault; undefined values{untouched} are \
             left as they are, so that some needed statements may be missing",
            self.path.as_deref().unwrap_or_default()
        )
    }
}

fn termination_difference(one: &Run, other: &Run, program: &Program) -> Option<String> {
    if let (Termination::Crashed(one), Termination::Crashed(other)) = (&one.termination, &other.termination) {
        return (one != other).then(|| instead(other, one, program));
    }
    let ended = |run: &Run| match &run.termination {
        Termination::Exited(status) => format!("exit status {status}"),
        Termination::Crashed(how) => crash(how, program),
        Termination::Left(_) | Termination::Cut(_) => "an end by the tracer".into(),
        Termination::Endless(_) => "no end".into(),
        Termination::Reached => "the place that was asked about".into(),
    };
    let never_end = |run: &Run| matches!(run.termination, Termination::Endless(_));
    if never_end(one) && never_end(other) {
        return None;
    }
    (one.termination != other.termination).then(|| format!("{} instead of {}", ended(other), ended(one)))
}

fn path_difference(program: &Program, one: &Trace, other: &Trace) -> Option<String> {
    let event = one.first_difference(other)?;
    let place = |trace: &Trace| match (event.0 as usize) < trace.len() {
        true => program.place(trace.leader(event)).to_string(),
        false => "its end".into(),
    };
    Some(format!("; at event {} one is at {}, the other at {}", event.time(), place(one), place(other)))
}

/// The optimisation option of the compiler, as far as the debug information tells: an option, or that there was some.
pub fn optimisation(program: &Program) -> Option<&str> {
    let producers = program.images().iter().flat_map(|image| &image.producers);
    let mut options = producers.flat_map(|producer| producer.split_whitespace());
    let option = options.find(|option| option.starts_with("-O") && *option != "-O0");
    // Not all compilers write down their options.
    let is_optimised = program.images().iter().any(|image| image.is_optimised);
    option.or_else(|| is_optimised.then_some("optimisation"))
}

fn optimisation_warning(program: &Program) -> Option<String> {
    let option = optimisation(program)?;
    Some(format!(
        "the program is compiled with {option}: few statements have code of their own; compile with -O0 to see them all"
    ))
}

fn forked_warning(forked: u32) -> Option<String> {
    let processes = match forked {
        0 => return None,
        1 => "a process".to_owned(),
        several => format!("{several} processes"),
    };
    Some(format!(
        "the program starts {processes} by fork: what is executed there is neither recorded nor left out, so that a \
         fault there cannot be found; to find it, let the program do that work itself"
    ))
}

/// The heading of the lines in which an output differs from the expected one.
pub const COMPARISON: &str = "expected (-) and actual (+):";

/// The message that the recorded run does not show the failure, with the reason.
pub fn not_reproduced(why: &str, unmet: Option<Unmet<'_>>, recorded: Recorded<'_>, run: &Run) -> String {
    let ended = crate::oracle::termination(&run.termination, recorded);
    let mut words = format!(
        "the recorded run does not show the failure: {why} (it ended with {ended}); check the input, the arguments and \
         what is expected"
    );
    if let Some(Unmet { expected, actual }) = unmet {
        let diff = diff(&expected, &actual, 10);
        if !diff.is_empty() {
            words += &format!("\n{COMPARISON}\n{}", diff.trim_end_matches('\n'));
        }
    }
    words
}
