//! Take a located fault up again: report what was found, or go on.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::Path;
use std::time::Instant;

use tracer::Processors;
use tracer::invocation::Limits;
use tracer::run::Run;

use super::error::{Cause, SessionError};
use super::interrupt::Interrupt;
use super::keeping::archive;
use super::listener::Listener;
use super::locate_keeping::LocateKeeping;
use super::locate_suite::suite;
use super::locate_work::{FailingRun, LocateWork, fingerprint, free_limits, warnings};
use super::located::{LocateEffort, LocateRequest, Located};
use super::reopened::{RecordedRun, recorded_run};
use super::request::Keep;
use crate::archive::{ArchiveError, AttemptContent, AttemptSetting, KeptLocate, KeptRun, RunFolder};
use crate::baseline::{Baseline, Ending};
use crate::circumstances::Status;
use crate::locate::{Correct, Effect, Experiments, ORDER, Trials, ValueChoice, candidates, ranking};
use crate::printed::Edit;
use crate::subject::{Recorded, Target};

/// A kept run of `stripe locate`.
pub struct KeptLocated {
    /// The folder of the kept run.
    pub folder: RunFolder,
    /// The kept settings and results of the run, without the trace.
    pub run: KeptRun,
    /// The program.
    pub target: Target,
    baseline: Baseline,
}

impl KeptLocated {
    /// The run that the user names, if `stripe locate` has made it.
    ///
    /// # Errors
    /// If there is no such run, or it cannot be read.
    pub fn open(name: Option<&Path>, interrupt: &Interrupt) -> Result<Option<KeptLocated>, SessionError> {
        let folder = archive().find(name)?;
        if folder.is_located() { KeptLocated::of(folder, interrupt).map(Some) } else { Ok(None) }
    }

    /// Reads the run in a folder that `stripe locate` has made.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn of(folder: RunFolder, interrupt: &Interrupt) -> Result<KeptLocated, SessionError> {
        let RecordedRun { run, target, baseline } = recorded_run(&folder, None, interrupt)?;
        Ok(KeptLocated { folder, run, target, baseline })
    }

    /// Refuses to run the program elsewhere: it might do something else than was recorded.
    ///
    /// # Errors
    /// If the processor or the libraries are others.
    pub fn require_same_surroundings(&self) -> Result<(), SessionError> {
        match self.run.surroundings.difference() {
            None => Ok(()),
            Some(how) => Err(SessionError::new(
                Cause::Failed,
                format!(
                    "run {}: {how}, so that the program may take another way than was recorded; go on where it was \
                     begun, or run the command again",
                    self.folder.name()
                ),
            )),
        }
    }

    /// The recorded run.
    pub fn recorded(&self) -> Recorded<'_> {
        Recorded { program: &self.target.program, trace: &self.baseline.recording.trace }
    }

    /// The limits of a run with a change.
    pub fn limits(&self) -> Limits {
        free_limits(&self.baseline, self.run.timeout)
    }

    /// Judges a run with changes as `stripe locate` does.
    ///
    /// # Errors
    /// If nothing says what would be right, or the check gives no verdict.
    pub fn judge(&self, run: &Run) -> Result<Effect, SessionError> {
        let correct = correct_of(&self.run)?;
        let nothing = || SessionError::new(Cause::Failed, "nothing is kept that says what would be right");
        let correct = correct.ok_or_else(nothing)?;
        Ok(Trials::new(&correct, &self.baseline.recording.run).judge(run)?)
    }

    /// Reads the result found so far, without running the program.
    ///
    /// # Errors
    /// If what is kept is not what was written, or nothing is.
    pub fn report(self) -> Result<(Target, Located), SessionError> {
        let AttemptContent { setting, attempts, elapsed, .. } = self.folder.attempts_made()?;
        let end = self.folder.located_end()?;
        let KeptLocated { folder, run, target, baseline } = self;
        let recorded = Recorded { program: &target.program, trace: &baseline.recording.trace };
        let values = run.locate.as_ref().map_or(ValueChoice::None, |asked| asked.values);
        let candidates = candidates(recorded, values);
        let setting = setting.ok_or_else(|| ArchiveError::Empty(folder.path().to_path_buf()))?;
        same_changes(&folder, setting.changes, fingerprint(&candidates))?;
        let (mut effects, mut printed) = (vec![None; candidates.len()], HashMap::new());
        let mut outputs = HashSet::new();
        for (key, seen) in attempts.iter().filter(|(key, _)| key.run == 0 && key.change < candidates.len()) {
            effects[key.change] = Some(seen.effect);
            outputs.insert(seen.output);
            printed.extend(seen.printed.clone().map(|printed| (key.change, printed)));
        }
        let mut on_tests = vec![None; candidates.len()];
        for &(change, with) in end.iter().flat_map(|end| &end.on_tests) {
            on_tests[change.min(candidates.len() - 1)] = Some(with);
        }
        let known = Experiments {
            candidates: &candidates,
            effects: &effects,
            first_wrong: setting.first_wrong,
            on_tests: &on_tests,
            tests: &setting.tests,
        };
        let ranking = ranking(recorded, &known, &ORDER);
        let original = &baseline.recording.run;
        let text = |edit: &Edit, of: &[u8]| edit.text(of).map_or_else(Vec::new, |text| text.kept);
        let unchanged = Run {
            stdout: text(&setting.unchanged.stdout, &original.stdout).into(),
            stderr: text(&setting.unchanged.stderr, &original.stderr).into(),
            ..original.clone()
        };
        let located = Located {
            status: end.as_ref().map_or(Status::Interrupted, |end| end.status),
            warnings: warnings(&setting, &baseline, end.as_ref().map(|end| end.status)),
            values: end.as_ref().map_or_else(BTreeMap::new, |end| end.values.clone()),
            runs: end.as_ref().map_or(attempts.len() as u64, |end| end.runs),
            elapsed: end.as_ref().map_or(elapsed, |end| end.elapsed),
            containment: end.map_or_else(|| run.method.containment.clone(), |end| end.containment),
            studied: run.locate.and_then(|asked| asked.studied),
            kept_as: Some(folder.name()),
            tests: setting.tests,
            outputs: outputs.len(),
            candidates,
            effects,
            printed,
            unchanged,
            on_tests,
            ranking,
            baseline,
        };
        Ok((target, located))
    }

    /// Goes on with what was not tried yet.
    ///
    /// # Errors
    /// If the program does something else than when the work was begun, another process is at work on it, or the
    /// set-up is broken.
    pub fn go_on(
        self,
        effort: LocateEffort,
        interrupt: &Interrupt,
        listener: &dyn Listener,
    ) -> Result<(Target, Located), SessionError> {
        let started = Instant::now();
        let processors = Processors::available();
        processors.bind(0);
        let KeptLocated { folder, run, target, baseline } = self;
        let claim = folder.claim()?;
        let mut request = request_of(&run, target, effort)?;
        let mut suite = suite(&mut request, interrupt, listener)?;
        suite.studied = run.locate.as_ref().and_then(|asked| asked.studied.clone());
        let (values, timeout) = (request.values, run.timeout);
        let failing = FailingRun { target: &request.target, suite, baseline, values, timeout };
        let work = LocateWork::prepare(failing, effort, &processors, (interrupt, listener))?;
        let (journal, known) = folder.resume_attempts()?;
        folder.reopen_located()?;
        let setting = work.setting();
        match &known.setting {
            None => journal.set(&setting)?,
            Some(before) => same_setting(&folder, before, &setting)?,
        }
        listener.tell(&format!(
            "stripe: going on with run {} after {} changes",
            folder.name(),
            known.attempts.len()
        ));
        let name = folder.name();
        let keeping = LocateKeeping::of(folder, journal, claim, listener);
        let found = work.make(&known, keeping.journal(), started)?;
        keeping.conclude(&found);
        drop(keeping);
        Ok((request.target, Located { kept_as: Some(name), ..found }))
    }
}

/// The request with which the work was begun.
fn request_of(run: &KeptRun, target: Target, effort: LocateEffort) -> Result<LocateRequest, SessionError> {
    let asked = asked_of(run)?;
    Ok(LocateRequest {
        correct: correct_of(run)?,
        tests: asked.tests.clone(),
        spacing: asked.spacing,
        values: asked.values,
        ending: if run.endless.is_some() { Ending::Never } else { Ending::Itself },
        effort,
        timeout: run.timeout,
        keep: Keep::Nowhere,
        line: run.line.clone(),
        scope: run.scope.clone(),
        target,
    })
}

fn asked_of(run: &KeptRun) -> Result<&KeptLocate, SessionError> {
    let asked = run.locate.as_ref();
    asked.ok_or_else(|| SessionError::new(Cause::Failed, "the run is none of `stripe locate`"))
}

/// What says which output would be right.
fn correct_of(run: &KeptRun) -> Result<Option<Correct>, SessionError> {
    let spacing = asked_of(run)?.spacing;
    let output = run.criterion.reference.clone().map(|correct| Correct::Output(correct, spacing));
    Ok(output.or_else(|| run.criterion.check.clone().map(Correct::Check)))
}

fn same_changes(folder: &RunFolder, before: u64, now: u64) -> Result<(), SessionError> {
    match before == now {
        true => Ok(()),
        false => Err(SessionError::new(
            Cause::Failed,
            format!(
                "run {}: this stripe would try other changes than the one that has made it: use that stripe, or run \
                 the command again",
                folder.name()
            ),
        )),
    }
}

/// Checks that the setting of the attempts has not changed: earlier effects of changes count only then.
fn same_setting(
    folder: &RunFolder,
    before: &AttemptSetting,
    now: &AttemptSetting,
) -> Result<(), SessionError> {
    same_changes(folder, before.changes, now.changes)?;
    match (&before.unchanged, before.first_wrong, &before.tests)
        == (&now.unchanged, now.first_wrong, &now.tests)
    {
        true => Ok(()),
        false => Err(SessionError::new(
            Cause::Flaky,
            format!(
                "run {}: the program or its tests do something else than when the work was begun: run the command again",
                folder.name()
            ),
        )),
    }
}
