//! The images of a program: the readers of this module brought together, from files to one [`Program`].

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use gimli::{AbbreviationsCacheStrategy, Dwarf, EndianSlice, RunTimeEndian, Section, Unit, UnitType};

use super::claims::{Claims, Damage};
use super::code::Disassembler;
use super::code_files::CodeFiles;
use super::elf::{self, Elf};
use super::flow::JumpTables;
use super::functions::{self, Extent};
use super::guard::guarded;
use super::leaders::{self, FoundLeader};
use super::lines::{self, Files, Row, UnitLines, UnitOrigin};
use super::moving::{self, JumpTargets};
use super::only_calls;
use super::passed::{StatementRow, StatementRows};
use super::sanitizer::Sanitizer;
use super::scope::Candidate;
use super::split::SplitFiles;
use super::stack::StackHeights;
use super::{
    Function, FunctionId, Granularity, ImageId, Leader, LeaderId, LeaderKind, LoadError, Program, Scope,
    Statement, flow,
};
use crate::address::FileAddress;

/// An image: one ELF file of the program.
#[derive(Clone, Debug)]
pub struct Image {
    /// The path from which it was loaded.
    pub path: PathBuf,
    /// The address of its first instruction.
    pub entry: FileAddress,
    /// The lowest address of its segments.
    pub base: FileAddress,
    /// The address after its segments.
    pub end: FileAddress,
    /// Whether the dynamic loader starts it.
    pub is_dynamic: bool,
    /// The build id in hexadecimal, where the linker left one.
    pub build_id: Option<String>,
    /// The names of the functions that it takes from other images.
    pub imports: Vec<String>,
    /// The compilers, with their options, of the units in scope; each once.
    pub producers: Vec<String>,
    /// Whether the debug information of most traced functions shows that they were optimised.
    pub is_optimised: bool,
    /// The sanitizers that it was compiled with.
    pub sanitizers: Vec<Sanitizer>,
    /// The code of the traced functions: address and bytes, ascending, without overlaps.
    pub text: Vec<(FileAddress, Vec<u8>)>,
}

/// The functions that start threads: the beginning of the symbol, and the name that programmers know. `std::async` and
/// the like are made of `std::thread`. A program that calls the kernel itself is found when it does.
const THREAD_STARTERS: [(&str, &str); 5] = [
    ("pthread_create", "pthread_create"),
    ("thrd_create", "thrd_create"),
    ("_ZNSt6thread15_M_start_thread", "std::thread"),
    ("GOMP_parallel", "OpenMP"),
    ("__kmpc_fork_call", "OpenMP"),
];

impl Image {
    /// The image of the file at `path`, of whose code nothing is known yet.
    fn of(path: &Path, elf: &Elf<'_>) -> Image {
        Image {
            path: path.into(),
            entry: FileAddress(elf.entry()),
            base: FileAddress(elf.base()),
            end: FileAddress(elf.end()),
            is_dynamic: elf.is_dynamic(),
            build_id: elf.build_id(),
            imports: elf.imports(),
            producers: Vec::new(),
            is_optimised: false,
            sanitizers: Sanitizer::of(elf),
            text: Vec::new(),
        }
    }

    /// The image of the executable at `path`, of which nothing is traced.
    pub(super) fn untraced(path: &Path) -> Result<Image, LoadError> {
        guarded(path, || {
            let data = elf::contents(path)?;
            Ok(Image::of(path, &Elf::parse(path, &data)?))
        })
    }

    /// The function that starts threads among its imports, if there is one.
    #[must_use]
    pub fn thread_starter(&self) -> Option<&'static str> {
        let is_imported = |symbol: &str| self.imports.iter().any(|import| import.starts_with(symbol));
        THREAD_STARTERS.iter().find(|(symbol, _)| is_imported(symbol)).map(|&(_, name)| name)
    }
}

/// A program in the making.
pub(super) struct Builder<'a> {
    scope: &'a Scope,
    granularity: Granularity,
    disassembler: Disassembler,
    files: Files,
    images: Vec<Image>,
    functions: Vec<Function>,
    leaders: Vec<Leader>,
    code_files: CodeFiles,
    /// The targets of the current image's jumps from a function to outside of it.
    jumps_out: Vec<u64>,
    /// The statement rows of all functions.
    rows: Vec<StatementRow>,
}

/// The debug information of an image, before anything is decoded.
struct DebugInfo {
    units: Vec<UnitLines>,
    functions: Vec<Extent>,
}

impl<'a> Builder<'a> {
    pub(super) fn new(scope: &'a Scope, granularity: Granularity) -> Result<Builder<'a>, LoadError> {
        Ok(Builder {
            scope,
            granularity,
            disassembler: Disassembler::new()?,
            files: Files::default(),
            images: Vec::new(),
            functions: Vec::new(),
            leaders: Vec::new(),
            code_files: CodeFiles::default(),
            jumps_out: Vec::new(),
            rows: Vec::new(),
        })
    }

    /// Adds the image in the file at `path`.
    pub(super) fn add(&mut self, path: &Path) -> Result<(), LoadError> {
        // As it was before it was read: what changes it meanwhile will be noticed.
        self.code_files.add(path);
        let data = elf::read(path)?;
        let elf = Elf::parse(path, &data)?;
        if elf.has(".gopclntab") || elf.has(".data.rel.ro.gopclntab") {
            return Err(LoadError::Go(path.into()));
        }
        let info = match elf.separate_debug_file()? {
            Some(debug) => {
                let data = elf::contents(&debug)?;
                let debug = Elf::parse(&debug, &data)?;
                guarded(path, || self.debug_info(&debug, path))?
            }
            None => guarded(path, || self.debug_info(&elf, path))?,
        };
        if info.units.iter().all(|unit| unit.sequences.is_empty()) {
            return Err(LoadError::NoLineTable(path.into()));
        }
        let image = ImageId(self.images.len() as u16);
        self.images.push(Image::of(path, &elf));
        let rows = RowIndex::new(&info.units);
        let mut text = Vec::new();
        let mut producers = Vec::new();
        let (mut functions, mut optimised) = (0, 0);
        for extent in info.functions {
            let Some((home, row)) = rows.at(extent.entry) else {
                continue;
            };
            let candidate = Candidate { function: &extent.name, file: self.files.get(row.file), home };
            if !self.scope.includes(candidate) {
                continue;
            }
            if let Some(producer) = home.producer.as_ref().filter(|producer| !producers.contains(*producer)) {
                producers.push(producer.clone());
            }
            if self.add_function(image, &elf, &extent, &rows)? {
                text.extend(extent.ranges);
                functions += 1;
                optimised += usize::from(extent.is_optimised);
            }
        }
        self.keep_targets_in_place(image);
        let image = &mut self.images[usize::from(image.0)];
        image.text = merged(text)
            .into_iter()
            .filter_map(|(start, end)| Some((FileAddress(start), elf.code(start, end)?.to_vec())))
            .collect();
        image.producers = producers;
        // One may be so by chance: rustc gives a captured variable several places without any optimisation.
        image.is_optimised = 2 * optimised > functions;
        Ok(())
    }

    fn debug_info(&mut self, elf: &Elf<'_>, path: &Path) -> Result<DebugInfo, LoadError> {
        let damaged = |damage: Damage| damage.of(path);
        let sections = gimli::DwarfSections::load(|id| elf.section(id.name()))?;
        let dwarf: Dwarf<lines::Slice<'_>> =
            sections.borrow(|section| EndianSlice::new(section, RunTimeEndian::Little));
        let mut claims = Claims::of(elf.size() + size(&dwarf));
        let symbols = elf.functions();
        let names = functions::names(&symbols, &mut claims).map_err(damaged)?;
        let companions = SplitFiles::of(path, self.scope)?;
        let mut info = self.units(dwarf, &companions, &names, &mut claims).map_err(damaged)?;
        info.functions.extend(functions::of_symbols(&symbols, &names));
        let mut known = HashSet::new();
        info.functions.retain(|extent| known.insert(extent.entry));
        info.functions.sort_by_key(|extent| extent.entry);
        without_overlaps(&mut info.functions);
        Ok(info)
    }

    fn units(
        &mut self,
        mut dwarf: Dwarf<lines::Slice<'_>>,
        companions: &SplitFiles<'_>,
        names: &HashMap<u64, String>,
        claims: &mut Claims,
    ) -> Result<DebugInfo, Damage> {
        dwarf.populate_abbreviations_cache(AbbreviationsCacheStrategy::Duplicates);
        let mut info = DebugInfo { units: Vec::new(), functions: Vec::new() };
        let mut tables = HashSet::new();
        let mut headers = dwarf.units();
        while let Some(header) = headers.next()? {
            let is_type = matches!(header.type_(), UnitType::Type { .. } | UnitType::SplitType { .. });
            let unit = dwarf.unit(header)?;
            let mut functions_of = |dwarf: &Dwarf<lines::Slice<'_>>, whole: &Unit<lines::Slice<'_>>| {
                let home = lines::home(dwarf, whole, lines::directory(&unit))?;
                Ok((home, functions::of_unit(dwarf, whole, names, claims)?))
            };
            let (home, functions) = match companions.with_whole(&dwarf, &unit, &mut functions_of)? {
                Some(whole) => whole,
                None => functions_of(&dwarf, &unit)?,
            };
            info.functions.extend(functions);
            // A unit of types only refers to the table of the unit that uses them.
            let table = unit.line_program.as_ref().map(|program| program.header().offset().0);
            if !is_type && table.is_some_and(|table| tables.insert(table)) {
                info.units.extend(lines::read(&dwarf, &unit, home, &mut self.files, claims)?);
            }
        }
        Ok(info)
    }

    /// Adds a function with its leaders; false if it has no code or no rows.
    fn add_function(
        &mut self,
        image: ImageId,
        elf: &Elf<'_>,
        extent: &Extent,
        rows: &RowIndex<'_>,
    ) -> Result<bool, LoadError> {
        let ranges: Option<Vec<(u64, &[u8])>> =
            extent.ranges.iter().map(|&(start, end)| Some((start, elf.code(start, end)?))).collect();
        let Some(ranges) = ranges else {
            return Ok(false);
        };
        let code = self.disassembler.decode(&ranges)?;
        let Some(entry) = code.index_of(extent.entry) else {
            return Ok(false);
        };
        let rows = self.rows_in_scope(extent, rows);
        let heights = StackHeights::new(&code, entry);
        let found = leaders::find(&code, &rows, entry, &heights, self.granularity);
        if found.is_empty() {
            return Ok(false);
        }
        let insns: Vec<usize> = found.iter().map(|leader| leader.insn).collect();
        let memory = |address: u64, length: u64| elf.code(address, address.checked_add(length)?);
        let tables = JumpTables::read(&code, &memory);
        let follow = flow::connect(&code, &insns, &tables);
        let landings = JumpTargets::new(&code, &insns, &tables, || elf.pointers());
        self.jumps_out.extend(moving::jumps_out(&code));
        let flags_live = moving::flags_live(&code);
        let only_call = only_calls::only_call(&code, &insns);
        let function = FunctionId(self.functions.len() as u32);
        let placed = self.statement_rows(image, &rows, &found);
        self.rows.extend(placed);
        let first = self.leaders.len() as u32;
        let found = found.iter().zip(follow).zip(only_call);
        for ((FoundLeader { insn, kind, row, live }, follow), only_calls) in found {
            self.leaders.push(Leader {
                image,
                address: FileAddress(code.at(*insn).address),
                function,
                kind: *kind,
                live: *live,
                movable: landings.movable(&code, *insn),
                flags_live: flags_live[*insn],
                statement: self.statement(row, *kind),
                decides: follow.successors.len() > 1,
                only_calls,
                post_dominator: follow.post_dominator.map(|number| LeaderId(first + number as u32)),
            });
        }
        self.functions.push(Function {
            name: extent.name.clone(),
            leaders: first..self.leaders.len() as u32,
            frame_size: heights.frame_size(),
        });
        Ok(true)
    }

    /// Code that another function jumps to must not be moved: a compiler splits functions in two.
    fn keep_targets_in_place(&mut self, image: ImageId) {
        let mut targets = std::mem::take(&mut self.jumps_out);
        targets.sort_unstable();
        for leader in self.leaders.iter_mut().filter(|leader| leader.image == image) {
            let behind = targets.partition_point(|&target| target <= leader.address.0);
            if let Some(&target) = targets.get(behind) {
                let room = target - leader.address.0;
                leader.movable = leader.movable.min(u8::try_from(room).unwrap_or(u8::MAX));
            }
        }
    }

    /// The rows of a function; code that was inlined from elsewhere belongs to the row before.
    fn rows_in_scope(&self, extent: &Extent, rows: &RowIndex<'_>) -> Vec<Row> {
        let mut kept = Vec::new();
        for &(start, end) in &extent.ranges {
            for (home, row) in rows.within(start, end) {
                let candidate = Candidate { function: &extent.name, file: self.files.get(row.file), home };
                if self.scope.includes(candidate) {
                    kept.push(row);
                }
            }
        }
        kept
    }

    /// The rows of a function at which statements begin, as they are kept.
    fn statement_rows(&self, image: ImageId, rows: &[Row], found: &[FoundLeader]) -> Vec<StatementRow> {
        let with_events: HashSet<_> = found.iter().map(|leader| (leader.row.file, leader.row.line)).collect();
        let rows = rows.iter().filter(|row| row.is_stmt && row.line != 0);
        let kept = rows.map(|row| StatementRow {
            image,
            address: FileAddress(row.address),
            statement: self.statement(row, LeaderKind::Statement),
            has_events: with_events.contains(&(row.file, row.line)),
        });
        kept.collect()
    }

    fn statement(&self, row: &Row, kind: LeaderKind) -> Statement {
        let column = match self.granularity {
            Granularity::Statement if kind == LeaderKind::Statement => row.column,
            _ => 0,
        };
        Statement { file: row.file, line: row.line, column }
    }

    pub(super) fn finish(self) -> Program {
        let program = Program::new(self.images, self.files.into_vec(), self.functions, self.leaders);
        Program { code_files: self.code_files, statement_rows: StatementRows::new(self.rows), ..program }
    }
}

/// The size of the debug information in bytes, uncompressed.
fn size(dwarf: &Dwarf<lines::Slice<'_>>) -> usize {
    dwarf.debug_info.reader().len() + dwarf.debug_line.reader().len() + dwarf.debug_str.reader().len()
}

/// All rows of an image in the order of their addresses.
struct RowIndex<'a> {
    sequences: Vec<(&'a UnitOrigin, &'a lines::Sequence)>,
}

impl<'a> RowIndex<'a> {
    fn new(units: &'a [UnitLines]) -> RowIndex<'a> {
        let mut sequences: Vec<_> = units
            .iter()
            .flat_map(|unit| unit.sequences.iter().map(|sequence| (&unit.home, sequence)))
            .collect();
        sequences.sort_by_key(|(_, sequence)| sequence.rows[0].address);
        RowIndex { sequences }
    }

    fn sequences_within(
        &self,
        start: u64,
        end: u64,
    ) -> impl Iterator<Item = &(&'a UnitOrigin, &'a lines::Sequence)> {
        let behind = self.sequences.partition_point(|(_, sequence)| sequence.rows[0].address < end);
        self.sequences[..behind].iter().rev().take_while(move |(_, sequence)| sequence.end > start)
    }

    /// The last row that begins at or before `address`.
    fn at(&self, address: u64) -> Option<(&'a UnitOrigin, Row)> {
        self.sequences_within(address, address.saturating_add(1)).find_map(|&(home, sequence)| {
            let behind = sequence.rows.partition_point(|row| row.address <= address);
            Some((home, *sequence.rows.get(behind.checked_sub(1)?)?))
        })
    }

    fn within(&self, start: u64, end: u64) -> impl Iterator<Item = (&'a UnitOrigin, Row)> {
        self.sequences_within(start, end).flat_map(move |&(home, sequence)| {
            let first = sequence.rows.partition_point(|row| row.address < start);
            let last = sequence.rows.partition_point(|row| row.address < end);
            sequence.rows[first..last].iter().map(move |&row| (home, row))
        })
    }
}

/// Cuts functions where the next one begins: sizes in symbol tables and damaged files overlap.
fn without_overlaps(functions: &mut [Extent]) {
    let entries: Vec<u64> = functions.iter().map(|extent| extent.entry).collect();
    for extent in functions {
        for (start, end) in &mut extent.ranges {
            let next = entries.partition_point(|&entry| entry <= *start);
            if let Some(&next) = entries.get(next) {
                *end = (*end).min(next);
            }
        }
    }
}

/// Ranges in ascending order, with those that touch made one.
fn merged(mut ranges: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    ranges.sort_unstable();
    let mut merged: Vec<(u64, u64)> = Vec::new();
    for (start, end) in ranges {
        match merged.last_mut() {
            Some(last) if start <= last.1 => last.1 = last.1.max(end),
            _ => merged.push((start, end)),
        }
    }
    merged
}
