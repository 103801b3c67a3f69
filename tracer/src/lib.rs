//! Record the statement trace of a native Linux x86-64 program, and replay it with statements left out.
//!
//! Two verbs, [`Tracer::record`] and [`Tracer::replay`], and a third to look closer, [`Tracer::observe`];
//! three nouns, [`program::Program`] (what the
//! executable says), [`trace::Trace`] (what a run did) and [`schedule::Schedule`] (what a replay
//! executes). This crate knows nothing of delta debugging: which statements to leave out, and what an
//! outcome is worth, is for its user.
//!
//! The modules:
//! - [`program`] reads ELF, DWARF and machine code and finds the *leaders*, where statements begin;
//! - [`trace`] and [`schedule`] hold events and say which go together; [`trace_file`] keeps a trace in a file;
//! - the crate [`agent`] decides where a replay goes on ([`lockstep`]), without a process in sight, and what
//!   undefined memory is filled with ([`poison`]);
//! - `engine` makes a process obey, by breakpoints or by an agent inside of it;
//! - `stage` starts programs and runs them to their ends, `jump` does so with the agent; [`plain`] runs any
//!   program as it is, with nothing traced;
//! - `process` is the only door to ptrace, and the only place with unsafe code in this crate: the other one
//!   is `agent/inside.rs`, which runs within the program;
//! - [`intervention`] names the changes of a run that then goes its own way;
//! - [`invocation`], [`run`], [`termination`], [`denial`], [`poison`] name what goes in and what comes
//!   out;
//! - [`surroundings`] says on which machine and with which libraries a run was recorded.
//!
//! # Without a stop
//!
//! A stop by ptrace costs ten microseconds and more, a statement a nanosecond. So where it is possible
//! the decisions are made inside of the program. ptrace starts it and holds it at its first instruction;
//! the tracer maps the agent, its tables and the *session* into it, and overwrites the beginning of each
//! leader by a jump ([`program::DetourCounts`] tells at how many leaders this can be done; the others get
//! a breakpoint, and the tracer leads the program on to the agent).
//!
//! ```text
//!    the program                 near it: code at the leaders        the agent
//!    ┌───────────────┐           ┌─────────────────────────┐         ┌──────────────────────┐
//!    │ i = 0;    jmp ┼──────────►│ expected? then go on    │   no    │ the rules (lockstep) │
//!    │               │           │ otherwise ask ──────────┼────────►│ say where to go on   │
//!    │ i < n;    jmp ┼──►        │ body: moved code of     │◄────────┼─ session.target      │
//!    │               │           │   `i = 0;`, jump after  │         └──────────┬───────────┘
//!    │ after:  ...   │◄──────────┼─                        │                    │ reads and writes
//!    └───────────────┘           └─────────────────────────┘         ┌──────────▼───────────┐
//!                                                                    │ session, shared with │
//!    the tracer  ◄───────────────── maps the same memory ───────────►│ the tracer           │
//!                                                                    └──────────────────────┘
//! ```
//!
//! *Recording:* the code at a leader appends the stack pointer and the leader's number to a buffer; a
//! thread of the tracer takes full buffers and makes the trace of them. *Replay:* the program is started
//! once for each pattern of undefined values and becomes a server at its first leader. For a test the
//! tracer writes into the session which events are kept, and wakes the server, which forks a child; the
//! child follows the schedule, and is held by ptrace only for what is not a statement: its end, signals,
//! processes that it starts. A signal that comes while the agent works is delivered after it.
//!
//! *Checkpoints:* delta debugging tries schedules that agree for a long way. Where a test comes to an event
//! that the tracer has marked, half-way to where it differs from the test before, it becomes a server
//! itself, and goes on as its own first child. Tests that agree up to there begin there.
//!
//! ```text
//!    first leader ──── event 8,000 ──── event 12,000 ──── event 14,000 ── tests from here
//!       server           server            server            server       execute what differs
//!      (waits for its child)  (waits)        (waits)        (asked)
//! ```
//!
//! No checkpoint is made where a child would lack something, or share what it changes: a timer, a file
//! that is written, a process that was started.
//!
//! To read on: `program/detour/` (the patched code), `engine/inside.rs` (what is mapped where),
//! `agent/inside.rs` (the agent), `engine/drain.rs`, `engine/server.rs` and `engine/checkpoint.rs` (the
//! tracer's side), `jump.rs`.

pub mod address;
pub mod denial;
pub mod dependence;
mod endless;
mod engine;
mod fork_servers;
pub mod intervention;
pub mod invocation;
mod jump;
mod not_ended;
pub mod observation;
pub mod plain;
mod process;
pub mod program;
mod record_error;
pub mod run;
pub mod schedule;
mod stage;
pub mod surroundings;
mod survey;
pub mod termination;
#[cfg(test)]
mod tests;
pub mod trace;
pub mod trace_file;
mod tracer;
mod untouched;

pub use agent::{lockstep, poison};
pub use engine::Conditions;
pub use not_ended::NotEnded;
pub use process::{
    Bytes, Containment, Keyboard, OpenFile, ProcessError, Processors, Refusal, available_memory, can_answer,
    ending_signals, patiently, raise_limits, start_thread, with_room,
};
pub use record_error::{ONE_THREAD, ObserveError, RecordError};
pub use survey::{probe, survey};
pub use tracer::{DependenceRequest, Engine, Preference, Tracer};
pub use untouched::Untouched;
