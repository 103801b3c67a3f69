//! Run the further tests of a program unchanged: which of them fail, and which statements each executes.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use tracer::Bytes;
use tracer::intervention::Alterations;
use tracer::invocation::{Input, Invocation, Limits};
use tracer::plain::Runner;
use tracer::program::Statement;
use tracer::run::Run;

use super::coverage::{Covered, cover};
use super::error::SessionError;
use super::interrupt::Interrupt;
use super::listener::Listener;
use super::locate_attempts::changed_limits;
use crate::baseline::Ending;
use crate::locate::{Correct, EffectKind, Spacing, Trials};
use crate::subject::Target;

/// A further test.
#[derive(Clone, Debug)]
pub struct LocateTest {
    /// Its name.
    pub name: String,
    /// The arguments, without the program's name.
    pub arguments: Vec<String>,
    /// The standard input.
    pub stdin: Input,
    /// The correct output, if it is known.
    pub reference: Option<Bytes>,
    /// The expected verdict: whether it is said to pass.
    pub passes: Option<bool>,
}

/// A test that was run as it is.
pub(super) struct Tried {
    pub(super) name: String,
    pub(super) invocation: Invocation,
    /// The correct output, if that is known.
    pub(super) correct: Option<Correct>,
    pub(super) fails: bool,
    /// The statements that it executes.
    pub(super) statements: BTreeSet<Statement>,
    /// True if the run differs from what would be right, and in white space only.
    pub(super) only_space: bool,
    /// The run without a change.
    pub(super) unchanged: Run,
    /// The limits of a run with a change.
    pub(super) limits: Limits,
}

/// The oracles of tests.
pub(super) struct TestOracles<'j> {
    pub(super) target: &'j mut Target,
    /// The command that judges tests without a reference.
    pub(super) check: Option<&'j Correct>,
    /// Whether white space counts.
    pub(super) spacing: Spacing,
    pub(super) timeout: Option<Duration>,
    pub(super) interrupt: &'j Interrupt,
    pub(super) listener: &'j dyn Listener,
}

impl TestOracles<'_> {
    /// Runs each test; with a sentence about each that cannot be used.
    pub(super) fn try_all(
        &mut self,
        tests: &[LocateTest],
    ) -> Result<(Vec<Tried>, Vec<String>), SessionError> {
        let (mut tried, mut warnings) = (Vec::new(), Vec::new());
        for test in tests {
            match self.try_one(test) {
                Ok(one) => {
                    warnings.extend(contradiction(test, &one));
                    warnings.extend(only_space(&one));
                    tried.push(one);
                }
                Err(_) if self.interrupt.is_asked() => {
                    return Err(self.interrupt.or(SessionError::new(super::Cause::Failed, "interrupted")));
                }
                Err(error) => warnings.push(format!("the test {} is left out: {error}", test.name)),
            }
        }
        if !tests.is_empty() {
            let failing = tried.iter().filter(|test| test.fails).count();
            self.listener.tell(&format!("{} tests, {failing} of them fail", tried.len()));
        }
        Ok((tried, warnings))
    }

    fn try_one(&mut self, test: &LocateTest) -> Result<Tried, SessionError> {
        let own = &mut self.target.invocation;
        own.arguments.truncate(1);
        own.arguments.extend(test.arguments.iter().map(Into::into));
        own.stdin = test.stdin.clone();
        let Covered { run, statements, limits, endless, .. } =
            cover(self.target, Ending::Itself, self.interrupt)?;
        let output = |output| Correct::Output(output, self.spacing);
        let known = test.reference.clone().map(output).or_else(|| self.check.cloned());
        let effect = known.as_ref().map(|correct| Trials::new(correct, &run).judge(&run)).transpose()?;
        let fails = match effect {
            Some(effect) => effect.kind != EffectKind::Right,
            None => test.passes == Some(false),
        };
        // The output of a passing test is right.
        let correct = known.or_else(|| (!fails).then(|| output(run.stdout.clone())));
        Ok(Tried {
            name: test.name.clone(),
            invocation: self.target.invocation.clone(),
            correct,
            fails,
            only_space: effect.is_some_and(|effect| effect.only_space),
            statements,
            limits: changed_limits(&run, endless, limits, self.timeout),
            unchanged: run,
        })
    }
}

/// A sentence, if a test contradicts its expected verdict.
fn contradiction(test: &LocateTest, tried: &Tried) -> Option<String> {
    let name = &test.name;
    match (test.passes?, tried.fails) {
        (true, true) => {
            Some(format!("the test {name} is said to pass, and fails: it counts as a failing one"))
        }
        (false, false) => {
            Some(format!("the test {name} is said to fail, and passes: it counts as a passing one"))
        }
        _ => None,
    }
}

/// A sentence, if white space alone decides whether a test passes.
fn only_space(tried: &Tried) -> Option<String> {
    let name = &tried.name;
    match (tried.only_space, tried.fails) {
        (false, _) => None,
        (true, true) => Some(format!(
            "the test {name} fails by white space alone; with --ignore-space it counts as a passing one"
        )),
        (true, false) => Some(format!("the test {name} passes but for white space, which is ignored")),
    }
}

impl Tried {
    /// True if it starts the program with the same input and arguments as `invocation`.
    pub(super) fn is_same_run(&self, invocation: &Invocation) -> bool {
        self.invocation.arguments == invocation.arguments && self.invocation.stdin[..] == invocation.stdin[..]
    }

    /// True if it prints the same without the tracer as with it.
    pub(super) fn is_steady(
        &self,
        runner: &mut Runner<'_>,
        stop: &Arc<AtomicBool>,
    ) -> Result<bool, SessionError> {
        let run = runner.run_changed(&self.invocation, &Alterations::of(&[]), &self.limits, stop)?;
        Ok(run.stdout == self.unchanged.stdout)
    }
}
