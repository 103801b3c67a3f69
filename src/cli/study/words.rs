//! Write the command lines by which a study works on a fault: anybody can type them.

use std::path::{Path, PathBuf};

use study::manifest::{BUILD_FOLDER, StudyFault, StudyTest};
use study::technique::Work;

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
        let is_meant = !self.fault.is_endless || work == Work::Locate;
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
        let (name, failure): (&str, Words) = match work {
            Work::Spectra => return Ok(self.cover()),
            Work::Slice | Work::SliceTrace => {
                let control = if work == Work::Slice { "both" } else { "trace" };
                let reference = reference.filter(|_| !fault.is_endless);
                let criterion = fault.criterion.iter().cloned().chain(reference).chain(endless);
                let control = ["--control", control, "--no-save"].map(str::to_owned);
                ("run", criterion.chain(control).collect())
            }
            Work::Locate => {
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
                ("locate", correct.into_iter().chain(endless).collect())
            }
        };
        let mut words = vec![name.to_owned()];
        words.extend(self.target(run));
        words.extend(self.timeout(work));
        words.extend(failure);
        words.extend(["--format", "json", "-q", "-j", "1"].map(str::to_owned));
        words.extend(fault.max_tests.iter().flat_map(|most| ["--max-tests".into(), most.to_string()]));
        words.extend(fault.max_time.iter().flat_map(|time| ["--max-time".into(), time.clone()]));
        words.push("--".into());
        words.extend(run.arguments.iter().cloned());
        Ok(words)
    }

    fn cover(self) -> Words {
        let words =
            ["study", "cover", &shown(self.manifest), &self.fault.name, "--built", &shown(self.folder)];
        words.map(str::to_owned).to_vec()
    }
}
