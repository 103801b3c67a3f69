//! Write results as JSON, for programs.

use std::collections::HashMap;
use std::time::Duration;

use serde::{Serialize, Serializer};
use tracer::program::{Granularity, LeaderKind, Program, Statement};
use tracer::trace::EventId;

use crate::dd::{Algorithm, Outcome};
use crate::slice::{Control, CriticalSlice, Evidence, Necessity, Needed, Recorded, Status};

use super::depths::Depths;
use super::executions;
use super::schema::{
    self, Events, Executable, Line, NeededEvent, Place, Slice, Tests, Trace, TraceEvent, Without,
};

/// The slice as a document of the schema `stripe.slice/1`.
pub fn slice(recorded: Recorded<'_>, slice: &CriticalSlice) -> String {
    let question = &slice.question;
    let document = Slice {
        schema: schema::SLICE,
        command: &question.command,
        program: executable(recorded.program),
        criterion: &question.criterion,
        control: control(question.control),
        granularity: granularity(question.granularity),
        algorithm: algorithm(question.algorithm),
        engine: question.engine,
        status: status(slice.status),
        events: events(slice),
        tests: tests(slice),
        seconds: seconds(slice.elapsed),
        slice: needed_events(recorded, slice),
        lines: lines(recorded, slice),
        warnings: &slice.warnings,
    };
    serde_json::to_string_pretty(&document).expect("a document has text keys only") + "\n"
}

/// The recorded run of `command` as a document of the schema `stripe.trace/1`.
pub fn trace(recorded: Recorded<'_>, command: &[String]) -> String {
    let document = Trace {
        schema: schema::TRACE,
        command,
        program: executable(recorded.program),
        events: AllEvents(recorded),
    };
    serde_json::to_string(&document).expect("a document has text keys only") + "\n"
}

fn executable(program: &Program) -> Executable<'_> {
    let image = program.executable();
    Executable { path: image.path.to_string_lossy().into_owned(), build_id: image.build_id.as_deref() }
}

fn events(slice: &CriticalSlice) -> Events {
    Events {
        recorded: slice.recorded,
        omittable: slice.omittable,
        kept: slice.needed.len(),
        kept_for_effect: slice.kept_for_effect(),
    }
}

fn tests(slice: &CriticalSlice) -> Tests {
    Tests {
        total: slice.tests.total,
        reproduced: slice.tests.fail,
        not_reproduced: slice.tests.pass,
        unresolved: slice.tests.unresolved,
        cached: slice.tests.cached,
        runs: slice.runs,
    }
}

fn seconds(elapsed: Duration) -> f64 {
    elapsed.as_millis() as f64 / 1000.0
}

fn needed_events<'a>(recorded: Recorded<'a>, slice: &'a CriticalSlice) -> Vec<NeededEvent<'a>> {
    let mut places = Places::new(recorded);
    let mut needed = slice.needed.iter().peekable();
    let needed_event = |event| {
        let place = places.next(event);
        let needed = needed.next_if(|needed| needed.event == event)?;
        Some(NeededEvent {
            place,
            needed: necessity(needed),
            without: needed.without.as_ref().map(without),
        })
    };
    recorded.trace.events().filter_map(needed_event).collect()
}

fn without(evidence: &Evidence) -> Without<'_> {
    Without { outcome: outcome(evidence.outcome), why: &evidence.why }
}

fn lines<'a>(recorded: Recorded<'a>, slice: &CriticalSlice) -> Vec<Line<'a>> {
    let counted = executions::count(recorded, slice);
    let executed = counted.iter().filter(|(_, executions)| executions.executed() > 0);
    let line = |(&(file, line), executions): (_, &executions::Executions)| Line {
        file: &recorded.program.file(file).shown,
        line,
        executed: executions.executed(),
        needed: executions.needed(),
    };
    let mut lines: Vec<Line<'_>> = executed.map(line).collect();
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
            kind: kind(program.leader(trace.leader(event)).kind),
            omittable: trace.is_omittable(program, event),
        }))
    }
}

/// Tells the places of the events of a trace, one after the other.
struct Places<'a> {
    recorded: Recorded<'a>,
    occurrences: HashMap<(Statement, &'static str), u32>,
}

impl<'a> Places<'a> {
    fn new(recorded: Recorded<'a>) -> Places<'a> {
        Places { recorded, occurrences: HashMap::new() }
    }

    /// To be asked of all events in order.
    fn next(&mut self, event: EventId) -> Place<'a> {
        let program = self.recorded.program;
        let leader = program.leader(self.recorded.trace.leader(event));
        let statement = leader.statement;
        let occurrence = self.occurrences.entry((statement, kind(leader.kind))).or_default();
        *occurrence += 1;
        Place {
            event: event.time(),
            file: &program.file(statement.file).shown,
            line: statement.line,
            column: statement.column,
            function: &program.function(leader.function).name,
            occurrence: *occurrence,
            time: event.time(),
        }
    }
}

fn kind(kind: LeaderKind) -> &'static str {
    match kind {
        LeaderKind::Entry => "entry",
        LeaderKind::Statement => "statement",
        LeaderKind::Epilogue => "epilogue",
    }
}

fn necessity(needed: &Needed) -> &'static str {
    match needed.necessity {
        Necessity::Effect => "effect",
        Necessity::Decision => "decision",
    }
}

fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Fail => "reproduced",
        Outcome::Pass => "not_reproduced",
        Outcome::Unresolved => "unresolved",
    }
}

fn status(status: Status) -> &'static str {
    match status {
        Status::Minimal => "minimal",
        Status::Budget => "budget",
        Status::Interrupted => "interrupted",
    }
}

fn control(control: Control) -> &'static str {
    match control {
        Control::Both => "both",
        Control::Program => "program",
        Control::Trace => "trace",
    }
}

fn granularity(granularity: Granularity) -> &'static str {
    match granularity {
        Granularity::Line => "line",
        Granularity::Statement => "statement",
    }
}

fn algorithm(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::Sweep => "sweep",
        Algorithm::Ddmin => "ddmin",
    }
}
