//! Keep a located fault in a folder, unless that cannot be done or is not wanted.

use std::time::SystemTime;

use tracer::surroundings::Surroundings;
use tracer::trace_file::Identity;
use tracer::{Preference, Untouched};

use super::error::SessionError;
use super::keeping::{archive, mention_unfinished, reserve};
use super::listener::Listener;
use super::locate_work::FailingRun;
use super::located::{LocateEffort, LocateRequest, Located};
use super::request::Keep;
use crate::archive::{
    ArchiveError, AttemptJournal, AttemptSetting, Claim, KeptLocate, KeptRun, KeptSearch, LocatedEnd,
    RunFolder,
};
use crate::baseline::Ending;
use crate::circumstances::events::Control;
use crate::locate::Correct;
use crate::oracle::Criterion;
use crate::slice::RunMethod;
use dd::Algorithm;

/// The kept run of a located fault: its folder and its journal of attempts.
pub(super) struct LocateKeeping<'l> {
    folder: Option<RunFolder>,
    journal: Option<AttemptJournal>,
    listener: &'l dyn Listener,
    /// Keeps others from the run.
    claim: Option<Claim>,
}

impl<'l> LocateKeeping<'l> {
    /// A run that is in its folder already.
    pub(super) fn of(
        folder: RunFolder,
        journal: AttemptJournal,
        claim: Claim,
        listener: &'l dyn Listener,
    ) -> LocateKeeping<'l> {
        LocateKeeping { folder: Some(folder), journal: Some(journal), listener, claim: Some(claim) }
    }

    /// Makes a folder before anything is recorded, because a program that looks around must see the same in all its
    /// runs.
    ///
    /// # Errors
    /// If the folder that the user names cannot be made.
    pub(super) fn reserve(
        request: &LocateRequest,
        listener: &'l dyn Listener,
    ) -> Result<LocateKeeping<'l>, SessionError> {
        if let Keep::InArchive = request.keep {
            mention_unfinished(&archive(), &request.line, listener);
        }
        let folder = reserve(&request.keep, &request.target.invocation.program, listener)?;
        Ok(LocateKeeping { folder, journal: None, listener, claim: None })
    }

    /// Writes down what is known before the first change.
    pub(super) fn record(&mut self, request: &LocateRequest, failing: &FailingRun<'_>, method: RunMethod) {
        let Some(folder) = &self.folder else { return };
        let program = &failing.target.program;
        let kept = Identity::of(program)
            .map_err(|source| ArchiveError::Unreadable { path: program.executable().path.clone(), source })
            .and_then(|identity| {
                // It tells what kind of a run this is.
                let journal = folder.begin_attempts()?;
                let run = kept_run(request, failing, identity, method);
                folder.record(&run, program, &failing.baseline.recording.trace)?;
                Ok((journal, folder.claim()?))
            });
        match kept {
            Ok((journal, claim)) => (self.journal, self.claim) = (Some(journal), Some(claim)),
            Err(error) => self.give_up(&error),
        }
    }

    /// Writes down what outcomes depend on.
    pub(super) fn set(&mut self, setting: &AttemptSetting) {
        if let Some(Err(error)) = self.journal.as_ref().map(|journal| journal.set(setting)) {
            self.give_up(&error);
        }
    }

    /// The journal to which changed runs are written.
    pub(super) fn journal(&self) -> Option<&AttemptJournal> {
        self.journal.as_ref()
    }

    /// Writes down how the work has ended.
    pub(super) fn conclude(&self, found: &Located) {
        let Some(folder) = self.folder.as_ref().filter(|_| self.journal.is_some()) else { return };
        let on_tests = found.on_tests.iter().enumerate();
        let end = LocatedEnd {
            status: found.status,
            containment: found.containment.clone(),
            right: found.counts().1,
            runs: found.runs,
            elapsed: found.elapsed,
            values: found.values.clone(),
            on_tests: on_tests.filter_map(|(change, with)| Some((change, (*with)?))).collect(),
        };
        if let Err(error) = folder.conclude_located(&end) {
            self.warn(&format!("{error}: its result is not kept"));
        }
    }

    /// The word by which commands name the run, if it is kept.
    pub(super) fn name(&self) -> Option<String> {
        self.folder.as_ref().filter(|_| self.journal.is_some()).map(RunFolder::name)
    }

    fn give_up(&mut self, error: &ArchiveError) {
        self.warn(&format!("{error}: this run is not kept"));
        (self.folder, self.journal) = (None, None);
    }

    fn warn(&self, message: &str) {
        self.listener.tell(&format!("stripe: warning: {message}"));
    }
}

impl Drop for LocateKeeping<'_> {
    /// Nothing is left of a run that was not recorded.
    fn drop(&mut self) {
        if let Some(folder) = &self.folder {
            folder.discard();
        }
    }
}

fn kept_run(
    request: &LocateRequest,
    failing: &FailingRun<'_>,
    identity: Identity,
    method: RunMethod,
) -> KeptRun {
    let FailingRun { target, suite, baseline, values, timeout } = failing;
    let endless = (request.ending == Ending::Never).then(String::new);
    let (criterion, described) = match &suite.correct {
        Correct::Output(correct, _) => {
            let reference = Some(correct.clone());
            (
                Criterion { reference, endless, ..Criterion::default() },
                "locate: the correct output".to_owned(),
            )
        }
        Correct::Check(check) => {
            let described = format!("locate: `{}` says what is right", check.command());
            (Criterion { check: Some(check.clone()), endless, ..Criterion::default() }, described)
        }
    };
    let images = &target.program.images()[1..];
    let LocateEffort { max_tests, max_time, jobs } = request.effort;
    KeptRun {
        started: SystemTime::now(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        line: request.line.clone(),
        command: target.command.clone(),
        invocation: target.invocation.clone(),
        timeout: *timeout,
        scope: request.scope.clone(),
        libraries: images.iter().map(|image| image.path.clone()).collect(),
        granularity: target.granularity,
        identity,
        surroundings: Surroundings::of(&baseline.recording.run),
        criterion,
        described,
        criteria: Vec::new(),
        wrong: Vec::new(),
        search: KeptSearch {
            control: Control::Both,
            algorithm: Algorithm::Sweep,
            max_tests,
            max_time,
            jobs,
            preference: Preference::Auto,
        },
        locate: Some(KeptLocate {
            spacing: request.spacing,
            values: *values,
            studied: suite.studied.clone(),
            tests: request.tests.clone(),
        }),
        method,
        run: baseline.recording.run.clone(),
        events: baseline.recording.trace.len(),
        endless: baseline.recording.trace.endless().cloned(),
        poisoned: baseline.patterns.len() > 1,
        untouched: Untouched::clone(&baseline.untouched),
        warnings: baseline.warnings.clone(),
    }
}
