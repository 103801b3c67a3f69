//! `stripe demo --changes`: yesterday the sample worked, today it does not; which of the changes broke it?
//!
//! The story is that of Zeller, "Yesterday, my program worked. Today, it does not. Why?" (ESEC/FSE 1999), in
//! small. The result comes from builds and tests made now; nothing is stored.

use std::fs;
use std::path::Path;

use clap::Parser;

use super::choices::ColorChoice;
use super::demo::{cannot_write, say};
use super::exit::{Exit, Failure};
use super::options::{Command, CommandLine, DemoOptions};
use super::{changes, shell};

/// The files of the two versions.
const FILES: [(&str, &str); 8] = [
    ("yesterday/main.c", include_str!("../../samples/changes/yesterday/main.c")),
    ("yesterday/numbers.c", include_str!("../../samples/changes/yesterday/numbers.c")),
    ("yesterday/numbers.h", include_str!("../../samples/changes/yesterday/numbers.h")),
    ("today/main.c", include_str!("../../samples/changes/today/main.c")),
    ("today/numbers.c", include_str!("../../samples/changes/today/numbers.c")),
    ("today/numbers.h", include_str!("../../samples/changes/today/numbers.h")),
    ("today/report.c", include_str!("../../samples/changes/today/report.c")),
    ("today/report.h", include_str!("../../samples/changes/today/report.h")),
];

const INTRODUCTION: &str = "\
Yesterday the program printed sum = 15 for 0 and 5, today it prints sum = 10.
Somebody has worded the prompts and comments anew, let the product be long, and
moved the printing to a file of its own. Which of these changes broke the sum?
stripe builds and tests versions in between, and keeps what the failure needs.";

const BUILD: &str = "${CC:-cc} -o sum-mul *.c";
const TEST: &str = "echo 0 5 | ./sum-mul | grep -q 'sum = 15'";

const EXPLANATION: &str = "\
Two lines of two files, and neither breaks the program alone: the loop now asks
the header how many numbers there are, and the header counts one too few. Many
versions in between did not even build, such as the calls without the file that
they need: these tests say nothing (unresolved), and the search goes around them.";

/// Writes both versions, and finds the changes between them that break the sample.
pub(super) fn demo(options: &DemoOptions, color: ColorChoice) -> Result<Exit, Failure> {
    let folder = &options.folder;
    for (name, text) in FILES {
        let file = folder.join(name);
        let parent = file.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(parent).map_err(|error| cannot_write(parent, error))?;
        fs::write(&file, text).map_err(|error| cannot_write(&file, error))?;
    }
    let [good, bad] =
        ["yesterday", "today"].map(|version| folder.join(version).to_string_lossy().into_owned());
    let words = ["stripe", "changes", "--good", &good, "--bad", &bad, "--build", BUILD, "--test", TEST];
    say(&format!("{INTRODUCTION}\n\n$ {}\n\n", shell::command_line(words)))?;
    let Command::Changes(asked) = CommandLine::try_parse_from(words.into_iter().chain(["--quiet"]))?.command
    else {
        unreachable!("the words say changes");
    };
    let exit = changes::changes(*asked, color)?;
    if exit == Exit::Done {
        say(&format!(
            "\n{EXPLANATION}\n\nTry your own: stripe changes --good v1.2 --bad HEAD --build make --test ./test.sh\n"
        ))?;
    }
    Ok(exit)
}
