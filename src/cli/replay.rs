//! `stripe replay`: one partial execution, with its output and its outcome.

use std::io::{Write, stderr};
use std::sync::atomic::AtomicU64;

use tracer::Processors;
use tracer::Tracer;
use tracer::schedule::{Control, Schedule};

use super::bounds::bounds;
use super::choices::SingleControl;
use super::exit::{Exit, Failure};
use super::interrupt::Interrupt;
use super::options::ReplayOptions;
use super::permissions::openings;
use super::run::{demands, establish, limits, preference};
use super::target::{Target, criterion};
use super::values::EventList;
use crate::circumstances::{EventTest, Laboratory, Universe};
use crate::dd::Outcome;
use crate::report::words;
use crate::slice::Recorded;

/// Does it.
pub(super) fn replay(options: ReplayOptions) -> Result<Exit, Failure> {
    let preference = preference(options.target.engine)?;
    let interrupt = Interrupt::default();
    let mut criterion = criterion(&options.oracle)?;
    let mut target = Target::new(&options.target, &interrupt)?;
    target.conditions.limits = bounds(&options.target, &criterion);
    Processors::available().bind(0);
    let mut tracer = Tracer::new(&target.program, &target.invocation, preference)?;
    let demands = demands(options.poison, &criterion);
    let baseline = establish(&target, &mut tracer, &demands, &interrupt)?;
    let recorded = Recorded { program: &target.program, trace: &baseline.recording.trace };
    criterion.locate(recorded);
    let oracle = criterion.oracle(&baseline.recording.run).map_err(Failure::of(Exit::NotReproduced))?;
    let control = match options.control {
        SingleControl::Program => Control::Program,
        SingleControl::Trace => Control::Trace,
    };
    let universe = Universe::new(recorded.program, recorded.trace, control);
    let schedule = schedule(&universe, recorded, options.omit, options.keep)?;
    let laboratory = Laboratory {
        recorded,
        oracle: &oracle,
        patterns: &baseline.patterns,
        limits: limits(&baseline, options.target.timeout),
        runs: &AtomicU64::new(0),
        memo: None,
        outputs: None,
    };
    let (run, evidence) = EventTest::new(&laboratory, &universe, &mut tracer).examine(&schedule)?;
    super::print(&run.stdout)?;
    let mut stderr = stderr().lock();
    let _ = stderr.write_all(&run.stderr);
    let executed = schedule.kept().count();
    let why = match evidence.outcome {
        Outcome::Fail => String::new(),
        Outcome::Pass | Outcome::Unresolved => format!(": {}", evidence.why),
    };
    let _ = writeln!(
        stderr,
        "stripe: {}{why} ({executed} of {} events executed, {})",
        words::outcome(evidence.outcome),
        recorded.trace.len(),
        words::contained(&tracer.containment())
    );
    for warning in openings(&target.invocation.permissions) {
        let _ = writeln!(stderr, "stripe: warning: {warning}");
    }
    Ok(match evidence.outcome {
        Outcome::Fail => Exit::Done,
        Outcome::Pass => Exit::Failed,
        Outcome::Unresolved => Exit::Unresolved,
    })
}

/// The schedule that the user asks for; events that cannot be omitted stay.
fn schedule(
    universe: &Universe,
    recorded: Recorded<'_>,
    omit: Option<EventList>,
    keep: Option<EventList>,
) -> Result<Schedule, Failure> {
    let (list, kept) = match (omit, keep) {
        (_, Some(keep)) => (keep, true),
        (omit, None) => (omit.unwrap_or_default(), false),
    };
    let last = recorded.trace.len() as u32;
    if let Some(range) = list.0.iter().find(|range| *range.end() > last) {
        return Err(Failure::new(
            Exit::Usage,
            format!(
                "there is no event {}: this run has events 1 to {last}; `stripe trace` lists them",
                range.end()
            ),
        ));
    }
    let chosen = recorded
        .trace
        .events()
        .filter(|event| list.0.iter().any(|range| range.contains(&event.time())) == kept);
    Ok(universe.schedule(&universe.configuration(chosen)))
}
