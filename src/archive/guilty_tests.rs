//! Keep the tests of a search for changes, as far as they are told, and what the versions have shown.

use std::sync::Arc;

use dd::{Configuration, Outcome};
use serde::{Deserialize, Serialize};

use super::texts::{TextDocument, bytes, bytes_text};
use super::words::OutcomeWord;
use crate::circumstances::PhaseId;
use crate::circumstances::change::{Examination, Inconsistency, TriedMember, TriedPhase, TriedVersion};
use crate::oracle::Evidence;

/// So much of what a test has printed is kept, of its end.
const MOST_PRINTED: usize = 4000;

#[derive(Serialize, Deserialize)]
pub(super) struct TriedPhaseDocument {
    phase: u8,
    /// File and place of each.
    members: Vec<(String, String)>,
    tests: Vec<TriedVersionDocument>,
}

#[derive(Serialize, Deserialize)]
struct TriedVersionDocument {
    /// First and last of the members.
    asked: Vec<(usize, usize)>,
    applied: Vec<(usize, usize)>,
    outcome: OutcomeDocument,
    #[serde(flatten)]
    seen: ExaminationDocument,
}

/// The examination of a version without the outcome.
#[derive(Serialize, Deserialize)]
pub(super) struct ExaminationDocument {
    why: String,
    inconsistency: Option<InconsistencyDocument>,
    builds: u64,
    printed: TextDocument,
}

#[derive(Clone, Copy, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum InconsistencyDocument {
    Integration,
    Construction,
    Execution,
}

/// The outcome of a test.
#[derive(Serialize, Deserialize)]
pub(super) struct OutcomeDocument(#[serde(with = "OutcomeWord")] pub(super) Outcome);

pub(super) fn examination_document(seen: &Examination, most: usize) -> ExaminationDocument {
    let printed = &seen.printed[seen.printed.len().saturating_sub(most)..];
    ExaminationDocument {
        why: seen.evidence.why.clone(),
        inconsistency: seen.inconsistency.map(|why| match why {
            Inconsistency::Integration => InconsistencyDocument::Integration,
            Inconsistency::Construction => InconsistencyDocument::Construction,
            Inconsistency::Execution => InconsistencyDocument::Execution,
        }),
        builds: seen.builds,
        printed: bytes_text(printed),
    }
}

pub(super) fn examination(outcome: Outcome, document: ExaminationDocument) -> Examination {
    Examination {
        evidence: Evidence::new(outcome, document.why),
        inconsistency: document.inconsistency.map(|why| match why {
            InconsistencyDocument::Integration => Inconsistency::Integration,
            InconsistencyDocument::Construction => Inconsistency::Construction,
            InconsistencyDocument::Execution => Inconsistency::Execution,
        }),
        builds: document.builds,
        printed: bytes(document.printed),
        usage: [None, None],
    }
}

pub(super) fn tried_documents(phases: &[TriedPhase]) -> Vec<TriedPhaseDocument> {
    let test = |test: &TriedVersion| TriedVersionDocument {
        asked: ranges(&test.asked),
        applied: ranges(&test.applied),
        outcome: OutcomeDocument(test.seen.evidence.outcome),
        seen: examination_document(&test.seen, MOST_PRINTED),
    };
    let phase = |phase: &TriedPhase| TriedPhaseDocument {
        phase: phase.id.0,
        members: phase.members.iter().map(|one| (one.file.clone(), one.place.clone())).collect(),
        tests: phase.tests.iter().map(test).collect(),
    };
    phases.iter().map(phase).collect()
}

pub(super) fn tried(documents: Vec<TriedPhaseDocument>) -> Result<Vec<TriedPhase>, String> {
    let phase = |document: TriedPhaseDocument| -> Result<TriedPhase, String> {
        let count = document.members.len();
        let test = |test: TriedVersionDocument| -> Result<TriedVersion, String> {
            Ok(TriedVersion {
                asked: chosen(count, &test.asked)?,
                applied: chosen(count, &test.applied)?,
                seen: Arc::new(examination(test.outcome.0, test.seen)),
            })
        };
        Ok(TriedPhase {
            id: PhaseId(document.phase),
            members: document.members.into_iter().map(|(file, place)| TriedMember { file, place }).collect(),
            tests: document.tests.into_iter().map(test).collect::<Result<_, _>>()?,
        })
    };
    documents.into_iter().map(phase).collect()
}

fn ranges(chosen: &Configuration) -> Vec<(usize, usize)> {
    let mut ranges: Vec<(usize, usize)> = Vec::new();
    for member in chosen.iter() {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == member => *last = member,
            _ => ranges.push((member, member)),
        }
    }
    ranges
}

fn chosen(count: usize, ranges: &[(usize, usize)]) -> Result<Configuration, String> {
    match ranges.iter().any(|(first, last)| first > last || *last >= count) {
        true => Err("a test has more changes than there are".into()),
        false => Ok(Configuration::from_iter(count, ranges.iter().flat_map(|&(first, last)| first..=last))),
    }
}
