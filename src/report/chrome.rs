//! Write the run as a Chrome trace, for viewers such as Perfetto: calls as nested slices, with the
//! needed events in them.
//!
//! Each of several criteria is a process of its name. Time is counted in events: an event takes one microsecond, so
//! that its number is its time. Only needed events are shown one by one; the rest of a call is its slice. Source of
//! the form: "Trace Event Format", the Chromium project.

use std::io::{self, Write};

use serde_json::{Value, json};
use tracer::trace::{ActivationId, EventId};

use crate::slice::Needed;
use crate::subject::Recorded;

use super::comparison::Compared;
use super::spelling;

/// Writes the trace as a JSON object, with one event of the format in each line.
///
/// # Errors
/// If `out` cannot be written.
pub fn slices(recorded: Recorded<'_>, all: &[Compared<'_>], out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n")?;
    let mut writer = Writer { recorded, out: &mut *out, is_first: true, process: 0, open: Vec::new() };
    for one in all {
        writer.process += 1;
        if one.has_name() {
            writer.put(json!({ "ph": "M", "name": "process_name", "args": { "name": one.name } }))?;
        }
        writer.write(one)?;
    }
    out.write_all(b"\n]}\n")
}

struct Writer<'a, 'o> {
    recorded: Recorded<'a>,
    out: &'o mut dyn Write,
    /// True if no event was written so far.
    is_first: bool,
    /// The number of the criterion at hand, from 1.
    process: usize,
    /// The open calls, outermost first.
    open: Vec<ActivationId>,
}

impl Writer<'_, '_> {
    fn write(&mut self, one: &Compared<'_>) -> io::Result<()> {
        let trace = self.recorded.trace;
        let mut needed = one.slice.needed.iter().peekable();
        for event in trace.events() {
            self.follow(event)?;
            if let Some(needed) = needed.next_if(|needed| needed.event == event) {
                self.put(self.needed(needed))?;
            }
        }
        self.close_all_but(0, trace.len())
    }

    /// Closes and opens calls until that of the event is the innermost.
    fn follow(&mut self, event: EventId) -> io::Result<()> {
        let trace = self.recorded.trace;
        let activation = trace.activation(event);
        if self.open.last() == Some(&activation) {
            return Ok(());
        }
        let caller = trace.caller(activation).map(|caller| trace.activation(caller));
        // A call that goes on is open already; a new one opens in its caller.
        let goes_on = self.open.iter().rposition(|open| *open == activation);
        let around = goes_on.or_else(|| self.open.iter().rposition(|open| Some(*open) == caller));
        self.close_all_but(around.map_or(0, |place| place + 1), event.0 as usize)?;
        if goes_on.is_none() {
            self.open.push(activation);
            let leader = self.recorded.program.leader(trace.leader(event));
            let name = &self.recorded.program.function(leader.function).name;
            self.put(json!({ "ph": "B", "name": name, "cat": "call", "ts": event.time() }))?;
        }
        Ok(())
    }

    /// Closes the innermost calls after so many events until this many are left open.
    fn close_all_but(&mut self, left: usize, events: usize) -> io::Result<()> {
        while self.open.len() > left {
            self.open.pop();
            self.put(json!({ "ph": "E", "ts": events + 1 }))?;
        }
        Ok(())
    }

    fn needed(&self, needed: &Needed) -> Value {
        let Recorded { program, trace } = self.recorded;
        let leader = trace.leader(needed.event);
        let line = program.leader(leader).statement.line;
        let time = needed.event.time();
        let why = needed.without.as_ref().map(|seen| &seen.why);
        json!({
            "ph": "X", "name": format!("{line}_{time}"), "cat": "needed", "ts": time, "dur": 1,
            "args": {
                "place": program.place(leader).to_string(),
                "needed": spelling::necessity(needed.necessity),
                "without": why,
            },
        })
    }

    fn put(&mut self, mut event: Value) -> io::Result<()> {
        (event["pid"], event["tid"]) = (self.process.into(), 1.into());
        let separator = if std::mem::take(&mut self.is_first) { "" } else { ",\n" };
        write!(self.out, "{separator}{event}")
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::{Folder, Sample, alone};
    use super::*;
    use crate::slice::CriticalSlice;

    /// The phase, name and time of each event of the format.
    fn told(sample: &Sample, slice: &CriticalSlice) -> Vec<String> {
        let mut bytes = Vec::new();
        slices(sample.recorded(), &alone(slice), &mut bytes).unwrap();
        let document: Value = serde_json::from_slice(&bytes).unwrap();
        let word = |event: &Value| {
            let name = event["name"].as_str().unwrap_or_default();
            format!("{} {name} {}", event["ph"].as_str().unwrap(), event["ts"])
        };
        document["traceEvents"].as_array().unwrap().iter().map(word).collect()
    }

    #[test]
    fn calls_are_nested_slices_with_the_needed_events_in_them() {
        let source = "int f(void) { return\n1; }\nint main(void) { f();\nf(); return\n0; }\n";
        let sample = Sample::of(&Folder::new(), source);
        let events = told(&sample, &sample.slice(&sample.omittable(4), &[]));
        let expected = ["B main 1", "B f 3", "E  6", "X 4_6 6", "B f 7", "E  10", "E  12"];
        assert_eq!(events, expected);
    }

    #[test]
    fn a_run_without_calls_is_one_slice() {
        let sample = Sample::sum_mul();
        let events = told(sample, &sample.slice(&sample.omittable(15), &[]));
        assert_eq!(events, ["B main 1", "X 15_33 33", "E  37"]);
    }
}
