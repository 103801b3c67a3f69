//! Find the functions of the program: their names and the ranges of their code.
//!
//! From `DW_TAG_subprogram`; where a unit has none (`-gline-tables-only`, split DWARF) the symbol
//! table serves. Which of them are traced is for `scope` to say.

use std::borrow::Cow;
use std::collections::HashMap;

use gimli::{AttributeValue, DebuggingInformationEntry, Dwarf, Unit, UnitOffset};

use super::elf::Symbol;
use super::lines::Slice;

/// A function before the leader analysis.
#[derive(Debug, Clone)]
pub(super) struct Extent {
    pub(super) name: String,
    /// The address at which callers enter.
    pub(super) entry: u64,
    /// Start and end of each piece of code; the piece with the entry comes first.
    pub(super) ranges: Vec<(u64, u64)>,
}

/// Names are followed through at most this many `DW_AT_specification` and `DW_AT_abstract_origin`
/// links: a longer chain is a cycle in a damaged file.
const MAX_LINKS: usize = 8;

/// The functions of one unit.
pub(super) fn of_unit<'a>(
    dwarf: &Dwarf<Slice<'a>>,
    unit: &Unit<Slice<'a>>,
    symbols: &HashMap<u64, String>,
) -> gimli::Result<Vec<Extent>> {
    let mut extents = Vec::new();
    let mut entries = unit.entries();
    while let Some(entry) = entries.next_dfs()? {
        if entry.tag() != gimli::DW_TAG_subprogram {
            continue;
        }
        let mut ranges = Vec::new();
        let mut all = dwarf.die_ranges(unit, entry)?;
        while let Some(range) = all.next()? {
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
        ranges.sort_by_key(|&(start, end)| (!(start..end).contains(&entry_pc), start));
        extents.push(Extent { name, entry: entry_pc, ranges });
    }
    Ok(extents)
}

/// The functions of the symbol table that have a size.
pub(super) fn of_symbols(symbols: &[Symbol]) -> impl Iterator<Item = Extent> {
    symbols.iter().filter(|symbol| symbol.size > 0).filter_map(|symbol| {
        let end = symbol.address.checked_add(symbol.size)?;
        let ranges = vec![(symbol.address, end)];
        Some(Extent { name: demangle(&symbol.name), entry: symbol.address, ranges })
    })
}

/// The name of each address that a symbol names, as its source language writes it.
pub(super) fn names(symbols: &[Symbol]) -> HashMap<u64, String> {
    symbols.iter().map(|symbol| (symbol.address, demangle(&symbol.name))).collect()
}

/// A symbol as its source language writes it, C++ and Rust. Any other symbol is a name already: the `f`
/// of a C program is not the `float` that a mangled type of this name would be.
fn demangle(symbol: &str) -> String {
    match symbol {
        mangled if mangled.starts_with("_Z") || mangled.starts_with("_R") => {
            addr2line::demangle_auto(Cow::Borrowed(mangled), None).into_owned()
        }
        name => name.to_owned(),
    }
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
