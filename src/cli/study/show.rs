//! `stripe study status`, `table`, `report` and `export`: show what is there. None of them runs a program.

use std::fmt::Write;
use std::fs;
use std::path::{Component, Path};

use study::documents::ItemDocument;
use study::evaluation::spectra_of;
use study::exchange::{gzoltar, tcm};
use study::folder::ResultsFolder;
use study::metrics::TieRule;
use study::observations::Observation;
use study::page::page;
use study::plots::plots;
use study::results::StudyResults;
use study::source_line::SourceLine;
use study::spectra::Spectra;
use study::tables::{TextTable, left_out, pairs, techniques};
use study::technique::Work;

use super::super::exit::{Exit, Failure};
use super::super::files::{self, Overwriting, Readers};
use super::super::terminal::tell;
use super::options::{
    ExportFormat, StudyExportOptions, StudyFolderOptions, StudyReportOptions, StudyTableOptions, TableFormat,
    TieChoice,
};

/// The study of a folder, with all its results.
fn results(path: &Path) -> Result<(ResultsFolder, StudyResults), Failure> {
    let (folder, study) = ResultsFolder::open(path)?;
    let results = StudyResults::read(&folder, study)?;
    Ok((folder, results))
}

/// The exit of the command, by what is missing, which is printed.
fn ended(results: &StudyResults) -> Exit {
    let missing = left_out(results);
    if missing.is_empty() { Exit::Done } else { Exit::LeftOut }
}

/// Prints the status of the study.
pub(super) fn status(options: &StudyFolderOptions) -> Result<Exit, Failure> {
    let (folder, results) = results(&options.results)?;
    let study = &results.study;
    let mut text = String::new();
    let width = study.techniques.iter().map(String::len).max().unwrap_or(0).max(24);
    for technique in &study.techniques {
        let (mut done, mut cut, mut failed) = (0, 0, 0);
        for item in results.of(technique) {
            match (&item.metrics, item.status.as_str()) {
                (None, _) => failed += 1,
                (Some(_), "complete") => done += 1,
                (Some(_), _) => cut += 1,
            }
        }
        let asked = study.faults.iter().filter(|fault| fault.asks(technique)).count();
        let pending = asked - done - cut - failed;
        let _ = writeln!(
            text,
            "{technique:<width$} {done:>5} done {cut:>4} cut {failed:>4} failed {pending:>5} to do"
        );
    }
    let mut working = Vec::new();
    for fault in &study.faults {
        let is_worked_on = folder.path().join("locks").join(&fault.name).exists();
        if is_worked_on && folder.claim(&fault.name)?.is_none() {
            working.push(fault.name.as_str());
        }
    }
    if !working.is_empty() {
        let _ = writeln!(text, "worked on now: {}", working.join(", "));
    }
    let all = results.items.len() + results.pending;
    let _ = writeln!(
        text,
        "{} of {all} results of {} faults are there; {} mistakes in the manifest",
        results.items.len(),
        study.faults.len(),
        study.left_out.len()
    );
    super::super::print(text.as_bytes())?;
    Ok(ended(&results))
}

fn rule(choice: TieChoice) -> TieRule {
    match choice {
        TieChoice::Best => TieRule::Best,
        TieChoice::Average => TieRule::Average,
        TieChoice::Worst => TieRule::Worst,
    }
}

/// Prints tables.
pub(super) fn table(options: &StudyTableOptions) -> Result<Exit, Failure> {
    let (folder, results) = results(&options.results)?;
    let rows = |of: Observation| super::super::print_by(|stdout| of.write(&folder, &results, stdout));
    match options.format {
        TableFormat::Csv => rows(Observation::Result),
        TableFormat::LinesCsv => rows(Observation::Line),
        TableFormat::EventsCsv => rows(Observation::Event),
        TableFormat::Markdown | TableFormat::Latex => {
            super::super::print(texts(&results, options).as_bytes())
        }
    }?;
    left_out(&results).iter().for_each(|one| tell(&format!("left out: {one}")));
    Ok(ended(&results))
}

fn texts(results: &StudyResults, options: &StudyTableOptions) -> String {
    let rule = rule(options.ties);
    let mut tables = Vec::from(techniques(&results.summaries(rule, None), rule, ""));
    for group in results.groups().into_iter().filter(|_| options.groups) {
        let of_group = techniques(&results.summaries(rule, Some(group)), rule, &format!(", {group}"));
        let labelled = |table: TextTable| TextTable { label: format!("{}-{group}", table.label), ..table };
        tables.extend(of_group.map(labelled));
    }
    tables.push(pairs(&results.comparisons(rule)));
    let is_latex = options.format == TableFormat::Latex;
    let texts: Vec<String> =
        tables.iter().map(|table| if is_latex { table.latex() } else { table.markdown() }).collect();
    texts.join("\n")
}

/// Writes a page, or plots.
pub(super) fn report(options: &StudyReportOptions) -> Result<Exit, Failure> {
    let (folder, results) = results(&options.results)?;
    let rule = TieRule::default();
    let plots =
        plots(&results, rule).map_err(|error| Failure::new(Exit::Failed, format!("a plot: {error}")))?;
    if let Some(place) = &options.plots {
        fs::create_dir_all(place).map_err(|error| refusal(place, &error))?;
        for plot in &plots {
            let file = place.join(plot.name).with_extension("svg");
            files::write(&file, plot.svg.as_bytes(), Overwriting::Allowed, Readers::Anybody)
                .map_err(|error| refusal(&file, &error))?;
            tell(&format!("written: {}", file.display()));
        }
    }
    if let Some(file) = &options.html {
        let from = file.parent().filter(|from| !from.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let from = from.canonicalize().map_err(|error| refusal(from, &error))?;
        let page = page(&results, &plots, rule, &way(&from, folder.path()));
        files::write(file, page.as_bytes(), Overwriting::if_asked(options.force), Readers::Anybody)
            .map_err(|error| refusal(file, &error))?;
        tell(&format!("written: {}", file.display()));
    }
    left_out(&results).iter().for_each(|one| tell(&format!("left out: {one}")));
    Ok(ended(&results))
}

fn refusal(path: &Path, error: &std::io::Error) -> Failure {
    let remedy = match error.kind() {
        std::io::ErrorKind::AlreadyExists => "give it another name, or --force",
        _ => "name a place that can be written",
    };
    Failure::new(Exit::Failed, format!("{}: {error}; {remedy}", path.display()))
}

/// The relative path from one folder to another, both absolute; ends with a slash, or is empty.
pub(super) fn way(from: &Path, to: &Path) -> String {
    let parts = |path: &Path| -> Vec<String> {
        let names = path.components().filter(|part| matches!(part, Component::Normal(_)));
        names.map(|part| part.as_os_str().to_string_lossy().into_owned()).collect()
    };
    let (from, to) = (parts(from), parts(to));
    let same = from.iter().zip(&to).take_while(|(one, other)| one == other).count();
    let up = "../".repeat(from.len() - same);
    to[same..].iter().fold(up, |way, part| way + part + "/")
}

/// Writes the results, or the spectra of all faults, for other tools.
pub(super) fn export(options: &StudyExportOptions) -> Result<Exit, Failure> {
    let (folder, results) = results(&options.results)?;
    match options.format {
        ExportFormat::Csv => export_rows(options, &folder, &results),
        ExportFormat::Tcm => export_spectra(options, &folder, &results, tcm_files),
        ExportFormat::Gzoltar => export_spectra(options, &folder, &results, gzoltar_files),
    }
}

/// Writes a CSV file for each kind of observation.
fn export_rows(
    options: &StudyExportOptions,
    folder: &ResultsFolder,
    results: &StudyResults,
) -> Result<Exit, Failure> {
    fs::create_dir_all(&options.to).map_err(|error| refusal(&options.to, &error))?;
    for of in Observation::ALL {
        let file = options.to.join(of.file());
        files::write_by(&file, Overwriting::Allowed, Readers::Anybody, |out| of.write(folder, results, out))
            .map_err(|error| refusal(&file, &error))?;
        tell(&format!("written: {}", file.display()));
    }
    left_out(results).iter().for_each(|one| tell(&format!("left out: {one}")));
    Ok(ended(results))
}

/// The files for the spectra of a fault, below a folder, with their contents.
type SpectraFiles = fn(&str, &Spectra, &[SourceLine]) -> Vec<(String, String)>;

fn tcm_files(fault: &str, spectra: &Spectra, faulty: &[SourceLine]) -> Vec<(String, String)> {
    vec![(format!("{fault}.tcm"), tcm(spectra, faulty))]
}

fn gzoltar_files(fault: &str, spectra: &Spectra, _: &[SourceLine]) -> Vec<(String, String)> {
    let files = gzoltar(spectra);
    vec![
        (format!("{fault}/spectra.csv"), files.spectra),
        (format!("{fault}/tests.csv"), files.tests),
        (format!("{fault}/matrix.txt"), files.matrix),
    ]
}

fn export_spectra(
    options: &StudyExportOptions,
    folder: &ResultsFolder,
    results: &StudyResults,
    made: SpectraFiles,
) -> Result<Exit, Failure> {
    let mut count = 0;
    for fault in &results.study.faults {
        let work = folder.work(&fault.name, Work::SPECTRA)?.filter(|work| work.key == fault.key);
        let Some(Ok((_, spectra))) =
            work.filter(|work| work.status == "complete").map(|work| spectra_of(&work))
        else {
            tell(&format!("left out: {}: its tests were not run, or could not be", fault.name));
            continue;
        };
        count += 1;
        let spectra = if options.by_statement { spectra } else { spectra.by_line() };
        for (name, text) in made(&fault.name, &spectra, &faulty(results, &fault.name)) {
            let file = options.to.join(name);
            let folder = file.parent().unwrap_or(Path::new("."));
            fs::create_dir_all(folder)
                .and_then(|()| files::write(&file, text.as_bytes(), Overwriting::Allowed, Readers::Anybody))
                .map_err(|error| refusal(&file, &error))?;
        }
    }
    tell(&format!("written: {count} spectra in {}", options.to.display()));
    let is_whole = count == results.study.faults.len() && results.study.left_out.is_empty();
    Ok(if is_whole { Exit::Done } else { Exit::LeftOut })
}

/// The faulty lines of a fault, as its results name them.
fn faulty(results: &StudyResults, fault: &str) -> Vec<SourceLine> {
    let items = results.items.iter().filter(|item| item.fault == fault);
    items.flat_map(ItemDocument::faulty).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_from_a_folder_to_another_goes_up_and_down() {
        let way = |from, to| way(Path::new(from), Path::new(to));
        assert_eq!(way("/a/b", "/a/b/c"), "c/");
        assert_eq!(way("/a/b", "/a/c/d"), "../c/d/");
        assert_eq!(way("/a/b", "/a/b"), "");
    }
}
