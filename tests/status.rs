//! Whoever waits can ask how far the work is, and gets the terminal back as it was.

mod support;

use std::io::{Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use support::engine::in_two_threads;
use support::tiny::tiny;
use support::{GCC, Program, heed_signals, sample, scratch, stripe, text};

/// What is to be seen of a command, as it comes.
struct Watched {
    child: Child,
    keys: Option<ChildStdin>,
    seen: Arc<Mutex<String>>,
}

impl Watched {
    fn new(mut command: Command) -> Watched {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().expect("started");
        let seen = Arc::new(Mutex::new(String::new()));
        watch(child.stdout.take().expect("a pipe"), &seen);
        watch(child.stderr.take().expect("a pipe"), &seen);
        Watched { keys: child.stdin.take(), child, seen }
    }

    /// A shell on a terminal of its own.
    fn shell(script: &str) -> Watched {
        heed_signals();
        let mut command = Command::new("script");
        command.args(["-qec", &format!("sh -c '{script}'"), "/dev/null"]);
        command.env("TERM", "xterm").env("LC_ALL", "C.UTF-8");
        Watched::new(command)
    }

    fn seen(&self) -> String {
        self.seen.lock().expect("no panic").clone()
    }

    /// Waits until something is to be seen so many times.
    fn wait_for(&self, what: &str, times: usize) {
        let begun = Instant::now();
        while self.seen().matches(what).count() < times {
            assert!(begun.elapsed() < Duration::from_secs(60), "no {what} in {}", self.seen());
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn press(&mut self, keys: &[u8]) {
        let terminal = self.keys.as_mut().expect("open");
        terminal.write_all(keys).and_then(|()| terminal.flush()).expect("typed");
    }

    /// Waits for the end; tells all that was seen.
    fn end(mut self) -> String {
        self.child.wait().expect("ended");
        drop(self.keys.take());
        thread::sleep(Duration::from_millis(100));
        self.seen()
    }
}

fn watch(mut stream: impl Read + Send + 'static, seen: &Arc<Mutex<String>>) {
    let seen = Arc::clone(seen);
    thread::spawn(move || {
        let mut chunk = [0; 4096];
        while let Ok(length @ 1..) = stream.read(&mut chunk) {
            seen.lock().expect("no panic").push_str(&text(&chunk[..length]));
        }
    });
}

/// A reduction that takes a while, as words for a shell within quotes.
fn slow(program: &Program) -> String {
    slow_by("0.05", program)
}

/// The same, with so many seconds for each test.
fn slow_by(seconds: &str, program: &Program) -> String {
    let stripe = env!("CARGO_BIN_EXE_stripe");
    let (path, stdin) = (program.path.display(), program.stdin.display());
    format!(r#"{stripe} run {path} --stdin {stdin} --no-save --check "sleep {seconds}; grep -q sum.=.15""#)
}

/// What stty says between lines that name the moment.
fn settings(seen: &str, moment: &str) -> String {
    let begun = seen.split(&format!("<{moment}>")).nth(1).unwrap_or_else(|| panic!("no {moment}: {seen}"));
    begun.split("<end>").next().expect("text").replace('\r', "")
}

const STTY: &str = "stty -a; echo \"<end>\"";

#[test]
fn sigusr1_prints_one_status_even_if_the_rest_is_quiet() {
    in_two_threads(&[&["-q"][..], &[]], |quiet| {
        let program = Program { directory: scratch(&format!("status-{}", quiet.len())), ..sample(GCC, "") };
        let mut command = stripe();
        command.arg("run").arg(&program.path).arg("--stdin").arg(&program.stdin);
        command.args(["--no-save", "--check", "echo >> judged; sleep 0.05; grep -q sum.=.15"]).args(*quiet);
        let judged = program.directory.join("judged");
        command.current_dir(&program.directory);
        let watched = Watched::new(command);
        let pid = Pid::from_raw(i32::try_from(watched.child.id()).expect("a number"));
        // The recorded run, the empty set, and some of the search.
        while std::fs::read(&judged).unwrap_or_default().len() < 6 {
            thread::sleep(Duration::from_millis(10));
        }
        kill(pid, Signal::SIGUSR1).expect("under way");
        let seen = watched.end();
        // What is asked for comes at once; a search that is not quiet also says every ten seconds how far it is.
        let statuses = seen.matches("stripe: ").count();
        assert!(statuses == 1 || quiet.is_empty() && statuses > 1, "{seen}");
        let form = r"stripe: branches decide, \d+ of 34 left, \d+ tests?, \d+/s, \d+ s\n";
        assert!(regex::Regex::new(form).expect("an expression").is_match(&seen), "{seen}");
    });
}

#[test]
fn t_prints_a_status_and_is_not_echoed() {
    let program = sample(GCC, "");
    let mut watched = Watched::shell(&slow(&program));
    watched.wait_for(" left, ", 3);
    for times in 1..=3 {
        watched.press(b"t");
        watched.wait_for("stripe: branches decide, ", times);
    }
    watched.press(b"x");
    let seen = watched.end();
    assert_eq!(seen.matches("stripe: ").count(), 3, "{seen}");
    assert!(!seen.contains("\nt") && !seen.contains("\nx"), "{seen}");
}

#[test]
fn a_terminal_that_changes_its_size_is_heeded_and_no_line_is_too_long() {
    let program = sample(GCC, "");
    let mut watched = Watched::shell(&format!("tty; {}", slow_by("0.3", &program)));
    watched.wait_for(" left, ", 2);
    let seen = watched.seen();
    let name = seen.lines().next().expect("the name of the terminal").trim().to_owned();
    // Each time the kernel sends SIGWINCH to whoever is in the foreground.
    for width in [20, 300, 1, 60] {
        let columns = width.to_string();
        let mut resize = Command::new("stty");
        assert!(resize.args(["-F", &name, "rows", "9", "cols", &columns]).status().expect("stty").success());
        let drawn = watched.seen().matches("\r\x1b[K").count();
        watched.wait_for("\r\x1b[K", drawn + 3);
    }
    let before = watched.seen().len();
    watched.wait_for(" left, ", watched.seen().matches(" left, ").count() + 2);
    watched.press(b"\x03");
    let seen = watched.end();
    assert!(!seen.contains("panicked"), "{seen}");
    // What was drawn while the terminal had its last size, and what was printed there.
    let (live, report) = seen[before..].rsplit_once("\r\x1b[K").expect("a line that was drawn");
    let drawn: Vec<&str> = live.split("\r\x1b[K").skip(1).collect();
    assert!(drawn.len() > 1 && drawn.iter().all(|line| line.trim_end().chars().count() < 60), "{drawn:?}");
    for line in report.lines() {
        assert!(plain(line).chars().count() <= 60, "too long: {line:?}");
    }
    assert!(["interrupted", "sum-mul.c: main"].iter().all(|part| report.contains(part)), "{report}");
}

/// A line without colours.
fn plain(line: &str) -> String {
    let colour = regex::Regex::new("\x1b\\[[0-9;]*m").expect("an expression");
    colour.replace_all(line.trim_end(), "").into_owned()
}

#[test]
fn a_terminal_that_knows_no_escapes_is_sent_none() {
    let program = sample(GCC, "");
    let mut watched = Watched::shell(&format!("TERM=dumb; export TERM; {}", slow(&program)));
    watched.wait_for(" left after ", 1);
    watched.press(b"t");
    watched.wait_for("stripe: branches decide, ", 1);
    watched.press(b"\x03");
    let seen = watched.end();
    assert!(!seen.contains('\x1b') && seen.contains("sum-mul.c: main"), "{seen}");
}

#[test]
fn a_program_that_reads_the_terminal_finds_nothing_and_stops_neither_stripe_nor_the_shell() {
    let source = "#include <fcntl.h>\n#include <stdio.h>\n#include <unistd.h>\nint main(void) { char c;\n\
                  \x20   int tty = open(\"/dev/tty\", O_RDWR);\n    int typed = read(tty, &c, 1);\n\
                  \x20   int input = read(0, &c, 1);\n    tcsetpgrp(0, getpgrp());\n\
                  \x20   printf(\"typed %d, input %d\\n\", typed, input);\n    return 0;\n}\n";
    let program = tiny("reads-terminal", source);
    let stripe = env!("CARGO_BIN_EXE_stripe");
    let path = program.path.display();
    for sandbox in ["", "--no-sandbox"] {
        let run = format!("{stripe} run {path} {sandbox} --no-save --expect-match \"typed -1, input 0\"");
        let script = format!(
            r#"set -m; {run}; echo "<front $?>"; {run} & wait $!; echo "<behind $?>"; jobs; (exit 3); echo "<shell $?>""#
        );
        let mut watched = Watched::shell(&script);
        // For whoever would read them.
        watched.press(b"typed\n");
        let seen = watched.end();
        for status in ["<front 0>", "<behind 0>", "<shell 3>"] {
            assert!(seen.contains(status), "{sandbox}: no {status} in {seen}");
        }
        assert!(!seen.contains("Stopped") && !seen.contains("panicked"), "{seen}");
    }
}

/// What is done to a search so that it ends.
type Ending<'e> = &'e (dyn Fn(&mut Watched, Pid) + Sync);

#[test]
fn the_terminal_is_given_back_whatever_ends_stripe() {
    let program = sample(GCC, "");
    let slow = slow(&program);
    let endings: [Ending; 5] = [
        &|_, _| {},
        &|watched, _| watched.press(b"\x03"),
        &|_, pid| kill(pid, Signal::SIGTERM).expect("under way"),
        &|_, pid| kill(pid, Signal::SIGQUIT).expect("under way"),
        &|watched, _| {
            watched.press(b"\x03");
            watched.press(b"\x03");
        },
    ];
    let endings: Vec<(usize, Ending)> = endings.into_iter().enumerate().collect();
    in_two_threads(&endings, |(number, ending)| {
        let script = format!(
            r#"trap : INT QUIT; echo "<before>"; {STTY}; (trap - INT QUIT; exec {slow}); echo "<after>"; {STTY}"#
        );
        let mut watched = Watched::shell(&script);
        watched.wait_for(" left, ", 3);
        let stripe = child_running("stripe", watched.child.id());
        assert!(stripe > 0, "stripe is under way");
        let stripe = Pid::from_raw(stripe);
        ending(&mut watched, stripe);
        let seen = watched.end();
        assert_eq!(settings(&seen, "before"), settings(&seen, "after"), "ending {number}: {seen}");
    });
}

/// The descendant of a process that runs this program.
fn child_running(name: &str, ancestor: u32) -> i32 {
    let children = std::fs::read_to_string(format!("/proc/{ancestor}/task/{ancestor}/children"));
    let children = children.unwrap_or_default();
    let children: Vec<u32> = children.split_whitespace().filter_map(|child| child.parse().ok()).collect();
    let is_it = |child: &&u32| {
        std::fs::read_to_string(format!("/proc/{child}/comm")).is_ok_and(|comm| comm.trim() == name)
    };
    match children.iter().find(is_it) {
        Some(child) => i32::try_from(*child).expect("a number"),
        None => children.iter().map(|child| child_running(name, *child)).find(|pid| *pid > 0).unwrap_or(0),
    }
}

#[test]
fn a_stopped_stripe_leaves_the_terminal_alone_and_takes_it_again_when_it_goes_on() {
    let program = sample(GCC, "");
    let script = format!(
        r#"set -m; echo "<before>"; {STTY}; {}; echo "<stopped>"; {STTY}; fg; echo "<after>"; {STTY}"#,
        slow(&program)
    );
    let mut watched = Watched::shell(&script);
    watched.wait_for(" left, ", 3);
    watched.press(b"t");
    watched.wait_for("stripe: ", 1);
    watched.press(b"\x1a");
    watched.wait_for("<stopped>", 1);
    let drawn = watched.seen().matches(" left, ").count();
    watched.wait_for(" left, ", drawn + 2);
    watched.press(b"t");
    watched.wait_for("stripe: ", 2);
    let seen = watched.end();
    for moment in ["stopped", "after"] {
        assert_eq!(settings(&seen, "before"), settings(&seen, moment), "{moment}: {seen}");
    }
}
