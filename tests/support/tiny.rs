//! Compile C programs of a few lines that stand in a test, and judge messages.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

use super::{Program, scratch, text};

/// Compiles `source` as `NAME.c` in a folder of its own; the working directory is another one.
pub fn tiny(name: &str, source: &str) -> Program {
    compiled(&format!("{name}.c"), source)
}

/// The same for a source file whose name tells its language: C, C++ or Rust.
pub fn compiled(file: &str, source: &str) -> Program {
    // Two tests may have programs of the same name.
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let (name, language) = file.rsplit_once('.').expect("a language");
    let folder = scratch(&format!("tiny-{name}-{}", NUMBER.fetch_add(1, Ordering::Relaxed)));
    fs::create_dir_all(folder.join("run")).expect("a working directory");
    fs::write(folder.join(file), source).expect("a source file");
    let (compiler, options): (&str, &[&str]) = match language {
        "rs" => ("rustc", &["--edition", "2021", "-C", "opt-level=0"]),
        "cpp" => ("g++", &["-O0", "-w"]),
        _ => ("gcc", &["-O0", "-w"]),
    };
    let compiled = Command::new(compiler)
        .args(options)
        .args(["-g", "-o", name, file])
        .current_dir(&folder)
        .output()
        .expect("the compiler can be started");
    assert!(compiled.status.success(), "{name}: {}", text(&compiled.stderr));
    let stdin = folder.join("stdin");
    fs::write(&stdin, "").expect("an empty input");
    Program { path: folder.join(name), directory: folder.join("run"), stdin, arguments: Vec::new() }
}

/// A file in the program's working directory.
pub fn file(program: &Program, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
    let file = program.directory.join(name);
    fs::write(&file, content).expect("a file");
    file
}

/// The message on standard error, which must be a single line in the form that all messages have.
pub fn message(output: &Output, status: i32) -> String {
    let lines = message_with_diff(output, status);
    assert_eq!(lines.len(), 1, "{lines:#?}");
    lines[0].clone()
}

/// The message on standard error, whose first line has the form that all messages have; what follows is
/// indented but for one heading.
pub fn message_with_diff(output: &Output, status: i32) -> Vec<String> {
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert_eq!(output.status.code(), Some(status), "{stderr}{stdout}");
    assert_eq!(stdout, "", "{stderr}");
    // What takes long on a busy machine shows that it goes on.
    let is_progress = |line: &&str| line.starts_with("stripe: recording the run, ");
    let lines: Vec<String> = stderr.lines().filter(|line| !is_progress(line)).map(str::to_owned).collect();
    let first = lines.first().expect("a message");
    assert!(first.starts_with("stripe: "), "{stderr}");
    assert!(!stderr.contains("panicked") && !stderr.contains("RUST_BACKTRACE"), "{stderr}");
    let further = lines.get(2..).unwrap_or_default();
    assert!(further.iter().all(|line| line.starts_with("  ")), "{stderr}");
    lines
}

/// That a text has all these parts.
pub fn assert_says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "`{part}` is missing: {text}");
    }
}
