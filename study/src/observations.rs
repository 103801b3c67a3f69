//! Write results as CSV with a row for each observation, as statistics programs read it.

use std::io::{self, Write};

use crate::documents::{ItemDocument, MetricsDocument, PlaceDocument};
use crate::evaluation::named_events;
use crate::folder::ResultsFolder;
use crate::results::StudyResults;
use crate::source_line::SourceLine;
use crate::tables::texts;
use crate::technique::Technique;

/// What a row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observation {
    /// A fault and a technique.
    Result,
    /// A fault, a technique and a line.
    Line,
    /// A fault, a slice and an event in it.
    Event,
}

impl Observation {
    /// All of them.
    pub const ALL: [Observation; 3] = [Observation::Result, Observation::Line, Observation::Event];

    /// The name of the file with these rows.
    pub fn file(self) -> &'static str {
        match self {
            Observation::Result => "results.csv",
            Observation::Line => "lines.csv",
            Observation::Event => "events.csv",
        }
    }

    /// Writes a header, and a row for each observation. Row by row: there may be millions.
    ///
    /// # Errors
    /// If a result cannot be read, or `to` cannot be written.
    pub fn write(self, folder: &ResultsFolder, results: &StudyResults, to: &mut dyn Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(to);
        match self {
            Observation::Result => {
                writer.write_record(result_header())?;
                results.items.iter().try_for_each(|item| writer.write_record(result_row(item)))?;
            }
            Observation::Line => {
                writer.write_record(LINE_HEADER)?;
                for item in &results.items {
                    let item = folder.item(&item.fault, &item.technique).map_err(io::Error::other)?;
                    item.iter().flat_map(line_rows).try_for_each(|row| writer.write_record(row))?;
                }
            }
            Observation::Event => {
                writer.write_record(EVENT_HEADER)?;
                for item in &results.items {
                    event_rows(folder, item)?.into_iter().try_for_each(|row| writer.write_record(row))?;
                }
            }
        }
        writer.flush()
    }
}

const PLACES: [&str; 5] = ["rank", "mean_rank", "exam", "wasted_effort", "reciprocal_rank"];
const SIZES: [&str; 8] = [
    "suspects",
    "lines_executed",
    "lines",
    "share_of_executed",
    "share_of_all",
    "statements_named",
    "statements_executed",
    "statements",
];

fn result_header() -> Vec<String> {
    let mut header = texts(&["fault", "group", "technique", "status", "hit"]);
    header.extend(texts(&SIZES));
    for name in PLACES {
        header.extend(["best", "average", "worst"].map(|rule| format!("{name}_{rule}")));
    }
    header.extend(texts(&["seconds", "memory_kib", "runs", "tests", "events", "events_kept", "why"]));
    header
}

fn result_row(item: &ItemDocument) -> Vec<String> {
    let mut row = [&item.fault, &item.group, &item.technique, &item.status].map(Clone::clone).to_vec();
    match &item.metrics {
        Some(metrics) => row.extend(metrics_cells(metrics)),
        None => row.extend(vec![String::new(); 1 + SIZES.len() + 3 * PLACES.len()]),
    }
    let cost = &item.cost;
    row.extend([cost.seconds.to_string(), cost.memory_kib.to_string()]);
    row.extend([cost.runs, cost.tests, cost.events].map(|count| count.to_string()));
    row.push(cost.events_kept.map_or_else(String::new, |count| count.to_string()));
    row.push(item.why.clone().unwrap_or_default());
    row
}

fn metrics_cells(metrics: &MetricsDocument) -> Vec<String> {
    let MetricsDocument {
        suspects,
        lines,
        lines_executed,
        first,
        mean,
        exam,
        wasted_effort,
        reciprocal_rank,
        ..
    } = metrics;
    let mut cells = vec![metrics.hit.to_string()];
    cells.extend([suspects, lines_executed, lines].map(|count| count.to_string()));
    cells.extend([metrics.share_of_executed(), metrics.share_of_all()].map(|share| share.to_string()));
    let counts = [metrics.statements_named, metrics.statements_executed, metrics.statements];
    cells.extend(counts.map(|count| count.map_or_else(String::new, |count| count.to_string())));
    cells.extend([first, mean, exam, wasted_effort, reciprocal_rank].into_iter().flat_map(places));
    cells
}

fn places(place: &PlaceDocument) -> [String; 3] {
    [place.best, place.average, place.worst].map(|value| value.to_string())
}

const LINE_HEADER: [&str; 11] = [
    "fault",
    "group",
    "technique",
    "file",
    "line",
    "rank_best",
    "rank_average",
    "rank_worst",
    "score",
    "suspect",
    "faulty",
];

fn line_rows(item: &ItemDocument) -> impl Iterator<Item = Vec<String>> {
    let faulty = item.faulty();
    item.ranking.iter().flat_map(move |group| {
        let faulty = faulty.clone();
        group.lines.iter().filter_map(move |line| {
            let line = SourceLine::parse(line).ok()?;
            let is_faulty = faulty.iter().any(|one| one.means(&line));
            let ties = group.lines.len();
            Some(vec![
                item.fault.clone(),
                item.group.clone(),
                item.technique.clone(),
                line.file.clone(),
                line.line.to_string(),
                group.rank.to_string(),
                (group.rank as f64 + (ties as f64 - 1.0) / 2.0).to_string(),
                (group.rank + ties - 1).to_string(),
                group.score.map_or_else(String::new, |score| score.to_string()),
                group.suspect.to_string(),
                is_faulty.to_string(),
            ])
        })
    })
}

const EVENT_HEADER: [&str; 11] = [
    "fault",
    "group",
    "technique",
    "event",
    "file",
    "line",
    "column",
    "function",
    "occurrence",
    "needed",
    "faulty",
];

/// The rows of the events that a slice names; none if the technique is no slice by itself.
fn event_rows(folder: &ResultsFolder, item: &ItemDocument) -> io::Result<Vec<Vec<String>>> {
    let part = Technique::parse(&item.technique).ok().and_then(|technique| match &technique.parts[..] {
        [part] => Some(*part),
        _ => None,
    });
    let Some(part) = part.filter(|part| part.technique.is_slice() && item.metrics.is_some()) else {
        return Ok(Vec::new());
    };
    let work = folder.work(&item.fault, part.work()).map_err(io::Error::other)?;
    let faulty = item.faulty();
    let row = |event: &serde_json::Value| {
        let text = |key: &str| match event.get(key) {
            None | Some(serde_json::Value::Null) => String::new(),
            Some(serde_json::Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        let line = text("line").parse().map(|line| SourceLine::new(&text("file"), line));
        let is_faulty = line.is_ok_and(|line| faulty.iter().any(|one| one.means(&line)));
        let own = [&item.fault, &item.group, &item.technique].map(Clone::clone).into_iter();
        let keys = ["event", "file", "line", "column", "function", "occurrence", "needed"];
        own.chain(keys.map(text)).chain([is_faulty.to_string()]).collect()
    };
    let document = work.filter(|work| work.key == item.key).and_then(|work| work.document);
    Ok(document.iter().flat_map(|document| named_events(part, document)).map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::documents::WorkDocument;
    use crate::results::tests::results;
    use crate::technique::Work;

    fn rows(of: Observation, folder: &ResultsFolder, results: &StudyResults) -> Vec<csv::StringRecord> {
        let mut text = Vec::new();
        of.write(folder, results, &mut text).expect("memory takes all");
        let mut reader = csv::Reader::from_reader(&text[..]);
        reader.records().map(|row| row.expect("a row of the width of the header")).collect()
    }

    #[test]
    fn a_result_is_a_row_with_a_cell_for_each_column() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = ResultsFolder::at(place.path()).expect("made");
        let results = results(&[("a", &[Some(1.0), None]), ("b", &[Some(2.0), Some(4.0)])]);
        let rows = rows(Observation::Result, &folder, &results);
        assert_eq!(rows.len(), 4);
        let header = result_header();
        let cell = |row: usize, name: &str| {
            let column = header.iter().position(|one| one == name).expect("a column");
            rows[row][column].to_owned()
        };
        assert_eq!((cell(0, "rank_best"), cell(2, "status")), ("1".into(), "failed".into()));
        assert_eq!((cell(0, "share_of_executed"), cell(0, "share_of_all")), ("0.5".into(), "0.25".into()));
        assert_eq!(cell(2, "why"), "a_b fails & 100 % more");
    }

    #[test]
    fn an_event_of_a_slice_is_a_row_and_what_is_needed_as_a_decision_only_has_no_effect() {
        let place = tempfile::tempdir().expect("a folder");
        let folder = ResultsFolder::at(place.path()).expect("made");
        let results =
            results(&[("slice", &[Some(1.0)]), ("slice-effect", &[Some(1.0)]), ("ochiai", &[Some(1.0)])]);
        let event = |number: u32, needed: &str| {
            serde_json::json!({"event": number, "file": "a.c", "line": number, "column": 3, "function": "main",
                "occurrence": 1, "needed": needed})
        };
        let document = serde_json::json!({"slice": [event(2, "decision"), event(5, "effect")]});
        let work = Technique::parse("slice").expect("a technique").works()[1];
        assert_ne!(work, Work::SPECTRA);
        let done = WorkDocument { fault: "f0".into(), document: Some(document), ..WorkDocument::default() };
        folder.keep_work(work, &done).expect("kept");
        let rows = rows(Observation::Event, &folder, &results);
        let told: Vec<String> =
            rows.iter().map(|row| format!("{} {} {}", &row[2], &row[3], &row[9])).collect();
        assert_eq!(told, ["slice 2 decision", "slice 5 effect", "slice-effect 5 effect"]);
    }
}
