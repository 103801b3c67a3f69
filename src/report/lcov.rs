//! Write the slice as an LCOV tracefile, for `genhtml` and the gutters of editors.
//!
//! Coverage tools show how often a line was executed. Here a line's count is that of its *needed*
//! executions: 0 for a line that was executed and not needed. Lines that were never executed are absent,
//! because nothing was tried about them. A path is a line without escapes: what would end it is replaced. A
//! criterion with a name is a test of that name. Source of the form: geninfo(1), "FILES".

use std::fmt::Write;

use crate::subject::Recorded;

use super::comparison::Compared;
use super::executions::{self, Executions};
use super::source::printable;

/// The name of the test if the criterion has none.
const TEST: &str = "critical_slice";

/// Writes the slices as coverage.
pub fn slices(recorded: Recorded<'_>, all: &[Compared<'_>]) -> String {
    all.iter().map(|one| coverage(recorded, one, if one.has_name() { one.name } else { TEST })).collect()
}

fn coverage(recorded: Recorded<'_>, one: &Compared<'_>, test: &str) -> String {
    // Other characters are not allowed in a test's name.
    let test = test.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
    let lines = executions::count(recorded, one.slice);
    let lines: Vec<_> = lines.iter().filter(|((_, line), all)| *line > 0 && all.executed() > 0).collect();
    let of_files = lines.chunk_by(|((one, _), _), ((next, _), _)| one == next);
    of_files
        .map(|of_file| {
            let path = printable(&recorded.program.file(of_file[0].0.0).path.to_string_lossy());
            let counts = of_file.iter().map(|((_, line), all)| (*line, *all));
            format!("TN:{test}\nSF:{path}\n{}end_of_record\n", data(counts))
        })
        .collect()
}

fn data<'a>(lines: impl Iterator<Item = (u32, &'a Executions)> + Clone) -> String {
    let mut text = String::new();
    for (line, executions) in lines.clone() {
        let _ = writeln!(text, "DA:{line},{}", executions.needed());
    }
    let hit = lines.clone().filter(|(_, executions)| executions.needed() > 0).count();
    let _ = writeln!(text, "LF:{}\nLH:{hit}", lines.count());
    text
}

#[cfg(test)]
mod tests {
    use super::super::sample::{Sample, alone};
    use super::*;

    #[test]
    fn needed_executions_are_hits_and_lines_without_any_have_none() {
        let sample = Sample::sum_mul();
        let result = sample.slice(&sample.omittable(11)[1..], &[]);
        let text = slices(sample.recorded(), &alone(&result));
        let rows: Vec<&str> = text.lines().collect();
        assert!(rows[1].starts_with("SF:/") && rows[1].ends_with("/sum-mul.c"), "{text}");
        assert_eq!(rows[2..9].join(" "), "DA:6,0 DA:7,0 DA:8,0 DA:9,0 DA:10,0 DA:11,5 DA:12,0");
        assert_eq!(rows[rows.len() - 3..], ["LF:11", "LH:1", "end_of_record"]);
    }
}
