//! Write the changes that repair a run as a script for gdb, which makes each of them there: a breakpoint, a count of
//! arrivals, and `set $pc`.

use std::fmt::Write as _;

use tracer::intervention::{Change, NewValue, When};
use tracer::invocation::Invocation;
use tracer::program::{Program, Store, StoreOperand, StoredKind};

use super::start::{PROCESS, Start, Unscriptable, check_start, head, started};
use crate::locate::EffectKind;
use crate::report::located::{change_in_words, verdict};
use crate::report::source::printable;
use crate::session::located::Located;
use crate::subject::Recorded;

/// The Python program that is the same in every script.
const REPAIRS: &str = include_str!("repairs.py");

/// Checks that there can be a script.
///
/// # Errors
/// If it would be too long, or gdb could not read it.
pub fn check(program: &Program, invocation: &Invocation) -> Result<(), Unscriptable> {
    check_start(program, invocation)
}

/// Writes a script of all changes that make the run right or bring it nearer, in the order of the ranking.
///
/// # Errors
/// As for [`check`].
pub fn script(recorded: Recorded<'_>, found: &Located, start: Start<'_>) -> Result<String, Unscriptable> {
    check(recorded.program, start.invocation)?;
    let told = [
        "What repairs a failing run as a script for gdb: gdb -q -x FILE".to_owned(),
        verdict(found),
        "`repair begin N` starts the program, `continue` leads to change N, which is made, and on from there.".into(),
        "`repair through N` runs to the end with change N and prints what the program has written:".into(),
        "gdb -q -batch -x FILE -ex 'repair through 1'".into(),
        "The program runs as it is, not contained: what it changes stays changed.".into(),
    ];
    let forks = if found.baseline.recording.run.usage.forked > 0 { "True" } else { "False" };
    let parts = [
        head(&told),
        "python\n".to_owned(),
        started(recorded.program, start),
        format!("# Whether the program starts others.\nFORKS = {forks}\n\n"),
        rows(recorded, found),
        PROCESS.to_owned(),
        REPAIRS.to_owned(),
        "end\n".to_owned(),
    ];
    Ok(parts.concat())
}

fn rows(recorded: Recorded<'_>, found: &Located) -> String {
    let mut text = String::from(
        "# The changes: what, the address, at which arrival, where control goes or what is written instead, and in words.\nROWS = \"\"\"\n",
    );
    // Undefined memory holds something else under gdb.
    let is_sure = |number: &&usize| found.effects[**number].is_none_or(|it| it.kind != EffectKind::Undefined);
    for &number in found.ranking.lines.iter().flat_map(|line| &line.repairs).filter(is_sure) {
        let candidate = &found.candidates[number];
        let intervention = candidate.intervention;
        let (kind, target) = match intervention.change {
            Change::Flip => ("flip", "-".to_owned()),
            Change::Jump => ("always", "-".to_owned()),
            Change::FallThrough => ("never", "-".to_owned()),
            Change::Skip(to) => ("omit", to.address.to_string()),
            Change::Write(kind, value) => {
                let store = recorded.program.stores(candidate.leader).into_iter();
                let store = store.filter(|store| store.address == intervention.place.address);
                ("write", store.map(|store| written(&store, kind, value)).collect())
            }
        };
        let when = match intervention.when {
            When::Always => "all".to_owned(),
            When::Execution(execution) => execution.to_string(),
        };
        let outcome = match found.effects[number].map(|effect| (effect.kind, effect.only_space)) {
            Some((EffectKind::Right, false)) => "right",
            Some((_, true)) => "right but for white space",
            _ => "nearer",
        };
        let words = printable(&change_in_words(recorded, candidate)).replace(['"', '\\'], "?");
        let _ = writeln!(text, "{kind} {} {when} {target} {words}: {outcome}", intervention.place.address);
    }
    text + "\"\"\"\n\n"
}

/// A store as words with commas between them: the next instruction, the operand written to, the format, the new value.
fn written(store: &Store, kind: StoredKind, value: NewValue) -> String {
    let none = || "-".to_owned();
    let StoreOperand { base, index, displacement, is_in_file } = &store.operand;
    let (index, scale) = index.as_ref().map_or((none(), 1), |(name, scale)| (name.clone(), *scale));
    let format = match kind {
        StoredKind::Integer(1) => "b",
        StoredKind::Integer(2) => "h",
        StoredKind::Integer(4) => "i",
        StoredKind::Integer(_) => "q",
        StoredKind::Float(4) => "f",
        StoredKind::Float(_) => "d",
    };
    let (how, number) = match value {
        NewValue::Number(number) => ("number", number),
        NewValue::Plus(more) => ("plus", more),
        NewValue::Negated => ("negated", 0),
        NewValue::Old => ("old", 0),
    };
    let base = if *is_in_file { "file".to_owned() } else { base.clone().unwrap_or_else(none) };
    format!("{},{base},{index},{scale},{},{format},{how},{number}", store.next, *displacement as i64)
}
