//! Convert results into documents and back.

use std::time::Duration;

use tracer::observation::{Flow, Limit, Observation, Reading, Seen, Writing};
use tracer::trace::EventId;

use super::documents::{
    ByProductDocument, CountsDocument, EventValues, LimitDocument, NeededDocument, ResultDocument,
    SeenDocument, ValuesDocument,
};
use crate::circumstances::events::Control;
use crate::slice::{ByProduct, CriticalSlice, Effects, Needed, Question, RunMethod};
use crate::subject::stretches;
use dd::Counts;

pub(super) fn result_document(slice: &CriticalSlice) -> ResultDocument {
    let needed = |needed: &Needed| NeededDocument {
        event: needed.event.0,
        necessity: needed.necessity,
        without: needed.without.as_ref().map(SeenDocument::of),
    };
    ResultDocument {
        engine: slice.question.method.engine.clone(),
        containment: slice.question.method.containment.clone(),
        status: slice.status,
        level: slice.level,
        effects_tried: Some(slice.effects == Effects::Tried),
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
        by_products: slice.by_products.iter().map(by_product_document).collect(),
        values: slice.values.as_ref().map(values_document),
        crashed_at: slice.crashed_at.map(|event| event.0),
    }
}

/// Restores the result that a document describes. The engine and the containment are in the document, the
/// rest of the question is `question`.
pub(super) fn slice(document: ResultDocument, question: Question) -> CriticalSlice {
    let needed = |needed: NeededDocument| Needed {
        event: EventId(needed.event),
        necessity: needed.necessity,
        without: needed.without.map(SeenDocument::evidence),
    };
    let CountsDocument { reproduced: fail, not_reproduced: pass, unresolved, cached } = document.tests;
    let method = RunMethod { engine: document.engine, containment: document.containment };
    let tried = document.effects_tried.unwrap_or(question.control != Control::Program);
    CriticalSlice {
        question: Question { method, ..question },
        status: document.status,
        level: document.level,
        effects: if tried { Effects::Tried } else { Effects::Untried },
        recorded: document.recorded,
        omittable: document.omittable,
        crashed_at: document.crashed_at.map(EventId),
        needed: document.needed.into_iter().map(needed).collect(),
        tests: Counts { total: fail + pass + unresolved, fail, pass, unresolved, cached, predicted: 0 },
        runs: document.runs,
        elapsed: Duration::from_millis(document.elapsed_ms),
        warnings: document.warnings,
        by_products: document.by_products.into_iter().map(by_product).collect(),
        values: document.values.map(observation),
        kept_as: None,
    }
}

fn values_document(observation: &Observation) -> ValuesDocument {
    let event = |(event, seen): (&EventId, &Seen)| EventValues {
        event: event.0,
        reads: seen.reads.iter().map(|Reading { name, value }| (name.clone(), value.clone())).collect(),
        writes: seen.writes.iter().map(|w| (w.name.clone(), w.before.clone(), w.after.clone())).collect(),
    };
    ValuesDocument {
        events: observation.seen.iter().map(event).collect(),
        flows: observation.flows.iter().map(|flow| (flow.from.0, flow.to.0, flow.name.clone())).collect(),
        limit: observation.limit.map(|limit| match limit {
            Limit::Event(event) => LimitDocument::Event(event.0),
            Limit::Instructions(event) => LimitDocument::Instructions(event.0),
            Limit::LeftPath(behind) => LimitDocument::LeftPath(behind.map(|event| event.0)),
            Limit::Time => LimitDocument::Time,
        }),
    }
}

fn observation(document: ValuesDocument) -> Observation {
    let seen = |event: EventValues| {
        let reads = event.reads.into_iter().map(|(name, value)| Reading { name, value }).collect();
        let writing = |(name, before, after)| Writing { name, before, after };
        (EventId(event.event), Seen { reads, writes: event.writes.into_iter().map(writing).collect() })
    };
    let flow = |(from, to, name)| Flow { to: EventId(to), from: EventId(from), name };
    Observation {
        seen: document.events.into_iter().map(seen).collect(),
        flows: document.flows.into_iter().map(flow).collect(),
        limit: document.limit.map(|limit| match limit {
            LimitDocument::Event(event) => Limit::Event(EventId(event)),
            LimitDocument::Instructions(event) => Limit::Instructions(EventId(event)),
            LimitDocument::LeftPath(behind) => Limit::LeftPath(behind.map(EventId)),
            LimitDocument::Time => Limit::Time,
        }),
    }
}

fn by_product_document(by_product: &ByProduct) -> ByProductDocument {
    let ByProduct { what, tests, rule, executed } = by_product;
    let executed = stretches(executed.iter().copied()).map(|(first, last)| (first.0, last.0)).collect();
    ByProductDocument { what: what.clone(), tests: *tests, rule: *rule, executed }
}

fn by_product(document: ByProductDocument) -> ByProduct {
    let ByProductDocument { what, tests, rule, executed } = document;
    let executed = executed.into_iter().flat_map(|(first, last)| (first..=last).map(EventId)).collect();
    ByProduct { what, tests, rule, executed }
}
