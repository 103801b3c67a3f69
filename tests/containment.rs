//! What the sandbox keeps from runs besides harm: rights that are handed on, timers that others have set, what stripe
//! keeps of earlier runs; and that the other commands contain what they run as well.

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use support::hardened::compiled;
use support::tiny::tiny;
use support::witness::{Level, Place, User, Witness, inventory, is_root, stripe_of};
use support::{Program, how_many, scratch, stripe, text};

/// What a run has found that has ended well.
fn found(command: &mut Command, what: &str) -> Value {
    let output = command.stdin(Stdio::null()).output().expect("started");
    assert_eq!(output.status.code(), Some(0), "{what}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// Prints which rights it has.
const RIGHTS: &str = r#"#include <stdio.h>
#include <string.h>
int main(void) {
    char line[256];
    FILE *status = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, status))
        if (!strncmp(line, "Cap", 3)) fputs(line, stdout);
    return 0;
}
"#;

#[test]
fn rights_that_stripe_is_to_hand_on_do_not_reach_runs() {
    if !is_root() {
        return;
    }
    // CAP_NET_ADMIN, CAP_SYS_ADMIN and CAP_SYS_TIME.
    const HANDED_ON: u64 = 1 << 12 | 1 << 21 | 1 << 25;
    let program = tiny("rights", RIGHTS);
    for refused in ["none", "namespaces"] {
        let mut command = Command::new("setpriv");
        command.arg("--inh-caps=+net_admin,+sys_admin,+sys_time").arg("--ambient-caps=+net_admin,+sys_admin");
        command.arg(compiled("hardened")).arg(refused).arg(stripe().get_program()).arg("replay");
        command.arg(&program.path).args(["--omit", ""]).current_dir(&program.directory);
        let output = command.output().expect("started");
        assert_eq!(output.status.code(), Some(0), "{refused}: {}", text(&output.stderr));
        let told = text(&output.stdout);
        let sets: Vec<u64> =
            told.lines().filter_map(|line| u64::from_str_radix(line.split('\t').nth(1)?, 16).ok()).collect();
        assert!(sets.len() == 5 && sets.iter().all(|set| set & HANDED_ON == 0), "{refused}: {told}");
    }
}

/// Waits for a timer that was set before its first statement.
const ALARM: &str = r#"#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
static sigset_t alarm_only;
__attribute__((constructor)) static void early(void) {
    sigemptyset(&alarm_only);
    sigaddset(&alarm_only, SIGALRM);
    sigprocmask(SIG_BLOCK, &alarm_only, NULL);
    setitimer(ITIMER_REAL, &(struct itimerval){ { 0, 0 }, { 0, 20000 } }, NULL);
}
int main(void) { int b = 0; int rung = 0;
    b = 1;
    rung = 1;
    b = b + 1;
    sigwait(&alarm_only, &rung);
    printf("b %d rung %d\n", b, rung);
    return 0;
}
"#;

#[test]
fn a_timer_from_before_the_first_statement_rings_in_every_test() {
    let program = tiny("early-alarm", ALARM);
    for time in [&[][..], &["--real-time"]] {
        let mut command = stripe();
        command.arg("run").arg(&program.path).args([
            "--scope",
            "main",
            "--control",
            "trace",
            "--no-save",
            "-q",
        ]);
        command.args(["--format", "json", "--no-values"]).args(time).current_dir(&program.directory);
        let found = found(&mut command, "alarm");
        assert_eq!((&found["status"], &found["events"]["kept"]), (&"minimal".into(), &4.into()), "{found:#}");
    }
}

/// Lists what is in its directory, and below it.
const LISTER: &str = r#"#define _GNU_SOURCE
#include <ftw.h>
#include <stdio.h>
static int tell(const char *path, const struct stat *data, int kind, struct FTW *where) {
    (void)where;
    printf("%s %d %ld\n", path, kind, (long)data->st_size);
    return 0;
}
int main(void) { int idle = 0;
    idle = idle + 1;
    nftw(".", tell, 16, FTW_PHYS);
    return 0;
}
"#;

/// A program in a folder that begins with no kept run.
fn lister(folder: &Path) -> Program {
    let program = tiny("lister", LISTER);
    let directory = folder.join("run");
    let _ = fs::remove_dir_all(&directory);
    fs::create_dir_all(&directory).expect("made");
    Program { directory, ..program }
}

#[test]
fn a_program_that_lists_its_directory_does_not_see_what_is_kept_of_runs() {
    let temporary = tempfile::tempdir_in("/tmp").expect("a folder");
    for folder in [scratch("lister").as_path(), temporary.path()] {
        let program = lister(folder);
        for refused in ["none", "none", "namespaces"] {
            let mut command = Command::new(compiled("hardened"));
            command.arg(refused).arg(stripe().get_program()).arg("run").arg(&program.path);
            command.args(["-q", "-j2", "--format", "json"]).current_dir(&program.directory);
            let found = found(&mut command, &format!("{refused}, {}", folder.display()));
            assert_eq!(found["status"], "minimal", "{refused}: {found:#}");
        }
        assert!(program.directory.join(".stripe").exists());
    }
}

#[test]
fn on_older_kernels_sockets_and_terminals_of_others_are_not_reached_either() {
    let users: &[User] = if is_root() { &[User::Own, User::Ordinary] } else { &[User::Own] };
    for &user in users {
        let mut witness = Witness::new(&format!("older-{user:?}"), user, Place::Elsewhere);
        for (kind, status) in [
            ("socket-abstract-stream", 125),
            ("socket-abstract-message", 125),
            ("socket-abstract-letters", 125),
            ("socket-connected-write", 125),
            ("socket-own-abstract", 0),
            ("terminal-settings", 125),
            ("terminal-size", 125),
            ("process-signal", 125),
        ] {
            // Before Linux 6.12 Landlock had no scopes, and before 6.10 no right for devices.
            let mut command = stripe_of(user, Level::Basic, "landlock=3");
            command.arg("replay").arg(compiled("kinds")).args(["--scope", "main", "--omit", "4", "--", kind]);
            let output = witness.show(command.arg(&witness.folder)).output().expect("started");
            let said = text(&output.stderr);
            assert_eq!(output.status.code(), Some(status), "{kind}, {user:?}: {said}");
            assert_eq!(said.contains("escaped"), status == 125, "{kind}, {user:?}: {said}");
        }
        assert_eq!(witness.tell(), "", "{user:?}");
    }
}

#[test]
fn other_commands_contain_what_they_run_as_well() {
    const SEVERAL: [&str; 6] = [
        "socket-connected-write",
        "pipe-write",
        "file-by-shell",
        "process-signal",
        "terminal-settings",
        "home-start-files",
    ];
    for (number, kind) in SEVERAL.into_iter().enumerate().step_by(how_many(3, 1) as usize) {
        let level = if number % 2 == 0 { Level::Full } else { Level::Basic };
        let user = if is_root() && number % 4 < 2 { User::Ordinary } else { User::Own };
        let mut witness = Witness::new(&format!("others-{kind}"), user, Place::Temporary);
        let before = inventory(&witness.folder);
        let reference = scratch("others").join("reference");
        fs::write(&reference, "done 1\n").expect("written");
        let reference = reference.to_str().expect("UTF-8").to_owned();
        let versions = scratch("others-versions");
        let [good, bad] = ["good", "bad"].map(|version| {
            let folder = versions.join(version);
            fs::create_dir_all(&folder)
                .and_then(|()| fs::write(folder.join("note"), version))
                .expect("written");
            folder.to_str().expect("UTF-8").to_owned()
        });
        let program = compiled("kinds");
        let program = program.to_str().expect("UTF-8");
        // In the recorded run, and in those with a change.
        for is_recorded in [true, false] {
            let commands: [(&[&str], &[&str]); 4] = [
                (
                    &["simplify", program, "--arguments=full", "--expect-match", "done", "--max-tests", "8"],
                    &[],
                ),
                (
                    &["locate", program, "--reference", &reference, "--scope", "main", "--max-tests", "12"],
                    &[],
                ),
                (&["slice", program, "--expect-match", "done", "--scope", "main"], &[]),
                (&["changes", "--good", &good, "--bad", &bad, "--expect-match", "done"], &[program]),
            ];
            for (words, started) in commands {
                let mut command = stripe_of(user, level, "");
                command.args(words).args(["--timeout", "300ms", "--"]).args(started).arg(kind);
                command.arg(&witness.folder).args(is_recorded.then_some("full"));
                command.env("HOME", witness.folder.join("home"));
                let output = witness.show(&mut command).output().expect("started");
                let (status, said) = (output.status.code(), text(&output.stderr));
                let what = format!("{kind}, {}, {level:?}, {user:?}", words[0]);
                assert!(
                    status.is_some_and(|status| status <= 6) && !said.contains("panicked"),
                    "{what}: {said}"
                );
                assert!(!said.contains("unexpected argument"), "{what}: {said}");
                assert!(inventory(&witness.folder) == before, "{what}: files are changed");
            }
        }
        assert_eq!(witness.tell(), "", "{kind}");
    }
}

/// Moves a file into another folder, and links it back.
const MOVER: &str = r#"#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void) {
    mkdir("one", 0755);
    mkdir("two", 0755);
    FILE *file = fopen("one/file", "w");
    fputs("text", file);
    fclose(file);
    printf("moved %d\n", rename("one/file", "two/file"));
    printf("linked %d\n", link("two/file", "one/link"));
    return 0;
}
"#;

#[test]
fn files_are_moved_and_linked_into_other_folders() {
    let program = tiny("mover", MOVER);
    for refused in ["none", "namespaces"] {
        let mut command = Command::new(compiled("hardened"));
        command.arg(refused).arg(stripe().get_program()).arg("replay").arg(&program.path);
        let output = command.current_dir(&program.directory).output().expect("started");
        assert_eq!(text(&output.stdout), "moved 0\nlinked 0\n", "{refused}: {}", text(&output.stderr));
        assert!(!program.directory.join("two").exists(), "{refused}");
    }
}

#[test]
fn processes_that_are_held_while_the_call_of_another_one_is_decided_about_do_not_notice() {
    let folder = scratch("held");
    for refused in ["none", "namespaces"] {
        let mut command = Command::new(compiled("hardened"));
        command.arg(refused).arg(stripe().get_program()).arg("replay").arg(compiled("held"));
        command.args(["--scope", "main", "--timeout", "60s", "--omit", ""]).current_dir(&folder);
        let output = command.stdin(Stdio::null()).output().expect("started");
        assert_eq!(text(&output.stdout), "done\n", "{refused}: {}", text(&output.stderr));
    }
}

#[test]
fn a_file_is_not_simplified_where_tests_would_change_it_for_real() {
    let folder = scratch("simplified-for-real");
    fs::write(folder.join("note"), "one\nguard\nneedle\n").expect("written");
    fs::create_dir(folder.join("own"))
        .and_then(|()| fs::copy(folder.join("note"), folder.join("own/note")))
        .expect("copied");
    for (refused, file) in
        [("none", "note"), ("namespaces", "note"), ("none", "own/note"), ("namespaces", "own/note")]
    {
        let open = if file == "note" { "." } else { "own" };
        let mut command = Command::new(compiled("hardened"));
        command.arg(refused).arg(stripe().get_program()).args(["simplify", "cat", "--file", file]);
        command.args(["--allow-write", open, "--expect-match", "needle", "-q", "--", file]);
        let output = command.current_dir(&folder).stdin(Stdio::null()).output().expect("started");
        let what = format!("{refused}, {file}: {}", text(&output.stderr));
        assert_eq!(fs::read(folder.join(file)).expect("there"), b"one\nguard\nneedle\n", "{what}");
        // With a copy of the working directory the file in it is another one than the one that was opened.
        if refused == "none" || file == "note" {
            assert_eq!(output.status.code(), Some(1), "{what}");
            assert!(text(&output.stderr).contains("--allow-write"), "{what}");
        } else {
            assert_eq!(output.status.code(), Some(0), "{what}");
        }
    }
}

#[test]
fn changes_are_found_at_the_basic_level_too_where_builds_and_tests_write_in_their_tree() {
    let folder = scratch("changed-at-both-levels");
    for (version, word) in [("good", "right"), ("bad", "wrong")] {
        fs::create_dir_all(folder.join(version).join("src")).expect("made");
        fs::write(folder.join(version).join("src/text"), format!("{word}\n")).expect("written");
        fs::write(folder.join(version).join("src/other"), format!("{version}\n")).expect("written");
    }
    let by_command = ["--build", "cp src/text made", "--test", "grep -q right made"];
    let by_program = ["--expect-match", "wrong", "--", "cat", "src/text"];
    let elsewhere = ["--cwd", "src", "--expect-match", "wrong", "--", "cat", "text"];
    for refused in ["none", "namespaces"] {
        for further in [&by_command[..], &by_program, &elsewhere] {
            let mut command = Command::new(compiled("hardened"));
            command.arg(refused).arg(stripe().get_program());
            command.args([
                "changes",
                "--good",
                "good",
                "--bad",
                "bad",
                "--no-save",
                "-q",
                "--format",
                "json",
            ]);
            let found = found(command.args(further).current_dir(&folder), refused);
            let level = if refused == "none" { "full" } else { "basic" };
            assert_eq!((&found["status"], &found["containment"]), (&"minimal".into(), &level.into()));
            let files: Vec<&Value> =
                found["changes"].as_array().into_iter().flatten().map(|change| &change["file"]).collect();
            assert_eq!(files, ["src/text"], "{refused}, {further:?}");
        }
    }
}
