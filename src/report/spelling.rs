//! Spell the values of closed sets as JSON documents have them, and events as command lines do.

use tracer::program::{Granularity, LeaderKind};
use tracer::schedule::Control as Rule;
use tracer::trace::EventId;
use tracer::{Containment, Engine};

use crate::circumstances::Status;
use crate::circumstances::events::Control;
use crate::slice::{Level, Necessity};
use dd::{Algorithm, Outcome};

/// Why an address is a leader.
pub(super) fn kind(kind: LeaderKind) -> &'static str {
    match kind {
        LeaderKind::Entry => "entry",
        LeaderKind::Statement => "statement",
        LeaderKind::Epilogue => "epilogue",
    }
}

/// How programs are run.
pub(super) fn engine(engine: &Engine) -> &'static str {
    match engine {
        Engine::Jump => "jump",
        Engine::Breakpoint(_) => "breakpoint",
    }
}

/// Why programs are not run in the way that was preferred.
pub(super) fn engine_reason(engine: &Engine) -> Option<&str> {
    match engine {
        Engine::Jump => None,
        Engine::Breakpoint(reason) => reason.as_deref(),
    }
}

/// How well programs are contained.
pub(super) fn containment(containment: &Containment) -> &'static str {
    match containment {
        Containment::Full => "full",
        Containment::Basic(_) => "basic",
        Containment::None => "none",
    }
}

/// Why programs are not contained better.
pub(super) fn containment_reason(containment: &Containment) -> Option<&str> {
    match containment {
        Containment::Basic(reason) => Some(reason),
        Containment::Full | Containment::None => None,
    }
}

/// What an execution is needed for.
pub(super) fn necessity(necessity: Necessity) -> &'static str {
    match necessity {
        Necessity::Effect => "effect",
        Necessity::Decision => "decision",
    }
}

/// What a test said about the failure under study.
pub(super) fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Fail => "reproduced",
        Outcome::Pass => "not_reproduced",
        Outcome::Unresolved => "unresolved",
    }
}

/// How the search ended.
pub(super) fn status(status: Status) -> &'static str {
    match status {
        Status::Minimal => "minimal",
        Status::Budget => "budget",
        Status::Interrupted => "interrupted",
        Status::Unconfirmed => "unconfirmed",
    }
}

/// What was left out as a whole to show that a result is minimal.
pub(super) fn level(level: Level) -> &'static str {
    match level {
        Level::Statement => "statement",
        Level::History => "history",
        Level::Execution => "execution",
    }
}

/// What makes a statement be executed again.
pub(super) fn control(control: Control) -> &'static str {
    match control {
        Control::Both => "both",
        Control::Program => "program",
        Control::Trace => "trace",
    }
}

/// What makes a statement be executed in one phase.
pub(super) fn rule(rule: Rule) -> &'static str {
    match rule {
        Rule::Program => "program",
        Rule::Trace => "trace",
    }
}

/// What counts as a statement.
pub(super) fn granularity(granularity: Granularity) -> &'static str {
    match granularity {
        Granularity::Line => "line",
        Granularity::Statement => "statement",
    }
}

/// How subsets were chosen.
pub(super) fn algorithm(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::Sweep => "sweep",
        Algorithm::Ddmin => "ddmin",
        Algorithm::DdPlus => "dd+",
        Algorithm::Prune => "prune",
    }
}

/// Stretches of events, first and last of each, as `stripe replay --keep` takes them.
pub(super) fn events(stretches: impl Iterator<Item = (EventId, EventId)>) -> String {
    let stretch = |(first, last): (EventId, EventId)| match (first.time(), last.time()) {
        (first, last) if first == last => first.to_string(),
        (first, last) => format!("{first}-{last}"),
    };
    stretches.map(stretch).collect::<Vec<_>>().join(",")
}
