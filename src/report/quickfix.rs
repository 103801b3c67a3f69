//! Write the needed statements as `file:line:column: text`, the form that editors jump by.
//!
//! Paths are absolute, so that they lead somewhere whatever the editor's directory is.

use tracer::program::Program;

use crate::slice::{CriticalSlice, Recorded};

use super::source::printable;
use super::spots::{self, Spot};

/// A line for each needed statement, in the order of their first needed executions.
pub fn slice(recorded: Recorded<'_>, slice: &CriticalSlice) -> String {
    spots::find(recorded, slice).iter().map(|spot| line(recorded.program, spot)).collect()
}

fn line(program: &Program, spot: &Spot) -> String {
    let path = program.file(spot.file).path.display();
    // Editors count from 1; without a column the first one is meant.
    let column = spot.column.max(1);
    format!("{path}:{}:{column}: {}\n", spot.line, printable(&spot.remark.replace('\n', " ")))
}

#[cfg(test)]
mod tests {
    use super::super::sample::Sample;
    use super::*;

    #[test]
    fn each_needed_statement_is_a_line_to_jump_to() {
        let sample = Sample::sum_mul();
        let text = slice(sample.recorded(), &sample.slice(&sample.omittable(8), &[]));
        let rows: Vec<&str> = text.lines().map(|row| row.rsplit_once("/").unwrap().1).collect();
        let expected = [
            "sum-mul.c:8:5: needed. Without event 4: not reproduced: no output",
            "sum-mul.c:8:20: needed. Without event 5: not reproduced: no output",
        ];
        assert_eq!(rows, expected);
        assert!(text.starts_with('/'));
    }
}
