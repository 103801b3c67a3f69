//! `stripe study init`: write a manifest for a folder of programs, by convention.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::super::exit::{Exit, Failure};
use super::super::files::{self, Overwriting, Readers};
use super::super::terminal::tell;
use super::options::StudyInitOptions;
use super::show::way;

/// The word by which a comment marks a faulty line.
const MARK: &str = "FAULT";

const TO_DO: &str = "`stripe study check` says what is still to be filled in.\n";

const TECHNIQUES: &str = "\
techniques = [\"slice\", \"slice-effect\", \"locate\", \"tarantula\", \"ochiai\", \"dstar\", \"op2\", \"barinel\", \"jaccard\"]
";

const DEFAULTS: &str = "
[defaults]
directory = \"{name}\"
build = 'cc -g -O0 -o \"$STRIPE_BUILD/prog\" *.c'
program = \"{build}/prog\"
";

/// Writes the manifest.
pub(super) fn init(options: &StudyInitOptions) -> Result<Exit, Failure> {
    let folder = &options.folder;
    let refusal = |error: io::Error| {
        Failure::new(Exit::Usage, format!("{}: {error}; name a folder that can be read", folder.display()))
    };
    let place = place(options)?;
    if let Some((suite, mut faults)) = study::suites::find(folder).map_err(refusal)? {
        faults.iter_mut().for_each(|fault| fault.directory.insert_str(0, &place));
        let text = format!("# {suite}: {TO_DO}{TECHNIQUES}{}", study::suites::manifest(&faults));
        return written(options, &text, &format!("{} faults of {suite}", faults.len()));
    }
    let programs = programs(folder).map_err(refusal)?;
    if programs.is_empty() {
        let message = format!(
            "{}: no folder in it has C files and tests: put each program into a folder of its own, with in/ and out/, or \
             NAME.in and NAME.out",
            folder.display()
        );
        return Err(Failure::new(Exit::Usage, message));
    }
    let defaults = DEFAULTS.replace("{name}", &format!("{place}{{name}}"));
    let mut text = format!("# A study: {TO_DO}{TECHNIQUES}{defaults}");
    for program in &programs {
        text += &fault(program).map_err(refusal)?;
    }
    written(options, &text, &format!("{} faults", programs.len()))
}

/// The relative path from the folder of the manifest to that of the programs; ends with a slash, or is empty.
fn place(options: &StudyInitOptions) -> Result<String, Failure> {
    let folder = |path: &Path| match path.as_os_str().is_empty() {
        true => Path::new(".").canonicalize(),
        false => path.canonicalize(),
    };
    let refusal =
        |error: io::Error| Failure::new(Exit::Usage, format!("{error}; name folders that are there"));
    let Some(parent) = options.output.as_deref().and_then(Path::parent) else { return Ok(String::new()) };
    Ok(way(&folder(parent).map_err(refusal)?, &folder(&options.folder).map_err(refusal)?))
}

fn written(options: &StudyInitOptions, text: &str, what: &str) -> Result<Exit, Failure> {
    let output = options.output.clone().unwrap_or_else(|| options.folder.join("faults.toml"));
    let written = files::write(&output, text.as_bytes(), Overwriting::Forbidden, Readers::Anybody);
    written.map_err(|error| {
        Failure::new(Exit::Failed, format!("{}: {error}; give --output another name", output.display()))
    })?;
    tell(&format!("written: {}, {what}", output.display()));
    Ok(Exit::Done)
}

/// The folders that have C files and tests.
fn programs(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut programs = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() && !sources(&path)?.is_empty() && tests(&path)?.is_some() {
            programs.push(path);
        }
    }
    programs.sort();
    Ok(programs)
}

fn files_ending(folder: &Path, ending: &str) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    let paths = entries.into_iter().map(|entry| entry.path());
    let mut files: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|extension| extension == ending)).collect();
    files.sort();
    Ok(files)
}

fn sources(folder: &Path) -> io::Result<Vec<PathBuf>> {
    files_ending(folder, "c")
}

/// The folder with the tests, relative to the program's.
fn tests(folder: &Path) -> io::Result<Option<&'static str>> {
    for name in [".", "tests"] {
        let place = folder.join(name);
        if place.join("in").is_dir() || place.is_dir() && !files_ending(&place, "out")?.is_empty() {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

fn fault(folder: &Path) -> io::Result<String> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let mut marked = Vec::new();
    for source in sources(folder)? {
        let text = String::from_utf8_lossy(&fs::read(&source)?).into_owned();
        let lines = text.lines().enumerate().filter(|(_, line)| {
            let comment = line.find("//").or(line.find("/*"));
            comment.is_some_and(|at| line[at..].contains(MARK))
        });
        let file = source.file_name().unwrap_or_default().to_string_lossy().into_owned();
        marked.extend(lines.map(|(number, _)| format!("\"{file}:{}\"", number + 1)));
    }
    let mut text = format!("\n[[fault]]\nname = \"{name}\"\ntests = \"{}\"\n", tests(folder)?.unwrap_or("."));
    match marked.is_empty() {
        true => text += "faulty = [] # to be filled in: [\"file.c:12\"]\n",
        false => drop(writeln!(text, "faulty = [{}]", marked.join(", "))),
    }
    Ok(text)
}
