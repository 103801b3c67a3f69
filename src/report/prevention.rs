//! Report what keeps a failure away, one minimal set after the other.

use serde::Serialize;

use super::quoting::{escaped, quoted};
use super::source::printable;
use super::spelling;
use super::style::{Style, wrap};
use super::words::count;
use crate::circumstances::Status;
use crate::oracle::Evidence;
use crate::simplified::prevention::{Others, Preventer, PreventingSet, Prevention};
use dd::Outcome;

/// The number of members of a set that are shown.
const MOST_MEMBERS: usize = 60;

/// Writes the sets, each with its members, and what happened without each of them.
pub(super) fn sets(prevention: &Prevention, style: Style) -> String {
    let mut text = String::new();
    for (number, set) in (1..).zip(&prevention.sets) {
        let order = if number == 1 { "prevents the failure" } else { "prevents it too, without those above" };
        text += &format!("{}\n", style.bold(&format!("{number}. {order}{}", doubt(set.status))));
        for member in set.members.iter().take(MOST_MEMBERS) {
            let line = format!("{}: {}", printable(&member.name), shown(member));
            text += &format!("  {}\n", style.cut(&line, style.width.saturating_sub(2)));
            // Minimal means that the failure is there without any of them.
            let unresolved =
                member.without.as_ref().filter(|evidence| evidence.outcome == Outcome::Unresolved);
            if let Some(Evidence { why, .. }) = unresolved {
                let line = format!("without it the run says nothing: {}", printable(why));
                text += &format!("    {}\n", style.cut(&line, style.width.saturating_sub(4)));
            }
        }
        if set.members.len() > MOST_MEMBERS {
            text += &format!("  {} {} more\n", style.ellipsis(), set.members.len() - MOST_MEMBERS);
        }
    }
    text + &format!("{}\n", wrap(&others(prevention), style.width))
}

fn shown(member: &Preventer) -> String {
    match member.content.strip_suffix(b"\n") {
        Some(line) => escaped(line),
        None => quoted(&member.content),
    }
}

fn doubt(status: Status) -> &'static str {
    match status {
        Status::Minimal => "",
        Status::Budget | Status::Interrupted => " (the search was cut short: perhaps less would do)",
        Status::Unconfirmed => " (not confirmed)",
    }
}

/// A sentence about the effect of all other circumstances.
fn others(prevention: &Prevention) -> String {
    match &prevention.others {
        Others::Fail => "With all the others together the failure is there.".into(),
        Others::Unresolved(why) => {
            format!("With all the others together the run says nothing: {}.", printable(why))
        }
        Others::Unknown => "Whether the others prevent it too was not found out.".into(),
    }
}

/// The verdict; `tail` says what the failure is and what finding out took.
pub(super) fn verdict(prevention: &Prevention, tail: &str) -> String {
    let members: usize = prevention.sets.iter().map(|set| set.members.len()).sum();
    let seen =
        prevention.sets.iter().flat_map(|set| &set.members).filter_map(|member| member.without.as_ref());
    let unresolved = seen.filter(|evidence| evidence.outcome == Outcome::Unresolved).count();
    let is_minimal = prevention.sets.iter().all(|set| set.status == Status::Minimal);
    let minimal = match (is_minimal, unresolved) {
        (false, _) => String::new(),
        (true, 0) => " Without any one circumstance of a set, its others alone do not prevent it.".to_owned(),
        (true, _) => {
            format!(
                " Without any one circumstance of a set, its others alone do not prevent it, or say nothing ({unresolved})."
            )
        }
    };
    format!(
        "{members} of {} in {}.{minimal} {tail}",
        count(prevention.circumstances as u64, "circumstance"),
        count(prevention.sets.len() as u64, "set"),
    )
}

/// The document of what keeps the failure away.
#[derive(Serialize)]
pub(super) struct PreventionDocument<'a> {
    circumstances: usize,
    sets: Vec<SetDocument<'a>>,
    /// The outcome with all the others: `fails`, `unresolved` or `unknown`.
    others: &'static str,
    others_why: Option<&'a str>,
}

#[derive(Serialize)]
struct SetDocument<'a> {
    status: &'static str,
    tests: u64,
    members: Vec<MemberDocument<'a>>,
}

#[derive(Serialize)]
struct MemberDocument<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<&'a [u8]>,
    without: Option<&'static str>,
    why: Option<&'a str>,
}

pub(super) fn document(prevention: &Prevention) -> PreventionDocument<'_> {
    let (others, others_why) = match &prevention.others {
        Others::Fail => ("fails", None),
        Others::Unresolved(why) => ("unresolved", Some(why.as_str())),
        Others::Unknown => ("unknown", None),
    };
    let sets = prevention.sets.iter().map(set).collect();
    PreventionDocument { circumstances: prevention.circumstances, sets, others, others_why }
}

fn set(set: &PreventingSet) -> SetDocument<'_> {
    let members = set.members.iter().map(member).collect();
    SetDocument { status: spelling::status(set.status), tests: set.tests.total, members }
}

fn member(member: &Preventer) -> MemberDocument<'_> {
    let text = str::from_utf8(&member.content).ok();
    let without = member.without.as_ref();
    MemberDocument {
        name: &member.name,
        text,
        bytes: text.is_none().then_some(&member.content),
        without: without.map(|evidence| match evidence.outcome {
            Outcome::Fail => "prevented",
            Outcome::Pass => "fails",
            Outcome::Unresolved => "unresolved",
        }),
        why: without.map(|evidence| evidence.why.as_str()),
    }
}
