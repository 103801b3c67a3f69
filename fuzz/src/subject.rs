//! Compile the program whose traces and outputs the targets read.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use tempfile::TempDir;
use tracer::program::{Granularity, LeaderId, LeaderKind, Program, Scope};
use tracer::trace::{Trace, TraceBuilder};
use tracer::trace_file::Identity;

const SOURCE: &str = include_str!("subject.c");

/// What traces are about.
pub struct Subject {
    /// The program.
    pub program: Program,
    /// What tells it from others.
    pub identity: Identity,
    /// A run of it, with calls within calls.
    pub trace: Trace,
}

/// A folder for files of this thread: tests look for different things side by side. It goes with the thread.
pub fn folder() -> PathBuf {
    thread_local! {
        static OWN: TempDir = tempfile::tempdir().expect("a temporary folder");
    }
    OWN.with(|folder| folder.path().to_owned())
}

/// Writes a file, without the one of that name that may be there: some file systems write one that is cut off
/// to the disk at once, which takes ten times as long as all else.
///
/// # Panics
/// If the folder cannot be written.
pub fn write_anew(path: &Path, content: &[u8]) {
    let _ = fs::remove_file(path);
    fs::write(path, content).expect("a file");
}

/// Compiles `SOURCE` in this folder as a program of its own, without the C library: the smaller a seed, the
/// sooner each of its bytes is tried.
///
/// # Panics
/// If the compiler cannot be started, or does not take the options.
pub fn compile(compiler: &str, options: &[&str], output: &Path) {
    let folder = output.parent().expect("a folder");
    fs::write(folder.join("subject.c"), SOURCE).expect("a source file");
    let compiled = Command::new(compiler)
        .args(["-g", "-O0", "-ffreestanding", "-nostdlib", "-static", "-fno-stack-protector"])
        .args(["-Wl,-z,noseparate-code", "-Wl,--build-id"])
        .args(options)
        .args(["subject.c", "-o"])
        .arg(output)
        .current_dir(folder)
        .output()
        .unwrap_or_else(|error| panic!("{compiler}: {error}"));
    assert!(
        compiled.status.success(),
        "{compiler} {options:?}: {}",
        String::from_utf8_lossy(&compiled.stderr)
    );
}

/// The subject, which is compiled when it is asked for first.
pub fn subject() -> &'static Subject {
    static SUBJECT: OnceLock<Subject> = OnceLock::new();
    SUBJECT.get_or_init(|| {
        let path = folder().join("subject");
        compile("gcc", &[], &path);
        let program = Program::load(&path, &[], &Scope::default(), Granularity::Statement);
        let program = program.expect("a program that can be traced");
        let identity = Identity::of(&program).expect("its file is there");
        let trace = walk(&program);
        Subject { program, identity, trace }
    })
}

/// Enters each function from the one before, goes twice through its statements, and returns.
fn walk(program: &Program) -> Trace {
    const STACK: u64 = 1 << 40;
    let mut builder = TraceBuilder::default();
    let mut arrive = |leader: u32, sp: u64| {
        builder.arrive(program, LeaderId(leader), sp).expect("a sound run");
    };
    let functions = program.functions();
    for round in 0..20 {
        let entry_of = |depth: usize| STACK - 64 * depth as u64 - 8 * round;
        for (depth, function) in functions.iter().enumerate() {
            let leaders = || function.leaders.clone();
            let is = |leader: u32, kind| program.leader(LeaderId(leader)).kind == kind;
            leaders().filter(|&l| is(l, LeaderKind::Entry)).for_each(|l| arrive(l, entry_of(depth)));
            for _ in 0..2 {
                let statements = leaders().filter(|&l| is(l, LeaderKind::Statement));
                statements.for_each(|l| arrive(l, entry_of(depth) - 8));
            }
        }
        for (depth, function) in functions.iter().enumerate().rev() {
            let ends = function.leaders.clone();
            let ends = ends.filter(|&l| program.leader(LeaderId(l)).kind == LeaderKind::Epilogue);
            ends.for_each(|l| arrive(l, entry_of(depth) - 8));
        }
    }
    builder.finish()
}
