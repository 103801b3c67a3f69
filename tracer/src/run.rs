//! A run, as far as it can be observed from outside.

use std::path::PathBuf;
use std::time::Duration;

use crate::denial::Actions;
use crate::invocation::Limits;
use crate::process::{Bytes, OpenFile};
use crate::termination::{Cut, Termination};
use crate::trace::Trace;

/// A run that has ended.
#[derive(Clone, Debug)]
pub struct Run {
    /// Everything it wrote to standard output.
    pub stdout: Bytes,
    /// Everything it wrote to standard error.
    pub stderr: Bytes,
    /// The way in which it ended.
    pub termination: Termination,
    /// The resources that it used up.
    pub usage: Usage,
    /// The number of arrivals at leaders.
    pub arrivals: u64,
    /// The number of arrivals at which the run was made to go on elsewhere.
    pub redirections: u64,
    /// The actions that it wanted to do and was denied.
    pub denied: Actions,
    /// The files whose code it had in memory at its end, if it was recorded.
    pub objects: Vec<PathBuf>,
    /// The operand that the instruction which crashed could not use, if the run was recorded and the debug information
    /// tells.
    pub operand: Option<Operand>,
    /// The number of bytes of its standard output that the C library had not written yet when it crashed, if the run
    /// was recorded and that is known.
    pub unwritten: u64,
    /// The value of the variable that was asked for. `None` if none was, if the run has not come there, or if the
    /// variable has no place in memory there.
    pub value: Option<AskedValue>,
    /// The files that it had open at its end, if nothing of it was traced and that was asked for.
    pub open_files: Vec<OpenFile>,
}

/// The value of a variable that was asked for, as the language of the program writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedValue {
    /// The value for people to read, cut to a bounded length.
    pub told: String,
    /// The value to be compared, in greater length.
    pub whole: String,
}

/// An operand in memory that an instruction could not use, as the source calls it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    /// The name of what was to be used: `row->next`.
    pub name: String,
    /// The pointer that leads there, `row`, and its value as the language writes it.
    pub pointer: Option<(String, String)>,
    /// Whether it was to be written.
    pub is_written: bool,
}

impl Run {
    /// A run that has ended by itself, with exit status 0, and has written this. Nothing more is known of it.
    pub fn with_output(stdout: impl Into<Bytes>, stderr: impl Into<Bytes>) -> Run {
        Run {
            stdout: stdout.into(),
            stderr: stderr.into(),
            termination: Termination::Exited(0),
            usage: Usage::default(),
            arrivals: 0,
            redirections: 0,
            denied: Actions::NONE,
            objects: Vec::new(),
            operand: None,
            unwritten: 0,
            value: None,
            open_files: Vec::new(),
        }
    }

    /// Notes that the run, which is over, has written more than it may: to its output, or into files, if it has
    /// filled the place for them.
    pub(crate) fn measure(&mut self, limits: &Limits, has_filled_disk: impl FnOnce() -> bool) {
        let output = (self.stdout.len() + self.stderr.len()) as u64;
        let cut = match self.termination {
            Termination::Cut(Cut::FileSize) if output > limits.output => Cut::Output,
            Termination::Cut(_) | Termination::Left(_) | Termination::Reached | Termination::Endless(_) => {
                return;
            }
            _ if output > limits.output => Cut::Output,
            _ if has_filled_disk() => Cut::Disk,
            _ => return,
        };
        self.termination = Termination::Cut(cut);
    }
}

/// The resources that a run used up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// Processor time.
    pub cpu: Duration,
    /// Time from start to end.
    pub wall: Duration,
    /// The number of copies of itself that the program has started, by fork(2).
    pub forked: u32,
    /// The largest address space, in bytes.
    pub memory: u64,
    /// An upper bound of the length of the files that it wrote, in bytes; 0 if that is not known.
    pub longest_file: u64,
    /// The number of events of the trace before the checkpoint where a replay began, because an earlier one had
    /// executed what is kept of them; 0 for the whole way.
    pub taken_over: u32,
}

/// A run together with its trace.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The run as seen from outside.
    pub run: Run,
    /// The trace of what happened inside.
    pub trace: Trace,
}
