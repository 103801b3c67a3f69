//! `stripe changes`: the changes that it names break the version that works, and none of them can be left out.

mod support;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;
use support::random::Random;
use support::tiny::{assert_says, message};
use support::{how_many, scratch, stripe, text};

/// The files of a version.
type Files<'f> = &'f [(&'f str, &'f str)];

fn write(folder: &Path, files: Files<'_>) {
    for (name, content) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(&path, content).expect("written");
    }
}

/// A folder with two versions, `a` and `b`.
fn versions(name: &str, good: Files<'_>, bad: Files<'_>) -> PathBuf {
    let folder = scratch(&format!("changes-{name}"));
    write(&folder.join("a"), good);
    write(&folder.join("b"), bad);
    folder
}

fn changes(folder: &Path, words: &[&str]) -> Output {
    let mut command = stripe();
    command.arg("changes").args(words).current_dir(folder).stdin(Stdio::null());
    command.output().expect("stripe starts")
}

/// The result as a document, of a command that ends with this status.
fn document(folder: &Path, words: &[&str]) -> Value {
    let output = changes(folder, &[&["--format", "json", "-q"], words].concat());
    assert_eq!(output.status.code(), Some(0), "{words:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("a document")
}

/// The same of the folders `a` and `b`.
fn between(folder: &Path, words: &[&str]) -> Value {
    document(folder, &[&["--good", "a", "--bad", "b"], words].concat())
}

/// The changes that are left: the file and the first new line of each.
fn left(document: &Value) -> Vec<(String, u64)> {
    let changes = document["changes"].as_array().expect("changes");
    let place = |change: &Value| {
        let file = change["file"].as_str().expect("a file").to_owned();
        (file, change["new"][0].as_u64().unwrap_or(0))
    };
    changes.iter().map(place).collect()
}

fn places(expected: &[(&str, u64)]) -> Vec<(String, u64)> {
    expected.iter().map(|(file, line)| ((*file).to_owned(), *line)).collect()
}

/// Whether a shell command succeeds in a folder.
fn succeeds(folder: &Path, command: &str) -> bool {
    let output = Command::new("sh").args(["-c", command]).current_dir(folder).output().expect("a shell");
    output.status.success()
}

fn copy(from: &Path, to: &Path) {
    let _ = fs::remove_dir_all(to);
    let status = Command::new("cp").arg("-r").arg(from).arg(to).status().expect("cp starts");
    assert!(status.success());
}

/// Lines `l1` to `lN`, with some of them replaced.
fn lines(count: usize, replaced: &[(usize, &str)]) -> String {
    let line = |number: usize| match replaced.iter().find(|(place, _)| *place == number) {
        Some((_, text)) => format!("{text}\n"),
        None => format!("l{number}\n"),
    };
    (1..=count).map(line).collect()
}

// Two folders.

#[test]
fn of_many_changes_the_one_that_breaks_it_is_found_and_its_patch_breaks_the_good_version() {
    let all: Vec<(usize, String)> = (0..25).map(|number| (10 * number + 5, format!("x{number}"))).collect();
    let all: Vec<(usize, &str)> = all.iter().map(|(place, text)| (*place, &**text)).collect();
    let (good, bad) = (lines(260, &[]), lines(260, &all));
    let folder = versions("one", &[("f", &good), ("g", "1\n")], &[("f", &bad), ("g", "2\n"), ("h", "3\n")]);
    let test = "! grep -q x17 f";
    let found = between(&folder, &["--test", test, "--emit", "patch=p", "--trees", "t"]);
    assert_eq!(left(&found), places(&[("f", 175)]));
    assert_eq!((&found["schema"], &found["status"]), (&"stripe.changes/1".into(), &"minimal".into()));
    assert_eq!((&found["good"], &found["bad"]), (&"a".into(), &"b".into()));
    let change = &found["changes"][0];
    assert_eq!(
        (&change["old"], &change["new"]),
        (&serde_json::json!([175, 175]), &serde_json::json!([175, 175]))
    );
    assert!(change["commit"].is_null());
    assert_says(change["patch"].as_str().expect("a patch"), &["--- a/f\n+++ b/f\n", "-l175\n+x17\n"]);
    assert_eq!(found["difference"], serde_json::json!({ "passing": [], "failing": [0] }));
    let tests = &found["tests"];
    let total = tests["total"].as_u64().expect("a number");
    let unresolved = tests["unresolved"].as_object().expect("reasons");
    let sum = ["fail", "pass"].iter().map(|key| tests[key].as_u64().expect("a number")).sum::<u64>();
    assert_eq!(
        total,
        sum + unresolved.values().map(|reason| reason.as_u64().expect("a number")).sum::<u64>()
    );
    assert_eq!(unresolved.keys().collect::<Vec<_>>(), ["construction", "execution", "integration"]);
    assert!(total <= 14, "a binary search: {total}");
    copy(&folder.join("a"), &folder.join("c"));
    assert!(succeeds(&folder.join("c"), test));
    assert!(succeeds(&folder.join("c"), "patch -p1 -s -i ../p"));
    assert!(!succeeds(&folder.join("c"), test));
    assert!(succeeds(&folder, "diff -r a t/passing && diff -r c t/failing"));
    // Nothing is overwritten unless that is said.
    let again = changes(&folder, &["--good", "a", "--bad", "b", "--test", test, "--emit", "patch=p"]);
    assert_says(&message(&again, 2), &["p: exists", "--force"]);
}

#[test]
fn two_changes_that_break_it_only_together_are_both_found() {
    let folder = versions(
        "interference",
        &[("f", &lines(60, &[]))],
        &[("f", &lines(60, &[(5, "one"), (15, "x"), (25, "y"), (35, "two"), (45, "z"), (55, "u")]))],
    );
    let words = ["--test", "! grep -q one f || ! grep -q two f"];
    let found = between(&folder, &words);
    assert_eq!(left(&found), places(&[("f", 5), ("f", 35)]));
    let difference = &found["difference"];
    let (passing, failing) = (&difference["passing"], &difference["failing"]);
    assert_eq!((passing.as_array().map(Vec::len), failing.as_array().map(Vec::len)), (Some(1), Some(2)));
    let told = changes(&folder, &[&["--good", "a", "--bad", "b"], &words[..]].concat());
    assert_says(&text(&told.stdout), &["only together", "without it: the test exited with 0"]);
}

#[test]
fn a_change_that_undoes_another_one_does_not_hide_it() {
    // The second makes up for the first, the third breaks it again.
    let folder = versions(
        "undo",
        &[("f", &lines(60, &[]))],
        &[("f", &lines(60, &[(5, "break"), (25, "mend"), (35, "x"), (45, "again")]))],
    );
    let test = "if grep -q again f; then exit 1; fi; ! grep -q break f || grep -q mend f";
    let found = between(&folder, &["--test", test]);
    // Either of the two is minimal.
    let left = left(&found);
    assert!(left == places(&[("f", 45)]) || left == places(&[("f", 5)]), "{left:?}");
}

const MAKEFILE: &str = "prog: main.o area.o\n\tcc -o prog main.o area.o\nmain.o: main.c area.h\n\tcc -c main.c\narea.o: area.c area.h\n\tcc -c area.c\n";

/// A program in C whose function gets another parameter: declaration, definition and call must change together.
fn area() -> PathBuf {
    let main = |start: &str, call: &str| {
        format!(
            "#include <stdio.h>\n#include \"area.h\"\n/* {start} */\n\nint unused;\n\nint main(void) {{\n    int x = 6;\n    \
             int y = 7;\n    puts(\"{start}\");\n\n\n    printf(\"%d\\n\", {call});\n    return 0;\n}}\n"
        )
    };
    let source = |parameters: &str, value: &str| {
        format!(
            "#include \"area.h\"\n\nint area({parameters})\n{{\n    int one;\n    one = 1;\n    return {value};\n}}\n"
        )
    };
    let header = |parameters: &str| format!("int area({parameters});\n");
    let (old, new) = ("int a, int b", "int a, int b, int depth");
    versions(
        "area",
        &[
            ("Makefile", MAKEFILE),
            ("area.h", &header(old)),
            ("area.c", &source(old, "one * a * b")),
            ("main.c", &main("start", "area(x, y)")),
        ],
        &[
            ("Makefile", MAKEFILE),
            ("area.h", &header(new)),
            ("area.c", &source(new, "one * a * b + depth")),
            ("main.c", &main("begin", "area(x, y, 1)")),
            ("README", "nothing\n"),
        ],
    )
}

#[test]
fn a_change_that_compiles_only_together_with_its_header_is_found_with_it() {
    let folder = area();
    let words = ["--build", "make", "--test", "./prog | grep -q 42", "--by", "hunks"];
    let found = between(&folder, &[&words[..], &["--emit", "patch=p"]].concat());
    assert_eq!(left(&found), places(&[("area.c", 3), ("area.c", 7), ("area.h", 1), ("main.c", 13)]));
    assert!(found["tests"]["unresolved"]["construction"].as_u64() > Some(0));
    assert!(found["tests"]["builds"].as_u64() >= found["tests"]["total"].as_u64());
    assert_eq!(found["containment"], "full");
    copy(&folder.join("a"), &folder.join("c"));
    assert!(succeeds(
        &folder.join("c"),
        "make -s && ./prog | grep -q 42 && patch -p1 -s -i ../p && make -s && ! ./prog | grep -q 42"
    ));
    // What builds make stays out of the versions.
    assert!(!folder.join("a/prog").exists() && !folder.join("b/main.o").exists());
    // Without what helps, the same is found, by more tests.
    let plain =
        between(&folder, &[&words[..], &["--without-groups", "all", "--without-resolution"]].concat());
    let key = |found: &Value| {
        let mut places = left(found);
        places.sort();
        places
    };
    assert_eq!(key(&plain), key(&found));
}

#[test]
fn the_result_does_not_depend_on_the_number_of_tests_at_the_same_time() {
    let folder = area();
    let result = |jobs: &str| {
        let mut found = between(&folder, &["--build", "make", "--test", "./prog | grep -q 42", jobs]);
        found["seconds"] = Value::Null;
        found["tests"]["runs"] = Value::Null;
        // How often files have gone before a build depends on which worker has built what.
        found["tests"]["builds"] = Value::Null;
        found
    };
    assert_eq!(result("-j1"), result("-j3"));
}

#[test]
fn a_program_is_started_in_each_version_and_judged_by_what_it_does() {
    let main = |body: &str| {
        format!(
            "#include <stdio.h>\n\nint a;\n\nint main(void) {{\n    puts(\"a\");\n    int *p = &a;\n\n\n{body}    return *p;\n}}\n"
        )
    };
    let folder = versions(
        "program",
        &[("main.c", &main("")), ("note", "1\n")],
        &[("main.c", &main("    p = 0;\n")), ("note", "2\n")],
    );
    let build = ["--build", "cc -g -o prog main.c"];
    let found = between(&folder, &[&build[..], &["--", "./prog"]].concat());
    assert_eq!(left(&found), places(&[("main.c", 10)]));
    assert_says(found["criterion"].as_str().expect("words"), &["SIGSEGV"]);
    let output = changes(
        &folder,
        &["--good", "a", "--bad", "b", "--build", "cc -o prog main.c", "--expect-match", "b", "--", "./prog"],
    );
    assert_says(&message(&output, 3), &["--bad b works as well: output does not match `b`"]);
    let unfit = changes(&folder, &["--good", "a", "--bad", "b", "--test", "true", "--expect-exit", "1"]);
    assert_says(&message(&unfit, 2), &["--test"]);
}

#[test]
fn binary_files_modes_links_and_odd_names_are_changes_too() {
    let folder = scratch("changes-odd");
    let odd = OsStr::from_bytes(b"odd \xff name");
    for (version, binary, text, target) in [("a", &b"\0one"[..], "1\n", "x"), ("b", b"\0two", "2\n", "y")] {
        let place = folder.join(version);
        write(&place, &[("x", "x\n"), ("y", "y\n"), ("run", "#!/bin/sh\n"), ("plain", text)]);
        fs::write(place.join("bin"), binary).expect("written");
        fs::write(place.join(odd), text).expect("written");
        std::os::unix::fs::symlink(target, place.join("link")).expect("linked");
    }
    assert!(succeeds(&folder, "chmod +x b/run"));
    for (test, file) in [
        ("! grep -q two bin", "bin"),
        ("! grep -q 2 odd*", "odd \u{fffd} name"),
        ("[ $(cat link) = x ]", "link"),
        ("! ./run", "run"),
    ] {
        let found = between(&folder, &["--test", &format!("{{ {test}; }} || exit 1")]);
        assert_eq!(left(&found).iter().map(|(file, _)| &**file).collect::<Vec<_>>(), [file]);
    }
    let output = changes(
        &folder,
        &["--good", "a", "--bad", "b", "--test", "! grep -q two bin", "--emit", "patch=p", "--trees", "t"],
    );
    assert_says(&text(&output.stderr), &["not in the patch, because it is binary: bin"]);
    assert_eq!(fs::read(folder.join("t/failing/bin")).expect("written"), b"\0two");
}

#[test]
fn lines_are_looked_at_where_few_changes_are_left() {
    let folder =
        versions("lines", &[("f", "1\n2\n3\n")], &[("f", "1\nx\ny\nguilty\nz\n3\n"), ("n", "a\nb\n")]);
    let test = ["--test", "! grep -q guilty f"];
    assert_eq!(left(&between(&folder, &test)), places(&[("f", 4)]));
    assert_eq!(left(&between(&folder, &[&test[..], &["--by", "hunks"]].concat())), places(&[("f", 2)]));
    let created = between(&folder, &["--test", "! grep -q b n"]);
    assert_eq!(left(&created).len(), 2, "a line of a new file needs the file: {created}");
    // A version that does not build because a file has gone is tried once more in a clean tree, and not for ever.
    let words = ["--build", "[ -e n ] || grep -q x m", "--test", "! grep -q guilty f"];
    let gone = versions(
        "gone",
        &[("f", "1\n2\n3\n"), ("n", "n\n"), ("m", "")],
        &[("f", "1\n2\n3\nguilty\n"), ("m", "x\n")],
    );
    assert_eq!(left(&between(&gone, &words)), places(&[("f", 4)]));
    let files = between(&folder, &[&test[..], &["--by", "files"]].concat());
    assert_eq!((&files["unit"], left(&files).len()), (&"file".into(), 1));
}

#[test]
fn a_test_that_changes_the_files_of_its_tree_does_not_change_the_answer() {
    let bad = lines(60, &[(5, "x"), (25, "guilty"), (45, "y")]);
    let folder = versions("tampered", &[("f", &lines(60, &[]))], &[("f", &bad)]);
    let test = "grep -q guilty f; s=$?; echo more >>f; rm -f g; echo new >h; [ $s = 1 ]";
    let found = between(&folder, &["--test", test]);
    assert_eq!(left(&found), places(&[("f", 25)]));
    assert_says(&found["warnings"].to_string(), &["have changed files of the tree", "f"]);
    assert_eq!(fs::read_to_string(folder.join("b/f")).expect("there"), bad);
}

#[test]
fn exit_status_125_and_hangs_say_nothing() {
    let bad = lines(60, &[(5, "odd"), (15, "u"), (25, "guilty"), (35, "even"), (45, "v")]);
    let folder = versions("unresolved", &[("f", &lines(60, &[]))], &[("f", &bad)]);
    // The odd one goes only with the even one.
    let test = "grep -q odd f; o=$?; grep -q even f; [ $o = $? ] || exit 125; ! grep -q guilty f";
    let found = between(&folder, &["--test", test]);
    assert_eq!(left(&found), places(&[("f", 25)]));
    assert_eq!(found["tests"]["unresolved"]["construction"], 0);
    let sleepy = "if grep -q odd f && ! grep -q even f; then sleep 100; fi; ! grep -q guilty f";
    let found = between(&folder, &["--test", sleepy, "--timeout", "200ms"]);
    assert_eq!(left(&found), places(&[("f", 25)]));
}

/// A project of many files that "builds" if each name that is used is defined. Change 8 breaks it; 2, 3 and 7 only
/// build together.
#[test]
fn tables_5_and_6_on_a_project_of_300_files() {
    let folder = scratch("changes-tables");
    let link = "awk '/^def/ { d[$2] = 1 } /^use/ { u[$2] = FILENAME } END { for (n in u) if (!(n in d)) { print u[n] \": undefined reference to `\" n \"\\x27\"; bad = 1 } exit bad }' src/*/*";
    let name = |file: usize| format!("src/d{:02}/f{file:03}", file % 20);
    for version in ["a", "b"] {
        for file in 0..300 {
            let path = folder.join(version).join(name(file));
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            let mut text =
                lines(20, &[(1, &format!("def n{file}")), (2, &format!("use n{}", (file + 7) % 300))]);
            let changed = [20, 60, 100, 140, 180, 220, 260, 280].iter().position(|place| *place == file);
            if let (Some(number), "b") = (changed, version) {
                text += match number + 1 {
                    2 => "def two\nuse three\n",
                    3 => "def three\nuse seven\n",
                    7 => "def seven\nuse two\n",
                    8 => "guilty\n",
                    _ => "harmless\n",
                };
            }
            fs::write(path, text).expect("written");
        }
    }
    let words = ["--build", link, "--test", "! grep -rq guilty src", "--by", "hunks"];
    let found = between(&folder, &words);
    assert_eq!(left(&found), [(name(280), 21)]);
    let total = found["tests"]["total"].as_u64().expect("a number");
    // Table 6 has 16 tests, without the ends.
    assert!(total <= 16, "{total}: {}", found["tests"]);
}

// Repositories.

struct Repository {
    folder: PathBuf,
}

impl Repository {
    fn new(name: &str) -> Repository {
        let folder = scratch(&format!("changes-git-{name}"));
        let repository = Repository { folder };
        repository.git(&["init", "-q", "-b", "main", "."]);
        repository.commit("start", &[("f", &lines(60, &[])), ("g", "0\n")]);
        repository.git(&["tag", "good"]);
        repository
    }

    fn git(&self, words: &[&str]) -> String {
        let mut command = Command::new("git");
        for (name, value) in
            [("NAME", "A U Thor"), ("EMAIL", "author@example.com"), ("DATE", "2026-01-02T03:04:05Z")]
        {
            command.env(format!("GIT_AUTHOR_{name}"), value).env(format!("GIT_COMMITTER_{name}"), value);
        }
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        let output = command.args(words).current_dir(&self.folder).output().expect("git starts");
        assert!(output.status.success(), "{words:?}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    fn commit(&self, subject: &str, files: Files<'_>) {
        write(&self.folder, files);
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", subject]);
    }

    /// The subject of the first bad commit by `git bisect run`, and the number of tests that it took.
    fn bisected(&self, test: &str) -> (String, u64) {
        self.git(&["bisect", "start", "HEAD", "good"]);
        let mut command = Command::new("git");
        let output = command.args(["bisect", "run", "sh", "-c", test]).current_dir(&self.folder).output();
        let told = text(&output.expect("git starts").stdout);
        let guilty =
            told.lines().find_map(|line| line.strip_suffix(" is the first bad commit")).unwrap_or_default();
        let subject =
            if guilty.is_empty() { String::new() } else { self.git(&["log", "-1", "--format=%s", guilty]) };
        let tests = told.lines().filter(|line| line.starts_with("running ")).count() as u64;
        self.git(&["bisect", "reset"]);
        (subject.trim().to_owned(), tests)
    }

    fn found(&self, test: &str, words: &[&str]) -> Value {
        document(&self.folder, &[&["--good", "good", "--bad", "HEAD", "--test", test], words].concat())
    }
}

fn subjects(found: &Value) -> Vec<&str> {
    found["commits"]
        .as_array()
        .expect("commits")
        .iter()
        .map(|commit| commit["subject"].as_str().expect("words"))
        .collect()
}

/// Commits that change a line each.
fn one_by_one(name: &str, count: usize, special: &[(usize, &str)]) -> Repository {
    let repository = Repository::new(name);
    let mut replaced: Vec<(usize, String)> = Vec::new();
    for number in 1..=count {
        let text = special.iter().find(|(place, _)| *place == number).map_or("x", |(_, text)| text);
        replaced.push((number, format!("{text}{number}")));
        let replaced: Vec<(usize, &str)> = replaced.iter().map(|(place, text)| (*place, &**text)).collect();
        repository.commit(
            &format!("commit {number}"),
            &[("f", &lines(60, &replaced)), ("g", &format!("{number}\n"))],
        );
    }
    repository
}

#[test]
fn the_commit_is_that_of_git_bisect_and_takes_no_more_tests_but_those_of_the_two_versions() {
    for guilty in [1, 17] {
        let repository = one_by_one(&format!("bisect-{guilty}"), 20, &[(guilty, "guilty")]);
        let test = "! grep -q guilty f";
        let (subject, tests) = repository.bisected(test);
        let found = repository.found(test, &["--by", "commits"]);
        assert_eq!(subjects(&found), [&*subject]);
        assert_eq!(subject, format!("commit {guilty}"));
        let total = found["tests"]["total"].as_u64().expect("a number");
        assert!(total <= tests + 2, "{total} tests, {tests} by git bisect");
        // And on to the line.
        let found = repository.found(test, &["--emit", "patch=../p", "--force"]);
        assert_eq!(left(&found), places(&[("f", guilty as u64)]));
        assert_eq!(
            found["changes"][0]["commit"],
            repository.git(&["rev-parse", &format!("HEAD~{}", 20 - guilty)]).trim()
        );
    }
}

#[test]
fn around_commits_that_do_not_build_the_search_goes_on() {
    let repository = one_by_one("broken", 16, &[(6, "broken"), (9, "guilty")]);
    // Commits 6 to 11 do not build.
    let build = "! grep -q broken f || grep -q x12 f";
    let found = document(
        &repository.folder,
        &["--good", "good", "--bad", "HEAD", "--build", build, "--test", "! grep -q guilty f"],
    );
    // Which of them it is, the changes tell.
    assert_eq!(
        subjects(&found),
        ["commit 6", "commit 7", "commit 8", "commit 9", "commit 10", "commit 11", "commit 12"]
    );
    assert_eq!(left(&found), places(&[("f", 9)]));
    assert_eq!(found["changes"][0]["commit"], repository.git(&["rev-parse", "HEAD~7"]).trim());
}

#[test]
fn two_commits_that_break_it_only_together_are_both_named() {
    let repository = one_by_one("together", 20, &[(4, "one"), (15, "two")]);
    let test = "! grep -q one f || ! grep -q two f";
    assert_eq!(repository.bisected(test).0, "commit 15", "the other one is not found");
    let found = repository.found(test, &["--context", "1", "--by", "lines"]);
    assert_eq!(subjects(&found), ["commit 15"]);
    let commits: Vec<&str> = found["changes"]
        .as_array()
        .expect("changes")
        .iter()
        .filter_map(|change| change["commit"].as_str())
        .collect();
    let name = |back: usize| repository.git(&["rev-parse", &format!("HEAD~{back}")]).trim().to_owned();
    assert_eq!(commits, [name(16), name(5)], "{found}");
}

#[test]
fn a_failure_that_was_mended_and_came_back_is_put_down_to_its_second_cause() {
    let repository = Repository::new("back");
    let with = |replaced: &[(usize, &str)]| lines(60, replaced);
    for number in 1..=24 {
        let mut replaced = vec![(40, "x")];
        if (2..=10).contains(&number) {
            replaced.push((5, "guilty one"));
        }
        if number >= 20 {
            replaced.push((25, "guilty two"));
        }
        repository
            .commit(&format!("commit {number}"), &[("f", &with(&replaced)), ("g", &format!("{number}\n"))]);
    }
    let test = "! grep -q guilty f";
    let found = repository.found(test, &[]);
    assert_eq!(subjects(&found), ["commit 20"]);
    assert_eq!(left(&found), places(&[("f", 25)]));
}

#[test]
fn after_a_merge_the_commit_on_the_other_line_is_found_or_the_merge_itself() {
    let repository = Repository::new("merge");
    repository.git(&["checkout", "-q", "-b", "side"]);
    for number in 1..=6 {
        let text = if number == 4 { "guilty" } else { "side" };
        repository.commit(&format!("side {number}"), &[(&*format!("s{number}"), text)]);
    }
    repository.git(&["checkout", "-q", "main"]);
    (1..=5).for_each(|number| repository.commit(&format!("main {number}"), &[("g", &format!("{number}\n"))]));
    repository.git(&["merge", "-q", "--no-ff", "-m", "merge", "side"]);
    (6..=9).for_each(|number| repository.commit(&format!("main {number}"), &[("g", &format!("{number}\n"))]));
    let found = repository.found("! cat s* 2>/dev/null | grep -q guilty", &[]);
    assert_eq!(
        (subjects(&found), left(&found)),
        (
            vec!["side 4"],
            places(&[("s4", 1)])
                .into_iter()
                .take(1)
                .map(|(file, _)| (file, 0))
                .chain(places(&[("s4", 1)]))
                .collect()
        )
    );
    // Main and side break it only together: nobody but the merge is guilty.
    let found = repository.found("! [ -e s4 ] || ! grep -q '[3-9]' g", &["--by", "commits"]);
    assert_eq!(subjects(&found), ["merge"]);
}

/// What there is in a folder, but for what stripe keeps: contents, modes, times.
fn state(folder: &Path) -> BTreeMap<PathBuf, (Vec<u8>, u32, i64, i64, u64)> {
    let mut state = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        let data = fs::symlink_metadata(&path).expect("there");
        let content = if data.is_file() { fs::read(&path).expect("readable") } else { Vec::new() };
        if data.is_dir() {
            open.extend(fs::read_dir(&path).expect("readable").map(|entry| entry.expect("readable").path()));
        }
        if !path.starts_with(folder.join(".stripe")) {
            state.insert(path, (content, data.mode(), data.mtime(), data.mtime_nsec(), data.ino()));
        }
    }
    state
}

fn assert_unchanged(before: &BTreeMap<PathBuf, (Vec<u8>, u32, i64, i64, u64)>, folder: &Path) {
    let now = state(folder);
    let paths = before.keys().chain(now.keys());
    let other: Vec<&PathBuf> = paths.filter(|path| before.get(*path) != now.get(*path)).collect();
    assert!(other.is_empty(), "changed: {other:?}");
}

#[test]
fn the_working_tree_is_taken_as_it_is_and_nothing_in_the_repository_changes_whenever_it_ends() {
    let repository = one_by_one("untouched", 6, &[]);
    write(
        &repository.folder,
        &[(".gitignore", "ignored\n"), ("ignored", "guilty\n"), ("new/file", "guilty\n"), ("g", "dirty\n")],
    );
    // A file whose time tempts git to write its index.
    fs::write(repository.folder.join("f"), fs::read(repository.folder.join("f")).expect("there"))
        .expect("written");
    repository.git(&["config", "core.fsmonitor", "touch ../monitored; false"]);
    // The folder that stripe keeps its runs in makes it a little younger.
    fs::create_dir(repository.folder.join(".stripe")).expect("made");
    let before = state(&repository.folder);
    let test = "! grep -rq guilty . && ! [ -e ignored ] || exit 1; touch x; git status; git add -A; true";
    let words = ["--good", "good", "--bad", ".", "--test", test];
    let found = document(&repository.folder, &words);
    assert_eq!(subjects(&found), ["changes that are not committed"]);
    assert_eq!(found["changes"][0]["file"], "new/file");
    assert_unchanged(&before, &repository.folder);
    let ignored = fs::read_to_string(repository.folder.join(".stripe/.gitignore")).expect("there");
    assert_eq!(ignored, "*\n", "what stripe keeps");
    let mut random = Random::new("kills");
    for _ in 0..how_many(4, 200) {
        let mut command = stripe();
        command.arg("changes").args(words).current_dir(&repository.folder);
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("stripe starts");
        std::thread::sleep(Duration::from_millis(random.below(400)));
        let _ = child.kill();
        child.wait().expect("ended");
        assert_unchanged(&before, &repository.folder);
    }
    assert!(!repository.folder.parent().expect("above").join("monitored").exists(), "a hook was run");
    assert_eq!(repository.git(&["worktree", "list"]).lines().count(), 1);
}

// What cannot be.

#[test]
fn what_makes_no_sense_is_said_with_its_cause_and_remedy() {
    let folder = versions("refused", &[("f", "1\n")], &[("f", "2\n")]);
    let refused = |words: &[&str], status: i32, says: &[&str]| {
        assert_says(&message(&changes(&folder, &[&["-q"], words].concat()), status), says);
    };
    let ends = ["--good", "a", "--bad", "b"];
    let with = |words: &[&'static str]| [&ends[..], words].concat();
    refused(
        &["--good", "a", "--bad", "a", "--test", "true"],
        2,
        &["a and a are the same", "name two versions"],
    );
    refused(&with(&["--test", "false"]), 3, &["--good a shows the failure as well", "name an older version"]);
    refused(&with(&["--test", "true"]), 3, &["--bad b works as well"]);
    refused(&with(&["--test", "! grep -q 1 f"]), 3, &["exchange the two versions"]);
    refused(
        &with(&["--build", "echo no >&2; exit 3", "--test", "true"]),
        1,
        &["neither version builds: the build exited with 3: no"],
    );
    refused(&with(&["--build", "grep 1 f", "--test", "true"]), 1, &["--bad b does not build"]);
    refused(&with(&["--build", "grep 2 f", "--test", "true"]), 1, &["--good a does not build"]);
    refused(&with(&["--test", "./not-there"]), 4, &["neither passes nor fails", "not found"]);
    refused(&with(&["--test", "kill -9 $$"]), 4, &["SIGKILL"]);
    refused(&with(&["--by", "commits", "--test", "grep -q 1 f"]), 2, &["--by commits needs two revisions"]);
    refused(
        &["--good", "nowhere", "--bad", "b", "--test", "true"],
        2,
        &["--good nowhere: is neither a folder nor a revision"],
    );
    refused(&with(&["--cwd", "../x", "--test", "true"]), 2, &["--cwd ../x: is not within a version"]);
    refused(&with(&[]), 2, &["--test"]);
    let outside = tempfile::tempdir().expect("a folder");
    fs::create_dir(outside.path().join("b")).expect("made");
    let output = changes(outside.path(), &["--good", "v1", "--bad", "b", "--test", "true"]);
    assert_says(&message(&output, 2), &["--good v1: is no folder", "no git repository here"]);
}

#[test]
fn a_flaky_test_is_noticed_and_a_budget_leaves_what_breaks_it() {
    let bad = lines(60, &[(5, "x"), (15, "guilty"), (25, "y"), (35, "z")]);
    let folder = versions("flaky", &[("f", &lines(60, &[]))], &[("f", &bad)]);
    let ends = ["--good", "a", "--bad", "b"];
    let flaky = "echo >>count; [ $(($(wc -l <count) % 2)) = 1 ] || ! grep -q guilty f";
    let output = changes(&folder, &[&ends[..], &["--repeat", "2", "-q", "--test", flaky]].concat());
    assert_says(&message(&output, 4), &["--bad b neither passes nor fails: not the same each time"]);
    let short =
        [&ends[..], &["--max-tests", "3", "-q", "--format", "json", "--test", "! grep -q guilty f"]].concat();
    let output = changes(&folder, &short);
    assert_eq!(output.status.code(), Some(5), "{}", text(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).expect("a document");
    assert_eq!(found["status"], "budget");
    assert!(left(&found).contains(&("f".to_owned(), 15)), "{found}");
}

// What stays.

/// Changes of which only some can be left out by themselves.
fn many_changes(name: &str) -> PathBuf {
    let bad = lines(400, &[(5, "x"), (95, "guilty"), (155, "y"), (255, "z"), (305, "guilty"), (355, "v")]);
    let (good, deep) = (lines(400, &[]), lines(400, &[(7, "p"), (77, "q"), (207, "r"), (377, "s")]));
    versions(name, &[("f", &good), ("deep/g", &good)], &[("f", &bad), ("deep/g", &deep)])
}

const BOTH_GUILTY: [&str; 2] = ["--test", "[ $(grep -c guilty f) -lt 2 ]"];

#[test]
fn a_search_that_was_ended_goes_on_and_comes_to_the_same_end() {
    let folder = many_changes("resumed");
    let whole = between(&folder, &[&["--no-save"][..], &BOTH_GUILTY].concat());
    assert!(!folder.join(".stripe").exists(), "nothing was to be kept");
    let words = [&["--good", "a", "--bad", "b"][..], &BOTH_GUILTY].concat();
    let output = changes(&folder, &[&words[..], &["--max-tests", "4"]].concat());
    assert_eq!(output.status.code(), Some(5));
    assert_says(&text(&output.stderr), &["the same command with --resume goes on from here"]);
    let listed = || text(&stripe().arg("runs").current_dir(&folder).output().expect("it runs").stdout);
    assert_says(&listed(), &["budget", " ± ", "changes --good a --bad b"]);
    // Killed at once, or later: what was tested before is known, and it stays one search.
    for wait in [0, 300] {
        let mut child = stripe();
        child.args(["changes", "--resume"]).args(&words).current_dir(&folder);
        let mut child = child.stdin(Stdio::null()).stderr(Stdio::null()).spawn().expect("it starts");
        std::thread::sleep(Duration::from_millis(wait));
        let _ = child.kill();
        child.wait().expect("ended");
    }
    let output = changes(&folder, &[&["--resume", "--format", "json"], &words[..]].concat());
    let told = text(&output.stderr);
    if output.status.code() == Some(2) {
        assert_says(&told, &["it has come to its end"]);
    } else {
        assert_eq!(output.status.code(), Some(0), "{told}");
        assert_says(&told, &["going on after"]);
    }
    assert_eq!(listed().lines().count(), 2, "{}", listed());
    let report = |words: &[&str]| {
        let mut command = stripe();
        command.arg("report").args(words).current_dir(&folder);
        command.output().expect("it runs")
    };
    let kept: Value = serde_json::from_slice(&report(&["1", "--format", "json"]).stdout).expect("a document");
    for key in ["status", "changes", "difference", "all", "criterion"] {
        assert_eq!(kept[key], whole[key], "{key}");
    }
    assert_eq!(kept["tests"]["total"], whole["tests"]["total"]);
    assert_says(&text(&report(&[]).stdout), &["2 changes of 10, together", "+guilty"]);
    let page = text(&report(&["1", "--format", "html"]).stdout);
    assert_says(
        &page,
        &["What broke between", r#"["+",null,95,"guilty",true]"#, r#"["+",null,5,"x",false]"#],
    );
    assert_says(&message(&report(&["1", "--format", "dot"]), 2), &["take text, json or html"]);
    // Nothing is left to do; and with another test there is nothing to go on with.
    let again = changes(&folder, &[&["--resume"], &words[..]].concat());
    assert_says(&message(&again, 2), &["no tests of this search are kept"]);
    fs::write(folder.join(".stripe/1-changes/new-0"), "something else").expect("damaged");
    assert_says(&message(&report(&["1"]), 1), &["new-0: is damaged"]);
}

#[test]
fn after_the_changes_comes_the_critical_slice_of_the_failing_version_with_their_lines() {
    let main = "#include <stdio.h>\nint main(void) {\n    int sum = 0;\n    for (int i = 1; i <= 3; i++)\n        \
                sum += i;\n    printf(\"%d\\n\", sum);\n    return 0;\n}\n";
    let broken = main.replace("i <= 3", "i < 3").replace("#include", "/* new */\n#include");
    let folder = versions("then-run", &[("src/main.c", main)], &[("src/main.c", &broken)]);
    let words = ["--good", "a", "--bad", "b", "--build", "cc -g -O0 -o prog main.c", "--cwd", "src", "-q"];
    let behind = ["--then-run", "--expect-match", "^3$", "--", "./prog"];
    let output = changes(&folder, &[&words[..], &behind].concat());
    let told = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{told}{}", text(&output.stderr));
    assert_says(
        &told,
        &["1 change of 2 makes a fail", "$ stripe run ", "/failing/src/prog", "in this slice:"],
    );
    let line = told.lines().find(|line| line.contains("main.c:4  ")).expect("the changed line");
    assert_says(line, &["executions needed", "for (int i = 1; i < 3; i++)"]);
    let output = changes(&folder, &[&words[..], &["--then-run", "--test", "true"]].concat());
    assert_says(&message(&output, 2), &["--then-run", "--test"]);
}

#[test]
fn a_file_that_moved_and_was_changed_is_searched_line_by_line() {
    let (good, bad) = (lines(60, &[]), lines(60, &[(10, "x"), (30, "guilty"), (50, "y")]));
    let folder = versions("moved", &[("old.txt", &good)], &[("sub/new.txt", &bad)]);
    let found = between(&folder, &["--test", "! grep -rq guilty .", "--no-save"]);
    assert_eq!((left(&found), found["all"].as_u64()), (places(&[("sub/new.txt", 30)]), Some(4)));
    let found = between(&folder, &["--test", "[ -e old.txt ]", "--no-save"]);
    assert_eq!(found["changes"].as_array().expect("changes").len(), 1);
    assert_says(found["changes"][0]["patch"].as_str().expect("a patch"), &["old.txt", "sub/new.txt"]);
}

#[test]
fn the_demo_finds_the_two_lines_of_two_files_that_break_the_sample_together() {
    let folder = scratch("changes-demo");
    let output = stripe().args(["demo", "--changes"]).current_dir(&folder).output().expect("it runs");
    let told = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{told}{}", text(&output.stderr));
    let guilty = [
        "2 lines in 2 files, together",
        "+    while (COUNT(a, b) > 0) {",
        "+#define COUNT(a, b) ((b) - (a))",
    ];
    assert_says(&told, &guilty);
    assert_says(&told, &["they break it only together", "by construction"]);
    // What it shows can be typed.
    let line = told.lines().find_map(|line| line.strip_prefix("$ stripe ")).expect("a command");
    let again = format!("\"$0\" {line} --quiet");
    let mut shell = Command::new("sh");
    shell.args(["-c", &again]).arg(stripe().get_program()).current_dir(&folder).stdin(Stdio::null());
    let typed = text(&shell.output().expect("a shell").stdout);
    assert_says(&typed, &guilty);
    for (version, sum) in [("yesterday", "sum = 15"), ("today", "sum = 10")] {
        let run = format!("cc -w -o prog *.c && echo 0 5 | ./prog | grep -q '{sum}'");
        let status = Command::new("sh")
            .args(["-c", &run])
            .current_dir(folder.join("stripe-demo").join(version))
            .status();
        assert!(status.expect("a shell").success(), "{version}");
    }
}
