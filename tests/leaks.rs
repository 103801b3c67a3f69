//! Leaks between runs: nothing that a partial run changes is seen by a later one.
//!
//! Each kind of `hostile/leak.c` changes something that runs might share, but only in a partial run, after that
//! has looked at it. So the slice is that of the program which changes nothing, or, where the change ends the run
//! that makes it, that of a program which ends there. If a later run saw the change, hardly anything could be left
//! out any more.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use support::engine::in_two_threads;
use support::hardened::compiled;
use support::witness::{Level, User, is_root, own, stripe_of};
use support::{how_many, scratch, text};

/// What becomes of a run that makes the change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    /// It shows the failure as if it had not.
    Harmless,
    /// It does not show it.
    Fatal,
    /// The first at the full level, the second at the basic one.
    Either(&'static Effect, &'static Effect),
    /// One of both, as it happens.
    Any,
}

use Effect::{Any, Either, Fatal, Harmless};

/// Where a change ends the run at the basic level only.
const FATAL_AT_BASIC: Effect = Either(&Harmless, &Fatal);

const KINDS: [(&str, Effect); 79] = [
    // The standard input: one sealed file, of which the runs of a server have one description.
    ("stdin-content", Harmless),
    ("stdin-truncated", Harmless),
    ("stdin-length", Harmless),
    ("stdin-flags", Harmless),
    ("stdin-signal", Harmless),
    ("stdin-offset", Harmless),
    ("stdin-mode", FATAL_AT_BASIC),
    ("stdin-owner", FATAL_AT_BASIC),
    ("stdin-times", FATAL_AT_BASIC),
    ("stdin-attribute", FATAL_AT_BASIC),
    ("stdin-lock", Harmless),
    ("stdin-range", Harmless),
    ("stdin-lease", Harmless),
    ("stdin-seals", Harmless),
    // The output, which the runs of a server have one after the other.
    ("stdout-content", Fatal),
    ("stdout-truncated", Harmless),
    ("stdout-length", Fatal),
    ("stdout-flags", Harmless),
    ("stdout-signal", Harmless),
    ("stdout-offset", Fatal),
    ("stdout-mode", FATAL_AT_BASIC),
    ("stdout-owner", FATAL_AT_BASIC),
    ("stdout-times", FATAL_AT_BASIC),
    ("stdout-attribute", FATAL_AT_BASIC),
    ("stdout-lock", Harmless),
    ("stdout-range", Harmless),
    ("stdout-lease", Harmless),
    ("stdout-seals", Harmless),
    ("stderr-content", Harmless),
    ("stderr-truncated", Harmless),
    ("stderr-length", Harmless),
    ("stderr-flags", Harmless),
    ("stderr-signal", Harmless),
    ("stderr-offset", Harmless),
    ("stderr-mode", FATAL_AT_BASIC),
    ("stderr-attribute", FATAL_AT_BASIC),
    ("stderr-lock", Harmless),
    ("stderr-range", Harmless),
    ("stderr-seals", Harmless),
    ("late-writer", Harmless),
    ("orphans", Harmless),
    // Files.
    ("in-directory", Harmless),
    ("in-tmp", Harmless),
    ("in-var-tmp", Harmless),
    ("in-shared-memory", Harmless),
    ("mode-of-directory", Harmless),
    ("times-of-directory", Harmless),
    ("attribute-of-directory", Harmless),
    ("flags-of-directory", Harmless),
    ("folder-of-runs", Harmless),
    ("directory-above", FATAL_AT_BASIC),
    ("text-of-file", Harmless),
    // What belongs to namespaces.
    ("shm", Harmless),
    ("abstract", Harmless),
    ("host", Harmless),
    ("number-limit", Harmless),
    // What processes inherit, and what of their parent they can reach.
    ("nice", Harmless),
    ("nice-of-group", Harmless),
    ("scheduler", Harmless),
    ("scheduler-of-parent", Fatal),
    ("affinity", Harmless),
    ("io-priority", Harmless),
    ("limit", Harmless),
    ("limit-of-parent", Fatal),
    ("mask", Harmless),
    ("directory", Harmless),
    ("personality", Harmless),
    ("environment", Harmless),
    ("signals", Harmless),
    ("timer", Harmless),
    ("name", Harmless),
    ("slack", Harmless),
    ("adjustment", Harmless),
    ("autogroup", Harmless),
    ("groups", Harmless),
    ("memory-of-parent", Harmless),
    ("terminal", Harmless),
    // The agent's tables.
    ("tables-anew", Harmless),
    ("tables", Any),
];

const LEVELS: [Level; 2] = [Level::Full, Level::Basic];

/// Where searches are made: the folder, the level, the engine, and who makes them.
#[derive(Clone, Copy)]
struct Setting<'s> {
    folder: &'s Path,
    level: Level,
    engine: &'s str,
    user: User,
}

/// The events of the slice of a kind.
fn slice(kind: &str, Setting { folder, level, engine, user }: Setting<'_>) -> Vec<Value> {
    let mut command = stripe_of(user, level, "");
    command.arg("run").arg(compiled("leak"));
    command.args(["--scope", "main", "--engine", engine, "-j1", "--no-save", "-q", "--format", "json"]);
    command.args(["--timeout", "500ms", "--stdin"]).arg(folder.join("stdin")).args(["--", kind]);
    let output = command.current_dir(folder.join("run")).output().expect("started");
    let level = if level == Level::Full { "full" } else { "basic" };
    let what = format!("{kind}, {level}, {engine}, {user:?}: {}", text(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{what}");
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&found["containment"], &found["engine"]), (&level.into(), &engine.into()), "{what}");
    assert_eq!(found["status"], "minimal", "{what}");
    found["slice"].as_array().expect("events").iter().map(|event| event["time"].clone()).collect()
}

/// A working directory with a file, and an input.
fn folder(name: &str) -> PathBuf {
    let folder = scratch(&format!("leaks-{name}"));
    fs::create_dir_all(folder.join("run")).expect("made");
    fs::write(folder.join("run/letter"), "original").expect("written");
    fs::write(folder.join("stdin"), "an input of some length\n").expect("written");
    folder
}

/// Searches with each of these kinds, at both levels.
fn leaks_nothing(engine: &str, user: User, kinds: &[(&str, Effect)]) {
    let folder = folder(&format!("{engine}-{user:?}"));
    own(user, &folder);
    let at = |level| Setting { folder: &folder, level, engine, user };
    let usual: Vec<(Level, [Vec<Value>; 2])> = LEVELS
        .into_iter()
        .map(|level| (level, ["none", "fatal"].map(|kind| slice(kind, at(level)))))
        .collect();
    for (level, [none, fatal]) in &usual {
        assert!(none.len() < fatal.len() && fatal.len() < 7, "{level:?}: {none:#?}, {fatal:#?}");
    }
    let cases: Vec<_> = usual.iter().flat_map(|usual| kinds.iter().map(move |kind| (usual, kind))).collect();
    let wrong = Mutex::new(Vec::new());
    in_two_threads(&cases, |((level, [usual, usual_if_fatal]), (kind, effect))| {
        let found = std::panic::catch_unwind(|| slice(kind, at(*level))).unwrap_or_default();
        let effect = match effect {
            // Who is not root may do less.
            _ if user == User::Ordinary => Any,
            Either(full, basic) => **(if *level == Level::Full { full } else { basic }),
            effect => *effect,
        };
        let (none, fatal) = (found == *usual, found == *usual_if_fatal);
        let is_right = none && effect != Fatal || fatal && matches!(effect, Fatal | Any);
        if !is_right {
            let what = format!("{kind}, {level:?}: none {none}, fatal {fatal}, {} events", found.len());
            wrong.lock().unwrap_or_else(PoisonError::into_inner).push(what);
        }
    });
    assert_eq!(wrong.into_inner().expect("a list"), Vec::<String>::new());
}

#[test]
fn a_run_that_writes_over_the_memory_of_the_tracer_harms_itself_alone() {
    let folder = folder("wild");
    let setting = Setting { folder: &folder, level: Level::Full, engine: "jump", user: User::Own };
    let usual = ["none", "fatal"].map(|kind| slice(kind, setting));
    let seeds: Vec<u64> = (0..how_many(12, 400)).collect();
    in_two_threads(&seeds, |seed| {
        let found = slice(&format!("wild-{seed}"), setting);
        assert!(usual.contains(&found), "seed {seed}: {found:#?}");
    });
}

#[test]
fn what_a_run_and_its_processes_hold_in_memory_together_is_bounded() {
    let folder = folder("memory");
    for level in LEVELS {
        for kind in ["memory-files", "memory-of-children", "shared-memory"] {
            let mut command = stripe_of(User::Own, level, "");
            command.arg("replay").arg(compiled("leak"));
            // Without the second statement; with time enough to fill all memory.
            command.args(["--scope", "main", "--omit", "5", "--timeout", "60s", "--", kind]);
            let output = command.current_dir(folder.join("run")).output().expect("started");
            let told = text(&output.stderr);
            let expected =
                if (level, kind) == (Level::Basic, "shared-memory") { "IPC" } else { "too much memory" };
            assert!(told.contains(expected), "{level:?}, {kind}: {told}");
        }
    }
}

#[test]
fn no_run_sees_what_an_earlier_one_has_changed_if_both_are_forked_by_a_server() {
    leaks_nothing("jump", User::Own, &KINDS);
}

#[test]
fn no_run_sees_what_an_earlier_one_has_changed_if_each_is_started() {
    leaks_nothing("breakpoint", User::Own, &KINDS);
}

#[test]
fn no_run_of_an_ordinary_user_sees_what_an_earlier_one_has_changed() {
    if !is_root() {
        // The other tests are those of an ordinary user.
        return;
    }
    let every = how_many(8, 1) as usize;
    for (engine, first) in [("jump", 0), ("breakpoint", every / 2)] {
        let kinds: Vec<_> = KINDS.into_iter().skip(first).step_by(every).collect();
        leaks_nothing(engine, User::Ordinary, &kinds);
    }
}
