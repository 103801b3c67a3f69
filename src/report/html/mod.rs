//! Write results as a single page for a browser, with everything in it.
//!
//! The page's text, style and programs are files of their own next to this one; they are put together here
//! with the data, as JSON. The amount that is shown is capped, because a browser cannot show a million dots: `source`
//! and `search` choose what there is room for, and say what they have left out. All numbers are those of
//! the JSON result.

pub mod changes;
mod data;
mod frame;
pub mod located;
mod matrix;
mod outputs;
mod search;
mod shown;
pub mod simplified;
pub mod sliced;
mod source;
mod suspects;

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
use frame::Frame;

pub use suspects::WrongOnly;

const FRAME: Frame = Frame {
    kind: "critical",
    about: "critical slice",
    heading: r#"Critical slice of <code id="title"></code>"#,
    skip: ("source", "the source"),
    main: include_str!("critical.html"),
    style: "",
    scripts: &[
        include_str!("suspects.js"),
        include_str!("summary.js"),
        include_str!("signs.js"),
        include_str!("source.js"),
        include_str!("difference.js"),
        include_str!("output.js"),
        include_str!("cells.js"),
        include_str!("matrix.js"),
        include_str!("curve.js"),
        include_str!("criteria.js"),
        include_str!("critical.js"),
    ],
};

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
    FRAME.page(title, &data)
}

#[cfg(test)]
mod tests {
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

    const FRAMES: [Frame; 5] = [FRAME, changes::FRAME, located::FRAME, simplified::FRAME, sliced::FRAME];

    #[test]
    fn pages_refer_to_nothing_outside_of_themselves() {
        let critical = page("sum-mul", "", &[Chapter(document())], &WrongOnly::default());
        let empty = FRAMES.iter().map(|frame| frame.page("", &Value::Null));
        for page in empty.chain([critical]) {
            for reference in ["src=", "@import", "url(", "fetch(", "<link"] {
                assert!(!page.contains(reference), "{reference}");
            }
        }
    }

    #[test]
    fn the_scripts_of_a_page_share_one_space_of_names_and_use_each_once() {
        let named = |line: &str| {
            let rest = ["function ", "const ", "let "].iter().find_map(|word| line.strip_prefix(word))?;
            Some(rest.split(|c: char| !c.is_alphanumeric()).next()?.to_owned())
        };
        for frame in FRAMES {
            let page = frame.page("", &Value::Null);
            let mut names: Vec<String> = page.lines().filter_map(named).collect();
            let all = names.len();
            names.sort();
            names.dedup();
            assert!(all > 20, "{}: {names:#?}", frame.kind);
            assert_eq!(names.len(), all, "{}: {names:#?}", frame.kind);
        }
    }
}
