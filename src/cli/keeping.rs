//! Keep a run in a folder, unless that cannot be done or is not wanted; and find it again.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tracer::surroundings::Surroundings;
use tracer::trace_file::Identity;
use tracer::{Preference, Untouched};

use super::exit::{Exit, Failure};
use super::options::{KeepOptions, RunOptions};
use super::progress::tell;
use super::questions::{Inquiry, described};
use super::search::{Past, Subject};
use crate::archive::{
    ArchiveError, Claim, Entry, Journal, JournalContent, KeptRun, KeptSearch, RunFolder, Shelf, Stage,
};
use crate::investigation::{Memory, PhaseMemory};
use crate::oracle::{Criterion, Part};
use crate::slice::{CriticalSlice, Status};

/// As many runs are looked at for one that the same command line has begun.
const LOOKED_AT: usize = 20;

/// Where a run is kept.
pub(super) struct Keeping {
    folder: Option<RunFolder>,
    quiet: bool,
    /// Keeps others from the run.
    claim: Option<Claim>,
}

/// What a run is about, as the user said it.
pub(super) struct Asked<'a> {
    pub(super) options: &'a RunOptions,
    pub(super) preference: Preference,
    pub(super) criterion: &'a Criterion,
    pub(super) parts: Vec<(String, Part)>,
    pub(super) questions: &'a [Inquiry],
}

/// The shelf of the working directory.
pub(super) fn shelf() -> Shelf {
    Shelf::of(Path::new("."))
}

/// Everything that goes wrong with kept runs is the user's to mend.
pub(super) fn failure(error: ArchiveError) -> Failure {
    let exit = match error {
        ArchiveError::NoRuns(_) | ArchiveError::NoSuchRun(_) => Exit::Usage,
        _ => Exit::Failed,
    };
    Failure::new(exit, error)
}

impl Keeping {
    /// Makes a folder before anything is recorded, because a program that looks around must see the
    /// same in all its runs. One that the user names must be there; without, none is no misfortune.
    pub(super) fn reserve(options: &KeepOptions, program: &Path, quiet: bool) -> Result<Keeping, Failure> {
        let nowhere = Keeping { folder: None, quiet, claim: None };
        if options.no_save {
            return Ok(nowhere);
        }
        if let Some(out) = &options.out {
            let folder = RunFolder::create(out).map_err(Failure::of(Exit::Usage))?;
            return Ok(Keeping { folder: Some(folder), quiet, claim: None });
        }
        let shelf = shelf();
        nowhere.mention_unfinished(&shelf);
        match shelf.reserve(program) {
            Ok(folder) => Ok(Keeping { folder: Some(folder), quiet, claim: None }),
            Err(error) => {
                nowhere.warn(&format!("{error}: this run is not kept"));
                Ok(nowhere)
            }
        }
    }

    /// A run that is in its folder.
    pub(super) fn of(folder: RunFolder, quiet: bool) -> Keeping {
        Keeping { folder: Some(folder), quiet, claim: None }
    }

    /// Writes down what is known before the search.
    pub(super) fn record(&mut self, asked: &Asked<'_>, subject: &Subject<'_>) {
        let Some(folder) = &self.folder else { return };
        let program = &subject.target.program;
        let kept = Identity::of(program)
            .map_err(|source| ArchiveError::Unreadable { path: program.executable().path.clone(), source })
            .and_then(|identity| {
                let run = kept_run(asked, subject, identity);
                folder.record(&run, program, &subject.baseline.recording.trace)?;
                folder.claim()
            });
        match kept {
            Ok(claim) => self.claim = Some(claim),
            Err(error) => {
                self.warn(&format!("{error}: this run is not kept"));
                self.folder = None;
            }
        }
    }

    /// A journal for the search.
    pub(super) fn journal(&mut self, part: Option<&str>) -> Option<Journal> {
        match self.folder.as_ref()?.begin_journal(part) {
            Ok(journal) => Some(journal),
            Err(error) => {
                self.warn(&format!("{error}: this run is not kept"));
                self.folder = None;
                None
            }
        }
    }

    /// Writes the result.
    pub(super) fn conclude(&self, part: Option<&str>, slice: &CriticalSlice) {
        let Some(folder) = &self.folder else { return };
        if let Err(error) = folder.conclude(part, slice) {
            self.warn(&format!("{error}: its result is not kept"));
        }
    }

    /// The word by which commands name the run, if it is kept.
    pub(super) fn name(&self) -> Option<String> {
        self.folder.as_ref().map(RunFolder::name)
    }

    /// Says how to go on with a search that was ended early.
    pub(super) fn mention(&self, exit: Exit) {
        if let (Some(folder), Exit::Budget | Exit::Interrupted(_), false) = (&self.folder, exit, self.quiet) {
            tell(&format!("stripe: kept as run {0}; `stripe reduce {0}` goes on", folder.name()));
        }
    }

    /// Tells what keeps the run from being kept.
    pub(super) fn warn(&self, message: &str) {
        self.tell(&format!("stripe: warning: {message}"));
    }

    /// Tells whoever wants to know.
    pub(super) fn tell(&self, line: &str) {
        if !self.quiet {
            tell(line);
        }
    }

    /// Whoever gives the same command again may not know that the search could go on.
    fn mention_unfinished(&self, shelf: &Shelf) {
        let line: Vec<_> = std::env::args_os().skip(1).collect();
        let runs = shelf.runs().unwrap_or_default();
        let same =
            |run: &&RunFolder| run.entry().is_ok_and(|entry| entry.line == line && is_unfinished(&entry));
        if let (Some(run), false) = (runs.iter().rev().take(LOOKED_AT).find(same), self.quiet) {
            tell(&format!(
                "stripe: run {0} of the same command is not finished: `stripe reduce {0}` would go on with it",
                run.name()
            ));
        }
    }
}

impl Drop for Keeping {
    /// Nothing is left of a run that was not recorded.
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            folder.discard();
        }
    }
}

fn is_unfinished(entry: &Entry) -> bool {
    let unfinished = |stage| !matches!(stage, Stage::Running | Stage::Ended(Status::Minimal));
    entry.progress.iter().any(|progress| unfinished(progress.stage))
}

fn kept_run(asked: &Asked<'_>, subject: &Subject<'_>, identity: Identity) -> KeptRun {
    let Subject { target, baseline, manner, plan, .. } = *subject;
    let wrong = asked.questions.iter().filter(|question| question.is_wrong);
    let images = &target.program.images()[1..];
    let search = &asked.options.search;
    KeptRun {
        started: SystemTime::now(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        line: std::env::args_os().skip(1).collect(),
        command: target.command.clone(),
        invocation: target.invocation.clone(),
        timeout: asked.options.target.timeout,
        scope: asked.options.target.scope.clone(),
        libraries: images.iter().map(|image| image.path.clone()).collect::<Vec<PathBuf>>(),
        granularity: target.granularity,
        identity,
        surroundings: Surroundings::of(&baseline.recording.run),
        criterion: asked.criterion.clone(),
        described: described(asked.questions),
        criteria: asked.parts.clone(),
        wrong: wrong.filter_map(|question| question.name.clone()).collect(),
        search: KeptSearch {
            control: plan.control,
            algorithm: plan.algorithm,
            max_tests: search.max_tests,
            max_time: search.max_time,
            jobs: search.jobs,
            preference: asked.preference,
        },
        manner: manner.clone(),
        run: baseline.recording.run.clone(),
        events: baseline.recording.trace.len(),
        endless: baseline.recording.trace.endless().cloned(),
        poisoned: baseline.patterns.len() > 1,
        untouched: Untouched::clone(&baseline.untouched),
        warnings: baseline.warnings.clone(),
    }
}

/// What a journal that this version of stripe has written says to a search that goes on. Outcomes lead the same version of this program the
/// same way; for another, the best so far is where it starts.
pub(super) fn past(version: &str, content: JournalContent) -> Past {
    let same_version = version == env!("CARGO_PKG_VERSION");
    let phase = |phase: crate::archive::PhaseContent| {
        let understood = phase.is_understood && same_version;
        PhaseMemory {
            rule: phase.rule,
            start: (!understood).then_some(phase.best),
            outcomes: if phase.is_understood { phase.outcomes } else { Default::default() },
        }
    };
    let memory = Memory { phases: content.phases.into_iter().map(phase).collect() };
    Past { memory, runs: content.runs, elapsed: content.elapsed, journal: None }
}

#[cfg(test)]
mod tests {
    use tracer::schedule::Control as Rule;

    use super::*;
    use crate::archive::PhaseContent;
    use crate::slice::Evidence;
    use dd::{Configuration, Outcome};

    /// The start and the number of outcomes that a journal leads to.
    fn led(version: &str, is_understood: bool) -> (bool, usize) {
        let seen = Evidence::new(Outcome::Pass, "");
        let phase = PhaseContent {
            rule: Rule::Trace,
            best: Configuration::full(3),
            is_understood,
            outcomes: [(1, (Outcome::Pass, seen))].into(),
        };
        let mut content = JournalContent::default();
        content.phases.push(phase);
        let past = past(version, content);
        (past.memory.phases[0].start.is_some(), past.memory.phases[0].outcomes.len())
    }

    #[test]
    fn another_version_starts_from_the_best_and_uses_what_it_understands() {
        assert_eq!(led(env!("CARGO_PKG_VERSION"), true), (false, 1));
        assert_eq!(led("0.0.0", true), (true, 1));
        assert_eq!(led(env!("CARGO_PKG_VERSION"), false), (true, 0));
    }
}
