//! The open calls, told from leaders and stack pointers.
//!
//! An entry opens a call and remembers the stack pointer there. A call is over
//! - once the stack pointer has risen above it, or a new entry has come to the same place;
//! - once anything else is reached after its epilogue. The stack pointer alone does not show that a call has returned
//!   where the caller has pushed arguments for the next one meanwhile;
//! - once control is back in a function further out.
//!
//! This carries recursion, `longjmp`, exceptions, callbacks and signal handlers without a special case.

use crate::names::{FunctionId, LeaderKind, Mark};
use crate::stack::Stack;

/// An open call, with what its owner keeps about it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Call<T> {
    entry_sp: u64,
    function: FunctionId,
    /// Whether its epilogue is under way. A number, because any bits may be found in memory that a
    /// program can write to.
    finished: u32,
    data: T,
}

impl<T> Call<T> {
    /// The owner's data on the call.
    pub fn data(&self) -> &T {
        &self.data
    }
}

/// The open calls, outermost first.
#[derive(Clone, Debug, Default)]
pub struct Calls<S> {
    open: S,
}

impl<T, S: Stack<Thing = Call<T>>> Calls<S> {
    /// Starts with calls that are open already.
    pub fn new(open: S) -> Calls<S> {
        Calls { open }
    }

    /// Closes the calls that are over when a leader is reached with the stack pointer `sp`. Returns true if control is
    /// where it can be: at an entry, or in the function of the innermost call that is left.
    #[inline(always)]
    pub fn settle(&mut self, leader: Mark, sp: u64) -> bool {
        let at_entry = leader.kind == LeaderKind::Entry;
        let is_over = |call: &Call<T>| {
            let risen = if at_entry { call.entry_sp <= sp } else { call.entry_sp < sp };
            risen || call.finished != 0
        };
        while self.open.last().is_some_and(is_over) {
            self.open.truncate(self.open.len() - 1);
        }
        at_entry || self.return_to(leader.function)
    }

    /// Closes the calls within the innermost one of `function`; false if there is none.
    #[inline(always)]
    fn return_to(&mut self, function: FunctionId) -> bool {
        let mut depth = self.open.len();
        while depth > 0 {
            if self.open.get(depth - 1).is_some_and(|call| call.function == function) {
                if depth < self.open.len() {
                    self.open.truncate(depth);
                }
                return true;
            }
            depth -= 1;
        }
        false
    }

    /// Opens a call of the function that begins at a leader.
    #[inline(always)]
    pub fn enter(&mut self, leader: Mark, sp: u64, data: T) {
        self.open.push(Call { entry_sp: sp, function: leader.function, finished: 0, data });
    }

    /// Notes that the innermost call goes on at a leader.
    #[inline(always)]
    pub fn go_on(&mut self, leader: Mark) {
        if let Some(call) = self.open.last_mut() {
            call.finished = u32::from(leader.kind == LeaderKind::Epilogue);
        }
    }

    /// The stack pointer at the entry of the innermost call.
    #[inline(always)]
    pub fn entry_sp(&self) -> Option<u64> {
        self.open.last().map(|call| call.entry_sp)
    }

    /// The data on the innermost call.
    #[inline(always)]
    pub fn innermost(&self) -> Option<&T> {
        self.open.last().map(|call| &call.data)
    }

    /// The data on the innermost call, to be changed.
    #[inline(always)]
    pub fn innermost_mut(&mut self) -> Option<&mut T> {
        self.open.last_mut().map(|call| &mut call.data)
    }

    /// The data on each call, innermost first.
    pub fn iter<'a>(&'a self) -> impl Iterator<Item = &'a T>
    where
        T: 'a,
    {
        (0..self.open.len()).rev().filter_map(|depth| self.open.get(depth)).map(|call| &call.data)
    }
}
