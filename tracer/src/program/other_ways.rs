//! The possible stores of the other ways of a decision: what the code there could write, which would have been executed
//! if it had gone another way.
//!
//! The place of a stored value is told as far as the code says it: in the frame of the function, at a fixed address,
//! through a pointer that lies in one of these, or somewhere. Variables whose address is taken there count as written.
//! Values that a compiler keeps in registers do not.
//!
//! Source: potential dependences, Agrawal, Horgan, Krauser and London, "Incremental Regression Testing", ICSM 1993.

use std::collections::{BTreeSet, HashMap};

use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind,
    Register,
};

use super::{ImageId, LeaderId, Program};
use crate::address::FileAddress;

/// The largest number of instructions that are looked at for each decision.
const MOST_INSTRUCTIONS: usize = 20_000;

/// A place in memory that the code can name by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum FixedPlace {
    /// So many bytes above the frame pointer.
    Frame(i64),
    /// An address of the image's file.
    Global(u64),
}

/// A store that could be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PossibleStore {
    /// To so many bytes at a place.
    At(FixedPlace, u64),
    /// To something in the variable at a place: an element, or what a called function does with its address.
    Within(FixedPlace),
    /// Through the pointer at a place: to so many bytes, at this offset from the address that lies there.
    Through(FixedPlace, i64, u64),
    /// To an unknown address, by the instruction at this address of the file.
    Somewhere(u64),
    /// Anywhere: the code could not be followed.
    Unknown,
}

/// The origin of the address in a register.
#[derive(Clone, Copy)]
enum AddressOrigin {
    /// It was loaded from memory, from this place.
    Loaded(FixedPlace),
    /// It is the address of a variable, which counts as written already.
    Variable,
}

impl Program {
    /// The stores that could be executed if `decision` went elsewhere than to `taken`, up to where all ways meet again.
    pub(crate) fn possible_stores(&self, decision: LeaderId, taken: Option<LeaderId>) -> Vec<PossibleStore> {
        let it = self.leader(decision);
        let mut walk = Walk::new(self, it.image);
        walk.ends.insert(it.address.0);
        walk.ends.extend(it.post_dominator.map(|end| self.leader(end).address.0));
        let jumps = self.decisions(decision);
        if jumps.is_empty() {
            // A table of addresses.
            return vec![PossibleStore::Unknown];
        }
        for jump in jumps {
            for jumps in [false, true] {
                if taken.is_none() || self.destination(it.image, jump, jumps) != taken {
                    walk.open.extend(self.side(it.image, jump, jumps));
                }
            }
        }
        walk.go_on();
        if walk.seen.len() >= MOST_INSTRUCTIONS {
            walk.stores.insert(PossibleStore::Unknown);
        }
        walk.stores.into_iter().collect()
    }

    /// The address at which control goes on at a conditional jump.
    fn side(&self, image: ImageId, jump: FileAddress, jumps: bool) -> Option<u64> {
        let text = self.text_at(image, jump)?;
        let instruction = Decoder::with_ip(64, text, jump.0, DecoderOptions::NONE).decode();
        Some(if jumps { instruction.near_branch_target() } else { instruction.next_ip() })
    }
}

/// A walk through all code that can be reached.
struct Walk<'w> {
    program: &'w Program,
    image: ImageId,
    /// The addresses at which the walk ends.
    ends: BTreeSet<u64>,
    open: Vec<u64>,
    seen: BTreeSet<u64>,
    /// The functions that are called, and whose frames are their own.
    callees: Vec<u64>,
    is_callee: bool,
    stores: BTreeSet<PossibleStore>,
    factory: InstructionInfoFactory,
}

impl<'w> Walk<'w> {
    fn new(program: &'w Program, image: ImageId) -> Walk<'w> {
        Walk {
            program,
            image,
            ends: BTreeSet::new(),
            open: Vec::new(),
            seen: BTreeSet::new(),
            callees: Vec::new(),
            is_callee: false,
            stores: BTreeSet::new(),
            factory: InstructionInfoFactory::new(),
        }
    }

    fn go_on(&mut self) {
        loop {
            while let Some(start) = self.open.pop() {
                self.straight(start);
            }
            let Some(callee) = self.callees.pop() else { return };
            self.is_callee = true;
            self.open.push(callee);
        }
    }

    /// Follows the code from here on to where it branches.
    fn straight(&mut self, start: u64) {
        let mut pointers = HashMap::new();
        let mut at = start;
        while !self.ends.contains(&at) && self.seen.len() < MOST_INSTRUCTIONS && self.seen.insert(at) {
            let Some(text) = self.program.text_at(self.image, FileAddress(at)) else { return };
            let instruction = Decoder::with_ip(64, text, at, DecoderOptions::NONE).decode();
            if instruction.is_invalid() {
                return;
            }
            self.look(&instruction, &mut pointers);
            match instruction.flow_control() {
                FlowControl::Next => {}
                FlowControl::Call => {
                    let callee = instruction.near_branch_target();
                    let is_traced = self.program.leader_at(self.image, FileAddress(callee)).is_some();
                    self.callees.extend(is_traced.then_some(callee));
                    pointers.clear();
                }
                FlowControl::IndirectCall => pointers.clear(),
                FlowControl::ConditionalBranch => self.open.push(instruction.near_branch_target()),
                FlowControl::UnconditionalBranch => {
                    at = instruction.near_branch_target();
                    continue;
                }
                _ => return,
            }
            at = instruction.next_ip();
        }
    }

    /// Notes the stores of an instruction, and the pointers that it loads from memory.
    fn look(&mut self, instruction: &Instruction, pointers: &mut HashMap<Register, AddressOrigin>) {
        let place = fixed_place(instruction);
        if instruction.mnemonic() == Mnemonic::Lea {
            self.add(place.map(PossibleStore::Within));
        }
        let info = self.factory.info(instruction);
        let is_written = |access| {
            matches!(
                access,
                OpAccess::Write | OpAccess::CondWrite | OpAccess::ReadWrite | OpAccess::ReadCondWrite
            )
        };
        let written = info.used_memory().iter().find(|used| is_written(used.access()));
        let changed: Vec<Register> = (info.used_registers().iter())
            .filter(|used| is_written(used.access()))
            .map(|used| used.register().full_register())
            .collect();
        if let Some(used) = written.filter(|used| used.base() != Register::RSP) {
            let length = used.memory_size().size() as u64;
            let is_direct = used.index() == Register::None;
            let origin = [used.base(), used.index()].map(|register| pointers.get(&register).copied());
            let store = match (place, origin) {
                (Some(place), _) if is_direct => Some(PossibleStore::At(place, length)),
                (Some(place), _) => Some(PossibleStore::Within(place)),
                (None, [Some(AddressOrigin::Variable), _] | [_, Some(AddressOrigin::Variable)]) => None,
                (None, [Some(AddressOrigin::Loaded(pointer)), _]) if is_direct && !self.is_callee => {
                    Some(PossibleStore::Through(pointer, used.displacement() as i64, length))
                }
                _ => Some(PossibleStore::Somewhere(instruction.ip())),
            };
            self.add(store);
        }
        changed.iter().for_each(|register| {
            pointers.remove(register);
        });
        let is_into_register =
            instruction.op0_kind() == OpKind::Register && instruction.op0_register().is_gpr64();
        let is_load =
            instruction.op1_kind() == OpKind::Memory && instruction.memory_index() == Register::None;
        let origin = match (instruction.mnemonic(), place) {
            (Mnemonic::Mov, Some(place)) if is_load => Some(AddressOrigin::Loaded(place)),
            (Mnemonic::Lea, Some(_)) => Some(AddressOrigin::Variable),
            _ => None,
        };
        if let Some(origin) = origin.filter(|_| is_into_register) {
            pointers.insert(instruction.op0_register(), origin);
        }
    }

    /// Adds a store. What a called function does to its own frame is over when it returns.
    fn add(&mut self, store: Option<PossibleStore>) {
        let is_own = |store: &PossibleStore| match store {
            PossibleStore::At(place, _) | PossibleStore::Within(place) => {
                matches!(place, FixedPlace::Frame(_))
            }
            _ => false,
        };
        self.stores.extend(store.filter(|store| !(self.is_callee && is_own(store))));
    }
}

/// The place that an instruction's operand in memory names, its index left aside.
fn fixed_place(instruction: &Instruction) -> Option<FixedPlace> {
    let displacement = instruction.memory_displacement64();
    match instruction.memory_base() {
        Register::RBP => Some(FixedPlace::Frame(displacement as i64)),
        Register::RIP => Some(FixedPlace::Global(displacement)),
        _ => None,
    }
}
