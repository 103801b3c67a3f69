//! The manifest of a study: a table of faults in TOML, CSV or JSON Lines.
//!
//! All mistakes are told, each with its line, and the faults without any are used. Does not build or run anything.

mod fault;
mod formats;
mod keys;
mod mistake;
mod record;
mod suite;

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub use fault::{BUILD_FOLDER, StudyFault};
pub use mistake::Mistake;
pub use suite::{StudyTest, read_tests};

use crate::technique::{SliceControl, Technique};
use crate::times::SearchBudget;
use keys::{FAULT_KEYS, KeyReader, TOP_KEYS};
use record::{Given, GivenValue, Record};

/// The manifest: a table of faults.
#[derive(Clone, Debug, Default)]
pub struct StudyManifest {
    /// The text of the file.
    pub text: String,
    /// The techniques to be compared.
    pub techniques: Vec<Technique>,
    /// The faults that can be used, in the order of the file.
    pub faults: Vec<StudyFault>,
    /// The mistakes in the others, and in the rest of the file.
    pub mistakes: Vec<Mistake>,
}

impl StudyManifest {
    /// Reads a manifest from a file, whose ending tells the format.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn read(path: &Path) -> io::Result<StudyManifest> {
        let text = fs::read_to_string(path)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Ok(StudyManifest::parse(&text, path, &folder.canonicalize()?))
    }

    /// Reads one fault of a manifest, and looks at no file of the others: there may be thousands. `None` if there is none
    /// of that name.
    ///
    /// # Errors
    /// If the manifest cannot be read.
    pub fn read_fault(path: &Path, name: &str) -> io::Result<Option<StudyFault>> {
        let text = fs::read_to_string(path)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let is_meant = |record: &Record| record.get("name").and_then(Given::text).as_deref() == Some(name);
        let manifest = StudyManifest::parse_some(&text, path, &folder.canonicalize()?, &is_meant);
        Ok(manifest.faults.into_iter().find(|fault| fault.name == name))
    }

    /// Parses a manifest whose paths begin in `folder`.
    pub fn parse(text: &str, path: &Path, folder: &Path) -> StudyManifest {
        StudyManifest::parse_some(text, path, folder, &|_| true)
    }

    /// Parses a manifest, and makes the faults of some of its records.
    fn parse_some(
        text: &str,
        path: &Path,
        folder: &Path,
        is_meant: &dyn Fn(&Record) -> bool,
    ) -> StudyManifest {
        let mut manifest = StudyManifest { text: text.to_owned(), ..StudyManifest::default() };
        let mut taker = KeyReader { file: path, mistakes: &mut manifest.mistakes };
        let mut records = match path.extension().and_then(|extension| extension.to_str()) {
            Some("toml") => {
                let (top, complaints) = formats::toml(text);
                complaints.into_iter().for_each(|(line, what)| taker.complain(line, what));
                manifest.techniques = techniques(&top, &mut taker);
                records_of(&top, &mut taker)
            }
            Some(ending @ ("csv" | "jsonl")) => {
                let parsed = if ending == "csv" { formats::csv(text) } else { formats::json_lines(text) };
                parsed.complaints.into_iter().for_each(|(line, what)| taker.complain(line, what));
                parsed.records
            }
            _ => {
                taker.complain(1, "the name of a manifest ends in .toml, .csv or .jsonl: rename it");
                Vec::new()
            }
        };
        records.retain(is_meant);
        manifest.faults = faults(&records, folder, &mut taker);
        if manifest.techniques.is_empty() {
            manifest.techniques = Technique::usual();
        }
        if records.is_empty() && manifest.mistakes.is_empty() {
            let what =
                "there is no fault: add [[fault]] with `name`, `program`, `input`, `reference` and `faulty`"
                    .into();
            manifest.mistakes.push(Mistake { file: PathBuf::from(path), line: 1, what });
        }
        manifest.mistakes.sort_by(|one, other| (&one.file, one.line).cmp(&(&other.file, other.line)));
        manifest
    }
}

/// The techniques, in the matrix of controls and budgets.
fn techniques(top: &Record, taker: &mut KeyReader<'_>) -> Vec<Technique> {
    taker.only(top, &TOP_KEYS);
    let named = list(top, "techniques", taker, Technique::parse);
    let named = if named.is_empty() { Technique::usual() } else { named };
    let controls = list(top, "controls", taker, SliceControl::parse);
    let budgets = list(top, "budgets", taker, SearchBudget::parse);
    let mut techniques = Vec::new();
    for technique in named.iter().flat_map(|one| one.in_matrix(&controls, &budgets)) {
        if !techniques.contains(&technique) {
            techniques.push(technique);
        }
    }
    techniques
}

/// Reads the members of a list at the top, none of them twice.
fn list<T: PartialEq + ToString>(
    top: &Record,
    key: &str,
    taker: &mut KeyReader<'_>,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Vec<T> {
    let mut list = Vec::new();
    let Some((line, texts)) = taker.texts(top, key) else { return list };
    for text in texts {
        match parse(&text) {
            Ok(one) if list.contains(&one) => {
                taker.complain(line, format!("`{key}` names {} twice: remove one", one.to_string()));
            }
            Ok(one) => list.push(one),
            Err(error) => taker.complain(line, error),
        }
    }
    list
}

/// The faults that can be used; of two with the same name the first.
fn faults(records: &[Record], folder: &Path, taker: &mut KeyReader<'_>) -> Vec<StudyFault> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut faults = Vec::new();
    for record in records {
        let Some(fault) = fault::fault(record, folder, taker) else { continue };
        if let Some(line) = seen.insert(fault.name.clone(), fault.line) {
            let what = format!("the name `{}` is that of the fault on line {line}: rename one", fault.name);
            taker.complain(fault.line, what);
        } else {
            faults.push(fault);
        }
    }
    faults
}

/// The records of the faults, each with the defaults.
fn records_of(top: &Record, taker: &mut KeyReader<'_>) -> Vec<Record> {
    let defaults = match top.get("defaults") {
        None => Record::default(),
        Some(Given { value: GivenValue::Table(defaults), .. }) => {
            taker.only(defaults, &FAULT_KEYS);
            // A key that is not known is told once, not once for each fault.
            let known = defaults.entries.iter().filter(|(key, _)| FAULT_KEYS.contains(&key.as_str()));
            Record { line: defaults.line, entries: known.cloned().collect() }
        }
        Some(given) => {
            taker.complain(given.line, "`defaults` has to be a table: [defaults]");
            Record::default()
        }
    };
    let list = match top.get("fault") {
        None => return Vec::new(),
        Some(Given { value: GivenValue::List(list), .. }) => list,
        Some(given) => {
            taker.complain(given.line, "a fault begins with [[fault]], in two pairs of brackets");
            return Vec::new();
        }
    };
    let mut records = Vec::new();
    for one in list {
        match &one.value {
            GivenValue::Table(record) => {
                let mut record = Record { line: one.line, ..record.clone() };
                record.complete(&defaults);
                records.push(record);
            }
            _ => taker.complain(one.line, "a fault has to be a table: begin it with [[fault]]"),
        }
    }
    records
}
