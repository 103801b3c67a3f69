//! Tell from leaders and stack pointers which calls are open.
//!
//! An entry opens a call and remembers the stack pointer there. A call is over
//! - once the stack pointer has risen above it, or a new entry has come to the same place;
//! - once anything else is reached behind its epilogue. The stack pointer alone does not show that a
//!   call has returned where the caller has pushed arguments for the next one meanwhile;
//! - once control is back in a function further out.
//!
//! This carries recursion, `longjmp`, exceptions, callbacks and signal handlers without a special case.

use crate::program::{FunctionId, Leader, LeaderKind};

/// An open call, with what its owner keeps about it.
#[derive(Clone, Debug)]
struct Call<T> {
    entry_sp: u64,
    function: FunctionId,
    /// Whether its epilogue is under way.
    finished: bool,
    data: T,
}

/// The open calls, outermost first.
#[derive(Clone, Debug)]
pub(crate) struct Calls<T> {
    open: Vec<Call<T>>,
}

impl<T> Default for Calls<T> {
    fn default() -> Self {
        Calls { open: Vec::new() }
    }
}

impl<T> Calls<T> {
    /// Closes what is over when `leader` is reached with the stack pointer `sp`. Tells whether control
    /// is where it can be: at an entry, or in the function of the innermost call that is left.
    pub(crate) fn settle(&mut self, leader: &Leader, sp: u64) -> bool {
        let at_entry = leader.kind == LeaderKind::Entry;
        let is_over = |call: &Call<T>| {
            let risen = if at_entry { call.entry_sp <= sp } else { call.entry_sp < sp };
            risen || call.finished
        };
        while self.open.last().is_some_and(is_over) {
            self.open.pop();
        }
        if at_entry {
            return true;
        }
        let own = self.open.iter().rposition(|call| call.function == leader.function);
        if let Some(own) = own {
            self.open.truncate(own + 1);
        }
        own.is_some()
    }

    /// Opens a call of the function that begins at `leader`.
    pub(crate) fn enter(&mut self, leader: &Leader, sp: u64, data: T) {
        self.open.push(Call { entry_sp: sp, function: leader.function, finished: false, data });
    }

    /// Takes note that the innermost call goes on at `leader`.
    pub(crate) fn go_on(&mut self, leader: &Leader) {
        if let Some(call) = self.open.last_mut() {
            call.finished = leader.kind == LeaderKind::Epilogue;
        }
    }

    /// What is kept about the innermost call.
    pub(crate) fn innermost(&self) -> Option<&T> {
        self.open.last().map(|call| &call.data)
    }

    /// What is kept about the innermost call, to be changed.
    pub(crate) fn innermost_mut(&mut self) -> Option<&mut T> {
        self.open.last_mut().map(|call| &mut call.data)
    }

    /// What is kept about each call, innermost first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.open.iter().rev().map(|call| &call.data)
    }
}
