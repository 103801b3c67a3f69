//! The reader of traces, which lets the events of a file arrive again.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use super::blocks::{Block, BlockReader, Unsound, read_plain};
use super::bytes::ByteCursor;
use super::moves::MovePredictor;
use super::{IDENTITY_BYTES, Identity, MAGIC, TraceFileError, VERSION};
use crate::program::{LeaderId, LeaderKind, Program};
use crate::trace::{Trace, TraceBuilder};

/// Reads the trace of a run of `program` from the file at `path`.
///
/// # Errors
/// If the file cannot be read, is none of this version, is damaged, or belongs to another program.
pub fn read(path: &Path, program: &Program, identity: &Identity) -> Result<Trace, TraceFileError> {
    let unreadable = |source| TraceFileError::Unreadable { path: path.into(), source };
    let file = File::open(path).map_err(unreadable)?;
    read_from(BufReader::new(file), path, program, identity)
}

/// Reads the trace of a run of `program`, whose identity this is, from any source; `path` names it in
/// messages.
///
/// # Errors
/// As for [`read`].
pub fn read_from(
    mut input: impl Read,
    path: &Path,
    program: &Program,
    identity: &Identity,
) -> Result<Trace, TraceFileError> {
    let explain = |unsound| match unsound {
        Unsound::Unreadable(source) => TraceFileError::Unreadable { path: path.into(), source },
        Unsound::Damaged(what) => TraceFileError::Damaged { path: path.into(), what },
    };
    check_version(&mut input, path)?;
    let recorded = header(&mut input).map_err(explain)?;
    if let Some(how) = recorded.difference(identity) {
        return Err(TraceFileError::OtherProgram { path: path.into(), how });
    }
    let blocks = BlockReader::new(input).map_err(|error| explain(error.into()))?;
    events(blocks, program).map_err(explain)
}

/// Refuses what is no trace file, or one of another version.
fn check_version(input: &mut dyn Read, path: &Path) -> Result<(), TraceFileError> {
    let mut begin = Vec::new();
    let length = (MAGIC.len() + VERSION.len()) as u64;
    let read = input.take(length).read_to_end(&mut begin);
    read.map_err(|source| TraceFileError::Unreadable { path: path.into(), source })?;
    match begin.strip_prefix(MAGIC) {
        Some(VERSION) => Ok(()),
        Some(other) if other.len() == VERSION.len() => {
            let version = String::from_utf8_lossy(other).escape_default().to_string();
            Err(TraceFileError::Version { path: path.into(), version })
        }
        Some(_) => Err(TraceFileError::Damaged { path: path.into(), what: "it ends too early" }),
        None => Err(TraceFileError::Foreign(path.into())),
    }
}

fn header(input: &mut dyn Read) -> Result<Identity, Unsound> {
    let bytes = read_plain(input, IDENTITY_BYTES)?;
    let identity = bytes.and_then(|bytes| Identity::from_bytes(&bytes));
    identity.ok_or(Unsound::Damaged("its header is wrong"))
}

fn events(mut blocks: BlockReader<impl Read>, program: &Program) -> Result<Trace, Unsound> {
    let mut arrivals = Arrivals::new(program);
    loop {
        let block = blocks.next()?;
        if block.events == 0 {
            let promised: Option<[u8; 8]> = block.bytes.try_into().ok();
            let arrived = arrivals.builder.len() as u64;
            if promised.map(u64::from_le_bytes) != Some(arrived) || !blocks.is_at_end()? {
                return Err(Unsound::Damaged("its end is not where it should be"));
            }
            return Ok(arrivals.builder.finish());
        }
        arrivals.take(&block).ok_or(Unsound::Damaged("its events do not form a trace"))?;
    }
}

/// The stack pointer at the entry of the outermost call; each further one has a little less. The real ones are not
/// needed: which calls are open is all that they tell.
const STACK: u64 = 1 << 62;

/// The distance between the entries of two calls, with room for a statement of the outer one.
const FRAME: u64 = 16;

/// The arrivals of a file's events at a builder.
struct Arrivals<'p> {
    program: &'p Program,
    builder: TraceBuilder,
    foresight: MovePredictor,
    /// The last leader in each open call, outermost first.
    open: Vec<u32>,
    /// The leader of the last event; before the first, their number.
    here: u32,
}

impl<'p> Arrivals<'p> {
    fn new(program: &'p Program) -> Arrivals<'p> {
        let leaders = program.leaders().len();
        Arrivals {
            program,
            builder: TraceBuilder::default(),
            foresight: MovePredictor::new(leaders),
            open: Vec::new(),
            here: leaders as u32,
        }
    }

    /// Lets the events of a block arrive; `None` if they do not fit.
    fn take(&mut self, block: &Block) -> Option<()> {
        let mut bytes = ByteCursor(&block.bytes);
        for _ in 0..block.events {
            self.arrive(&mut bytes)?;
        }
        bytes.0.is_empty().then_some(())
    }

    fn arrive(&mut self, bytes: &mut ByteCursor<'_>) -> Option<()> {
        let nowhere = self.program.leaders().len() as u32;
        let open = &self.open;
        let caller = |closed: u32| match open.len().checked_sub(closed as usize)? {
            0 => Some(nowhere),
            left => Some(open[left - 1]),
        };
        let next = self.foresight.read(self.here, caller, bytes)?;
        let leader = self.program.leaders().get(next.leader as usize)?;
        self.open.truncate(self.open.len().checked_sub(next.closed as usize)?);
        let depth = self.open.len() as u64;
        let sp = if leader.kind == LeaderKind::Entry {
            self.open.push(next.leader);
            STACK - FRAME * depth
        } else {
            *self.open.last_mut()? = next.leader;
            STACK - FRAME * (depth - 1) - FRAME / 2
        };
        self.here = next.leader;
        self.builder.arrive(self.program, LeaderId(next.leader), sp).ok()?.map(drop)
    }
}
