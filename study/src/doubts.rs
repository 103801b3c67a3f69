//! The doubts about a fault, once its tests were run: is it what its manifest says?

use crate::documents::SpectraDocument;
use crate::manifest::StudyFault;
use crate::source_line::SourceLine;
use crate::spectra::Spectra;

/// Lists the doubts about a fault, each with what to do.
pub fn doubts(fault: &StudyFault, document: &SpectraDocument, spectra: &Spectra) -> Vec<String> {
    let mut doubts = document.left_out.clone();
    let lines = spectra.lines();
    let by_line = spectra.by_line();
    let executed = &by_line.tests[document.failing_run].executed;
    let is_executed =
        |line: &SourceLine| executed.iter().any(|&one| line.means(&by_line.statements[one].line));
    for line in &fault.faulty {
        match lines.iter().filter(|one| line.means(one)).count() {
            0 => doubts.push(not_executable(line, &lines)),
            1 if !is_executed(line) && !fault.is_omission => doubts.push(format!(
                "the failing run does not execute the faulty line {line}: name the line that makes it fail, or say \
                 `missing = true` if code is missing there"
            )),
            1 => {}
            _ => doubts.push(format!("the faulty line {line} may be in several files: write more of its path")),
        }
    }
    for (test, seen) in fault
        .tests
        .iter()
        .filter_map(|test| Some((test, document.tests.iter().find(|seen| seen.name == test.name)?)))
    {
        match test.passes {
            Some(true) if seen.fails => {
                doubts.push(format!(
                    "the test {} fails ({}), and is said to pass: correct `passes`",
                    test.name, seen.ended
                ));
            }
            Some(false) if !seen.fails => {
                doubts.push(format!("the test {} passes, and is said to fail: correct `passes`", test.name));
            }
            _ => {}
        }
    }
    if spectra.tests.iter().all(|test| test.fails) {
        doubts.push("no test passes: spectrum-based techniques cannot tell lines apart; give `tests`".into());
    }
    doubts
}

fn not_executable(line: &SourceLine, lines: &[SourceLine]) -> String {
    let of_file = lines.iter().filter(|one| line.means(&SourceLine { line: line.line, ..(*one).clone() }));
    let nearest = of_file.min_by_key(|one| one.line.abs_diff(line.line));
    let remedy = match nearest {
        Some(nearest) => format!("the nearest one that has is {nearest}"),
        None => "no file of that name is traced; see `stripe doctor` for what is".into(),
    };
    format!("the faulty line {line} has no statement: {remedy}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::TestDocument;
    use crate::manifest::StudyTest;
    use crate::spectra::tests::spectra;

    #[test]
    fn what_a_manifest_says_wrongly_is_told_with_a_remedy() {
        let spectra = spectra(&[(3, 1), (5, 1)], &[(true, &[0]), (true, &[0, 1])]);
        let test = |name: &str| TestDocument { name: name.into(), fails: true, ..TestDocument::default() };
        let document = SpectraDocument { tests: vec![test("t1"), test("t2")], ..SpectraDocument::default() };
        let mut fault = StudyFault {
            faulty: [3, 4, 5].map(|line| SourceLine::new("a.c", line)).to_vec(),
            tests: vec![StudyTest { name: "t2".into(), passes: Some(true), ..StudyTest::default() }],
            ..StudyFault::default()
        };
        let told = doubts(&fault, &document, &spectra);
        let expected = [
            "the faulty line a.c:4 has no statement: the nearest",
            "does not execute the faulty line a.c:5",
            "the test t2 fails",
            "no test passes",
        ];
        assert!(told.iter().zip(expected).all(|(one, part)| one.contains(part)), "{told:#?}");
        assert_eq!(told.len(), expected.len());
        fault.is_omission = true;
        assert!(doubts(&fault, &document, &spectra).iter().all(|one| !one.contains("does not execute")));
    }
}
