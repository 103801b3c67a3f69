//! `stripe study run`: do the work that is missing, fault by fault, and keep each result as soon as it is there.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;

use study::documents::{FaultDocument, ITEM, ItemDocument, STUDY, StudyDocument, WORK, WorkDocument};
use study::evaluation::{Works, described, evaluate, spectra_of};
use study::folder::{FaultClaim, ResultsFolder};
use study::manifest::{StudyFault, StudyManifest, StudyTest};
use study::technique::{Technique, Work};

use super::super::exit::{Exit, Failure};
use super::super::terminal::tell;
use super::options::StudyRunOptions;
use super::runner::{StudyRunner, machine, side_by_side};
use super::words::BuiltFault;
use crate::session::interrupt::Interrupt;

/// The waiting time before a fault is tried again on which another process works.
const PATIENCE: Duration = Duration::from_millis(200);

/// The tally of the results that were asked for.
#[derive(Clone, Copy, Default)]
struct Tally {
    made: usize,
    there: usize,
    failed: usize,
}

/// The conductor of a study: everything that is needed to work on a fault.
struct Conductor<'c> {
    runner: StudyRunner<'c>,
    folder: ResultsFolder,
    techniques: Vec<Technique>,
    retry: bool,
    quiet: bool,
}

/// Runs all work whose results are missing.
pub(super) fn run(options: &StudyRunOptions) -> Result<Exit, Failure> {
    let (path, manifest) = read(&options.manifest)?;
    let techniques = techniques(options, &manifest)?;
    let folder = ResultsFolder::at(&options.out)?;
    let base = path.parent().unwrap_or(Path::new("/")).to_owned();
    keep_study(&folder, &path, &base, &manifest, &techniques, options.techniques.is_some())?;
    manifest.mistakes.iter().for_each(|mistake| tell(&mistake.to_string()));
    let faults = chosen(options, &manifest)?;
    let interrupt = Interrupt::default();
    interrupt.listen()?;
    let runner = StudyRunner::new(&path, &interrupt);
    let conductor = Conductor { runner, folder, techniques, retry: options.retry, quiet: options.quiet };
    let total = Mutex::new(Tally::default());
    side_by_side(faults.len(), options.jobs, |number| {
        if interrupt.is_asked() {
            return Ok(());
        }
        let fault = faults[number];
        let tally = conductor.results(fault, &described(fault, &base))?;
        let mut total = total.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        total.made += tally.made;
        total.there += tally.there;
        total.failed += tally.failed;
        Ok::<(), Failure>(())
    })?;
    let total = total.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    Ok(ended(&conductor, &manifest, total, interrupt.signal()))
}

fn ended(conductor: &Conductor<'_>, manifest: &StudyManifest, total: Tally, signal: Option<i32>) -> Exit {
    let Tally { made, there, failed } = total;
    if !conductor.quiet {
        let mistakes = manifest.mistakes.len();
        tell(&format!(
            "{made} results made, {there} were there, {failed} failed; {mistakes} mistakes in the manifest"
        ));
    }
    match signal {
        Some(signal) => Exit::Interrupted(signal),
        None if failed > 0 || !manifest.mistakes.is_empty() => Exit::LeftOut,
        None => Exit::Done,
    }
}

/// Reads the manifest, and returns its path without symbolic links in the folder.
pub(super) fn read(path: &Path) -> Result<(PathBuf, StudyManifest), Failure> {
    let refusal = |error: std::io::Error| {
        Failure::new(Exit::Usage, format!("{}: {error}; name a manifest that can be read", path.display()))
    };
    let manifest = StudyManifest::read(path).map_err(refusal)?;
    // The folder without links, the file under its own name: its ending tells the format.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = folder.canonicalize().map_err(refusal)?;
    Ok((folder.join(path.file_name().unwrap_or_default()), manifest))
}

fn techniques(options: &StudyRunOptions, manifest: &StudyManifest) -> Result<Vec<Technique>, Failure> {
    let Some(list) = &options.techniques else { return Ok(manifest.techniques.clone()) };
    let techniques = list.split(',').map(Technique::parse).collect::<Result<_, _>>();
    techniques.map_err(|error| Failure::new(Exit::Usage, format!("--techniques: {error}")))
}

fn chosen<'m>(
    options: &StudyRunOptions,
    manifest: &'m StudyManifest,
) -> Result<Vec<&'m StudyFault>, Failure> {
    for name in &options.fault {
        if !manifest.faults.iter().any(|fault| fault.name == *name) {
            let message = format!(
                "--fault {name}: there is no such fault; name one of the manifest that has no mistake"
            );
            return Err(Failure::new(Exit::Usage, message));
        }
    }
    let in_shard = |number: usize| options.shard.is_none_or(|shard| shard.has(number));
    let numbered = manifest.faults.iter().enumerate().filter(|(number, _)| in_shard(*number));
    let faults = numbered.map(|(_, fault)| fault);
    Ok(faults.filter(|fault| options.fault.is_empty() || options.fault.contains(&fault.name)).collect())
}

/// Records the study. Techniques that were asked for on the command line come on top of those that it has.
fn keep_study(
    folder: &ResultsFolder,
    path: &Path,
    base: &Path,
    manifest: &StudyManifest,
    techniques: &[Technique],
    is_further: bool,
) -> Result<(), Failure> {
    let mut names: Vec<String> = techniques.iter().map(Technique::to_string).collect();
    let known = folder.study()?.unwrap_or_default();
    if is_further {
        let further: Vec<String> = names.drain(..).filter(|name| !known.techniques.contains(name)).collect();
        names = [known.techniques, further].concat();
    }
    let study = StudyDocument {
        schema: STUDY.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        manifest: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        folder: base.to_string_lossy().into_owned(),
        techniques: names,
        imported: known.imported,
        faults: manifest.faults.iter().map(|fault| described(fault, base)).collect(),
        left_out: manifest.mistakes.iter().map(ToString::to_string).collect(),
        compiler: compiler(),
        machine: if known.machine.is_empty() { machine() } else { known.machine },
    };
    if folder.study()?.as_ref() != Some(&study) {
        folder.keep_study(&study, &manifest.text)?;
    }
    Ok(())
}

fn compiler() -> String {
    let output = Command::new("cc").arg("--version").output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    text.lines().next().unwrap_or_default().to_owned()
}

impl Conductor<'_> {
    /// Makes the results that a fault lacks.
    fn results(&self, fault: &StudyFault, described: &FaultDocument) -> Result<Tally, Failure> {
        if self.missing(described)?.is_empty() {
            return self.tally(described, 0);
        }
        let claim = loop {
            match self.folder.claim(&fault.name)? {
                Some(claim) => break claim,
                None if self.runner.interrupt.is_asked() => return Ok(Tally::default()),
                None => thread::sleep(PATIENCE),
            }
        };
        // The process that had the fault before may have made them.
        let missing = self.missing(described)?;
        if missing.is_empty() {
            return self.tally(described, 0);
        }
        let Some(works) = self.works(fault, described, &missing, &claim)? else {
            return Ok(Tally::default());
        };
        for technique in &missing {
            self.folder.keep_item(&evaluate(fault, &described.key, technique, &works))?;
        }
        drop(claim);
        let tally = self.tally(described, missing.len())?;
        if !self.quiet {
            let failed = if tally.failed > 0 { format!(", {} failed", tally.failed) } else { String::new() };
            tell(&format!("{}: {} results{failed}", fault.name, missing.len()));
        }
        Ok(tally)
    }

    /// The techniques that are for a fault.
    fn asked<'f>(&'f self, fault: &'f FaultDocument) -> impl Iterator<Item = &'f Technique> {
        self.techniques.iter().filter(|technique| fault.asks(&technique.to_string()))
    }

    /// The techniques without a result.
    fn missing(&self, fault: &FaultDocument) -> Result<Vec<Technique>, Failure> {
        let mut missing = Vec::new();
        for technique in self.asked(fault) {
            let item = self.folder.item(&fault.name, &technique.to_string())?;
            let is_there = item.is_some_and(|item| {
                item.schema == ITEM && item.key == fault.key && !(self.retry && item.status == "failed")
            });
            if !is_there {
                missing.push(technique.clone());
            }
        }
        Ok(missing)
    }

    fn tally(&self, fault: &FaultDocument, made: usize) -> Result<Tally, Failure> {
        let mut tally = Tally { made, there: self.asked(fault).count() - made, failed: 0 };
        for technique in self.asked(fault) {
            let item: Option<ItemDocument> = self.folder.item(&fault.name, &technique.to_string())?;
            tally.failed += usize::from(item.is_none_or(|item| item.status == "failed"));
        }
        Ok(tally)
    }

    /// Does all the work that techniques need, unless it was done before. `None` if the user has ended it.
    fn works(
        &self,
        fault: &StudyFault,
        described: &FaultDocument,
        techniques: &[Technique],
        claim: &FaultClaim,
    ) -> Result<Option<Works>, Failure> {
        let mut wanted: Vec<Work> = techniques.iter().flat_map(Technique::works).collect();
        wanted.sort();
        wanted.dedup();
        let mut works = Works::new();
        for &work in &wanted {
            let known = self.folder.work(&fault.name, work)?;
            let is_valid = |known: &WorkDocument| {
                known.schema == WORK
                    && known.key == described.key
                    && !(self.retry && known.status == "failed")
            };
            works.extend(known.filter(is_valid).map(|known| (work, known)));
        }
        if wanted.iter().all(|work| works.contains_key(work)) {
            return Ok(Some(works));
        }
        let place = self.folder.build(&fault.name)?;
        let built = self.runner.build(fault, &place, Some(claim))?;
        if self.runner.interrupt.is_asked() {
            return Ok(None);
        }
        // In this order: the tests determine the failing run that the other work is about.
        for work in wanted.into_iter().filter(|work| !works.contains_key(work)).collect::<Vec<_>>() {
            let done = match &built {
                Err(why) => failed(fault, work, &described.key, why.clone()),
                Ok(built) => match self.work(*built, work, &described.key, &works)? {
                    Some(done) => done,
                    None => return Ok(None),
                },
            };
            self.folder.keep_work(work, &done)?;
            works.insert(work, done);
        }
        Ok(Some(works))
    }

    fn work(
        &self,
        built: BuiltFault<'_>,
        work: Work,
        key: &str,
        works: &Works,
    ) -> Result<Option<WorkDocument>, Failure> {
        match work {
            Work::SPECTRA => self.runner.work(built, work, key, &StudyTest::default()),
            _ => match failing_run(built.fault, &works[&Work::SPECTRA]) {
                Ok(run) => self.runner.work(built, work, key, &run),
                Err(why) => Ok(Some(failed(built.fault, work, key, why))),
            },
        }
    }
}

/// The failing run that the other work is about.
pub(super) fn failing_run(fault: &StudyFault, spectra: &WorkDocument) -> Result<StudyTest, String> {
    if spectra.status != "complete" {
        return Err(spectra.why.clone().unwrap_or_else(|| "the tests could not be run".into()));
    }
    let (document, _) = spectra_of(spectra)?;
    let test = &document.tests[document.failing_run];
    let reference = fault.run.as_ref().and_then(|run| run.reference.clone());
    Ok(StudyTest {
        name: test.name.clone(),
        arguments: test.arguments.clone(),
        input: test.input.clone().map(PathBuf::from),
        reference: test.reference.clone().map(PathBuf::from).or(reference),
        passes: Some(false),
    })
}

fn failed(fault: &StudyFault, work: Work, key: &str, why: String) -> WorkDocument {
    WorkDocument {
        schema: WORK.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        fault: fault.name.clone(),
        work: work.name(),
        key: key.into(),
        status: "failed".into(),
        why: Some(why),
        ..WorkDocument::default()
    }
}
