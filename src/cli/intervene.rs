//! `stripe replay --flip` and the like: one run with chosen changes, after which the program goes its own way.

use std::collections::BTreeSet;

use tracer::Tracer;
use tracer::address::FileAddress;
use tracer::intervention::{Alterations, Intervention, NewValue};
use tracer::invocation::Limits;
use tracer::plain::Runner;
use tracer::program::LeaderId;
use tracer::run::Run;

use super::bounds::bounds;
use super::exit::{Exit, Failure};
use super::options::{ReplayOptions, names_run};
use super::replay::{tell, tell_line, tell_openings, worse};
use super::run::preference;
use super::target::{Loaded, criterion};
use crate::baseline::PoisonChoice;
use crate::locate::{
    Candidate, CandidateKind, changes_of_execution, changes_of_statement, values_of_execution,
    values_of_statement,
};
use crate::oracle::Oracle;
use crate::report::{located, words};
use crate::session::interrupt::Interrupt;
use crate::session::locate_resume::KeptLocated;
use crate::session::locate_work::free_limits;
use crate::session::recording::{demands, establish};
use crate::session::reopened::Reopened;
use crate::subject::{Ordinals, PlaceFound, Recorded, Target, Where, reached};
use dd::Outcome;

/// Runs the program with the changes that the options name.
pub(super) fn intervene(options: &ReplayOptions) -> Result<Exit, Failure> {
    let interrupt = Interrupt::default();
    if names_run(&options.target.program) {
        if let Some(kept) = KeptLocated::open(Some(&options.target.program), &interrupt)? {
            return intervene_in_located(options, &kept, &interrupt);
        }
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

/// Changes a kept run of `stripe locate`, and judges it as that does: the failure is that the output is not right.
fn intervene_in_located(
    options: &ReplayOptions,
    kept: &KeptLocated,
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    kept.require_same_surroundings()?;
    interrupt.listen()?;
    let case = (&kept.target, kept.recorded(), kept.limits());
    let (run, contained) = changed(options, case, interrupt)?;
    let effect = kept.judge(&run)?;
    let (outcome, why) = located::outcome_of(effect);
    tell_line(&format!("stripe: {}: {why} ({contained})", words::outcome(outcome)));
    tell_openings(&kept.target.invocation.permissions, &[]);
    Ok(worse(Exit::Done, outcome))
}

fn change(
    options: &ReplayOptions,
    (target, recorded, limits): (&Target, Recorded<'_>, Limits),
    oracles: &[&Oracle],
    interrupt: &Interrupt,
) -> Result<Exit, Failure> {
    let (run, contained) = changed(options, (target, recorded, limits), interrupt)?;
    let mut exit = Exit::Done;
    for oracle in oracles {
        let evidence = oracle.judge(&run, recorded)?;
        let why =
            if evidence.outcome == Outcome::Fail { String::new() } else { format!(": {}", evidence.why) };
        tell_line(&format!("stripe: {}{why} ({contained})", words::outcome(evidence.outcome)));
        exit = worse(exit, evidence.outcome);
    }
    tell_openings(&target.invocation.permissions, oracles);
    Ok(exit)
}

/// Runs the program with the changes that the options name, and prints what it prints, and what was changed; returns the
/// run, and how it was contained.
fn changed(
    options: &ReplayOptions,
    (target, recorded, limits): (&Target, Recorded<'_>, Limits),
    interrupt: &Interrupt,
) -> Result<(Run, String), Failure> {
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
    Ok((run, words::contained(&runner.containment())))
}

/// The changes of a kind at a place.
fn changes_at(recorded: Recorded<'_>, kind: CandidateKind, place: &str) -> Result<Vec<Candidate>, Failure> {
    let usage = |message: String| Failure::new(Exit::Usage, message);
    let (place, value) = match kind {
        CandidateKind::Value => written(place)?,
        _ => (place, None),
    };
    let all_of = |leader| match value {
        Some(value) => values_of_statement(recorded, leader, &[value]),
        None => changes_of_statement(recorded, leader),
    };
    if let Some(address) = place.strip_prefix("0x") {
        return change_of_instruction(recorded, (kind, address), all_of)
            .map(|change| vec![change])
            .ok_or_else(|| {
                usage(format!("{place}: no decision or store of an executed statement has this address"))
            });
    }
    let wanted = Where::parse(place)?;
    let events = match wanted.find(recorded, &Ordinals::new(recorded))? {
        PlaceFound::Executions(events) => events,
        PlaceFound::Nothing { place: line, .. } => {
            let found = changes_without_events(recorded, (kind, &wanted, &line), all_of);
            if !found.is_empty() {
                return the_right_number((kind, place), found, false, recorded);
            }
            return Err(usage(format!(
                "{line} was not executed, so that nothing there can be changed; `stripe trace` shows what was"
            )));
        }
    };
    let is_single = matches!(wanted, Where::Event(_) | Where::Line { execution: Some(_), .. });
    let trace = recorded.trace;
    let mut found = Vec::new();
    if let (true, &[event]) = (is_single, &events[..]) {
        let leader = trace.leader(event);
        let number = trace.events().filter(|&other| other <= event && trace.leader(other) == leader).count();
        let number = number as u32;
        found.extend(match value {
            Some(value) => values_of_execution(recorded, leader, (number, event), &[value]),
            None => changes_of_execution(recorded, leader, number, event),
        });
    } else {
        let leaders: BTreeSet<_> = events.iter().map(|&event| trace.leader(event)).collect();
        found.extend(leaders.into_iter().flat_map(all_of));
    }
    found.retain(|change| change.kind == kind);
    if let Where::Line { .. } = wanted {
        let is_of_line = |change: &Candidate| {
            let own = recorded.program.leader(change.leader).statement;
            change.statement(recorded) == own
        };
        found.retain(is_of_line);
    }
    the_right_number((kind, place), found, is_single, recorded)
}

/// The changes of a kind in a line at which no event begins: the code of its decisions is a part of the statement before.
fn changes_without_events(
    recorded: Recorded<'_>,
    (kind, wanted, line): (CandidateKind, &Where, &str),
    all_of: impl Fn(LeaderId) -> Vec<Candidate>,
) -> Vec<Candidate> {
    let Where::Line { column, execution: None, .. } = wanted else { return Vec::new() };
    let is_meant = |change: &Candidate| {
        let statement = change.statement(recorded);
        let is_there = column.is_none_or(|column| column == statement.column);
        change.kind == kind && is_there && recorded.program.place_of(statement).to_string() == line
    };
    reached(recorded).into_iter().flat_map(all_of).filter(is_meant).collect()
}

/// The changes that were found, if there are as many as can be meant.
fn the_right_number(
    (kind, place): (CandidateKind, &str),
    found: Vec<Candidate>,
    is_single: bool,
    recorded: Recorded<'_>,
) -> Result<Vec<Candidate>, Failure> {
    let usage = |message: String| Failure::new(Exit::Usage, message);
    match (kind, found.len()) {
        (CandidateKind::Omit, 1..) | (_, 1) => Ok(found),
        (CandidateKind::Always | CandidateKind::Never, 0) if is_single => Err(usage(format!(
            "{place}: a single execution is changed by --flip: it either goes as it went or the other way"
        ))),
        (CandidateKind::Omit, _) => Err(usage(format!(
            "{place}: this cannot be left out: it serves the frame of its function, lies in a library, or no \
             statement follows on every way"
        ))),
        (CandidateKind::Value, 0) => Err(usage(format!(
            "{place}: nothing of the executable that stores a single value: name a statement that assigns to a variable"
        ))),
        (_, 0) => Err(usage(format!(
            "{place}: no decision of the executable that can be changed alone: name a line with a condition"
        ))),
        _ => Err(usage(several(recorded, place, &found))),
    }
}

/// The place and the new value of `main.c:5=0`.
fn written(text: &str) -> Result<(&str, Option<NewValue>), Failure> {
    let (place, word) = text.rsplit_once('=').unwrap_or((text, ""));
    let value = match word {
        "more" => NewValue::Plus(1),
        "less" => NewValue::Plus(-1),
        "negated" => NewValue::Negated,
        "old" => NewValue::Old,
        number => NewValue::Number(number.parse().map_err(|_| {
            let why = format!("{text}: `{word}` is no value: give a whole number, more, less, negated or old, as in main.c:5=0");
            Failure::new(Exit::Usage, why)
        })?),
    };
    Ok((place, Some(value)))
}

/// The change of the conditional jump or the store at an address, which is said in hexadecimal digits.
fn change_of_instruction(
    recorded: Recorded<'_>,
    (kind, address): (CandidateKind, &str),
    all_of: impl Fn(LeaderId) -> Vec<Candidate>,
) -> Option<Candidate> {
    let address = FileAddress(u64::from_str_radix(address, 16).ok()?);
    let mut changes = reached(recorded).into_iter().flat_map(all_of);
    changes.find(|change| change.kind == kind && change.intervention.place.address == address)
}

/// That a line has several decisions or stores, and how each is named.
fn several(recorded: Recorded<'_>, place: &str, found: &[Candidate]) -> String {
    let mut columns: Vec<u32> = found.iter().map(|change| change.statement(recorded).column).collect();
    columns.dedup();
    let line = found[0].statement(recorded).line;
    let what = if found[0].kind == CandidateKind::Value { "stores" } else { "decisions" };
    let names: Vec<String> = columns.iter().map(|column| format!("{line}:{column}")).collect();
    match columns.len() {
        1 => {
            let addresses = found.iter().map(|change| change.intervention.place.address.to_string());
            let addresses = addresses.collect::<Vec<_>>().join(", ");
            format!(
                "{place}: this statement has {} {what}: name one by its address, {addresses}",
                found.len()
            )
        }
        _ => format!("{place} has {} {what}: name one by its column, {}", found.len(), names.join(", ")),
    }
}
