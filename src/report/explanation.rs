//! Explain why an execution is needed, or since when it is not: what it did with values, which executions it read
//! from and which read from it, and what happened without it.
//!
//! Does not find anything out: evidence comes in.

use std::collections::HashMap;

use tracer::lockstep::Deviation;
use tracer::observation::{Flow, Observation, Seen};
use tracer::trace::EventId;

use crate::oracle::Evidence;
use crate::session::fate::Departure;
use crate::slice::{CriticalSlice, Effects, Necessity, Needed};
use crate::subject::{Ordinals, Recorded};

use super::executions::{self, Mark};
use super::happening;
use super::needed::feeding;
use super::source::{Sources, printable};
use super::style::{Style, length, wrap};
use super::values::ValueWriter;
use super::words;

/// The number of executions of a line that are explained one by one.
const MOST_EXECUTIONS: usize = 20;
/// The number of other executions that are named.
const MOST_NAMES: usize = 12;

/// The facts about a recorded run that explanations draw on.
pub struct Known<'a> {
    /// The recorded run.
    pub recorded: Recorded<'a>,
    /// The ordinals of its executions, by which they are named.
    pub ordinals: &'a Ordinals<'a>,
    /// The critical slice.
    pub slice: &'a CriticalSlice,
    /// The departures: when executions that are not needed were gone.
    pub departures: &'a HashMap<EventId, Departure>,
    /// The values that events read and wrote, if they were observed.
    pub values: Option<&'a Observation>,
}

/// The result of running the slice again without an execution.
pub struct Retest {
    /// The evidence of that test.
    pub evidence: Evidence,
    /// The lines in which the output differs; empty if it does not.
    pub difference: String,
    /// The deviation from the recorded path, if there was one, and what the event there had read then.
    pub deviation: Option<(Deviation, Seen)>,
}

/// Explains one execution.
pub fn execution(known: &Known<'_>, event: EventId, trial: Option<&Retest>, style: Style) -> String {
    let mut told = Told::new(known, style);
    told.heading(event);
    told.values(event);
    told.fate(event, trial);
    told.text
}

/// Explains the executions of a line, which were more than one.
pub fn line(known: &Known<'_>, events: &[EventId], style: Style) -> String {
    let mut told = Told::new(known, style);
    let statement = known.ordinals.statement(events[0]);
    let place = known.recorded.program.place_of(statement);
    let needed = events.iter().filter(|event| told.needed(**event).is_some()).count();
    let count = words::count(events.len() as u64, "execution");
    told.line(&style.bold(&printable(&format!("{place}: {count}, {needed} of them needed"))));
    told.source(events[0]);
    told.line("");
    for &event in events.iter().take(MOST_EXECUTIONS) {
        told.row(event);
    }
    if events.len() > MOST_EXECUTIONS {
        let more = events.len() - MOST_EXECUTIONS;
        told.item(&format!("and {more} more"));
    }
    told.line("");
    let example = events.iter().find(|event| told.needed(**event).is_some()).unwrap_or(&events[0]);
    told.paragraph(&format!(
        "`stripe explain {}` tells all about that execution.",
        known.ordinals.name(*example)
    ));
    told.text
}

/// Lists further questions, each with its command.
pub fn questions(questions: &[(String, String)], style: Style) -> String {
    if questions.is_empty() {
        return String::new();
    }
    let row =
        |(what, command): &(String, String)| format!("  {}:\n    {}\n", printable(what), printable(command));
    let rows: String = questions.iter().map(row).collect();
    format!("\n{}\n{rows}", style.bold("Ask further"))
}

/// Reports that a line was not executed, and which ones near it were.
pub fn unexecuted(place: &str, has_code: bool, nearest: &[u32], style: Style) -> String {
    let why = if has_code { "its statements were never executed" } else { "there is no traced statement" };
    let lines: Vec<String> = nearest.iter().map(u32::to_string).collect();
    let near = match &lines[..] {
        [] => "nothing of this file was executed".to_owned(),
        [one] => format!("the nearest line that was executed is {one}"),
        more => format!("the nearest lines that were executed are {}", more.join(" and ")),
    };
    wrap(&printable(&format!("{place}: {why}; {near}.")), style.width) + "\n"
}

struct Told<'a, 'k> {
    known: &'k Known<'a>,
    style: Style,
    sources: Sources<'a>,
    teller: Option<ValueWriter<'a>>,
    text: String,
}

impl<'a, 'k> Told<'a, 'k> {
    fn new(known: &'k Known<'a>, style: Style) -> Told<'a, 'k> {
        let teller = known.values.map(|values| ValueWriter::new(known.recorded, values, style));
        Told { known, style, sources: Sources::new(known.recorded.program), teller, text: String::new() }
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn paragraph(&mut self, sentence: &str) {
        let wrapped = wrap(&printable(sentence), self.style.width);
        self.line(&wrapped);
    }

    /// An indented line below a title.
    fn item(&mut self, text: &str) {
        let wrapped = wrap(&printable(text), self.style.width.saturating_sub(2));
        for line in wrapped.lines() {
            let line = self.style.cut(line, self.style.width.saturating_sub(2));
            self.line(&format!("  {line}"));
        }
    }

    fn title(&mut self, title: &str) {
        self.line("");
        self.line(&self.style.bold(title));
    }

    fn needed(&self, event: EventId) -> Option<Necessity> {
        Some(self.known.slice.find(event)?.necessity)
    }

    fn source(&mut self, event: EventId) {
        let statement = self.known.ordinals.statement(event);
        if let Some(line) = self.sources.line(statement.file, statement.line) {
            let line = self.style.cut(line.trim(), self.style.width.saturating_sub(2));
            self.line(&format!("  {line}"));
        }
    }

    fn heading(&mut self, event: EventId) {
        let Known { recorded, ordinals, .. } = self.known;
        let statement = ordinals.statement(event);
        let (place, time) = (recorded.program.place_of(statement), event.time());
        let heading = match ordinals.number(event) {
            Some(number) => {
                let total = ordinals.total(statement.file, statement.line);
                format!("{place}, execution {number} of {total} (event {time})")
            }
            None => {
                let function = &recorded.program.function_of(recorded.trace.leader(event)).name;
                format!("{place}, entry or end of {function} (event {time})")
            }
        };
        let heading = wrap(&printable(&heading), self.style.width);
        self.line(&self.style.bold(&heading));
        self.source(event);
    }

    fn values(&mut self, event: EventId) {
        let Some(values) = self.known.values else { return };
        let Some(seen) = values.seen.get(&event) else { return };
        let told = self.did(event);
        self.title("What it did");
        self.item(if told.is_empty() { "nothing with a variable" } else { &told });
        if !seen.reads.is_empty() {
            self.title("What it read");
        }
        for reading in &seen.reads {
            let sources: Vec<&Flow> =
                feeding(values, event).iter().filter(|flow| flow.name == reading.name).collect();
            let read = happening::read(reading, self.style);
            match &sources[..] {
                [] => self.item(&read),
                all => all.iter().for_each(|flow| {
                    let written = self.by(flow.from);
                    self.item(&format!("{read}, written by {written}"));
                }),
            }
        }
        self.readers(values, event);
    }

    /// Lists the executions that read what an event has written.
    fn readers(&mut self, values: &Observation, event: EventId) {
        let fed: Vec<&Flow> = values.flows.iter().filter(|flow| flow.from == event).collect();
        if fed.is_empty() {
            return;
        }
        self.title("Who read what it wrote");
        for flow in fed.iter().take(MOST_NAMES) {
            let reader = self.by(flow.to);
            let name = if flow.name.is_empty() { "a value" } else { &flow.name };
            self.item(&format!("{name}, read by {reader}"));
        }
        if fed.len() > MOST_NAMES {
            self.item(&format!("and {} more", fed.len() - MOST_NAMES));
        }
    }

    /// The name of an execution, with what it did.
    fn by(&mut self, event: EventId) -> String {
        let name = self.known.ordinals.name(event);
        let sign = if self.needed(event).is_some() { "" } else { " (not needed)" };
        match self.did(event) {
            did if did.is_empty() => format!("{name}{sign}"),
            did => format!("{name}{sign}: {did}"),
        }
    }

    fn did(&mut self, event: EventId) -> String {
        self.teller.as_mut().and_then(|teller| teller.told(event)).unwrap_or_default()
    }

    fn fate(&mut self, event: EventId, trial: Option<&Retest>) {
        let Some(necessity) = self.needed(event) else { return self.needless(event) };
        let slice = self.known.slice;
        self.title(match (slice.effects, necessity) {
            (Effects::Untried, _) => "Needed; without it",
            (Effects::Tried, Necessity::Effect) => "Needed for its effect; without it",
            (Effects::Tried, Necessity::Decision) => "Needed only as a decision; without it",
        });
        let remembered = slice.find(event).and_then(|needed| needed.without.as_deref());
        match trial.map(|trial| &trial.evidence).or(remembered) {
            None => self.item("nothing is known: the search ended before it was tried without"),
            Some(evidence) => self.item(&evidence_in_words(evidence)),
        }
        let Some(trial) = trial else { return };
        for line in trial.difference.lines() {
            let line = self.style.cut(line, self.style.width);
            self.line(&printable(&line));
        }
        if let Some((Deviation::Diverged { after, .. }, seen)) = &trial.deviation {
            let read: Vec<String> =
                seen.reads.iter().map(|reading| happening::read(reading, self.style)).collect();
            if !read.is_empty() {
                let name = self.known.ordinals.name(*after);
                self.item(&format!("the branch {name} then read {}", read.join(", ")));
            }
        }
    }

    fn needless(&mut self, event: EventId) {
        let Recorded { program, trace } = self.known.recorded;
        if program.leader(trace.leader(event)).kind.is_structural() {
            self.title("Never left out");
            return self.item("entries and ends of functions stay as long as the call does");
        }
        let Some(Departure { test, together }) = self.known.departures.get(&event) else {
            return self.remains(event);
        };
        self.title("Not needed");
        let names: Vec<String> =
            together.iter().take(MOST_NAMES).map(|&other| self.known.ordinals.name(other)).collect();
        let more = together.len() - names.len();
        let others = match (names.len(), more) {
            (0, _) => "alone".to_owned(),
            (_, 0) => format!("together with {}", names.join(", ")),
            (_, more) => format!("together with {} and {more} more", names.join(", ")),
        };
        let test = words::ordinal_test(*test, self.known.slice.tests.total);
        self.item(&format!("gone since {test}, {others}; the failure was still there"));
    }

    /// Explains an execution that is neither needed nor gone.
    fn remains(&mut self, event: EventId) {
        let marks = executions::marks(self.known.recorded, self.known.slice);
        match marks.get(&event) {
            Some(Mark::Fixed) => {
                self.title("Not needed, but it cannot be left out");
                self.item("its call ends with it, or it leads the way to such an end");
            }
            _ => {
                self.title("Not needed");
                self.item(
                    "the failure was still there without it; the journal does not tell since which test",
                );
            }
        }
    }

    /// The row of one of several executions of a line.
    fn row(&mut self, event: EventId) {
        let sign = match self.needed(event) {
            Some(Necessity::Effect) => self.style.either("●", "*"),
            Some(Necessity::Decision) => self.style.either("○", "o"),
            None => self.style.either("·", "."),
        };
        let name = self.known.ordinals.name(event);
        let did = self.did(event);
        let why = match self.known.departures.get(&event) {
            Some(departure) if self.needed(event).is_none() => format!("gone since test {}", departure.test),
            _ => self.remembered(event).unwrap_or_default(),
        };
        let time = event.time();
        let told: Vec<&str> = [&did[..], &why[..]].into_iter().filter(|part| !part.is_empty()).collect();
        let row = format!("{sign} {name} (event {time})  {}", told.join("; "));
        let row = self.style.cut(printable(&row).trim_end(), self.style.width.saturating_sub(2));
        self.line(&format!("  {row}"));
    }

    fn remembered(&self, event: EventId) -> Option<String> {
        Some(format!("without: {}", self.known.slice.find(event)?.without.as_ref()?.why))
    }
}

fn evidence_in_words(evidence: &Evidence) -> String {
    format!("{}: {}", words::outcome(evidence.outcome), evidence.why)
}

/// Explains the event with this number from a kept result alone.
pub fn remembered(number: u32, criterion: Option<&str>, needed: Option<&Needed>, style: Style) -> String {
    let name = criterion.map_or_else(String::new, |name| format!("{name}: "));
    let fate = match needed {
        Some(Needed { necessity, without, .. }) => {
            let what_for = match necessity {
                Necessity::Effect => "needed for its effect",
                Necessity::Decision => "needed only as a decision",
            };
            let seen = without.as_deref().map(evidence_in_words);
            format!("{what_for}; without it: {}", seen.unwrap_or_else(|| "that was not tried".into()))
        }
        None => "not needed".to_owned(),
    };
    wrap(&printable(&format!("{name}event {number}: {fate}")), style.width) + "\n"
}

/// A warning about what could not be found out.
pub fn warning(sentence: &str, style: Style) -> String {
    format!("\n{}\n", wrap(&printable(&format!("warning: {sentence}")), style.width))
}

/// A hint that the number of an event is also that of a line, which another command explains.
pub fn also_a_line(line: &str, command: &str, style: Style) -> String {
    let sentence = format!("A number alone names an event. For the line {line}: {command}");
    format!("\n{}\n", wrap(&printable(&sentence), style.width))
}

/// The heading of the part about one of several criteria.
pub fn criterion(name: &str, description: &str, style: Style) -> String {
    let heading = wrap(&printable(&format!("{name}: {description}")), style.width);
    let rule = style.either("─", "-").repeat(length(&heading).min(style.width));
    format!("{heading}\n{rule}\n")
}
