//! The name in the source for a piece of memory: a variable, a member or an element of one, or the target of a pointer
//! in one.

use super::described::SettledDimension;
use super::place::StoppedAt;
use super::types::{Dimension, Member, Shape, TypeId, Types};
use super::{FunctionVariables, ImageVariables, Memory, Named, RegisterValues, Syntax, Variable, Variables};
use crate::program::FunctionId;

/// A function that is stopped, for the search of its variables.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    /// The function.
    pub(crate) function: FunctionId,
    /// Its registers at the stop.
    pub(crate) registers: &'a RegisterValues,
    /// The bias: what has to be added to addresses of its image's file.
    pub(crate) bias: u64,
    /// The memory of the stopped program.
    pub(crate) memory: &'a dyn Memory,
    /// The addresses of pointers that have been followed: they may lead into the middle of something.
    pub(crate) followed: &'a [u64],
}

/// A piece of memory: address and length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MemoryPiece {
    pub(crate) address: u64,
    pub(crate) length: u64,
}

/// The largest number of pointers on the way to a target...
const MOST_STEPS: usize = 3;
/// ...and the largest number of pointers that are looked at.
const MOST_POINTERS: usize = 256;
/// The largest size of an array in bytes: a descriptor that says more has not been filled in yet.
const MOST_BYTES: u64 = 1 << 32;
/// The largest number of elements that a pointer is taken to lead to: an index beyond is hardly meant.
const MOST_ELEMENTS: u64 = 1 << 16;

impl Variables {
    /// The name of a piece of memory where a function is stopped.
    pub(crate) fn name(&self, view: View<'_>, piece: MemoryPiece) -> Option<Named> {
        self.found(view, (piece, MOST_ELEMENTS), |search, whole| search.within(whole, piece))
    }

    /// The variable, member or element that begins at an address, the largest of them, or else the smallest
    /// that holds it: what is meant when the address is handed on.
    pub(crate) fn object(&self, view: View<'_>, address: u64) -> Option<Named> {
        let piece = MemoryPiece { address, length: 1 };
        self.found(view, (piece, 1), |search, whole| search.beginning(whole, piece))
    }

    /// The name of a piece of memory that was to be reached by the pointer at an address: the name of that pointer's
    /// place, and that of the piece.
    pub(crate) fn through(&self, view: View<'_>, pointer: u64, piece: MemoryPiece) -> Option<(Named, Named)> {
        let pointer = self.name(view, MemoryPiece { address: pointer, length: 8 })?;
        let search = self.search(view)?;
        let types = search.types;
        let (to, is_reference) = match types.get(pointer.kind).shape {
            Shape::Pointer(Some(to)) => (to, false),
            Shape::Reference(Some(to)) => (to, true),
            _ => return None,
        };
        let bytes = view.memory.read(pointer.address, 8)?;
        let address = u64::from_le_bytes(bytes.try_into().ok()?);
        let target = LocatedVariable { name: String::new(), address, kind: to, syntax: pointer.syntax };
        let to = search.settled(target)?.kind;
        let size = types.get(to).size.max(1);
        let number = (piece.address.wrapping_sub(address) as i64).div_euclid(size as i64);
        let name = search.target_name((&pointer.name, pointer.syntax), number, (to, is_reference));
        let address = address.wrapping_add_signed(number.wrapping_mul(size as i64));
        let whole = LocatedVariable { name, address, kind: to, syntax: pointer.syntax };
        let part =
            if whole.holds(piece, types) { search.within(whole, piece) } else { search.named(whole, None) };
        Some((pointer, part?))
    }

    /// The variables of the function itself.
    pub(crate) fn own(&self, view: View<'_>) -> Vec<Named> {
        let Some(search) = self.search(view) else { return Vec::new() };
        search.visible().into_iter().filter_map(|found| search.named(found, None)).collect()
    }

    /// The search for names where a function is stopped.
    pub(super) fn search<'s>(&'s self, view: View<'s>) -> Option<Search<'s>> {
        let &(image, position) = self.functions.get(&view.function)?;
        let ImageVariables { types, functions, unwinding, .. } = &self.images[image];
        let function = &functions[position];
        let stop = StoppedAt {
            pc: view.registers.pc.wrapping_sub(view.bias),
            registers: view.registers,
            bias: view.bias,
            unwinding,
            frame_base: function.frame_base.as_ref(),
            memory: view.memory,
        };
        Some(Search { image, types, function, stop, followed: view.followed })
    }

    fn found(
        &self,
        view: View<'_>,
        (piece, most): (MemoryPiece, u64),
        choose: impl Fn(&Search<'_>, LocatedVariable) -> Option<Named>,
    ) -> Option<Named> {
        let search = self.search(view)?;
        let types = search.types;
        let globals = &self.images[search.image].globals;
        let mut own = search.visible();
        if let Some(at) = own.iter().position(|variable| variable.holds(piece, types)) {
            return choose(&search, own.swap_remove(at));
        }
        let file_address = piece.address.wrapping_sub(view.bias);
        let behind = globals.partition_point(|global| global.address <= file_address);
        let moved = |global: &LocatedVariable| LocatedVariable {
            address: global.address.wrapping_add(view.bias),
            ..global.clone()
        };
        let global = behind.checked_sub(1).map(|at| moved(&globals[at]));
        if let Some(global) = global.filter(|global| global.holds(piece, types)) {
            return choose(&search, global);
        }
        own.extend(globals.iter().take(MOST_POINTERS).map(moved));
        choose(&search, search.behind_pointers(own, piece, most)?)
    }
}

/// A variable with its place.
#[derive(Clone, Debug)]
pub(super) struct LocatedVariable {
    pub(super) name: String,
    pub(super) address: u64,
    pub(super) kind: TypeId,
    pub(super) syntax: Syntax,
}

impl LocatedVariable {
    pub(super) fn holds(&self, piece: MemoryPiece, types: &Types) -> bool {
        let end = self.address.saturating_add(types.get(self.kind).size);
        self.address <= piece.address && piece.address.saturating_add(piece.length) <= end
    }
}

/// The search for names where a function is stopped.
pub(super) struct Search<'s> {
    pub(super) image: usize,
    pub(super) types: &'s Types,
    function: &'s FunctionVariables,
    pub(super) stop: StoppedAt<'s>,
    followed: &'s [u64],
}

impl Search<'_> {
    /// The variables of the function that lie in memory, those of inner blocks first. A name that is not in scope
    /// yet or any more comes last: a compiler may initialise a variable before.
    pub(super) fn visible(&self) -> Vec<LocatedVariable> {
        let stop = &self.stop;
        let found = |variable: &Variable| {
            let address = stop.address(&variable.place, variable.encoding)?;
            let Variable { name, kind, syntax, .. } = variable;
            self.settled(LocatedVariable { name: name.clone(), address, kind: *kind, syntax: *syntax })
        };
        let is_in_scope = |variable: &&Variable| {
            let within = |&(start, end): &(u64, u64)| (start..end).contains(&stop.pc);
            variable.scope.is_empty() || variable.scope.iter().any(within)
        };
        let (inside, outside): (Vec<&Variable>, Vec<&Variable>) =
            self.function.variables.iter().partition(is_in_scope);
        let inside = inside.into_iter().rev();
        // Of the variables out of scope, the one that comes into scope next is meant.
        let mut outside: Vec<&Variable> = outside;
        outside.sort_by_key(|variable| {
            let start = variable.scope.first().map_or(0, |&(start, _)| start);
            (start < stop.pc, start.abs_diff(stop.pc))
        });
        inside.chain(outside).filter_map(found).collect()
    }

    /// The array that the run describes at this place: a part of memory of a known size. Everything else is that
    /// already. `None` if there is no array now.
    pub(super) fn settled(&self, found: LocatedVariable) -> Option<LocatedVariable> {
        let Shape::Described(of, description) = &self.types.get(found.kind).shape else { return Some(found) };
        let (address, dimensions) = description.settled(found.address, &self.stop)?;
        let element = self.types.get(*of).size;
        let kind = dimensions.into_iter().rev().try_fold(
            *of,
            |kind, SettledDimension { first, count, stride }| {
                let stride = stride.unwrap_or(self.types.get(kind).size);
                let is_possible =
                    stride >= element && count.checked_mul(stride).is_some_and(|all| all <= MOST_BYTES);
                is_possible.then(|| self.types.array_of(kind, Dimension { first, count, stride })).flatten()
            },
        )?;
        Some(LocatedVariable { address, kind, ..found })
    }

    /// The smallest part of a value that holds a piece of it.
    fn within(&self, whole: LocatedVariable, piece: MemoryPiece) -> Option<Named> {
        self.part_until(whole, piece, |_| false)
    }

    /// The largest part of a value that begins where a piece of it does.
    fn beginning(&self, whole: LocatedVariable, piece: MemoryPiece) -> Option<Named> {
        self.part_until(whole, piece, |part| part.address == piece.address)
    }

    fn part_until(
        &self,
        mut whole: LocatedVariable,
        piece: MemoryPiece,
        is_meant: impl Fn(&LocatedVariable) -> bool,
    ) -> Option<Named> {
        let mut bits = None;
        while bits.is_none() && !is_meant(&whole) {
            let Some((part, part_bits)) = self.part(&whole, piece) else { break };
            bits = part_bits;
            whole = part;
        }
        self.named(whole, bits)
    }

    pub(super) fn named(&self, found: LocatedVariable, bits: Option<(u64, u64)>) -> Option<Named> {
        let size = self.types.get(found.kind).size;
        let LocatedVariable { name, address, kind, syntax } = found;
        (!name.is_empty()).then_some(Named { name, address, size, image: self.image, kind, bits, syntax })
    }

    /// The member or element that holds a piece.
    fn part(
        &self,
        whole: &LocatedVariable,
        piece: MemoryPiece,
    ) -> Option<(LocatedVariable, Option<(u64, u64)>)> {
        let offset = piece.address - whole.address;
        match &self.types.get(whole.kind).shape {
            Shape::Array(of, dimension) => {
                let number = offset.checked_div(dimension.stride)?;
                let name = match whole.syntax {
                    Syntax::Fortran => {
                        let subscript = dimension.first.checked_add(number.try_into().ok()?)?;
                        subscripted(&whole.name, subscript, self.types.dimensions(*of))
                    }
                    _ => format!("{}[{number}]", whole.name),
                };
                let element = LocatedVariable {
                    name,
                    address: whole.address + number * dimension.stride,
                    kind: *of,
                    syntax: whole.syntax,
                };
                element.holds(piece, self.types).then_some((element, None))
            }
            Shape::Record(record) => {
                let mut candidates = record.members.iter().filter_map(|member| {
                    let part = self.member(whole, member);
                    part.holds(piece, self.types).then_some((part, member.bits))
                });
                candidates.next()
            }
            _ => None,
        }
    }

    pub(super) fn member(&self, whole: &LocatedVariable, member: &Member) -> LocatedVariable {
        let name = match (member.is_base, member.name.as_str(), whole.name.strip_prefix('*')) {
            (true, ..) | (_, "", _) => whole.name.clone(),
            (_, name, _) if whole.syntax == Syntax::Fortran => {
                format!("{}%{name}", whole.name.trim_start_matches('*'))
            }
            (_, name, Some(pointer)) if whole.syntax == Syntax::C => format!("{pointer}->{name}"),
            (_, name, Some(pointer)) => format!("{pointer}.{}", rust_name(name)),
            (_, name, None) if whole.syntax == Syntax::Rust => format!("{}.{}", whole.name, rust_name(name)),
            (_, name, None) => format!("{}.{name}", whole.name),
        };
        LocatedVariable {
            name,
            address: whole.address + member.offset,
            kind: member.kind,
            syntax: whole.syntax,
        }
    }

    /// The target that holds a piece and is reached by pointers from these variables.
    fn behind_pointers(
        &self,
        variables: Vec<LocatedVariable>,
        piece: MemoryPiece,
        most: u64,
    ) -> Option<LocatedVariable> {
        let mut open = variables;
        let mut looked_at = 0;
        for _ in 0..MOST_STEPS {
            let mut next = Vec::new();
            for start in open {
                for pointer in self.pointers(start) {
                    looked_at += 1;
                    if looked_at > MOST_POINTERS {
                        return None;
                    }
                    let Some(behind) = self.behind(&pointer, piece, most) else { continue };
                    if behind.holds(piece, self.types) {
                        return Some(behind);
                    }
                    next.push(behind);
                }
            }
            open = next;
        }
        None
    }

    /// The pointers in a value, itself or its members.
    fn pointers(&self, whole: LocatedVariable) -> Vec<LocatedVariable> {
        match &self.types.get(whole.kind).shape {
            Shape::Pointer(Some(_)) | Shape::Reference(Some(_)) | Shape::Described(..) => vec![whole],
            Shape::Record(record) => {
                let members = record.members.iter().map(|member| self.member(&whole, member));
                members.flat_map(|member| self.pointers(member)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// The target of a pointer: of an array with at most so many elements the one that holds `piece`, if it may be
    /// there.
    fn behind(&self, pointer: &LocatedVariable, piece: MemoryPiece, most: u64) -> Option<LocatedVariable> {
        let (to, is_reference) = match self.types.get(pointer.kind).shape {
            Shape::Pointer(Some(to)) => (to, false),
            Shape::Reference(Some(to)) => (to, true),
            Shape::Described(..) => return self.settled(pointer.clone()),
            _ => return None,
        };
        let bytes = self.stop.memory.read(pointer.address, 8)?;
        let address = u64::from_le_bytes(bytes.try_into().ok()?);
        let to = self.settled(LocatedVariable { address, kind: to, ..pointer.clone() })?.kind;
        let size = self.types.get(to).size;
        if address == 0 || size == 0 {
            return None;
        }
        let number = piece.address.checked_sub(address).map_or(0, |distance| distance / size);
        let is_element = !is_reference && number < most && self.followed.contains(&pointer.address);
        let number = if is_element { number } else { 0 };
        let name = self.target_name((&pointer.name, pointer.syntax), number as i64, (to, is_reference));
        Some(LocatedVariable { name, address: address + number * size, kind: to, syntax: pointer.syntax })
    }

    /// The name of the target of a pointer or a reference, or of its neighbour with this number.
    fn target_name(
        &self,
        (pointer, syntax): (&str, Syntax),
        number: i64,
        (to, is_reference): (TypeId, bool),
    ) -> String {
        let is_array = matches!(self.types.get(to).shape, Shape::Array(..));
        match number {
            0 if is_reference || is_array && syntax == Syntax::Rust => pointer.to_owned(),
            // `t[0][2]`, not `(*t)[2]`.
            0 if !is_array => format!("*{pointer}"),
            _ => format!("{pointer}[{number}]"),
        }
    }
}

/// An element of an array of Fortran, or the part of it with this subscript in the last dimension that has none yet:
/// `a(2)`, or `m(:,2)` and then `m(1,2)`. `inner`: the number of dimensions of the element.
fn subscripted(array: &str, subscript: i64, inner: usize) -> String {
    let is_part = array.ends_with(')') && array.contains("(:");
    match array.rfind(':').filter(|_| is_part) {
        Some(open) => format!("{}{subscript}{}", &array[..open], &array[open + 1..]),
        None => format!("{array}({}{subscript})", ":,".repeat(inner)),
    }
}

/// The name of a member as Rust has it: those of tuples have numbers, which compilers write as `__0`.
pub(super) fn rust_name(name: &str) -> &str {
    match name.strip_prefix("__") {
        Some(number) if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) => number,
        _ => name,
    }
}
