//! Write the needed statements as `file:line:column: text`, the form that editors jump by.
//!
//! Paths are absolute, so that they lead somewhere whatever the editor's directory is.

use tracer::program::Program;

use crate::session::locate::Located;
use crate::subject::Recorded;

use super::comparison::Compared;
use super::located::shown;
use super::needed_statements::{self, NeededStatement};
use super::ranked::{RankedLine, ranked};
use super::source::printable;

/// Writes a line for each needed statement, in the order of their first needed executions. The text begins with the
/// name of the criterion, if it has one.
pub fn slices(recorded: Recorded<'_>, all: &[Compared<'_>]) -> String {
    let of_one = |one: &Compared<'_>| {
        let name = if one.has_name() { format!("{}: ", one.name) } else { String::new() };
        needed_statements::find(recorded, one.slice)
            .into_iter()
            .map(move |spot| line(recorded.program, &spot, &name))
    };
    all.iter().flat_map(of_one).collect()
}

/// Writes the first lines of a located fault, in the order of the ranking.
pub fn ranking(recorded: Recorded<'_>, found: &Located, is_full: bool) -> String {
    let row = |line: RankedLine<'_>| {
        let path = printable(&line.file.path.to_string_lossy());
        format!("{path}:{}:1: rank {}: {}\n", line.line, line.rank, printable(&line.remark))
    };
    ranked(recorded, found, shown(is_full)).into_iter().map(row).collect()
}

fn line(program: &Program, spot: &NeededStatement, name: &str) -> String {
    // Editors know no escapes in it: what would end the line is replaced.
    let path = printable(&program.file(spot.file).path.to_string_lossy());
    // Editors count from 1; without a column the first one is meant.
    let column = spot.column.max(1);
    format!("{path}:{}:{column}: {name}{}\n", spot.line, printable(&spot.remark.replace('\n', " ")))
}

#[cfg(test)]
mod tests {
    use super::super::sample::{Sample, alone};
    use super::*;

    #[test]
    fn each_needed_statement_is_a_line_to_jump_to() {
        let sample = Sample::sum_mul();
        let result = sample.slice(&sample.omittable(8), &[]);
        let text = slices(sample.recorded(), &alone(&result));
        let rows: Vec<&str> = text.lines().map(|row| row.rsplit_once("/").unwrap().1).collect();
        let expected = [
            "sum-mul.c:8:5: needed. Without event 4: not reproduced: no output",
            "sum-mul.c:8:20: needed. Without event 5: not reproduced: no output",
        ];
        assert_eq!(rows, expected);
        assert!(text.starts_with('/'));
    }

    #[test]
    fn the_text_names_one_of_several_criteria() {
        let sample = Sample::sum_mul();
        let result = sample.slice(&sample.omittable(6), &[]);
        let all = ["a", "b"].map(|name| Compared { name, is_wrong: false, slice: &result });
        let text = slices(sample.recorded(), &all);
        assert!(
            text.contains("sum-mul.c:6:9: a: needed") && text.contains("sum-mul.c:6:9: b: needed"),
            "{text}"
        );
    }
}
