//! Start somebody whom hostile programs are after, and ask what has happened to what it holds.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::command::PATIENCE;
use super::hardened::compiled;
use super::stripe;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Full,
    Basic,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum User {
    Own,
    Ordinary,
}

/// Where the victims are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Among files that a run may change for itself, if it has a view of its own.
    Temporary,
    /// Elsewhere.
    Elsewhere,
}

pub fn is_root() -> bool {
    nix::unistd::Uid::effective().is_root()
}

/// A command of this user.
pub fn command_of(user: User, program: &Path) -> Command {
    if user == User::Own {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]).arg(program);
    command
}

/// stripe as this user, where the kernel allows this level at best. `refused`: what else it refuses, as
/// `hardened.c` says.
pub fn stripe_of(user: User, level: Level, refused: &str) -> Command {
    let words: Vec<&str> =
        [(level == Level::Basic).then_some("namespaces"), Some(refused).filter(|word| !word.is_empty())]
            .into_iter()
            .flatten()
            .collect();
    if words.is_empty() {
        return command_of(user, Path::new(stripe().get_program()));
    }
    let mut command = command_of(user, &compiled("hardened"));
    command.arg(words.join(",")).arg(stripe().get_program());
    command
}

/// That no process has this variable in its environment: after a moment, or more where the machine is busy.
pub fn assert_nobody_with(variable: &str, what: &str) {
    let mark = format!("{variable}\0");
    let is_marked = |process: &PathBuf| {
        let environment = fs::read(process.join("environ")).unwrap_or_default();
        environment.windows(mark.len()).any(|part| part == mark.as_bytes())
    };
    let left = || -> Vec<PathBuf> {
        let processes = fs::read_dir("/proc").expect("readable").flatten().map(|entry| entry.path());
        processes.filter(is_marked).collect()
    };
    let deadline = Instant::now() + Duration::from_secs(10);
    while !left().is_empty() {
        assert!(Instant::now() < deadline, "{what}: left behind: {:?}", left());
        sleep(Duration::from_millis(5));
    }
}

/// Gives a folder to the user.
pub fn own(user: User, folder: &Path) {
    if user == User::Ordinary {
        let owned = Command::new("chown").args(["-Rh", "65534:65534"]).arg(folder).status();
        assert!(owned.expect("chown").success());
    }
}

/// Somebody who holds what attacks are after (`hostile/witness.c`).
pub struct Witness {
    pub name: String,
    pub user: User,
    pub folder: PathBuf,
    /// Where runs are made.
    pub run: PathBuf,
    process: Child,
    terminal: String,
    queue: String,
    /// Its own, its port's and those of its IPC objects.
    numbers: String,
    memory: String,
}

impl Witness {
    pub fn new(name: &str, user: User, place: Place) -> Witness {
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
        let (terminal, queue, numbers, memory) = (line(), line(), line(), line());
        Witness { name, user, folder, run, process, terminal, queue, numbers, memory }
    }

    /// Lets a command be run where it tells what it is after.
    pub fn show<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        command.current_dir(&self.run).env("VICTIM_TERMINAL", &self.terminal);
        command.env("VICTIM_QUEUE_FILE", &self.queue).env("VICTIM_QUEUE", format!("/{}", self.name));
        command.env("VICTIM_NUMBERS", &self.numbers).env("VICTIM_MEMORY", &self.memory);
        command.env("VICTIM_ABSTRACT", &self.name).stdin(Stdio::null())
    }

    /// Ends it without letting it remove what it holds.
    pub fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// What has happened to what it holds.
    pub fn tell(&mut self) -> String {
        drop(self.process.stdin.take());
        let mut told = String::new();
        self.process.stdout.take().expect("piped").read_to_string(&mut told).expect("text");
        assert!(self.process.wait().expect("ended").success());
        told
    }
}

impl Drop for Witness {
    /// Lets it remove what it holds. If it cannot, its message queues are not removed with its folder: where they are
    /// mounted, those of all others are as well.
    fn drop(&mut self) {
        drop((self.process.stdin.take(), self.process.stdout.take()));
        let deadline = Instant::now() + PATIENCE;
        while matches!(self.process.try_wait(), Ok(None)) && Instant::now() < deadline {
            sleep(Duration::from_millis(2));
        }
        self.kill();
        let _ = fs::remove_file(&self.queue);
        let queues = self.folder.join("queues");
        if queues.exists() && fs::remove_dir(&queues).is_err() {
            let _ = Command::new("umount").arg("-l").arg(&queues).status();
        }
        if !queues.exists() || fs::remove_dir(&queues).is_ok() {
            let _ = fs::remove_dir_all(&self.folder);
        }
        let _ = fs::remove_dir_all(&self.run);
    }
}

/// Mode, owner, links, number and times of what is in a folder, and what it holds.
pub type Entry = (u32, u32, u64, u64, (i64, i64), (i64, i64), Vec<u8>);

pub fn inventory(folder: &Path) -> BTreeMap<PathBuf, Entry> {
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
