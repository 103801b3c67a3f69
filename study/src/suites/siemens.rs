//! The programs of the Siemens suite, as the Software-artifact Infrastructure Repository lays them out: for each program a
//! folder with `source.alt/source.orig` (or `source`), `versions.alt/versions.orig/v1` (or `versions/v1`),
//! `testplans.alt/universe` (or `testplans/universe`) with a command line for each test, `inputs`, and `outputs/t1` and
//! so on, what the correct program has printed: SIR's scripts write them, and without them there are no tests.

use std::io;
use std::path::Path;

use super::{PROGRAM, SuiteFault, SuiteTest, faulty_lines, first_of, names, text, word};

pub(super) fn faults(folder: &Path) -> io::Result<Vec<SuiteFault>> {
    let mut faults = Vec::new();
    if first_of(folder, &VERSIONS).is_some() {
        let name = folder.canonicalize()?.file_name().unwrap_or_default().to_string_lossy().into_owned();
        faults = program(folder, "", &name)?;
    }
    for name in names(folder)? {
        faults.extend(program(&folder.join(&name), &format!("{name}/"), &name)?);
    }
    Ok(faults)
}

const VERSIONS: [&str; 2] = ["versions.alt/versions.orig", "versions"];
const SOURCES: [&str; 4] = ["source.alt/source.orig", "source", "origin", "versions.alt/versions.orig/v0"];

fn program(place: &Path, below: &str, name: &str) -> io::Result<Vec<SuiteFault>> {
    let (Some(versions), Some(source)) = (first_of(place, &VERSIONS), first_of(place, &SOURCES)) else {
        return Ok(Vec::new());
    };
    let way = |to: &Path| to.strip_prefix(place).unwrap_or(to).to_string_lossy().into_owned();
    let (tests, remark) = tests(place)?;
    let mut faults = Vec::new();
    for version in names(&versions)? {
        let folder = versions.join(&version);
        let is_version =
            version.strip_prefix('v').is_some_and(|number| number.parse::<u32>().is_ok_and(|n| n > 0));
        let files: Vec<String> = names(&folder)?.into_iter().filter(|file| file.ends_with(".c")).collect();
        if !is_version || files.is_empty() {
            continue;
        }
        let (mut changed, mut beside) = (Vec::new(), Vec::new());
        for file in files.iter().filter(|file| source.join(file).is_file()) {
            let (one, other) = (text(&folder.join(file))?, text(&source.join(file))?);
            let (lines, is_omission) = faulty_lines(file, &one, &other);
            if is_omission { &mut beside } else { &mut changed }.extend(lines);
        }
        let is_omission = changed.is_empty() && !beside.is_empty();
        let sources: Vec<String> =
            files.iter().map(|file| word(&format!("{}/{file}", way(&folder)))).collect();
        faults.push(SuiteFault {
            name: format!("{name}-{version}"),
            group: name.to_owned(),
            directory: if below.is_empty() { ".".into() } else { below.trim_end_matches('/').into() },
            build: Some(format!(
                "cc -g -O0 -w -o \"$STRIPE_BUILD/prog\" {} -I {} -lm",
                sources.join(" "),
                word(&way(&source))
            )),
            program: Some(PROGRAM.into()),
            faulty: if is_omission { beside } else { changed },
            is_omission,
            tests: tests.clone(),
            remark: remark.clone(),
        });
    }
    Ok(faults)
}

/// The tests of the universe whose correct output is there, and what is to be told if there is none.
fn tests(place: &Path) -> io::Result<(Vec<SuiteTest>, Option<String>)> {
    let plan = ["testplans.alt/universe", "testplans/universe"].map(|way| place.join(way));
    let Some(plan) = plan.iter().find(|plan| plan.is_file()) else {
        return Ok((Vec::new(), Some("there is no universe in testplans.alt".into())));
    };
    let mut tests = Vec::new();
    for (number, line) in text(plan)?.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        let name = format!("t{}", number + 1);
        let reference = format!("outputs/{name}");
        if place.join(&reference).is_file() {
            tests.push(SuiteTest { reference: Some(reference), ..command_line(place, name, line) });
        }
    }
    let remark =
        "outputs/t1, t2 and so on are missing: what the correct program prints in each test of the universe";
    let remark = tests.is_empty().then(|| remark.to_owned());
    Ok((tests, remark))
}

/// `2 5 < input/add.10`: arguments, and the standard input. Inputs lie in `inputs`, from where the suite runs programs.
fn command_line(place: &Path, name: String, line: &str) -> SuiteTest {
    let (arguments, input) =
        line.split_once('<').map_or((line, None), |(before, file)| (before, Some(file.trim())));
    let there = |file: &str| {
        let ways = [format!("inputs/{file}"), format!("inputs/{}", file.trim_start_matches("../inputs/"))];
        ways.into_iter().find(|way| place.join(way).is_file()).unwrap_or_else(|| file.to_owned())
    };
    SuiteTest {
        name,
        arguments: arguments
            .split_whitespace()
            .map(|argument| argument.trim_matches(['"', '\'']).to_owned())
            .collect(),
        input: input.map(there),
        ..SuiteTest::default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::faults;

    #[test]
    fn a_version_is_a_fault_with_the_tests_whose_output_is_known() {
        let found = faults(
            "Siemens/SIR",
            &[
                ("tcas/source.alt/source.orig/tcas.c", "int a = 1;\nint main() { return a; }\n"),
                ("tcas/versions.alt/versions.orig/v1/tcas.c", "int a = 2;\nint main() { return a; }\n"),
                ("tcas/versions.alt/versions.orig/v2/tcas.c", "int main() { return a; }\n"),
                ("tcas/testplans.alt/universe", " 958 1 \"2\"\n3 < add.10\n4\n"),
                ("tcas/inputs/add.10", ""),
                ("tcas/outputs/t1", ""),
                ("tcas/outputs/t2", ""),
            ],
        );
        let [one, two] = &found[..] else { panic!("{found:?}") };
        assert_eq!((one.name.as_str(), one.directory.as_str()), ("tcas-v1", "tcas"));
        assert_eq!((one.faulty.as_slice(), two.is_omission), (&["tcas.c:1".to_owned()][..], true));
        assert_eq!(one.tests[0].arguments, ["958", "1", "2"]);
        assert_eq!(one.tests[1].input.as_deref(), Some("inputs/add.10"));
        assert_eq!(one.tests.len(), 2);
    }

    #[test]
    fn a_program_by_itself_whose_outputs_are_missing_says_so() {
        let found = faults(
            "Siemens/SIR",
            &[("source/p.c", "int a;\n"), ("versions/v1/p.c", "int b;\n"), ("testplans/universe", "1\n")],
        );
        assert_eq!((found.len(), found[0].directory.as_str(), found[0].tests.len()), (1, ".", 0));
        assert!(found[0].remark.as_deref().is_some_and(|remark| remark.starts_with("outputs/t1")));
    }
}
