//! Write the result as workflow commands of GitHub Actions: annotations beside the source.
//!
//! The verdict and what weakens it are warnings, needed statements are notices. GitHub shows ten of each
//! kind for a step. Source of the form: GitHub Docs, "Workflow commands for GitHub Actions".

use tracer::program::Program;

use crate::session::locate::Located;
use crate::slice::CriticalSlice;
use crate::subject::Recorded;

use super::comparison::Compared;
use super::located::{shown, verdict as verdict_of_ranking};
use super::needed_statements::{self, NeededStatement};
use super::ranked::{RankedLine, ranked};
use super::verdict::verdict;

/// Writes the annotations, one a line. The title has the name of the criterion, if it has one.
pub fn slices(recorded: Recorded<'_>, all: &[Compared<'_>]) -> String {
    let title =
        |one: &Compared<'_>| if one.has_name() { format!("stripe: {}", one.name) } else { "stripe".into() };
    all.iter().map(|one| annotations(recorded, one.slice, &property(&title(one)))).collect()
}

fn annotations(recorded: Recorded<'_>, slice: &CriticalSlice, title: &str) -> String {
    let criterion = format!("Failure: {}", slice.question.criterion);
    let general = [criterion + "\n" + &verdict(slice)].into_iter().chain(slice.warnings.iter().cloned());
    let general = general.map(|text| format!("::warning title={title}::{}\n", message(&text)));
    let spots = needed_statements::find(recorded, slice);
    general.chain(spots.iter().map(|spot| notice(recorded.program, spot, title))).collect()
}

/// Writes annotations for the first lines of a located fault.
pub fn ranking(recorded: Recorded<'_>, found: &Located, is_full: bool) -> String {
    let general = [verdict_of_ranking(found)].into_iter().chain(found.warnings.iter().cloned());
    let general = general.map(|text| format!("::warning title=stripe::{}\n", message(&text)));
    let notice = |line: RankedLine<'_>| {
        let (file, text) = (property(&line.file.shown), message(&line.remark));
        format!("::notice file={file},line={},title=stripe%3A rank {}::{text}\n", line.line, line.rank)
    };
    general.chain(ranked(recorded, found, shown(is_full)).into_iter().map(notice)).collect()
}

/// Writes the notice of a statement. The path is as users know it: GitHub looks for it in the repository.
fn notice(program: &Program, spot: &NeededStatement, title: &str) -> String {
    let file = property(&program.file(spot.file).shown);
    let column = if spot.column == 0 { String::new() } else { format!(",col={}", spot.column) };
    format!("::notice file={file},line={}{column},title={title}::{}\n", spot.line, message(&spot.remark))
}

/// Escapes a message. Line ends have escapes; there are none for other control characters, which would steer the
/// terminal that shows the log.
fn message(text: &str) -> String {
    let is_foreign = |c: char| c.is_control() && !"\n\r".contains(c);
    text.replace(is_foreign, "\u{fffd}").replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    message(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::super::sample::{Sample, alone};
    use super::*;

    #[test]
    fn the_verdict_is_a_warning_and_a_needed_statement_is_a_notice() {
        let sample = Sample::sum_mul();
        let result = sample.slice(&sample.omittable(6), &[]);
        let text = slices(sample.recorded(), &alone(&result));
        let rows: Vec<&str> = text.lines().collect();
        assert!(
            rows[0].starts_with("::warning title=stripe::Failure: the output contains `sum = 15`%0A1 of 34 ")
        );
        let notice = "::notice file=sum-mul.c,line=6,col=9,title=stripe::needed. Without event 2: not \
                      reproduced: no output";
        assert_eq!(rows[1..], [notice]);
    }

    #[test]
    fn the_title_names_one_of_several_criteria() {
        let sample = Sample::sum_mul();
        let result = sample.slice(&sample.omittable(6), &[]);
        let all = ["a", "b"].map(|name| Compared { name, is_wrong: false, slice: &result });
        let text = slices(sample.recorded(), &all);
        for title in ["::warning title=stripe%3A a::", "col=9,title=stripe%3A b::needed"] {
            assert!(text.contains(title), "{text}");
        }
    }

    #[test]
    fn what_would_end_a_command_is_escaped() {
        assert_eq!(message("50 %\nmore"), "50 %25%0Amore");
        assert_eq!(property("a,b:c.c"), "a%2Cb%3Ac.c");
        assert_eq!(property("a\x1b[2J\r\n.c"), "a\u{fffd}[2J%0D%0A.c");
    }
}
