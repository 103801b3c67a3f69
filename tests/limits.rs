//! What has no end is bounded, what the shell limits is named, and what is secret stays so.

mod support;

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::{Pid, Uid};
use serde_json::Value;
use support::tiny::{assert_says, message, tiny};
use support::{GCC, Program, sample, stripe, text};

const SOURCE: &str = "#include <stdio.h>\n#include <stdlib.h>\nint main(void) { int x = 1;\n    x = x + 1;\n    \
                      char *secret = getenv(\"MY_TOKEN\");\n    printf(\"%d %s\\n\", x, secret ? secret : \"none\");\n    \
                      return 0;\n}\n";

/// `stripe run` by a shell that has set limits, as somebody who cannot raise them again.
fn limited(program: &Program, limits: &str) -> Output {
    let script = format!("{limits}; exec $0 \"$1\" run \"$2\" --no-save -q -j2");
    let mut shell = Command::new("sh");
    let unprivileged = if Uid::effective().is_root() {
        "setpriv --inh-caps=-sys_resource --bounding-set=-sys_resource --"
    } else {
        "env"
    };
    // The first word is split by the shell.
    shell.args(["-c", &script, unprivileged]).arg(stripe().get_program()).arg(&program.path);
    shell.current_dir(&program.directory).stdin(Stdio::null()).output().expect("a shell")
}

fn about(program: &Program, words: &[&str]) -> Output {
    stripe().args(words).current_dir(&program.directory).output().expect("stripe can be started")
}

#[test]
fn limits_of_the_shell_lead_to_a_right_result() {
    let program = tiny("limits-right", SOURCE);
    for limits in [
        "ulimit -s 32",
        "ulimit -s 64",
        "ulimit -S -f 0",
        // 32 KiB: the arguments and the environment are handed over in a file in memory.
        "ulimit -f 64",
        "ulimit -S -v 100000",
        "ulimit -v 400000",
        "ulimit -S -n 10",
        "ulimit -n 128",
    ] {
        let output = limited(&program, limits);
        let (said, shown) = (text(&output.stderr), text(&output.stdout));
        assert_eq!(output.status.code(), Some(0), "{limits}: {said}");
        assert!(shown.contains("1-minimal"), "{limits}: {shown}{said}");
    }
}

#[test]
fn limits_of_the_shell_that_are_too_low_are_named_with_the_remedy() {
    let program = tiny("limits-low", SOURCE);
    for (limits, remedy) in [("ulimit -n 20", "ulimit -n"), ("ulimit -f 0", "ulimit -f")] {
        let told = message(&limited(&program, limits), 1);
        assert!(told.contains(remedy), "{limits}: {told}");
    }
}

#[test]
fn what_has_no_end_is_read_to_a_bound() {
    let program = tiny("endless", SOURCE);
    let path = program.path.to_str().expect("UTF-8");
    for option in ["--stdin", "--expect-output", "--expect-stderr", "--reference"] {
        let told = message(&about(&program, &["run", path, option, "/dev/zero"]), 2);
        assert_says(&told, &[option, "/dev/zero: has more than 1024 MiB, the most that is read"]);
    }
    let told = message(&about(&program, &["replay", path, "--omit", "@/dev/zero"]), 2);
    assert_says(&told, &["/dev/zero: has more than 64 MiB"]);
    let mut command = stripe();
    let mut child = command
        .args(["run", path])
        .current_dir(&program.directory)
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    let mut stdin = child.stdin.take().expect("piped");
    while stdin.write_all(&[b'y'; 1 << 16]).is_ok() {}
    let told = message(&child.wait_with_output().expect("it ends"), 2);
    assert_says(&told, &["standard input: has more than 1024 MiB"]);
    let told = message(&about(&program, &["run", "/dev/null"]), 2);
    assert_says(&told, &["/dev/null"]);
}

#[test]
fn a_wait_for_input_ends_at_once_by_a_signal() {
    let program = tiny("waiting", SOURCE);
    for signal in [Signal::SIGTERM, Signal::SIGINT, Signal::SIGHUP] {
        let mut command = stripe();
        let command = command.arg("run").arg(&program.path).current_dir(&program.directory);
        let mut child = command.stdin(Stdio::piped()).spawn().expect("started");
        sleep(Duration::from_millis(300));
        let started = Instant::now();
        kill(Pid::from_raw(child.id().cast_signed()), signal).expect("it waits");
        let status = child.wait().expect("it ends");
        // What a shell makes the status 128 + signal of.
        assert_eq!((status.signal(), status.code()), (Some(signal as i32), None));
        assert!(started.elapsed() < Duration::from_secs(5));
    }
}

#[test]
fn a_secret_is_named_and_neither_given_nor_kept() {
    let program = tiny("secrets", SOURCE);
    let run = |options: &[&str]| {
        let mut command = stripe();
        command.arg("run").arg(&program.path).args(options).env("MY_TOKEN", "hunter2");
        command.current_dir(&program.directory).output().expect("started")
    };
    let (script, folder) = (program.directory.join("s.gdb"), program.directory.join("kept"));
    fs::create_dir(&folder).expect("made");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).expect("set");
    let emit = format!("gdb={}", script.display());
    let output = run(&["--out", "kept", "--emit", &emit]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(
        text(&output.stderr).matches("not given to the program: MY_TOKEN; --keep-env gives").count(),
        1
    );
    assert_eq!(fs::read_to_string(folder.join("output")).expect("kept"), "2 none\n");
    let mut files: Vec<_> =
        fs::read_dir(&folder).expect("kept").map(|entry| entry.expect("kept").path()).collect();
    files.push(script);
    assert!(files.iter().any(|file| file.ends_with("run.json")) && files.len() > 6, "{files:?}");
    for file in files {
        let mode = fs::metadata(&file).expect("there").permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}", file.display());
        let kept = fs::read(&file).expect("readable");
        assert!(!kept.windows(7).any(|piece| piece == b"hunter2"), "{}", file.display());
    }
    let again = message_of_replay(&program, "kept");
    assert!(again.starts_with("stripe: reproduced ("), "{again}");
    let output = run(&["--keep-env", "--out", "all", "-q"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(fs::read_to_string(program.directory.join("all/output")).expect("kept"), "2 hunter2\n");
    let output = run(&["--env", "MY_TOKEN=other", "--out", "named"]);
    assert!(!text(&output.stderr).contains("not given"), "{}", text(&output.stderr));
    assert_eq!(fs::read_to_string(program.directory.join("named/output")).expect("kept"), "2 other\n");
}

fn message_of_replay(program: &Program, run: &str) -> String {
    let output = about(program, &["replay", run]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    text(&output.stderr)
}

#[test]
fn a_second_search_of_the_same_run_is_refused_with_the_number_of_the_first() {
    let program = sample(GCC, "-DLOCKED");
    let folder = program.directory.join("locked");
    let _ = fs::remove_dir_all(&folder);
    let run = program.stripe("run", &["--max-tests", "3", "-q", "--out", "locked"]);
    assert_eq!(run.status.code(), Some(5), "{}", text(&run.stderr));
    // A search that waits: nobody reads what it tells.
    let mut first = stripe();
    let first = first
        .args(["reduce", "locked", "-v", "-j1", "--max-tests", "100000"])
        .current_dir(&program.directory);
    let mut first = first.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().expect("started");
    let owner = folder.join("owner");
    let number = first.id().to_string();
    let started = Instant::now();
    while fs::read_to_string(&owner).ok().as_ref() != Some(&number) {
        assert!(started.elapsed() < Duration::from_secs(60) && first.try_wait().expect("asked").is_none());
        sleep(Duration::from_millis(1));
    }
    kill(Pid::from_raw(first.id().cast_signed()), Signal::SIGSTOP).expect("at work");
    let told = message(&about(&program, &["reduce", "locked", "-q"]), 1);
    kill(Pid::from_raw(first.id().cast_signed()), Signal::SIGCONT).expect("stopped");
    assert_says(
        &told,
        &["locked/owner: another stripe is at work on this run, process ", &number, "wait for its end"],
    );
    let mut rest = String::new();
    first.stderr.take().expect("piped").read_to_string(&mut rest).expect("text");
    assert_eq!(first.wait().expect("it ends").code(), Some(0), "{rest}");
    let again = about(&program, &["reduce", "locked", "-q"]);
    assert_eq!(again.status.code(), Some(0), "{}", text(&again.stderr));
}

#[test]
fn nothing_from_outside_steers_a_terminal_or_ends_a_line_of_a_format() {
    let program = tiny("steering", SOURCE);
    let foul = "a\x1b[2Jb\n::error::c";
    let path = program.directory.join(foul);
    fs::copy(&program.path, &path).expect("copied");
    let name = Path::new(".").join(foul);
    let name = name.to_str().expect("UTF-8");
    let is_clean = |told: &str| !told.contains('\x1b') && !told.contains("\n::error");
    let tries: [&[&str]; 6] = [
        &["doctor", name],
        &["run", name, "-j1", "--", foul],
        &["runs"],
        &["report"],
        &["run", foul, "--stdin", foul],
        &["replay", name, "--omit", "3"],
    ];
    for words in tries {
        let output = about(&program, words);
        let (shown, said) = (text(&output.stdout), text(&output.stderr));
        assert!(is_clean(&shown) && is_clean(&said), "{words:?}: {shown:?} {said:?}");
        assert!(!shown.is_empty() || !said.is_empty(), "{words:?}");
    }
}

#[test]
fn file_names_out_of_debug_information_end_no_line_of_a_format() {
    let program = tiny("line-ends", SOURCE);
    let marked = SOURCE.replace("int main", "#line 3 \"a\\033[2J\\n::error::b.c\"\nint main");
    fs::write(program.directory.join("marked.c"), marked).expect("written");
    let mut compiler = Command::new("gcc");
    let compiled =
        compiler.args(["-g", "-O0", "-w", "-o", "marked", "marked.c"]).current_dir(&program.directory);
    assert!(compiled.status().expect("gcc").success());
    let run = about(&program, &["run", "./marked", "--scope", "*", "-q"]);
    assert_eq!(run.status.code(), Some(0), "{}", text(&run.stderr));
    for format in ["text", "csv", "quickfix", "lcov", "github", "sarif"] {
        let shown = text(&about(&program, &["report", "--format", format]).stdout);
        assert!(shown.contains("error") && !shown.contains('\x1b'), "{format}: {shown:?}");
        let forged = shown.lines().any(|line| line.starts_with("::error"));
        // A field of CSV that is quoted may have lines.
        assert!(
            !forged || format == "csv" && shown.contains("\"a\u{fffd}[2J\n::error"),
            "{format}: {shown:?}"
        );
    }
}

#[test]
fn a_kept_run_is_replayed_by_its_number_and_so_are_its_by_products() {
    let source = "#include <stdio.h>\nstatic int table[4] = {1, 2, 3, 4};\nint main(void) { int *p = table;\n    \
                  int i = 0;\n    i = i + 2;\n    printf(\"%d\\n\", p[i]);\n    return 0;\n}\n";
    let program = tiny("replayed-run", source);
    let output = program.stripe("run", &["-j1", "-q"]);
    let told = text(&output.stdout).replace("\n  ", " ");
    assert_says(
        &told,
        &["other failures, most often SIGSEGV at", "`stripe replay 1 --by-product 1` shows it again"],
    );
    let product = about(&program, &["replay", "1", "--by-product", "1"]);
    assert_eq!(product.status.code(), Some(125), "{}", text(&product.stderr));
    assert_says(&text(&product.stderr), &["unresolved: crashed in another way: SIGSEGV at"]);
    let whole = about(&program, &["replay", "latest"]);
    assert_eq!((whole.status.code(), text(&whole.stdout)), (Some(0), "3\n".to_owned()));
    let less = about(&program, &["replay", "1", "--keep", ""]);
    assert_eq!(less.status.code(), Some(1), "{}", text(&less.stderr));
    let told = message(&about(&program, &["replay", "1", "--by-product", "9"]), 2);
    assert_says(&told, &["there is no by-product 9", "the run has 2"]);
    let told = message(&about(&program, &["replay", "1", "--stdin", "x"]), 2);
    assert_says(&told, &["--stdin: is as it was for the kept run"]);
    let told = message(&about(&program, &["replay", "7"]), 2);
    assert_says(&told, &["there is no run 7"]);
}

#[test]
fn an_interpreter_is_looked_for_and_told_from_a_program() {
    let program = tiny("interpreted", SOURCE);
    fs::write(program.directory.join("x.sh"), "echo\n").expect("written");
    for words in [&["run", "bash", "x.sh"][..], &["run", "bash", "--", "x.sh"]] {
        let output = about(&program, words);
        let told = text(&output.stderr);
        assert_says(&told, &["bash: is an interpreter, and stripe sees statements of native programs only"]);
    }
    let folder = program.path.parent().expect("a folder");
    let mut command = stripe();
    command.args(["trace", program.path.file_name().expect("a name").to_str().expect("UTF-8")]);
    let found = command.env("PATH", folder).current_dir(&program.directory).output().expect("started");
    assert_eq!(found.status.code(), Some(0), "{}", text(&found.stderr));
}

#[test]
fn words_of_results_are_explained() {
    let output = stripe().args(["help", "words"]).output().expect("started");
    assert_eq!(output.status.code(), Some(0));
    let words = ["1-minimal", "unresolved", "by-product", "fully contained", "■", "control"];
    assert_says(&text(&output.stdout), &words);
}

#[test]
fn documents_tell_the_version() {
    let program = tiny("version", SOURCE);
    assert_eq!(program.slice(&[], 0)["version"], env!("CARGO_PKG_VERSION"));
    let trace = program.stripe("trace", &["--format", "json"]);
    let trace: Value = serde_json::from_slice(&trace.stdout).expect("JSON");
    assert_eq!(trace["version"], env!("CARGO_PKG_VERSION"));
}
