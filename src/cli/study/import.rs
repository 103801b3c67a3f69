//! `stripe study import`: take in what other tools have found, to be compared in the same tables.

use std::fs;
use std::path::{Path, PathBuf};

use study::documents::{FaultDocument, StudyDocument};
use study::evaluation::{ImportedRanking, imported, spectra_of};
use study::exchange::GzoltarFiles;
use study::folder::ResultsFolder;
use study::foreign::{FormatMistake, LineNames};
use study::formula::Formula;
use study::ranking::LineRanking;
use study::spectra::{CoverageUnit, Spectra};
use study::technique::{SingleTechnique, Technique, Work};

use super::super::exit::{Exit, Failure};
use super::super::terminal::tell;
use super::options::{ImportFormat, StudyImportOptions};

/// The results found for a fault: the names of the files, and the rankings that they contain.
struct Found {
    files: Vec<PathBuf>,
    rankings: Vec<(String, LineRanking)>,
}

/// Takes in what there is, fault by fault.
pub(super) fn import(options: &StudyImportOptions) -> Result<Exit, Failure> {
    let (folder, mut study) = ResultsFolder::open(&options.results)?;
    let formulas = formulas(&study);
    let mut names: Vec<String> = Vec::new();
    let (mut taken, mut left_out) = (0, 0);
    for fault in &study.faults {
        match of_fault(options, &folder, fault, &study, &formulas)? {
            Ok(techniques) => {
                taken += 1;
                names.extend(techniques);
            }
            Err(why) => {
                left_out += 1;
                tell(&format!("left out: {}: {why}", fault.name));
            }
        }
    }
    names.sort();
    names.dedup();
    let told = format!("taken in: {taken} faults as {}", names.join(", "));
    names.retain(|name| !study.imported.contains(name));
    study.imported.extend(names);
    folder.keep_imports(&study)?;
    tell(&told);
    Ok(if left_out == 0 { Exit::Done } else { Exit::LeftOut })
}

/// The formulas of the study; all if it has none.
fn formulas(study: &StudyDocument) -> Vec<Formula> {
    let parts = study.techniques.iter().filter_map(|name| Technique::parse(name).ok());
    let mut formulas: Vec<Formula> = parts
        .flat_map(|technique| technique.parts)
        .filter_map(|part| match part.technique {
            SingleTechnique::Spectrum(formula, _) => Some(formula),
            _ => None,
        })
        .collect();
    formulas.sort();
    formulas.dedup();
    if formulas.is_empty() { Formula::ALL.to_vec() } else { formulas }
}

/// The techniques that are there for a fault now, or why there are none.
fn of_fault(
    options: &StudyImportOptions,
    folder: &ResultsFolder,
    fault: &FaultDocument,
    study: &StudyDocument,
    formulas: &[Formula],
) -> Result<Result<Vec<String>, String>, Failure> {
    let works = folder.work(&fault.name, Work::SPECTRA)?.filter(|work| work.key == fault.key);
    let own = works.filter(|work| work.status == "complete").map(|work| spectra_of(&work));
    let Some(Ok((document, spectra))) = own else {
        return Ok(Err("its tests were not run, or could not be: run the study first".into()));
    };
    let items = study.techniques.iter().map(|technique| folder.item(&fault.name, technique));
    let items = items.collect::<Result<Vec<_>, _>>()?;
    let Some(metrics) = items.into_iter().flatten().find_map(|item| item.metrics) else {
        return Ok(Err("it has no result yet that tells its faulty lines: run the study first".into()));
    };
    let (lines, by_line) = (spectra.lines(), spectra.by_line());
    let executed = by_line.tests[document.failing_run].executed.iter();
    let executed: Vec<_> = executed.map(|&one| by_line.statements[one].line.clone()).collect();
    let found = match found(options, &fault.name, &LineNames::new(&lines), formulas) {
        Ok(found) => found,
        Err(why) => return Ok(Err(why)),
    };
    let place = format!("imported/{}/{}", options.name, fault.name);
    let mut behind = Vec::new();
    for file in &found.files {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        folder.keep_copy(&format!("{place}/{name}"), file)?;
        behind.push(format!("../../{place}/{name}"));
    }
    for (technique, ranking) in &found.rankings {
        let ranking = ranking.clone().followed_by(&[&executed, &lines]);
        let about = ImportedRanking { fault, technique, behind: &behind, faulty: &metrics.faulty };
        folder.keep_item(&imported(about, &ranking, executed.len()))?;
    }
    Ok(Ok(found.rankings.into_iter().map(|(technique, _)| technique).collect()))
}

fn found(
    options: &StudyImportOptions,
    fault: &str,
    names: &LineNames<'_>,
    formulas: &[Formula],
) -> Result<Found, String> {
    let (from, name) = (&options.from, &options.name);
    let ranked = |spectra: &Spectra| {
        let ranked = |formula: &Formula| {
            (format!("{}@{name}", formula.name()), spectra.rank(*formula, CoverageUnit::Line))
        };
        formulas.iter().map(ranked).collect()
    };
    match options.format {
        ImportFormat::Gzoltar => {
            let files = ["spectra.csv", "tests.csv", "matrix.txt"].map(|file| from.join(fault).join(file));
            let [spectra, tests, matrix] = files.clone().map(|file| text(&file));
            let read = GzoltarFiles { spectra: spectra?, tests: tests?, matrix: matrix? };
            let spectra = names.gzoltar(&read).map_err(|mistake| told(&from.join(fault), &mistake))?;
            Ok(Found { files: files.into(), rankings: ranked(&spectra) })
        }
        ImportFormat::Tcm => {
            let file = from.join(format!("{fault}.tcm"));
            let spectra = names.tcm(&text(&file)?).map_err(|mistake| told(&file, &mistake))?;
            Ok(Found { files: vec![file], rankings: ranked(&spectra) })
        }
        ImportFormat::Ranking => rankings(from, fault, name, names),
    }
}

/// One file for the fault, or a folder with several, each of which is a technique.
fn rankings(from: &Path, fault: &str, name: &str, names: &LineNames<'_>) -> Result<Found, String> {
    const ENDINGS: [&str; 3] = [".ranking.csv", ".csv", ".ranking"];
    let stem = |file: &Path| {
        let file = file.file_name()?.to_str()?;
        ENDINGS.iter().find_map(|ending| file.strip_suffix(ending)).map(str::to_owned)
    };
    let folder = from.join(fault);
    let mut files: Vec<(PathBuf, String)> = match fs::read_dir(&folder) {
        Ok(entries) => {
            let paths = entries.filter_map(Result::ok).map(|entry| entry.path());
            paths.filter_map(|file| Some((file.clone(), format!("{}@{name}", stem(&file)?)))).collect()
        }
        Err(_) => {
            let files = ENDINGS.map(|ending| from.join(format!("{fault}{ending}")));
            files.into_iter().filter(|file| file.is_file()).map(|file| (file, name.to_owned())).collect()
        }
    };
    files.sort();
    if files.is_empty() {
        return Err(format!(
            "there is neither {}.csv nor .ranking, nor a folder with such files",
            folder.display()
        ));
    }
    let read = |(file, technique): &(PathBuf, String)| {
        let ranking = names.ranking(&text(file)?).map_err(|mistake| told(file, &mistake))?;
        Ok::<_, String>((technique.clone(), ranking))
    };
    let rankings = files.iter().map(read).collect::<Result<_, _>>()?;
    Ok(Found { files: files.into_iter().map(|(file, _)| file).collect(), rankings })
}

fn text(file: &Path) -> Result<String, String> {
    fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))
}

fn told(place: &Path, mistake: &FormatMistake) -> String {
    let file = if mistake.file.is_empty() { place.to_owned() } else { place.join(mistake.file) };
    format!("{}:{}: {}: correct it, or take another --format", file.display(), mistake.line, mistake.what)
}
