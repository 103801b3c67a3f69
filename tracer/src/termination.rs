//! Name the ways in which a run ends.

use std::fmt;

use agent::lockstep::Deviation;

use crate::address::FileAddress;
use crate::denial::Action;
use crate::program::{FunctionId, Statement};

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Termination {
    /// By itself, with this exit status.
    Exited(i32),
    /// By a signal.
    Crashed(Crash),
    /// The tracer ended it because it had left the recorded path.
    Left(Deviation),
    /// The tracer ended it because of what it did.
    Cut(Cut),
    /// It never ends: the tracer ended it, for this reason, in the loop in which the recorded run has not ended.
    Endless(Cut),
}

/// Where and how a run crashed. Two crashes are the same if all of this is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crash {
    /// The signal's number.
    pub signal: i32,
    /// The class of the address that could not be used.
    pub address: AddressClass,
    /// The statement that was being executed.
    pub statement: Option<Statement>,
    /// The functions that were active, innermost first; `None` for one that the trace does not know.
    pub calls: Vec<Option<FunctionId>>,
}

/// What kind of address a crash was about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressClass {
    /// The signal is not about an address.
    None,
    /// The first page: a null pointer, or a member of an object at one.
    NullPage,
    /// Any other.
    Other,
}

/// Why the tracer ended a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// It used up its processor time.
    CpuTime,
    /// It took too long.
    WallTime,
    /// It was asleep for too long, and nobody was there to wake it.
    Asleep,
    /// It reached too many leaders.
    Arrivals,
    /// It started too many processes.
    Tasks,
    /// It started a thread while executing this statement.
    Thread(Option<Statement>),
    /// It stopped itself.
    Stopped,
    /// It wrote too much into a file.
    FileSize,
    /// It wrote too much to its output.
    Output,
    /// It filled the memory in which its changes to files are kept.
    Disk,
    /// It wanted more memory than it may have.
    Memory,
    /// Its trace took as much memory as it may.
    Trace,
    /// It wanted to do what a sandbox denies.
    Escaped(Action),
    /// The code of its traced functions was found changed at its end, here first.
    ChangedText(FileAddress),
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
