//! `stripe explain`: why an execution is needed, or since when it is not.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use tracer::lockstep::Deviation;
use tracer::observation::{Observation, Seen};
use tracer::schedule::{Control as Rule, Schedule};
use tracer::termination::Termination;
use tracer::trace::EventId;
use tracer::{Conditions, Processors, Tracer};

use super::choices::ColorChoice;
use super::exit::{Exit, Failure};
use super::offers;
use super::options::ExplainOptions;
use super::shell;
use super::terminal::{self, tell};
use dd::{Configuration, Outcome, Space};

use crate::circumstances::Status;
use crate::circumstances::events::Control;
use crate::circumstances::events::{self, EventTest, Universe};
use crate::oracle;
use crate::oracle::Evidence;
use crate::report::Style;
use crate::report::explanation::{self, Known, Retest};
use crate::report::tried_changes;
use crate::session::case::Case;
use crate::session::fate::{Departure, Departures};
use crate::session::interrupt::Interrupt;
use crate::session::locate_resume::KeptLocated;
use crate::session::observing::{self, Reach};
use crate::session::questions::NamedCriterion;
use crate::session::reopened::{self, Reopened};
use crate::session::search::Answer;
use crate::slice::{CriticalSlice, Necessity};
use crate::subject::{Ordinals, PlaceFound, Recorded, Where};

/// The number of executions of a line that are explained one by one.
const MOST_ASKED: usize = 20;
/// The number of values read by an event for which a further question is offered.
const MOST_FURTHER: usize = 3;
/// The number of lines of a difference of outputs that are shown.
const MOST_DIFFERENCES: usize = 10;

/// Explains an execution, or those of a line, by each criterion.
pub(super) fn explain(options: ExplainOptions, color: ColorChoice) -> Result<Exit, Failure> {
    let (run, place) = named(&options)?;
    let criterion = options.criterion.as_deref();
    let interrupt = Interrupt::default();
    if let Some(kept) = KeptLocated::open(run.as_deref(), &interrupt)? {
        return explain_located(kept, place, terminal::style(color));
    }
    let reopened = match Reopened::open(run.as_deref(), &interrupt) {
        Ok(reopened) => reopened,
        Err(failure) => {
            return without_program(run.as_deref(), &place, terminal::style(color), failure.into());
        }
    };
    let (questions, place) = chosen(&reopened, criterion, place)?;
    let recorded = reopened.subject().recorded();
    let ordinals = Ordinals::new(recorded);
    let style = terminal::style(color);
    let events = match place.find(recorded, &ordinals)? {
        PlaceFound::Executions(events) => events,
        PlaceFound::Nothing { place, has_code, nearest } => {
            return super::print(explanation::unexecuted(&place, has_code, &nearest, style).as_bytes());
        }
    };
    interrupt.listen()?;
    Processors::available().bind(0);
    let explanation =
        Explanation { reopened: &reopened, questions, ordinals: &ordinals, events: &events, style };
    let source = if options.kept { Source::Kept } else { Source::Run };
    let also = place.line_of_same_number(recorded, &ordinals);
    let also = also.map(|line| explanation::also_a_line(&line, &command_for(run.as_deref(), &line), style));
    super::print((explanation.written(source)? + &also.unwrap_or_default()).as_bytes())
}

/// Tells which changes `stripe locate` has tried at a place, and what came of each; without a place at the first line of
/// the ranking.
fn explain_located(kept: KeptLocated, place: Where, style: Style) -> Result<Exit, Failure> {
    let (target, found) = kept.report()?;
    let recorded = Recorded { program: &target.program, trace: &found.baseline.recording.trace };
    let is_single = matches!(place, Where::Event(_) | Where::Line { execution: Some(_), .. });
    let place = match (place, found.ranking.lines.first()) {
        (Where::Last, Some(line)) => Where::Event(line.last.time()),
        (place, _) => place,
    };
    let text = match place.find(recorded, &Ordinals::new(recorded))? {
        PlaceFound::Executions(events) => {
            tried_changes::tried_at(recorded, &found, &events, is_single, style)
        }
        PlaceFound::Nothing { place, has_code, nearest } => {
            explanation::unexecuted(&place, has_code, &nearest, style)
        }
    };
    super::print(text.as_bytes())
}

/// The criteria by which to explain, and the place. Where no place is named it is the last needed execution
/// before the failure; of several criteria that of the first about wrong output, or else of the first.
fn chosen<'r>(
    reopened: &'r Reopened,
    criterion: Option<&str>,
    place: Where,
) -> Result<(Vec<&'r NamedCriterion>, Where), Failure> {
    let mut questions: Vec<&NamedCriterion> = reopened.questions.iter().collect();
    let names: Vec<&str> = questions.iter().filter_map(|question| question.name.as_deref()).collect();
    if let Some(name) = criterion {
        questions.retain(|question| question.name.as_deref() == Some(name));
        if questions.is_empty() {
            let known = if names.is_empty() { "it has one without a name".into() } else { names.join(", ") };
            let message = format!("--criterion {name}: the run has no criterion of this name: {known}");
            return Err(Failure::new(Exit::Usage, message));
        }
    }
    if place != Where::Last {
        return Ok((questions, place));
    }
    let first = questions.iter().find(|question| question.is_wrong).or(questions.first());
    let question = *first.expect("a run has a criterion");
    if names.len() > 1 && criterion.is_none() {
        let others = names.iter().copied().filter(|name| question.name.as_deref() != Some(name));
        let others = others.collect::<Vec<_>>().join(", ");
        tell(&format!("stripe: explained by one of several criteria; --criterion takes another: {others}"));
    }
    Ok((vec![question], Where::Event(last_needed(reopened, question)?.time())))
}

/// The last needed execution before the failure; the best so far if the search has not ended.
fn last_needed(reopened: &Reopened, question: &NamedCriterion) -> Result<EventId, Failure> {
    let slice = match reopened.result(question, false)? {
        Some(answer) => answer.slice,
        None => reopened.best_so_far(question)?.slice,
    };
    let last = slice.needed.last().map(|needed| needed.event).or(slice.crashed_at);
    last.ok_or_else(|| {
        let message = "nothing is needed that could be explained: name a place, such as main.c:11";
        Failure::new(Exit::Usage, message)
    })
}

/// The command that explains a line, as typed into a shell.
fn command_for(run: Option<&Path>, line: &str) -> String {
    let run = run.map(|run| run.to_string_lossy());
    shell::command_line(["stripe", "explain"].into_iter().chain(run.as_deref()).chain([line]))
}

/// Prints the evidence that is kept about an event, where the program is no longer what was recorded; and
/// why that is all.
fn without_program(
    run: Option<&Path>,
    place: &Where,
    style: Style,
    failure: Failure,
) -> Result<Exit, Failure> {
    let Ok(results) = reopened::results(run) else { return Err(failure) };
    for (name, slice) in &results {
        let number = match place {
            Where::Event(number) => Some(*number),
            Where::Last => slice.needed.last().map(|needed| needed.event.time()),
            Where::Line { .. } => None,
        };
        let Some(number) = number else { return Err(failure) };
        let needed = slice.needed.iter().find(|needed| needed.event.time() == number);
        super::print(explanation::remembered(number, name.as_deref(), needed, style).as_bytes())?;
    }
    Err(failure)
}

/// The run and the place that the user names.
fn named(options: &ExplainOptions) -> Result<(Option<PathBuf>, Where), Failure> {
    let text = |word: &std::ffi::OsString| word.to_string_lossy().into_owned();
    match &options.place[..] {
        [run, place] => Ok((Some(Path::new(run).to_owned()), Where::parse(&text(place))?)),
        [place] => Ok((None, Where::parse(&text(place))?)),
        [] => Ok((None, Where::Last)),
        _ => unreachable!("the parser takes two words at most"),
    }
}

/// The source of knowledge.
#[derive(Clone, Copy)]
enum Source {
    /// Kept files alone.
    Kept,
    /// Runs of the program as well.
    Run,
}

/// The explanation of some events.
struct Explanation<'e> {
    reopened: &'e Reopened,
    questions: Vec<&'e NamedCriterion>,
    ordinals: &'e Ordinals<'e>,
    events: &'e [EventId],
    style: Style,
}

/// The facts about the events under one of the criteria.
struct Part<'e> {
    question: &'e NamedCriterion,
    slice: CriticalSlice,
    departures: HashMap<EventId, Departure>,
}

impl<'e> Explanation<'e> {
    /// The whole text; the program is run only if `source` says so.
    fn written(&self, source: Source) -> Result<String, Failure> {
        let questions = self.questions.iter();
        let parts =
            questions.map(|question| self.part(question)).collect::<Result<Vec<Part<'_>>, Failure>>()?;
        let mut troubles = Vec::new();
        let mut tracer = match source {
            Source::Kept => None,
            Source::Run => noted(self.tracer(), &mut troubles),
        };
        let seen = tracer.as_mut().and_then(|tracer| noted(self.observe(tracer, &parts), &mut troubles));
        troubles.extend(seen.as_ref().and_then(observing::limit));
        let mut text = String::new();
        for part in &parts {
            let trial = noted(self.trial(tracer.as_mut(), part), &mut troubles).flatten();
            text += &self.told(part, seen.as_ref(), trial.as_ref());
        }
        let values = seen.as_ref().or_else(|| parts.first()?.slice.values.as_ref());
        if let (&[event], Some(seen)) = (self.events, values) {
            text += &explanation::questions(&self.further(event, seen), self.style);
        }
        troubles.dedup();
        Ok(troubles.iter().fold(text, |text, trouble| text + &explanation::warning(trouble, self.style)))
    }

    /// The further questions about an execution: why it went its way, and why what it read had its value;
    /// each with the command.
    fn further(&self, event: EventId, seen: &Observation) -> Vec<(String, String)> {
        let Reopened { run, folder, .. } = self.reopened;
        let recorded = self.reopened.subject().recorded();
        let place = self.ordinals.name(event);
        let kept = folder.input();
        let input = (!run.invocation.stdin.is_empty()).then_some(kept.as_path());
        let asked = |option, value: String| offers::asking(&run.line, input, option, &value);
        let decides = recorded.program.leader(recorded.trace.leader(event)).decides;
        let decision =
            decides.then(|| Some((format!("why {place} goes its way"), asked("--decision", place.clone())?)));
        let reads = seen.seen.get(&event).into_iter().flat_map(|seen| &seen.reads);
        let variables = reads.filter(|read| !read.is_returned).take(MOST_FURTHER).filter_map(|read| {
            let command = asked("--value", format!("{}@{place}", read.name))?;
            Some((format!("why {} is {}", read.name, read.value.text), command))
        });
        decision.flatten().into_iter().chain(variables).collect()
    }

    fn told(&self, part: &Part<'_>, seen: Option<&Observation>, trial: Option<&Retest>) -> String {
        let known = Known {
            recorded: self.reopened.subject().recorded(),
            ordinals: self.ordinals,
            slice: &part.slice,
            departures: &part.departures,
            values: seen.or(part.slice.values.as_ref()),
        };
        let told = match self.events {
            [event] => explanation::execution(&known, *event, trial, self.style),
            several => explanation::line(&known, several, self.style),
        };
        match &part.question.name {
            Some(name) => {
                explanation::criterion(name, &part.question.oracle.describe(), self.style) + &told + "\n"
            }
            None => told,
        }
    }

    /// The findings of the search for an answer; the best so far if it has not ended.
    fn part(&self, question: &'e NamedCriterion) -> Result<Part<'e>, Failure> {
        let asked: Vec<EventId> = self.events.iter().copied().take(MOST_ASKED).collect();
        let result = self.reopened.result(question, false)?;
        if let Some(Answer { slice, .. }) = result.as_ref()
            && asked.iter().all(|&event| slice.find(event).is_some())
        {
            let slice = slice.clone();
            return Ok(Part { question, slice, departures: HashMap::new() });
        }
        let mut fates = Departures::of(self.reopened.subject().recorded(), &asked);
        let remembered = self.reopened.watched(question, &mut fates)?;
        let Answer { slice, .. } = result.unwrap_or(remembered);
        Ok(Part { question, slice, departures: fates.departures() })
    }

    fn tracer(&self) -> Result<Tracer<'_>, Failure> {
        if let Some(how) = self.reopened.other_surroundings() {
            return Err(Failure::new(Exit::Failed, format!("{how}; only what is kept is told")));
        }
        let target = &self.reopened.target;
        Ok(Tracer::new(&target.program, &target.invocation, self.reopened.run.search.preference)?)
    }

    fn observe(&self, tracer: &mut Tracer<'_>, parts: &[Part<'_>]) -> Result<Observation, Failure> {
        let subject = self.reopened.subject();
        let needed = parts.iter().flat_map(|part| part.slice.needed.iter().map(|needed| needed.event));
        let asked = self.events.iter().copied().take(MOST_ASKED);
        let needed: BTreeSet<EventId> = needed.collect();
        let mut events =
            observing::worth_seeing(&subject, &needed, self.events.first().copied(), Reach::Whole);
        events.extend(asked);
        Ok(observing::observe(&subject, tracer, &events)?)
    }

    /// The test of the slice without the event, if there is just one and it is needed. The evidence of the search
    /// is used if it is kept; otherwise, or to see what the branch had read after which the run left the
    /// recorded path, the slice is run again.
    fn trial(&self, tracer: Option<&mut Tracer<'_>>, part: &Part<'_>) -> Result<Option<Retest>, Failure> {
        let (&[event], true) = (self.events, part.slice.status == Status::Minimal) else { return Ok(None) };
        let Some((rule, others)) = without(&part.slice, event) else { return Ok(None) };
        let recorded = self.reopened.subject().recorded();
        let universe = Universe::new(recorded.program, recorded.trace, rule);
        let tested = universe.normalise(&universe.configuration(others.into_iter()));
        // If the journal cannot be read, running it again has the same result.
        let seen = self.reopened.tested(part.question, events::phase(rule), &tested).ok().flatten();
        match (seen.and_then(|seen| self.remembered(seen)), tracer) {
            (Some(trial), _) => Ok(Some(trial)),
            (None, Some(tracer)) => self.try_again(tracer, part, &universe, &tested).map(Some),
            (None, None) => Ok(None),
        }
    }

    /// A kept test with its output, if that is kept and says something.
    fn remembered(&self, evidence: Evidence) -> Option<Retest> {
        let left_path = evidence.outcome == Outcome::Unresolved && evidence.failure().is_none();
        let printed = evidence.printed.as_ref().filter(|_| !left_path)?;
        let recorded = &self.reopened.run.run;
        let stdout = printed.stdout.text(&recorded.stdout)?;
        let stderr = printed.stderr.text(&recorded.stderr)?;
        let difference = self.difference(&stdout.kept, &stderr.kept);
        Some(Retest { evidence, difference, deviation: None })
    }

    /// The difference of what was printed from the recorded output: on standard error, if standard output is equal.
    fn difference(&self, stdout: &[u8], stderr: &[u8]) -> String {
        let recorded = &self.reopened.run.run;
        match oracle::diff(&recorded.stdout, stdout, MOST_DIFFERENCES) {
            none if none.is_empty() => oracle::diff(&recorded.stderr, stderr, MOST_DIFFERENCES),
            difference => difference,
        }
    }

    fn try_again(
        &self,
        tracer: &mut Tracer<'_>,
        part: &Part<'_>,
        universe: &Universe,
        tested: &Configuration,
    ) -> Result<Retest, Failure> {
        let subject = self.reopened.subject();
        let runs = AtomicU64::new(0);
        let case = Case { subject, question: part.question, memo: None, guess: None };
        let setup = case.setup(&runs);
        let schedule = universe.schedule(tested);
        let (run, evidence) = EventTest::new(&setup, universe, tracer).examine(&schedule)?;
        let (difference, deviation) = match &run.termination {
            Termination::Left(deviation) => (String::new(), Some(*deviation)),
            _ => (self.difference(&run.stdout, &run.stderr), None),
        };
        let deviation = match deviation {
            Some(deviation) => Some((deviation, self.branch(tracer, &schedule, deviation)?)),
            None => None,
        };
        Ok(Retest { evidence, difference, deviation })
    }

    /// The values that an event had read after which a run has left the recorded path.
    fn branch(
        &self,
        tracer: &mut Tracer<'_>,
        schedule: &Schedule,
        deviation: Deviation,
    ) -> Result<Seen, Failure> {
        let Deviation::Diverged { after, .. } = deviation else { return Ok(Seen::default()) };
        let subject = self.reopened.subject();
        let conditions = Conditions {
            poison: subject.baseline.patterns[0],
            untouched: Arc::clone(&subject.baseline.untouched),
            limits: subject.limits,
            ..subject.target.conditions.clone()
        };
        let mut seen = tracer.observe(subject.recorded().trace, schedule, &[after], &conditions)?;
        Ok(seen.seen.remove(&after).unwrap_or_default())
    }
}

/// The rule under which an event was found to be needed, and the other events that were kept then; `None` if it is
/// not needed.
fn without(slice: &CriticalSlice, event: EventId) -> Option<(Rule, Vec<EventId>)> {
    let found = slice.find(event)?;
    let (rule, for_effect) = match (slice.question.control, found.necessity) {
        (Control::Both, Necessity::Effect) => (Rule::Trace, true),
        (Control::Trace, _) => (Rule::Trace, false),
        (Control::Both | Control::Program, _) => (Rule::Program, false),
    };
    let others = slice.needed.iter().filter(|needed| needed.event != event);
    let others = others.filter(|needed| !for_effect || needed.necessity == Necessity::Effect);
    Some((rule, others.map(|needed| needed.event).collect()))
}

/// The value, or nothing but a note about the error.
fn noted<T>(found: Result<T, Failure>, troubles: &mut Vec<String>) -> Option<T> {
    found.map_err(|failure| troubles.push(failure.message)).ok()
}
