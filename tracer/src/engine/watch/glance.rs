//! The state of an event that is being looked at.

use std::collections::HashMap;

use crate::engine::ledger::Ledger;
use crate::program::FunctionId;
use crate::program::variables::{Memory, Named, RegisterValues, Value, View};
use crate::trace::EventId;

/// An event that is being looked at.
pub(super) struct Glance {
    pub(super) event: EventId,
    /// The event to which its writes are attributed: a parameter is written by the event that calls.
    pub(super) author: EventId,
    pub(super) function: FunctionId,
    pub(super) bias: u64,
    pub(super) steps: u32,
    /// The values that it has written, to be read again in the end.
    pub(super) written: Vec<Named>,
    /// The bytes that it has overwritten, by address.
    pub(super) overwritten: HashMap<u64, u8>,
    /// The addresses at which it has read what may be a pointer.
    pub(super) pointers: Vec<u64>,
}

impl Glance {
    pub(super) fn view<'v>(&'v self, registers: &'v RegisterValues, memory: &'v dyn Memory) -> View<'v> {
        View { function: self.function, registers, bias: self.bias, memory, followed: &self.pointers }
    }

    /// Notes that it overwrites these bytes.
    pub(super) fn overwrites(&mut self, address: u64, bytes: &[u8]) {
        for (&byte, at) in bytes.iter().zip(address..) {
            self.overwritten.entry(at).or_insert(byte);
        }
    }

    /// Notes that it writes a value, of which `before` tells what it was. Parts of it that it has written before do not
    /// count any more, nor does a part of what it has written already.
    pub(super) fn writes(
        &mut self,
        ledger: &mut Ledger,
        named: Named,
        before: impl FnOnce(&Named, &Glance) -> Option<Value>,
    ) {
        if self.written.iter().any(|whole| whole.holds(&named)) {
            return;
        }
        self.written.retain(|part| {
            let is_part = named.holds(part);
            if is_part {
                ledger.forget(self.event, &part.name);
            }
            !is_part
        });
        if ledger.writes(self.event, &named.name, || before(&named, self)) {
            self.written.push(named);
        }
    }
}

/// The memory as it was before an event.
pub(super) struct Past<'p> {
    pub(super) memory: &'p dyn Memory,
    pub(super) overwritten: &'p HashMap<u64, u8>,
}

impl Memory for Past<'_> {
    fn read(&self, address: u64, length: usize) -> Option<Vec<u8>> {
        let mut bytes = self.memory.read(address, length)?;
        for (byte, at) in bytes.iter_mut().zip(address..) {
            *byte = self.overwritten.get(&at).copied().unwrap_or(*byte);
        }
        Some(bytes)
    }
}
