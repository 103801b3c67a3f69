//! Name the values of the options that have a few, as a user types them.

use clap::ValueEnum;

/// When to use colours.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The level of containment: how far runs reach into the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PermissionChoice {
    /// Use the network, and sockets of other programs.
    Network,
}

/// The granularity: the unit of source that counts as one statement.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum GranularityChoice {
    /// File, line and column.
    #[default]
    Statement,
    /// File and line.
    Line,
}

/// The engine that stops the program at its statements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum EngineChoice {
    /// The best there is for the program.
    #[default]
    Auto,
    /// By jumps to an agent inside of the program.
    Jump,
    /// By a breakpoint at each statement, with a stop at each execution.
    Breakpoint,
    /// After each instruction: slow, records only.
    Step,
}

/// The first guess of a search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum GuessChoice {
    /// The dynamic slice of the failure, if the run is not too long to be followed.
    Auto,
    /// The whole run.
    #[default]
    None,
}

/// Whether undefined values are set to patterns.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum PoisonOption {
    /// Unless the program reads uninitialised memory.
    #[default]
    Auto,
    /// Never.
    Off,
}

/// The control rule: decides whether a statement is executed.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum ControlChoice {
    /// Under `program`, then from there under `trace`.
    #[default]
    Both,
    /// A branch decides.
    Program,
    /// The trace states the control flow.
    Trace,
}

/// The control rule of a single replay.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum SingleControl {
    /// A branch decides.
    Program,
    /// The trace states the control flow.
    #[default]
    Trace,
}

/// The algorithm that chooses subsets.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum AlgorithmChoice {
    /// From the end to the beginning, in ever smaller steps.
    #[default]
    Sweep,
    /// As in the paper: subsets and complements.
    Ddmin,
}

/// The level of a result: the groups that are left out as a whole until nothing can be left out any more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum LevelChoice {
    /// Single executions, unless that takes more than some minutes.
    #[default]
    Auto,
    /// All executions of a statement.
    Statement,
    /// All executions of a statement with the same caller, or the same statements before them.
    History,
    /// Single executions, however long that takes.
    Execution,
}

/// The format of events.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub enum TraceFormat {
    /// An event a line, with depth, function and source.
    #[default]
    Text,
    /// As words, `line_time`.
    Compact,
    /// For programs.
    Json,
}
