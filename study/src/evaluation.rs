//! The evaluation of a technique: its result, made from the work that was done for it.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::{Map, Value};
use siphasher::sip::SipHasher13;

use crate::conversion::{StatementCounts, groups, metrics};
use crate::documents::{
    CostDocument, FaultDocument, FaultyDocument, ITEM, ItemDocument, SpectraDocument, WorkDocument,
};
use crate::folder::ResultsFolder;
use crate::manifest::StudyFault;
use crate::metrics::FaultyRank;
use crate::ranking::LineRanking;
use crate::source_line::SourceLine;
use crate::spectra::{CoverageUnit, Spectra};
use crate::technique::{BudgetedTechnique, SingleTechnique, Technique, Work};

/// The work that was done on a fault.
pub type Works = BTreeMap<Work, WorkDocument>;

/// A document as a command has printed it.
#[derive(Deserialize)]
struct PrintedDocument {
    /// Those of a dynamic slice may be millions, and no technique asks for them.
    #[serde(default, rename = "dependences")]
    _dependences: IgnoredAny,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

/// The document that a command has printed, without the dependences of a dynamic slice, and its status in the words of
/// studies: `complete`, where it does not say otherwise.
pub fn printed(stdout: &[u8]) -> Option<(String, Value)> {
    let document: PrintedDocument = serde_json::from_slice(stdout).ok()?;
    let document = Value::Object(document.rest);
    let status = match document.get("status").and_then(Value::as_str) {
        None | Some("minimal" | "complete") => "complete",
        Some(other) => other,
    };
    Some((status.to_owned(), document))
}

/// The document of a fault. Its key depends on what the manifest says about it, and on nothing that a copy of its
/// folder changes.
pub fn described(fault: &StudyFault, folder: &Path) -> FaultDocument {
    let folder = folder.to_string_lossy();
    let told =
        format!("{:?}", StudyFault { line: 0, without: Vec::new(), ..fault.clone() }).replace(&*folder, ".");
    let mut hasher = SipHasher13::new();
    told.hash(&mut hasher);
    let key = format!("{:016x}", hasher.finish());
    let without = fault.without.iter().map(|technique| technique.name()).collect();
    FaultDocument { name: fault.name.clone(), group: fault.group.clone(), key, without }
}

/// Makes the result of a technique.
pub fn evaluate(fault: &StudyFault, key: &str, technique: &Technique, works: &Works) -> ItemDocument {
    let needed: Vec<(Work, &WorkDocument)> =
        technique.works().into_iter().filter_map(|work| Some((work, works.get(&work)?))).collect();
    let mut item = ItemDocument {
        schema: ITEM.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        fault: fault.name.clone(),
        group: fault.group.clone(),
        technique: technique.to_string(),
        key: key.into(),
        status: "complete".into(),
        behind: needed
            .iter()
            .map(|(work, _)| format!("../../{}", ResultsFolder::work_file(&fault.name, *work)))
            .collect(),
        cost: cost(technique, works),
        warnings: needed.iter().flat_map(|(_, work)| warnings(work)).collect(),
        ..ItemDocument::default()
    };
    if let Some((_, worse)) = needed.iter().find(|(_, work)| work.status != "complete") {
        (item.status, item.why) = (worse.status.clone(), worse.why.clone());
    }
    let missing = technique.works().into_iter().find(|work| !works.contains_key(work));
    let ranked = match missing {
        Some(work) => Err(format!("the work `{}` was not done", work.name())),
        None if item.status == "failed" => return item,
        None => rank(technique, works),
    };
    match ranked {
        Err(why) => (item.status, item.why) = ("failed".into(), Some(why)),
        Ok(Ranked { ranking, lines_executed, statements }) => {
            let rank = FaultyRank::of(&ranking, &fault.faulty);
            item.metrics = Some(metrics(&rank, lines_executed, Some(statements)));
            item.ranking = groups(&ranking);
        }
    }
    item
}

/// A ranking that another tool has made, and where it is from.
#[derive(Clone, Copy, Debug)]
pub struct ImportedRanking<'i> {
    /// The fault.
    pub fault: &'i FaultDocument,
    /// The name of its technique.
    pub technique: &'i str,
    /// The files, from the folder of the results of a fault.
    pub behind: &'i [String],
    /// Its faulty lines, as its other results name them.
    pub faulty: &'i [FaultyDocument],
}

/// The result of a technique whose ranking another tool has made.
pub fn imported(about: ImportedRanking<'_>, ranking: &LineRanking, executed: usize) -> ItemDocument {
    let ImportedRanking { fault, technique, behind, faulty } = about;
    let faulty: Vec<SourceLine> = faulty.iter().filter_map(|one| SourceLine::parse(&one.line).ok()).collect();
    ItemDocument {
        schema: ITEM.into(),
        version: env!("CARGO_PKG_VERSION").into(),
        fault: fault.name.clone(),
        group: fault.group.clone(),
        technique: technique.to_owned(),
        key: fault.key.clone(),
        status: "complete".into(),
        behind: behind.to_vec(),
        metrics: Some(metrics(&FaultyRank::of(ranking, &faulty), executed, None)),
        ranking: groups(ranking),
        ..ItemDocument::default()
    }
}

fn warnings(work: &WorkDocument) -> Vec<String> {
    let list = |key: &str| {
        let list = work.document.as_ref().and_then(|document| document.get(key)?.as_array().cloned());
        list.unwrap_or_default().into_iter().filter_map(|one| one.as_str().map(str::to_owned))
    };
    let omitted = number(work.document.as_ref(), &["slice_omitted"]).filter(|omitted| *omitted > 0);
    let omitted = omitted.map(|omitted| format!("{omitted} needed events are not listed; their lines are"));
    list("warnings").chain(list("left_out")).chain(omitted).collect()
}

fn number(document: Option<&Value>, keys: &[&str]) -> Option<u64> {
    keys.iter().try_fold(document?, |value, key| value.get(key))?.as_u64()
}

/// The cost of the work for a technique. That the tests are run first counts only where their results are used.
fn cost(technique: &Technique, works: &Works) -> CostDocument {
    let own: BTreeSet<Work> = technique.parts.iter().map(|part| part.work()).collect();
    let mut cost = CostDocument::default();
    for work in own.iter().filter_map(|work| works.get(work)) {
        let document = work.document.as_ref();
        cost.seconds += work.seconds;
        cost.memory_kib = cost.memory_kib.max(work.memory_kib);
        let tests_of_spectra = document.and_then(|document| document.get("statements"));
        match tests_of_spectra {
            Some(_) => {
                let tests = document.and_then(|document| document.get("tests")?.as_array().map(Vec::len));
                cost.runs += tests.unwrap_or(0) as u64;
            }
            None => {
                let counted = |keys: &[&str]| number(document, keys).unwrap_or(0);
                cost.tests += counted(&["tests", "total"]) + counted(&["runs", "total"]);
                cost.runs += counted(&["tests", "runs"]) + counted(&["runs", "total"]);
            }
        }
    }
    cost.events_kept = technique.parts.first().and_then(|first| {
        let document = works.get(&first.work())?.document.as_ref();
        match first.technique {
            SingleTechnique::SliceEffect => number(document, &["events", "kept_for_effect"]),
            SingleTechnique::Slice(_) => number(document, &["events", "kept"]),
            SingleTechnique::Dynamic(_) => Some(document?.get("slice")?.as_array()?.len() as u64),
            _ => None,
        }
    });
    let spectra = works.get(&Work::SPECTRA).and_then(|work| work.document.as_ref());
    let failing_run = number(spectra, &["failing_run"]).unwrap_or(0) as usize;
    let test = spectra.and_then(|spectra| spectra.get("tests")?.get(failing_run));
    cost.events = number(test, &["events"]).unwrap_or(0);
    cost
}

/// The spectra of the work, if it was done.
///
/// # Errors
/// If its document is damaged.
pub fn spectra_of(work: &WorkDocument) -> Result<(SpectraDocument, Spectra), String> {
    let damaged =
        || format!("the spectra of {} are damaged: remove them and run the study again", work.fault);
    let document = work.document.clone().ok_or_else(damaged)?;
    let document: SpectraDocument = serde_json::from_value(document).map_err(|_| damaged())?;
    let spectra = document.spectra().filter(|spectra| document.failing_run < spectra.tests.len());
    let spectra = spectra.ok_or_else(damaged)?;
    Ok((document, spectra))
}

/// What a technique makes of the work: its ranking, and the sizes.
struct Ranked {
    ranking: LineRanking,
    /// The number of lines that the failing run has executed.
    lines_executed: usize,
    statements: StatementCounts,
}

fn rank(technique: &Technique, works: &Works) -> Result<Ranked, String> {
    let (document, spectra) = spectra_of(&works[&Work::SPECTRA])?;
    let by_line = spectra.by_line();
    let executed = &by_line.tests[document.failing_run].executed;
    let executed: Vec<SourceLine> =
        executed.iter().map(|&one| by_line.statements[one].line.clone()).collect();
    let mut ranking: Option<LineRanking> = None;
    for part in &technique.parts {
        let next = rank_by(*part, works, &spectra, &executed)?;
        ranking = Some(match ranking {
            None => next,
            Some(before) => before.then(&next),
        });
    }
    let statements = StatementCounts {
        named: technique.parts.first().and_then(|first| statements_named(*first, works, &spectra)),
        executed: spectra.tests[document.failing_run].executed.len(),
        all: spectra.statements.len(),
    };
    Ok(Ranked { ranking: ranking.unwrap_or_default(), lines_executed: executed.len(), statements })
}

fn rank_by(
    part: BudgetedTechnique,
    works: &Works,
    spectra: &Spectra,
    executed: &[SourceLine],
) -> Result<LineRanking, String> {
    if let SingleTechnique::Spectrum(formula, unit) = part.technique {
        return Ok(spectra.rank(formula, unit));
    }
    let damaged =
        || format!("the result of `{}` is damaged: remove it and run the study again", part.work().name());
    let document = works[&part.work()].document.as_ref().ok_or_else(damaged)?;
    let all = spectra.lines();
    let lines = match part.technique {
        SingleTechnique::Locate | SingleTechnique::LocateTests => {
            return locate_ranking(document, executed, &all).ok_or_else(damaged);
        }
        SingleTechnique::Dynamic(_) => statements(document).and_then(|events| events.map(line_of).collect()),
        SingleTechnique::SliceEffect => sliced_lines(document, "needed_for_effect"),
        _ => sliced_lines(document, "needed"),
    };
    Ok(LineRanking::of_groups(vec![lines.ok_or_else(damaged)?], vec![executed.to_vec()], &all))
}

/// The lines of a critical slice. Not by its events: of those the document lists the first ones only.
fn sliced_lines(document: &Value, needed: &str) -> Option<Vec<SourceLine>> {
    let counted = |line: &Value| Some((line.get(needed)?.as_u64()?, line_of(line)?));
    let lines: Option<Vec<(u64, SourceLine)>> =
        document.get("lines")?.as_array()?.iter().map(counted).collect();
    Some(lines?.into_iter().filter(|(count, _)| *count > 0).map(|(_, line)| line).collect())
}

/// The events that a slice names, as far as its document lists them.
pub fn named_events(part: BudgetedTechnique, document: &Value) -> impl Iterator<Item = &Value> {
    let is_meant = move |event: &&Value| {
        part.technique != SingleTechnique::SliceEffect || event.get("needed") == Some(&"effect".into())
    };
    statements(document).into_iter().flatten().filter(is_meant)
}

/// The events of a slice, without entries and ends of functions, which are no statements.
fn statements(document: &Value) -> Option<impl Iterator<Item = &Value>> {
    let events = document.get("slice")?.as_array()?;
    Some(events.iter().filter(|event| event.get("occurrence").is_some_and(|which| !which.is_null())))
}

/// The number of statements that a technique names. `None` if it names lines only, or if its document does not list all
/// of its events.
fn statements_named(part: BudgetedTechnique, works: &Works, spectra: &Spectra) -> Option<usize> {
    if let SingleTechnique::Spectrum(_, unit) = part.technique {
        let counts = spectra.counts();
        let named = counts.iter().filter(|count| count.failing > 0).count();
        return (unit == CoverageUnit::Statement).then_some(named);
    }
    let document = works.get(&part.work())?.document.as_ref()?;
    let is_whole = number(Some(document), &["slice_omitted"]).unwrap_or(0) == 0;
    if !part.technique.is_slice() || !is_whole {
        return None;
    }
    let place = |event: &Value| {
        ["file", "line", "column"].map(|key| event.get(key).map(Value::to_string).unwrap_or_default())
    };
    Some(named_events(part, document).map(place).collect::<BTreeSet<_>>().len())
}

fn line_of(value: &Value) -> Option<SourceLine> {
    let line = value.get("line")?.as_u64()?;
    Some(SourceLine::new(value.get("file")?.as_str()?, line.try_into().ok()?))
}

/// The ranking by the order of `stripe locate`, as that says. It names the lines at which a change does any good.
fn locate_ranking(document: &Value, executed: &[SourceLine], all: &[SourceLine]) -> Option<LineRanking> {
    let mut groups: BTreeMap<u64, (bool, Vec<SourceLine>)> = BTreeMap::new();
    for one in document.get("lines")?.as_array()? {
        let is_suspect = !one.get("repairs")?.as_array()?.is_empty();
        let group = groups.entry(one.get("rank")?.as_u64()?).or_default();
        group.0 |= is_suspect;
        group.1.push(line_of(one)?);
    }
    let executed = std::iter::once((false, executed.to_vec()));
    Some(LineRanking::in_order(groups.into_values().chain(executed), all))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lines_keep_the_order_of_locate_whether_it_names_them_or_not() {
        let line = |rank: u64, line: u32, repairs: Value| json!({"rank": rank, "file": "a.c", "line": line, "repairs": repairs});
        let document = json!({"lines": [line(1, 3, json!([])), line(2, 1, json!([{"kind": "flip"}])), line(3, 4, json!([]))]});
        let lines =
            |numbers: &[u32]| numbers.iter().map(|&line| SourceLine::new("a.c", line)).collect::<Vec<_>>();
        let ranking =
            locate_ranking(&document, &lines(&[3, 1, 4, 2]), &lines(&[1, 2, 3, 4, 5])).expect("a ranking");
        let groups: Vec<(bool, Vec<SourceLine>)> =
            ranking.groups.iter().map(|group| (group.is_suspect, group.lines.clone())).collect();
        let numbers = [(false, 3), (true, 1), (false, 4), (false, 2), (false, 5)];
        assert_eq!(groups, numbers.map(|(is_suspect, line)| (is_suspect, lines(&[line]))));
    }

    #[test]
    fn a_printed_document_is_kept_without_its_dependences() {
        let printed = |text: &str| printed(text.as_bytes());
        let kept = (String::from("complete"), serde_json::json!({"slice": [1], "status": "minimal"}));
        assert_eq!(
            printed(r#"{"slice": [1], "dependences": [{"from": 1}], "status": "minimal"}"#),
            Some(kept)
        );
        assert_eq!(printed(r#"{"status": "budget"}"#).map(|(status, _)| status).as_deref(), Some("budget"));
        assert_eq!((printed("[]"), printed("{"), printed("")), (None, None, None));
    }
}
