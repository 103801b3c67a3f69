//! Find the faults of well-known public suites in the folders in which their users have them.
//!
//! Knows layouts only; none of these suites is shipped. Where a suite has the correct version beside the faulty one, the
//! faulty lines are those that differ. What a layout does not say is left open, for the user to fill in.

mod bugscpp;
mod codeflaws;
mod dbgbench;
mod itsp;
mod siemens;

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use similar::{Algorithm, DiffTag, capture_diff_slices};

/// A fault of a suite, as far as its layout tells of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SuiteFault {
    /// Its name.
    pub name: String,
    /// The program or the exercise.
    pub group: String,
    /// The directory in which it is built and run, from the folder of the suite.
    pub directory: String,
    /// The shell command that builds it.
    pub build: Option<String>,
    /// The executable.
    pub program: Option<String>,
    /// The faulty lines.
    pub faulty: Vec<String>,
    /// Whether code is missing there.
    pub is_omission: bool,
    /// Its tests.
    pub tests: Vec<SuiteTest>,
    /// A comment that tells the user what else is to be done.
    pub remark: Option<String>,
}

/// A test of a fault; its files are named from the directory of the fault.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SuiteTest {
    /// Its name.
    pub name: String,
    /// The arguments of the program.
    pub arguments: Vec<String>,
    /// Its standard input.
    pub input: Option<String>,
    /// The correct output.
    pub reference: Option<String>,
    /// Whether it passes, if the suite says so.
    pub passes: Option<bool>,
}

/// A suite, and its faults.
pub type FoundSuite = (&'static str, Vec<SuiteFault>);

/// The suite that lies in this folder; `None` if it is none of those that are known.
///
/// # Errors
/// If a file of it cannot be read.
pub fn find(folder: &Path) -> io::Result<Option<FoundSuite>> {
    type Finder = fn(&Path) -> io::Result<Vec<SuiteFault>>;
    const SUITES: [(&str, Finder); 5] = [
        ("Codeflaws", codeflaws::faults),
        ("ITSP", itsp::faults),
        ("DBGBench", dbgbench::faults),
        ("BugsC++", bugscpp::faults),
        ("Siemens/SIR", siemens::faults),
    ];
    for (name, faults) in SUITES {
        let mut found = faults(folder)?;
        if !found.is_empty() {
            found.sort_by(|one, other| one.name.cmp(&other.name));
            return Ok(Some((name, found)));
        }
    }
    Ok(None)
}

/// The usual command for a single C file.
fn build_of(source: &str) -> String {
    format!("cc -g -O0 -w -o \"$STRIPE_BUILD/prog\" {} -lm", word(source))
}

/// A word for the shell.
fn word(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
    if text.chars().all(is_plain) { text.to_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

const PROGRAM: &str = "{build}/prog";

/// The names in a folder, in order; none if it is not there.
fn names(folder: &Path) -> io::Result<Vec<String>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            return Ok(Vec::new());
        }
        entries => entries?,
    };
    let names = entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
    let mut names = names.collect::<io::Result<Vec<String>>>()?;
    names.sort();
    Ok(names)
}

/// The first of these folders that is there.
fn first_of(folder: &Path, ways: &[&str]) -> Option<PathBuf> {
    ways.iter().map(|way| folder.join(way)).find(|place| place.is_dir())
}

fn text(file: &Path) -> io::Result<String> {
    fs::read(file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// The lines of a faulty version in which it differs from the correct one, and whether nothing but code that is missing
/// differs: then they are those beside it.
fn faulty_lines(shown: &str, faulty: &str, correct: &str) -> (Vec<String>, bool) {
    let (old, new): (Vec<&str>, Vec<&str>) = (lines(faulty), lines(correct));
    let (mut changed, mut beside) = (Vec::new(), Vec::new());
    for change in capture_diff_slices(Algorithm::Myers, &old, &new) {
        let range = change.old_range();
        match change.tag() {
            DiffTag::Equal => {}
            DiffTag::Delete | DiffTag::Replace => changed.extend(range),
            // From the line before it to the one after it.
            DiffTag::Insert => beside.extend(range.start.saturating_sub(1)..(range.start + 1).min(old.len())),
        }
    }
    changed.retain(|&line| has_code(old[line]));
    let is_omission = changed.is_empty();
    let chosen = if is_omission { beside } else { changed };
    (chosen.into_iter().map(|line| format!("{shown}:{}", line + 1)).collect(), is_omission)
}

fn lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim_end).collect()
}

/// A line of braces, or of a comment, is not what is wrong.
fn has_code(line: &str) -> bool {
    let line = line.trim();
    !(line.starts_with("//") || line.starts_with("/*") || line.starts_with('*'))
        && line.chars().any(|c| !"{};".contains(c) && !c.is_whitespace())
}

/// The faults as tables of a manifest.
pub fn manifest(faults: &[SuiteFault]) -> String {
    let mut text = String::new();
    for fault in faults {
        let _ =
            writeln!(text, "\n[[fault]]\nname = {}\ngroup = {}", quoted(&fault.name), quoted(&fault.group));
        let _ = writeln!(text, "directory = {}", quoted(&fault.directory));
        for (key, value) in [("build", &fault.build), ("program", &fault.program)] {
            match value {
                Some(value) => drop(writeln!(text, "{key} = {}", quoted(value))),
                None => drop(writeln!(text, "# {key} = \"\" # to be filled in")),
            }
        }
        let faulty: Vec<String> = fault.faulty.iter().map(|line| quoted(line)).collect();
        let _ = writeln!(text, "faulty = [{}]", faulty.join(", "));
        if fault.is_omission {
            text += "missing = true\n";
        }
        match fault.tests.is_empty() {
            true => text += "# input, reference, tests # to be filled in\n",
            false => drop(writeln!(text, "tests = [\n{}]", fault.tests.iter().map(test).collect::<String>())),
        }
        if let Some(remark) = &fault.remark {
            let _ = writeln!(text, "# {remark}");
        }
    }
    text
}

fn test(test: &SuiteTest) -> String {
    let mut cells = vec![format!("name = {}", quoted(&test.name))];
    if !test.arguments.is_empty() {
        let arguments: Vec<String> = test.arguments.iter().map(|argument| quoted(argument)).collect();
        cells.push(format!("arguments = [{}]", arguments.join(", ")));
    }
    cells.extend(test.input.iter().map(|file| format!("input = {}", quoted(file))));
    cells.extend(test.reference.iter().map(|file| format!("reference = {}", quoted(file))));
    cells.extend(test.passes.iter().map(|passes| format!("passes = {passes}")));
    format!("    {{ {} }},\n", cells.join(", "))
}

/// A text of a TOML document.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => drop(write!(quoted, "\\u{:04x}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::StudyManifest;

    /// A folder with these files.
    pub(super) fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let place = tempfile::tempdir().expect("a folder");
        for (name, content) in files {
            let file = place.path().join(name);
            fs::create_dir_all(file.parent().expect("a folder")).expect("made");
            fs::write(file, content).expect("written");
        }
        place
    }

    /// The faults of the suite in a folder with these files, which has to be this one. All that its manifest says has to
    /// be what a study can read.
    pub(super) fn faults(name: &str, files: &[(&str, &str)]) -> Vec<SuiteFault> {
        let place = folder(files);
        let (found, faults) = find(place.path()).expect("read").expect("a suite");
        assert_eq!(found, name);
        let file = place.path().join("faults.toml");
        fs::write(&file, format!("techniques = [\"ochiai\"]\n{}", manifest(&faults))).expect("written");
        let read = StudyManifest::read(&file).expect("read");
        let open = faults.iter().filter(|fault| fault.program.is_none() || fault.tests.is_empty()).count();
        assert_eq!(
            (read.faults.len(), read.mistakes.len() >= open),
            (faults.len() - open, true),
            "{:?}",
            read.mistakes
        );
        faults
    }

    #[test]
    fn faulty_lines_are_those_that_differ_or_those_beside_what_is_missing() {
        let correct = "int f(int a) {\n  if (a < 0)\n    return 0;\n  return a;\n}\n";
        let wrong = correct.replace("a < 0", "a <= 0");
        assert_eq!(faulty_lines("f.c", &wrong, correct), (vec!["f.c:2".into()], false));
        let missing = "int f(int a) {\n  return a;\n}\n";
        assert_eq!(faulty_lines("f.c", missing, correct), (vec!["f.c:1".into(), "f.c:2".into()], true));
        let commented = correct.replace("    return 0;\n", "    return 0; \n  // nothing\n");
        assert_eq!(faulty_lines("f.c", &commented, correct), (Vec::new(), true));
    }

    #[test]
    fn any_other_folder_is_no_suite() {
        assert_eq!(find(folder(&[("a/prog.c", ""), ("b.txt", "")]).path()).expect("read"), None);
    }
}
