//! `stripe replay --flip` and the like: one run with chosen changes, after which the program goes its own way.

use std::collections::BTreeSet;

use tracer::Tracer;
use tracer::address::FileAddress;
use tracer::intervention::{Alterations, Intervention};
use tracer::invocation::Limits;
use tracer::plain::Runner;

use super::bounds::bounds;
use super::exit::{Exit, Failure};
use super::options::{ReplayOptions, names_run};
use super::replay::{tell, tell_line, tell_openings, worse};
use super::run::preference;
use super::target::{Loaded, criterion};
use crate::baseline::PoisonChoice;
use crate::locate::{Candidate, CandidateKind, changes_of_execution, changes_of_statement};
use crate::oracle::Oracle;
use crate::report::{located, words};
use crate::session::interrupt::Interrupt;
use crate::session::locate::free_limits;
use crate::session::recording::{demands, establish};
use crate::session::reopened::Reopened;
use crate::subject::{Ordinals, PlaceFound, Recorded, Target, Where};
use dd::Outcome;

/// Runs the program with the changes that the options name.
pub(super) fn intervene(options: &ReplayOptions) -> Result<Exit, Failure> {
    let interrupt = Interrupt::default();
    if names_run(&options.target.program) {
        let reopened = Reopened::open(Some(&options.target.program), &interrupt)?;
        reopened.require_same_surroundings()?;
        interrupt.listen()?;
        let subject = reopened.subject();
        let oracles = reopened.questions.iter().map(|question| &question.oracle).collect::<Vec<_>>();
        let limits = free_limits(subject.baseline, None);
        return change(options, (&reopened.target, subject.recorded(), limits), &oracles, &interrupt);
    }
    let mut criterion = criterion(&options.oracle, &interrupt)?;
    let Loaded { mut target, withheld } = Loaded::new(&options.target, &interrupt)?;
    withheld.mention();
    target.conditions.limits = bounds(&options.target, &criterion);
    let mut tracer = Tracer::new(&target.program, &target.invocation, preference(options.target.engine)?)?;
    let baseline = establish(&target, &mut tracer, &demands(PoisonChoice::Off, &criterion), &interrupt)?;
    drop(tracer);
    let recorded = Recorded { program: &target.program, trace: &baseline.recording.trace };
    criterion.locate(recorded);
    let oracle = criterion.oracle(&baseline.recording.run).map_err(Failure::of(Exit::NotReproduced))?;
    let limits = free_limits(&baseline, options.target.world.timeout);
    change(options, (&target, recorded, limits), &[&oracle], &interrupt)
}

fn change(
    options: &ReplayOptions,
    (target, recorded, limits): (&Target, Recorded<'_>, Limits),
    oracles: &[&Oracle],
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let mut changes = Vec::new();
    for (kind, place) in options.intervention.asked() {
        changes.extend(changes_at(recorded, kind, place)?);
    }
    let interventions: Vec<Intervention> = changes.iter().map(|change| change.intervention).collect();
    let mut runner = Runner::new(&target.program, &target.invocation)?;
    let run = runner.run_changed(
        &target.invocation,
        &Alterations::of(&interventions),
        &limits,
        &interrupt.flag(),
    )?;
    super::print(&run.stdout)?;
    tell(&run.stderr);
    for change in &changes {
        tell_line(&format!("stripe: {}", located::change_in_words(recorded, change)));
    }
    let mut exit = Exit::Done;
    for oracle in oracles {
        let evidence = oracle.judge(&run, recorded)?;
        let why =
            if evidence.outcome == Outcome::Fail { String::new() } else { format!(": {}", evidence.why) };
        let contained = words::contained(&runner.containment());
        tell_line(&format!("stripe: {}{why} ({contained})", words::outcome(evidence.outcome)));
        exit = worse(exit, evidence.outcome);
    }
    tell_openings(&target.invocation.permissions, oracles);
    Ok(exit)
}

/// The changes of a kind at a place.
fn changes_at(recorded: Recorded<'_>, kind: CandidateKind, place: &str) -> Result<Vec<Candidate>, Failure> {
    let usage = |message: String| Failure::new(Exit::Usage, message);
    if let Some(address) = place.strip_prefix("0x") {
        return change_of_jump(recorded, kind, address)
            .map(|change| vec![change])
            .ok_or_else(|| usage(format!("{place}: no decision of an executed statement has this address")));
    }
    let wanted = Where::parse(place)?;
    let events = match wanted.find(recorded, &Ordinals::new(recorded))? {
        PlaceFound::Executions(events) => events,
        PlaceFound::Nothing { place, .. } => {
            return Err(usage(format!(
                "{place} was not executed, so that nothing there can be changed; `stripe trace` shows what was"
            )));
        }
    };
    let is_single = matches!(wanted, Where::Event(_) | Where::Line { execution: Some(_), .. });
    let trace = recorded.trace;
    let mut found = Vec::new();
    if let (true, &[event]) = (is_single, &events[..]) {
        let leader = trace.leader(event);
        let number = trace.events().filter(|&other| other <= event && trace.leader(other) == leader).count();
        found.extend(changes_of_execution(recorded, leader, number as u32, event));
    } else {
        let leaders: BTreeSet<_> = events.iter().map(|&event| trace.leader(event)).collect();
        found.extend(leaders.into_iter().flat_map(|leader| changes_of_statement(recorded, leader)));
    }
    found.retain(|change| change.kind == kind);
    match (kind, found.len()) {
        (CandidateKind::Omit, 1..) | (_, 1) => Ok(found),
        (CandidateKind::Always | CandidateKind::Never, 0) if is_single => Err(usage(format!(
            "{place}: a single execution is changed by --flip: it either goes as it went or the other way"
        ))),
        (CandidateKind::Omit, _) => Err(usage(format!(
            "{place}: this cannot be left out: it serves the frame of its function, lies in a library, or no \
             statement follows on every way"
        ))),
        (_, 0) => Err(usage(format!(
            "{place}: no decision of the executable that can be changed alone: name a line with a condition"
        ))),
        _ => Err(usage(several(recorded, place, &found))),
    }
}

/// The change of the conditional jump at an address, given in hexadecimal digits.
fn change_of_jump(recorded: Recorded<'_>, kind: CandidateKind, address: &str) -> Option<Candidate> {
    let address = FileAddress(u64::from_str_radix(address, 16).ok()?);
    let leaders: BTreeSet<_> = recorded.trace.events().map(|event| recorded.trace.leader(event)).collect();
    let mut changes = leaders.into_iter().flat_map(|leader| changes_of_statement(recorded, leader));
    changes.find(|change| change.kind == kind && change.intervention.place.address == address)
}

/// The message that a line has several decisions, with the name of each.
fn several(recorded: Recorded<'_>, place: &str, found: &[Candidate]) -> String {
    let mut columns: Vec<u32> = found.iter().map(|change| change.statement(recorded).column).collect();
    columns.dedup();
    let line = found[0].statement(recorded).line;
    let names: Vec<String> = columns.iter().map(|column| format!("{line}:{column}")).collect();
    match columns.len() {
        1 => {
            let addresses = found.iter().map(|change| change.intervention.place.address.to_string());
            let addresses = addresses.collect::<Vec<_>>().join(", ");
            format!(
                "{place}: this statement has {} decisions: name one by its address, {addresses}",
                found.len()
            )
        }
        _ => format!("{place} has {} decisions: name one by its column, {}", found.len(), names.join(", ")),
    }
}
