//! The line table: which statement each address of the program belongs to.
//!
//! Also tells which compilation unit a sequence of rows came from, because the unit's directory decides whether a file
//! is the user's own. What counts as the beginning of a statement is decided in `leaders`.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use gimli::{AttributeValue, Dwarf, EndianSlice, LineProgramHeader, RunTimeEndian, Unit};

use super::claims::{Claims, Damage};
use super::{File, FileId};

pub(super) type Slice<'a> = EndianSlice<'a, RunTimeEndian>;

/// A row of the line table: the statement to which the compiler attributes the instruction at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) address: u64,
    pub(super) file: FileId,
    /// The line, from 1; 0 where the compiler attributes the instruction to no line.
    pub(super) line: u32,
    /// The column, from 1; 0 for the left edge.
    pub(super) column: u32,
    pub(super) is_stmt: bool,
    pub(super) prologue_end: bool,
}

/// The source files of a program, each once.
#[derive(Default)]
pub(super) struct Files {
    files: Vec<File>,
    by_path: HashMap<PathBuf, FileId>,
}

impl Files {
    fn intern(&mut self, path: PathBuf, shown: String) -> FileId {
        *self.by_path.entry(path.clone()).or_insert_with(|| {
            self.files.push(File { path, shown });
            FileId(self.files.len() as u32 - 1)
        })
    }

    /// The file with this number.
    pub(super) fn get(&self, file: FileId) -> &File {
        &self.files[file.0 as usize]
    }

    pub(super) fn into_vec(self) -> Vec<File> {
        self.files
    }
}

/// The directories of a compilation unit and its compiler.
#[derive(Debug)]
pub(super) struct UnitOrigin {
    /// The directory of the compilation, `DW_AT_comp_dir`.
    pub(super) directory: PathBuf,
    /// The folder of the unit's primary source file: build systems such as CMake compile outside
    /// of the source tree.
    pub(super) sources: PathBuf,
    /// The compiler with its options, `DW_AT_producer`.
    pub(super) producer: Option<String>,
}

impl UnitOrigin {
    /// The number of bytes of its texts.
    fn size(&self) -> usize {
        let producer = self.producer.as_ref().map_or(0, String::len);
        self.directory.as_os_str().len() + self.sources.as_os_str().len() + producer
    }
}

/// The line table of one compilation unit.
pub(super) struct UnitLines {
    pub(super) home: UnitOrigin,
    /// The sequences of rows with ascending addresses; each ends at the given address.
    pub(super) sequences: Vec<Sequence>,
}

/// A sequence: rows without a gap.
pub(super) struct Sequence {
    pub(super) rows: Vec<Row>,
    pub(super) end: u64,
}

/// Makes a path absolute within `base` and takes `.` and `..` out of it, without asking the disk:
/// the sources may be on another machine.
pub(super) fn normal(base: &Path, path: &Path) -> PathBuf {
    let mut normal = PathBuf::new();
    for component in base.join(path).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                normal.pop();
            }
            other => normal.push(other),
        }
    }
    normal
}

/// Reads the line table of a unit; `None` if it has none.
pub(super) fn read(
    dwarf: &Dwarf<Slice<'_>>,
    unit: &Unit<Slice<'_>>,
    home: UnitOrigin,
    files: &mut Files,
    claims: &mut Claims,
) -> Result<Option<UnitLines>, Damage> {
    let Some(program) = unit.line_program.clone() else {
        return Ok(None);
    };
    claims.text(home.size())?;
    let mut names: HashMap<u64, FileId> = HashMap::new();
    let mut sequences = Vec::new();
    let mut rows: Vec<Row> = Vec::new();
    let mut state = program.rows();
    while let Some((header, row)) = state.next_row()? {
        claims.row()?;
        if row.end_sequence() {
            let rows = std::mem::take(&mut rows);
            // Linkers resolve the line tables of discarded functions to address 0.
            if rows.first().is_some_and(|first| first.address != 0) {
                sequences.push(Sequence { rows, end: row.address() });
            }
            continue;
        }
        let file = match names.get(&row.file_index()) {
            Some(&file) => file,
            None => {
                let path = file_path(dwarf, unit, header, row.file_index(), &home.directory)?;
                claims.text(path.as_os_str().len())?;
                let shown = shown(&path, &home.directory);
                let file = files.intern(path, shown);
                names.insert(row.file_index(), file);
                file
            }
        };
        // A sequence may not go back; rows that do are damage.
        if rows.last().is_some_and(|last| last.address > row.address()) {
            continue;
        }
        rows.push(Row {
            address: row.address(),
            file,
            line: row.line().map_or(0, |line| u32::try_from(line.get()).unwrap_or(0)),
            column: match row.column() {
                gimli::ColumnType::LeftEdge => 0,
                gimli::ColumnType::Column(column) => u32::try_from(column.get()).unwrap_or(0),
            },
            is_stmt: row.is_stmt(),
            prologue_end: row.prologue_end(),
        });
    }
    Ok(Some(UnitLines { home, sequences }))
}

/// A path as users know it: relative to the directory of the compilation, or to that one's parent, where
/// build systems have the sources beside the folder in which they compile.
fn shown(path: &Path, directory: &Path) -> String {
    let parent = directory.parent().filter(|parent| parent.parent().is_some());
    let relative =
        [Some(directory), parent].into_iter().flatten().find_map(|root| path.strip_prefix(root).ok());
    relative.unwrap_or(path).to_string_lossy().into_owned()
}

/// The directory in which a unit was compiled.
pub(super) fn directory(unit: &Unit<Slice<'_>>) -> PathBuf {
    let directory = unit.comp_dir.as_ref().map(|text| text.to_string_lossy().into_owned());
    normal(Path::new("/"), Path::new(&directory.unwrap_or_default()))
}

/// The origin of a unit that was compiled in this directory.
pub(super) fn home(
    dwarf: &Dwarf<Slice<'_>>,
    unit: &Unit<Slice<'_>>,
    directory: PathBuf,
) -> gimli::Result<UnitOrigin> {
    let text = |slice: &Slice<'_>| slice.to_string_lossy().into_owned();
    let name = unit.name.as_ref().map(text).unwrap_or_default();
    let sources =
        normal(&directory, Path::new(&name)).parent().map_or_else(|| directory.clone(), Path::to_path_buf);
    let mut entries = unit.entries();
    let producer = entries.next_dfs()?.and_then(|root| root.attr_value(gimli::DW_AT_producer));
    let producer = producer.map(|value| dwarf.attr_string(unit, value)).transpose()?.as_ref().map(text);
    Ok(UnitOrigin { directory, sources, producer })
}

fn file_path(
    dwarf: &Dwarf<Slice<'_>>,
    unit: &Unit<Slice<'_>>,
    header: &LineProgramHeader<Slice<'_>>,
    index: u64,
    directory: &Path,
) -> gimli::Result<PathBuf> {
    let text = |value: AttributeValue<Slice<'_>>| -> gimli::Result<String> {
        Ok(dwarf.attr_string(unit, value)?.to_string_lossy().into_owned())
    };
    let Some(entry) = header.file(index) else {
        return Ok(directory.join("?"));
    };
    let folder = match entry.directory(header) {
        Some(value) => text(value)?,
        None => String::new(),
    };
    let name = text(entry.path_name())?;
    Ok(normal(directory, &Path::new(&folder).join(name)))
}
