//! Turn results into documents and back.

use std::time::Duration;

use tracer::trace::EventId;

use super::documents::{CountsDocument, NeededDocument, ResultDocument, SeenDocument};
use crate::dd::Counts;
use crate::slice::{CriticalSlice, Evidence, Manner, Needed, Question};

pub(super) fn result_document(slice: &CriticalSlice) -> ResultDocument {
    let seen = |seen: &Evidence| SeenDocument { outcome: seen.outcome, why: seen.why.clone() };
    let needed = |needed: &Needed| NeededDocument {
        event: needed.event.0,
        necessity: needed.necessity,
        without: needed.without.as_ref().map(seen),
    };
    ResultDocument {
        engine: slice.question.manner.engine.clone(),
        containment: slice.question.manner.containment.clone(),
        status: slice.status,
        recorded: slice.recorded,
        omittable: slice.omittable,
        needed: slice.needed.iter().map(needed).collect(),
        tests: CountsDocument {
            reproduced: slice.tests.fail,
            not_reproduced: slice.tests.pass,
            unresolved: slice.tests.unresolved,
            cached: slice.tests.cached,
        },
        runs: slice.runs,
        elapsed_ms: slice.elapsed.as_millis() as u64,
        warnings: slice.warnings.clone(),
    }
}

/// The result that a document describes. How programs were run is told by the document, the rest of the
/// question by `question`.
pub(super) fn slice(document: ResultDocument, question: Question) -> CriticalSlice {
    let seen = |seen: SeenDocument| Evidence { outcome: seen.outcome, why: seen.why };
    let needed = |needed: NeededDocument| Needed {
        event: EventId(needed.event),
        necessity: needed.necessity,
        without: needed.without.map(seen),
    };
    let CountsDocument { reproduced: fail, not_reproduced: pass, unresolved, cached } = document.tests;
    let manner = Manner { engine: document.engine, containment: document.containment };
    CriticalSlice {
        question: Question { manner, ..question },
        status: document.status,
        recorded: document.recorded,
        omittable: document.omittable,
        needed: document.needed.into_iter().map(needed).collect(),
        tests: Counts { total: fail + pass + unresolved, fail, pass, unresolved, cached },
        runs: document.runs,
        elapsed: Duration::from_millis(document.elapsed_ms),
        warnings: document.warnings,
    }
}
