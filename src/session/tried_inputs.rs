//! Tell what the tests of a simplification have given to the program: of each the pieces of what was given.

use dd::{Configuration, Outcome};

use super::history::History;
use crate::circumstances::input::{InputPiece, PastSteps, Provenance, Provenances};
use crate::simplified::{TriedInput, TriedInputs};

/// So many tests are told of at most, evenly spread.
const MOST_TESTS: usize = 400;

/// Together they may consist of so many pieces.
const MOST_PIECES: usize = 200_000;

/// The inputs that the tests have given, and the provenances of the bytes of the result, if they are known. `found` has
/// the result of each phase.
pub(super) fn tried_inputs(
    history: &History,
    steps: &PastSteps,
    found: &[&Configuration],
) -> (TriedInputs, Option<Provenances>) {
    let mut tests = Vec::new();
    let mut before = Some(steps.start());
    for (phase, chosen) in found.iter().enumerate() {
        let Some(start) = &before else { break };
        let begun = |phase: usize| history.begun().get(phase).map(|(before, _)| *before);
        let first = begun(phase).unwrap_or(history.tests().len());
        let end = begun(phase + 1).unwrap_or(history.tests().len());
        for (number, test) in (1..).zip(history.tests()).take(end).skip(first) {
            let Some(configuration) = &test.configuration else { continue };
            let Some(given) = steps.after(phase, configuration, start) else { continue };
            tests.push(TriedInput { number, outcome: test.outcome, why: test.why.clone(), given });
        }
        before = steps.after(phase, chosen, start);
    }
    let phases = history.begun().to_vec();
    let curve = curve(&tests, steps.start().iter().flatten().map(Provenance::len).sum());
    let tried = TriedInputs { total: history.tests().len(), phases, curve, tests: thinned(tests) };
    (tried, before)
}

/// The number of bytes left, from all on, after each test that shows the failure with less than those before.
fn curve(tests: &[TriedInput], all: usize) -> Vec<(usize, usize)> {
    let mut curve = vec![(0, all)];
    for test in tests.iter().filter(|test| test.outcome == Outcome::Fail) {
        let bytes = test.bytes();
        if curve.last().is_none_or(|(_, least)| bytes < *least) {
            curve.push((test.number, bytes));
        }
    }
    curve
}

/// As many tests as there is room for.
fn thinned(tests: Vec<TriedInput>) -> Vec<TriedInput> {
    let pieces = |test: &TriedInput| -> usize {
        test.given.iter().flatten().map(|part| part.pieces.iter().map(weight).sum::<usize>()).sum()
    };
    let all: usize = tests.iter().map(pieces).sum();
    let stride = tests.len().div_ceil(MOST_TESTS).max(all.div_ceil(MOST_PIECES)).max(1);
    tests.into_iter().step_by(stride).collect()
}

/// The weight of a piece: bytes that are not in the original have to be written out.
fn weight(piece: &InputPiece) -> usize {
    match piece {
        InputPiece::Kept(_) => 1,
        InputPiece::Other(text) => 1 + text.len() / 8,
    }
}
