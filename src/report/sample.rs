//! Record small programs for the tests of the reports.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tracer::denial::Actions;
use tracer::invocation::{Invocation, Limits};
use tracer::poison::Poison;
use tracer::program::{Granularity, Program, Scope};
use tracer::run::Run;
use tracer::trace::{EventId, Trace};
use tracer::{Conditions, Containment, Engine, Preference, Tracer};

use super::comparison::Compared;
use super::html::ChapterSource;
use crate::circumstances::Status;
use crate::circumstances::events::Control;
use crate::oracle::Evidence;
use crate::session::history::History;
use crate::session::watcher::NoWatcher;
use crate::slice::{CriticalSlice, Effects, Level, Necessity, Needed, Question, RunMethod};
use crate::subject::Recorded;
use dd::{Algorithm, Configuration, Counts, Observer, Outcome};

/// A temporary folder for a test; removed with the value.
pub(super) struct Folder(PathBuf);

impl Folder {
    pub(super) fn new() -> Folder {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("stripe-report-{}-{number}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A slice whose criterion has no name.
pub(super) fn alone(slice: &CriticalSlice) -> [Compared<'_>; 1] {
    [Compared { name: "", is_wrong: false, slice }]
}

/// A program that has run.
pub(super) struct Sample {
    program: Program,
    trace: Trace,
    run: Run,
}

impl Sample {
    /// Compiles `source`, a file in `folder`, and runs it.
    fn new(folder: &Path, source: &str, stdin: &str) -> Sample {
        let binaries = Folder::new();
        let path = binaries.path().join("program");
        // Not `cc`: clang has other statements than gcc, and with them other numbers than the tests expect.
        let mut compiler = Command::new("gcc");
        compiler.args(["-g", "-O0", "-o"]).arg(&path).arg(source).current_dir(folder);
        assert!(compiler.status().unwrap().success(), "{compiler:?}");
        let program = Program::load(&path, &[], &Scope::default(), Granularity::Statement).unwrap();
        let invocation = Invocation {
            arguments: vec!["program".into()],
            stdin: stdin.as_bytes().to_vec().into(),
            ..Invocation::new(path, binaries.path().into())
        };
        let recording =
            Tracer::new(&program, &invocation, Preference::Auto).unwrap().record(&conditions()).unwrap();
        Sample { trace: recording.trace, run: recording.run, program }
    }

    /// Compiles `source` as `program.c` in `folder`, and runs it without input.
    pub(super) fn of(folder: &Folder, source: &str) -> Sample {
        std::fs::write(folder.path().join("program.c"), source).unwrap();
        Sample::new(folder.path(), "program.c", "")
    }

    /// The paper's example with its input.
    pub(super) fn sum_mul() -> &'static Sample {
        static SAMPLE: LazyLock<Sample> = LazyLock::new(|| {
            let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/sum-mul");
            Sample::new(&folder, "sum-mul.c", "0 5\n")
        });
        &SAMPLE
    }

    pub(super) fn recorded(&self) -> Recorded<'_> {
        Recorded { program: &self.program, trace: &self.trace }
    }

    /// The source of a chapter of the page.
    pub(super) fn case<'a>(&'a self, slice: &'a CriticalSlice, history: &'a History) -> ChapterSource<'a> {
        let (recorded, run) = (self.recorded(), &self.run);
        ChapterSource {
            recorded,
            run,
            slice,
            history,
            command_line: "stripe run",
            name: "",
            is_wrong: false,
            remark: "",
            beside: None,
        }
    }

    /// All omittable events of a line.
    pub(super) fn omittable(&self, line: u32) -> Vec<EventId> {
        let leader = |event| self.program.leader(self.trace.leader(event));
        let chosen = |&event: &EventId| {
            self.trace.is_omittable(&self.program, event) && leader(event).statement.line == line
        };
        self.trace.events().filter(chosen).collect()
    }

    /// A slice of the given events; those of `decisions` are needed as such.
    pub(super) fn slice(&self, effects: &[EventId], decisions: &[EventId]) -> CriticalSlice {
        let needed = |necessity| {
            let without = Evidence::new(Outcome::Pass, "no output");
            move |&event: &EventId| Needed { event, necessity, without: Some(Box::new(without.clone())) }
        };
        let mut all: Vec<Needed> = effects.iter().map(needed(Necessity::Effect)).collect();
        all.extend(decisions.iter().map(needed(Necessity::Decision)));
        all.sort_by_key(|needed| needed.event);
        let is_omittable = |&event: &EventId| self.trace.is_omittable(&self.program, event);
        CriticalSlice {
            question: question(),
            status: Status::Minimal,
            level: Level::Execution,
            effects: Effects::Tried,
            recorded: self.trace.len(),
            omittable: self.trace.events().filter(is_omittable).count(),
            needed: all,
            tests: Counts { total: 120, fail: 11, pass: 80, unresolved: 29, cached: 40, predicted: 0 },
            runs: 142,
            elapsed: Duration::from_millis(210),
            warnings: Vec::new(),
            values: None,
            by_products: Vec::new(),
            crashed_at: None,
            kept_as: None,
        }
    }
}

/// The history of a search: for each test the number of circumstances, the chosen ones, and the outcome.
pub(super) fn history(tests: &[(usize, &[usize], Outcome)]) -> History {
    let mut history = History::default();
    for (number, &(universe, chosen, outcome)) in tests.iter().enumerate() {
        let why = if outcome == Outcome::Fail { "as expected" } else { "no output" };
        let evidence = Evidence::new(outcome, why);
        let counts = Counts { total: number as u64 + 1, ..Counts::default() };
        let configuration = Configuration::from_iter(universe, chosen.iter().copied());
        history.beside(&mut NoWatcher).tested(&configuration, outcome, &evidence, counts);
    }
    history
}

fn question() -> Question {
    Question {
        command: vec!["./sum-mul".to_owned()],
        criterion: "the output contains `sum = 15`".to_owned(),
        control: Control::Both,
        granularity: Granularity::Statement,
        algorithm: Algorithm::Sweep,
        method: RunMethod { engine: Engine::Jump, containment: Containment::Full },
    }
}

fn conditions() -> Conditions {
    let limits = Limits {
        cpu: Duration::from_secs(10),
        wall: Duration::from_secs(60),
        idle: Duration::from_secs(60),
        arrivals: 1_000_000,
        memory: None,
        trace: u64::MAX,
        file_size: 1 << 20,
        output: 1 << 20,
        tasks: 1,
        tolerated: Actions::NONE,
    };
    Conditions {
        poison: Poison::Off,
        untouched: Default::default(),
        limits,
        stop: Default::default(),
        asked: None,
    }
}

mod tests {
    use super::*;
    use crate::subject::Ordinals;
    use tracer::program::Statement;
    use tracer::trace::EventId;

    #[test]
    fn executions_are_counted_line_by_line() {
        let sample = Sample::sum_mul();
        let ordinals = Ordinals::new(sample.recorded());
        let names: Vec<String> = sample.omittable(8).into_iter().map(|event| ordinals.name(event)).collect();
        assert_eq!(names, ["8#1", "8#2"]);
        let third = sample.omittable(11)[2];
        let Statement { file, line, .. } = ordinals.statement(third);
        assert_eq!((ordinals.number(third), ordinals.total(file, line)), (Some(3), 6));
        assert_eq!(ordinals.of_line(file, 11), sample.omittable(11));
        assert_eq!(ordinals.lines(file), [6, 7, 8, 9, 10, 11, 12, 13, 15, 16, 17]);
    }

    #[test]
    fn the_entry_of_a_function_is_no_execution_of_a_line() {
        let ordinals = Ordinals::new(Sample::sum_mul().recorded());
        assert_eq!(ordinals.name(EventId(0)), "4, event 1");
    }
}
