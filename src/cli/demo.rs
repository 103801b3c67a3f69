//! `stripe demo`: the example of the paper, from source to critical slice.
//!
//! The sample and its three criteria are those of Cleve and Zeller, AADEBUG 2000, Figures 4 to 6. The
//! numbers come from runs made now; nothing is stored.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command as Process;

use clap::Parser;

use super::choices::ColorChoice;
use super::exit::{Exit, Failure};
use super::options::{Command, CommandLine, DemoOptions, OutputOptions};
use super::{run, shell, terminal};
use crate::report::html::{self, Chapter, WrongOnly};

const SOURCE: &str = include_str!("../../samples/sum-mul/sum-mul.c");
const INPUT: &str = include_str!("../../samples/sum-mul/input.txt");

const INTRODUCTION: &str = "\
sum-mul.c adds and multiplies the numbers from a to b. Called with 0 and 5 it
prints sum = 15 and mul = 0. Which of the statements that it executed were
needed for that? stripe leaves statement executions out, runs the rest again,
and keeps what the output cannot do without: the critical slice.";

/// The criteria of Figure 6, each with an explanation of what there is to see.
const CRITERIA: [(&str, &str); 3] = [
    (
        "sum = 15\\nmul = 0\\n",
        "\
Both results. The trace states the control flow, so that no `while` is needed.
To add 0 in the first round is not needed, and of the multiplications only the
one by 0 is.",
    ),
    ("sum = 15", "The sum alone: the multiplication and its `printf` are gone."),
    (
        "mul = 0",
        "\
The product alone: reading a, one multiplication by 0, and printing. Not even
`mul = 1` is needed, because anything times 0 is 0.",
    ),
];

const DECISIONS: &str = "\
Now with the decisions that lead there (--control both, the default): what is
needed only to steer control is marked \u{25cb}. Reading b decides when the loop ends,
but b adds nothing to the sum.";

/// Runs the demo: prepares the sample, and plays a scene for each criterion.
pub(super) fn demo(options: DemoOptions, color: ColorChoice) -> Result<Exit, Failure> {
    let folder = &options.folder;
    let program = prepare(folder)?;
    say(&format!("{INTRODUCTION}\n\nSample, input and program are in {}.\n", folder.display()))?;
    let input = folder.join("input.txt");
    let purpose = if options.html { Purpose::Page } else { Purpose::Text };
    let mut chapters = Vec::new();
    for (criterion, explanation) in CRITERIA {
        say(&format!("\n{explanation}\n"))?;
        let scene = Scene { criterion, options: &["--control", "trace"], explanation, purpose };
        chapters.push(scene.play(&program, &input, color)?);
    }
    let style = terminal::style(color);
    let decisions = if style.unicode { DECISIONS.to_owned() } else { DECISIONS.replace('\u{25cb}', "o") };
    say(&format!("\n{decisions}\n"))?;
    let scene = Scene { criterion: CRITERIA[0].0, options: &[], explanation: DECISIONS, purpose };
    chapters.push(scene.play(&program, &input, color)?);
    if options.html {
        write_page(folder, &chapters)?;
    }
    say("\nTry your own: stripe run ./prog --expect-output out.txt\n")?;
    Ok(Exit::Done)
}

/// Writes the results as one page into the folder of the sample.
fn write_page(folder: &Path, chapters: &[Chapter]) -> Result<(), Failure> {
    let file = folder.join("report.html");
    let page = html::page("sum-mul", &flowing(INTRODUCTION), chapters, &WrongOnly::default());
    fs::write(&file, page).map_err(|error| cannot_write(&file, error))?;
    say(&format!("\nThe results as a page for your browser: {}\n", file.display()))
}

/// A text as a single line; its line ends are for terminals.
fn flowing(text: &str) -> String {
    text.replace('\n', " ")
}

pub(super) fn cannot_write(what: &Path, error: std::io::Error) -> Failure {
    Failure::new(Exit::Failed, format!("{}: {error}; name a folder that can be written", what.display()))
}

/// Writes the sample and its input, and compiles it.
fn prepare(folder: &Path) -> Result<PathBuf, Failure> {
    fs::create_dir_all(folder).map_err(|error| cannot_write(folder, error))?;
    for (name, text) in [("sum-mul.c", SOURCE), ("input.txt", INPUT)] {
        let file = folder.join(name);
        fs::write(&file, text).map_err(|error| cannot_write(&file, error))?;
    }
    let compiler = std::env::var_os("CC").unwrap_or_else(|| "cc".into());
    let compiled = Process::new(&compiler)
        .args(["-g", "-O0", "-w", "-o", "sum-mul", "sum-mul.c"])
        .current_dir(folder)
        .status();
    let compiler = compiler.to_string_lossy();
    match compiled {
        Ok(status) if status.success() => Ok(folder.join("sum-mul")),
        Ok(status) => {
            Err(Failure::new(Exit::Failed, format!("{compiler} could not compile sum-mul.c ({status})")))
        }
        Err(error) => Err(Failure::new(
            Exit::Failed,
            format!("{compiler}: {error}; install a C compiler (apt-get install gcc), or name one in CC"),
        )),
    }
}

/// A scene: one of the commands that the demo shows.
struct Scene<'a> {
    criterion: &'a str,
    options: &'a [&'a str],
    explanation: &'a str,
    purpose: Purpose,
}

/// The purpose of the results.
#[derive(Clone, Copy)]
enum Purpose {
    /// To be printed.
    Text,
    /// For a page as well, which shows values.
    Page,
}

impl Scene<'_> {
    /// Prints the command as a user would type it, carries it out, and makes its result a chapter of a
    /// page.
    fn play(&self, program: &Path, input: &Path, color: ColorChoice) -> Result<Chapter, Failure> {
        let (program, input) = (program.to_string_lossy(), input.to_string_lossy());
        let program = if program.contains('/') { program.into_owned() } else { format!("./{program}") };
        let mut words = vec!["stripe", "run", &program, "--stdin", &input, "--expect-match", self.criterion];
        words.extend(self.options);
        let line = words[1..].iter().map(OsString::from).collect();
        say(&format!("\n$ {}\n\n", shell::command_line(words.iter().copied())))?;
        words.extend(["--quiet", "--no-save"]);
        if let Purpose::Page = self.purpose {
            words.push("--values");
        }
        let Command::Run(options) = CommandLine::try_parse_from(words)?.command else {
            unreachable!("the words say run");
        };
        let mut chapter = None;
        run::search(options, color, line, |delivery, output, style| {
            chapter = delivery.rendering().chapters(&flowing(self.explanation)).pop();
            delivery.deliver(&OutputOptions { values: false, no_values: true, ..output.clone() }, style)
        })?;
        Ok(chapter.expect("a search that ended well has delivered its result"))
    }
}

pub(super) fn say(text: &str) -> Result<(), Failure> {
    super::print(text.as_bytes()).map(drop)
}
