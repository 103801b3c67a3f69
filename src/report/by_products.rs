//! Tell of other failures that came up during the search.

use crate::slice::{ByProduct, CriticalSlice, stretches};

use super::schema;
use super::spelling;
use super::words::{count, one_or_more};

/// So many are told in words; JSON has all of them.
const MOST: usize = 5;
/// A list of events that is longer is not for people.
const LONGEST: usize = 60;

/// A sentence for each of those that came up most often.
pub(super) fn sentences(slice: &CriticalSlice) -> Vec<String> {
    let mut sentences: Vec<String> = slice.by_products.iter().take(MOST).map(sentence).collect();
    let more = slice.by_products.len().saturating_sub(MOST) as u64;
    if more > 0 {
        let were = one_or_more(more, "is", "are");
        sentences.push(format!("by-product: {} {were} in the JSON result", count(more, "further failure")));
    }
    sentences
}

fn sentence(by_product: &ByProduct) -> String {
    let ByProduct { what, tests, rule, .. } = by_product;
    let events = keep(by_product);
    let again = match events.len() {
        ..=LONGEST => format!("--keep {events}"),
        _ => "--keep @FILE with its events, which the JSON result lists".into(),
    };
    let tests = count(*tests, "test");
    format!(
        "by-product: {what}, in {tests}: `stripe replay` with --control {} {again}",
        spelling::rule(*rule)
    )
}

/// All of them.
pub(super) fn documents(slice: &CriticalSlice) -> Vec<schema::ByProduct<'_>> {
    slice.by_products.iter().map(document).collect()
}

fn document(by_product: &ByProduct) -> schema::ByProduct<'_> {
    let ByProduct { what, tests, rule, .. } = by_product;
    schema::ByProduct { what, tests: *tests, control: spelling::rule(*rule), keep: keep(by_product) }
}

/// The executed events, as `--keep` takes them.
fn keep(by_product: &ByProduct) -> String {
    spelling::events(stretches(by_product.executed.iter().copied()))
}
