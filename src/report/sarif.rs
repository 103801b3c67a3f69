//! Write the slice as SARIF 2.1.0: one result with one thread flow, the needed events in order; of several
//! criteria a result for each.
//!
//! Source of the form: OASIS, "Static Analysis Results Interchange Format (SARIF) Version 2.1.0",
//! sections 3.27 (result), 3.36 to 3.38 (code flow, thread flow and its locations).

use std::path::Path;

use serde_json::{Value, json};
use tracer::program::{File, Program};

use crate::session::located::Located;
use crate::subject::Recorded;

use super::comparison::Compared;
use super::json;
use super::located::{shown, verdict as found_in_words};
use super::needed;
use super::ranked::{RankedLine, ranked};
use super::schema::NeededEvent;
use super::spelling;
use super::uri;
use super::verdict::verdict;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// The largest number of steps of a flow: consumers refuse longer flows, or cut them.
const MOST_STEPS: usize = 10_000;

/// The rules of the results: that of a slice, and that of a located fault.
const RULE: &str = "critical-slice";
const LOCATED_RULE: &str = "located-line";

/// Writes the slices as a SARIF log.
pub fn slices(recorded: Recorded<'_>, all: &[Compared<'_>]) -> String {
    let results = all.iter().map(|one| result(recorded, one)).collect();
    let rule = rule(
        RULE,
        "CriticalSlice",
        "The statement executions that a failure needs.",
        "Found by running the program again with executions left out: without any single one of these the failure was \
         not reproduced.",
    );
    log(rule, notifications(all), results)
}

/// Writes the first lines of a located fault as a SARIF log: a result for each, with its rank from 100 for
/// the first one.
pub fn ranking(recorded: Recorded<'_>, found: &Located, is_full: bool) -> String {
    let files = Files::new(recorded.program);
    let lines = ranked(recorded, found, shown(is_full));
    let of = lines.len().max(1) as f64;
    let result = |line: &RankedLine<'_>| {
        json!({
            "ruleId": LOCATED_RULE,
            "ruleIndex": 0,
            "level": if line.rank == 1 { "warning" } else { "note" },
            "rank": 100.0 * (1.0 - (line.rank - 1) as f64 / of),
            "message": { "text": format!("rank {}: {}", line.rank, line.remark) },
            "locations": [{
                "physicalLocation": {
                    "artifactLocation": files.artifact(&line.file.shown),
                    "region": { "startLine": line.line },
                },
                "logicalLocations": [{ "name": line.function, "kind": "function" }],
            }],
        })
    };
    let results = lines.iter().filter(|line| line.line > 0).map(result).collect();
    let rule = rule(
        LOCATED_RULE,
        "LocatedLine",
        "A line where one change makes a failing run right, or one that is worth a look after them.",
        "Found by running the program again with one decision taken the other way, or one statement left out. It is not \
         always the fault.",
    );
    let told = std::iter::once(&found_in_words(found)).chain(&found.warnings).map(notification).collect();
    log(rule, told, results)
}

fn log(rule: Value, notifications: Vec<Value>, results: Vec<Value>) -> String {
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "stripe",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": [rule],
            } },
            "columnKind": "unicodeCodePoints",
            "invocations": [{
                "executionSuccessful": true,
                "toolExecutionNotifications": notifications,
            }],
            "results": results,
        }],
    });
    serde_json::to_string_pretty(&log).expect("a document has text keys only") + "\n"
}

fn rule(id: &str, name: &str, short: &str, full: &str) -> Value {
    json!({
        "id": id,
        "name": name,
        "shortDescription": { "text": short },
        "fullDescription": { "text": full },
    })
}

fn notifications(all: &[Compared<'_>]) -> Vec<Value> {
    let warnings = all.iter().flat_map(|one| &one.slice.warnings);
    // Warnings about all of them are written once.
    let warnings: std::collections::BTreeSet<&String> = warnings.collect();
    warnings.into_iter().map(notification).collect()
}

fn notification(text: &String) -> Value {
    json!({ "level": "warning", "message": { "text": text } })
}

fn result(recorded: Recorded<'_>, one: &Compared<'_>) -> Value {
    let slice = one.slice;
    let name = if one.has_name() { format!("{}: ", one.name) } else { String::new() };
    let events = needed::events(recorded, slice).take(MOST_STEPS);
    let files = Files::new(recorded.program);
    let steps: Vec<Value> = events.filter_map(|event| files.step(&event)).collect();
    // The last needed event is the nearest to where the failure shows.
    let last: Vec<Value> = steps.last().map(|step| step["location"].clone()).into_iter().collect();
    let mut result = json!({
        "ruleId": RULE,
        "ruleIndex": 0,
        "level": "warning",
        "message": { "text": format!("{name}Failure: {}. {}", slice.question.criterion, verdict(slice)) },
        "locations": last,
        "properties": {
            "status": spelling::status(slice.status),
            "events": json::events(slice),
            "tests": json::tests(slice),
        },
    });
    // A thread flow must not be empty.
    if !steps.is_empty() {
        let flow = json!({ "message": { "text": told(slice.needed.len()) }, "locations": steps });
        result["codeFlows"] = json!([{ "threadFlows": [flow] }]);
    }
    result
}

/// The message of the flow.
fn told(events: usize) -> String {
    match events.checked_sub(MOST_STEPS) {
        None | Some(0) => "The needed events in order.".to_owned(),
        Some(more) => format!("The first {MOST_STEPS} needed events in order; {more} more follow."),
    }
}

/// Finds the file of an event's place.
struct Files<'a>(std::collections::HashMap<&'a str, &'a File>);

impl<'a> Files<'a> {
    fn new(program: &'a Program) -> Files<'a> {
        Files(program.files().iter().map(|file| (file.shown.as_str(), file)).collect())
    }

    /// A step of the flow; none for code that the compiler gives no line.
    fn step(&self, event: &NeededEvent<'_>) -> Option<Value> {
        let place = &event.place;
        if place.line == 0 {
            return None;
        }
        let mut region = json!({ "startLine": place.line });
        if place.column > 0 {
            region["startColumn"] = json!(place.column);
        }
        let why = event.without.as_ref().map(|seen| format!("; without it: {}", seen.why));
        let text = format!("needed ({}){}", event.needed, why.unwrap_or_default());
        Some(json!({
            "executionOrder": place.event,
            "importance": if event.needed == "effect" { "essential" } else { "important" },
            "location": {
                "physicalLocation": { "artifactLocation": self.artifact(place.file), "region": region },
                "logicalLocations": [{ "name": place.function, "kind": "function" }],
                "message": { "text": text },
            },
        }))
    }

    /// The URI of a file. Relative where users know the file by a relative path: consumers look for it
    /// below the sources.
    fn artifact(&self, shown: &str) -> Value {
        match self.0.get(shown) {
            Some(file) if Path::new(shown).is_absolute() => json!({ "uri": uri::absolute(&file.path) }),
            _ => json!({ "uri": uri::relative(shown) }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::{Sample, alone};
    use super::*;

    fn log(line: u32) -> Value {
        let sample = Sample::sum_mul();
        let mut result = sample.slice(&sample.omittable(line), &[]);
        result.warnings = vec!["a budget ended the search".into()];
        serde_json::from_str(&slices(sample.recorded(), &alone(&result))).unwrap()
    }

    #[test]
    fn the_thread_flow_is_the_slice_in_order() {
        let log = log(11);
        let steps = &log["runs"][0]["results"][0]["codeFlows"][0]["threadFlows"][0]["locations"];
        let order: Vec<&Value> =
            steps.as_array().unwrap().iter().map(|step| &step["executionOrder"]).collect();
        assert_eq!(order, [9, 13, 17, 21, 25, 29]);
        let place = &steps[0]["location"]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "sum-mul.c");
        assert_eq!(place["region"], json!({"startLine": 11, "startColumn": 19}));
        assert_eq!(steps[0]["location"]["message"]["text"], "needed (effect); without it: no output");
    }

    #[test]
    fn warnings_are_notifications_and_numbers_are_those_of_the_json() {
        let log = log(11);
        let invocation = &log["runs"][0]["invocations"][0];
        let text = &invocation["toolExecutionNotifications"][0]["message"]["text"];
        assert_eq!(text, "a budget ended the search");
        assert_eq!(log["runs"][0]["results"][0]["properties"]["events"]["kept"], 6);
    }

    #[test]
    fn each_of_several_criteria_is_a_result() {
        let sample = Sample::sum_mul();
        let mut result = sample.slice(&sample.omittable(6), &[]);
        result.warnings = vec!["a budget ended the search".into()];
        let all = ["a", "b"].map(|name| Compared { name, is_wrong: false, slice: &result });
        let log: Value = serde_json::from_str(&slices(sample.recorded(), &all)).unwrap();
        let run = &log["runs"][0];
        let told = |number: usize| run["results"][number]["message"]["text"].as_str().unwrap();
        assert!(told(0).starts_with("a: Failure: ") && told(1).starts_with("b: Failure: "));
        assert_eq!(run["invocations"][0]["toolExecutionNotifications"].as_array().unwrap().len(), 1);
    }

    #[test]
    fn a_flow_that_is_cut_says_so() {
        assert_eq!(told(10_000), "The needed events in order.");
        assert_eq!(told(10_001), "The first 10000 needed events in order; 1 more follow.");
    }

    #[test]
    fn a_slice_of_nothing_has_no_flow() {
        assert!(log(99)["runs"][0]["results"][0].get("codeFlows").is_none());
    }
}
