//! Further kinds of harm, in all rooms of the machine: somebody outside holds what they are after, and tells of it.
//!
//! Each kind of `hostile/kinds.c` is done by partial runs of a search, which must find the same slice as if nothing
//! had happened, or as if the run had ended there; and in the recorded run. The ordinary suite tries a third
//! of the kinds, each at one of both levels as one of both users, the thorough one all of them everywhere.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Output;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use support::engine::in_two_threads;
use support::hardened::compiled;
use support::witness::{Level, Place, User, Witness, inventory, is_root, own, stripe_of};
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

    /// What stands in files of others, and in their folders of start-up files.
    fn files(&self) -> Vec<BTreeMap<std::path::PathBuf, support::witness::Entry>> {
        let folder = &self.witness.folder;
        let folders = ["", "home", "home/.config", "home/.config/autostart"];
        folders.iter().map(|name| inventory(&folder.join(name))).collect()
    }

    /// That no process is left after a while.
    fn assert_nobody_left(&self) {
        let mark = format!("VICTIM_ABSTRACT={}\0", self.witness.name);
        let is_marked = |process: &Path| {
            let environment = fs::read(process.join("environ")).unwrap_or_default();
            environment.windows(mark.len()).any(|part| part == mark.as_bytes())
        };
        let left = || {
            let processes = fs::read_dir("/proc").expect("readable").flatten().map(|entry| entry.path());
            processes.filter(|process| is_marked(process)).count()
        };
        let deadline = Instant::now() + Duration::from_secs(10);
        while left() > 0 {
            assert!(Instant::now() < deadline, "{}, {:?}: left behind", self.kind, WHERE[self.column]);
            std::thread::sleep(Duration::from_millis(5));
        }
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
    attempt.assert_nobody_left();
    assert!(attempt.files() == before, "{what}: files are changed");
    assert_eq!(attempt.witness.tell(), "", "{what}");
    fate
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
    let (fates, failed) = (Mutex::new(Vec::new()), Mutex::new(Vec::new()));
    let add =
        |list: &Mutex<Vec<String>>, word| list.lock().unwrap_or_else(PoisonError::into_inner).push(word);
    in_two_threads(&cases, |&(kind, column)| {
        match std::panic::catch_unwind(|| survives(kind, column, &usual[&column])) {
            Ok(fate) => add(&fates, fate),
            Err(_) => add(&failed, format!("{kind}, {:?}", WHERE[column])),
        }
    });
    assert_eq!(failed.into_inner().expect("a list"), Vec::<String>::new());
    let left: Vec<&str> = PLACES.into_iter().filter(|place| fs::symlink_metadata(place).is_ok()).collect();
    assert_eq!(left, Vec::<&str>::new());
    // Many are denied, so that they were tried.
    let escaped = fates.into_inner().expect("a list").iter().filter(|fate| *fate == "escaped").count();
    assert!(5 * escaped > cases.len(), "{escaped} of {}", cases.len());
}
