//! Codeflaws (Tan and others, ICSE 2017): a folder for each fault, `71-A-bug-1234-5678`, with `71-A-1234.c`, the correct
//! `71-A-5678.c`, and `input-pos1`, `output-pos1`, `input-neg1`, `heldout-input-pos1` and so on.

use std::io;
use std::path::Path;

use super::{PROGRAM, SuiteFault, SuiteTest, build_of, faulty_lines, names, text};

pub(super) fn faults(folder: &Path) -> io::Result<Vec<SuiteFault>> {
    let mut faults = Vec::new();
    for name in names(folder)? {
        if let Some((exercise, [faulty, correct])) = parts(&name) {
            let place = folder.join(&name);
            let (faulty, correct) = (format!("{exercise}-{faulty}.c"), format!("{exercise}-{correct}.c"));
            if place.join(&faulty).is_file() && place.join(&correct).is_file() {
                faults.push(fault(&place, name, exercise, (&faulty, &correct))?);
            }
        }
    }
    Ok(faults)
}

/// `71-A-bug-1234-5678`: the exercise and the two submissions.
fn parts(name: &str) -> Option<(String, [&str; 2])> {
    let (exercise, submissions) = name.split_once("-bug-")?;
    let (faulty, correct) = submissions.split_once('-')?;
    Some((exercise.to_owned(), [faulty, correct]))
}

fn fault(
    place: &Path,
    name: String,
    group: String,
    (faulty, correct): (&str, &str),
) -> io::Result<SuiteFault> {
    let (lines, is_omission) =
        faulty_lines(faulty, &text(&place.join(faulty))?, &text(&place.join(correct))?);
    let known = names(place)?;
    let mut tests = Vec::new();
    for input in known.iter().filter(|file| file.contains("input-pos") || file.contains("input-neg")) {
        let output = input.replacen("input-", "output-", 1);
        if known.contains(&output) {
            tests.push(SuiteTest {
                name: input.replacen("input-", "", 1),
                input: Some(input.clone()),
                passes: Some(input.contains("input-pos")),
                reference: Some(output),
                ..SuiteTest::default()
            });
        }
    }
    Ok(SuiteFault {
        directory: name.clone(),
        name,
        group,
        build: Some(build_of(faulty)),
        program: Some(PROGRAM.into()),
        faulty: lines,
        is_omission,
        tests,
        remark: None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::faults;

    #[test]
    fn a_folder_is_a_fault_with_its_tests() {
        let faults = faults(
            "Codeflaws",
            &[
                ("71-A-bug-12-34/71-A-12.c", "int main() {\n  return 1;\n}\n"),
                ("71-A-bug-12-34/71-A-34.c", "int main() {\n  return 0;\n}\n"),
                ("71-A-bug-12-34/input-pos1", ""),
                ("71-A-bug-12-34/output-pos1", ""),
                ("71-A-bug-12-34/heldout-input-neg2", ""),
                ("71-A-bug-12-34/heldout-output-neg2", ""),
                ("71-A-bug-12-34/input-neg3", "no output"),
                ("71-A-bug-56-78/Makefile", ""),
            ],
        );
        let [fault] = &faults[..] else { panic!("{faults:?}") };
        assert_eq!((fault.name.as_str(), fault.group.as_str()), ("71-A-bug-12-34", "71-A"));
        assert_eq!((fault.faulty.as_slice(), fault.is_omission), (&["71-A-12.c:2".to_owned()][..], false));
        let tests: Vec<_> = fault.tests.iter().map(|test| (test.name.as_str(), test.passes)).collect();
        assert_eq!(tests, [("heldout-neg2", Some(false)), ("pos1", Some(true))]);
    }
}
