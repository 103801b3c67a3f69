//! `stripe study verify`: do a random sample of the work again, and compare.

use std::hash::{Hash, Hasher};
use std::path::Path;

use siphasher::sip::SipHasher13;
use study::documents::{ItemDocument, StudyDocument};
use study::evaluation::{Works, described, evaluate};
use study::folder::ResultsFolder;
use study::manifest::{StudyFault, StudyTest};
use study::technique::{Technique, Work};

use super::super::exit::{Exit, Failure};
use super::super::terminal::tell;
use super::options::StudyVerifyOptions;
use super::run::{failing_run, read};
use super::runner::StudyRunner;
use crate::session::interrupt::Interrupt;

/// Makes a sample of results again, and compares them.
pub(super) fn verify(options: &StudyVerifyOptions) -> Result<Exit, Failure> {
    let (folder, study) = ResultsFolder::open(&options.results)?;
    let original = Path::new(&study.folder).join(&study.manifest);
    let (path, manifest) = read(&original)?;
    let interrupt = Interrupt::default();
    interrupt.listen()?;
    let runner = StudyRunner::new(&path, &interrupt);
    let sample = sample(options, &folder, &study)?;
    let (mut same, mut other) = (0, 0);
    for item in &sample {
        let Some(fault) = manifest.faults.iter().find(|fault| fault.name == item.fault) else {
            tell(&format!("{}, {}: the manifest no longer has this fault", item.fault, item.technique));
            other += 1;
            continue;
        };
        let again = again(&runner, fault, item, Path::new(&study.folder))?;
        if let Some(signal) = interrupt.signal() {
            return Ok(Exit::Interrupted(signal));
        }
        match difference(item, &again) {
            None => same += 1,
            Some(difference) => {
                tell(&format!("{}, {}: {difference}", item.fault, item.technique));
                other += 1;
            }
        }
    }
    let text = format!("{} results made again: {same} are the same, {other} are not\n", sample.len());
    super::super::print(text.as_bytes())?;
    Ok(if other == 0 { Exit::Done } else { Exit::Flaky })
}

/// A random sample of results that no budget has ended: in an order that the seed decides, and no more than asked for.
fn sample(
    options: &StudyVerifyOptions,
    folder: &ResultsFolder,
    study: &StudyDocument,
) -> Result<Vec<ItemDocument>, Failure> {
    let mut items = Vec::new();
    for fault in &study.faults {
        for technique in &study.techniques {
            // What a budget of time has ended does not end at the same test again.
            let is_meant = |item: &ItemDocument| item.key == fault.key && item.status != "budget";
            items.extend(folder.item(&fault.name, technique)?.filter(is_meant));
        }
    }
    items.sort_by_cached_key(|item| {
        let mut hasher = SipHasher13::new();
        (options.seed, &item.fault, &item.technique).hash(&mut hasher);
        hasher.finish()
    });
    items.truncate(options.sample);
    Ok(items)
}

fn again(
    runner: &StudyRunner<'_>,
    fault: &StudyFault,
    item: &ItemDocument,
    base: &Path,
) -> Result<ItemDocument, Failure> {
    let place = tempfile::tempdir()?;
    let place = place.path().canonicalize()?;
    let failed =
        |why: String| ItemDocument { status: "failed".into(), why: Some(why), ..ItemDocument::default() };
    let technique = Technique::parse(&item.technique).map_err(|error| Failure::new(Exit::Failed, error))?;
    let key = described(fault, base).key;
    let built = match runner.build(fault, &place, None)? {
        Ok(built) => built,
        Err(why) => return Ok(failed(why)),
    };
    let mut works = Works::new();
    for work in technique.works() {
        let run = match work {
            Work::SPECTRA => Ok(StudyTest::default()),
            _ => failing_run(fault, &works[&Work::SPECTRA]),
        };
        let run = match run {
            Ok(run) => run,
            Err(why) => return Ok(failed(why)),
        };
        match runner.work(built, work, &key, &run)? {
            Some(done) => works.insert(work, done),
            None => return Ok(failed("interrupted".into())),
        };
    }
    Ok(evaluate(fault, &key, &technique, &works))
}

/// The difference of a result from another one, but for what it took.
fn difference(item: &ItemDocument, again: &ItemDocument) -> Option<String> {
    if item.status != again.status {
        let why = again.why.as_ref().map_or_else(String::new, |why| format!(" ({why})"));
        return Some(format!("the status was {}, and is {}{why}", item.status, again.status));
    }
    if item.key != again.key && again.metrics.is_some() {
        return Some("the manifest says something else about the fault".into());
    }
    if item.ranking != again.ranking {
        let pairs = item.ranking.iter().zip(&again.ranking);
        let first =
            pairs.take_while(|(one, other)| one == other).map(|(one, _)| one.lines.len()).sum::<usize>();
        return Some(format!("the rankings differ from place {} on", first + 1));
    }
    (item.metrics != again.metrics).then(|| "the metrics differ".into())
}
