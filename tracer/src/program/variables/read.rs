//! The reader of an image's variables from DWARF: those of its traced functions, and the global ones of the same units.

use std::collections::HashMap;
use std::sync::Arc;

use gimli::{AttributeValue, Dwarf, Expression, UnitOffset};

use super::find::LocatedVariable;
use super::place::{Description, StoppedAt};
use super::types::{Shape, Types};
use super::{
    Entry, FunctionVariables, ImageVariables, Nowhere, Reader, RegisterValues, Syntax, Unit, Variable, target,
};
use crate::program::FunctionId;

/// The largest number of links through which a name is followed.
const MAX_LINKS: usize = 8;

/// Adds the functions that begin at these addresses to the image, with their variables; returns the position of each.
pub(super) fn read(
    dwarf: Arc<Dwarf<Reader>>,
    entries: &HashMap<u64, FunctionId>,
    image: &mut ImageVariables,
) -> Vec<(FunctionId, usize)> {
    let mut units = Vec::new();
    let mut headers = dwarf.units();
    while let Ok(Some(header)) = headers.next() {
        let Ok(unit) = dwarf.unit(header) else { continue };
        units.push(Unit { dwarf: Arc::clone(&dwarf), unit });
    }
    let mut found = Vec::new();
    let mut ours = Vec::new();
    for number in 0..units.len() {
        if let Some(survey) = UnitContents::of(&units, number, entries) {
            definitions(&units[number], number, &mut image.types);
            ours.push((number, survey));
        }
    }
    for (number, survey) in ours {
        let UnitContents { functions, globals, homes } = survey;
        let syntax = units[number].syntax();
        let mut reading = Reading { units: &units, number, syntax, homes, image: &mut *image };
        for (offset, function) in functions {
            found.push((function, reading.image.functions.len()));
            reading.function(offset);
        }
        for offset in globals {
            reading.global(offset);
        }
    }
    image.globals.sort_by_key(|global| global.address);
    found
}

/// The functions, variables and homes of variables in a unit.
struct UnitContents {
    functions: Vec<(UnitOffset, FunctionId)>,
    globals: Vec<UnitOffset>,
    /// The names of the namespaces and classes around variables.
    homes: HashMap<UnitOffset, String>,
}

impl UnitContents {
    /// The contents of a unit, if it has functions of ours.
    fn of(units: &[Unit], number: usize, entries: &HashMap<u64, FunctionId>) -> Option<UnitContents> {
        let unit = &units[number];
        let mut survey = UnitContents { functions: Vec::new(), globals: Vec::new(), homes: HashMap::new() };
        let mut cursor = unit.unit.entries();
        // The depth of the function whose own variables come by.
        let mut within: Option<isize> = None;
        let mut around: Vec<(isize, String)> = Vec::new();
        while let Ok(Some(entry)) = cursor.next_dfs() {
            let depth = entry.depth();
            within = within.filter(|&function| depth > function);
            around.retain(|&(home, _)| home < depth);
            match entry.tag() {
                gimli::DW_TAG_subprogram => {
                    within = within.or(Some(depth));
                    let function = entry_address(unit, entry).and_then(|address| entries.get(&address));
                    survey.functions.extend(function.map(|&function| (entry.offset(), function)));
                }
                gimli::DW_TAG_variable | gimli::DW_TAG_member if within.is_none() => {
                    let names: Vec<&str> = around.iter().map(|(_, name)| name.as_str()).collect();
                    if !names.is_empty() {
                        survey.homes.insert(entry.offset(), names.join("::"));
                    }
                    survey.globals.push(entry.offset());
                }
                gimli::DW_TAG_namespace | gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type => {
                    around.extend(unit.name(entry).map(|name| (depth, name)));
                }
                _ => {}
            }
        }
        (!survey.functions.is_empty()).then_some(survey)
    }
}

/// The address at which callers enter a function.
fn entry_address(unit: &Unit, entry: &Entry) -> Option<u64> {
    let mut ranges = unit.dwarf.die_ranges(&unit.unit, entry).ok()?;
    let first = ranges.next().ok()??;
    match entry.attr_value(gimli::DW_AT_entry_pc) {
        Some(AttributeValue::Addr(address)) => Some(address),
        _ => Some(first.begin),
    }
}

/// Notes the definitions of the types that other units only declare.
fn definitions(unit: &Unit, number: usize, types: &mut Types) {
    let mut cursor = unit.unit.entries();
    while let Ok(Some(entry)) = cursor.next_dfs() {
        let is_record = matches!(
            entry.tag(),
            gimli::DW_TAG_structure_type | gimli::DW_TAG_class_type | gimli::DW_TAG_union_type
        );
        if !is_record || entry.attr(gimli::DW_AT_declaration).is_some() {
            continue;
        }
        if let Some(name) = unit.name(entry) {
            types.definitions.entry(name).or_insert((number, entry.offset()));
        }
    }
}

/// The reading of the variables of a unit.
struct Reading<'r> {
    units: &'r [Unit],
    number: usize,
    syntax: Syntax,
    homes: HashMap<UnitOffset, String>,
    image: &'r mut ImageVariables,
}

impl Reading<'_> {
    fn unit(&self) -> &Unit {
        &self.units[self.number]
    }

    fn function(&mut self, offset: UnitOffset) {
        let Ok(entry) = self.unit().unit.entry(offset) else { return };
        let frame_base =
            entry.attr_value(gimli::DW_AT_frame_base).and_then(|value| description(self.unit(), value));
        let result = self.inherited(&entry, |types, units, unit, entry| types.of(units, unit, entry));
        let mut function =
            FunctionVariables { frame_base, variables: Vec::new(), result, syntax: self.syntax };
        // The ranges of the blocks around, with the depth of each.
        let mut blocks: Vec<(isize, Vec<(u64, u64)>)> = Vec::new();
        let units = self.units;
        let Ok(mut cursor) = units[self.number].unit.entries_at_offset(offset) else { return };
        let (mut base, mut inlined) = (None, None);
        while let Ok(Some(entry)) = cursor.next_dfs() {
            let depth = entry.depth();
            let base = *base.get_or_insert(depth);
            if depth <= base && entry.offset() != offset {
                break;
            }
            blocks.retain(|&(block, _)| block < depth);
            inlined = inlined.filter(|&call| depth > call);
            match entry.tag() {
                // What was inlined has variables of its own, which the source does not show here.
                _ if inlined.is_some() => {}
                gimli::DW_TAG_inlined_subroutine => inlined = Some(depth),
                gimli::DW_TAG_lexical_block => blocks.push((depth, ranges(&units[self.number], entry))),
                gimli::DW_TAG_variable | gimli::DW_TAG_formal_parameter => {
                    let scope = blocks.last().map(|(_, ranges)| ranges.clone()).unwrap_or_default();
                    let variable = self.variable(entry, scope);
                    function.variables.extend(variable.filter(|variable| !self.is_of_macro(variable)));
                }
                _ => {}
            }
        }
        self.image.functions.push(function);
    }

    /// Whether a variable comes from `println!` and the like, whose lists of arguments no user has written.
    fn is_of_macro(&self, Variable { name, kind, .. }: &Variable) -> bool {
        let types = &self.image.types;
        let kind = types.get(*kind);
        let is_list = match &kind.shape {
            Shape::Array(of, _) => types.get(*of).name == "Argument",
            Shape::Record(_) => kind.name.starts_with("(&"),
            _ => false,
        };
        self.syntax == Syntax::Rust && name == "args" && is_list
    }

    fn global(&mut self, offset: UnitOffset) {
        let units = self.units;
        if let Ok(entry) = units[self.number].unit.entry(offset) {
            let mut global = self.variable(&entry, Vec::new());
            if let (Some(home), Some(global)) = (self.home(&entry), &mut global) {
                global.name = format!("{home}::{}", global.name);
            }
            self.image.globals.extend(global.and_then(|global| self.placed(global)));
        }
    }

    /// The namespaces and classes that a variable is in, or else the declaration that it belongs to. Rust's are
    /// not written as a rule.
    fn home(&self, entry: &Entry) -> Option<&String> {
        let declared = match entry.attr_value(gimli::DW_AT_specification) {
            Some(AttributeValue::UnitRef(offset)) => offset,
            _ => entry.offset(),
        };
        self.homes.get(&declared).filter(|_| self.syntax != Syntax::Rust)
    }

    /// A variable that lies at the same place all the time.
    fn placed(
        &self,
        Variable { name, kind, place, encoding, syntax, .. }: Variable,
    ) -> Option<LocatedVariable> {
        let stop = StoppedAt {
            pc: 0,
            registers: &RegisterValues::default(),
            bias: 0,
            unwinding: &self.image.unwinding,
            frame_base: None,
            memory: &Nowhere,
        };
        let address = stop.address(&place, encoding)?;
        Some(LocatedVariable { name, address, kind, syntax })
    }

    /// The variable of an entry; `None` if it has no name or lies nowhere.
    fn variable(&mut self, entry: &Entry, scope: Vec<(u64, u64)>) -> Option<Variable> {
        let place = description(self.unit(), entry.attr_value(gimli::DW_AT_location)?)?;
        let name = self.inherited(entry, |_, units, unit, entry| units[unit].name(entry))?;
        let kind = self.inherited(entry, |types, units, unit, entry| types.of(units, unit, entry))?;
        let encoding = self.unit().unit.encoding();
        Some(Variable { name, kind, place, encoding, scope, syntax: self.syntax })
    }

    /// The attribute of an entry, or of those that it is an instance or the definition of.
    fn inherited<T>(
        &mut self,
        entry: &Entry,
        mut ask: impl FnMut(&mut Types, &[Unit], usize, &Entry) -> Option<T>,
    ) -> Option<T> {
        let (mut unit, mut entry) = (self.number, entry.clone());
        for _ in 0..MAX_LINKS {
            if let Some(answer) = ask(&mut self.image.types, self.units, unit, &entry) {
                return Some(answer);
            }
            let link = [gimli::DW_AT_specification, gimli::DW_AT_abstract_origin]
                .into_iter()
                .find_map(|attribute| entry.attr_value(attribute))?;
            let (next, offset) = target(self.units, unit, &link)?;
            unit = next;
            entry = self.units[unit].unit.entry(offset).ok()?;
        }
        None
    }
}

fn ranges(unit: &Unit, entry: &Entry) -> Vec<(u64, u64)> {
    let mut found = Vec::new();
    if let Ok(mut ranges) = unit.dwarf.die_ranges(&unit.unit, entry) {
        while let Ok(Some(range)) = ranges.next() {
            found.push((range.begin, range.end));
        }
    }
    found
}

fn description(unit: &Unit, value: AttributeValue<Reader>) -> Option<Description> {
    if let Some(Expression(bytes)) = value.exprloc_value() {
        return Some(Description::One(Expression(bytes)));
    }
    let mut entries = unit.dwarf.attr_locations(&unit.unit, value).ok()??;
    let mut list = Vec::new();
    while let Ok(Some(entry)) = entries.next() {
        list.push((entry.range.begin, entry.range.end, entry.data));
    }
    Some(Description::List(list))
}
