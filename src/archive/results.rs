//! Convert results into documents and back.

use std::time::Duration;

use tracer::trace::EventId;

use super::documents::{
    ByProductDocument, CountsDocument, NeededDocument, ResultDocument, SeenDocument, UntriedDocument,
};
use super::observed::ValuesDocument;
use super::ranges::Ranges;
use crate::circumstances::events::Control;
use crate::slice::{ByProduct, CriticalSlice, Effects, Necessity, Needed, Question, RunMethod};
use crate::subject::stretches;

pub(super) fn result_document(slice: &CriticalSlice) -> ResultDocument {
    let needed = |needed: &Needed| {
        let without = SeenDocument::of(needed.without.as_deref()?);
        Some(NeededDocument { event: needed.event.0, necessity: needed.necessity, without: Some(without) })
    };
    ResultDocument {
        engine: slice.question.method.engine.clone(),
        containment: slice.question.method.containment.clone(),
        status: slice.status,
        level: slice.level,
        effects_tried: Some(slice.effects == Effects::Tried),
        recorded: slice.recorded,
        omittable: slice.omittable,
        needed: slice.needed.iter().filter_map(needed).collect(),
        untried: untried_document(&slice.needed),
        tests: CountsDocument::of(&slice.tests),
        runs: slice.runs,
        elapsed_ms: slice.elapsed.as_millis() as u64,
        warnings: slice.warnings.clone(),
        by_products: slice.by_products.iter().map(by_product_document).collect(),
        values: slice.values.as_ref().map(ValuesDocument::of),
        crashed_at: slice.crashed_at.map(|event| event.0),
    }
}

fn untried_document(needed: &[Needed]) -> UntriedDocument {
    let untried = || needed.iter().filter(|needed| needed.without.is_none());
    let of = |necessity| {
        let events = untried().filter(|needed| needed.necessity == necessity);
        Ranges::of(events.map(|needed| needed.event.0 as usize)).text()
    };
    UntriedDocument {
        effects: of(Necessity::Effect),
        decisions: of(Necessity::Decision),
        count: untried().count(),
    }
}

/// The needed executions of a document in their order; `None` if they are not among those of the run.
fn needed(document: &mut ResultDocument) -> Option<Vec<Needed>> {
    let tried = |needed: NeededDocument| Needed {
        event: EventId(needed.event),
        necessity: needed.necessity,
        without: needed.without.map(|seen| Box::new(seen.evidence())),
    };
    let mut all: Vec<Needed> = std::mem::take(&mut document.needed).into_iter().map(tried).collect();
    let UntriedDocument { effects, decisions, .. } = &document.untried;
    for (text, necessity) in [(effects, Necessity::Effect), (decisions, Necessity::Decision)] {
        let events = Ranges::of_text(text)?.within(document.recorded)?;
        all.extend(events.iter().map(|event| Needed {
            event: EventId(event as u32),
            necessity,
            without: None,
        }));
    }
    all.sort_by_key(|needed| needed.event);
    Some(all)
}

/// Restores the result that a document describes; `None` if it is damaged. The engine and the containment are in the
/// document, the rest of the question is `question`.
pub(super) fn slice(mut document: ResultDocument, question: Question) -> Option<CriticalSlice> {
    let needed = needed(&mut document)?;
    let method = RunMethod { engine: document.engine, containment: document.containment };
    let tried = document.effects_tried.unwrap_or(question.control != Control::Program);
    Some(CriticalSlice {
        question: Question { method, ..question },
        status: document.status,
        level: document.level,
        effects: if tried { Effects::Tried } else { Effects::Untried },
        recorded: document.recorded,
        omittable: document.omittable,
        crashed_at: document.crashed_at.map(EventId),
        needed,
        tests: document.tests.counts(document.tests.made()),
        runs: document.runs,
        elapsed: Duration::from_millis(document.elapsed_ms),
        warnings: document.warnings,
        by_products: document.by_products.into_iter().map(by_product).collect(),
        values: document.values.map(ValuesDocument::observation),
        kept_as: None,
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    use dd::{Algorithm, Counts, Outcome};
    use serde_json::{Value, json};
    use tracer::program::Granularity;
    use tracer::{Containment, Engine};

    use crate::circumstances::Status;
    use crate::oracle::Evidence;
    use crate::slice::Level;

    fn question() -> Question {
        Question {
            command: vec!["./prog".into()],
            criterion: "the same standard output".into(),
            control: Control::Both,
            granularity: Granularity::Statement,
            algorithm: Algorithm::Sweep,
            method: RunMethod { engine: Engine::Jump, containment: Containment::Full },
        }
    }

    /// A result of 20 executions, of which only one was tried alone.
    fn early() -> CriticalSlice {
        let needed = [
            (1, Necessity::Effect),
            (2, Necessity::Decision),
            (3, Necessity::Effect),
            (19, Necessity::Effect),
        ];
        let mut needed: Vec<Needed> = needed
            .map(|(event, necessity)| Needed { event: EventId(event), necessity, without: None })
            .into();
        needed[2].without = Some(Box::new(Evidence::new(Outcome::Pass, "no output")));
        CriticalSlice {
            question: question(),
            status: Status::Budget,
            level: Level::Execution,
            effects: Effects::Tried,
            recorded: 20,
            omittable: 18,
            crashed_at: None,
            needed,
            tests: Counts { total: 9, fail: 2, pass: 6, unresolved: 1, cached: 3, predicted: 0 },
            runs: 12,
            elapsed: Duration::from_millis(7),
            warnings: Vec::new(),
            by_products: Vec::new(),
            values: None,
            kept_as: None,
        }
    }

    fn told(slice: &CriticalSlice) -> Vec<(u32, Necessity, Option<String>)> {
        let why = |without: &Evidence| without.why.clone();
        let of = |needed: &Needed| (needed.event.0, needed.necessity, needed.without.as_deref().map(why));
        slice.needed.iter().map(of).collect()
    }

    fn read(document: Value) -> Option<CriticalSlice> {
        slice(serde_json::from_value(document).expect("a document of a result"), question())
    }

    #[test]
    fn needed_executions_come_back_in_their_order_tried_or_not() {
        let slice = early();
        let document = result_document(&slice);
        assert_eq!(document.needed.len() + document.untried.count, slice.needed.len());
        let back = read(serde_json::to_value(document).unwrap()).expect("a whole result");
        assert_eq!(told(&back), told(&slice));
    }

    #[test]
    fn results_of_earlier_versions_list_each_execution() {
        let slice = early();
        let mut document = serde_json::to_value(result_document(&slice)).unwrap();
        let listed = slice.needed.iter().map(|needed| {
            let word = if needed.necessity == Necessity::Effect { "effect" } else { "decision" };
            json!({"event": needed.event.0, "necessity": word, "without": needed.without.as_deref().map(SeenDocument::of)})
        });
        document["needed"] = listed.collect();
        document.as_object_mut().unwrap().remove("untried");
        assert_eq!(told(&read(document).expect("a whole result")), told(&slice));
    }

    #[test]
    fn executions_that_the_run_has_not_are_refused() {
        let document = || serde_json::to_value(result_document(&early())).unwrap();
        let mut beyond = document();
        beyond["untried"]["effects"] = json!(Ranges::of([20].into_iter()).text());
        assert!(read(beyond).is_none());
        let mut garbled = document();
        garbled["untried"]["decisions"] = json!("?");
        assert!(read(garbled).is_none());
    }
}
