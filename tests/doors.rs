//! Sockets, named pipes, terminals, devices, message queues, locks and attributes of others: whatever way a
//! run takes to them, nothing happens to them. Each operation is tried by each way to write a path
//! (`hostile/doors.c`), in the recorded run and in a partial one, at each level of containment, as root and as
//! an ordinary user; somebody else holds what they are after, and tells of it (`hostile/witness.c`).

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use support::hardened::compiled;
use support::{stripe, text};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Full,
    Basic,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum User {
    Own,
    Ordinary,
}

/// Where the victims are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Among files that a run may change for itself, if it has a view of its own.
    Temporary,
    /// Elsewhere.
    Elsewhere,
}

/// So many attempts are made at least.
const MANY: usize = 500;

fn is_root() -> bool {
    nix::unistd::Uid::effective().is_root()
}

/// A command of this user.
fn command_of(user: User, program: &Path) -> Command {
    if user == User::Own {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(program);
    command
}

fn own(user: User, folder: &Path) {
    if user == User::Ordinary {
        let owned = Command::new("chown").args(["-Rh", "65534:65534"]).arg(folder).status();
        assert!(owned.expect("chown").success());
    }
}

/// Somebody who holds what attacks are after.
struct Witness {
    name: String,
    user: User,
    folder: PathBuf,
    /// Where runs are made.
    run: PathBuf,
    process: Child,
    terminal: String,
    queue: String,
}

impl Witness {
    fn new(name: &str, user: User, place: Place) -> Witness {
        let name = format!("stripe-{}-{name}", std::process::id());
        let base = match place {
            Place::Temporary => std::env::temp_dir(),
            Place::Elsewhere if is_root() => "/run".into(),
            Place::Elsewhere => std::env::home_dir().expect("a home"),
        };
        let (folder, run) = (base.join(&name), std::env::temp_dir().join(format!("{name}-run")));
        for folder in [&folder, &run] {
            let _ = fs::remove_dir_all(folder);
            fs::create_dir(folder).expect("made");
            fs::write(folder.join("file"), "precious").expect("written");
            own(user, folder);
        }
        let mut command = command_of(user, &compiled("witness"));
        command.arg(&folder).arg(&name).stdin(Stdio::piped()).stdout(Stdio::piped());
        if is_root() && user == User::Own && place == Place::Elsewhere {
            command.arg("mount");
        }
        let mut process = command.spawn().expect("started");
        let mut lines = BufReader::new(process.stdout.as_mut().expect("piped")).lines();
        let mut line = || lines.next().expect("a line").expect("text");
        let (terminal, queue) = (line(), line());
        Witness { name, user, folder, run, process, terminal, queue }
    }

    /// Lets a run make all attempts: the recorded one, or only the one without the second statement.
    fn replay(&self, level: Level, is_recorded: bool) -> Output {
        let mut command = match level {
            Level::Full => command_of(self.user, Path::new(stripe().get_program())),
            Level::Basic => {
                let mut command = command_of(self.user, &compiled("hardened"));
                command.arg("namespaces").arg(stripe().get_program());
                command
            }
        };
        let omitted = if is_recorded { "" } else { "3" };
        command.arg("replay").arg(compiled("doors")).args(["--scope", "main", "--timeout", "60s"]);
        command.args(["--omit", omitted, "--"]).arg(&self.folder).args(is_recorded.then_some("full"));
        command.current_dir(&self.run).env("VICTIM_TERMINAL", &self.terminal);
        command.env("VICTIM_QUEUE_FILE", &self.queue).env("VICTIM_QUEUE", format!("/{}", self.name));
        command.env("VICTIM_ABSTRACT", &self.name).stdin(Stdio::null());
        command.output().expect("stripe can be started")
    }

    /// What has happened to what it holds.
    fn tell(&mut self) -> String {
        drop(self.process.stdin.take());
        let mut told = String::new();
        self.process.stdout.take().expect("piped").read_to_string(&mut told).expect("text");
        assert!(self.process.wait().expect("ended").success());
        told
    }
}

impl Drop for Witness {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.folder);
        let _ = fs::remove_dir_all(&self.run);
    }
}

/// Mode, owner, links, number and times of what is in a folder, and what it holds.
type Entry = (u32, u32, u64, u64, (i64, i64), (i64, i64), Vec<u8>);

fn inventory(folder: &Path) -> BTreeMap<PathBuf, Entry> {
    let entries = fs::read_dir(folder).expect("readable").map(|entry| entry.expect("readable").path());
    let facts = |path: PathBuf| {
        let data = fs::symlink_metadata(&path).expect("there");
        let text = if data.is_file() { fs::read(&path).unwrap_or_default() } else { Vec::new() };
        let (written, changed) = ((data.mtime(), data.mtime_nsec()), (data.ctime(), data.ctime_nsec()));
        (path, (data.mode(), data.uid(), data.nlink(), data.ino(), written, changed, text))
    };
    // Queues of other tests are seen where they are mounted.
    let entries = entries.filter(|path| !path.ends_with("queues"));
    entries.chain([folder.to_owned()]).map(facts).collect()
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
            let output = witness.replay(level, is_recorded);
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
