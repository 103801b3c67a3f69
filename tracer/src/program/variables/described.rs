//! Arrays of which only the run tells how long they are, and often where they lie: allocatable arrays, pointers
//! to arrays and assumed-shape arguments of Fortran, which have a descriptor, and variable-length arrays of C.
//!
//! DWARF 5, section 2.19 (bounds may be expressions or variables), 5.5 (`DW_AT_data_location`,
//! `DW_AT_allocated`, `DW_AT_associated`) and 5.13 (subranges with a stride).

use gimli::{Encoding, Expression};

use super::place::{Description, StoppedAt};
use super::{Entry, Reader, Syntax, Unit, target};

/// An array that the run describes.
#[derive(Clone, Debug)]
pub(crate) struct ArrayDescription {
    encoding: Encoding,
    /// The place of the elements, if not that of the variable: the variable is a descriptor then.
    data: Option<Expression<Reader>>,
    /// The condition that there are elements, not 0 if so: the array is allocated, or the pointer associated.
    is_there: Option<Expression<Reader>>,
    /// The dimensions, the outermost first.
    dimensions: Vec<DescribedDimension>,
}

#[derive(Clone, Debug)]
struct DescribedDimension {
    first: Bound,
    extent: Extent,
    /// The bytes from an element to the next; `None` for as many as an element has.
    stride: Option<Bound>,
}

#[derive(Clone, Debug)]
enum Extent {
    /// The last subscript.
    Last(Bound),
    Count(Bound),
}

/// A number that belongs to a dimension.
#[derive(Clone, Debug)]
enum Bound {
    Constant(i64),
    /// The result of an expression.
    Computed(Expression<Reader>),
    /// The value of a variable without a name, a signed number of so many bytes.
    Held(Description, usize),
}

/// A dimension whose numbers the run has told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SettledDimension {
    /// The subscript of the first element.
    pub(super) first: i64,
    /// The number of elements.
    pub(super) count: u64,
    /// The bytes from an element to the next; `None` for as many as an element has.
    pub(super) stride: Option<u64>,
}

impl ArrayDescription {
    /// Reads the description of an array and its dimensions, the outermost first; `None` if all of it is constant, or
    /// something is missing.
    pub(super) fn read(
        units: &[Unit],
        unit: usize,
        array: &Entry,
        ranges: &[Entry],
    ) -> Option<ArrayDescription> {
        let expression = |name| array.attr_value(name).and_then(|value| value.exprloc_value());
        let data = expression(gimli::DW_AT_data_location);
        let is_there = expression(gimli::DW_AT_allocated).or_else(|| expression(gimli::DW_AT_associated));
        let dimensions: Option<Vec<DescribedDimension>> =
            ranges.iter().map(|range| DescribedDimension::read(units, unit, range)).collect();
        let dimensions = dimensions.filter(|all| !all.is_empty())?;
        let is_constant = data.is_none() && dimensions.iter().all(DescribedDimension::is_constant);
        let encoding = units[unit].unit.encoding();
        (!is_constant).then_some(ArrayDescription { encoding, data, is_there, dimensions })
    }

    /// The address of the elements of the array whose variable is at an address, and its dimensions, the outermost
    /// first; `None` if there is no array now.
    pub(super) fn settled(&self, address: u64, stop: &StoppedAt<'_>) -> Option<(u64, Vec<SettledDimension>)> {
        let number = |expression| stop.value(expression, self.encoding, address);
        if self.is_there.as_ref().is_some_and(|is_there| number(is_there).is_none_or(|there| there == 0)) {
            return None;
        }
        let bound = |bound: &Bound| bound.value(address, self.encoding, stop);
        let dimension = |described: &DescribedDimension| {
            let first = bound(&described.first)?;
            let count = match &described.extent {
                Extent::Count(count) => bound(count)?,
                Extent::Last(last) => bound(last)?.checked_sub(first)?.checked_add(1)?.max(0),
            };
            let stride = match &described.stride {
                Some(stride) => Some(u64::try_from(bound(stride)?).ok()?),
                None => None,
            };
            Some(SettledDimension { first, count: u64::try_from(count).ok()?, stride })
        };
        let data = self.data.as_ref().map_or(Some(address), number)?;
        let dimensions: Option<Vec<SettledDimension>> = self.dimensions.iter().map(dimension).collect();
        Some((data, dimensions?))
    }
}

impl DescribedDimension {
    fn read(units: &[Unit], unit: usize, range: &Entry) -> Option<DescribedDimension> {
        let bound = |name| range.attr(name).map(|_| Bound::read(units, unit, range, name));
        let usual = if units[unit].syntax() == Syntax::Fortran { 1 } else { 0 };
        let first = bound(gimli::DW_AT_lower_bound).unwrap_or(Some(Bound::Constant(usual)))?;
        let extent = match bound(gimli::DW_AT_count) {
            Some(count) => Extent::Count(count?),
            None => Extent::Last(bound(gimli::DW_AT_upper_bound)??),
        };
        let stride = match bound(gimli::DW_AT_byte_stride) {
            Some(stride) => Some(stride?),
            None => None,
        };
        Some(DescribedDimension { first, extent, stride })
    }

    fn is_constant(&self) -> bool {
        let (Extent::Last(extent) | Extent::Count(extent)) = &self.extent;
        [Some(&self.first), Some(extent), self.stride.as_ref()]
            .into_iter()
            .flatten()
            .all(|bound| matches!(bound, Bound::Constant(_)))
    }
}

impl Bound {
    fn read(units: &[Unit], unit: usize, range: &Entry, name: gimli::DwAt) -> Option<Bound> {
        let attribute = range.attr(name)?;
        if let Some(expression) = attribute.value().exprloc_value() {
            return Some(Bound::Computed(expression));
        }
        // Forms of a fixed size hold numbers without a sign.
        let constant = attribute.udata_value().map(|value| value as i64).or_else(|| attribute.sdata_value());
        if let Some(constant) = constant {
            return Some(Bound::Constant(constant));
        }
        let (unit, offset) = target(units, unit, &attribute.value())?;
        let variable = units[unit].unit.entry(offset).ok()?;
        let place = variable.attr_value(gimli::DW_AT_location)?.exprloc_value()?;
        Some(Bound::Held(Description::One(place), size_of(units, unit, &variable)?))
    }

    fn value(&self, object: u64, encoding: Encoding, stop: &StoppedAt<'_>) -> Option<i64> {
        match self {
            Bound::Constant(value) => Some(*value),
            Bound::Computed(expression) => stop.value(expression, encoding, object).map(|value| value as i64),
            Bound::Held(place, size) => {
                let bytes = stop.memory.read(stop.address(place, encoding)?, *size)?;
                let mut whole = [if bytes.last()? >> 7 == 1 { 0xff } else { 0 }; 8];
                whole[..bytes.len()].copy_from_slice(&bytes);
                Some(i64::from_le_bytes(whole))
            }
        }
    }
}

/// The size of a variable in bytes, as its type says, qualifiers removed.
fn size_of(units: &[Unit], mut unit: usize, variable: &Entry) -> Option<usize> {
    let mut entry = variable.clone();
    for _ in 0..8 {
        let reference = entry.attr_value(gimli::DW_AT_type)?;
        let (home, offset) = target(units, unit, &reference)?;
        unit = home;
        entry = units[unit].unit.entry(offset).ok()?;
        if let Some(size) = entry.attr(gimli::DW_AT_byte_size) {
            return size.udata_value().and_then(|size| usize::try_from(size).ok()).filter(|&size| size <= 8);
        }
    }
    None
}
