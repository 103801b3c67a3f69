//! Terminations: the ways in which a run ends.

use std::fmt;
use std::path::PathBuf;

use agent::lockstep::Deviation;

use crate::address::FileAddress;
use crate::denial::Action;
use crate::program::{ImageId, LeaderId, Statement};

/// The way in which a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Termination {
    /// Exited by itself, with this exit status.
    Exited(i32),
    /// Ended by a signal.
    Crashed(Crash),
    /// Ended by the tracer because it had left the recorded path.
    Left(Deviation),
    /// Ended by the tracer because of what it did.
    Cut(Cut),
    /// Ended by the tracer where the last event of the trace begins, because it was asked what a variable holds there.
    Reached,
    /// Endless: the tracer ended it, for this reason, in the loop in which the recorded run has not ended.
    Endless(Cut),
}

/// The account of a crash: where and how. Two crashes are the same if all of this is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crash {
    /// The signal's number.
    pub signal: i32,
    /// The place of the instruction that caused the signal.
    pub instruction: CodePlace,
    /// The place at which control was to come back to the traced code, if the instruction is none of it.
    pub back: Option<ImagePlace>,
    /// The address that could not be used.
    pub address: BadAddress,
    /// The leaders of the latest events of the calls that were open, innermost first; `None` for a call that
    /// the trace does not know.
    pub calls: Vec<Option<LeaderId>>,
}

/// A place in an image of the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ImagePlace {
    /// The image.
    pub image: ImageId,
    /// The address there.
    pub address: FileAddress,
}

/// The place of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CodePlace {
    /// In an image of the program, traced or not.
    Program(ImagePlace),
    /// In a shared library.
    Library(LibraryPlace),
    /// In memory that belongs to no file, at this address: code that was made at run time.
    Made(u64),
    /// Nowhere: control has gone to where no code is.
    Astray,
    /// Anywhere: the signal came from elsewhere.
    Any,
}

/// A place in a shared library.
#[derive(Clone, Debug, Eq)]
pub struct LibraryPlace {
    /// The library's file. In a copy of a folder it is the same library.
    pub file: PathBuf,
    /// The address there.
    pub address: FileAddress,
}

impl PartialEq for LibraryPlace {
    fn eq(&self, other: &LibraryPlace) -> bool {
        (self.file.file_name(), self.address) == (other.file.file_name(), other.address)
    }
}

/// An address that could not be used, as exactly as crashes are compared: what lies outside of all memory is as good as
/// any other such address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadAddress {
    /// The signal is not about an address.
    None,
    /// In the first page: a null pointer, or an address so many bytes after it.
    FirstPage(u64),
    /// In memory of the program that must not be used so; see [`MappedPlace`].
    Mapped(MappedPlace),
    /// At an address that is not mapped.
    Unmapped,
    /// Beyond the end of the stack, in a program of which nothing is traced: it has overflown.
    BeyondStack,
    /// A non-canonical address: its upper bits do not agree.
    NotCanonical,
    /// Not an address: what the processor forbids for another reason.
    Forbidden,
}

/// An address in memory, told so that it is the same in each run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MappedPlace {
    /// In an image of the program.
    Image(ImagePlace),
    /// On the stack: so many bytes below where it began.
    Stack(i64),
    /// Anywhere else.
    Other(u64),
    /// Outside of the executable, in a program of which nothing is traced: the place depends on what it is given.
    Anywhere,
}

impl Crash {
    /// The latest event's leader of the innermost call.
    pub fn innermost(&self) -> Option<LeaderId> {
        self.calls.first().copied().flatten()
    }

    /// The first difference of another crash from this one; `None` if it is the same.
    pub fn difference(&self, other: &Crash) -> Option<CrashDifference> {
        let differ = [
            (self.signal != other.signal, CrashDifference::Signal),
            (self.instruction != other.instruction, CrashDifference::Instruction),
            (self.address != other.address, CrashDifference::Address),
            (self.back != other.back, CrashDifference::Back),
            (self.calls != other.calls, CrashDifference::Calls),
        ];
        differ.into_iter().find_map(|(differs, difference)| differs.then_some(difference))
    }
}

/// The difference of two crashes: the part in which they differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CrashDifference {
    /// The signal.
    Signal,
    /// The instruction.
    Instruction,
    /// The address that could not be used.
    Address,
    /// The place in the traced code from which untraced code was called.
    Back,
    /// The calls that were open.
    Calls,
}

/// The reason why the tracer ended a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// The limit of processor time was reached.
    CpuTime,
    /// The limit of wall-clock time was reached.
    WallTime,
    /// The run was asleep for too long, and nobody was there to wake it.
    Asleep,
    /// The limit of arrivals was reached: too many leaders.
    Arrivals,
    /// The limit of processes was reached.
    Tasks,
    /// The run started a thread while executing this statement.
    Thread(Option<Statement>),
    /// The run stopped itself by a signal.
    Stopped,
    /// The limit of a file's length was reached.
    FileSize,
    /// The limit of the output was reached.
    Output,
    /// The memory in which the run's changes to files are kept was filled.
    Disk,
    /// The limit of memory was reached.
    Memory,
    /// The limit of the trace's memory was reached.
    Trace,
    /// The run wanted to do what a sandbox denies.
    Escaped(Action),
    /// The code of the run's traced functions was found changed at its end, here first.
    ChangedText(FileAddress),
    /// The run overwrote memory that the tracer has put into it, so that nothing that this tells can be believed.
    Overwrote,
    /// The user, or a test that is no longer needed, asked for the end.
    Interrupted,
}

impl Cut {
    /// Whether a run that never ends may be ended for that reason.
    pub fn is_for_endless(self) -> bool {
        self.is_time() || matches!(self, Cut::Arrivals | Cut::Trace | Cut::FileSize | Cut::Output | Cut::Disk)
    }

    /// Whether the run might have ended by itself on a less busy machine.
    pub fn is_time(self) -> bool {
        matches!(self, Cut::CpuTime | Cut::WallTime | Cut::Asleep)
    }
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Cut::CpuTime => "used up its processor time",
            Cut::WallTime => "took too long",
            Cut::Asleep => "waited for what did not come",
            Cut::Arrivals => "executed too many statements",
            Cut::Tasks => "started too many processes",
            Cut::Thread(_) => "started a thread",
            Cut::Stopped => "stopped itself",
            Cut::FileSize => "wrote too much into a file",
            Cut::Output => "wrote too much output",
            Cut::Disk => "wrote too much into files",
            Cut::Memory => "wanted too much memory",
            Cut::Trace => "executed more statements than there is memory for",
            Cut::Escaped(action) => return write!(f, "escaped: it tried to {action}"),
            Cut::ChangedText(_) => "changed its own code",
            Cut::Overwrote => "overwrote memory of the tracer",
            Cut::Interrupted => "was interrupted",
        })
    }
}

/// The name of a signal, `SIGSEGV`; `signal 35` for those without.
pub fn signal_name(signal: i32) -> String {
    match nix::sys::signal::Signal::try_from(signal) {
        Ok(signal) => signal.as_str().to_owned(),
        Err(_) => format!("signal {signal}"),
    }
}
