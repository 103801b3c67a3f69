//! The functions of the program: their names and the ranges of their code.
//!
//! From `DW_TAG_subprogram`; where a unit has none (`-gline-tables-only`) the symbol table serves. Which of them are
//! traced is decided in `scope`.

use std::collections::HashMap;

use gimli::{AttributeValue, DebuggingInformationEntry, Dwarf, Unit, UnitOffset};

use super::claims::{Claims, Damage};
use super::elf::Symbol;
use super::lines::Slice;
use super::names::demangle;

/// A function before the leader analysis.
#[derive(Debug, Clone)]
pub(super) struct Extent {
    pub(super) name: String,
    /// The address at which callers enter.
    pub(super) entry: u64,
    /// Start and end of each piece of code; the piece with the entry comes first.
    pub(super) ranges: Vec<(u64, u64)>,
    /// Whether its debug information shows that the compiler has optimised it.
    pub(super) is_optimised: bool,
}

/// The largest number of `DW_AT_specification` and `DW_AT_abstract_origin` links through which a name is followed: a
/// longer chain is a cycle in a damaged file.
const MAX_LINKS: usize = 8;

/// The functions of one unit.
pub(super) fn of_unit<'a>(
    dwarf: &Dwarf<Slice<'a>>,
    unit: &Unit<Slice<'a>>,
    symbols: &HashMap<u64, String>,
    claims: &mut Claims,
) -> Result<Vec<Extent>, Damage> {
    let mut extents: Vec<Extent> = Vec::new();
    let mut entries = unit.entries();
    while let Some(entry) = entries.next_dfs()? {
        if entry.tag() != gimli::DW_TAG_subprogram {
            // What is declared in a function follows it.
            if let Some(function) = extents.last_mut().filter(|_| is_optimised(entry)) {
                function.is_optimised = true;
            }
            continue;
        }
        let mut ranges = Vec::new();
        let mut all = dwarf.die_ranges(unit, entry)?;
        while let Some(range) = all.next()? {
            claims.range()?;
            if range.begin != 0 && range.begin < range.end {
                ranges.push((range.begin, range.end));
            }
        }
        let Some(&(first, _)) = ranges.first() else {
            continue;
        };
        let entry_pc = match entry.attr_value(gimli::DW_AT_entry_pc) {
            Some(AttributeValue::Addr(address)) => address,
            _ => first,
        };
        let name = match symbols.get(&entry_pc) {
            Some(name) => name.clone(),
            None => name(dwarf, unit, entry)?.unwrap_or_else(|| format!("{entry_pc:#x}")),
        };
        claims.text(name.len())?;
        ranges.sort_by_key(|&(start, end)| (!(start..end).contains(&entry_pc), start));
        extents.push(Extent { name, entry: entry_pc, ranges, is_optimised: false });
    }
    Ok(extents)
}

/// Whether an entry is one that compilers only write where they optimise: a call, or a variable that has other
/// places in other parts of the code instead of one in the frame.
fn is_optimised(entry: &DebuggingInformationEntry<Slice<'_>>) -> bool {
    match entry.tag() {
        gimli::DW_TAG_call_site | gimli::DW_TAG_GNU_call_site => true,
        gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter => matches!(
            entry.attr_value(gimli::DW_AT_location),
            Some(AttributeValue::LocationListsRef(_) | AttributeValue::DebugLocListsIndex(_))
        ),
        _ => false,
    }
}

/// The functions of the symbol table that have a size.
pub(super) fn of_symbols<'s>(
    symbols: &'s [Symbol<'_>],
    names: &'s HashMap<u64, String>,
) -> impl Iterator<Item = Extent> + 's {
    symbols.iter().filter(|symbol| symbol.size > 0).filter_map(|symbol| {
        let end = symbol.address.checked_add(symbol.size)?;
        let name = names.get(&symbol.address)?.clone();
        Some(Extent { name, entry: symbol.address, ranges: vec![(symbol.address, end)], is_optimised: false })
    })
}

/// The demangled names of the symbols, by address.
pub(super) fn names(symbols: &[Symbol<'_>], claims: &mut Claims) -> Result<HashMap<u64, String>, Damage> {
    let mut names = HashMap::new();
    for symbol in symbols {
        let name = demangle(symbol.name);
        claims.text(name.len())?;
        names.insert(symbol.address, name);
    }
    Ok(names)
}

fn name<'a>(
    dwarf: &Dwarf<Slice<'a>>,
    unit: &Unit<Slice<'a>>,
    entry: &DebuggingInformationEntry<Slice<'a>>,
) -> gimli::Result<Option<String>> {
    let mut link: Option<UnitOffset> = None;
    for _ in 0..MAX_LINKS {
        let linked = link.map(|offset| unit.entry(offset)).transpose()?;
        let entry = linked.as_ref().unwrap_or(entry);
        if let Some(value) = entry.attr_value(gimli::DW_AT_name) {
            return Ok(Some(dwarf.attr_string(unit, value)?.to_string_lossy().into_owned()));
        }
        let next = [gimli::DW_AT_specification, gimli::DW_AT_abstract_origin]
            .into_iter()
            .find_map(|attribute| entry.attr_value(attribute));
        match next {
            Some(AttributeValue::UnitRef(offset)) => link = Some(offset),
            _ => break,
        }
    }
    Ok(None)
}
