//! Spell the values of closed sets as JSON documents have them, and events as command lines do.

use tracer::program::{Granularity, LeaderKind};
use tracer::schedule::Control as Rule;
use tracer::trace::EventId;
use tracer::{Containment, Engine};

use crate::circumstances::Status;
use crate::circumstances::events::Control;
use crate::slice::{Level, Necessity};
use dd::{Algorithm, Outcome};

/// The kind of a leader.
pub(super) fn kind(kind: LeaderKind) -> &'static str {
    match kind {
        LeaderKind::Entry => "entry",
        LeaderKind::Statement => "statement",
        LeaderKind::Epilogue => "epilogue",
    }
}

/// The engine that runs programs.
pub(super) fn engine(engine: &Engine) -> &'static str {
    match engine {
        Engine::Jump => "jump",
        Engine::Breakpoint(_) => "breakpoint",
    }
}

/// The reason why programs are not run by the engine that was preferred.
pub(super) fn engine_reason(engine: &Engine) -> Option<&str> {
    match engine {
        Engine::Jump => None,
        Engine::Breakpoint(reason) => reason.as_deref(),
    }
}

/// The containment of programs.
pub(super) fn containment(containment: &Containment) -> &'static str {
    match containment {
        Containment::Full => "full",
        Containment::Basic(_) => "basic",
        Containment::None => "none",
    }
}

/// The reason why programs are not contained better.
pub(super) fn containment_reason(containment: &Containment) -> Option<&str> {
    match containment {
        Containment::Basic(reason) => Some(reason),
        Containment::Full | Containment::None => None,
    }
}

/// The necessity of an execution.
pub(super) fn necessity(necessity: Necessity) -> &'static str {
    match necessity {
        Necessity::Effect => "effect",
        Necessity::Decision => "decision",
    }
}

/// The outcome of a test.
pub(super) fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Fail => "reproduced",
        Outcome::Pass => "not_reproduced",
        Outcome::Unresolved => "unresolved",
    }
}

/// The status of a search at its end.
pub(super) fn status(status: Status) -> &'static str {
    match status {
        Status::Minimal => "minimal",
        Status::Budget => "budget",
        Status::Interrupted => "interrupted",
        Status::Unconfirmed => "unconfirmed",
    }
}

/// The level at which a result is minimal.
pub(super) fn level(level: Level) -> &'static str {
    match level {
        Level::Statement => "statement",
        Level::History => "history",
        Level::Execution => "execution",
    }
}

/// The control rule as the user chose it.
pub(super) fn control(control: Control) -> &'static str {
    match control {
        Control::Both => "both",
        Control::Program => "program",
        Control::Trace => "trace",
    }
}

/// The control rule of one phase.
pub(super) fn rule(rule: Rule) -> &'static str {
    match rule {
        Rule::Program => "program",
        Rule::Trace => "trace",
    }
}

/// The granularity: what counts as a statement.
pub(super) fn granularity(granularity: Granularity) -> &'static str {
    match granularity {
        Granularity::Line => "line",
        Granularity::Statement => "statement",
    }
}

/// The algorithm that chose subsets.
pub(super) fn algorithm(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::Sweep => "sweep",
        Algorithm::Ddmin => "ddmin",
        Algorithm::Halve => "halve",
        Algorithm::DdPlus => "dd+",
        Algorithm::Prune => "prune",
        Algorithm::Pairs => "pairs",
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
