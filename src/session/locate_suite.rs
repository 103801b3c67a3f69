//! Find out which run is under study, what would be right there, and which tests stand beside it.

use super::error::{Cause, SessionError};
use super::interrupt::Interrupt;
use super::listener::Listener;
use super::locate_tests::{TestOracles, Tried};
use super::located::LocateRequest;
use crate::locate::Correct;

/// The correct output of the run under study, and the further tests.
pub(super) struct Suite {
    pub(super) correct: Correct,
    /// The test that is the run under study.
    pub(super) studied: Option<String>,
    pub(super) tests: Vec<Tried>,
    pub(super) warnings: Vec<String>,
}

/// Runs the tests. Without a correct output the first failing one becomes the run under study.
pub(super) fn suite(
    request: &mut LocateRequest,
    interrupt: &Interrupt,
    listener: &dyn Listener,
) -> Result<Suite, SessionError> {
    let given = request.target.invocation.clone();
    let check = request.correct.clone().filter(|correct| matches!(correct, Correct::Check(_)));
    let mut oracles = TestOracles {
        target: &mut request.target,
        check: check.as_ref(),
        spacing: request.spacing,
        timeout: request.timeout,
        interrupt,
        listener,
    };
    let (mut tests, warnings) = oracles.try_all(&request.tests)?;
    request.target.invocation = given;
    let Some(correct) = request.correct.clone() else {
        let is_fit = |test: &Tried| test.fails && test.correct.is_some();
        let Some(first) = tests.iter().position(is_fit) else {
            let why = "no test fails whose correct output is known: give --reference, or a failing test with a `reference`";
            let told = warnings.iter().map(|warning| format!("; {warning}")).collect::<String>();
            return Err(SessionError::new(Cause::NotReproduced, format!("{why}{told}")));
        };
        let Tried { name, invocation, correct, .. } = tests.remove(first);
        request.target.invocation = invocation;
        let correct = correct.expect("that is what was looked for");
        request.tests.retain(|test| test.name != name);
        tests.retain(|test| !test.is_same_run(&request.target.invocation));
        return Ok(Suite { correct, studied: Some(name), tests, warnings });
    };
    tests.retain(|test| !test.is_same_run(&request.target.invocation));
    Ok(Suite { correct, studied: None, tests, warnings })
}
