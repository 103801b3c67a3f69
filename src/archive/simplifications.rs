//! Keep what a simplification has found: documents, and a file for each content.
//!
//! A folder of a simplification, `.stripe/<number>-<program>` like that of a run, holds
//!
//! - `simplification.json`: the command and the failure. Written when the search begins;
//! - `simplified.json`: how it ended, and the tests as far as they are told. Not there before;
//! - `before-<part>` and `after-<part>`: what was given, and what is left of it, for the parts in order;
//! - `other-<failure>-<part>`: the smallest that makes the program fail in another way;
//! - `owner`: locked by the process that is at work.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use tracer::Bytes;
use tracer::invocation::Input;

use super::contents::{FileDocument, read_if_there};
use super::documents::{CountsDocument, SeenDocument};
use super::error::ArchiveError;
use super::files::write_document;
use super::folder::RunFolder;
use super::texts::{TextDocument, bytes, bytes_text, os_string, os_strings, path, text, texts};
use super::words::{ContainmentWord, OutcomeWord, StatusWord};
use crate::circumstances::Status;
use crate::circumstances::input::{
    Given, InputPart, InputPiece, OtherInput, PartName, Provenance, Provenances, Unit,
};
use crate::simplified::prevention::{Others, Preventer, PreventingSet, Prevention};
use crate::simplified::{Simplified, TriedInput, TriedInputs};
use crate::syntax::Language;
use dd::Outcome;
use tracer::Containment;

/// The format of `simplified.json`.
const SIMPLIFIED: &str = "stripe.simplified/1";

/// The result of a simplification, in numbers.
#[derive(Clone, Copy, Debug)]
pub struct SimplificationProgress {
    /// The status of the search at its end.
    pub status: Status,
    /// The number of bytes that are left.
    pub bytes: usize,
    /// The number of tests made.
    pub tests: u64,
}

#[derive(Serialize, Deserialize)]
struct SimplifiedDocument {
    #[serde(with = "StatusWord")]
    status: Status,
    criterion: String,
    /// The number of bytes that are left in all parts.
    left: usize,
    parts: Vec<PartDocument>,
    arguments: Vec<TextDocument>,
    trivial: bool,
    derived: bool,
    prevention: Option<PreventionDocument>,
    tests: CountsDocument,
    total: u64,
    runs: u64,
    elapsed_ms: u64,
    errors_before: TextDocument,
    errors_after: TextDocument,
    other_failures: Vec<OtherDocument>,
    #[serde(with = "ContainmentWord")]
    containment: Containment,
    warnings: Vec<String>,
    provenances: Option<Vec<Option<ProvenanceDocument>>>,
    tried: TriedDocument,
    /// The other files of the folder.
    files: Vec<FileDocument>,
}

#[derive(Serialize, Deserialize)]
struct PartDocument {
    #[serde(flatten)]
    name: NameDocument,
    path: Option<TextDocument>,
    optional: bool,
    least: TextDocument,
    unit: UnitDocument,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", content = "name")]
enum NameDocument {
    Stdin,
    File(TextDocument),
    Argument(usize),
    Variable(TextDocument),
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum UnitDocument {
    Whole,
    Lines,
    Elements(usize),
    Tokens,
    Frames,
    Pairs,
    Nodes(String),
    Characters,
    Bytes,
}

#[derive(Serialize, Deserialize)]
struct OtherDocument {
    what: String,
    tests: u64,
}

#[derive(Serialize, Deserialize)]
struct PreventionDocument {
    circumstances: usize,
    sets: Vec<SetDocument>,
    others: OthersDocument,
}

#[derive(Serialize, Deserialize)]
struct SetDocument {
    #[serde(with = "StatusWord")]
    status: Status,
    members: Vec<MemberDocument>,
    tests: CountsDocument,
    total: u64,
}

#[derive(Serialize, Deserialize)]
struct MemberDocument {
    name: String,
    content: TextDocument,
    without: Option<SeenDocument>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum OthersDocument {
    Fail,
    Unresolved(String),
    Unknown,
}

/// A piece of a provenance: the start and the end of a range that is kept, or the text that stands there instead.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum PieceDocument {
    Kept(usize, usize),
    Other { other: TextDocument },
}

type ProvenanceDocument = Vec<PieceDocument>;

#[derive(Serialize, Deserialize)]
struct TriedDocument {
    total: usize,
    phases: Vec<(usize, String)>,
    curve: Vec<(usize, usize)>,
    tests: Vec<TriedTestDocument>,
}

#[derive(Serialize, Deserialize)]
struct TriedTestDocument {
    number: usize,
    #[serde(with = "OutcomeWord")]
    outcome: Outcome,
    why: String,
    given: Vec<Option<ProvenanceDocument>>,
}

impl RunFolder {
    /// Writes the result.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn conclude_simplification(&self, found: &Simplified) -> Result<(), ArchiveError> {
        let contents = contents(found).into_iter();
        let files =
            contents.map(|(name, content)| self.keep_content(&name, content)).collect::<Result<_, _>>()?;
        let path = self.path.join("simplified.json");
        write_document(&path, SIMPLIFIED, &simplified_document(found, files))
            .map_err(ArchiveError::unwritable(&path))
    }

    /// In numbers what a simplification has come to; `None` if it has not ended.
    ///
    /// # Errors
    /// If it is not what was written.
    pub fn simplification_progress(&self) -> Result<Option<SimplificationProgress>, ArchiveError> {
        let progress = |document: SimplifiedDocument| SimplificationProgress {
            status: document.status,
            bytes: document.left,
            tests: document.total,
        };
        Ok(self.simplified_document()?.map(progress))
    }

    /// The result of a simplification, if it has come to one.
    ///
    /// # Errors
    /// If it is not what was written.
    pub fn simplified(&self) -> Result<Option<Simplified>, ArchiveError> {
        let Some(document) = self.simplified_document()? else { return Ok(None) };
        let contents = self.contents(&document.files)?;
        Ok(Some(simplified(document, &contents)))
    }

    fn simplified_document(&self) -> Result<Option<SimplifiedDocument>, ArchiveError> {
        read_if_there(&self.path.join("simplified.json"), &[SIMPLIFIED])
    }
}

/// All contents, each with the name of its file.
fn contents(found: &Simplified) -> Vec<(String, &[u8])> {
    let mut all = Vec::new();
    all.extend(named("before", &found.before));
    all.extend(named("after", &found.after));
    for (number, failure) in found.other_failures.iter().enumerate() {
        all.extend(named(&format!("other-{number}"), &failure.given));
    }
    all
}

/// The contents of these parts; none of those that are left out.
fn named<'g>(prefix: &str, given: &'g Given) -> Vec<(String, &'g [u8])> {
    let parts = given.parts.iter().enumerate();
    parts
        .filter_map(|(number, part)| Some((format!("{prefix}-{number}"), part.content.as_deref()?)))
        .collect()
}

fn simplified_document(found: &Simplified, files: Vec<FileDocument>) -> SimplifiedDocument {
    let parts = found.before.parts.iter().zip(&found.units);
    SimplifiedDocument {
        status: found.status,
        criterion: found.criterion.clone(),
        left: found.after.len(),
        parts: parts.map(|(part, unit)| part_document(part, *unit)).collect(),
        arguments: texts(&found.arguments),
        trivial: found.is_trivial,
        derived: found.is_derived,
        prevention: found.prevention.as_ref().map(prevention_document),
        tests: CountsDocument::of(&found.tests),
        total: found.tests.total,
        runs: found.runs,
        elapsed_ms: found.elapsed.as_millis() as u64,
        errors_before: bytes_text(&found.errors_before),
        errors_after: bytes_text(&found.errors_after),
        other_failures: found.other_failures.iter().map(other_document).collect(),
        containment: found.containment.clone(),
        warnings: found.warnings.clone(),
        provenances: found.provenances.as_ref().map(provenances_document),
        tried: tried_document(&found.tried),
        files,
    }
}

/// The result that a document describes; `contents` are those of the other files.
fn simplified(document: SimplifiedDocument, contents: &[(String, Bytes)]) -> Simplified {
    let units = document.parts.iter().map(|part| unit(&part.unit)).collect();
    let parts: Vec<InputPart> = document.parts.into_iter().map(input_part).collect();
    let given = |prefix: &str| {
        let content = |number: usize| {
            let name = format!("{prefix}-{number}");
            let (_, content) = contents.iter().find(|(known, _)| *known == name)?;
            Some(Input::from(content.to_vec()))
        };
        let parts = parts.iter().enumerate();
        Given {
            parts: parts
                .map(|(number, part)| InputPart { content: content(number), ..part.clone() })
                .collect(),
        }
    };
    let others = document.other_failures.into_iter().enumerate();
    let other_failures = others.map(|(number, other)| OtherInput {
        what: other.what,
        tests: other.tests,
        given: given(&format!("other-{number}")),
    });
    Simplified {
        status: document.status,
        criterion: document.criterion,
        before: given("before"),
        after: given("after"),
        units,
        arguments: os_strings(document.arguments),
        is_trivial: document.trivial,
        is_derived: document.derived,
        prevention: document.prevention.map(prevention),
        tests: document.tests.counts(document.total),
        runs: document.runs,
        elapsed: Duration::from_millis(document.elapsed_ms),
        errors_before: bytes(document.errors_before),
        errors_after: bytes(document.errors_after),
        other_failures: other_failures.collect(),
        containment: document.containment,
        warnings: document.warnings,
        provenances: document.provenances.map(provenances),
        tried: tried(document.tried),
        kept_as: None,
    }
}

fn part_document(part: &InputPart, unit: Unit) -> PartDocument {
    PartDocument {
        name: match &part.name {
            PartName::Stdin => NameDocument::Stdin,
            PartName::File(path) => NameDocument::File(text(path.as_os_str())),
            PartName::Argument(number) => NameDocument::Argument(*number),
            PartName::Variable(name) => NameDocument::Variable(text(name)),
        },
        path: part.path.as_ref().map(|path| text(path.as_os_str())),
        optional: part.is_optional,
        least: bytes_text(&part.least),
        unit: match unit {
            Unit::Whole | Unit::Read(_) => UnitDocument::Whole,
            Unit::Lines => UnitDocument::Lines,
            Unit::Elements(depth) => UnitDocument::Elements(depth),
            Unit::Tokens => UnitDocument::Tokens,
            Unit::Frames => UnitDocument::Frames,
            Unit::Pairs => UnitDocument::Pairs,
            Unit::Nodes(language) => UnitDocument::Nodes(language.name().to_owned()),
            Unit::Characters => UnitDocument::Characters,
            Unit::Bytes => UnitDocument::Bytes,
        },
    }
}

fn input_part(document: PartDocument) -> InputPart {
    InputPart {
        name: match document.name {
            NameDocument::Stdin => PartName::Stdin,
            NameDocument::File(name) => PartName::File(path(name)),
            NameDocument::Argument(number) => PartName::Argument(number),
            NameDocument::Variable(name) => PartName::Variable(os_string(name)),
        },
        path: document.path.map(path),
        content: None,
        is_optional: document.optional,
        least: bytes(document.least).into(),
        language: None,
        read: None,
    }
}

fn unit(document: &UnitDocument) -> Unit {
    match document {
        UnitDocument::Nodes(name) => {
            let language = Language::ALL.into_iter().find(|language| language.name() == name);
            language.map_or(Unit::Characters, Unit::Nodes)
        }
        UnitDocument::Whole => Unit::Whole,
        UnitDocument::Lines => Unit::Lines,
        UnitDocument::Elements(depth) => Unit::Elements(*depth),
        UnitDocument::Tokens => Unit::Tokens,
        UnitDocument::Frames => Unit::Frames,
        UnitDocument::Pairs => Unit::Pairs,
        UnitDocument::Characters => Unit::Characters,
        UnitDocument::Bytes => Unit::Bytes,
    }
}

fn other_document(failure: &OtherInput) -> OtherDocument {
    OtherDocument { what: failure.what.clone(), tests: failure.tests }
}

fn prevention_document(prevention: &Prevention) -> PreventionDocument {
    let member = |member: &Preventer| MemberDocument {
        name: member.name.clone(),
        content: bytes_text(&member.content),
        without: member.without.as_ref().map(SeenDocument::of),
    };
    let set = |set: &PreventingSet| SetDocument {
        status: set.status,
        members: set.members.iter().map(member).collect(),
        tests: CountsDocument::of(&set.tests),
        total: set.tests.total,
    };
    PreventionDocument {
        circumstances: prevention.circumstances,
        sets: prevention.sets.iter().map(set).collect(),
        others: match &prevention.others {
            Others::Fail => OthersDocument::Fail,
            Others::Unresolved(why) => OthersDocument::Unresolved(why.clone()),
            Others::Unknown => OthersDocument::Unknown,
        },
    }
}

fn prevention(document: PreventionDocument) -> Prevention {
    let member = |member: MemberDocument| Preventer {
        name: member.name,
        content: bytes(member.content),
        without: member.without.map(SeenDocument::evidence),
    };
    let set = |set: SetDocument| PreventingSet {
        status: set.status,
        members: set.members.into_iter().map(member).collect(),
        tests: set.tests.counts(set.total),
    };
    Prevention {
        circumstances: document.circumstances,
        sets: document.sets.into_iter().map(set).collect(),
        others: match document.others {
            OthersDocument::Fail => Others::Fail,
            OthersDocument::Unresolved(why) => Others::Unresolved(why),
            OthersDocument::Unknown => Others::Unknown,
        },
    }
}

fn provenances_document(provenances: &Provenances) -> Vec<Option<ProvenanceDocument>> {
    let piece = |piece: &InputPiece| match piece {
        InputPiece::Kept(range) => PieceDocument::Kept(range.start, range.end),
        InputPiece::Other(text) => PieceDocument::Other { other: bytes_text(text) },
    };
    provenances.iter().map(|part| Some(part.as_ref()?.pieces.iter().map(piece).collect())).collect()
}

fn provenances(document: Vec<Option<ProvenanceDocument>>) -> Provenances {
    let piece = |piece: PieceDocument| match piece {
        PieceDocument::Kept(start, end) => InputPiece::Kept(start..end),
        PieceDocument::Other { other } => InputPiece::Other(bytes(other)),
    };
    let part = |pieces: ProvenanceDocument| Provenance { pieces: pieces.into_iter().map(piece).collect() };
    document.into_iter().map(|pieces| pieces.map(part)).collect()
}

fn tried_document(tried: &TriedInputs) -> TriedDocument {
    let test = |test: &TriedInput| TriedTestDocument {
        number: test.number,
        outcome: test.outcome,
        why: test.why.clone(),
        given: provenances_document(&test.given),
    };
    TriedDocument {
        total: tried.total,
        phases: tried.phases.clone(),
        curve: tried.curve.clone(),
        tests: tried.tests.iter().map(test).collect(),
    }
}

fn tried(document: TriedDocument) -> TriedInputs {
    let test = |test: TriedTestDocument| TriedInput {
        number: test.number,
        outcome: test.outcome,
        why: test.why,
        given: provenances(test.given),
    };
    TriedInputs {
        total: document.total,
        phases: document.phases,
        curve: document.curve,
        tests: document.tests.into_iter().map(test).collect(),
    }
}
