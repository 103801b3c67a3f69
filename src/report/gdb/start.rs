//! Write the part of scripts for gdb that starts the program as it was recorded.

use std::ffi::OsStr;
use std::fmt::Write;

use tracer::Untouched;
use tracer::invocation::{Invocation, Limits, Stdout};
use tracer::poison::{Poison, SCRATCH};
use tracer::program::Program;

use super::super::source::printable;

/// The largest number of events: each is a line of the script, and gdb needs some milliseconds for one that
/// is executed.
pub(super) const MOST_EVENTS: usize = 100_000;

/// The largest number of bytes of input that are written into a script.
pub(super) const MOST_INPUT: usize = 1 << 20;

/// The Python program that controls a process, the same in every script.
pub(super) const PROCESS: &str = include_str!("process.py");

/// The names of the registers of [`SCRATCH`] in gdb.
const NAMES: [&str; SCRATCH.len()] = ["rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11"];

/// The settings by which a run is repeated.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// The invocation of the program.
    pub invocation: &'a Invocation,
    /// The pattern for undefined values.
    pub poison: Poison,
    /// The undefined memory that is not set to patterns.
    pub untouched: &'a Untouched,
    /// The limits of time and other resources.
    pub limits: Limits,
}

/// The reason why there is no script.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages are the documentation of the fields")]
pub enum Unscriptable {
    #[error(
        "a script for gdb has a line for each event, {MOST_EVENTS} at most, and this run has {0}: reduce a smaller \
         run, or look at this one with --format text or html"
    )]
    TooManyEvents(usize),
    #[error(
        "a script for gdb holds the program's input, {MOST_INPUT} bytes at most, and this has {0}: give the program \
         less to read"
    )]
    TooMuchInput(usize),
    #[error("{0}: gdb takes no path that is not UTF-8: rename it")]
    Path(String),
}

/// Checks that a program can be started by a script.
///
/// # Errors
/// If the script would be too long, or gdb could not read it.
pub(super) fn check_start(program: &Program, invocation: &Invocation) -> Result<(), Unscriptable> {
    if invocation.stdin.len() > MOST_INPUT {
        return Err(Unscriptable::TooMuchInput(invocation.stdin.len()));
    }
    let mut paths = program.images().iter().map(|image| &image.path);
    match paths.find(|path| path.to_str().is_none_or(|path| path.contains('\n'))) {
        Some(path) => Err(Unscriptable::Path(path.display().to_string())),
        None => Ok(()),
    }
}

/// The beginning of a script: comments, and settings of gdb.
pub(super) fn head(told: &[String]) -> String {
    let comment = |line: &String| format!("# {}\n", printable(&line.replace('\n', " ")));
    let settings = ["pagination off", "confirm off", "disable-randomization on", "startup-with-shell on"];
    let more = ["breakpoint always-inserted on", "print inferior-events off"];
    let setting = |setting: &&str| format!("set {setting}\n");
    let comments: String = told.iter().map(comment).collect();
    comments + "\n" + &settings.iter().chain(&more).map(setting).collect::<String>() + "\n"
}

/// The settings by which the program is started, in Python.
pub(super) fn started(program: &Program, start: Start<'_>) -> String {
    let Start { invocation, poison, untouched, limits } = start;
    let mut text = String::from("# How the program was started.\n");
    let mut put = |name: &str, value: String| {
        let _ = writeln!(text, "{name} = {value}");
    };
    let bytes = |text: &OsStr| literal(text.as_encoded_bytes());
    put("PROGRAM", bytes(invocation.program.as_os_str()));
    put("ARGUMENTS", list(invocation.arguments.iter().map(|argument| bytes(argument))));
    let heap = if untouched.heap { Poison::Off } else { poison };
    let variables = invocation.environment_under(heap);
    put(
        "ENVIRONMENT",
        list(variables.iter().map(|(name, value)| format!("({}, {})", bytes(name), bytes(value)))),
    );
    put("DIRECTORY", bytes(invocation.directory.as_os_str()));
    put("STDIN", literal(&invocation.stdin));
    put("TERMINAL", if invocation.stdout == Stdout::Terminal { "True" } else { "False" }.into());
    let memory = limits.memory.map(|memory| format!("(\"RLIMIT_AS\", {memory})"));
    let limits = [format!("(\"RLIMIT_FSIZE\", {})", limits.file_size)].into_iter().chain(memory);
    put("LIMITS", list(limits));
    let images = program.images().iter();
    let image = |(number, image): (usize, &tracer::program::Image)| {
        let (address, path) = (if number == 0 { image.entry } else { image.base }, &image.path);
        let id = image.build_id.as_ref().map_or("None".to_owned(), |id| format!("{id:?}"));
        format!("({:?}, {address}, {id})", path.to_string_lossy())
    };
    text.push_str("# The path of each image, its entry (of a library: its lowest address), its build id.\n");
    let _ = writeln!(text, "IMAGES = {}\n", list(images.enumerate().map(image)));
    text
}

/// The values of undefined memory and registers, in Python.
pub(super) fn undefined(poison: Poison) -> String {
    let mut text = String::from("# What undefined memory and registers hold.\n");
    let registers =
        NAMES.iter().zip(poison.general()).map(|(name, value)| format!("(\"{name}\", {value:#x})"));
    let is_set = if poison == Poison::Off { "False" } else { "True" };
    let _ = writeln!(text, "POISON = {is_set}\nPOISON_BASE = {:#x}", poison.word(0));
    let _ = writeln!(text, "REGISTERS = {}\nVECTOR = {:#x}\n", list(registers), poison.vector());
    text
}

pub(super) fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

/// A byte string literal of Python.
fn literal(bytes: &[u8]) -> String {
    let byte = |&byte: &u8| match byte {
        b'\'' | b'\\' => format!("\\{}", char::from(byte)),
        b'\n' => "\\n".to_owned(),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\x{byte:02x}"),
    };
    format!("b'{}'", bytes.iter().map(byte).collect::<String>())
}
