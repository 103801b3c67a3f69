//! `stripe demo`: the example of the paper, from source to critical slice.
//!
//! The sample and its three criteria are those of Cleve and Zeller, AADEBUG 2000, Figures 4 to 6. The
//! numbers come from runs made now; nothing is stored.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command as Process;

use clap::Parser;

use super::exit::{Exit, Failure};
use super::options::{ColorChoice, Command, CommandLine, DemoOptions};

const SOURCE: &str = include_str!("../../samples/sum-mul/sum-mul.c");
const INPUT: &str = include_str!("../../samples/sum-mul/input.txt");

const INTRODUCTION: &str = "\
sum-mul.c adds and multiplies the numbers from a to b. Called with 0 and 5 it
prints sum = 15 and mul = 0. Which of the statements that it executed were
needed for that? stripe leaves statement executions out, runs the rest again,
and keeps what the output cannot do without: the critical slice.";

/// The criteria of Figure 6, each with what there is to see.
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

/// Does it.
pub(super) fn demo(options: DemoOptions, color: ColorChoice) -> Result<Exit, Failure> {
    let folder = &options.folder;
    let program = prepare(folder)?;
    say(&format!("{INTRODUCTION}\n\nSample, input and program are in {}.\n", folder.display()))?;
    let input = folder.join("input.txt");
    for (criterion, explanation) in CRITERIA {
        say(&format!("\n{explanation}\n"))?;
        stripe(&program, &input, criterion, &["--control", "trace"], color)?;
    }
    say(&format!("\n{DECISIONS}\n"))?;
    stripe(&program, &input, CRITERIA[0].0, &[], color)?;
    say("\nTry your own: stripe run ./prog --expect-output out.txt\n")?;
    Ok(Exit::Done)
}

/// Writes the sample and its input, and compiles it.
fn prepare(folder: &Path) -> Result<PathBuf, Failure> {
    let failed = |what: &Path, error: std::io::Error| {
        Failure::new(Exit::Failed, format!("{}: {error}; name a folder that can be written", what.display()))
    };
    fs::create_dir_all(folder).map_err(|error| failed(folder, error))?;
    for (name, text) in [("sum-mul.c", SOURCE), ("input.txt", INPUT)] {
        let file = folder.join(name);
        fs::write(&file, text).map_err(|error| failed(&file, error))?;
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

/// Prints a command as a user would type it, and does what it says.
fn stripe(
    program: &Path,
    input: &Path,
    criterion: &str,
    extra: &[&str],
    color: ColorChoice,
) -> Result<(), Failure> {
    let (program, input) = (program.to_string_lossy(), input.to_string_lossy());
    let program = if program.contains('/') { program.into_owned() } else { format!("./{program}") };
    let mut words = vec!["stripe", "run", &program, "--stdin", &input, "--expect-match", criterion];
    words.extend(extra);
    let shown: Vec<String> = words.iter().map(|word| shell_quoted(word)).collect();
    say(&format!("\n$ {}\n\n", shown.join(" ")))?;
    words.extend(["--quiet", "--no-save"]);
    let Command::Run(options) = CommandLine::try_parse_from(words)?.command else {
        unreachable!("the words say run");
    };
    super::run::run(options, color).map(drop)
}

fn shell_quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=".contains(c);
    if word.chars().all(plain) { word.to_owned() } else { format!("'{word}'") }
}

fn say(text: &str) -> Result<(), Failure> {
    super::print(text.as_bytes()).map(drop)
}
