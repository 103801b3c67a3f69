//! ITSP (Yi and others, ESEC/FSE 2017): `Lab-3/2810/270010_buggy.c` with `270010_correct.c` beside it, and the tests of an
//! exercise as `test/in.2810.1.txt` and `test/out.2810.1.txt`. The folder is that of the labs, or the one with `dataset` in it.

use std::io;
use std::path::Path;

use super::{PROGRAM, SuiteFault, SuiteTest, build_of, faulty_lines, names, text};

pub(super) fn faults(folder: &Path) -> io::Result<Vec<SuiteFault>> {
    let below = if folder.join("dataset").is_dir() { "dataset/" } else { "" };
    let data = folder.join(below);
    let files = names(&data.join("test"))?;
    let mut faults = Vec::new();
    for lab in names(&data)?.into_iter().filter(|name| name.starts_with("Lab-")) {
        for exercise in names(&data.join(&lab))? {
            let place = data.join(&lab).join(&exercise);
            let tests = tests(&exercise, &files);
            for file in names(&place)? {
                let Some(program) = file.strip_suffix("_buggy.c") else { continue };
                let correct = place.join(format!("{program}_correct.c"));
                if correct.is_file() {
                    let (lines, is_omission) =
                        faulty_lines(&file, &text(&place.join(&file))?, &text(&correct)?);
                    faults.push(SuiteFault {
                        name: format!("{lab}-{exercise}-{program}"),
                        group: format!("{lab}-{exercise}"),
                        directory: format!("{below}{lab}/{exercise}"),
                        build: Some(build_of(&file)),
                        program: Some(PROGRAM.into()),
                        faulty: lines,
                        is_omission,
                        tests: tests.clone(),
                        remark: None,
                    });
                }
            }
        }
    }
    Ok(faults)
}

/// The tests of an exercise, seen from its folder.
fn tests(exercise: &str, files: &[String]) -> Vec<SuiteTest> {
    let start = format!("in.{exercise}.");
    let inputs = files.iter().filter(|file| file.starts_with(&start));
    let test = |input: &String| {
        let reference = format!("out{}", input.strip_prefix("in")?);
        files.contains(&reference).then(|| SuiteTest {
            name: input[start.len()..].trim_end_matches(".txt").to_owned(),
            input: Some(format!("../../test/{input}")),
            reference: Some(format!("../../test/{reference}")),
            ..SuiteTest::default()
        })
    };
    inputs.filter_map(test).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::faults;

    #[test]
    fn a_pair_of_programs_is_a_fault_with_the_tests_of_its_exercise() {
        let files = [
            ("Lab-3/2810/270010_buggy.c", "int main() {\n}\n"),
            ("Lab-3/2810/270010_correct.c", "int main() {\n  f();\n}\n"),
            ("Lab-3/2810/Main.c", ""),
            ("test/in.2810.1.txt", ""),
            ("test/out.2810.1.txt", ""),
            ("test/in.28.1.txt", ""),
            ("test/out.28.1.txt", ""),
        ];
        let found = faults("ITSP", &files);
        let [fault] = &found[..] else { panic!("{found:?}") };
        assert_eq!(fault.name, "Lab-3-2810-270010");
        assert!(fault.is_omission && fault.faulty == ["270010_buggy.c:1", "270010_buggy.c:2"]);
        assert_eq!(fault.tests.len(), 1);
        let below = files.map(|(name, content)| (format!("dataset/{name}"), content));
        let below: Vec<(&str, &str)> =
            below.iter().map(|(name, content)| (name.as_str(), *content)).collect();
        assert_eq!(faults("ITSP", &below)[0].directory, "dataset/Lab-3/2810");
    }
}
