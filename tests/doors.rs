//! Sockets, named pipes, terminals, devices, message queues, locks and attributes of others: whatever way a
//! run takes to them, nothing happens to them. Each operation is tried by each way to write a path
//! (`hostile/doors.c`), in the recorded run and in a partial one, at each level of containment, as root and as
//! an ordinary user; somebody else holds what they are after, and tells of it (`hostile/witness.c`). And what a call names
//! is changed by another process of the run while it is decided about (`hostile/races.c`).

mod support;

use std::process::Output;

use support::hardened::compiled;
use support::witness::{Level, Place, User, Witness, inventory, is_root, stripe_of};
use support::{how_many, text};

/// So many attempts are made at least.
const MANY: usize = 500;

/// Lets a run make all attempts: the recorded one, or only the one without the second statement.
fn replay(witness: &Witness, level: Level, is_recorded: bool) -> Output {
    let mut command = stripe_of(witness.user, level, "");
    let omitted = if is_recorded { "" } else { "3" };
    command.arg("replay").arg(compiled("doors")).args(["--scope", "main", "--timeout", "60s"]);
    command.args(["--omit", omitted, "--"]).arg(&witness.folder).args(is_recorded.then_some("full"));
    witness.show(&mut command).output().expect("stripe can be started")
}

/// What an attempt was, and the number of its error.
struct Attempt<'t> {
    way: &'t str,
    operation: &'t str,
    errno: i32,
}

fn attempts(told: &str) -> Vec<Attempt<'_>> {
    let attempt = |line: &'_ str| -> Option<(usize, usize, i32)> {
        let (way, rest) = line.split_once(' ')?;
        let (operation, errno) = rest.split_once(' ')?;
        Some((way.len(), operation.len(), errno.parse().ok()?))
    };
    let read = |line| {
        let (way, operation, errno) = attempt(line).unwrap_or_else(|| panic!("no attempt: {line}"));
        Attempt { way: &line[..way], operation: &line[way + 1..][..operation], errno }
    };
    told.lines().map(read).collect()
}

/// Whether an attempt may succeed: by what changes nothing but what the run sees.
fn may_succeed(attempt: &Attempt<'_>, level: Level, place: Place) -> bool {
    const REACHING: [&str; 6] = ["connect", "send", "open", "creat", "in-root", "beneath"];
    let reaches_others = REACHING.iter().any(|kind| attempt.operation.starts_with(kind));
    let has_view = level == Level::Full && place == Place::Temporary;
    attempt.way == "own" || has_view && !reaches_others && attempt.way != "device"
}

fn assert_nothing_happens(level: Level, user: User) {
    if user == User::Ordinary && !is_root() {
        return;
    }
    for place in [Place::Temporary, Place::Elsewhere] {
        for is_recorded in [false, true] {
            let what = format!("{level:?}, {user:?}, {place:?}, recorded: {is_recorded}");
            let name = format!("doors-{level:?}-{user:?}-{place:?}-{is_recorded}");
            let mut witness = Witness::new(&name, user, place);
            let before = inventory(&witness.folder);
            let output = replay(&witness, level, is_recorded);
            assert!(inventory(&witness.folder) == before, "{what}: files are changed");
            assert_eq!(witness.tell(), "", "{what}");
            let said = text(&output.stderr);
            assert!(matches!(output.status.code(), Some(0 | 1)), "{what}: {said}");
            let told = text(&output.stdout);
            let all = attempts(&told);
            assert!(all.len() > MANY, "{what}: {} attempts: {said}", all.len());
            for attempt in all {
                let Attempt { way, operation, errno } = attempt;
                let is_fine = match way {
                    "own" => errno == 0,
                    _ => errno != 0 || may_succeed(&attempt, level, place),
                };
                assert!(is_fine, "{what}: {way}, {operation}: {errno}");
            }
        }
    }
}

#[test]
fn nothing_of_others_is_reached_with_all_namespaces() {
    assert_nothing_happens(Level::Full, User::Own);
}

#[test]
fn nothing_of_others_is_reached_with_all_namespaces_as_an_ordinary_user() {
    assert_nothing_happens(Level::Full, User::Ordinary);
}

#[test]
fn nothing_of_others_is_reached_in_a_hardened_container() {
    assert_nothing_happens(Level::Basic, User::Own);
}

#[test]
fn nothing_of_others_is_reached_in_a_hardened_container_as_an_ordinary_user() {
    assert_nothing_happens(Level::Basic, User::Ordinary);
}

/// Who changes what, for which call of another process of the run.
const RACES: [&str; 12] = [
    "thread-path-open",
    "process-link-connect",
    "process-path-chmod",
    "process-folder-open",
    "process-path-send",
    "process-path-lock",
    "thread-descriptor-fchmod",
    "process-link-chmod",
    "process-path-open",
    "process-link-open",
    "thread-path-connect",
    "process-path-connect",
];

#[test]
fn who_changes_what_the_call_of_another_process_names_while_it_is_decided_about_reaches_nothing() {
    const WHERE: [(Level, User); 4] = [
        (Level::Full, User::Own),
        (Level::Full, User::Ordinary),
        (Level::Basic, User::Own),
        (Level::Basic, User::Ordinary),
    ];
    let tries_all = how_many(0, 1) == 1;
    for (number, race) in RACES.into_iter().enumerate() {
        for (column, (level, user)) in WHERE.into_iter().enumerate() {
            let is_tried = tries_all || number == column;
            if !is_tried || user == User::Ordinary && !is_root() {
                continue;
            }
            let what = format!("{race}, {level:?}, {user:?}");
            let mut witness = Witness::new(&format!("race-{number}-{column}"), user, Place::Elsewhere);
            let before = inventory(&witness.folder);
            let mut command = stripe_of(user, level, "");
            command.arg("replay").arg(compiled("races")).args(["--scope", "main", "--timeout", "60s"]);
            command.args(["--omit", "", "--", race]).arg(&witness.folder);
            let output = witness.show(&mut command).output().expect("stripe can be started");
            assert_eq!(text(&output.stdout), "won 0\n", "{what}: {}", text(&output.stderr));
            assert!(inventory(&witness.folder) == before, "{what}: files are changed");
            assert_eq!(witness.tell(), "", "{what}");
        }
    }
}

#[test]
fn a_witness_that_is_not_asked_takes_its_own_message_queue_away_and_no_other_one() {
    let mut lasting = Witness::new("lasting", User::Own, Place::Elsewhere);
    for is_killed in [false, true] {
        let mut going = Witness::new("going", User::Own, Place::Elsewhere);
        if is_killed {
            going.kill();
        }
        let folder = going.folder.clone();
        drop(going);
        assert!(!folder.exists(), "{}", folder.display());
    }
    assert_eq!(lasting.tell(), "");
}
