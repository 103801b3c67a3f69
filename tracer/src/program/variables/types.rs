//! Types, read from DWARF: the size of a value, and its parts.
//!
//! Qualifiers and typedefs are seen through. Types are read when they are asked for first; one that is
//! damaged or of a kind that is not known is a type without a shape.

use std::cell::RefCell;
use std::collections::HashMap;

use elsa::FrozenVec;
use gimli::{AttributeValue, DwAte, DwTag, UnitOffset};

use super::described::ArrayDescription;
use super::{Entry, Reader, Syntax, Unit, target};

/// A type by its position in [`Types`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TypeId(u32);

/// A type.
#[derive(Clone, Debug)]
pub(crate) struct Type {
    /// The name in the source; empty where it has none.
    pub(crate) name: String,
    /// The size in bytes.
    pub(crate) size: u64,
    pub(crate) shape: Shape,
}

/// The shape of a type: its kind and parts.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    /// No shape: the type is damaged or of a kind that is not known.
    Unknown,
    Signed,
    Unsigned,
    /// A number that stands for a character.
    Character,
    /// A character of Rust, UTF-32.
    Scalar,
    Boolean,
    Float,
    /// A pointer to values of a type, if that is known.
    Pointer(Option<TypeId>),
    /// A reference to values of a type, if that is known; it stands for the value itself.
    Reference(Option<TypeId>),
    /// A structure, class or union.
    Record(Record),
    /// An array of values of a type.
    Array(TypeId, Dimension),
    /// An array of which only the run tells the number of elements, and where they lie.
    Described(TypeId, Box<ArrayDescription>),
    /// An enumeration: a number with names.
    Enumeration(Vec<(u64, String)>),
}

/// A dimension of an array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Dimension {
    /// The number of elements; 0 where that is not known.
    pub(crate) count: u64,
    /// The subscript of the first element.
    pub(crate) first: i64,
    /// The bytes from an element to the next.
    pub(crate) stride: u64,
}

/// A structure, class or union; the members of a union all begin at 0.
#[derive(Clone, Debug, Default)]
pub(crate) struct Record {
    pub(crate) members: Vec<Member>,
    /// The variants of an enum of Rust, of which it holds one at a time.
    pub(crate) variants: Option<Variants>,
    /// The first type that it is made for: that of the elements, if it is a vector.
    pub(crate) parameter: Option<TypeId>,
}

/// A member of a record.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// The name; empty where it has none: the members of its type then count as members of the record.
    pub(crate) name: String,
    /// The offset in bytes from the beginning of the record.
    pub(crate) offset: u64,
    pub(crate) kind: TypeId,
    /// The first bit and the number of bits of a bit-field.
    pub(crate) bits: Option<(u64, u64)>,
    /// Whether it is the part that the record has inherited, its base.
    pub(crate) is_base: bool,
}

/// The variants of an enum of Rust.
#[derive(Clone, Debug)]
pub(crate) struct Variants {
    /// The member that tells which variant is active.
    pub(crate) discriminant: Option<Member>,
    /// The variants with the value that stands for each; `None` for all values that stand for no other.
    pub(crate) all: Vec<(Option<u64>, Member)>,
}

/// The types of an image.
#[derive(Default)]
pub(crate) struct Types {
    /// The types. Grows while a program runs, too, by the arrays that it describes.
    types: FrozenVec<Box<Type>>,
    arrays: RefCell<HashMap<(TypeId, Dimension), TypeId>>,
    known: HashMap<(usize, UnitOffset), TypeId>,
    /// The definitions of types that are only declared elsewhere.
    pub(super) definitions: HashMap<String, (usize, UnitOffset)>,
}

/// The largest number of qualifiers and typedefs that are followed: a longer chain is a cycle.
const MAX_LINKS: usize = 32;

/// The largest number of different arrays whose length the run tells.
const MAX_ARRAYS: usize = 1 << 16;

/// The largest number of members, elements of an enumeration or dimensions of an array that are read.
const MAX_CHILDREN: usize = 4096;

impl Types {
    /// The type with this number.
    pub(crate) fn get(&self, id: TypeId) -> &Type {
        &self.types[id.0 as usize]
    }

    /// The type of an array of so many elements; `None` if there are too many types already.
    pub(super) fn array_of(&self, of: TypeId, dimension: Dimension) -> Option<TypeId> {
        let known = self.arrays.borrow().get(&(of, dimension)).copied();
        known.or_else(|| {
            let id = TypeId(u32::try_from(self.types.len()).ok()?);
            if self.arrays.borrow().len() >= MAX_ARRAYS {
                return None;
            }
            let size = self.array_size(of, dimension);
            self.types.push(Box::new(Type { name: String::new(), size, shape: Shape::Array(of, dimension) }));
            self.arrays.borrow_mut().insert((of, dimension), id);
            Some(id)
        })
    }

    /// The size of an array in bytes: what lies after the last element is not part of it.
    fn array_size(&self, of: TypeId, Dimension { count, stride, .. }: Dimension) -> u64 {
        match count.checked_sub(1) {
            Some(others) => others.saturating_mul(stride).saturating_add(self.get(of).size),
            None => 0,
        }
    }

    /// The number of dimensions that a type has as an array.
    pub(super) fn dimensions(&self, id: TypeId) -> usize {
        let inner = |of: &TypeId| match self.get(*of).shape {
            Shape::Array(of, _) => Some(of),
            _ => None,
        };
        std::iter::successors(Some(id), inner).take(MAX_LINKS).count() - 1
    }

    /// The type that an attribute of an entry refers to.
    pub(super) fn of(&mut self, units: &[Unit], unit: usize, entry: &Entry) -> Option<TypeId> {
        let value = entry.attr_value(gimli::DW_AT_type)?;
        let (unit, offset) = target(units, unit, &value)?;
        self.at(units, unit, offset)
    }

    fn at(&mut self, units: &[Unit], mut unit: usize, mut offset: UnitOffset) -> Option<TypeId> {
        let mut name = None;
        for _ in 0..MAX_LINKS {
            if let Some(&known) = self.known.get(&(unit, offset)) {
                return Some(known);
            }
            let entry = units.get(unit)?.unit.entry(offset).ok()?;
            if name.is_none() {
                name = units[unit].name(&entry);
            }
            if is_link(entry.tag()) {
                (unit, offset) = target(units, unit, &entry.attr_value(gimli::DW_AT_type)?)?;
            } else if let Some(&place) =
                self.elsewhere(&units[unit], &entry).filter(|&&at| at != (unit, offset))
            {
                (unit, offset) = place;
            } else {
                return Some(self.read(units, (unit, offset), &entry, name));
            }
        }
        None
    }

    /// The definition of a type that this entry only declares.
    fn elsewhere(&self, unit: &Unit, entry: &Entry) -> Option<&(usize, UnitOffset)> {
        entry.attr_value(gimli::DW_AT_declaration)?;
        self.definitions.get(&unit.name(entry)?)
    }

    fn read(
        &mut self,
        units: &[Unit],
        (unit, offset): (usize, UnitOffset),
        entry: &Entry,
        name: Option<String>,
    ) -> TypeId {
        let id = TypeId(self.types.len() as u32);
        let size = entry.attr(gimli::DW_AT_byte_size).and_then(|size| size.udata_value());
        let name = units[unit].name(entry).or(name).unwrap_or_default();
        self.types.push(Box::new(Type { name, size: size.unwrap_or(0), shape: Shape::Unknown }));
        // Registered before the type that it is made of is read, which may lead back to it.
        self.known.insert((unit, offset), id);
        let shape = match entry.tag() {
            gimli::DW_TAG_base_type => base(entry),
            gimli::DW_TAG_pointer_type => Shape::Pointer(self.of(units, unit, entry)),
            gimli::DW_TAG_reference_type | gimli::DW_TAG_rvalue_reference_type => {
                Shape::Reference(self.of(units, unit, entry))
            }
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type => {
                Shape::Record(self.record(units, unit, offset))
            }
            gimli::DW_TAG_array_type => self.array(units, unit, entry),
            gimli::DW_TAG_enumeration_type => Shape::Enumeration(enumerators(&units[unit], offset)),
            _ => Shape::Unknown,
        };
        let size = match &shape {
            Shape::Pointer(_) | Shape::Reference(_) => size.unwrap_or(8),
            Shape::Array(of, dimension) => size.unwrap_or(self.array_size(*of, *dimension)),
            _ => size.unwrap_or(0),
        };
        let made = &mut self.types.as_mut()[id.0 as usize];
        (made.size, made.shape) = (size, shape);
        id
    }

    fn array(&mut self, units: &[Unit], unit: usize, entry: &Entry) -> Shape {
        let Some(mut of) = self.of(units, unit, entry) else {
            return Shape::Unknown;
        };
        let syntax = units[unit].syntax();
        let mut ranges = children(&units[unit], entry.offset());
        ranges.retain(|child| child.tag() == gimli::DW_TAG_subrange_type);
        // The last dimension is that of the innermost arrays; in Fortran the first.
        if syntax == Syntax::Fortran {
            ranges.reverse();
        }
        if let Some(description) = ArrayDescription::read(units, unit, entry, &ranges) {
            return Shape::Described(of, Box::new(description));
        }
        for range in ranges.iter().skip(1).rev() {
            let dimension = dimension(range, syntax, self.get(of).size);
            let Some(inner) = self.array_of(of, dimension) else { return Shape::Unknown };
            of = inner;
        }
        let usual = Dimension { stride: self.get(of).size, ..Dimension::default() };
        Shape::Array(of, ranges.first().map_or(usual, |range| dimension(range, syntax, self.get(of).size)))
    }

    fn record(&mut self, units: &[Unit], unit: usize, offset: UnitOffset) -> Record {
        let mut record = Record::default();
        for child in children(&units[unit], offset) {
            match child.tag() {
                gimli::DW_TAG_member | gimli::DW_TAG_inheritance => {
                    record.members.extend(self.member(units, unit, &child));
                }
                gimli::DW_TAG_variant_part => record.variants = Some(self.variants(units, unit, &child)),
                gimli::DW_TAG_template_type_parameter if record.parameter.is_none() => {
                    record.parameter = self.of(units, unit, &child);
                }
                _ => {}
            }
        }
        record
    }

    /// A member that each record has; `None` for one that all records share.
    fn member(&mut self, units: &[Unit], unit: usize, entry: &Entry) -> Option<Member> {
        let number = |name| entry.attr(name).and_then(|attribute| attribute.udata_value());
        if entry.attr(gimli::DW_AT_external).is_some() || entry.attr(gimli::DW_AT_artificial).is_some() {
            let is_discriminant = entry.attr(gimli::DW_AT_name).is_none();
            if !is_discriminant {
                return None;
            }
        }
        let kind = self.of(units, unit, entry)?;
        let mut offset = number(gimli::DW_AT_data_member_location).unwrap_or(0);
        let bits = number(gimli::DW_AT_bit_size).map(|size| {
            let first = match (number(gimli::DW_AT_data_bit_offset), number(gimli::DW_AT_bit_offset)) {
                (Some(first), _) => first,
                // Up to DWARF 3: from the most significant bit of the storage unit.
                (None, Some(from_top)) => {
                    let storage = number(gimli::DW_AT_byte_size).unwrap_or(self.get(kind).size);
                    offset * 8 + (storage * 8).saturating_sub(from_top + size)
                }
                (None, None) => offset * 8,
            };
            (first, size)
        });
        if let Some((first, _)) = bits {
            offset = first / 8;
        }
        let bits = bits.map(|(first, size)| (first % 8, size));
        let is_base = entry.tag() == gimli::DW_TAG_inheritance;
        Some(Member { name: units[unit].name(entry).unwrap_or_default(), offset, kind, bits, is_base })
    }

    fn variants(&mut self, units: &[Unit], unit: usize, part: &Entry) -> Variants {
        let discriminant = match part.attr_value(gimli::DW_AT_discr) {
            Some(AttributeValue::UnitRef(offset)) => {
                let entry = units[unit].unit.entry(offset).ok();
                entry.and_then(|entry| self.member(units, unit, &entry))
            }
            _ => None,
        };
        let mut all = Vec::new();
        for variant in children(&units[unit], part.offset()) {
            if variant.tag() != gimli::DW_TAG_variant {
                continue;
            }
            let value = variant.attr_value(gimli::DW_AT_discr_value).and_then(|value| number(&value));
            let members = children(&units[unit], variant.offset());
            let member = members.iter().find(|child| child.tag() == gimli::DW_TAG_member);
            all.extend(member.and_then(|member| Some((value, self.member(units, unit, member)?))));
        }
        Variants { discriminant, all }
    }
}

/// Whether an entry only qualifies or names another type.
fn is_link(tag: DwTag) -> bool {
    matches!(
        tag,
        gimli::DW_TAG_typedef
            | gimli::DW_TAG_const_type
            | gimli::DW_TAG_volatile_type
            | gimli::DW_TAG_restrict_type
            | gimli::DW_TAG_atomic_type
    )
}

fn base(entry: &Entry) -> Shape {
    let encoding = match entry.attr_value(gimli::DW_AT_encoding) {
        Some(AttributeValue::Encoding(encoding)) => encoding,
        _ => DwAte(0),
    };
    match encoding {
        gimli::DW_ATE_boolean => Shape::Boolean,
        gimli::DW_ATE_signed => Shape::Signed,
        gimli::DW_ATE_unsigned => Shape::Unsigned,
        gimli::DW_ATE_signed_char => Shape::Character,
        gimli::DW_ATE_unsigned_char => Shape::Character,
        gimli::DW_ATE_UTF => Shape::Scalar,
        gimli::DW_ATE_float => Shape::Float,
        _ => Shape::Unknown,
    }
}

/// A dimension. Where nothing else is said, subscripts begin at 0, in Fortran at 1.
fn dimension(range: &Entry, syntax: Syntax, stride: u64) -> Dimension {
    let value = |name| {
        let attribute = range.attr(name)?;
        // Forms of a fixed size hold numbers without a sign.
        attribute.udata_value().map(|value| value as i64).or_else(|| attribute.sdata_value())
    };
    let usual = if syntax == Syntax::Fortran { 1 } else { 0 };
    let first = match range.attr(gimli::DW_AT_lower_bound) {
        Some(_) => value(gimli::DW_AT_lower_bound),
        None => Some(usual),
    };
    // A bound that is not a constant, of an array that is not described in full.
    let Some(first) = first else { return Dimension { count: 0, first: 0, stride } };
    let last = value(gimli::DW_AT_upper_bound);
    let last = last.filter(|&last| last != i64::from(u32::MAX) && (last != -1 || syntax == Syntax::Fortran));
    let by_bounds = last.and_then(|last| u64::try_from(last.checked_sub(first)?.checked_add(1)?).ok());
    let count = value(gimli::DW_AT_count).and_then(|count| u64::try_from(count).ok()).or(by_bounds);
    Dimension { count: count.unwrap_or(0), first, stride }
}

fn enumerators(unit: &Unit, offset: UnitOffset) -> Vec<(u64, String)> {
    let children = children(unit, offset);
    let named = |child: &Entry| {
        let value = number(&child.attr_value(gimli::DW_AT_const_value)?)?;
        Some((value, unit.name(child)?))
    };
    children.iter().filter(|child| child.tag() == gimli::DW_TAG_enumerator).filter_map(named).collect()
}

/// A constant, cut to 64 bits.
fn number(value: &AttributeValue<Reader>) -> Option<u64> {
    value.sdata_value().map(|value| value as u64).or_else(|| value.udata_value())
}

/// The entries directly below another.
pub(super) fn children(unit: &Unit, offset: UnitOffset) -> Vec<Entry> {
    let mut found = Vec::new();
    let Ok(mut tree) = unit.unit.entries_tree(Some(offset)) else { return found };
    let Ok(root) = tree.root() else { return found };
    let mut below = root.children();
    while let Ok(Some(child)) = below.next() {
        found.push(child.entry().clone());
        if found.len() >= MAX_CHILDREN {
            break;
        }
    }
    found
}
