//! Read the content of a journal, as far as it can be trusted.

use std::collections::HashMap;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use tracer::Bytes;

use super::MAGIC;
use super::record::{JournalDamage, Record};
use crate::archive::ArchiveError;
use crate::archive::files::read_whole;
use crate::circumstances::PhaseId;
use crate::oracle::{Evidence, EvidenceKind};
use crate::printed::Printed;
use dd::{Configuration, Outcome};

/// The content of a journal.
#[derive(Clone, Debug, Default)]
pub struct JournalContent {
    /// The phases in the order in which they were begun.
    pub phases: Vec<PhaseContent>,
    /// The number of replays in all.
    pub runs: u64,
    /// The time that the search has taken in all.
    pub elapsed: Duration,
    /// True if a complete record is damaged, so that all after it is lost.
    pub is_damaged: bool,
    /// The number of bytes that hold complete records.
    pub(in crate::archive) length: u64,
    pub(super) whys: Vec<(String, EvidenceKind)>,
    pub(super) printed: Vec<Arc<Printed>>,
    /// The phase that the last records are about.
    pub(super) current: Option<PhaseId>,
}

/// The records of a journal about one phase.
#[derive(Clone, Debug)]
pub struct PhaseContent {
    /// The phase.
    pub phase: PhaseId,
    /// The smallest configuration that shows the failure.
    pub best: Configuration,
    /// The guess that was tried first, if there was one.
    pub guess: Option<Configuration>,
    /// True if fingerprints still mean what they meant when this was written.
    pub is_understood: bool,
    /// The outcomes of tests, by the fingerprints of effective sets.
    pub outcomes: HashMap<u128, (Outcome, Evidence)>,
}

impl JournalContent {
    /// Reads the journal of a search among at most `universe` circumstances.
    ///
    /// # Errors
    /// If the file cannot be read, or is none of this version.
    pub fn read(path: &Path, universe: usize) -> Result<JournalContent, ArchiveError> {
        let bytes = match read_whole(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Bytes::default(),
            read => read.map_err(ArchiveError::unreadable(path))?,
        };
        // Death before the first line was complete leaves a torn one.
        if bytes.len() < MAGIC.len() && MAGIC.starts_with(&bytes) {
            return Ok(JournalContent::default());
        }
        let Some(mut rest) = bytes.strip_prefix(MAGIC) else {
            let format = bytes.split(|&byte| byte == b'\n').next().unwrap_or_default();
            let format =
                String::from_utf8_lossy(&format[..format.len().min(40)]).escape_default().to_string();
            return Err(ArchiveError::Format { path: path.into(), format, expected: "stripe journal 2" });
        };
        let mut content = JournalContent { length: MAGIC.len() as u64, ..JournalContent::default() };
        while !rest.is_empty() {
            let place = content.length;
            let taken = match Record::unframe(&mut rest, place) {
                Ok(record) => content.take(record, universe),
                Err(JournalDamage::Short) => break,
                Err(JournalDamage::Wrong) => None,
            };
            if taken.is_none() {
                content.is_damaged = true;
                break;
            }
            content.length = (bytes.len() - rest.len()) as u64;
        }
        Ok(content)
    }

    /// The number of tests that were made.
    pub fn tests(&self) -> usize {
        self.phases.iter().map(|phase| phase.outcomes.len()).sum()
    }

    /// Adds a record; `None` if it does not fit to what came before.
    fn take(&mut self, record: Record, most: usize) -> Option<()> {
        match record {
            Record::Phase { phase, universe } => self.begin(phase, universe, most)?,
            Record::Guess { fingerprint, members } => {
                let phase = self.phase()?;
                let guess = members.within(phase.best.universe())?;
                phase.is_understood &= guess.fingerprint() == fingerprint;
                phase.guess = Some(guess);
            }
            Record::Set { fingerprint, members } => {
                let phase = self.phase()?;
                let best = members.within(phase.best.universe())?;
                phase.improve(best, fingerprint);
            }
            Record::Without { fingerprint, members } => {
                let phase = self.phase()?;
                let removed = members.within(phase.best.universe())?;
                let best = phase.best.without(&removed.iter().collect::<Vec<_>>());
                phase.improve(best, fingerprint);
            }
            Record::Why(why, kind) => self.whys.push((why, kind)),
            Record::Printed(printed) => self.printed.push(Arc::new(printed)),
            Record::Test { fingerprint, outcome, why, printed } => {
                let (why, kind) = numbered(&self.whys, why)?;
                let printed = match printed {
                    Some(number) => Some(numbered(&self.printed, number)?),
                    None => None,
                };
                let evidence = Evidence { outcome, why, kind, printed };
                self.phase()?.outcomes.insert(fingerprint, (outcome, evidence));
            }
            Record::Effort { runs, milliseconds } => {
                self.runs = runs;
                self.elapsed = Duration::from_millis(milliseconds);
            }
        }
        Some(())
    }

    /// Begins a phase. A length is believed only if the trace is as long: configurations take memory.
    fn begin(&mut self, phase: PhaseId, universe: usize, most: usize) -> Option<()> {
        if universe > most {
            return None;
        }
        self.current = Some(phase);
        match self.phase() {
            Some(known) => (known.best.universe() == universe).then_some(()),
            None => {
                let (best, outcomes) = (Configuration::full(universe), HashMap::new());
                self.phases.push(PhaseContent { phase, best, guess: None, is_understood: true, outcomes });
                Some(())
            }
        }
    }

    fn phase(&mut self) -> Option<&mut PhaseContent> {
        let current = self.current?;
        self.phases.iter_mut().find(|known| known.phase == current)
    }
}

/// The reason or output that a test refers to by its number.
fn numbered<T: Clone>(all: &[T], number: u64) -> Option<T> {
    all.get(usize::try_from(number).ok()?).cloned()
}

impl PhaseContent {
    fn improve(&mut self, best: Configuration, fingerprint: u128) {
        self.is_understood &= best.fingerprint() == fingerprint;
        self.best = best;
    }
}
