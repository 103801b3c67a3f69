//! `stripe study check`: is every fault what the manifest says?

use std::fmt::Write;
use std::sync::Mutex;

use study::documents::WorkDocument;
use study::doubts::doubts;
use study::evaluation::spectra_of;
use study::manifest::{StudyFault, StudyTest};
use study::technique::Work;

use super::super::exit::{Exit, Failure};
use super::options::StudyCheckOptions;
use super::run::read;
use super::runner::{StudyRunner, side_by_side};
use crate::session::interrupt::Interrupt;

/// The result of checking a fault.
struct Checked {
    passing: usize,
    failing: usize,
    lines: usize,
    /// The doubts, which are to be mended; each one sentence.
    doubts: Vec<String>,
}

/// Builds each fault, runs its tests twice, and prints a table with remedies.
pub(super) fn check(options: &StudyCheckOptions) -> Result<Exit, Failure> {
    let (path, manifest) = read(&options.manifest)?;
    let interrupt = Interrupt::default();
    interrupt.listen()?;
    let runner = StudyRunner::new(&path, &interrupt);
    let checked = Mutex::new(Vec::new());
    side_by_side(manifest.faults.len(), options.jobs, |number| {
        if !interrupt.is_asked() {
            let one = look(&runner, &manifest.faults[number])?;
            checked.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push((number, one));
        }
        Ok::<(), Failure>(())
    })?;
    let mut checked = checked.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    if let Some(signal) = interrupt.signal() {
        return Ok(Exit::Interrupted(signal));
    }
    checked.sort_by_key(|(number, _)| *number);
    let mut text = String::new();
    for (number, one) in &checked {
        text += &row(&manifest.faults[*number], one);
    }
    for mistake in &manifest.mistakes {
        let _ = writeln!(text, "{mistake}");
    }
    let usable = checked.iter().filter(|(_, one)| one.doubts.is_empty()).count();
    let _ = writeln!(
        text,
        "{usable} of {} faults are what the manifest says; {} mistakes in it",
        checked.len(),
        manifest.mistakes.len()
    );
    super::super::print(text.as_bytes())?;
    let is_whole = usable == checked.len() && manifest.mistakes.is_empty();
    Ok(if is_whole { Exit::Done } else { Exit::LeftOut })
}

fn row(fault: &StudyFault, checked: &Checked) -> String {
    let Checked { passing, failing, lines, doubts } = checked;
    let mark = if doubts.is_empty() { "ok" } else { "??" };
    let mut row = format!(
        "{mark}  {:<24} {failing:>4} failing {passing:>4} passing tests, {lines:>5} lines\n",
        fault.name
    );
    for doubt in doubts {
        let _ = writeln!(row, "      {doubt}");
    }
    row
}

fn look(runner: &StudyRunner<'_>, fault: &StudyFault) -> Result<Checked, Failure> {
    let place = tempfile::tempdir()?;
    let folder = place.path().canonicalize()?;
    let refused = |why: String| Checked { passing: 0, failing: 0, lines: 0, doubts: vec![why] };
    let built = match runner.build(fault, &folder, None)? {
        Ok(built) => built,
        Err(why) => return Ok(refused(why)),
    };
    let record = || runner.work(built, Work::SPECTRA, "", &StudyTest::default());
    let (Some(first), Some(second)) = (record()?, record()?) else {
        return Ok(refused("interrupted".into()));
    };
    Ok(compare(fault, &first, &second).unwrap_or_else(refused))
}

/// Compares two recordings of the tests.
fn compare(fault: &StudyFault, first: &WorkDocument, second: &WorkDocument) -> Result<Checked, String> {
    for one in [first, second] {
        if one.status != "complete" {
            return Err(one.why.clone().unwrap_or_else(|| "the tests could not be run".into()));
        }
    }
    let (document, spectra) = spectra_of(first)?;
    let mut doubts = doubts(fault, &document, &spectra);
    if first.document != second.document {
        doubts.push(
            "two runs of the tests differ in what they execute or print: make constant what the program depends on".into(),
        );
    }
    let failing = spectra.failing();
    Ok(Checked { failing, passing: spectra.tests.len() - failing, lines: spectra.lines().len(), doubts })
}
