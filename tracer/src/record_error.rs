//! Errors of recordings: why a run cannot be recorded, or its events not be looked at.

use crate::not_ended::NotEnded;
use crate::process::ProcessError;
use crate::program::LoadError;
use crate::termination::Cut;

/// The remedy against further threads, as a part of a sentence. A pool of one thread is not enough.
pub const ONE_THREAD: &str = "make it do its work on its first thread: OMP_NUM_THREADS=1 for OpenMP, the flavor \
                              current_thread for tokio, and for rayon num_threads(1).use_current_thread(), because \
                              RAYON_NUM_THREADS=1 starts a thread all the same";

/// The reason why a run cannot be recorded.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages are the documentation of the fields")]
pub enum RecordError {
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error(
        "the program starts a thread ({call}{}): events of several threads have no fixed order: {ONE_THREAD}",
        at(.place)
    )]
    Thread { call: &'static str, place: Option<String> },
    #[error(
        "the program reaches {0} without a call: it switches stacks (makecontext, coroutines), which cannot be replayed; keep the function out with --scope"
    )]
    StackSwitch(String),
    #[error("the program executes more than 4,294,967,294 statements: record a shorter run")]
    TooLong,
    #[error(
        "the program's code in memory differs from the file at {0}: it is packed or changes itself; use the original executable"
    )]
    ChangedText(String),
    #[error("the program {_0} while it was recorded: {room}, or record a shorter run", room = room(*_0))]
    Cut(Cut),
    #[error(
        "the program {} while it was recorded: {_0}: if that it never ends is the failure, ask with --expect-timeout; {}",
        .0.cut, more(.0.cut)
    )]
    NotEnded(NotEnded),
    #[error(
        "the program {cut} while it was recorded, but it has not shown to go round in a loop: {account}: let it run longer \
         with --timeout"
    )]
    NoLoop { cut: Cut, account: NotEnded },
    #[error(
        "the program executed none of the functions in scope: name those to trace with --scope, for example --scope '*.c'"
    )]
    NothingTraced,
}

/// The remedy for a program that ends after a long time: how it gets what it needs.
fn more(cut: Cut) -> &'static str {
    match cut {
        Cut::Trace => "otherwise give it a smaller input, or stripe more memory with --memory",
        Cut::Disk => "otherwise set TMPDIR, where its directory is copied, to a directory with room",
        Cut::FileSize => {
            "otherwise give it a smaller input, or raise the limit of file sizes (ulimit -f) if the shell has set one"
        }
        Cut::Output => "otherwise give it a smaller input",
        _ => "otherwise raise --timeout",
    }
}

/// The remedy for a program that had too little of something.
fn room(cut: Cut) -> &'static str {
    match cut {
        Cut::Disk => "where its directory is copied, set TMPDIR to a directory with room",
        Cut::FileSize => "raise the limit of file sizes (ulimit -f) if the shell has set one",
        _ => "raise --timeout if it needs more",
    }
}

/// The reason why events cannot be looked at.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages are the documentation of the fields")]
pub enum ObserveError {
    #[error(transparent)]
    Process(#[from] ProcessError),
    #[error(transparent)]
    Load(#[from] LoadError),
}

fn at(place: &Option<String>) -> String {
    place.as_ref().map_or_else(String::new, |place| format!(", called at {place}"))
}
