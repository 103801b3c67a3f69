//! Partial executions run amok by nature; nothing that they do may harm the user.

mod support;

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use support::engine::in_two_threads;
use support::hardened::{compiled, run_without};
use support::{Fixture, GCC, Program, how_many, scratch, stripe, text};

/// Without the second statement of main it deletes and overwrites what it finds.
const VANDAL: &str = r#"#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
int main(void) { int sure = 1;
    sure = 0;
    if (sure) {
        unlink("precious");
        rename("list", "lost");
        chmod("script", 0);
        truncate("letter", 0);
        FILE *f = fopen("letter", "w");
        if (f) fputs("gone", f);
        kill(getppid(), SIGKILL);
        kill(-1, SIGTERM);
    }
    puts("done");
    return 0;
}
"#;

fn compile(folder: &Path, source: &str) -> Program {
    let run = folder.join("run");
    fs::create_dir_all(&run).expect("a folder");
    fs::write(folder.join("program.c"), source).expect("written");
    let status = Command::new("gcc")
        .args(["-g", "-O0", "-w", "-o", "program", "program.c"])
        .current_dir(folder)
        .status()
        .expect("a compiler");
    assert!(status.success());
    Program { path: folder.join("program"), directory: run, stdin: "/dev/null".into(), arguments: Vec::new() }
}

/// Everything about the files of a folder that a user could miss.
fn inventory(folder: &Path) -> Vec<(PathBuf, u32, u64, Vec<u8>)> {
    use std::os::unix::fs::MetadataExt;
    let mut all: Vec<_> = fs::read_dir(folder)
        .expect("readable")
        // What stripe itself keeps of its runs.
        .filter(|entry| entry.as_ref().is_ok_and(|entry| entry.file_name() != ".stripe"))
        .map(|entry| {
            let path = entry.expect("readable").path();
            let metadata = fs::symlink_metadata(&path).expect("there");
            (path.clone(), metadata.mode(), metadata.mtime_nsec() as u64, fs::read(&path).unwrap_or_default())
        })
        .collect();
    all.sort();
    all
}

#[test]
fn files_stay_as_they_are_and_signals_do_not_get_out() {
    let folder = scratch("vandal");
    let program = compile(&folder, VANDAL);
    for name in ["precious", "list", "script", "letter"] {
        fs::write(program.directory.join(name), name).expect("written");
    }
    let before = inventory(&program.directory);
    // Without event 3, `sure = 0`, under the control of the program's own branches.
    for control in ["program", "trace"] {
        let output = program.stripe("replay", &["--omit", "3", "--control", control]);
        assert!(output.status.code().is_some(), "stripe was killed: {}", text(&output.stderr));
        assert_eq!(inventory(&program.directory), before);
    }
    program.slice(&[], 0);
    assert_eq!(inventory(&program.directory), before);
}

#[test]
fn each_replay_finds_the_files_that_the_recorded_run_has_found() {
    let program = Fixture::named("file_rewrite").build(GCC);
    let before = inventory(&program.directory);
    program.slice(&["-j2"], 0);
    assert_eq!(inventory(&program.directory), before);
}

/// Held by a test that looks for processes of the fixtures, so that it finds only its own.
static FIXTURES: Mutex<()> = Mutex::new(());

#[test]
fn replays_that_never_end_or_never_stop_writing_are_ended() {
    let _alone = FIXTURES.lock().unwrap_or_else(PoisonError::into_inner);
    let is_dangerous = |fixture: &Fixture| {
        ["endless", "flood", "leftover_child"].iter().any(|kind| fixture.name.starts_with(kind))
    };
    let dangerous = Fixture::all().into_iter().filter(is_dangerous);
    for fixture in dangerous.step_by(how_many(2, 1) as usize) {
        let program = fixture.build(GCC);
        let slice = program.slice(&["-j2"], 0);
        assert_eq!(slice["status"], "minimal", "{}", fixture.name);
        assert_eq!(processes_of(&program.path), Vec::<PathBuf>::new(), "{}", fixture.name);
    }
}

/// The processes that execute this program.
fn processes_of(path: &Path) -> Vec<PathBuf> {
    let path = path.canonicalize().expect("there");
    let processes = fs::read_dir("/proc").expect("readable").filter_map(|entry| Some(entry.ok()?.path()));
    processes.filter(|process| fs::read_link(process.join("exe")).is_ok_and(|exe| exe == path)).collect()
}

fn start(program: &Program) -> Child {
    stripe()
        .arg("run")
        .arg(&program.path)
        .args(["-q", "-j2"])
        .current_dir(&program.directory)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("stripe can be started")
}

#[test]
fn no_process_is_left_when_stripe_is_killed_at_any_moment() {
    let _alone = FIXTURES.lock().unwrap_or_else(PoisonError::into_inner);
    let names =
        ["endless_loop", "endless_wait", "flood_loop", "fork_child", "leftover_child", "file_rewrite"];
    let programs = names.map(|name| Fixture::named(name).build(GCC));
    for round in 0..120_u64 {
        let program = &programs[round as usize % programs.len()];
        let before = inventory(&program.directory);
        let mut child = start(program);
        // Moments all over start-up, recording and the first hundreds of replays.
        std::thread::sleep(Duration::from_micros(round * 7919 % 150_000));
        let _ = child.kill();
        child.wait().expect("reaped");
        let deadline = Instant::now() + Duration::from_secs(10);
        while !processes_of(&program.path).is_empty() {
            assert!(Instant::now() < deadline, "{}: left behind", program.path.display());
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(inventory(&program.directory), before, "{}", program.path.display());
    }
}

/// Tells how many of its files are there, and makes them: in its directory, beside that and below it.
const SETTLER: &str = r#"#include <stdio.h>
#include <unistd.h>
static int settle(const char *path) {
    int there = access(path, F_OK) == 0;
    FILE *file = fopen(path, "w");
    if (file) fclose(file);
    return there;
}
int main(void) {
    int there = settle("file") + settle("../file") + settle("folder/deep/file");
    printf("%d were there\n", there);
    return 0;
}
"#;

#[test]
fn every_test_finds_its_folders_as_the_recorded_run_did_wherever_they_are() {
    let temporary = tempfile::tempdir_in("/tmp").expect("a folder");
    for folder in [scratch("settler").as_path(), temporary.path()] {
        let program = compile(folder, SETTLER);
        fs::create_dir_all(program.directory.join("folder/deep")).expect("made");
        for engine in ["breakpoint", "jump"] {
            let slice = program.slice(&["--no-save", "--engine", engine], 0);
            let needed = slice["events"]["kept"].as_u64().expect("a count");
            assert!(needed > 0, "{}, {engine}: {slice}", folder.display());
        }
        let files = ["run/file", "file", "run/folder/deep/file"];
        assert!(files.iter().all(|file| !folder.join(file).exists()), "{}", folder.display());
    }
}

/// Tells how many of its files are there, makes them, and looks for what is mounted.
const GUEST: &str = r#"#include <stdio.h>
#include <unistd.h>
static int is(const char *path) { return access(path, F_OK) == 0; }
static int settle(const char *path) {
    FILE *file = fopen(path, "w");
    if (file) fclose(file);
    return file != NULL;
}
int main(void) { int there = 0, made = 0, seen = 0;
    there = is("new") + is("data/new") + is("sub/new") + is("file");
    made = settle("new") + settle("data/new") + settle("sub/new") + settle("file");
    seen = is("data/there") + is("link") + is("proc/self/stat") + is("long") + is("sub/deep");
    printf("%d were there, %d were made, %d are seen\n", there, made, seen);
    return 0;
}
"#;

/// Something that is mounted, until it goes.
struct Mounted(PathBuf);

impl Mounted {
    fn new(kind: &str, place: &Path) -> Mounted {
        fs::create_dir_all(place).expect("made");
        let mounted = Command::new("mount").args(["-t", kind, kind]).arg(place).status();
        assert!(mounted.expect("mount").success(), "{kind} on {}", place.display());
        Mounted(place.into())
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

#[test]
fn with_mounts_below_its_directory_a_run_is_fully_contained_and_sees_and_changes_them_for_itself() {
    if !nix::unistd::Uid::effective().is_root() {
        return;
    }
    let temporary = tempfile::tempdir_in("/tmp").expect("a folder");
    let elsewhere = tempfile::tempdir_in("/var").expect("a folder");
    for folder in [temporary.path(), elsewhere.path()] {
        let program = compile(folder, GUEST);
        let run = &program.directory;
        fs::create_dir_all(run.join("sub/deep")).expect("made");
        fs::write(run.join("file"), "text").expect("written");
        std::os::unix::fs::symlink("data/there", run.join("link")).expect("made");
        fs::File::create(run.join("long")).and_then(|file| file.set_len(65 << 20)).expect("made");
        let _mounts = ["tmpfs", "proc"]
            .map(|kind| Mounted::new(kind, &run.join(if kind == "proc" { "proc" } else { "data" })));
        fs::write(run.join("data/there"), "text").expect("written");
        let before = (inventory(run), inventory(&run.join("data")), inventory(&run.join("sub")));
        for engine in ["breakpoint", "jump"] {
            let what = format!("{}, {engine}", folder.display());
            let slice = program.slice(&["--no-save", "--engine", engine], 0);
            assert_eq!(slice["containment"], "full", "{what}: {slice}");
            assert!(slice["events"]["kept"].as_u64().is_some_and(|kept| kept > 0), "{what}: {slice}");
            let output = program.stripe("replay", &["--omit", "", "--engine", engine]);
            let expected = "1 were there, 4 were made, 5 are seen\n";
            assert_eq!(text(&output.stdout), expected, "{what}: {}", text(&output.stderr));
            let after = (inventory(run), inventory(&run.join("data")), inventory(&run.join("sub")));
            assert_eq!(after, before, "{what}");
        }
    }
}

#[test]
fn a_program_can_be_run_in_the_root_directory() {
    let program =
        compile(&scratch("root"), "#include <stdio.h>\nint main(void) { puts(\"done\"); return 0; }\n");
    let output = program.stripe("replay", &["--omit", "", "--cwd", "/"]);
    let said = text(&output.stderr);
    assert_eq!((output.status.code(), &*text(&output.stdout)), (Some(0), "done\n"), "{said}");
    assert!(said.contains("fully contained"), "{said}");
}

/// Tells what a file is like and changes it, in one of two ways of which inotify does not tell: its text through
/// a mapping, or its flags.
const HIDER: &str = r#"#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
int main(int argc, char **argv) {
    int flags = 0;
    if (strcmp(argv[1], "flags") == 0) {
        int file = open("file", O_RDONLY);
        ioctl(file, FS_IOC_GETFLAGS, &flags);
        printf("flags %x\n", flags & FS_NODUMP_FL);
        flags |= FS_NODUMP_FL;
        ioctl(file, FS_IOC_SETFLAGS, &flags);
    } else {
        char *text = mmap(NULL, 4, PROT_READ | PROT_WRITE, MAP_SHARED, open("file", O_RDWR), 0);
        printf("%.4s\n", text);
        text[0] = 'X';
    }
    return 0;
}
"#;

#[test]
fn changes_that_are_hard_to_see_do_not_reach_the_next_test_either() {
    let program = compile(&scratch("hider"), HIDER);
    fs::write(program.directory.join("file"), "text").expect("written");
    for (refused, way) in
        [("none", "memory"), ("none", "flags"), ("namespaces", "memory"), ("namespaces", "flags")]
    {
        for engine in ["jump", "breakpoint"] {
            let output = run_without(refused, &program, &["--engine", engine, "--", way]).output();
            let output = output.expect("started");
            let said = text(&output.stderr);
            assert_eq!(output.status.code(), Some(0), "{refused}, {way}, {engine}: {said}");
            assert_eq!(said, "", "{refused}, {way}, {engine}");
        }
    }
    assert_eq!(fs::read(program.directory.join("file")).expect("there"), b"text");
}

/// Signals a child that has ended, a group whose founder has ended but is not noticed yet, the same group
/// when that is noticed, and a group of others, whose founder is gone as well; says what came of each.
const SIGNALLER: &str = r#"#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void signal_to(const char *whom, pid_t target, int number) {
    int result = kill(target, number);
    printf("%s: %d\n", whom, result == 0 ? 0 : errno);
}
static void end_of(pid_t child) {
    siginfo_t end;
    waitid(P_PID, child, &end, WEXITED | WNOWAIT);
}
int main(int argc, char **argv) {
    pid_t child = fork();
    if (child == 0) _exit(0);
    end_of(child);
    signal_to("child", child, SIGKILL);
    pid_t founder = fork();
    if (founder == 0) {
        setpgid(0, 0);
        if (fork() == 0) { pause(); _exit(0); }
        _exit(0);
    }
    end_of(founder);
    signal_to("group", -founder, 0);
    waitpid(founder, NULL, 0);
    signal_to("orphans", -founder, SIGKILL);
    signal_to("others", -atoi(argv[1]), SIGKILL);
    return 0;
}
"#;

#[test]
fn who_has_ended_may_be_signalled_and_others_may_not_even_if_their_group_is_orphaned() {
    let sleep = ["-c", "sleep 60 > /dev/null 2>&1 & echo $!"];
    let others = Command::new("sh").args(sleep).process_group(0).stdout(Stdio::piped()).spawn();
    let others = others.expect("a shell");
    let group = others.id().to_string();
    let sleeper = text(&others.wait_with_output().expect("ended").stdout).trim().parse().expect("a number");
    let program = compile(&scratch("signaller"), SIGNALLER);
    for (refused, errno) in [("none", Errno::ESRCH), ("namespaces", Errno::EPERM)] {
        for engine in ["jump", "breakpoint"] {
            let mut replay = Command::new(compiled("hardened"));
            replay.arg(refused).arg(stripe().get_program()).arg("replay").arg(&program.path);
            replay.args(["--engine", engine, "--", &group]).current_dir(&program.directory);
            let output = replay.output().expect("started");
            assert_eq!(output.status.code(), Some(0), "{engine}: {}", text(&output.stderr));
            let expected = format!("child: 0\ngroup: 0\norphans: 0\nothers: {}\n", errno as i32);
            assert_eq!(text(&output.stdout), expected, "{refused}, {engine}");
        }
    }
    kill(Pid::from_raw(sleeper), Signal::SIGKILL).expect("still there");
}

/// Without its second event it waits for ever, in the way that its argument says.
const WAITER: &str = r#"#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>
static void attend(int awake, int way) { char c; int ends[2]; sigset_t none;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    if (awake) return;
    if (way == 'p') pause();
    if (way == 'r') { pipe(ends); read(ends[0], &c, 1); }
    if (way == 'm') { pthread_mutex_lock(&lock); pthread_mutex_lock(&lock); }
    if (way == 'e') poll(NULL, 0, -1);
    if (way == 's') { sigemptyset(&none); sigsuspend(&none); }
}
int main(int argc, char **argv) { int awake = 0;
    awake = 1;
    attend(awake, argv[1][0]);
    puts("done");
    return 0;
}
"#;

#[test]
fn a_replay_that_nobody_will_wake_is_ended_without_using_up_its_time() {
    let program = compile(&scratch("waiter"), WAITER);
    let cases: Vec<(&str, &str)> =
        ["p", "r", "m", "e", "s"].into_iter().flat_map(|way| [(way, "jump"), (way, "breakpoint")]).collect();
    in_two_threads(&cases, |&(way, engine)| {
        let program = Program { arguments: vec![way.into()], ..program.clone() };
        let replay = |options: &[&str]| {
            let options = [&["--omit", "3", "--scope", "main", "--engine", engine], options].concat();
            let output = program.stripe("replay", &options);
            assert_eq!(output.status.code(), Some(125), "{way}, {engine}: {}", text(&output.stderr));
            text(&output.stderr)
        };
        let told = replay(&[]);
        assert!(told.contains("unresolved: the run waited for what did not come"), "{way}, {engine}: {told}");
        // Who names a time wants it to be waited for.
        if way == "p" {
            let told = replay(&["--timeout", "300ms"]);
            assert!(told.contains("unresolved: the run took too long"), "{way}, {engine}: {told}");
        }
    });
}

/// Without its second event it takes a second; without its third it never ends where an undefined value is positive.
const SLOW: &str = r#"#include <stdio.h>
#include <unistd.h>
static void rest(int pause) { usleep(pause * 1000); }
static void count_down(int n) { volatile int left = n; while (left > 0) left = n; }
int main(void) { int pause = 1000; int n;
    pause = 0;
    n = -1;
    rest(pause);
    count_down(n);
    puts("done");
    return 0;
}
"#;

#[test]
fn a_replay_counts_as_timed_out_only_after_ten_times_the_time_alone() {
    let program = compile(&scratch("slow"), SLOW);
    for engine in ["jump", "breakpoint"] {
        let options = ["--omit", "3", "--scope", "main", "--timeout", "300ms", "--engine", engine];
        let output = program.stripe("replay", &options);
        assert_eq!(output.status.code(), Some(0), "{engine}: {}", text(&output.stderr));
    }
}

#[test]
fn a_replay_that_is_out_of_time_under_a_further_pattern_is_unresolved() {
    let program = compile(&scratch("slow-pattern"), SLOW);
    for engine in ["jump", "breakpoint"] {
        let options = ["--omit", "4", "--scope", "main", "--timeout", "200ms", "--engine", engine];
        let output = program.stripe("replay", &options);
        let told = text(&output.stderr);
        assert_eq!(output.status.code(), Some(125), "{engine}: {told}");
        assert!(told.contains("took too long") || told.contains("processor time"), "{engine}: {told}");
        assert!(!told.contains("only with some values"), "{engine}: {told}");
    }
}
