//! Names of places in the program's code, in the words of the source: file, line and function, with the functions that
//! a compiler has inlined into others.
//!
//! Source of the names: DWARF, read by the crate addr2line; where there is none, the symbol table.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use addr2line::Context;
use gimli::{Dwarf, EndianArcSlice, RunTimeEndian};

use super::claims::Damage;
use super::elf::{self, Elf};
use super::guard::guarded;
use super::names::demangle;
use super::{LoadError, Program};
use crate::address::FileAddress;

type Reader = EndianArcSlice<RunTimeEndian>;

/// A frame of a backtrace: a function that was active, or that its compiler has inlined into another one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceFrame {
    /// The name of the function as the source language writes it, if it has one.
    pub function: Option<String>,
    /// The file as users know it, and the line.
    pub place: Option<(String, u32)>,
}

/// The names of places in files, read when they are asked for.
#[derive(Default)]
pub(super) struct Names(Mutex<HashMap<PathBuf, Option<FileNames>>>);

/// The names of one file.
struct FileNames {
    context: Context<Reader>,
    /// Address, size and name of each function of the symbol table, ascending.
    symbols: Vec<(u64, u64, String)>,
    known: HashMap<u64, Vec<SourceFrame>>,
}

impl fmt::Debug for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Names").finish_non_exhaustive()
    }
}

impl Names {
    /// The functions that the code at `address` of the file at `path` belongs to: the innermost first, then those into
    /// which it was inlined. None if nothing is known.
    pub(super) fn at(&self, program: &Program, path: &Path, address: FileAddress) -> Vec<SourceFrame> {
        let mut files = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let file = files.entry(path.into()).or_insert_with(|| FileNames::read(path).ok());
        let Some(file) = file else { return Vec::new() };
        if let Some(known) = file.known.get(&address.0) {
            return known.clone();
        }
        let frames = guarded(path, || Ok(file.frames(program, address.0))).unwrap_or_default();
        file.known.insert(address.0, frames.clone());
        frames
    }
}

impl FileNames {
    fn read(path: &Path) -> Result<FileNames, LoadError> {
        guarded(path, || {
            let data = elf::read(path)?;
            let elf = Elf::parse(path, &data)?;
            let mut symbols: Vec<(u64, u64, String)> = elf
                .functions()
                .iter()
                .map(|symbol| (symbol.address, symbol.size, symbol.name.to_owned()))
                .collect();
            symbols.sort();
            let separate = elf.separate_debug_file().ok().flatten();
            let dwarf = match &separate {
                Some(debug) => {
                    let data = std::fs::read(debug)
                        .map_err(|source| LoadError::Unreadable { path: debug.clone(), source })?;
                    dwarf(&Elf::parse(debug, &data)?)?
                }
                None => dwarf(&elf)?,
            };
            let context = Context::from_dwarf(dwarf).map_err(|error| Damage::from(error).of(path))?;
            Ok(FileNames { context, symbols, known: HashMap::new() })
        })
    }

    fn frames(&self, program: &Program, address: u64) -> Vec<SourceFrame> {
        let mut found = Vec::new();
        if let Ok(mut frames) = self.context.find_frames(address).skip_all_loads() {
            while let Ok(Some(frame)) = frames.next() {
                let name = frame.function.as_ref().and_then(|function| function.raw_name().ok());
                let place = frame.location.and_then(|location| {
                    let line = location.line.filter(|&line| line > 0)?;
                    Some((shown(program, Path::new(location.file?)), line))
                });
                found.push(SourceFrame { function: name.map(|name| demangle(&name)), place });
            }
        }
        // A unit may have lines and no functions.
        if let Some(outermost) = found.last_mut()
            && outermost.function.is_none()
        {
            outermost.function = self.symbol(address);
        }
        if found.is_empty() {
            found.extend(self.symbol(address).map(|name| SourceFrame { function: Some(name), place: None }));
        }
        found
    }

    /// The function of the symbol table that holds an address.
    fn symbol(&self, address: u64) -> Option<String> {
        let behind = self.symbols.partition_point(|(start, ..)| *start <= address);
        let (start, size, name) = &self.symbols[behind.checked_sub(1)?];
        (address - start < *size).then(|| demangle(name))
    }
}

fn dwarf(elf: &Elf<'_>) -> Result<Dwarf<Reader>, LoadError> {
    Dwarf::load(|id| -> Result<Reader, LoadError> {
        Ok(Reader::new(Arc::from(&*elf.section(id.name())?), RunTimeEndian::Little))
    })
}

/// The path of a source file as users know it.
fn shown(program: &Program, path: &Path) -> String {
    let known = program.files().iter().find(|file| file.path == path);
    // Where nothing is traced, no directory is known that users would leave out.
    let alone = || if program.files().is_empty() { path.file_name() } else { None };
    let unknown = || alone().map_or_else(|| path.display().to_string(), |name| name.display().to_string());
    known.map_or_else(unknown, |file| file.shown.clone())
}
