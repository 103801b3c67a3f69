//! Define the lines that a search and its workers write to each other: each is one JSON document.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use study::conversion::{numbers, stretches};

use crate::oracle::{Evidence, EvidenceKind};
use crate::printed::{Edit, Printed, Rest};
use dd::{Configuration, Outcome};

/// A request to a worker, one JSON object a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "ask", rename_all = "kebab-case")]
pub enum AskDocument {
    /// To say which of these files it needs.
    Begin {
        /// The version of stripe: both sides must have the same one.
        version: String,
        /// The files that the worker is to have.
        files: Vec<HandedFile>,
    },
    /// To take a part of a file.
    File {
        /// The hash of its content.
        hash: String,
        /// The part, in base64.
        data: String,
        /// Whether it is the last one.
        last: bool,
    },
    /// To load the program, and to replay the recorded run.
    Open,
    /// To make a test.
    Test {
        /// Its number; later tests have greater ones.
        id: u64,
        /// Of several criteria, this one.
        criterion: Option<String>,
        /// The letter of the phase.
        phase: char,
        /// The number of circumstances.
        of: usize,
        /// The chosen ones: `0-4,7`.
        chosen: String,
    },
    /// To end that test, whose result nobody wants any more.
    Cancel {
        /// The number of the test.
        id: u64,
    },
}

/// A reply of a worker, one JSON object a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "tell", rename_all = "kebab-case")]
pub enum TellDocument {
    /// The worker needs these files, and has the others.
    Wanted {
        /// The hashes of their contents.
        hashes: Vec<String>,
    },
    /// The worker can make tests.
    Ready {
        /// The containment of its runs.
        containment: String,
    },
    /// The worker cannot make tests: another version, another processor, other libraries.
    Refused {
        /// The difference, and what to do about it.
        why: String,
    },
    /// The result of a test.
    Tested {
        /// The number of the test.
        id: u64,
        /// The outcome and the evidence for it.
        shown: EvidenceDocument,
        /// The number of replays it took.
        runs: u64,
    },
    /// A test could not be made at all.
    Broken {
        /// The number of the test.
        id: u64,
        /// The reason.
        why: String,
    },
    /// The sign of life of a worker.
    Alive,
}

impl AskDocument {
    /// The line of a document.
    pub fn line(&self) -> String {
        serde_json::to_string(self).expect("a document has text keys only") + "\n"
    }

    /// The document of a line; `None` if it is none.
    pub fn parse(line: &str) -> Option<AskDocument> {
        serde_json::from_str(line).ok()
    }
}

impl TellDocument {
    /// The line of a document.
    pub fn line(&self) -> String {
        serde_json::to_string(self).expect("a document has text keys only") + "\n"
    }

    /// The document of a line; `None` if it is none.
    pub fn parse(line: &str) -> Option<TellDocument> {
        serde_json::from_str(line).ok()
    }
}

/// A file that is handed over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HandedFile {
    /// Its name in the kept run; empty for the program.
    pub name: String,
    /// Its path on the asking side. The program is not sent if the worker has the same file there.
    pub path: String,
    /// Stands for its content.
    pub hash: String,
}

/// The outcome of a test, with the evidence for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EvidenceDocument {
    /// `fail`, `pass` or `unresolved`.
    pub outcome: String,
    /// The reason.
    pub why: String,
    /// The failure, if it is another one than that of the recorded run.
    pub other_failure: Option<String>,
    /// Whether what is wanted may be an equal line elsewhere.
    pub ambiguous: bool,
    /// The output of the test, if it is kept.
    pub printed: Option<PrintedDocument>,
}

/// The output of a test, as a difference from that of the recorded run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrintedDocument {
    /// The standard output.
    pub stdout: EditDocument,
    /// The standard error.
    pub stderr: EditDocument,
}

/// A text, as it differs from a recorded one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditDocument {
    /// The number of bytes at the beginning that are those of the recorded text.
    pub start: usize,
    /// The bytes that follow, in base64.
    pub middle: String,
    /// The number of bytes from the end of the recorded text that come last; null if `lost` counts.
    pub end: Option<usize>,
    /// The number of bytes at the end that are not kept.
    pub lost: usize,
}

/// Bytes as text.
pub fn encoded(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// The bytes of a text; `None` if it is no base64.
pub fn decoded(text: &str) -> Option<Vec<u8>> {
    STANDARD.decode(text).ok()
}

/// The members of a configuration as text.
pub fn members(configuration: &Configuration) -> String {
    stretches(&configuration.iter().collect::<Vec<_>>())
}

/// The configuration of these members; `None` if they make none.
pub fn configuration(members: &str, universe: usize) -> Option<Configuration> {
    Some(Configuration::from_iter(universe, numbers(members, universe)?))
}

const OUTCOMES: [(Outcome, &str); 3] =
    [(Outcome::Fail, "fail"), (Outcome::Pass, "pass"), (Outcome::Unresolved, "unresolved")];

impl EvidenceDocument {
    /// The document of what a test has shown.
    pub fn of(evidence: &Evidence) -> EvidenceDocument {
        let outcome = OUTCOMES.iter().find(|(outcome, _)| *outcome == evidence.outcome);
        EvidenceDocument {
            outcome: outcome.map_or("unresolved", |(_, word)| word).into(),
            why: evidence.why.clone(),
            other_failure: evidence.failure().map(str::to_owned),
            ambiguous: evidence.kind == EvidenceKind::Ambiguous,
            printed: evidence.printed.as_deref().map(PrintedDocument::of),
        }
    }

    /// The evidence of the test; `None` if a worker does not write such a document.
    pub fn evidence(self) -> Option<Evidence> {
        let (outcome, _) = OUTCOMES.into_iter().find(|(_, word)| *word == self.outcome)?;
        let kind = match self.other_failure {
            Some(failure) => EvidenceKind::OtherFailure(failure),
            None if self.ambiguous => EvidenceKind::Ambiguous,
            None => EvidenceKind::Plain,
        };
        let printed = match self.printed {
            Some(printed) => Some(Arc::new(printed.printed()?)),
            None => None,
        };
        Some(Evidence { outcome, why: self.why, kind, printed })
    }
}

impl PrintedDocument {
    fn of(printed: &Printed) -> PrintedDocument {
        PrintedDocument {
            stdout: EditDocument::of(&printed.stdout),
            stderr: EditDocument::of(&printed.stderr),
        }
    }

    fn printed(self) -> Option<Printed> {
        Some(Printed::new(self.stdout.edit()?, self.stderr.edit()?))
    }
}

impl EditDocument {
    fn of(edit: &Edit) -> EditDocument {
        let (end, lost) = match edit.rest {
            Rest::Recorded(bytes) => (Some(bytes), 0),
            Rest::Lost(bytes) => (None, bytes),
        };
        EditDocument { start: edit.start, middle: encoded(&edit.middle), end, lost }
    }

    fn edit(self) -> Option<Edit> {
        let rest = self.end.map_or(Rest::Lost(self.lost), Rest::Recorded);
        Some(Edit { start: self.start, middle: decoded(&self.middle)?, rest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_test_has_shown_comes_back_as_it_was() {
        let edit = |text: &[u8]| Edit::of(text, b"sum = 15\n");
        let long = [b'x'; 40_000];
        let shown = |outcome, kind, printed: Option<Printed>| Evidence {
            outcome,
            why: "so \"it\" is".into(),
            kind,
            printed: printed.map(Arc::new),
        };
        for shown in [
            shown(Outcome::Fail, EvidenceKind::Plain, None),
            shown(
                Outcome::Pass,
                EvidenceKind::Ambiguous,
                Some(Printed::new(edit(b"sum = \xff\n"), edit(b""))),
            ),
            shown(
                Outcome::Unresolved,
                EvidenceKind::OtherFailure("SIGSEGV".into()),
                Some(Printed::new(edit(&long), edit(b"sum"))),
            ),
        ] {
            let line = TellDocument::Tested { id: 7, shown: EvidenceDocument::of(&shown), runs: 3 }.line();
            let Some(TellDocument::Tested { id: 7, shown: read, runs: 3 }) = TellDocument::parse(&line)
            else {
                panic!("{line}");
            };
            assert_eq!(read.clone().evidence(), Some(shown));
            assert_eq!(EvidenceDocument { outcome: "perhaps".into(), ..read }.evidence(), None);
        }
    }

    #[test]
    fn a_configuration_comes_back_and_one_of_another_universe_does_not() {
        let chosen = Configuration::from_iter(9, [0, 1, 2, 5, 8]);
        assert_eq!(members(&chosen), "0-2,5,8");
        assert_eq!(configuration("0-2,5,8", 9), Some(chosen));
        assert_eq!(configuration("0-2,5,8", 8), None);
    }
}
