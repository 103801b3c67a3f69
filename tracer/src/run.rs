//! Hold what can be observed of a run from outside.

use std::path::PathBuf;
use std::time::Duration;

use crate::denial::Actions;
use crate::invocation::Limits;
use crate::process::Bytes;
use crate::termination::{Cut, Termination};
use crate::trace::Trace;

/// A run that has ended.
#[derive(Clone, Debug)]
pub struct Run {
    /// Everything it wrote to standard output.
    pub stdout: Bytes,
    /// Everything it wrote to standard error.
    pub stderr: Bytes,
    /// How it ended.
    pub termination: Termination,
    /// What it used up.
    pub usage: Usage,
    /// How many arrivals at leaders there were.
    pub arrivals: u64,
    /// At how many of them the run was made to go on elsewhere.
    pub redirections: u64,
    /// What it wanted to do and was denied.
    pub denied: Actions,
    /// The files whose code it had in memory at its end, if it was recorded.
    pub objects: Vec<PathBuf>,
    /// What the instruction that crashed was to use, if the run was recorded and the debug information tells.
    pub operand: Option<Operand>,
    /// How many bytes of its standard output the C library had not written yet when it crashed, if the run was
    /// recorded and that is known.
    pub unwritten: u64,
    /// What the variable holds that was asked for. `None` if none was, if the run has not come there, or if the
    /// variable has no place in memory there.
    pub value: Option<AskedValue>,
}

/// The value of a variable that was asked for, as the language of the program writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskedValue {
    /// As much of it as people read.
    pub told: String,
    /// All of it, to be compared.
    pub whole: String,
}

/// Something in memory that an instruction could not use, as the source calls it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operand {
    /// What was to be used: `row->next`.
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

/// What a run used up.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// Processor time.
    pub cpu: Duration,
    /// Time from start to end.
    pub wall: Duration,
    /// How many copies of itself the program has started, by fork(2).
    pub forked: u32,
    /// The largest address space, in bytes.
    pub memory: u64,
    /// No file that it wrote was longer than so many bytes; 0 if that is not known.
    pub longest_file: u64,
    /// How many events of the trace lie before the checkpoint where a replay began, because an earlier one
    /// had executed what is kept of them; 0 for the whole way.
    pub taken_over: u32,
}

/// A run together with its trace.
#[derive(Clone, Debug)]
pub struct Recording {
    /// What can be seen from outside.
    pub run: Run,
    /// What happened inside.
    pub trace: Trace,
}
