//! Append records to a journal.

use std::collections::{HashMap, HashSet};
use std::fs::{File, TryLockError};
use std::io::{self, BufWriter, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::super::ranges::Ranges;
use super::MAGIC;
use super::content::JournalContent;
use super::record::Record;
use crate::archive::ArchiveError;
use crate::archive::claim::lock;
use crate::archive::files::private;
use crate::circumstances::PhaseId;
use crate::oracle::{Evidence, EvidenceKind};
use crate::printed::Printed;
use dd::{Configuration, Outcome};

/// The time after which buffered records are handed to the system even without an improvement.
const PATIENCE: Duration = Duration::from_secs(1);

/// A journal that is being written. The file is locked as long as this lives.
pub struct Journal {
    path: PathBuf,
    out: BufWriter<File>,
    /// The length of the file in bytes, with what is still buffered.
    length: u64,
    flushed: Instant,
    whys: HashMap<(String, EvidenceKind), u64>,
    /// The numbers of outputs, by their keys.
    printed: HashMap<u128, u64>,
    /// The smallest configuration of each phase.
    best: HashMap<PhaseId, Configuration>,
    /// The phases whose guess is recorded.
    guessed: HashSet<PhaseId>,
    /// The phase that records are about, and the one that they should be about.
    current: Option<PhaseId>,
    wanted: Option<PhaseId>,
}

impl Journal {
    /// Creates a new, empty journal.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn create(path: &Path) -> Result<Journal, ArchiveError> {
        let unwritable = || ArchiveError::unwritable(path);
        let file = private().create_new(true).open(path);
        let mut journal = Journal::over(path, lock(file.map_err(unwritable())?, path)?, 0);
        journal.append(MAGIC).and_then(|()| journal.flush()).map_err(unwritable())?;
        Ok(journal)
    }

    /// Reopens a journal, to go on after its last complete record; returns its content as well.
    ///
    /// # Errors
    /// If the file cannot be read or written, is no journal, or is being written by another process.
    pub fn resume(path: &Path, universe: usize) -> Result<(Journal, JournalContent), ArchiveError> {
        let unwritable = || ArchiveError::unwritable(path);
        let file = private().create(true).truncate(false).open(path);
        let file = lock(file.map_err(unwritable())?, path)?;
        let content = JournalContent::read(path, universe)?;
        file.set_len(content.length).map_err(unwritable())?;
        let mut journal = Journal::over(path, file, content.length);
        journal.out.seek(io::SeekFrom::End(0)).map_err(unwritable())?;
        if content.length == 0 {
            journal.append(MAGIC).map_err(unwritable())?;
        }
        journal.whys = content.whys.iter().cloned().zip(0..).collect();
        journal.printed = content.printed.iter().map(|printed| printed.key()).zip(0..).collect();
        journal.best = content.phases.iter().map(|phase| (phase.phase, phase.best.clone())).collect();
        let guessed = content.phases.iter().filter(|phase| phase.guess.is_some());
        journal.guessed = guessed.map(|phase| phase.phase).collect();
        journal.current = content.current;
        Ok((journal, content))
    }

    /// True if another process is writing the journal at this path.
    pub fn is_locked(path: &Path) -> bool {
        File::open(path).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    fn over(path: &Path, file: File, length: u64) -> Journal {
        Journal {
            path: path.into(),
            out: BufWriter::new(file),
            length,
            flushed: Instant::now(),
            whys: HashMap::new(),
            printed: HashMap::new(),
            best: HashMap::new(),
            guessed: HashSet::new(),
            current: None,
            wanted: None,
        }
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Begins a phase: the records that follow are about it. It starts from `start` if it is new.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn phase(&mut self, phase: PhaseId, start: &Configuration) -> io::Result<()> {
        self.wanted = Some(phase);
        let known = self.best.get(&phase).is_some_and(|best| best.universe() == start.universe());
        if known {
            return Ok(());
        }
        self.current = Some(phase);
        self.record(&Record::Phase { phase, universe: start.universe() })?;
        self.best.insert(phase, Configuration::full(start.universe()));
        if start.len() < start.universe() { self.improved(start) } else { self.flush() }
    }

    /// Records the first guess of this phase, unless it is recorded already.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn guessed(&mut self, guess: &Configuration) -> io::Result<()> {
        let Some(phase) = self.wanted else { return Ok(()) };
        if !self.guessed.insert(phase) {
            return Ok(());
        }
        self.go_on()?;
        let members = Ranges::of(guess.iter());
        self.record(&Record::Guess { fingerprint: guess.fingerprint(), members })
    }

    /// Records a test.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn tested(&mut self, fingerprint: u128, outcome: Outcome, seen: &Evidence) -> io::Result<()> {
        self.go_on()?;
        let next = self.whys.len() as u64;
        let why = *self.whys.entry((seen.why.clone(), seen.kind.clone())).or_insert(next);
        if why == next {
            self.record(&Record::Why(seen.why.clone(), seen.kind.clone()))?;
        }
        let printed = match &seen.printed {
            Some(printed) => Some(self.printed(printed)?),
            None => None,
        };
        self.record(&Record::Test { fingerprint, outcome, why, printed })?;
        if self.flushed.elapsed() >= PATIENCE { self.flush() } else { Ok(()) }
    }

    /// The number of an output, which is written if it is new.
    fn printed(&mut self, printed: &Printed) -> io::Result<u64> {
        if let Some(&number) = self.printed.get(&printed.key()) {
            return Ok(number);
        }
        let number = self.printed.len() as u64;
        self.record(&Record::Printed(printed.clone()))?;
        self.printed.insert(printed.key(), number);
        Ok(number)
    }

    /// True if the configuration is smaller than all recorded ones of its phase.
    pub fn is_news(&self, smaller: &Configuration) -> bool {
        self.smallest().is_some_and(|best| smaller.len() < best.len())
    }

    fn smallest(&self) -> Option<&Configuration> {
        self.best.get(&self.wanted?)
    }

    /// Records that the search goes on from a smaller configuration, and hands everything so far to the system.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn improved(&mut self, smaller: &Configuration) -> io::Result<()> {
        let Some(best) = self.smallest() else { return Ok(()) };
        let fingerprint = smaller.fingerprint();
        let record = if smaller.is_subset(best) {
            let removed = best.iter().filter(|&member| !smaller.contains(member));
            Record::Without { fingerprint, members: Ranges::of(removed) }
        } else {
            Record::Set { fingerprint, members: Ranges::of(smaller.iter()) }
        };
        self.go_on()?;
        self.record(&record)?;
        self.best.extend(self.wanted.map(|phase| (phase, smaller.clone())));
        self.flush()
    }

    /// Records the total effort so far.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn spent(&mut self, runs: u64, elapsed: Duration) -> io::Result<()> {
        self.record(&Record::Effort { runs, milliseconds: elapsed.as_millis() as u64 })
    }

    /// Syncs the file to the disk, so that everything so far survives a power cut.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn sync(&mut self) -> io::Result<()> {
        self.flush()?;
        self.out.get_ref().sync_data()
    }

    /// Writes the phase again if the last records are about another one.
    fn go_on(&mut self) -> io::Result<()> {
        if self.current == self.wanted {
            return Ok(());
        }
        self.current = self.wanted;
        match self.wanted.and_then(|phase| Some((phase, self.best.get(&phase)?.universe()))) {
            Some((phase, universe)) => self.record(&Record::Phase { phase, universe }),
            None => Ok(()),
        }
    }

    fn record(&mut self, record: &Record) -> io::Result<()> {
        self.append(&record.framed(self.length))
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        self.length += bytes.len() as u64;
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.flushed = Instant::now();
        self.out.flush()
    }
}
