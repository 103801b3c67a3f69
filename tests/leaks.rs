//! Leaks between runs: nothing that a partial run changes is seen by a later one.
//!
//! Each kind of `hostile/leak.c` changes something that runs might share, but only in a partial run, after that
//! has looked at it. So the slice is that of the program which changes nothing, or, where the change ends the run
//! that makes it, that of a program which ends there. If a later run saw the change, hardly anything could be left
//! out any more.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use serde_json::Value;
use support::engine::in_two_threads;
use support::hardened::compiled;
use support::{how_many, scratch, stripe, text};

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

const KINDS: [(&str, Effect); 74] = [
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

const LEVELS: [(&str, &str); 2] = [("full", "none"), ("basic", "namespaces")];

/// The events of the slice of a kind.
fn slice(kind: &str, (level, engine): (&str, &str), folder: &Path) -> Vec<Value> {
    let refused = LEVELS.iter().find(|(name, _)| *name == level).expect("a level").1;
    let mut command = Command::new(compiled("hardened"));
    command.arg(refused).arg(stripe().get_program()).arg("run").arg(compiled("leak"));
    command.args(["--scope", "main", "--engine", engine, "-j1", "--no-save", "-q", "--format", "json"]);
    command.args(["--timeout", "500ms", "--stdin"]).arg(folder.join("stdin")).args(["--", kind]);
    let output = command.current_dir(folder.join("run")).output().expect("started");
    let what = format!("{kind}, {level}, {engine}: {}", text(&output.stderr));
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

fn leaks_nothing(engine: &str) {
    let folder = folder(engine);
    let usual: BTreeMap<(&str, &str), Vec<Value>> = LEVELS
        .iter()
        .flat_map(|(level, _)| ["none", "fatal"].map(|kind| (*level, kind)))
        .map(|(level, kind)| ((level, kind), slice(kind, (level, engine), &folder)))
        .collect();
    for (level, _) in LEVELS {
        let (none, fatal) = (&usual[&(level, "none")], &usual[&(level, "fatal")]);
        assert!(none.len() < fatal.len() && fatal.len() < 7, "{level}: {none:#?}, {fatal:#?}");
    }
    let cases: Vec<_> =
        LEVELS.iter().flat_map(|(level, _)| KINDS.map(|(kind, effect)| (*level, kind, effect))).collect();
    let wrong = Mutex::new(Vec::new());
    in_two_threads(&cases, |&(level, kind, effect)| {
        let found = std::panic::catch_unwind(|| slice(kind, (level, engine), &folder)).unwrap_or_default();
        let effect = match effect {
            Either(full, basic) => *if level == "full" { full } else { basic },
            effect => effect,
        };
        let is = |kind| found == usual[&(level, kind)];
        let (none, fatal) = (is("none"), is("fatal"));
        let is_right = none && effect != Fatal || fatal && matches!(effect, Fatal | Any);
        if !is_right {
            let what = format!("{kind}, {level}: none {none}, fatal {fatal}, {} events", found.len());
            wrong.lock().unwrap_or_else(PoisonError::into_inner).push(what);
        }
    });
    assert_eq!(wrong.into_inner().expect("a list"), Vec::<String>::new());
}

#[test]
fn a_run_that_writes_over_the_memory_of_the_tracer_harms_itself_alone() {
    let folder = folder("wild");
    let usual = ["none", "fatal"].map(|kind| slice(kind, ("full", "jump"), &folder));
    let seeds: Vec<u64> = (0..how_many(12, 400)).collect();
    in_two_threads(&seeds, |seed| {
        let found = slice(&format!("wild-{seed}"), ("full", "jump"), &folder);
        assert!(usual.contains(&found), "seed {seed}: {found:#?}");
    });
}

#[test]
fn what_a_run_and_its_processes_hold_in_memory_together_is_bounded() {
    let folder = folder("memory");
    for (level, refused) in LEVELS {
        for kind in ["memory-files", "memory-of-children", "shared-memory"] {
            let mut command = Command::new(compiled("hardened"));
            command.arg(refused).arg(stripe().get_program()).arg("replay").arg(compiled("leak"));
            // Without the second statement; with time enough to fill all memory.
            command.args(["--scope", "main", "--omit", "5", "--timeout", "60s", "--", kind]);
            let output = command.current_dir(folder.join("run")).output().expect("started");
            let told = text(&output.stderr);
            let expected =
                if (level, kind) == ("basic", "shared-memory") { "IPC" } else { "too much memory" };
            assert!(told.contains(expected), "{level}, {kind}: {told}");
        }
    }
}

#[test]
fn no_run_sees_what_an_earlier_one_has_changed_if_both_are_forked_by_a_server() {
    leaks_nothing("jump");
}

#[test]
fn no_run_sees_what_an_earlier_one_has_changed_if_each_is_started() {
    leaks_nothing("breakpoint");
}
