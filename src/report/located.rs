//! Report which changes of a failing run have made its output right.

use dd::Outcome;
use tracer::intervention::{Change, NewValue};
use tracer::program::{Leader, Statement};

use super::source::{Sources, printable};
use super::style::{Style, wrap, wrap_behind};
use super::words::{contained, count, duration, one_or_more};
use crate::circumstances::Status;
use crate::locate::{Candidate, CandidateKind, Effect, EffectKind, FurtherTests, Granule, LineRank, OnTests};
use crate::session::located::Located;
use crate::subject::Recorded;

/// The number of lines that are shown without being asked for, and of changes of each.
const MOST_LINES: usize = 10;
const MOST_CHANGES: usize = 3;

/// The ranked lines for people, each with the experiments that speak for it.
pub fn text(recorded: Recorded<'_>, found: &Located, is_full: bool, style: Style) -> String {
    let mut sources = Sources::new(recorded.program);
    let most = shown(is_full);
    let lines = &found.ranking.lines;
    let mut text = String::new();
    for line in lines.iter().take(most) {
        text += &row(recorded, found, line, &mut sources, style);
    }
    if lines.len() > most {
        text += &format!(
            "{} {} more, see --full\n",
            style.ellipsis(),
            count((lines.len() - most) as u64, "line")
        );
    }
    text += &format!("\n{}\n", wrap(&verdict(found), style.width));
    for warning in &found.warnings {
        text += &format!("{}\n", wrap(&printable(&format!("warning: {warning}")), style.width));
    }
    text
}

/// The number of lines that are shown.
pub(super) fn shown(is_full: bool) -> usize {
    if is_full { usize::MAX } else { MOST_LINES }
}

fn row(
    recorded: Recorded<'_>,
    found: &Located,
    line: &LineRank,
    sources: &mut Sources<'_>,
    style: Style,
) -> String {
    let mut row = head(recorded, line, sources, style);
    for &number in line.repairs.iter().take(MOST_CHANGES) {
        let experiment = experiment(recorded, found, number, line);
        row += &format!("{}\n", wrap_behind("       ", &experiment, style.width));
    }
    if line.repairs.len() > MOST_CHANGES {
        row += &format!("       and {} more\n", count((line.repairs.len() - MOST_CHANGES) as u64, "change"));
    }
    row
}

/// A line with its rank and its source.
pub(super) fn head(
    recorded: Recorded<'_>,
    line: &LineRank,
    sources: &mut Sources<'_>,
    style: Style,
) -> String {
    let file = &recorded.program.file(line.file).shown;
    let source = sources.line(line.file, line.line).unwrap_or_default().trim().to_owned();
    let ties = match line.ties {
        1 => String::new(),
        ties => format!("-{}", line.rank + ties - 1),
    };
    let head = format!("{:>3}{ties}  {}:{}  {source}", line.rank, printable(file), line.line);
    format!("{}\n", style.bold(&style.cut(&head, style.width)))
}

/// An experiment in words: the change and its effect.
pub(super) fn experiment(recorded: Recorded<'_>, found: &Located, number: usize, line: &LineRank) -> String {
    let candidate = &found.candidates[number];
    let Statement { column, .. } = candidate.statement(recorded);
    let is_only = found.candidates.iter().all(|other| {
        let statement = other.statement(recorded);
        (statement.file, statement.line) != (line.file, line.line) || statement.column == column
    });
    let place = if is_only || column == 0 { String::new() } else { format!("column {column} ") };
    let effect = what_came(found, number);
    let further = found.on_tests[number].map_or_else(String::new, |with| further_tests(&found.tests, with));
    let values = values(found, number);
    format!("{place}{}{values}: {effect}{further}", what_and_when(recorded, candidate))
}

/// The values that the changed execution has read, in brackets, as far as they are known.
pub(super) fn values(found: &Located, number: usize) -> String {
    let Granule::Execution(_, event) = found.candidates[number].granule else { return String::new() };
    found.values.get(&event).map_or_else(String::new, |values| format!(" ({})", printable(values)))
}

/// The effect of a change, in words.
pub(super) fn what_came(found: &Located, number: usize) -> &'static str {
    match found.effects[number].map(|effect| (effect.kind, effect.only_space)) {
        Some((EffectKind::Right, false)) => "the output is right",
        Some((EffectKind::Undefined, _)) => {
            "the output is right, but only with what happens to lie in undefined memory"
        }
        Some((_, true)) => "the output is right but for white space",
        Some((EffectKind::Nearer, _)) => "the output is nearer to the correct one",
        Some(_) => found.effects[number].map_or("", |effect| outcome_of(effect).1),
        None => "not tried",
    }
}

/// The effect of changes that a user has asked for: whether the failure, that the output is not right, is reproduced; and
/// why.
pub fn outcome_of(effect: Effect) -> (Outcome, &'static str) {
    match (effect.kind, effect.only_space) {
        (EffectKind::Right | EffectKind::Undefined, _) => (Outcome::Pass, "the output is right"),
        (EffectKind::Crash, _) => (Outcome::Unresolved, "the program crashed"),
        (EffectKind::Cut | EffectKind::Untried, _) => (Outcome::Unresolved, "the run was ended at a limit"),
        (_, true) => (Outcome::Fail, "the output is right but for white space"),
        (EffectKind::Nearer, _) => (Outcome::Fail, "the output is nearer to the correct one"),
        (EffectKind::Changed, _) => (Outcome::Fail, "the output is another one, and wrong"),
        (EffectKind::Unchanged, _) => (Outcome::Fail, "the output is as wrong as it was"),
    }
}

/// The effect of a change that helps, in one word.
pub(super) fn outcome(found: &Located, number: usize) -> &'static str {
    match found.effects[number].map(|effect| effect.kind) {
        Some(EffectKind::Right) => "right",
        Some(EffectKind::Undefined) => "undefined",
        _ => "nearer",
    }
}

/// The effect of a change on the further tests: `, and of 2 failing tests; 9 of 10 passing tests stay right`.
fn further_tests(tests: &FurtherTests, with: OnTests) -> String {
    let failing = match (tests.failing, with.repaired) {
        (0, _) => String::new(),
        (all, repaired) if all == repaired => format!(", and of {}", count(all as u64, "other failing test")),
        (all, repaired) => format!(", and of {repaired} of {}", count(all as u64, "other failing test")),
    };
    let passing = match (tests.passing, with.broken) {
        (0, _) => String::new(),
        (all, 0) => format!(
            "; {} right",
            count(all as u64, "passing test") + one_or_more(all as u64, " stays", " stay")
        ),
        (all, broken) => {
            format!(
                "; of {} {broken} {} wrong",
                count(all as u64, "passing test"),
                one_or_more(broken as u64, "becomes", "become")
            )
        }
    };
    failing + &passing
}

/// A change with its place, such as `main.c:11 taken the other way at execution 2 of 5`; with the column if other
/// statements begin in the line.
pub fn change_in_words(recorded: Recorded<'_>, change: &Candidate) -> String {
    let program = recorded.program;
    let own = change.statement(recorded);
    let is_beside = |leader: &Leader| {
        let Statement { file, line, column } = leader.statement;
        !leader.kind.is_structural() && (file, line) == (own.file, own.line) && column != own.column
    };
    let is_one_of_several = own.column > 0 && program.leaders().iter().any(is_beside);
    let column = if is_one_of_several { format!(":{}", own.column) } else { String::new() };
    format!("{}{column} {}", program.place_of(own), what_and_when(recorded, change))
}

fn what_and_when(recorded: Recorded<'_>, change: &Candidate) -> String {
    let what = match change.kind {
        CandidateKind::Flip => "taken the other way".to_owned(),
        CandidateKind::Always => forced(recorded, change, true),
        CandidateKind::Never => forced(recorded, change, false),
        CandidateKind::Omit => "left out".to_owned(),
        CandidateKind::Value => written(change.intervention.change),
    };
    let trace = recorded.trace;
    let executions = trace.events().filter(|&event| trace.leader(event) == change.leader).count();
    // A run that was cut while it went on for ever has more executions than were recorded.
    let all = if trace.endless().is_some() { String::new() } else { format!(" {executions}") };
    let when = match change.granule {
        Granule::Execution(..) if executions == 1 => " at its first execution".to_owned(),
        Granule::Execution(execution, _) if all.is_empty() => format!(" at execution {execution}"),
        Granule::Execution(execution, _) => format!(" at execution {execution} of{all}"),
        Granule::Statement if executions > 1 => format!(" at all{all} executions"),
        Granule::Statement => String::new(),
    };
    what + &when
}

/// The new value that a store writes instead, in words.
fn written(change: Change) -> String {
    match change {
        Change::Write(_, NewValue::Number(number)) => format!("writes {number} instead"),
        Change::Write(_, NewValue::Plus(1)) => "writes one more".to_owned(),
        Change::Write(_, NewValue::Plus(-1)) => "writes one less".to_owned(),
        Change::Write(_, NewValue::Plus(more)) => format!("writes {more} more"),
        Change::Write(_, NewValue::Negated) => "writes the value with the other sign".to_owned(),
        _ => "writes what was there before".to_owned(),
    }
}

/// The word for a new value after `--write WHERE=`, and in the JSON.
pub(super) fn value_word(change: Change) -> Option<String> {
    let Change::Write(_, value) = change else { return None };
    Some(match value {
        NewValue::Number(number) => number.to_string(),
        NewValue::Plus(1) => "more".to_owned(),
        NewValue::Plus(-1) => "less".to_owned(),
        NewValue::Plus(more) => format!("{more:+}"),
        NewValue::Negated => "negated".to_owned(),
        NewValue::Old => "old".to_owned(),
    })
}

/// The place where a decision is forced to go on, whatever its condition says.
fn forced(recorded: Recorded<'_>, change: &Candidate, jumps: bool) -> String {
    let own = change.statement(recorded);
    let place = change.intervention.place;
    match recorded.program.destination(place.image, place.address, jumps) {
        Some(leader) => {
            let there = recorded.program.leader(leader).statement;
            match there.line == own.line && there.file == own.file {
                true => format!("forced on to column {} of the line", there.column),
                false => format!("forced on to line {}", there.line),
            }
        }
        None if jumps => "forced to jump".to_owned(),
        None => "forced not to jump".to_owned(),
    }
}

/// The verdict, in a paragraph.
pub(super) fn verdict(found: &Located) -> String {
    let (tried, right, nearer) = found.counts();
    let all = found.candidates.len();
    let tried_of = match found.status {
        Status::Minimal => format!("{} tried", count(tried as u64, "change")),
        _ => format!("{tried} of {} tried", count(all as u64, "change")),
    };
    let repairs = match (right, nearer) {
        (0, 0) => "none makes the output right or brings it nearer; the lines are in the order of their last execution \
                   before the first wrong byte"
            .to_owned(),
        (0, nearer) => format!("none makes the output right, {nearer} {} it nearer", one_or_more(nearer as u64, "brings", "bring")),
        (right, nearer) => format!(
            "{right} {} the output right, {nearer} {} it nearer",
            one_or_more(right as u64, "makes", "make"),
            one_or_more(nearer as u64, "brings", "bring")
        ),
    };
    let tests = tests_in_words(found);
    let undefined = undefined_in_words(found);
    let spaces = spaces_in_words(found, right);
    let luck = if right > 0 && found.outputs <= 8 {
        " The program prints few different outputs: that one is right may be luck."
    } else {
        ""
    };
    format!(
        "{tried_of}, {} seen: {repairs}.{undefined}{spaces}{tests}{luck} A line is where one change makes this run right, which is not always the \
         fault; where code is missing, look at the decisions. {}, {}.",
        count(found.outputs as u64, "different output"),
        capitalised(&contained(&found.containment)),
        duration(found.elapsed)
    )
}

/// A sentence about the number of changes that are no repairs, because they need luck.
fn undefined_in_words(found: &Located) -> String {
    match found.by_undefined_memory() as u64 {
        0 => String::new(),
        1 => " 1 change makes it right only with what happens to lie in undefined memory, and is no repair."
            .to_owned(),
        changes => format!(
            " {changes} changes make it right only with what happens to lie in undefined memory, and are no repairs."
        ),
    }
}

/// A sentence about the number of changes that lead to outputs that are right but for white space.
fn spaces_in_words(found: &Located, right: usize) -> String {
    let only = found.only_space() as u64;
    let is_right = |effect: &Effect| effect.only_space && effect.kind == EffectKind::Right;
    match (only, found.effects.iter().flatten().any(is_right)) {
        (0, _) => String::new(),
        (only, false) => format!(
            " {} the output right but for white space; with --ignore-space that counts as right.",
            count(only, "change") + one_or_more(only, " makes", " make")
        ),
        (only, true) => format!(
            " With {} white space differs, which is ignored.",
            match right {
                all if all as u64 == only => "all of them".to_owned(),
                _ => format!("{only} of them"),
            }
        ),
    }
}

/// A sentence about the number of further tests, and which of them is the run under study.
fn tests_in_words(found: &Located) -> String {
    let studied = found.studied.as_ref().map_or_else(String::new, |name| {
        format!(" The run under study is the test {name}, the first one that fails.")
    });
    let tests = &found.tests;
    if tests.is_empty() {
        return studied;
    }
    let others = &tests.coverage[1..];
    let failing = others.iter().filter(|test| test.fails).count();
    let of = |all: usize, tried: usize, word: &str| match all == tried {
        true => count(all as u64, word),
        false => format!("{tried} of {}", count(all as u64, word)),
    };
    let plausible = found.ranking.lines.iter().filter(|line| line.is_plausible).count();
    format!(
        "{studied} What makes it right was tried on {} and {}; {} a change that satisfies all of them.",
        of(failing, tests.failing, "other failing test"),
        of(others.len() - failing, tests.passing, "passing test"),
        match plausible {
            0 => "no line has".to_owned(),
            lines => format!("{} {}", count(lines as u64, "line"), one_or_more(lines as u64, "has", "have")),
        }
    )
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}
