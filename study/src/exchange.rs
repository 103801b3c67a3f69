//! Export of spectra in the formats of other tools.
//!
//! GZoltar 1.7: `spectra.csv` names the elements, `tests.csv` the tests with their outcomes, `matrix.txt` has a row for
//! each test, a 1 or 0 for each element, and + or - for its outcome. TCM, *test coverage matrix*, as flitsr reads it:
//! sections for tests, elements, and pairs of element and count for each test.

use std::collections::HashSet;
use std::fmt::Write;

use crate::source_line::SourceLine;
use crate::spectra::{Spectra, SpectrumStatement};

/// The three files of GZoltar.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GzoltarFiles {
    /// `spectra.csv`.
    pub spectra: String,
    /// `tests.csv`.
    pub tests: String,
    /// `matrix.txt`.
    pub matrix: String,
}

/// The name of an element, `package$file#function():line`, without the signs that this form uses itself. There are no
/// columns in it: that of a statement stands with the function.
fn element(one: &SpectrumStatement) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_.-/".contains(c);
    let plain = |text: &str| text.chars().map(|c| if is_plain(c) { c } else { '_' }).collect::<String>();
    let column = if one.column == 0 { String::new() } else { format!("@{}", one.column) };
    let file = plain(&one.line.file);
    let (package, name) = file.rsplit_once('/').unwrap_or(("default", &file));
    format!("{}${name}#{}(){column}:{}", package.replace('/', "."), plain(&one.function), one.line.line)
}

/// Writes spectra in the format of GZoltar.
pub fn gzoltar(spectra: &Spectra) -> GzoltarFiles {
    let mut names = String::from("name\n");
    for one in &spectra.statements {
        let _ = writeln!(names, "{}", element(one));
    }
    let (mut tests, mut matrix) = (String::from("name,outcome,runtime,stacktrace\n"), String::new());
    for test in &spectra.tests {
        let outcome = if test.fails { "FAIL" } else { "PASS" };
        let _ = writeln!(tests, "{},{outcome},0,", test.name.replace(',', "_"));
        let executed: HashSet<usize> = test.executed.iter().copied().collect();
        for number in 0..spectra.statements.len() {
            matrix += if executed.contains(&number) { "1 " } else { "0 " };
        }
        matrix += if test.fails { "-\n" } else { "+\n" };
    }
    GzoltarFiles { spectra: names, tests, matrix }
}

/// Writes spectra as a test coverage matrix. Faulty lines are marked with the number of their fault.
pub fn tcm(spectra: &Spectra, faulty: &[SourceLine]) -> String {
    let mut text = String::from("#tests\n");
    let plain = |name: &str| name.replace(char::is_whitespace, "_");
    for test in &spectra.tests {
        let _ = writeln!(text, "{} {}", plain(&test.name), if test.fails { "FAILED" } else { "PASSED" });
    }
    text += "\n#uuts\n";
    for one in &spectra.statements {
        let is_faulty = faulty.iter().any(|line| line.means(&one.line));
        // All lines of a manifest's fault are one fault.
        let mark = if is_faulty { " | 0" } else { "" };
        let column = if one.column == 0 { String::new() } else { format!(":{}", one.column) };
        // A colon separates, also where C++ has two of them in names.
        let function = one.function.replace("::", ".").replace([':', '|'], "_");
        let _ = writeln!(text, "{}:{function}:{}{column}{mark}", plain(&one.line.file), one.line.line);
    }
    text += "\n#matrix\n";
    for test in &spectra.tests {
        let pairs: Vec<String> = test.executed.iter().map(|number| format!("{number} 1")).collect();
        let _ = writeln!(text, "{}", pairs.join(" "));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spectra::tests::spectra;

    #[test]
    fn gzoltar_gets_a_row_for_each_test_and_a_column_for_each_element() {
        let spectra = spectra(&[(1, 0), (2, 0), (3, 0)], &[(true, &[0, 2]), (false, &[1])]);
        let files = gzoltar(&spectra);
        assert_eq!(files.matrix, "1 0 1 -\n0 1 0 +\n");
        assert_eq!(files.spectra, "name\ndefault$a.c#main():1\ndefault$a.c#main():2\ndefault$a.c#main():3\n");
        assert_eq!(files.tests, "name,outcome,runtime,stacktrace\nt1,FAIL,0,\nt2,PASS,0,\n");
    }

    #[test]
    fn a_coverage_matrix_has_pairs_and_marks_the_fault() {
        let spectra = spectra(&[(1, 0), (2, 0)], &[(true, &[0, 1]), (false, &[1])]);
        let text = tcm(&spectra, &[SourceLine::new("a.c", 2)]);
        assert_eq!(
            text,
            "#tests\nt1 FAILED\nt2 PASSED\n\n#uuts\na.c:main:1\na.c:main:2 | 0\n\n#matrix\n0 1 1 1\n1 1\n"
        );
    }
}
