//! Write results as JSON, for programs: piece by piece, so that a long one takes no memory.

use std::io::{self, Write};
use std::time::Duration;

use serde::{Serialize, Serializer};
use tracer::program::Program;

use crate::circumstances::Status;
use crate::session::layers::Layers;
use crate::slice::{CriticalSlice, Effects};
use crate::subject::{Recorded, stretches};

use super::by_products;
use super::comparison::{Compared, suspects};
use super::depths::Depths;
use super::executions::{self, Executions};
use super::extent::EventsListed;
use super::layers::LayeredExecutions;
use super::needed::NeededEvents;
use super::places::Places;
use super::schema::{
    self, EventsDocument, Executable, LineDocument, Slice, Tests, Trace, TraceEvent, WrongLine,
};
use super::spelling;

/// Writes the slice as a document of the schema `stripe.slice/1`.
///
/// With the dynamic slice `beside` it, if that is known.
///
/// # Errors
/// If `out` cannot be written.
pub fn slice(
    recorded: Recorded<'_>,
    slice: &CriticalSlice,
    listed: EventsListed,
    beside: Option<&Layers<'_>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    indented(&slice_document(recorded, slice, listed.most(), beside), out)
}

/// Writes a document with a line for each value.
fn indented(document: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, document)?;
    out.write_all(b"\n")
}

/// Writes several slices of one run as a document of the schema `stripe.slices/1`.
///
/// With the dynamic slices `beside` them, if these are known.
///
/// # Errors
/// If `out` cannot be written.
pub fn slices(
    recorded: Recorded<'_>,
    all: &[Compared<'_>],
    listed: EventsListed,
    beside: &[Layers<'_>],
    out: &mut dyn Write,
) -> io::Result<()> {
    let beside = |name: &str| beside.iter().find(|layers| layers.name == name);
    let criteria = all.iter().map(|one| schema::NamedSlice {
        name: one.name,
        wrong: one.is_wrong,
        slice: slice_document(recorded, one.slice, listed.most(), beside(one.name)),
    });
    let document = schema::Slices {
        schema: schema::SLICES,
        version: schema::VERSION,
        wrong_only: wrong_only(recorded, all),
        criteria: criteria.collect(),
    };
    indented(&document, out)
}

fn wrong_only<'a>(recorded: Recorded<'a>, all: &[Compared<'_>]) -> Option<Vec<WrongLine<'a>>> {
    let lines = suspects(recorded, all)?.into_iter();
    let line = |(file, line)| WrongLine { file: &recorded.program.file(file).shown, line };
    let mut lines: Vec<WrongLine<'a>> = lines.map(line).collect();
    lines.sort_by_key(|line| (line.file, line.line));
    Some(lines)
}

fn slice_document<'a>(
    recorded: Recorded<'a>,
    slice: &'a CriticalSlice,
    most: usize,
    beside: Option<&Layers<'_>>,
) -> Slice<'a, NeededEvents<'a>> {
    let question = &slice.question;
    let ranges = stretches(slice.needed.iter().map(|needed| needed.event));
    Slice {
        schema: schema::SLICE,
        version: schema::VERSION,
        command: &question.command,
        program: executable(recorded.program),
        criterion: &question.criterion,
        control: spelling::control(question.control),
        granularity: spelling::granularity(question.granularity),
        algorithm: spelling::algorithm(question.algorithm),
        engine: spelling::engine(&question.method.engine),
        engine_reason: spelling::engine_reason(&question.method.engine),
        containment: spelling::containment(&question.method.containment),
        containment_reason: spelling::containment_reason(&question.method.containment),
        status: spelling::status(slice.status),
        level: (slice.status == Status::Minimal).then(|| spelling::level(slice.level)),
        effects_tried: slice.effects == Effects::Tried,
        events: events(slice),
        tests: tests(slice),
        seconds: seconds(slice.elapsed),
        needed: spelling::events(ranges),
        slice: NeededEvents { recorded, slice, most },
        slice_omitted: slice.needed.len().saturating_sub(most),
        lines: lines(recorded, slice),
        warnings: &slice.warnings,
        by_products: by_products::documents(slice),
        comparison: beside.map(|layers| LayeredExecutions::of(recorded, layers).document(layers)),
    }
}

/// Writes the recorded run of `command` as a document of the schema `stripe.trace/1`, in one line.
///
/// # Errors
/// If `out` cannot be written.
pub fn trace(recorded: Recorded<'_>, command: &[String], out: &mut dyn Write) -> io::Result<()> {
    let document = Trace {
        schema: schema::TRACE,
        version: schema::VERSION,
        command,
        program: executable(recorded.program),
        events: AllEvents(recorded),
    };
    serde_json::to_writer(&mut *out, &document)?;
    out.write_all(b"\n")
}

fn executable(program: &Program) -> Executable<'_> {
    let image = program.executable();
    Executable { path: image.path.to_string_lossy().into_owned(), build_id: image.build_id.as_deref() }
}

/// The numbers of events.
pub(super) fn events(slice: &CriticalSlice) -> EventsDocument {
    EventsDocument {
        recorded: slice.recorded,
        omittable: slice.omittable,
        kept: slice.needed.len(),
        kept_for_effect: slice.kept_for_effect(),
    }
}

/// The numbers of tests.
pub(super) fn tests(slice: &CriticalSlice) -> Tests {
    Tests {
        total: slice.tests.total,
        reproduced: slice.tests.fail,
        not_reproduced: slice.tests.pass,
        unresolved: slice.tests.unresolved,
        cached: slice.tests.cached,
        runs: slice.runs,
    }
}

/// A duration in seconds, to the millisecond.
pub(super) fn seconds(elapsed: Duration) -> f64 {
    elapsed.as_millis() as f64 / 1000.0
}

fn lines<'a>(recorded: Recorded<'a>, slice: &CriticalSlice) -> Vec<LineDocument<'a>> {
    let counted = executions::count(recorded, slice);
    let executed = counted.iter().filter(|(_, executions)| executions.executed() > 0);
    let line = |(&(file, line), executions): (_, &Executions)| LineDocument {
        file: &recorded.program.file(file).shown,
        line,
        executed: executions.executed(),
        needed: executions.needed(),
        needed_for_effect: executions.needed_for_effect(),
        fixed: executions.fixed(),
    };
    let mut lines: Vec<LineDocument<'_>> = executed.map(line).collect();
    lines.sort_by_key(|line| (line.file, line.line));
    lines
}

/// Writes the events one by one: a trace may have millions.
struct AllEvents<'a>(Recorded<'a>);

impl Serialize for AllEvents<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Recorded { program, trace } = self.0;
        let mut places = Places::new(self.0);
        let mut depths = Depths::new(trace);
        serializer.collect_seq(trace.events().map(|event| TraceEvent {
            place: places.next(event),
            depth: depths.next(event),
            kind: spelling::kind(program.leader(trace.leader(event)).kind),
            omittable: trace.is_omittable(program, event),
        }))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::sample::Sample;
    use super::*;
    use crate::circumstances::Status;

    /// The document that is written.
    fn written(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> Value {
        let mut bytes = Vec::new();
        write(&mut bytes).unwrap();
        serde_json::from_slice(&bytes).unwrap()
    }

    fn document() -> Value {
        let sample = Sample::sum_mul();
        let mut result = sample.slice(&sample.omittable(11)[4..], &sample.omittable(10)[6..]);
        result.status = Status::Budget;
        result.needed[2].without = None;
        written(|out| slice(sample.recorded(), &result, EventsListed::First, None, out))
    }

    #[test]
    fn the_result_is_told_by_stable_keys() {
        let document = document();
        let mut keys: Vec<&str> =
            "schema version command program criterion control granularity algorithm engine \
             engine_reason containment containment_reason status level effects_tried events tests seconds needed slice slice_omitted lines \
             warnings \
            by_products"
                .split_whitespace()
                .collect();
        keys.sort_unstable();
        assert_eq!(document.as_object().unwrap().keys().collect::<Vec<_>>(), keys);
        assert_eq!([&document["schema"], &document["status"]], ["stripe.slice/1", "budget"]);
        assert_eq!(document["version"], env!("CARGO_PKG_VERSION"));
        assert_eq!(document["seconds"], 0.21);
        let events = json!({"recorded": 36, "omittable": 34, "kept": 3, "kept_for_effect": 2});
        assert_eq!(document["events"], events);
        let outcomes = json!([120, 11, 80, 29, 40, 142]);
        let keys = ["total", "reproduced", "not_reproduced", "unresolved", "cached", "runs"];
        assert_eq!(json!(keys.map(|key| &document["tests"][key])), outcomes);
    }

    #[test]
    fn an_event_has_its_place_its_purpose_and_what_was_seen_without_it() {
        let events = document()["slice"].clone();
        assert_eq!(events.as_array().unwrap().len(), 3);
        let first = json!({
            "event": 25, "file": "sum-mul.c", "line": 11, "column": 19, "function": "main",
            "occurrence": 5, "time": 25, "needed": "effect",
            "without": {"outcome": "not_reproduced", "why": "no output"}, "values": null
        });
        assert_eq!(events[0], first);
        let last = json!({
            "event": 32, "file": "sum-mul.c", "line": 10, "column": 14, "function": "main",
            "occurrence": 7, "time": 32, "needed": "decision", "without": null,
            "values": null
        });
        assert_eq!(events[2], last);
    }

    #[test]
    fn of_very_many_events_the_first_are_listed_and_all_have_their_numbers() {
        let sample = Sample::sum_mul();
        let all = sample.omittable(11);
        let result = sample.slice(&all, &[]);
        let document = serde_json::to_value(slice_document(sample.recorded(), &result, 4, None)).unwrap();
        let listed = document["slice"].as_array().unwrap();
        assert_eq!((listed.len(), &document["slice_omitted"]), (4, &json!(2)));
        let numbers: Vec<String> = all.iter().map(|event| event.time().to_string()).collect();
        assert_eq!(document["needed"], numbers.join(","));
    }

    #[test]
    fn lines_are_those_with_executed_statements() {
        let lines = document()["lines"].clone();
        let numbers: Vec<_> = lines.as_array().unwrap().iter().map(|line| line["line"].clone()).collect();
        assert_eq!(numbers, [6, 7, 8, 9, 10, 11, 12, 13, 15, 16, 17]);
        assert_eq!(
            lines[5],
            json!({"file": "sum-mul.c", "line": 11, "executed": 6, "needed": 2, "needed_for_effect": 2, "fixed": 0})
        );
    }

    #[test]
    fn what_only_the_wrong_needs_is_a_list_of_lines_where_there_are_both_kinds() {
        let sample = Sample::sum_mul();
        let (sum, mul) = ([6, 11, 15], [6, 12, 16]);
        let [sum, mul] = [sum, mul].map(|lines| {
            let mut events = lines.map(|line| sample.omittable(line)).concat();
            events.sort();
            sample.slice(&events, &[])
        });
        let told = |is_wrong: bool| -> Value {
            let sum = Compared { name: "sum", is_wrong: false, slice: &sum };
            let mul = Compared { name: "mul", is_wrong, slice: &mul };
            written(|out| slices(sample.recorded(), &[sum, mul], EventsListed::First, &[], out))
        };
        let line = |line: u32| json!({"file": "sum-mul.c", "line": line});
        assert_eq!(told(true)["wrong_only"], json!([line(12), line(16)]));
        assert_eq!(told(false)["wrong_only"], Value::Null);
        assert_eq!(told(true)["version"], env!("CARGO_PKG_VERSION"));
    }

    #[test]
    fn a_trace_lists_all_events_with_the_same_numbers() {
        let command = ["./sum-mul".to_owned()];
        let sample = Sample::sum_mul();
        let document = written(|out| trace(sample.recorded(), &command, out));
        assert_eq!(document["schema"], "stripe.trace/1");
        assert_eq!(document["command"], json!(command));
        assert_eq!(document["events"].as_array().unwrap().len(), 36);
        let statement = json!({
            "event": 25, "time": 25, "file": "sum-mul.c", "line": 11, "column": 19, "function": "main",
            "depth": 0, "kind": "statement", "omittable": true, "occurrence": 5
        });
        assert_eq!(document["events"][24], statement);
        let kinds = [0, 35].map(|event| &document["events"][event]["kind"]);
        assert_eq!(kinds, ["entry", "epilogue"]);
        assert_eq!(document["events"][0]["omittable"], false);
    }
}
