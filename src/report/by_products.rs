//! Report other failures that came up during the search.

use crate::slice::{ByProduct, CriticalSlice};
use crate::subject::stretches;

use super::schema;
use super::spelling;
use super::words::count;

/// A sentence about the other failures: their number, the one that came up most often, and how to see it again.
/// `criterion` names what the slice is for, if it has a name.
pub(super) fn sentence(slice: &CriticalSlice, criterion: &str) -> Option<String> {
    let ByProduct { what, .. } = slice.by_products.first()?;
    let number = if criterion.is_empty() { "1".to_owned() } else { format!("{criterion}:1") };
    let again = match &slice.kept_as {
        Some(run) => format!("`stripe replay {run} --by-product {number}` shows it again"),
        None => "the JSON result tells how to see it again".to_owned(),
    };
    let what = match slice.by_products.len() as u64 {
        1 => what.clone(),
        several => format!("{}, most often {what}", count(several, "other failure")),
    };
    Some(format!("by-product, found on the way: {what}: {again}"))
}

/// The documents of all other failures.
pub(super) fn documents(slice: &CriticalSlice) -> Vec<schema::ByProductReport<'_>> {
    slice.by_products.iter().map(document).collect()
}

fn document(by_product: &ByProduct) -> schema::ByProductReport<'_> {
    let ByProduct { what, tests, rule, .. } = by_product;
    schema::ByProductReport { what, tests: *tests, control: spelling::rule(*rule), keep: keep(by_product) }
}

/// The executed events, as `--keep` takes them.
fn keep(by_product: &ByProduct) -> String {
    spelling::events(stretches(by_product.executed.iter().copied()))
}
