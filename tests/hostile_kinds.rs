//! Further kinds of harm, in all rooms of the machine: somebody outside holds what they are after, and tells of it.
//!
//! Each kind of `hostile/kinds.c` is done by partial runs of a search, which must find the same slice as if nothing
//! had happened, or as if the run had ended there; and in the recorded run. So do the tests of `simplify` and of
//! `changes`. The ordinary suite tries a third of the kinds, each at one of both levels as one of both users, a few of
//! them by those commands; the thorough one all of them everywhere.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Output;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use support::engine::in_two_threads;
use support::hardened::compiled;
use support::witness::{Level, Place, User, Witness, assert_nobody_with, inventory, is_root, own, stripe_of};
use support::{how_many, root, text};

/// The event without which the harm is done.
const GUARD: u64 = 4;
/// Where and as whom each kind is tried.
const WHERE: [(Level, User); 4] = [
    (Level::Full, User::Own),
    (Level::Full, User::Ordinary),
    (Level::Basic, User::Own),
    (Level::Basic, User::Ordinary),
];
/// What somebody left in places of all, if anything.
const PLACES: [&str; 16] = [
    "/stripe-harm",
    "/etc/stripe-harm",
    "/root/stripe-harm",
    "/run/stripe-harm",
    "/tmp/stripe-harm",
    "/var/lib/stripe-harm",
    "/var/log/stripe-harm",
    "/etc/cron.d/stripe-harm",
    "/var/spool/cron/crontabs/stripe-harm",
    "/var/spool/at/stripe-harm",
    "/etc/profile.d/stripe-harm.sh",
    "/etc/ld.so.preload",
    "/etc/systemd/system/stripe-harm.service",
    "/sys/fs/cgroup/stripe-harm",
    "/dev/stripe-harm",
    "/dev/loop77",
];

/// A search without a trace, of which some tests do the harm that `$0` and its arguments name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Plain {
    /// Those without the second line of a file.
    Simplify,
    /// Those of versions that are neither of both.
    Changes,
}

impl Plain {
    /// Its words, and with which ones a shell is started.
    fn words(self) -> [&'static [&'static str]; 2] {
        match self {
            Plain::Simplify => [&["simplify", "sh", "--file", "text", "--by", "lines"], &[]],
            Plain::Changes => [&["changes", "--good", "good", "--bad", "bad", "--no-save"], &["sh"]],
        }
    }

    /// What succeeds in the runs that do no harm.
    fn guard(self) -> &'static str {
        match self {
            Plain::Simplify => "grep -q guard text",
            Plain::Changes => "grep -q good text || grep -q bad one",
        }
    }

    /// The files of its folder.
    fn files(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Plain::Simplify => &[("text", "one\nguard\nbad\ntwo\n")],
            Plain::Changes => &[
                ("good/one", "good\n"),
                ("good/text", "good\n"),
                ("good/two", "good\n"),
                ("bad/one", "bad\n"),
                ("bad/text", "bad\n"),
                ("bad/two", "bad\n"),
            ],
        }
    }

    /// What is left of what it found.
    fn result(self, found: &Value) -> Vec<&str> {
        let all = match self {
            Plain::Simplify => found["parts"].as_array().map(|parts| (parts, "text")),
            Plain::Changes => found["changes"].as_array().map(|changes| (changes, "patch")),
        };
        all.map_or(Vec::new(), |(all, key)| all.iter().filter_map(|one| one[key].as_str()).collect())
    }
}

/// A try of a kind of harm.
struct Attempt<'k> {
    kind: &'k str,
    /// Its number in [`WHERE`].
    column: usize,
    witness: Witness,
}

impl<'k> Attempt<'k> {
    fn new(kind: &'k str, column: usize) -> Attempt<'k> {
        let user = WHERE[column].1;
        // Either kind of place for about half of them.
        let is_even = kind.bytes().map(usize::from).sum::<usize>().is_multiple_of(2);
        let place = if is_even { Place::Temporary } else { Place::Elsewhere };
        let witness = Witness::new(&format!("{kind}-{column}"), user, place);
        let home = witness.folder.join("home");
        fs::create_dir_all(home.join(".config/autostart")).expect("made");
        for name in [".bashrc", ".profile", ".config/autostart/kept"] {
            fs::write(home.join(name), "kept").expect("written");
        }
        own(user, &home);
        Attempt { kind, column, witness }
    }

    fn stripe(&self, verb: &str, options: &[&str], is_recorded: bool) -> Output {
        let (level, user) = WHERE[self.column];
        let mut command = stripe_of(user, level, "");
        command
            .arg(verb)
            .arg(compiled("kinds"))
            .args(["--scope", "main", "--timeout", "300ms"])
            .args(options);
        command.arg("--").arg(self.kind).arg(&self.witness.folder).args(is_recorded.then_some("full"));
        command.env("HOME", self.witness.folder.join("home"));
        self.witness.show(&mut command).output().expect("stripe can be started")
    }

    /// A search in which partial runs do the harm: what is needed, and what became of the run without the statement
    /// that prevents it.
    fn search(&self) -> (Vec<Value>, String) {
        let options = ["-j1", "--no-save", "-q", "--format", "json", "--no-values"];
        let output = self.stripe("run", &options, false);
        let what = format!("{}, {:?}: {}", self.kind, WHERE[self.column], text(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{what}");
        let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let level = if WHERE[self.column].0 == Level::Full { "full" } else { "basic" };
        assert_eq!((&found["status"], &found["containment"]), (&"minimal".into(), &level.into()), "{what}");
        let slice = found["slice"].as_array().expect("events");
        let guard = slice.iter().find(|event| event["time"] == GUARD);
        let fate = guard.map_or_else(|| "harmless".to_owned(), |guard| fate_of(&guard["without"]));
        (slice.iter().map(|event| event["time"].clone()).collect(), fate)
    }

    /// Lets a search without a trace do the harm, in tests only or also in the recorded run.
    fn search_without_trace(&self, plain: Plain, is_recorded: bool) -> Output {
        let (level, user) = WHERE[self.column];
        for (name, content) in plain.files() {
            let path = self.witness.run.join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, content).expect("written");
        }
        own(user, &self.witness.run);
        let guard = if is_recorded { "false" } else { plain.guard() };
        let script = format!("{guard} || \"$0\" \"$@\" || exit 3; cat text");
        let [words, started] = plain.words();
        let mut command = stripe_of(user, level, "");
        command.args(words).args([
            "--expect-match",
            "bad",
            "--timeout",
            "300ms",
            "-q",
            "--format",
            "json",
            "--",
        ]);
        command.args(started).args(["-c", &script]).arg(compiled("kinds")).arg(self.kind);
        command.arg(&self.witness.folder).arg("full").env("HOME", self.witness.folder.join("home"));
        self.witness.show(&mut command).output().expect("stripe can be started")
    }

    /// What stands in files of others, and in their folders of start-up files.
    fn files(&self) -> Vec<BTreeMap<std::path::PathBuf, support::witness::Entry>> {
        let folder = &self.witness.folder;
        let folders = ["", "home", "home/.config", "home/.config/autostart"];
        folders.iter().map(|name| inventory(&folder.join(name))).collect()
    }

    /// That nobody else has noticed anything.
    fn assert_unharmed(&mut self, before: &[BTreeMap<std::path::PathBuf, support::witness::Entry>]) {
        let what = format!("{}, {:?}", self.kind, WHERE[self.column]);
        self.assert_nobody_left();
        assert!(self.files() == before, "{what}: files are changed");
        assert_eq!(self.witness.tell(), "", "{what}");
        let left: Vec<&str> =
            PLACES.into_iter().filter(|place| fs::symlink_metadata(place).is_ok()).collect();
        assert_eq!(left, Vec::<&str>::new(), "{what}");
    }

    /// That no process is left after a while.
    fn assert_nobody_left(&self) {
        let what = format!("{}, {:?}", self.kind, WHERE[self.column]);
        assert_nobody_with(&format!("VICTIM_ABSTRACT={}", self.witness.name), &what);
    }
}

/// One word for what became of a run.
fn fate_of(evidence: &Value) -> String {
    let why = evidence["why"].as_str().unwrap_or_default();
    match evidence["outcome"].as_str() {
        // With some values of undefined memory the guard may hold all the same.
        Some(_) if why.contains("escaped") => "escaped".into(),
        Some(outcome) => outcome.into(),
        None => "unknown".into(),
    }
}

/// The kinds that the program knows.
fn kinds() -> BTreeSet<String> {
    let source = fs::read_to_string(root().join("tests/hostile/kinds.c")).expect("the source");
    let names = source.split("(is(\"").skip(1).filter_map(|rest| rest.split('"').next());
    names.map(str::to_owned).collect()
}

/// Does the harm of a kind, and looks at what is left; what became of the run that did it in the search.
fn survives(kind: &str, column: usize, usual: &[Vec<Value>; 2]) -> String {
    let mut attempt = Attempt::new(kind, column);
    let what = format!("{kind}, {:?}", WHERE[column]);
    let before = attempt.files();
    let (slice, fate) = attempt.search();
    assert!(usual.contains(&slice), "{what}: another slice: {slice:?}, {fate}");
    let is_thorough = how_many(0, 1) == 1;
    let outputs = [
        Some(attempt.stripe("replay", &["--omit", ""], true)),
        is_thorough.then(|| attempt.stripe("replay", &["--omit", &GUARD.to_string()], false)),
        is_thorough.then(|| attempt.stripe("run", &["--max-tests", "20", "--no-save", "-q", "-j2"], true)),
    ];
    for output in outputs.into_iter().flatten() {
        let said = text(&output.stderr);
        let status = output.status.code();
        assert!(
            matches!(status, Some(0..=6 | 125)) && !said.contains("panicked"),
            "{what}: {status:?}: {said}"
        );
    }
    attempt.assert_unharmed(&before);
    fate
}

/// Does the harm of a kind by a search without a trace, and looks at what is left; whether a test that did it escaped.
fn survives_without_trace(kind: &str, column: usize, plain: Plain) -> bool {
    let mut attempt = Attempt::new(kind, column);
    let what = format!("{kind}, {:?}, {:?}", WHERE[column], plain.words()[0]);
    let before = attempt.files();
    let output = attempt.search_without_trace(plain, false);
    assert_eq!(output.status.code(), Some(0), "{what}: {}", text(&output.stderr));
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(found["status"], "minimal", "{what}");
    let result = plain.result(&found);
    let is_usual = match plain {
        Plain::Simplify => [["bad\n"], ["guard\nbad\n"]].contains(&[result[0]]),
        Plain::Changes => result.len() == 1 && result[0].starts_with("diff --git a/text b/text\n"),
    };
    assert!(is_usual, "{what}: another result: {result:?}");
    let output = attempt.search_without_trace(plain, true);
    let said = text(&output.stderr);
    assert!(matches!(output.status.code(), Some(0..=6)) && !said.contains("panicked"), "{what}: {said}");
    attempt.assert_unharmed(&before);
    plain == Plain::Simplify && result.concat().contains("guard")
}

#[test]
fn further_kinds_of_harm_do_none_and_leave_every_slice_as_it_is() {
    let mut names = kinds();
    names.retain(|kind| !["none", "fatal"].contains(&&kind[..]));
    assert!(names.len() >= 149, "{} kinds", names.len());
    let columns: &[usize] = if is_root() { &[0, 1, 2, 3] } else { &[0, 2] };
    let usual: BTreeMap<usize, [Vec<Value>; 2]> = columns
        .iter()
        .map(|&column| (column, ["none", "fatal"].map(|kind| Attempt::new(kind, column).search().0)))
        .collect();
    let tells_apart =
        |[none, fatal]: &[Vec<Value>; 2]| !none.contains(&GUARD.into()) && fatal.contains(&GUARD.into());
    assert!(usual.values().all(tells_apart), "{usual:?}");
    let tries_all = how_many(0, 1) == 1;
    let cases: Vec<(&String, usize)> = names
        .iter()
        .enumerate()
        .flat_map(|(number, kind)| {
            columns.iter().enumerate().map(move |(place, &column)| (number, kind, place, column))
        })
        // A third of them, at each of the columns in turn.
        .filter(|(number, _, place, _)| tries_all || number % 3 == 0 && number / 3 % columns.len() == *place)
        .map(|(_, kind, _, column)| (kind, column))
        .collect();
    let fates = in_turn(&cases, |&(kind, column)| survives(kind, column, &usual[&column]));
    // Many are denied, so that they were tried.
    let escaped = fates.iter().filter(|fate| *fate == "escaped").count();
    assert!(5 * escaped > cases.len(), "{escaped} of {}", cases.len());
}

#[test]
fn searches_without_a_trace_do_no_harm_and_find_what_they_find_without_it() {
    let mut names = kinds();
    names.remove("none");
    let columns: &[usize] = if is_root() { &[0, 1, 2, 3] } else { &[0, 2] };
    // One that is denied everywhere, so that there is something to be seen of it.
    let denied = "machine-module".to_owned();
    let cases: Vec<(&String, usize, Plain)> = names
        .iter()
        .enumerate()
        .flat_map(|(number, kind)| columns.iter().map(move |&column| (number, kind, column)))
        .map(|(number, kind, column)| {
            (kind, column, [Plain::Simplify, Plain::Changes][(number + column + number / 4) % 2])
        })
        .step_by(how_many(119, 1) as usize)
        .chain([(&denied, 0, Plain::Simplify)])
        .collect();
    let escaped = in_turn(&cases, |&(kind, column, plain)| survives_without_trace(kind, column, plain));
    assert!(escaped.contains(&true), "{} cases", cases.len());
}

/// What came of each of the cases, none of which may fail.
fn in_turn<T: Sync + std::fmt::Debug + std::panic::RefUnwindSafe, R: Send>(
    cases: &[T],
    work: impl Fn(&T) -> R + Sync + std::panic::RefUnwindSafe,
) -> Vec<R> {
    let (results, failed) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    in_two_threads(cases, |case| match std::panic::catch_unwind(|| work(case)) {
        Ok(result) => results.lock().unwrap_or_else(PoisonError::into_inner).push(result),
        Err(_) => failed.lock().unwrap_or_else(PoisonError::into_inner).push(format!("{case:?}")),
    });
    assert_eq!(failed.into_inner().expect("a list"), Vec::<String>::new());
    results.into_inner().expect("a list")
}
