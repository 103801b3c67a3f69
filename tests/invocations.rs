//! What stands where on the command line, and what the program gets: arguments, environment, directory, streams.

mod support;

use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};

use serde_json::Value;
use support::command::{BOTH, assert_status, events, lines, status, string};
use support::tiny::{assert_says, message, message_with_diff, tiny};
use support::{Fixture, GCC, sample, scratch, stripe, text};

const ECHO: &str = r#"#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv) {
    char directory[4096];
    for (int i = 1; i < argc; i++) {
        printf("arg");
        for (char *c = argv[i]; *c; c++) printf(" %02x", (unsigned char)*c);
        printf("\n");
    }
    printf("variable");
    for (char *c = getenv("VARIABLE"); c && *c; c++) printf(" %02x", (unsigned char)*c);
    printf("\nhome %s\n", getenv("HOME") ? "set" : "unset");
    printf("directory %s\n", getcwd(directory, sizeof directory));
    printf("stdout %s\n", isatty(1) ? "terminal" : "file");
    return 0;
}
"#;

/// The output of the program in a replay that leaves nothing out.
fn replayed(command: &mut Command) -> Vec<u8> {
    let output = command.output().expect("started");
    assert_status(&output, 0);
    output.stdout
}

#[test]
fn options_may_stand_on_either_side_of_the_program() {
    let program = sample(GCC, "");
    let slices = [true, false].map(|before| {
        let options = [&BOTH[..], &["--control", "trace", "--format", "json", "-q", "--stdin"]].concat();
        let mut command = stripe();
        command.arg("run");
        if before {
            command.args(options).arg(&program.stdin).arg(&program.path);
        } else {
            command.arg(&program.path).args(options).arg(&program.stdin);
        }
        events(&serde_json::from_slice(&replayed(&mut command)).expect("JSON"))
    });
    assert_eq!(slices[0], slices[1]);
    assert_eq!(slices[0].len(), 15);
}

#[test]
fn everything_after_two_dashes_goes_to_the_program() {
    let program = tiny("arguments", ECHO);
    let mut command = stripe();
    command.arg("replay").arg(&program.path).args(["--", "--help", "-q", "", "--", "a b"]);
    let output = text(&replayed(&mut command));
    let arguments: Vec<&str> = output.lines().filter(|line| line.starts_with("arg")).collect();
    assert_eq!(arguments, ["arg 2d 2d 68 65 6c 70", "arg 2d 71", "arg", "arg 2d 2d", "arg 61 20 62"]);
}

#[test]
fn what_is_no_utf_8_goes_through_byte_for_byte() {
    let strange = OsStr::from_bytes(b"\xff\xfe\x80x");
    let program = tiny("bytes", ECHO);
    let named = program.directory.join(strange);
    fs::copy(&program.path, &named).expect("copied");
    let input = program.directory.join(OsStr::from_bytes(b"in\xff"));
    fs::write(&input, "").expect("written");
    let mut variable = b"VARIABLE=".to_vec();
    variable.extend(strange.as_bytes());
    let mut command = stripe();
    command.arg("replay").arg(&named).arg("--stdin").arg(&input);
    command.arg("--env").arg(OsStr::from_bytes(&variable)).arg("--").arg(strange);
    let output = text(&replayed(&mut command));
    assert_says(&output, &["arg ff fe 80 78\n", "variable ff fe 80 78\n"]);
    let mut emission = b"json=".to_vec();
    let file = program.directory.join(OsStr::from_bytes(b"slice\xff"));
    emission.extend(file.as_os_str().as_bytes());
    let mut command = stripe();
    command.arg("run").arg(&named).args(["-q", "--emit"]).arg(OsStr::from_bytes(&emission));
    assert_status(&command.output().expect("started"), 0);
    assert!(file.is_file());
}

#[test]
fn many_arguments_are_no_problem() {
    let program = tiny(
        "many",
        "int puts(const char *);\nint main(int c, char **v) { puts(c == 10001 ? \"all\" : \"few\");\n}\n",
    );
    let numbers: Vec<String> = (0..10_000).map(|number| number.to_string()).collect();
    let mut command = stripe();
    command.arg("replay").arg(&program.path).arg("--").args(numbers);
    assert_eq!(text(&replayed(&mut command)), "all\n");
}

#[test]
fn an_argument_as_long_as_linux_allows_goes_through() {
    const LONGEST: usize = (128 << 10) - 1;
    let source = "#include <stdio.h>\n#include <string.h>\nint main(int c, char **v) { printf(\"%zu\\n\", strlen(v[1]));\n}\n";
    let program = tiny("long-argument", source);
    let mut command = stripe();
    command.arg("replay").arg(&program.path).arg("--").arg("x".repeat(LONGEST));
    assert_eq!(text(&replayed(&mut command)), format!("{LONGEST}\n"));
}

/// What stripe adds to the environment, and the longer path, are too much for the program although
/// stripe itself could be started.
#[test]
fn arguments_that_are_too_long_are_told() {
    let folder = scratch("too-long");
    let mut deep = folder.clone();
    for _ in 0..15 {
        deep.push("d".repeat(200));
    }
    fs::create_dir_all(&deep).expect("a deep folder");
    fs::copy(sample(GCC, "").path, deep.join("prog")).expect("copied");
    symlink(deep.join("prog"), folder.join("p")).expect("a link");
    symlink(env!("CARGO_BIN_EXE_stripe"), folder.join("s")).expect("a link");
    let start = |verb: &str, length: usize| {
        let mut arguments = vec!["x".repeat(100_000); length / 100_000];
        arguments.push("x".repeat(length % 100_000));
        let mut command = Command::new("./s");
        command.current_dir(&folder).env_clear().stdin(Stdio::null());
        command.args([verb, "./p", "--"]).args(arguments).output()
    };
    let (mut short, mut long) = (0, 16 << 20);
    while long - short > 256 {
        let middle = (short + long) / 2;
        match start("bad", middle) {
            Ok(_) => short = middle,
            Err(_) => long = middle,
        }
    }
    let told = message(&start("run", short).expect("short enough for stripe"), 1);
    assert_says(&told, &["prog", "Argument list too long"]);
}

#[test]
fn the_environment_and_the_directory_are_what_the_user_says() {
    let program = tiny("world", ECHO);
    let sub = program.directory.join("sub");
    fs::create_dir(&sub).expect("a folder");
    let echo = |options: &[&str]| {
        let mut command = stripe();
        command.arg("replay").arg(&program.path).args(options).current_dir(&program.directory);
        text(&replayed(command.env("HOME", "/home/user").env("VARIABLE", "A")))
    };
    let inherited = echo(&[]);
    let here = format!("directory {}\n", program.directory.canonicalize().expect("there").display());
    assert_says(&inherited, &["variable 41\n", "home set\n", &here, "stdout file\n"]);
    assert_says(&echo(&["--env", "VARIABLE=BC"]), &["variable 42 43\n", "home set\n"]);
    assert_says(&echo(&["--env", "VARIABLE=B", "--env", "VARIABLE=a=b"]), &["variable 61 3d 62\n"]);
    assert_says(&echo(&["--clear-env"]), &["variable\n", "home unset\n"]);
    assert_says(&echo(&["--clear-env", "--env", "VARIABLE=B"]), &["variable 42\n", "home unset\n"]);
    let there = format!("directory {}\n", sub.canonicalize().expect("there").display());
    assert_says(&echo(&["--cwd", "sub"]), &[&there]);
    assert_says(&echo(&["--pty"]), &["stdout terminal\n"]);
}

#[test]
fn a_pseudo_terminal_changes_what_a_run_shows() {
    let source = "#include <stdio.h>\n#include <unistd.h>\nint main(void) { int terminal = isatty(1);\n\
                  if (terminal) puts(\"terminal\");\nelse puts(\"file\");\nreturn 0;\n}\n";
    let program = tiny("isatty", source);
    assert_eq!(lines(&program.slice(&["--expect-match", "^file", "--control", "trace"], 0)), [5].into());
    let terminal = ["--pty", "--expect-match", "^terminal", "--control", "trace"];
    assert_eq!(lines(&program.slice(&terminal, 0)), [4].into());
    message_with_diff(&program.stripe("run", &["--expect-match", "^terminal"]), 3);
}

#[test]
fn input_is_the_same_from_a_file_and_from_a_pipe() {
    let program = sample(GCC, "");
    let from_file = program.slice(&BOTH, 0);
    let mut command = stripe();
    command.arg("run").arg(&program.path).args(BOTH).args(["--format", "json", "-q"]);
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("started");
    child.stdin.take().expect("piped").write_all(b"0 5\n").expect("written");
    let output = child.wait_with_output().expect("ended");
    assert_status(&output, 0);
    let from_pipe: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(from_file["slice"], from_pipe["slice"]);
    assert_eq!(from_file["events"], from_pipe["events"]);
}

#[test]
fn closed_streams_are_no_panic() {
    let program = sample(GCC, "");
    let line = |streams: &str| {
        let shell = format!("exec \"$0\" run \"$1\" -q --max-tests 5 {streams}");
        let mut command = Command::new("sh");
        command.args(["-c", &shell, env!("CARGO_BIN_EXE_stripe")]).arg(&program.path);
        command.output().expect("started")
    };
    for streams in ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"] {
        let output = line(streams);
        assert_eq!(status(&output), Some(5), "{streams}: {}", text(&output.stderr));
        assert_eq!(text(&output.stderr), "", "{streams}");
    }
}

/// Runs stripe on a pseudo-terminal; standard input, output and error are the same.
fn on_a_terminal(environment: &[(&str, &str)], words: &str) -> String {
    let mut command = Command::new("script");
    command.args(["-qec", &format!("{} {words}", env!("CARGO_BIN_EXE_stripe")), "/dev/null"]);
    command.env_remove("NO_COLOR").env("TERM", "xterm").env("LC_ALL", "C.UTF-8");
    let output = command.envs(environment.iter().copied()).stdin(Stdio::null()).output();
    text(&output.expect("`script` of util-linux is installed").stdout)
}

#[test]
fn colours_are_for_terminals_unless_the_user_says_otherwise() {
    const COLOUR: &str = "\x1b[";
    let program = sample(GCC, "");
    let words = format!("run -q {} --stdin {} --max-tests 5", string(&program.path), string(&program.stdin));
    let colour = |environment: &[(&str, &str)], option: &str| {
        let told = on_a_terminal(environment, &format!("{words} {option}"));
        assert_says(&told, &["sum-mul.c", "warning"]);
        told.contains(COLOUR)
    };
    assert!(colour(&[], ""));
    assert!(!colour(&[("NO_COLOR", "1")], ""));
    assert!(colour(&[("NO_COLOR", "")], ""), "an empty NO_COLOR forbids nothing");
    assert!(colour(&[("NO_COLOR", "1")], "--color always"));
    assert!(!colour(&[("TERM", "dumb")], ""));
    assert!(!colour(&[], "--color never"));
    let piped =
        |option: &str| text(&program.stripe("run", &["-q", "--max-tests", "5", "--color", option]).stdout);
    assert!(!piped("auto").contains(COLOUR));
    assert!(piped("always").contains(COLOUR));
}

#[test]
fn a_terminal_is_never_handed_on() {
    let program = Fixture::named("stdin_all").build(GCC);
    let output = on_a_terminal(&[], &format!("replay {}", string(&program.path)));
    assert_says(&output, &["words = 0, lines = 0", "stripe: reproduced"]);
}

#[test]
fn progress_is_a_line_that_is_drawn_again_on_a_terminal_and_a_line_each_ten_seconds_elsewhere() {
    let program = sample(GCC, "");
    let words = format!("run {} --stdin {}", string(&program.path), string(&program.stdin));
    let live = on_a_terminal(&[], &words);
    assert_says(&live, &["\r\x1b[K", " test"]);
    assert!(!live.contains(" left after "), "{live}");
    let plain = text(&program.stripe("run", &[]).stderr);
    assert!(plain.lines().all(|line| line.contains(" left after ")), "{plain}");
    assert_eq!(plain.lines().count(), 1, "{plain}");
}

#[test]
fn a_terminal_shows_something_while_the_run_is_recorded() {
    let source = "#include <stdio.h>\n#include <unistd.h>\nint main(void) { int x = 1;\n    usleep(500000);\n    \
                  printf(\"%d\\n\", x);\n    return 0;\n}\n";
    let program = tiny("slow-to-record", source);
    let options = "--no-save --real-time --max-tests 1";
    let words = format!("run {} --stdin {} {options}", string(&program.path), string(&program.stdin));
    assert_says(&on_a_terminal(&[], &words), &["\r\x1b[Krecording the run, "]);
}
