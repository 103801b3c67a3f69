//! The variables of the program: their names, types and places in memory, and their values.
//!
//! From DWARF, as debuggers do: a variable belongs to a function and to a part of its code, or to the whole
//! program. Pure: memory and registers of a stopped program come in from outside. Where a compiler has
//! optimised, a variable may have no place in memory; then it is not found here.

mod called;
mod described;
mod find;
mod format;
mod place;
mod read;
mod types;
mod value;

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use gimli::{Dwarf, RunTimeEndian};

use super::elf::{self, Elf};
use super::guard::guarded;
use super::{FunctionId, LoadError, Program};
use find::LocatedVariable;
pub(crate) use find::{MemoryPiece, View};
pub(crate) use format::ValueBounds;
use place::{Description, Unwinding};
use types::{TypeId, Types};
pub use value::Value;

type Reader = gimli::EndianArcSlice<RunTimeEndian>;
type Entry = gimli::DebuggingInformationEntry<Reader>;

/// Access to the memory of a stopped program.
pub(crate) trait Memory {
    /// Reads so many bytes from an address on; `None` where there are none.
    fn read(&self, address: u64, length: usize) -> Option<Vec<u8>>;
}

/// The empty memory.
struct Nowhere;

impl Memory for Nowhere {
    fn read(&self, _: u64, _: usize) -> Option<Vec<u8>> {
        None
    }
}

/// The first registers in DWARF's order: System V ABI for AMD64, Figure 3.36.
const NUMBERS: [usize; 8] = [0, 2, 1, 3, 6, 7, 5, 4];

/// The registers of a stopped program.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RegisterValues {
    /// The general registers, by the number of the machine's encoding: rax 0, rcx 1, rdx 2, rbx 3, rsp 4, rbp 5, rsi 6,
    /// rdi 7.
    pub(crate) general: [u64; 16],
    /// The instruction pointer.
    pub(crate) pc: u64,
    /// The base of thread-local memory, `fs`.
    pub(crate) fs_base: u64,
}

impl RegisterValues {
    /// The register with this number of DWARF.
    pub(crate) fn dwarf(&self, number: u16) -> Option<u64> {
        let number = usize::from(number);
        match number {
            0..8 => Some(self.general[NUMBERS[number]]),
            8..16 => Some(self.general[number]),
            16 => Some(self.pc),
            _ => None,
        }
    }

    /// Sets the register with this number of DWARF.
    pub(crate) fn set_dwarf(&mut self, number: u16, value: u64) {
        match usize::from(number) {
            place @ 0..8 => self.general[NUMBERS[place]] = value,
            place @ 8..16 => self.general[place] = value,
            16 => self.pc = value,
            _ => {}
        }
    }

    /// The stack pointer.
    pub(crate) fn sp(&self) -> u64 {
        self.general[4]
    }
}

/// A value in memory that has a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    /// The name as the source would have it: `sum`, `p->next`, `list[2].x`.
    pub(crate) name: String,
    /// The address.
    pub(crate) address: u64,
    /// The size in bytes.
    pub(crate) size: u64,
    image: usize,
    kind: TypeId,
    bits: Option<(u64, u64)>,
    syntax: Syntax,
}

impl Named {
    /// Whether all of the other lies in it; not in a part of its bytes.
    pub(crate) fn holds(&self, other: &Named) -> bool {
        let is_within = self.address <= other.address
            && other.address.saturating_add(other.size) <= self.address.saturating_add(self.size);
        is_within && self.bits.is_none() && self.name != other.name
    }

    /// Whether the two have memory in common.
    pub(crate) fn overlaps(&self, other: &Named) -> bool {
        self.address < other.address.saturating_add(other.size)
            && other.address < self.address.saturating_add(self.size)
    }
}

/// The variables of a program.
pub(crate) struct Variables {
    images: Vec<ImageVariables>,
    /// The image of each function, and its position there.
    functions: HashMap<FunctionId, (usize, usize)>,
}

struct ImageVariables {
    types: Types,
    functions: Vec<FunctionVariables>,
    /// The global variables, by their addresses in the file.
    globals: Vec<LocatedVariable>,
    unwinding: Unwinding,
}

/// The variables of a function.
struct FunctionVariables {
    frame_base: Option<Description>,
    variables: Vec<Variable>,
    /// The type that it returns, if anything.
    result: Option<TypeId>,
    syntax: Syntax,
}

struct Variable {
    name: String,
    kind: TypeId,
    place: Description,
    encoding: gimli::Encoding,
    /// The ranges of code in which the name means it; empty for everywhere.
    scope: Vec<(u64, u64)>,
    syntax: Syntax,
}

/// The syntax in which a language writes values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// `{x = 1, y = 2}`, `p->x`.
    #[default]
    C,
    /// `Point {x: 1, y: 2}`, `p.x`.
    Rust,
    /// `[1, 2]`, `a(1,2)`, `p%x`; the first subscript changes fastest.
    Fortran,
}

struct Unit {
    dwarf: Arc<Dwarf<Reader>>,
    unit: gimli::Unit<Reader>,
}

impl Unit {
    fn name(&self, entry: &Entry) -> Option<String> {
        let name = entry.attr_value(gimli::DW_AT_name)?;
        let name = self.dwarf.attr_string(&self.unit, name).ok()?;
        Some(gimli::Reader::to_string_lossy(&name).ok()?.into_owned())
    }

    fn syntax(&self) -> Syntax {
        let mut entries = self.unit.entries();
        let root = entries.next_dfs().ok().flatten();
        match root.and_then(|root| root.attr_value(gimli::DW_AT_language)) {
            Some(gimli::AttributeValue::Language(gimli::DW_LANG_Rust)) => Syntax::Rust,
            Some(gimli::AttributeValue::Language(
                gimli::DW_LANG_Fortran77
                | gimli::DW_LANG_Fortran90
                | gimli::DW_LANG_Fortran95
                | gimli::DW_LANG_Fortran03
                | gimli::DW_LANG_Fortran08,
            )) => Syntax::Fortran,
            _ => Syntax::C,
        }
    }
}

impl Variables {
    /// Reads the variables of the traced functions and the global ones of their units.
    ///
    /// # Errors
    /// If a file of the program cannot be read any more. Debug information that is damaged only makes
    /// variables go unfound.
    pub(crate) fn load(program: &Program) -> Result<Variables, LoadError> {
        let mut variables = Variables { images: Vec::new(), functions: HashMap::new() };
        for (number, image) in program.images().iter().enumerate() {
            guarded(&image.path, || variables.add(program, number))?;
        }
        Ok(variables)
    }

    fn add(&mut self, program: &Program, number: usize) -> Result<(), LoadError> {
        let path = &program.images()[number].path;
        let data = elf::read(path)?;
        let elf = Elf::parse(path, &data)?;
        let owned = |elf: &Elf<'_>, name: &str| -> Result<Reader, LoadError> {
            Ok(Reader::new(Arc::from(&*elf.section(name)?), RunTimeEndian::Little))
        };
        let dwarf = match elf.separate_debug_file()? {
            Some(debug) => {
                let data = elf::contents(&debug)?;
                let elf = Elf::parse(&debug, &data)?;
                Dwarf::load(|id| owned(&elf, id.name()))?
            }
            None => Dwarf::load(|id| owned(&elf, id.name()))?,
        };
        let unwinding = Unwinding {
            frames: gimli::EhFrame::from(owned(&elf, ".eh_frame")?),
            known: RefCell::default(),
            bases: gimli::BaseAddresses::default()
                .set_eh_frame(elf.section_address(".eh_frame").unwrap_or(0))
                .set_text(elf.section_address(".text").unwrap_or(0)),
        };
        let entries = entries(program, number);
        let mut image =
            ImageVariables { types: Types::default(), functions: Vec::new(), globals: Vec::new(), unwinding };
        for (function, position) in read::read(Arc::new(dwarf), &entries, &mut image) {
            self.functions.insert(function, (number, position));
        }
        self.images.push(image);
        Ok(())
    }
}

/// The traced functions of an image by the addresses of their entries.
fn entries(program: &Program, image: usize) -> HashMap<u64, FunctionId> {
    let leaders = program.leaders().iter();
    let entries = leaders.filter(|leader| usize::from(leader.image.0) == image);
    let entries = entries.filter(|leader| leader.kind == super::LeaderKind::Entry);
    entries.map(|leader| (leader.address.0, leader.function)).collect()
}

/// The entry that a reference leads to.
fn target(
    units: &[Unit],
    unit: usize,
    reference: &gimli::AttributeValue<Reader>,
) -> Option<(usize, gimli::UnitOffset)> {
    match *reference {
        gimli::AttributeValue::UnitRef(offset) => Some((unit, offset)),
        gimli::AttributeValue::DebugInfoRef(offset) => units
            .iter()
            .enumerate()
            .find_map(|(number, unit)| Some((number, offset.to_unit_offset(&unit.unit.header)?))),
        _ => None,
    }
}
