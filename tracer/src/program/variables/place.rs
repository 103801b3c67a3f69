//! The place of a variable, as DWARF expressions say.
//!
//! Only what lies in memory has a place: a compiler that optimises keeps values in registers or in pieces,
//! and these are not available here.

use std::cell::RefCell;
use std::collections::HashMap;

use gimli::{CfaRule, Encoding, EvaluationResult, Expression, Location, UnwindSection, Value};

use super::{Memory, Reader, RegisterValues};

/// A location description: the place of something.
#[derive(Clone, Debug)]
pub(super) enum Description {
    /// The same expression everywhere.
    One(Expression<Reader>),
    /// An expression for each range of addresses.
    List(Vec<(u64, u64, Expression<Reader>)>),
}

/// The unwind tables of an image.
pub(super) struct Unwinding {
    pub(super) frames: gimli::EhFrame<Reader>,
    pub(super) bases: gimli::BaseAddresses,
    /// The rows for addresses of code that were asked for: a register, and the offset of the frame's beginning from its
    /// value. The tables are long.
    pub(super) known: RefCell<HashMap<u64, Option<(u16, i64)>>>,
}

/// A function that is stopped, in the addresses of its file.
pub(super) struct StoppedAt<'a> {
    /// The address of the next instruction, as the file counts.
    pub(super) pc: u64,
    pub(super) registers: &'a RegisterValues,
    /// The bias: what has to be added to addresses of the file.
    pub(super) bias: u64,
    pub(super) unwinding: &'a Unwinding,
    pub(super) frame_base: Option<&'a Description>,
    pub(super) memory: &'a dyn Memory,
}

impl Unwinding {
    fn frame_at(&self, pc: u64) -> Option<(u16, i64)> {
        *self.known.borrow_mut().entry(pc).or_insert_with(|| {
            let mut context = gimli::UnwindContext::new();
            let find_cie = gimli::EhFrame::cie_from_offset;
            let row = self.frames.unwind_info_for_address(&self.bases, &mut context, pc, find_cie).ok()?;
            match row.cfa() {
                CfaRule::RegisterAndOffset { register, offset } => Some((register.0, *offset)),
                CfaRule::Expression(_) => None,
            }
        })
    }
}

impl Description {
    fn at(&self, pc: u64) -> Option<&Expression<Reader>> {
        match self {
            Description::One(expression) => Some(expression),
            Description::List(list) => {
                list.iter().find(|(start, end, _)| (*start..*end).contains(&pc)).map(|(.., e)| e)
            }
        }
    }
}

impl StoppedAt<'_> {
    /// The address of an object; `None` if it is not in memory.
    pub(super) fn address(&self, description: &Description, encoding: Encoding) -> Option<u64> {
        match self.evaluate(description.at(self.pc)?, encoding, None)? {
            Location::Address { address } => Some(address),
            _ => None,
        }
    }

    /// The result of an expression that computes a number or an address from the place of an object.
    pub(super) fn value(
        &self,
        expression: &Expression<Reader>,
        encoding: Encoding,
        object: u64,
    ) -> Option<u64> {
        match self.evaluate(expression, encoding, Some(object))? {
            Location::Address { address } => Some(address),
            Location::Value { value } => value.to_u64(u64::MAX).ok(),
            _ => None,
        }
    }

    /// The address that the call frame information calls CFA: the stack pointer before the call.
    fn canonical_frame_address(&self) -> Option<u64> {
        let (register, offset) = self.unwinding.frame_at(self.pc)?;
        Some(self.registers.dwarf(register)?.wrapping_add_signed(offset))
    }

    fn frame_base_address(&self, encoding: Encoding) -> Option<u64> {
        match self.evaluate(self.frame_base?.at(self.pc)?, encoding, None)? {
            Location::Address { address } => Some(address),
            Location::Register { register } => self.registers.dwarf(register.0),
            _ => None,
        }
    }

    fn evaluate(
        &self,
        expression: &Expression<Reader>,
        encoding: Encoding,
        object: Option<u64>,
    ) -> Option<Location<Reader>> {
        let mut evaluation = expression.clone().evaluation(encoding);
        object.into_iter().for_each(|object| evaluation.set_object_address(object));
        evaluation.set_max_iterations(1000);
        let mut state = evaluation.evaluate().ok()?;
        loop {
            state = match state {
                EvaluationResult::Complete => break,
                EvaluationResult::RequiresRegister { register, .. } => {
                    evaluation.resume_with_register(Value::Generic(self.registers.dwarf(register.0)?))
                }
                EvaluationResult::RequiresFrameBase => {
                    evaluation.resume_with_frame_base(self.frame_base_address(encoding)?)
                }
                EvaluationResult::RequiresCallFrameCfa => {
                    evaluation.resume_with_call_frame_cfa(self.canonical_frame_address()?)
                }
                EvaluationResult::RequiresRelocatedAddress(address) => {
                    evaluation.resume_with_relocated_address(address.wrapping_add(self.bias))
                }
                EvaluationResult::RequiresMemory { address, size, .. } => {
                    let bytes = self.memory.read(address, usize::from(size))?;
                    let word = bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
                    evaluation.resume_with_memory(Value::Generic(word))
                }
                // Values of callers, of other threads, and what no compiler writes without optimisation.
                _ => return None,
            }
            .ok()?;
        }
        match evaluation.result().as_slice() {
            [piece] if piece.size_in_bits.is_none() => Some(piece.location.clone()),
            _ => None,
        }
    }
}
