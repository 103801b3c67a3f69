//! Compile fixtures and run the binary on them, for all integration tests.

#![allow(
    dead_code,
    missing_docs,
    unreachable_pub,
    reason = "each test binary is a crate and uses a part of it"
)]

pub mod browser;
pub mod command;
pub mod engine;
pub mod hardened;
pub mod random;
pub mod simplifying;
pub mod tiny;
pub mod witness;

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, Once, OnceLock, PoisonError};

use serde_json::Value;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// A compiler with options; the name tells build folders apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Build {
    pub name: &'static str,
    pub cc: &'static str,
    pub cxx: &'static str,
    pub flags: &'static str,
}

pub const GCC: Build = Build { name: "gcc", cc: "gcc", cxx: "g++", flags: "" };
pub const CLANG: Build = Build { name: "clang", cc: "clang", cxx: "clang++", flags: "" };

/// The fixtures that ask what would differ from run to run.
pub const ASKING: [&str; 12] = [
    "asks_address",
    "asks_cycles",
    "asks_device",
    "asks_hash",
    "asks_heap_key",
    "asks_helpers",
    "asks_pid",
    "asks_random",
    "asks_time",
    "asks_urandom",
    "pid_dependent",
    "time_dependent",
];

/// A fixture: one file or a folder below `tests/fixtures`.
#[derive(Clone, Debug)]
pub struct Fixture {
    pub name: String,
    pub source: PathBuf,
    directives: HashMap<String, String>,
}

impl Fixture {
    /// All fixtures, by name.
    pub fn all() -> Vec<Fixture> {
        let sources = files_in(&root().join("tests/fixtures")).into_iter();
        let mut fixtures: Vec<Fixture> =
            sources.filter(|source| extension(source) != "md").map(Fixture::new).collect();
        fixtures.sort_by(|one, other| one.name.cmp(&other.name));
        fixtures
    }

    /// The fixture of this name.
    pub fn named(name: &str) -> Fixture {
        Fixture::all()
            .into_iter()
            .find(|fixture| fixture.name == name)
            .unwrap_or_else(|| panic!("no fixture {name}"))
    }

    fn new(source: PathBuf) -> Fixture {
        let name = source.file_stem().expect("a name").to_string_lossy().into_owned();
        let main =
            ["main.c", "src/main.c"].map(|file| source.join(file)).into_iter().find(|file| file.is_file());
        let text = fs::read_to_string(main.as_ref().unwrap_or(&source)).expect("readable");
        let lines = text.lines().skip(1).map_while(|line| line.strip_prefix("// ")?.split_once(": "));
        let directives = lines.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        Fixture { name, source, directives }
    }

    pub fn directive(&self, key: &str) -> Option<&str> {
        self.directives.get(key).map(String::as_str)
    }

    fn words(&self, key: &str) -> Vec<String> {
        self.directive(key).unwrap_or_default().split_whitespace().map(str::to_owned).collect()
    }

    /// Compiles it, if that has not been done before, and gives it an empty working directory with a copy of
    /// its data files.
    pub fn build(&self, build: Build) -> Program {
        let folder = tmp().join("fixtures").join(build.name).join(&self.name);
        let program = Program {
            path: folder.join(&self.name),
            directory: folder.join("run"),
            stdin: folder.join("stdin"),
            arguments: self.words("args"),
        };
        once(&folder, || {
            let (key, note) = (self.key(build).to_string(), folder.join("key"));
            if fs::read_to_string(&note).ok().as_ref() != Some(&key) {
                let _ = fs::remove_dir_all(&folder);
                fs::create_dir_all(&folder).expect("a build folder");
                self.compile(build, &folder);
                fs::write(note, key).expect("a note");
            }
            let _ = fs::remove_dir_all(&program.directory);
            fs::create_dir_all(&program.directory).expect("a working directory");
            self.copy_data(&program.directory);
            let stdin = self.directive("stdin").unwrap_or_default().replace("\\n", "\n");
            fs::write(&program.stdin, stdin).expect("a file for the input");
        });
        program
    }

    /// A number that stands for all that the program is made of, and how.
    fn key(&self, build: Build) -> u64 {
        let contents: Vec<Vec<u8>> =
            self.files().iter().map(|file| fs::read(file).expect("readable")).collect();
        corpus::key((build, &self.source, version(self.compiler(build)), include_str!("mod.rs"), contents))
    }

    /// All files, in order.
    fn files(&self) -> Vec<PathBuf> {
        if self.source.is_file() {
            return vec![self.source.clone()];
        }
        let below = self.source.join("src");
        files_in(if below.is_dir() { &below } else { &self.source })
    }

    fn compiler(&self, build: Build) -> &'static str {
        match extension(&self.source).as_str() {
            "rs" => "rustc",
            "cpp" => build.cxx,
            _ => build.cc,
        }
    }

    fn compile(&self, build: Build, folder: &Path) {
        let output = folder.join(&self.name);
        let parent = self.source.parent().expect("fixtures lie in a folder");
        let compiler = self.compiler(build);
        if compiler == "rustc" {
            execute(
                Command::new(compiler)
                    .args(["--edition", "2021", "-g", "-C", "opt-level=0", "-o"])
                    .arg(&output)
                    .arg(self.source.file_name().expect("a name"))
                    .current_dir(parent),
            );
        } else if self.source.is_dir() {
            self.compile_folder(build, folder, &output);
        } else {
            self.compile_files(compiler, build, parent, std::slice::from_ref(&self.source), &output, &[]);
        }
    }

    fn compile_folder(&self, build: Build, folder: &Path, output: &Path) {
        let is_c = |file: &PathBuf| extension(file) == "c";
        let files = self.files().into_iter();
        if self.source.join("src").is_dir() {
            let (sources, beside) = (folder.join("src"), folder.join("build"));
            for folder in [&sources, &beside] {
                fs::create_dir_all(folder).expect("a folder");
            }
            files.for_each(|file| copy(&file, &sources));
            let files: Vec<PathBuf> = files_in(&sources).into_iter().filter(is_c).collect();
            return self.compile_files(build.cc, build, &beside, &files, output, &[]);
        }
        let (libraries, programs): (Vec<PathBuf>, Vec<PathBuf>) =
            files.filter(is_c).partition(|file| stem(file).starts_with("lib"));
        let mut link = Vec::new();
        for library in &libraries {
            let name = stem(library);
            self.compile_files(
                build.cc,
                build,
                &self.source,
                &[library.file_name().expect("a name").into()],
                &folder.join(format!("{name}.so")),
                &["-shared".into(), "-fPIC".into()],
            );
            link.extend([
                format!("-L{}", folder.display()),
                format!("-l{}", &name[3..]),
                "-Wl,-rpath,$ORIGIN".into(),
            ]);
        }
        let files: Vec<PathBuf> =
            programs.iter().map(|file| file.file_name().expect("a name").into()).collect();
        self.compile_files(build.cc, build, &self.source, &files, output, &link);
    }

    fn copy_data(&self, to: &Path) {
        let is_data = |file: &Path| !["c", "cpp", "rs", "h", "md"].contains(&extension(file).as_str());
        self.files().iter().filter(|file| is_data(file)).for_each(|file| copy(file, to));
    }

    fn compile_files(
        &self,
        cc: &str,
        build: Build,
        directory: &Path,
        files: &[PathBuf],
        output: &Path,
        extra: &[String],
    ) {
        execute(
            Command::new(cc)
                .args(["-g", "-O0", "-w"])
                .args(build.flags.split_whitespace())
                .args(self.words("cflags"))
                .arg("-o")
                .arg(output)
                .args(files.iter().map(|file| {
                    if file.is_absolute() && file.parent() == Some(directory) {
                        file.file_name().expect("a name").into()
                    } else {
                        file.clone()
                    }
                }))
                .args(extra)
                .args(self.words("link"))
                .current_dir(directory),
        );
    }
}

/// A program that stripe can be run on.
#[derive(Clone, Debug)]
pub struct Program {
    pub path: PathBuf,
    pub directory: PathBuf,
    pub stdin: PathBuf,
    pub arguments: Vec<String>,
}

impl Program {
    /// `stripe VERB PROG --stdin FILE OPTIONS -- ARGUMENTS` in the program's working directory.
    pub fn stripe(&self, verb: &str, options: &[&str]) -> Output {
        let mut command = stripe();
        command.arg(verb).arg(&self.path).arg("--stdin").arg(&self.stdin).args(options);
        if !self.arguments.is_empty() {
            command.arg("--").args(&self.arguments);
        }
        command.current_dir(&self.directory).output().expect("stripe can be started")
    }

    /// The result of a run as JSON, which must have ended with this exit status.
    pub fn slice(&self, options: &[&str], status: i32) -> Value {
        let output = self.stripe("run", &[options, &["--format", "json", "-q", "--all-events"]].concat());
        assert_eq!(output.status.code(), Some(status), "{}: {}", self.path.display(), text(&output.stderr));
        serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {}", text(&output.stdout)))
    }

    /// The events of the trace as JSON.
    pub fn events(&self, options: &[&str]) -> Vec<Value> {
        let output = self.stripe("trace", &[options, &["--format", "json"]].concat());
        assert!(output.status.success(), "{}: {}", self.path.display(), text(&output.stderr));
        let trace: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        trace["events"].as_array().expect("events").clone()
    }
}

/// Each fixture in so many of these builds, with another one first each time, so that all are tried.
pub fn builds_in_turn(
    fixtures: impl Iterator<Item = Fixture>,
    builds: &[Build],
    each: u64,
) -> Vec<(Fixture, Build)> {
    let of_one = |(number, fixture): (usize, Fixture)| {
        let builds = builds.iter().cycle().skip(number).take(each as usize);
        builds.map(move |&build| (fixture.clone(), build)).collect::<Vec<_>>()
    };
    fixtures.enumerate().flat_map(of_one).collect()
}

/// How much of what could go on for ever is tried: `all` if the variable STRIPE_THOROUGH is set, and otherwise
/// `few`, so that all tests together take some minutes.
pub fn how_many(few: u64, all: u64) -> u64 {
    if std::env::var_os("STRIPE_THOROUGH").is_some() { all } else { few }
}

/// Lets programs that are started from now on be ended by a user.
pub fn heed_signals() {
    static HEEDED: Once = Once::new();
    // A handler instead of what tests in the background of a script may have inherited: to be ignored.
    HEEDED.call_once(|| {
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            let always = Arc::new(AtomicBool::new(true));
            signal_hook::flag::register_conditional_default(signal, always).expect("a signal with a default");
        }
    });
}

/// The program under test, as a user starts it who can end it.
pub fn stripe() -> Command {
    heed_signals();
    let mut command = Command::new(env!("CARGO_BIN_EXE_stripe"));
    command.stdin(Stdio::null()).env_remove("NO_COLOR").env("LC_ALL", "C.UTF-8");
    // The programs that it runs get this too, and backtraces take fifty times as long as the rest of a run.
    command.env_remove("RUST_BACKTRACE");
    command
}

/// The sample of the paper.
pub fn sample(build: Build, extra: &str) -> Program {
    let folder = tmp().join("sample").join(build.name).join(extra.replace([' ', '/'], "_"));
    let source = root().join("samples/sum-mul");
    once(&folder, || {
        fs::create_dir_all(folder.join("run")).expect("a build folder");
        execute(
            Command::new(build.cc)
                .args(["-g", "-O0", "-w"])
                .args(build.flags.split_whitespace())
                .args(extra.split_whitespace())
                .arg("-o")
                .arg(folder.join("sum-mul"))
                .arg("sum-mul.c")
                .current_dir(&source),
        );
    });
    Program {
        path: folder.join("sum-mul"),
        directory: folder.join("run"),
        stdin: source.join("input.txt"),
        arguments: Vec::new(),
    }
}

/// The folder of the project.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A folder for what the tests of a file make: those of several files run at the same time.
pub fn tmp() -> PathBuf {
    let executable = std::env::current_exe().expect("a test is a program");
    let name = executable.file_stem().expect("a name").to_string_lossy();
    let name = name.rsplit_once('-').map_or(&*name, |(name, _)| name);
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// A fresh, empty folder for one test.
pub fn scratch(name: &str) -> PathBuf {
    let folder = tmp().join("scratch").join(format!("{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a scratch folder");
    folder
}

/// The text of a stream.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Compares with a golden file; with STRIPE_ACCEPT=1 in the environment, makes it the new one.
pub fn assert_golden(name: &str, actual: &str) {
    let file = root().join("tests/golden").join(name);
    if std::env::var_os("STRIPE_ACCEPT").is_some() {
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        fs::write(&file, actual).expect("written");
        return;
    }
    let expected = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        expected == actual,
        "{name} differs; if the new result is right, accept it with STRIPE_ACCEPT=1\n--- expected\n{expected}--- actual\n{actual}"
    );
}

/// Does what makes `folder`, once per test process; several threads may ask.
fn once(folder: &Path, make: impl FnOnce()) {
    static MADE: Mutex<BTreeMap<PathBuf, Arc<OnceLock<()>>>> = Mutex::new(BTreeMap::new());
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let once = Arc::clone(made.entry(folder.to_path_buf()).or_default());
    drop(made);
    once.get_or_init(make);
}

/// What a compiler says of itself.
fn version(compiler: &'static str) -> String {
    static VERSIONS: Mutex<BTreeMap<&str, String>> = Mutex::new(BTreeMap::new());
    let ask = || text(&Command::new(compiler).arg("--version").output().expect("a compiler").stdout);
    VERSIONS.lock().unwrap_or_else(PoisonError::into_inner).entry(compiler).or_insert_with(ask).clone()
}

fn execute(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    assert!(output.status.success(), "{command:?}: {}", text(&output.stderr));
}

/// What is in a folder, in order.
fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("readable");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    files.sort();
    files
}

fn copy(file: &Path, to: &Path) {
    fs::copy(file, to.join(file.file_name().expect("a name"))).expect("copied");
}

fn extension(file: &Path) -> String {
    file.extension().unwrap_or_default().to_string_lossy().into_owned()
}

fn stem(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}
