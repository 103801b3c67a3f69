//! Write which changes of a failing run have made its output right as a document of the schema `stripe.locate/1`.

use serde::Serialize;

use super::json::seconds;
use super::located::{outcome, value_word};
use super::schema::VERSION;
use super::spelling;
use crate::circumstances::Status;
use crate::locate::{CandidateKind, FurtherTests, Granule, LineRank, RankReason};
use crate::session::located::Located;
use crate::subject::Recorded;

/// The name and version of the document.
const LOCATE: &str = "stripe.locate/1";

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    version: &'static str,
    status: &'static str,
    containment: &'static str,
    runs: Runs,
    studied: Option<&'a str>,
    tests: Tests,
    lines: Vec<Line<'a>>,
    seconds: f64,
    warnings: &'a [String],
}

#[derive(Serialize)]
struct Runs {
    /// The number of runs that were made, on further tests too.
    made: u64,
    possible: usize,
    total: usize,
    right: usize,
    nearer: usize,
    /// The number of changes that make the output right only with what happens to lie in undefined memory.
    undefined: usize,
    /// The number of changes that make the output right but for white space.
    only_space: usize,
    outputs: usize,
}

/// The further tests: their numbers, and the number of changes that were tried on them.
#[derive(Serialize)]
struct Tests {
    failing: usize,
    passing: usize,
    failing_tried: usize,
    passing_tried: usize,
}

#[derive(Serialize)]
struct Line<'a> {
    rank: usize,
    ties: usize,
    file: &'a str,
    line: u32,
    function: &'a str,
    why: &'static str,
    /// Its last execution before the first wrong byte, or else its last one.
    last_event: u32,
    plausible: bool,
    ochiai: Option<f64>,
    /// The number of lines from it to the nearest one of its file whose change helps best.
    distance: Option<u32>,
    repairs: Vec<Repair<'a>>,
}

#[derive(Serialize)]
struct Repair<'a> {
    kind: &'static str,
    /// Only of a value: what is written.
    value: Option<String>,
    event: Option<u32>,
    occurrence: Option<u32>,
    file: &'a str,
    line: u32,
    column: u32,
    /// The address of the change, as in the file.
    address: String,
    outcome: &'static str,
    only_space: bool,
    /// Its effect on the further tests, if it was tried on them.
    tests: Option<RepairTests>,
}

#[derive(Serialize)]
struct RepairTests {
    failing_right: usize,
    passing_wrong: usize,
}

/// The ranking as a document of the schema `stripe.locate/1`.
pub fn json(recorded: Recorded<'_>, found: &Located) -> String {
    let (total, right, nearer) = found.counts();
    let document = Document {
        schema: LOCATE,
        version: VERSION,
        status: if found.status == Status::Minimal { "complete" } else { spelling::status(found.status) },
        containment: spelling::containment(&found.containment),
        runs: Runs {
            made: found.runs,
            possible: found.candidates.len(),
            total,
            right,
            nearer,
            undefined: found.by_undefined_memory(),
            only_space: found.only_space(),
            outputs: found.outputs,
        },
        studied: found.studied.as_deref(),
        tests: tests(&found.tests),
        lines: found.ranking.lines.iter().map(|line| line_document(recorded, found, line)).collect(),
        seconds: seconds(found.elapsed),
        warnings: &found.warnings,
    };
    serde_json::to_string_pretty(&document).expect("a document has text keys only") + "\n"
}

fn tests(tests: &FurtherTests) -> Tests {
    let others = tests.coverage.get(1..).unwrap_or_default();
    let failing = others.iter().filter(|test| test.fails).count();
    Tests {
        failing,
        passing: others.len() - failing,
        failing_tried: tests.failing,
        passing_tried: tests.passing,
    }
}

fn line_document<'a>(recorded: Recorded<'a>, found: &Located, line: &LineRank) -> Line<'a> {
    let program = recorded.program;
    Line {
        rank: line.rank,
        ties: line.ties,
        file: &program.file(line.file).shown,
        line: line.line,
        function: &program.function_of(recorded.trace.leader(line.last)).name,
        why: why(line.reason),
        last_event: line.last.time(),
        plausible: line.is_plausible,
        ochiai: line.suspicion.map(|suspicion| suspicion.value()),
        distance: line.distance,
        repairs: line.repairs.iter().map(|&number| repair(recorded, found, number)).collect(),
    }
}

/// The reason for a line's rank, in the JSON and in tables.
pub(super) fn why(reason: RankReason) -> &'static str {
    match reason {
        RankReason::FlipRepairs => "flip repairs",
        RankReason::OmissionRepairs => "omission repairs",
        RankReason::ValueRepairs => "value repairs",
        RankReason::UndefinedRepairs => "undefined memory repairs",
        RankReason::Nearer => "nearer",
        RankReason::Before => "executed before the first wrong byte",
        RankReason::After => "executed after the first wrong byte",
    }
}

fn repair<'a>(recorded: Recorded<'a>, found: &Located, number: usize) -> Repair<'a> {
    let candidate = &found.candidates[number];
    let statement = candidate.statement(recorded);
    let event = match candidate.granule {
        Granule::Execution(_, event) => Some(event.time()),
        Granule::Statement => None,
    };
    Repair {
        kind: match candidate.kind {
            CandidateKind::Flip => "flip",
            CandidateKind::Always => "always",
            CandidateKind::Never => "never",
            CandidateKind::Omit => "omit",
            CandidateKind::Value => "value",
        },
        value: value_word(candidate.intervention.change),
        event,
        occurrence: found.execution(number),
        file: &recorded.program.file(statement.file).shown,
        line: statement.line,
        column: statement.column,
        address: candidate.intervention.place.address.to_string(),
        outcome: outcome(found, number),
        only_space: found.effects[number].is_some_and(|effect| effect.only_space),
        tests: found.on_tests[number]
            .map(|with| RepairTests { failing_right: with.repaired, passing_wrong: with.broken }),
    }
}
