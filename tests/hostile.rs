//! Hostile programs: whatever a run does, nothing outside of its sandbox changes.
//!
//! Each kind of harm of `hostile/attack.c` is done in a partial run and in the recorded run, at each level
//! of containment, as root and as an ordinary user (as root only if the tests run as root).

mod support;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::net::{TcpListener, UdpSocket};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;
use support::engine::in_two_threads;
use support::hardened::{compiled, run_without};
use support::tiny::{assert_says, message};
use support::witness::{Level, User, assert_nobody_with, is_root, own, stripe_of};
use support::{GCC, how_many, sample, scratch, stripe, text};

/// What becomes of a partial run that does the harm.
#[derive(Clone, Copy)]
enum Fate {
    /// It shows the failure: what it does stays in the sandbox, or is nothing.
    Reproduced,
    /// It ends by itself with other output.
    Not,
    /// It says nothing; the reason holds this.
    Unresolved(&'static str),
    /// The first at the full level, the second at the basic one.
    Either(&'static Fate, &'static Fate),
    /// This, or it takes too long: that depends on the machine.
    Slow(&'static Fate),
}

use Fate::{Either, Not, Reproduced, Slow, Unresolved};

const ESCAPED: Fate = Unresolved("escaped");
const TIMED_OUT: Fate = Unresolved("took too long");
const ASLEEP: Fate = Unresolved("waited for what did not come");
const CRASHED: Fate = Unresolved("crashed in another way");
const THREAD: Fate = Unresolved("started a thread");

const KINDS: [(&str, Fate); 60] = [
    ("ok", Reproduced),
    ("hang", ASLEEP),
    ("spin", Slow(&Unresolved("used up its processor time"))),
    // Its sleeps are skipped, so that it goes round.
    ("deaf-sleep", Slow(&Unresolved("used up its processor time"))),
    ("fork-bomb", Unresolved("started too many processes")),
    ("vfork-hang", TIMED_OUT),
    ("daemon", Reproduced),
    ("kill-parent", ESCAPED),
    ("kill-group", CRASHED),
    ("kill-all", ESCAPED),
    ("unlink", Reproduced),
    ("overwrite", Reproduced),
    ("chmod", Either(&Reproduced, &ESCAPED)),
    // Which limit comes first depends on the machine.
    ("flood-stdout", Unresolved("")),
    ("flood-stderr", Unresolved("")),
    ("flood-file", Unresolved("")),
    ("many-files", Unresolved("")),
    ("memory", Unresolved("wanted too much memory")),
    ("tcp", ESCAPED),
    ("udp", ESCAPED),
    ("unix", ESCAPED),
    ("raw", ESCAPED),
    ("netlink", ESCAPED),
    ("ptrace-me", ESCAPED),
    ("ptrace-attach", ESCAPED),
    ("parent-memory", ESCAPED),
    ("file-flags", Either(&Reproduced, &ESCAPED)),
    ("file-attributes", Either(&Reproduced, &ESCAPED)),
    ("renice", ESCAPED),
    ("relimit", ESCAPED),
    ("owner", ESCAPED),
    // Where processes have a namespace of their own, there is none of this number.
    ("owner-ex", Either(&Reproduced, &ESCAPED)),
    ("folder-of-process", Either(&Reproduced, &ESCAPED)),
    ("exec-rm", Not),
    ("system-rm", Reproduced),
    ("stop-self", Unresolved("stopped itself")),
    ("int3", CRASHED),
    ("trap-handler", Not),
    ("close-all", Not),
    ("read-terminal", Reproduced),
    ("overflow", CRASHED),
    ("abort", CRASHED),
    ("segv", CRASHED),
    ("jump-astray", CRASHED),
    ("smash-return", CRASHED),
    ("threads", THREAD),
    ("exec-thread", THREAD),
    ("exit-thread", THREAD),
    ("leader-first", THREAD),
    ("privileged", ESCAPED),
    ("bpf", ESCAPED),
    ("keyctl", ESCAPED),
    ("io-uring", ESCAPED),
    ("unshare", ESCAPED),
    ("undo-limits", TIMED_OUT),
    ("ipc", Either(&Reproduced, &ESCAPED)),
    ("ipc-by-number", Either(&Reproduced, &ESCAPED)),
    ("tmp", Reproduced),
    // Landlock looks at all folders above of each.
    ("deep-folders", Slow(&Reproduced)),
    ("write-descriptors", Not),
];

/// Something that an attack is after: a user's folders and sockets.
struct Arena {
    folder: PathBuf,
    tcp: TcpListener,
    udp: UdpSocket,
    unix: UnixDatagram,
}

impl Arena {
    fn new(name: &str, user: User) -> Arena {
        // The path of a socket must be short.
        let folder = std::env::temp_dir().join(format!("stripe-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        for place in ["victim", "run"].map(|place| folder.join(place)) {
            fs::create_dir_all(place.join("folder")).expect("made");
            for file in ["precious", "list", "letter", "script"] {
                fs::write(place.join(file), file).expect("written");
            }
            fs::set_permissions(place.join("script"), fs::Permissions::from_mode(0o755)).expect("set");
            symlink("letter", place.join("link")).expect("made");
        }
        let unix = UnixDatagram::bind(folder.join("victim/socket")).expect("a socket");
        let (tcp, udp) = (TcpListener::bind("127.0.0.1:0"), UdpSocket::bind("127.0.0.1:0"));
        let (tcp, mut udp) = (tcp.expect("a listener"), udp.expect("a socket"));
        // The same port for both.
        if let Ok(same) = UdpSocket::bind(tcp.local_addr().expect("bound")) {
            udp = same;
        }
        tcp.set_nonblocking(true).expect("set");
        udp.set_nonblocking(true).expect("set");
        unix.set_nonblocking(true).expect("set");
        own(user, &folder);
        Arena { folder, tcp, udp, unix }
    }

    fn stripe(&self, verb: &str, whose: (Level, User), options: &[&str], words: &[&str]) -> Output {
        self.command(verb, whose, options, words).output().expect("stripe can be started")
    }

    /// stripe as this user, where the kernel allows this level.
    fn contained(&self, (level, user): (Level, User)) -> Command {
        let mut command = stripe_of(user, level, "");
        command
            .current_dir(self.folder.join("run"))
            .env("VICTIM", self.folder.join("victim"))
            .env("VICTIM_PROCESS", std::process::id().to_string());
        command.stdin(Stdio::null());
        command
    }

    fn command(&self, verb: &str, whose: (Level, User), options: &[&str], words: &[&str]) -> Command {
        let mut command = self.contained(whose);
        command.arg(verb).arg(compiled("attack")).args(["--scope", "main"]).args(options);
        command.arg("--").args(words);
        command
    }

    /// That no process is left: after a moment, or more where the machine is busy.
    fn assert_nobody_left(&self, what: &str) {
        assert_nobody_with(&format!("VICTIM={}", self.folder.join("victim").display()), what);
    }

    fn port(&self) -> String {
        self.tcp.local_addr().expect("bound").port().to_string()
    }

    /// That nobody has called.
    fn assert_silence(&self, what: &str) {
        let would_block = |error: std::io::Error| error.kind() == ErrorKind::WouldBlock;
        assert!(self.tcp.accept().is_err_and(would_block), "{what}: a connection");
        assert!(self.udp.recv(&mut [0; 8]).is_err_and(would_block), "{what}: a packet");
        assert!(self.unix.recv(&mut [0; 8]).is_err_and(would_block), "{what}: a message");
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// What is known of a file: mode, owner, links, number, times and contents.
type Entry = (u32, u32, u64, u64, i64, i64, i64, Vec<u8>);

/// All that a user could miss of what is below a folder.
fn inventory(folder: &Path) -> BTreeMap<PathBuf, Entry> {
    let mut all = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(path) = open.pop() {
        let data = fs::symlink_metadata(&path).expect("there");
        if data.is_dir() {
            open.extend(fs::read_dir(&path).expect("readable").map(|entry| entry.expect("readable").path()));
        }
        let text = if data.is_file() { fs::read(&path).unwrap_or_default() } else { Vec::new() };
        // The time of the last change of anything tells of modes, owners and attributes, too.
        let (changed, nanoseconds) = (data.ctime(), data.ctime_nsec());
        let facts =
            (data.mode(), data.uid(), data.nlink(), data.ino(), data.mtime(), changed, nanoseconds, text);
        all.insert(path, facts);
    }
    all
}

/// What attacks leave in places that all programs share.
fn leftovers() -> Vec<String> {
    let mut found = Vec::new();
    for folder in ["/tmp", "/var/tmp", "/dev/shm"] {
        let names = ["stripe-harm", "stripe-harm-folder"].map(|name| Path::new(folder).join(name));
        found.extend(names.into_iter().filter(|path| path.exists()).map(|path| path.display().to_string()));
    }
    for kind in ["shm", "sem", "msg"] {
        let objects = fs::read_to_string(format!("/proc/sysvipc/{kind}")).unwrap_or_default();
        let key = 0x4841_5254.to_string();
        found
            .extend(objects.lines().filter(|line| line.contains(&key)).map(|line| format!("{kind}: {line}")));
    }
    found
}

/// Fails unless the fate of a partial run is this one.
fn assert_fate(what: &str, level: Level, fate: Fate, output: &Output) {
    let (status, said) = (output.status.code(), text(&output.stderr));
    match fate {
        Either(full, basic) => {
            let fate = if level == Level::Full { full } else { basic };
            assert_fate(what, level, *fate, output);
        }
        Slow(_) if status == Some(125) => {
            assert!(
                ["took too long", "processor time"].iter().any(|why| said.contains(why)),
                "{what}: {said}"
            );
        }
        Slow(fate) => assert_fate(what, level, *fate, output),
        Reproduced => assert_eq!(status, Some(0), "{what}: {said}"),
        Not => assert_eq!(status, Some(1), "{what}: {said}"),
        Unresolved(why) => {
            assert_eq!(status, Some(125), "{what}: {said}");
            assert!(said.contains(why), "{what}: {said}");
        }
    }
    let printed = match level {
        Level::Full => "fully contained",
        Level::Basic => "contained at the basic level (making namespaces: Operation not permitted)",
    };
    assert!(said.contains(printed), "{what}: {said}");
}

/// Does the harm of each kind, and looks at what is left.
fn survives_all_kinds(level: Level, user: User) {
    if user == User::Ordinary && !is_root() {
        return;
    }
    let next = AtomicUsize::new(0);
    let work = || {
        let mut failed = Vec::new();
        while let Some(&(kind, fate)) = KINDS.get(next.fetch_add(1, Ordering::Relaxed)) {
            if std::panic::catch_unwind(|| survives(kind, fate, (level, user))).is_err() {
                failed.push(kind);
            }
        }
        failed
    };
    let failed = std::thread::scope(|scope| {
        [(); 3].map(|()| scope.spawn(work)).map(|thread| thread.join().expect("what it has found")).concat()
    });
    assert_eq!(failed, Vec::<&str>::new());
    assert_eq!(leftovers(), Vec::<String>::new());
}

fn survives(kind: &str, fate: Fate, (level, user): (Level, User)) {
    let what = format!("{kind}, {level:?}, {user:?}");
    let arena = Arena::new(&format!("{kind}-{level:?}-{user:?}"), user);
    let before = inventory(&arena.folder);
    let port = arena.port();
    let output = arena.stripe("replay", (level, user), &["--omit", "3"], &[kind, &port]);
    assert_fate(&what, level, fate, &output);
    assert!(before == inventory(&arena.folder), "{what}: files are changed");
    arena.assert_silence(&what);
    // In the recorded run, which is no partial one: a harm that cannot be recorded is refused.
    let options = ["--timeout", "300ms", "--max-tests", "20", "--no-save", "-q", "-j2"];
    let output = arena.stripe("run", (level, user), &options, &[kind, &port, "full"]);
    let status = output.status.code();
    assert!(status.is_some_and(|status| status <= 6), "{what}, recorded: {}", text(&output.stderr));
    assert!(before == inventory(&arena.folder), "{what}, recorded: files are changed");
    arena.assert_silence(&what);
    arena.assert_nobody_left(&what);
}

#[test]
fn hostile_programs_do_no_harm_with_all_namespaces() {
    survives_all_kinds(Level::Full, User::Own);
}

#[test]
fn hostile_programs_do_no_harm_with_all_namespaces_as_an_ordinary_user() {
    survives_all_kinds(Level::Full, User::Ordinary);
}

#[test]
fn hostile_programs_do_no_harm_in_a_hardened_container() {
    survives_all_kinds(Level::Basic, User::Own);
}

#[test]
fn hostile_programs_do_no_harm_in_a_hardened_container_as_an_ordinary_user() {
    survives_all_kinds(Level::Basic, User::Ordinary);
}

#[test]
fn what_the_recorded_run_was_denied_is_no_escape() {
    let arena = Arena::new("denied", User::Own);
    for level in [Level::Full, Level::Basic] {
        // The recorded run and the replay both want the network.
        let options = ["--omit", "5", "--timeout", "10s"];
        let output = arena.stripe("replay", (level, User::Own), &options, &["udp", &arena.port(), "full"]);
        assert!(!text(&output.stderr).contains("escaped"), "{}", text(&output.stderr));
        let options = ["--no-save", "-q", "--format", "json"];
        let output = arena.stripe("run", (level, User::Own), &options, &["udp", &arena.port(), "full"]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert!(text(&output.stdout).contains("the program tried to use the network"));
    }
    arena.assert_silence("denied");
}

#[test]
fn the_network_can_be_allowed_and_the_result_says_so() {
    let arena = Arena::new("allowed", User::Own);
    for level in [Level::Full, Level::Basic] {
        let options = ["--omit", "3", "--allow", "network"];
        let output = arena.stripe("replay", (level, User::Own), &options, &["udp", &arena.port()]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert!(text(&output.stderr).contains("--allow network"), "{}", text(&output.stderr));
        assert!(arena.udp.recv(&mut [0; 8]).is_ok());
    }
}

#[test]
fn a_directory_can_be_opened_for_changes_and_no_other_is() {
    for level in [Level::Full, Level::Basic] {
        let arena = Arena::new("writable", User::Own);
        let victim = arena.folder.join("victim");
        let options = ["--omit", "3", "--allow-write", victim.to_str().expect("text")];
        let output = arena.stripe("replay", (level, User::Own), &options, &["unlink", "9"]);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        assert!(text(&output.stderr).contains("--allow-write"), "{}", text(&output.stderr));
        assert!(!victim.join("precious").exists());
        assert!(arena.folder.join("run/precious").exists());
    }
}

#[test]
fn without_a_sandbox_changes_are_real_and_the_result_says_so() {
    let arena = Arena::new("open", User::Own);
    let options = ["--omit", "3", "--no-sandbox"];
    let output = arena.stripe("replay", (Level::Full, User::Own), &options, &["unlink", "9"]);
    assert!(text(&output.stderr).contains("not contained"), "{}", text(&output.stderr));
    assert!(!arena.folder.join("victim/precious").exists());
    assert!(!arena.folder.join("run/precious").exists());
}

#[test]
fn where_nothing_contains_runs_they_are_not_made() {
    let arena = Arena::new("nothing", User::Own);
    let mut command = Command::new(compiled("hardened"));
    command.arg("namespaces,landlock").arg(stripe().get_program()).arg("replay").arg(compiled("attack"));
    command
        .args(["--scope", "main", "--omit", "3", "--", "unlink", "9"])
        .env("VICTIM", arena.folder.join("victim"));
    let output = command.current_dir(arena.folder.join("run")).output().expect("started");
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(text(&output.stderr).contains("--no-sandbox"), "{}", text(&output.stderr));
    assert!(arena.folder.join("victim/precious").exists());
}

#[test]
fn each_missing_means_is_named_or_not_needed() {
    let arena = Arena::new("missing", User::Own);
    for (missing, status, said) in [
        ("ptrace", 1, "kernel.yama.ptrace_scope=1"),
        ("personality", 0, ""),
        ("landlock", 0, "fully contained"),
        ("mount", 0, "basic level"),
        ("namespaces,personality", 0, "basic level"),
    ] {
        let mut command = Command::new(compiled("hardened"));
        command.arg(missing).arg(stripe().get_program()).arg("replay").arg(compiled("attack"));
        command.args(["--scope", "main", "--omit", "3", "--", "ok", "9"]);
        let output = command.current_dir(arena.folder.join("run")).output().expect("started");
        assert_eq!(output.status.code(), Some(status), "{missing}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains(said), "{missing}: {}", text(&output.stderr));
    }
}

/// All choices of these.
fn choices<'m>(means: &[&'m str]) -> Vec<Vec<&'m str>> {
    let chosen = |choice: usize| (0..means.len()).filter(move |mean| choice >> mean & 1 == 1);
    (0..1 << means.len()).map(|choice| chosen(choice).map(|mean| means[mean]).collect()).collect()
}

#[test]
fn whatever_is_refused_alone_or_together_the_level_is_named_and_the_slice_is_the_same() {
    let program = sample(GCC, "");
    let run = |refused: &[&str], options: &[&str]| {
        let refused = if refused.is_empty() { "none".to_owned() } else { refused.join(",") };
        run_without(&refused, &program, &[&["-j1"], options].concat()).output().expect("started")
    };
    let slice = |output: Output| -> Value {
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        serde_json::from_slice(&output.stdout).expect("JSON")
    };
    // An address differs where the layout cannot be fixed, and so does what a variable holds before its first value.
    let json = ["--format", "json", "--no-values"];
    let usual = slice(run(&[], &json));
    let combinations = choices(&["personality", "namespaces", "landlock", "seccomp"]);
    in_two_threads(&combinations, |refused| {
        let without = |mean| refused.contains(&mean);
        if without("seccomp") || without("namespaces") && without("landlock") {
            let told = message(&run(refused, &[]), 1);
            let full = if without("namespaces") { "making namespaces" } else { "seccomp" };
            let full = format!("not fully ({full}: Operation not permitted)");
            let basic = match without("landlock") {
                true => "the basic level (no Landlock as of Linux 6.2 or later)",
                false => "the basic level (seccomp: Operation not permitted)",
            };
            assert_says(&told, &["cannot be contained here", &full, basic, "and seccomp", "--no-sandbox"]);
            return;
        }
        let found = slice(run(refused, &json));
        assert_eq!(found["slice"], usual["slice"], "{refused:?}");
        let (level, reason) = match without("namespaces") {
            true => ("basic", "making namespaces: Operation not permitted".into()),
            false => ("full", Value::Null),
        };
        assert_eq!((&found["containment"], &found["containment_reason"]), (&level.into(), &reason));
        let (engine, reason) = match without("personality") {
            true => {
                let reason = "it lies at another address in each run, as where personality(2) is refused";
                ("breakpoint", reason.into())
            }
            false => ("jump", Value::Null),
        };
        assert_eq!((&found["engine"], &found["engine_reason"]), (&engine.into(), &reason), "{refused:?}");
    });
    let everything = combinations.last().expect("all of them");
    let open = slice(run(everything, &[&json[..], &["--no-sandbox"]].concat()));
    assert_eq!((&open["slice"], &open["containment"]), (&usual["slice"], &"none".into()));
    assert_says(&open["warnings"].to_string(), &["--no-sandbox", "seccomp is refused"]);
}

#[test]
fn nothing_is_left_of_hostile_runs_when_stripe_is_killed_at_any_moment() {
    const LIVELY: [&str; 12] = [
        "hang",
        "spin",
        "deaf-sleep",
        "fork-bomb",
        "vfork-hang",
        "daemon",
        "undo-limits",
        "stop-self",
        "overwrite",
        "chmod",
        "system-rm",
        "ok",
    ];
    let users: &[User] = if is_root() { &[User::Own, User::Ordinary] } else { &[User::Own] };
    let arenas: Vec<(User, Arena)> =
        users.iter().map(|&user| (user, Arena::new(&format!("kills-{user:?}"), user))).collect();
    let reference = scratch("kills").join("reference");
    fs::write(&reference, "another output\n").expect("written");
    let reference = reference.to_str().expect("UTF-8");
    let commands: [(&str, &[&str], &[&str]); 5] = [
        ("replay", &["--omit", "3", "--timeout", "5s"], &[]),
        ("run", &["--timeout", "5s", "--no-save", "-q"], &["full"]),
        ("slice", &["--expect-match", "done", "--timeout", "5s"], &["full"]),
        ("locate", &["--reference", reference, "--timeout", "5s", "-q", "--no-save"], &[]),
        ("locate", &["--reference", reference, "--timeout", "5s", "-q", "--no-save"], &["full"]),
    ];
    for round in 0..how_many(24, 2000) {
        let kind = LIVELY[round as usize % LIVELY.len()];
        let (user, arena) = &arenas[round as usize / LIVELY.len() % arenas.len()];
        let level = if round / 24 % 2 == 0 { Level::Full } else { Level::Basic };
        let before = inventory(&arena.folder);
        // By commands that do the harm in partial runs, in changed ones, or in the recorded one.
        let (verb, options, words) = commands[round as usize % commands.len()];
        let command = arena.command(verb, (level, *user), options, &[&[kind, "9"], words].concat());
        kill_early(command, round * 7919 % 200_000);
        let what = format!("{verb}, {kind}, {level:?}, {user:?}, round {round}");
        arena.assert_nobody_left(&what);
        assert!(before == inventory(&arena.folder), "{what}: files are changed");
    }
    nothing_is_left_of_killed_searches_without_a_trace(&LIVELY, &arenas);
}

/// Starts it, and kills it after so many microseconds: during start-up, recording, or what follows.
fn kill_early(mut command: Command, microseconds: u64) {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().expect("stripe can be started");
    std::thread::sleep(Duration::from_micros(microseconds));
    let _ = child.kill();
    child.wait().expect("reaped");
}

/// The same of `simplify` and `changes`, which run any program. Each run does the harm, or all but those of the
/// original: of a file without the first line, of a version that is neither of both.
fn nothing_is_left_of_killed_searches_without_a_trace(kinds: &[&str], arenas: &[(User, Arena)]) {
    const SEARCHES: [(&[&str], &str); 4] = [
        (&["simplify", "sh", "--file", "note", "--by", "lines"], ""),
        (&["simplify", "sh", "--file", "note", "--by", "lines"], "grep -q guard note ||"),
        (&["changes", "--good", "good", "--bad", "bad", "--no-save"], ""),
        (
            &["changes", "--good", "good", "--bad", "bad", "--no-save"],
            "grep -q good one || grep -q bad note ||",
        ),
    ];
    for (user, arena) in arenas {
        for (file, text) in [
            ("note", "guard\nwrong\nfurther\n"),
            ("good/note", "good\n"),
            ("good/one", "good\n"),
            ("bad/note", "wrong bad\n"),
            ("bad/one", "bad\n"),
        ] {
            let path = arena.folder.join("own").join(file);
            fs::create_dir_all(path.parent().expect("a folder")).expect("made");
            fs::write(path, text).expect("written");
        }
        own(*user, &arena.folder);
    }
    for round in 0..how_many(12, 1000) {
        let kind = kinds[round as usize % kinds.len()];
        let (user, arena) = &arenas[round as usize / kinds.len() % arenas.len()];
        let level = if round / 24 % 2 == 0 { Level::Full } else { Level::Basic };
        let victims = ["victim", "run"].map(|name| arena.folder.join(name));
        let before = victims.each_ref().map(|folder| inventory(folder));
        let (words, unless) = SEARCHES[(round + round / 12) as usize % SEARCHES.len()];
        let mut command = arena.contained((level, *user));
        let script = format!("{unless} \"$0\" \"$@\"; cat note");
        command.args(words).args(["--expect-match", "wrong", "--timeout", "5s", "-q", "--"]);
        command.args(if words[0] == "changes" { &["sh", "-c"][..] } else { &["-c"] }).arg(script);
        command.arg(compiled("attack")).args([kind, "9", "full"]).current_dir(arena.folder.join("own"));
        kill_early(command, round * 79_193 % 900_000);
        let what = format!("{}, {kind}, {level:?}, {user:?}, round {round}", words[0]);
        arena.assert_nobody_left(&what);
        assert!(before == victims.each_ref().map(|folder| inventory(folder)), "{what}: files are changed");
        for original in [("own/note", "guard\nwrong\nfurther\n"), ("own/bad/note", "wrong bad\n")] {
            let found = fs::read_to_string(arena.folder.join(original.0)).expect("there");
            assert_eq!(found, original.1, "{what}");
        }
    }
}

#[test]
fn programs_see_a_private_world_that_every_run_finds_as_the_first_one_did() {
    let folder = scratch("private-world");
    let source = r#"
#include <fcntl.h>
#include <stdio.h>
#include <sys/shm.h>
#include <unistd.h>
int main(void) { int shm = shmget(77, 64, IPC_CREAT | IPC_EXCL | 0600);
    printf("ipc %d\n", shm >= 0);
    FILE *f = fopen("/dev/shm/mine", "wx");
    printf("shm %d\n", f != NULL);
    f = fopen("/tmp/stripe-mine", "wx");
    printf("tmp %d\n", f != NULL);
    f = fopen("mine", "wx");
    printf("cwd %d\n", f != NULL);
    printf("null %d\n", open("/dev/null", O_RDWR) >= 0);
    printf("kmsg %d\n", open("/dev/kmsg", O_RDWR) >= 0);
    printf("others %d\n", access("/proc/20", F_OK) == 0);
    return 0;
}
"#;
    fs::write(folder.join("world.c"), source).expect("written");
    let built =
        Command::new("gcc").args(["-g", "-O0", "-o", "world", "world.c"]).current_dir(&folder).status();
    assert!(built.expect("a compiler").success());
    for engine in ["jump", "breakpoint"] {
        let mut command = stripe();
        command.args(["replay", "./world", "--omit", "", "--engine", engine]).current_dir(&folder);
        let output = command.output().expect("started");
        let found = "ipc 1\nshm 1\ntmp 1\ncwd 1\nnull 1\nkmsg 0\nothers 0\n";
        assert_eq!(text(&output.stdout), found, "{engine}: {}", text(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{engine}: {}", text(&output.stderr));
    }
    assert!(!folder.join("mine").exists());
}

#[test]
fn the_scratch_of_a_tool_that_was_killed_is_removed_by_the_next_one() {
    let arena = Arena::new("killed", User::Own);
    let temporary = arena.folder.join("temporary");
    fs::create_dir(&temporary).expect("made");
    let start = |kind: &str| {
        let mut command = Command::new(compiled("hardened"));
        command.arg("namespaces").arg(stripe().get_program()).arg("replay").arg(compiled("attack"));
        command.args(["--scope", "main", "--omit", "3", "--timeout", "20s", "--", kind, "9"]);
        command.current_dir(arena.folder.join("run")).env("TMPDIR", &temporary).stdin(Stdio::null());
        command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("started")
    };
    let copies = || fs::read_dir(&temporary).expect("readable").count();
    let mut child = start("hang");
    let deadline = Instant::now() + Duration::from_secs(20);
    while copies() == 0 {
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(10));
    }
    std::thread::sleep(Duration::from_millis(300));
    child.kill().expect("killed");
    child.wait().expect("reaped");
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(copies(), 1);
    assert!(start("ok").wait().expect("reaped").success());
    assert_eq!(copies(), 0);
}

#[test]
fn a_run_that_reads_a_large_file_in_its_directory_is_told_to_move_where_it_is_copied() {
    let arena = Arena::new("large", User::Own);
    let large = File::create(arena.folder.join("run/large")).expect("made");
    large.set_len(2 << 30).expect("a file with holes");
    let output = arena.stripe("replay", (Level::Basic, User::Own), &["--omit", "3"], &["ok", "9"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).contains("--cwd"), "{}", text(&output.stderr));
}
