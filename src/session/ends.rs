//! Confirm the two versions before anything is searched: one works, and the other one shows the failure.

use std::time::Duration;

use dd::Outcome;
use tracer::invocation::Limits;
use tracer::run::{Run, Usage};
use tracer::termination::Termination;

use super::change_request::{ChangesRequest, Judgement};
use super::error::{Cause, SessionError};
use super::interrupt::Interrupt;
use super::simplify::patient_limits_of;
use super::versions::Versions;
use crate::circumstances::change::{
    ChangeTestSetup, ChangeWorker, Examination, Inconsistency, Judge, Overlay,
};
use crate::oracle::{Criterion, WantedCrash, message};

/// The limit of time of a build or a test without a limit of the user's.
const LONGEST: Duration = Duration::from_secs(1800);

/// The evidence of both versions.
pub(super) struct Ends {
    /// A description, in words, of the tests that show the failure.
    pub(super) criterion: String,
    /// The outcome of the test of the failing version, in words.
    pub(super) shown: String,
}

/// The limits of the first builds and tests.
pub(super) fn first_limits(asked: Option<Duration>) -> Limits {
    patient_limits_of(asked.unwrap_or(LONGEST))
}

/// Builds and tests both versions, and derives the limits of further tests from them.
pub(super) fn confirm<'p>(
    request: &ChangesRequest,
    versions: &Versions,
    setup: &mut ChangeTestSetup<'p>,
    worker: &mut ChangeWorker<'p>,
    interrupt: &Interrupt,
) -> Result<Ends, SessionError> {
    let overlay = versions.good.overlay_to(&versions.bad);
    let stop = interrupt.flag();
    let criterion = match &request.judgement {
        Judgement::Command => "the test exits with 1 to 124".to_owned(),
        Judgement::Program(criterion) => {
            let seen = setup.examine_clean(&overlay, worker, &stop).map_err(|error| interrupt.or(error))?;
            if seen.inconsistency.is_none() {
                judged(setup, (**criterion).clone(), &seen.run)?
            } else {
                String::new()
            }
        }
    };
    let mut see = |overlay: &Overlay| -> Result<_, SessionError> {
        let seen = setup.counted(overlay, worker, &stop).map_err(|error| interrupt.or(error))?;
        if interrupt.is_asked() {
            return Err(interrupt.or(SessionError::new(Cause::Failed, "interrupted")));
        }
        Ok(seen)
    };
    let (good, bad) = (see(&Overlay::new())?, see(&overlay)?);
    check(request, &good, &bad)?;
    let of_test = |place: usize| [&good, &bad].map(|seen| seen.usage[place]);
    if request.build_timeout.is_none() {
        setup.build_limits = limits(of_test(0));
    }
    if request.timeout.is_none() {
        setup.test_limits = limits(of_test(1));
    }
    Ok(Ends { criterion, shown: bad.evidence.why.clone() })
}

/// The limits of further tests: generously more than both versions have needed, above all of processor
/// time, which does not depend on the load of the machine.
fn limits(needed: [Option<Usage>; 2]) -> Limits {
    let most = |of: fn(&Usage) -> Duration| needed.iter().flatten().map(of).max().unwrap_or(LONGEST);
    let (wall, cpu) = (most(|usage| usage.wall), most(|usage| usage.cpu));
    Limits {
        cpu: (10 * cpu).max(Duration::from_secs(2)),
        wall: (20 * wall).clamp(Duration::from_secs(20), 2 * LONGEST),
        idle: (4 * wall).clamp(Duration::from_secs(2), LONGEST),
        ..first_limits(None)
    }
}

/// Builds an oracle from the user's criterion, or from what a run shows; with its description.
fn judged(
    setup: &mut ChangeTestSetup<'_>,
    criterion: Option<Criterion>,
    run: &Run,
) -> Result<String, SessionError> {
    let mut criterion = match criterion {
        Some(criterion) => criterion,
        None => of_run(run)?,
    };
    // In another version the same instruction has another address.
    let signal = criterion.signal.take();
    if signal.is_some() {
        criterion.crash = Some(WantedCrash::Any);
    }
    let oracle = criterion.oracle(run)?;
    let told = match signal {
        Some(signal) => format!("{} ({})", oracle.describe(), tracer::termination::signal_name(signal)),
        None => oracle.describe(),
    };
    setup.judge = Judge::Program { oracle: Box::new(oracle), signal };
    Ok(told)
}

/// The criterion of a failing run that can be recognised as failing without the user's help.
fn of_run(run: &Run) -> Result<Criterion, SessionError> {
    let refuse = |what: String| {
        let remedy = "say what the failure is: --expect-output, --expect-match, --expect-exit, --expect-signal or --check";
        Err(SessionError::new(Cause::NotReproduced, format!("--bad: {what}: {remedy}")))
    };
    match &run.termination {
        Termination::Crashed(crash) => Ok(Criterion { signal: Some(crash.signal), ..Criterion::default() }),
        Termination::Exited(0) => {
            refuse("the program ends with exit status 0, which is no failure by itself".into())
        }
        Termination::Exited(status) => {
            Ok(Criterion { exit: Some(*status), message: message(&run.stderr), ..Criterion::default() })
        }
        _ => refuse("the program does not end".into()),
    }
}

/// Checks that the version that is said to work passes, and that the other one fails.
fn check(request: &ChangesRequest, good: &Examination, bad: &Examination) -> Result<(), SessionError> {
    let name = |name: &std::ffi::OsString| name.to_string_lossy().into_owned();
    let (good_name, bad_name) =
        (format!("--good {}", name(&request.good)), format!("--bad {}", name(&request.bad)));
    let refuse = |cause, why: String| Err(SessionError::new(cause, why));
    let does_not_build = |seen: &Examination| seen.inconsistency == Some(Inconsistency::Construction);
    let remedy = "try the command of --build in a clean copy: without a network, and writing in its tree only; --allow \
                  and --allow-write permit more, --build-timeout gives it more time";
    match (good.evidence.outcome, bad.evidence.outcome) {
        (Outcome::Pass, Outcome::Fail) => Ok(()),
        _ if does_not_build(good) && does_not_build(bad) => {
            refuse(Cause::Failed, format!("neither version builds: {}; {remedy}", good.evidence.why))
        }
        _ if does_not_build(good) => {
            refuse(Cause::Failed, format!("{good_name} does not build: {}; {remedy}", good.evidence.why))
        }
        _ if does_not_build(bad) => refuse(
            Cause::Failed,
            format!(
                "{bad_name} does not build, so that it cannot show the failure: {}; {remedy}",
                bad.evidence.why
            ),
        ),
        (Outcome::Unresolved, _) | (_, Outcome::Unresolved) => {
            let (name, seen) = if good.evidence.outcome == Outcome::Unresolved {
                (good_name, good)
            } else {
                (bad_name, bad)
            };
            let why = format!(
                "{name} neither passes nor fails: {}; a test exits with 0 if the version works, and with 1 to 124 if it \
                 does not, each time the same",
                seen.evidence.why
            );
            refuse(Cause::Flaky, why)
        }
        (Outcome::Fail, Outcome::Pass) => refuse(
            Cause::NotReproduced,
            format!("{good_name} shows the failure and {bad_name} does not: exchange the two versions"),
        ),
        (Outcome::Fail, _) => refuse(
            Cause::NotReproduced,
            format!(
                "{good_name} shows the failure as well: {}; name an older version, or one in which it works",
                good.evidence.why
            ),
        ),
        (_, _) => refuse(
            Cause::NotReproduced,
            format!(
                "{bad_name} works as well: {}; make the test ask for what is wrong with it",
                bad.evidence.why
            ),
        ),
    }
}
