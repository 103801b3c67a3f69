//! Slice a run by its dependences: record it, follow it instruction by instruction, and find what a criterion
//! depends on.

use std::collections::BTreeSet;
use std::ops::Range;
use std::time::{Duration, Instant};

use tracer::dependence::{
    Dependences, Incomplete, Interpretation, Printed, PrintedBytes, ValueAnswer, ValueQuestion,
};
use tracer::invocation::{Limits, Stdout};
use tracer::run::Run;
use tracer::termination::Termination;
use tracer::trace::EventId;
use tracer::{Conditions, DependenceRequest, Preference, Processors, Tracer};

use super::error::{Cause, SessionError};
use super::interrupt::Interrupt;
use super::recording::establish;
use crate::baseline::{Baseline, Demands, Ending, PoisonChoice};
use crate::oracle::{Concern, Criterion};
use crate::subject::Target;

/// The criterion of a dynamic slice.
#[derive(Clone, Debug)]
pub enum SliceCriterion {
    /// The output of the run, or its crash.
    Failure(Box<Criterion>),
    /// The value of a variable when an event begins.
    Value(ValueQuestion),
    /// The direction of a decision.
    Decision(EventId),
    /// An event, with all that it does.
    Event(EventId),
}

/// The budget for following a run.
#[derive(Clone, Copy, Debug)]
pub struct FollowBudget {
    /// The largest number of instructions.
    pub instructions: u64,
    /// The largest size of memory, in bytes.
    pub memory: u64,
    /// True if decisions count that could have written what is read, had they gone another way: for relevant slices.
    pub asks_for_potential: bool,
}

/// A recorded run whose dependences are known.
pub struct FollowedRun<'b> {
    /// The recorded run.
    pub baseline: &'b Baseline,
    /// The dependences: which event has written what another one reads.
    pub dependences: Dependences,
    /// The time that this took.
    pub elapsed: Duration,
}

/// The start of a dynamic slice: the events that its criterion is about.
#[derive(Clone, Debug, Default)]
pub struct SliceStart {
    /// The events that it is about.
    pub events: BTreeSet<EventId>,
    /// The criterion in words.
    pub words: String,
    /// Remarks on how it is understood, and what is doubtful about it; each one sentence.
    pub remarks: Vec<String>,
}

/// Records the run.
///
/// # Errors
/// If it cannot be recorded.
pub fn record<'p>(target: &'p Target, interrupt: &Interrupt) -> Result<(Tracer<'p>, Baseline), SessionError> {
    let mut tracer = Tracer::new(&target.program, &target.invocation, Preference::Auto)?;
    Processors::available().bind(0);
    let demands =
        Demands { poison: PoisonChoice::Off, only_lines: None, ending: Ending::Itself, inner: None };
    let baseline = establish(target, &mut tracer, &demands, interrupt)?;
    Ok((tracer, baseline))
}

/// Follows a recorded run instruction by instruction, and answers questions about values on the way.
///
/// # Errors
/// If it takes more than the budget, or does not go as recorded.
pub fn follow<'b>(
    (target, tracer): (&Target, &mut Tracer<'_>),
    baseline: &'b Baseline,
    questions: &[ValueQuestion],
    budget: FollowBudget,
) -> Result<FollowedRun<'b>, SessionError> {
    const PATIENCE: Duration = Duration::from_secs(24 * 3600);
    let started = Instant::now();
    let limits = target.conditions.limits;
    let limits = Limits { cpu: PATIENCE, wall: PATIENCE, idle: PATIENCE, arrivals: u64::MAX, ..limits };
    let conditions = Conditions { limits, ..target.conditions.clone() };
    let FollowBudget { instructions, memory, asks_for_potential } = budget;
    let interpretation = Interpretation::Trusted;
    let wanted = DependenceRequest { questions, instructions, memory, asks_for_potential, interpretation };
    let trace = &baseline.recording.trace;
    let (dependences, run) = tracer.dependences(trace, &wanted, &conditions)?;
    if let Some(incomplete) = dependences.incomplete {
        return Err(not_followed(incomplete, &run, trace.len()));
    }
    if run.stdout != baseline.recording.run.stdout || run.termination != baseline.recording.run.termination {
        let why = "the program does something else when it is executed instruction by instruction: it depends on time or \
                   on the processor; make that constant";
        return Err(SessionError::new(Cause::Flaky, why));
    }
    Ok(FollowedRun { baseline, dependences, elapsed: started.elapsed() })
}

fn not_followed(incomplete: Incomplete, run: &Run, events: usize) -> SessionError {
    let reached = |event: Option<EventId>| {
        format!("it was followed to event {} of {events}", event.map_or(0, EventId::time))
    };
    let message = match incomplete {
        Incomplete::Instructions(event) => format!(
            "the run is too long to be followed instruction by instruction: {}; give it a smaller input, or raise \
             --max-instructions",
            reached(event)
        ),
        Incomplete::Memory(event) => format!(
            "who has written what takes too much memory: {}; give it a smaller input, or raise --memory",
            reached(event)
        ),
        Incomplete::LeftPath(event) => format!(
            "the program did not go on as recorded when it was executed instruction by instruction: {}; are all files as \
             they were?",
            reached(event)
        ),
        Incomplete::Time(event) => match run.termination {
            Termination::Cut(cut) => format!("the run {cut} while it was followed: {}", reached(event)),
            _ => format!("the run was ended while it was followed: {}", reached(event)),
        },
    };
    SessionError::new(Cause::Failed, message)
}

impl FollowedRun<'_> {
    /// The events that a criterion is about.
    ///
    /// # Errors
    /// If the run has nothing of the kind.
    pub fn start(
        &self,
        target: &Target,
        criterion: &SliceCriterion,
        place: &str,
    ) -> Result<SliceStart, SessionError> {
        match criterion {
            SliceCriterion::Failure(criterion) => self.of_failure(target, criterion),
            SliceCriterion::Value(question) => self.of_value(question, place),
            SliceCriterion::Decision(event) => Ok(SliceStart {
                events: BTreeSet::from([*event]),
                words: format!("the decision {place}"),
                remarks: Vec::new(),
            }),
            SliceCriterion::Event(event) => Ok(SliceStart {
                events: BTreeSet::from([*event]),
                words: format!("the execution {place}"),
                remarks: Vec::new(),
            }),
        }
    }

    fn of_value(&self, question: &ValueQuestion, place: &str) -> Result<SliceStart, SessionError> {
        let Some(ValueAnswer { value, writers }) = self.dependences.answers.iter().flatten().next() else {
            let message = format!(
                "--value: no variable `{}` has a place in memory where {place} begins: take a name that is in scope \
                 there, such as sum, p->next or list[2]; optimised code may keep it in a register",
                question.name
            );
            return Err(SessionError::new(Cause::Request, message));
        };
        let words = format!("the value of {} when {place} begins, {value}", question.name);
        let nobody = "no event of the run has written that value: it was there from the beginning";
        let remarks = if writers.is_empty() { vec![nobody.to_owned()] } else { Vec::new() };
        Ok(SliceStart { events: writers.iter().copied().collect(), words, remarks })
    }

    /// The events that a failure is about.
    ///
    /// # Errors
    /// If the run does not show it, or it is nothing that a run prints or crashes by.
    pub fn of_failure(&self, target: &Target, criterion: &Criterion) -> Result<SliceStart, SessionError> {
        let run = &self.baseline.recording.run;
        let unmet = SessionError::of(Cause::NotReproduced);
        let Concern { stdout, stderr, crash, words, remarks } = criterion.concern(run).map_err(unmet)?;
        let mut events = BTreeSet::new();
        let has_crashed = !matches!(run.termination, Termination::Exited(_));
        for (printed, ranges, recorded) in [
            (&self.dependences.stdout, &stdout, &run.stdout[..]),
            (&self.dependences.stderr, &stderr, &run.stderr[..]),
        ] {
            if ranges.is_empty() {
                continue;
            }
            let Some(ends) = ends(printed, recorded, target.invocation.stdout) else {
                let message = "who has printed what is not known: the output comes in part from a process that the program \
                               has started, or was printed in another order than written";
                return Err(SessionError::new(Cause::Failed, message));
            };
            for piece in concerned(&ends, ranges) {
                events.extend(piece.writer.into_iter().chain(piece.opener));
                events.extend(piece.flusher.filter(|_| !piece.is_by_the_way || has_crashed));
            }
        }
        if crash {
            events.extend(self.dependences.last);
        }
        Ok(SliceStart { events, words, remarks })
    }
}

/// The pieces of an output, each with its end in the recorded output; `None` if that is another one.
fn ends(printed: &Printed, recorded: &[u8], kind: Stdout) -> Option<Vec<(usize, PrintedBytes)>> {
    // A terminal writes a carriage return before each newline.
    let width = |byte: u8| if kind == Stdout::Terminal && byte == b'\n' { 2 } else { 1 };
    let shown: Vec<u8> = match kind {
        Stdout::Terminal => printed
            .bytes
            .iter()
            .flat_map(|&byte| match byte {
                b'\n' => vec![b'\r', b'\n'],
                byte => vec![byte],
            })
            .collect(),
        Stdout::File => printed.bytes.clone(),
    };
    if shown != recorded {
        return None;
    }
    let (mut at, mut end) = (0, 0);
    let place = |piece: &PrintedBytes| {
        let bytes = &printed.bytes[at..at + piece.length as usize];
        at += bytes.len();
        end += bytes.iter().map(|&byte| width(byte)).sum::<usize>();
        (end, *piece)
    };
    Some(printed.pieces.iter().map(place).collect())
}

/// The pieces that have a byte in one of the ranges.
fn concerned<'e>(
    ends: &'e [(usize, PrintedBytes)],
    ranges: &'e [Range<usize>],
) -> impl Iterator<Item = &'e PrintedBytes> {
    let starts = std::iter::once(0).chain(ends.iter().map(|&(end, _)| end));
    let is_concerned =
        |start: usize, end: usize| ranges.iter().any(|range| range.start < end && start < range.end);
    starts.zip(ends).filter(move |(start, (end, _))| is_concerned(*start, *end)).map(|(_, (_, piece))| piece)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn piece(length: u64, writer: u32) -> PrintedBytes {
        PrintedBytes {
            length,
            writer: Some(EventId(writer)),
            flusher: None,
            opener: None,
            is_by_the_way: true,
        }
    }

    #[test]
    fn who_has_printed_a_part_is_found_by_its_place() {
        let printed =
            Printed { pieces: vec![piece(3, 1), piece(2, 2), piece(2, 3)], bytes: b"a? 1\n2\n".to_vec() };
        let ends = ends(&printed, b"a? 1\n2\n", Stdout::File).unwrap();
        let writers =
            |range| concerned(&ends, &[range]).map(|piece| piece.writer.unwrap().0).collect::<Vec<_>>();
        assert_eq!((writers(3..4), writers(2..6), writers(0..0)), (vec![2], vec![1, 2, 3], vec![]));
    }

    #[test]
    fn a_terminal_makes_lines_longer() {
        let printed = Printed { pieces: vec![piece(2, 1), piece(2, 2)], bytes: b"1\n2\n".to_vec() };
        let there = ends(&printed, b"1\r\n2\r\n", Stdout::Terminal).unwrap();
        assert_eq!(there.iter().map(|&(end, _)| end).collect::<Vec<_>>(), [3, 6]);
        assert!(ends(&printed, b"1\n2\nx", Stdout::File).is_none());
    }
}
