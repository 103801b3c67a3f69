//! Generate random programs with csmith, a generator of C programs without undefined behaviour.
//!
//! Yang, Chen, Eide, Regehr, "Finding and Understanding Bugs in C Compilers" (PLDI 2011). The options aim at
//! programs that a single-stepping tracer can follow; linked statically and started with an empty
//! environment, most of them end within 60,000 instructions. csmith's usual run-time functions spend half
//! as many on a table for checksums alone; its minimal ones, which are used here, add the values up.

use std::env;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::cache::{self, Draft};
use crate::compile::{Compilation, output_of};
use crate::program::Built;
use crate::recipe::driver;
use crate::sources::Source;
use crate::toolchain::Toolchain;

/// Small programs that still have functions, loops, pointers, structs and arrays.
const OPTIONS: [&str; 12] = [
    "--max-funcs",
    "4",
    "--max-block-depth",
    "2",
    "--max-block-size",
    "6",
    "--max-expr-complexity",
    "3",
    "--max-array-len-per-dim",
    "8",
    "--max-struct-fields",
    "5",
];

/// Choose the minimal run-time functions, and find them and what they miss on Debian.
const PREPROCESSOR: &[&str] = &["-DCSMITH_MINIMAL", "-I.", "-I/usr/include/csmith"];

/// A program with fewer statements in its text is too dull to be of use.
const FEWEST_STATEMENTS: usize = 10;

/// The seconds of computing time after which a program counts as endless.
const TIME_LIMIT: u32 = 1;

/// The file in a build folder that says why its program is of no use.
const REJECTED: &str = "rejected";

/// The name of the executable.
const NAME: &str = "random";

/// The first `count` useful programs that csmith makes from the seeds `first_seed`, `first_seed` + 1 and so
/// on: see [`csmith`].
///
/// # Errors
/// As for [`csmith`].
pub fn csmith_programs(count: usize, first_seed: u64, toolchain: &Toolchain) -> Result<Vec<Built>> {
    let programs = (first_seed..).map(|seed| csmith(seed, toolchain));
    programs.filter_map(Result::transpose).take(count).collect()
}

/// Builds the program that csmith makes from this seed; none if it is of no use: it has hardly any
/// statement, crashes, or does not end.
///
/// It prints the sum of its global variables at its end; with the argument `1` it prints each of them. It
/// reads no input.
///
/// # Errors
/// If csmith is not installed, the compiler refuses the program, or the target folder cannot be written.
pub fn csmith(seed: u64, toolchain: &Toolchain) -> Result<Option<Built>> {
    let version = output_of(Command::new("csmith").arg("--version").current_dir(env::temp_dir()))
        .context("no csmith: install the packages csmith and libcsmith-dev")?;
    let headers = driver("csmith")?;
    let key = cache::key((OPTIONS, PREPROCESSOR, seed, &version, &headers, toolchain, toolchain.version()?));
    let folder =
        cache::folder(&format!("csmith-{seed}"), key, |draft| make(seed, &headers, toolchain, draft))?;
    Ok((!folder.join(REJECTED).exists()).then(|| Built::new(&folder, NAME)))
}

fn make(seed: u64, headers: &[Source], toolchain: &Toolchain, draft: &Draft) -> Result<()> {
    let built = Built::new(draft.folder, NAME);
    for header in headers {
        header.copy_below(&built.sources)?;
    }
    let reason = match generate(seed, &built.sources.join("main.c"))? {
        statements if statements < FEWEST_STATEMENTS => Some("it has too few statements".to_owned()),
        _ => {
            compile(toolchain, draft)?;
            failure(&built)?
        }
    };
    if let Some(reason) = reason {
        fs::write(draft.folder.join(REJECTED), reason)?;
    }
    Ok(())
}

/// Writes a random program and hands back the number of its statements, which csmith notes at the end.
fn generate(seed: u64, file: &Path) -> Result<usize> {
    // It leaves a file `platform.info` in its working directory.
    let folder = file.parent().context("the program lies in no folder")?;
    let seed = seed.to_string();
    let arguments = ["--seed", &seed].into_iter().chain(OPTIONS.iter().copied());
    output_of(Command::new("csmith").args(arguments).arg("--output").arg(file).current_dir(folder))?;
    let text = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let note = text.lines().find_map(|line| line.strip_prefix("XXX stmts: "));
    Ok(note.context("csmith does not say how many statements it made")?.trim().parse()?)
}

fn compile(toolchain: &Toolchain, draft: &Draft) -> Result<()> {
    let built = Built::new(draft.folder, NAME);
    let compilation = Compilation {
        toolchain,
        preprocessor: PREPROCESSOR,
        built,
        destination: Built::new(draft.destination, NAME),
    };
    compilation.run(&["main.c".to_owned()])
}

/// Runs the program and says what is wrong with it, if anything is. The limit is on computing time, so
/// that the answer does not depend on how busy the machine is.
fn failure(built: &Built) -> Result<Option<String>> {
    let limited = format!("ulimit -t {TIME_LIMIT}; exec \"$0\"");
    let mut command = Command::new("sh");
    command.arg("-c").arg(limited).arg(&built.executable).env_clear();
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?;
    Ok((!status.success()).then(|| format!("it ends with {status}")))
}
