//! Write results as a single page for a browser, with everything in it.
//!
//! The page's text, style and programs are files of their own next to this one; they are put together here
//! with the data, as JSON. The amount that is shown is capped, because a browser cannot show a million dots: `source`
//! and `search` choose what there is room for, and say what they have left out. All numbers are those of
//! the JSON result.

mod data;
pub mod located;
mod matrix;
mod outputs;
mod search;
mod shown;
pub mod simplified;
pub mod sliced;
mod source;
mod suspects;
#[cfg(test)]
mod testing;

use serde_json::Value;
use tracer::run::Run;

use crate::circumstances::events::Control;
use crate::session::history::History;
use crate::session::layers::Layers;
use crate::slice::{CriticalSlice, Effects};
use crate::subject::Recorded;

use super::by_products;
use super::json;
use super::layers::LayeredExecutions;
use super::spelling;
use super::verdict::verdict;
use data::ChapterDocument;

pub use suspects::WrongOnly;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPTS: [&str; 12] = [
    include_str!("dom.js"),
    include_str!("theme.js"),
    include_str!("suspects.js"),
    include_str!("summary.js"),
    include_str!("source.js"),
    include_str!("difference.js"),
    include_str!("output.js"),
    include_str!("cells.js"),
    include_str!("matrix.js"),
    include_str!("curve.js"),
    include_str!("criteria.js"),
    include_str!("page.js"),
];

/// The source of a chapter: a result with what the page says about it.
pub struct ChapterSource<'a> {
    /// The run that was reduced.
    pub recorded: Recorded<'a>,
    /// The recorded run: its end and its output.
    pub run: &'a Run,
    /// The critical slice.
    pub slice: &'a CriticalSlice,
    /// The history of the search.
    pub history: &'a History,
    /// The command that repeats it, as typed into a shell.
    pub command_line: &'a str,
    /// The name of the criterion; empty if it has none.
    pub name: &'a str,
    /// True if the criterion is known to be about wrong output.
    pub is_wrong: bool,
    /// A remark on what there is to see; otherwise empty.
    pub remark: &'a str,
    /// The dynamic slice beside it, if that was asked for.
    pub beside: Option<&'a Layers<'a>>,
}

/// A chapter: a result as the page holds it. A page may hold several, which do not exist at the same time.
pub struct Chapter(Value);

/// Creates the chapter of a result.
pub fn chapter(case: &ChapterSource<'_>) -> Chapter {
    let slice = case.slice;
    let document = ChapterDocument {
        criterion: &slice.question.criterion,
        is_wrong: case.is_wrong,
        control: spelling::control(slice.question.control),
        has_decisions: slice.question.control != Control::Trace,
        effects_tried: slice.effects == Effects::Tried,
        command_line: case.command_line,
        remark: case.remark,
        verdict: verdict(slice),
        warnings: &slice.warnings,
        by_products: by_products::sentence(slice, case.name).into_iter().collect(),
        run: slice.kept_as.as_deref(),
        status: spelling::status(slice.status),
        events: json::events(slice),
        tests: json::tests(slice),
        seconds: json::seconds(slice.elapsed),
        comparison: case.beside.map(|layers| LayeredExecutions::of(case.recorded, layers).document(layers)),
        source: source::listing(case.recorded, slice, case.beside),
        search: search::drawing(case),
    };
    Chapter(serde_json::to_value(document).expect("a document has text keys only"))
}

/// Writes the page with these results. It begins with the lines that only wrong output needs, if there are any, and
/// the first result that needs them; otherwise with the first wrong one, or the first of all.
pub fn page(title: &str, introduction: &str, chapters: &[Chapter], wrong_only: &WrongOnly) -> String {
    let chapters: Vec<&Value> = chapters.iter().map(|chapter| &chapter.0).collect();
    let data = serde_json::json!({
        "title": title,
        "introduction": introduction,
        "chapters": chapters,
        "suspects": wrong_only,
    });
    let scripts = SCRIPTS.concat();
    fill(
        PAGE,
        &[("title", &escaped(title)), ("style", STYLE), ("data", &embedded(&data)), ("scripts", &scripts)],
    )
}

/// Replaces marks by texts. Each text is looked at once, so that nothing in it can be taken for a mark.
fn fill(template: &str, texts: &[(&str, &str)]) -> String {
    let mut page = String::new();
    let mut rest = template;
    for (name, text) in texts {
        let (before, behind) = rest.split_once(&format!("{{{{{name}}}}}")).expect("the page has its marks");
        page.push_str(before);
        page.push_str(text);
        rest = behind;
    }
    page + rest
}

/// Escapes JSON so that it cannot end the element around it, nor begin a comment in it.
fn embedded(data: &Value) -> String {
    data.to_string().replace('<', "\\u003c")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::testing::{assert_closed, declared_once};
    use serde_json::json;

    use super::super::sample::{self, Sample};
    use super::*;
    use dd::Outcome;

    fn document() -> Value {
        let sample = Sample::sum_mul();
        let slice = sample.slice(&sample.omittable(11)[1..], &sample.omittable(10));
        let history = sample::history(&[(31, &[0, 1, 2], Outcome::Fail), (31, &[1], Outcome::Pass)]);
        let case = sample.case(&slice, &history);
        chapter(&case).0
    }

    #[test]
    fn numbers_are_those_of_the_json() {
        let document = document();
        let events = json!({"recorded": 36, "omittable": 34, "kept": 12, "kept_for_effect": 5});
        assert_eq!(document["events"], events);
        assert_eq!(document["tests"]["total"], 120);
    }

    #[test]
    fn nothing_in_the_data_can_end_its_element() {
        let page = page("a < b", "</script><!--", &[], &WrongOnly::default());
        assert_eq!(page.matches("</script>").count(), PAGE.matches("</script>").count());
        assert!(page.contains("<title>a &lt; b"), "{page}");
    }

    #[test]
    fn a_mark_within_a_text_stays_as_it_is() {
        assert_eq!(fill("{{a}}-{{b}}", &[("a", "{{b}}"), ("b", "x")]), "{{b}}-x");
    }

    #[test]
    fn the_page_s_programs_share_one_space_of_names_and_use_each_once() {
        assert!(declared_once(&SCRIPTS.concat()) > 40);
    }

    #[test]
    fn the_page_refers_to_nothing_outside_of_itself() {
        assert_closed(&page("sum-mul", "", &[Chapter(document())], &WrongOnly::default()));
    }
}
