//! Write the command lines by which a study works on a fault: anybody can type them.

use std::path::{Path, PathBuf};

use study::manifest::{BUILD_FOLDER, StudyFault, StudyTest};
use study::technique::{Work, WorkKind};
use study::times::SearchBudget;

/// A fault that was built.
#[derive(Clone, Copy)]
pub(super) struct BuiltFault<'f> {
    pub(super) fault: &'f StudyFault,
    /// The manifest of the fault, absolute.
    pub(super) manifest: &'f Path,
    /// The folder in which it was built, absolute.
    pub(super) folder: &'f Path,
}

/// The words of a command line after `stripe`.
pub(super) type Words = Vec<String>;

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

impl BuiltFault<'_> {
    /// The path of the executable.
    pub(super) fn program(self) -> PathBuf {
        let program = self.fault.program.replace(BUILD_FOLDER, &shown(self.folder));
        self.fault.directory.join(program)
    }

    /// The words for the program and its world.
    pub(super) fn target(self, run: &StudyTest) -> Words {
        let fault = self.fault;
        let input = run.input.as_deref().unwrap_or(Path::new("/dev/null"));
        let mut words = vec![shown(&self.program()), "--stdin".into(), shown(input)];
        words.extend(["--cwd".into(), shown(&fault.directory), "--clear-env".into()]);
        words.extend(
            fault.environment.iter().flat_map(|(name, value)| ["--env".into(), format!("{name}={value}")]),
        );
        words.extend(fault.scope.iter().flat_map(|scope| ["--scope".into(), scope.clone()]));
        words
    }

    /// The words for the limit of time of a run. A run that never ends is recorded for a number of
    /// statements, which does not depend on the load of the machine: there it is for the runs of `locate`,
    /// which are many.
    pub(super) fn timeout(self, work: Work) -> Words {
        let is_locate = matches!(work.kind, WorkKind::Locate | WorkKind::LocateTests);
        let is_meant = !self.fault.is_endless || is_locate;
        let timeout = self.fault.timeout.iter().filter(|_| is_meant);
        timeout.flat_map(|timeout| ["--timeout".to_owned(), timeout.clone()]).collect()
    }

    /// The command line of some work on the failing run.
    ///
    /// # Errors
    /// If the manifest does not say what that work needs.
    pub(super) fn command(self, work: Work, run: &StudyTest) -> Result<Words, String> {
        let fault = self.fault;
        let reference = run.reference.iter().flat_map(|file| ["--reference".to_owned(), shown(file)]);
        let endless = fault.is_endless.then(|| "--expect-timeout".to_owned());
        let reference_of_slice = reference.clone().filter(|_| !fault.is_endless);
        let criterion = fault.criterion.iter().cloned().chain(reference_of_slice).chain(endless.clone());
        let (name, failure): (&str, Words) = match work.kind {
            WorkKind::Spectra => return Ok(self.cover()),
            WorkKind::Slice(control) => {
                let method = ["--control", control.name(), "--no-save", "--no-values"].map(str::to_owned);
                ("run", criterion.chain(method).collect())
            }
            WorkKind::Dynamic(_) if fault.is_endless => {
                return Err("a dynamic slice is of a run that ends: name it in `without`".into());
            }
            WorkKind::Dynamic(kind) => {
                let method = ["--kind", kind.name(), "--format", "json"].map(str::to_owned);
                let words = criterion.chain(method).collect();
                return Ok(self.line("slice", work, run, words, Words::new()));
            }
            WorkKind::Locate | WorkKind::LocateTests => {
                let correct =
                    fault.correct.iter().flat_map(|command| ["--check".to_owned(), command.clone()]);
                let correct: Words = match run.reference {
                    Some(_) => reference.collect(),
                    None => correct.collect(),
                };
                if correct.is_empty() {
                    return Err(
                        "`locate` needs to know what would be right: give `reference` or `correct`".into()
                    );
                }
                let tests = self.tests(work)?;
                let nothing_stays = std::iter::once("--no-save".to_owned());
                ("locate", correct.into_iter().chain(tests).chain(endless).chain(nothing_stays).collect())
            }
        };
        let form = ["--format", "json", "-q", "-j", "1"].map(str::to_owned);
        let bounds = form.into_iter().chain(self.bounds(work)).collect();
        Ok(self.line(name, work, run, failure, bounds))
    }

    /// A command line on the failing run.
    fn line(self, name: &str, work: Work, run: &StudyTest, failure: Words, bounds: Words) -> Words {
        let mut words = vec![name.to_owned()];
        words.extend(self.target(run));
        words.extend(self.timeout(work));
        words.extend(failure);
        words.extend(bounds);
        words.push("--".into());
        words.extend(run.arguments.iter().cloned());
        words
    }

    /// The budgets of a search: its own goes before that of the fault.
    fn bounds(self, work: Work) -> Words {
        let (mut tests, mut time) = (self.fault.max_tests, self.fault.max_time.clone());
        match work.budget {
            Some(SearchBudget::Tests(most)) => tests = Some(most),
            Some(budget @ SearchBudget::Time(_)) => time = Some(budget.to_string()),
            None => {}
        }
        let tests = tests.into_iter().flat_map(|most| ["--max-tests".to_owned(), most.to_string()]);
        tests.chain(time.into_iter().flat_map(|time| ["--max-time".to_owned(), time])).collect()
    }

    /// The option by which `locate` has the tests of the fault, if it is to have them.
    fn tests(self, work: Work) -> Result<Words, String> {
        if work.kind != WorkKind::LocateTests {
            return Ok(Words::new());
        }
        let path = self.fault.tests_path.as_deref();
        let path = path.ok_or("`locate-tests` needs `tests` that are a folder or a file of their own")?;
        Ok(vec!["--tests".to_owned(), shown(path)])
    }

    fn cover(self) -> Words {
        let words =
            ["study", "cover", &shown(self.manifest), &self.fault.name, "--built", &shown(self.folder)];
        words.map(str::to_owned).to_vec()
    }
}
