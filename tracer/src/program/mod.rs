//! The program as its executable describes it: traced functions, their leaders and how these follow each other.
//!
//! The only reader of ELF, DWARF and machine code. A [`Program`] is fixed once loaded and knows nothing
//! of processes; `stripe`'s design calls its parts by the terms of compilers: *leader* (Aho, Sethi and
//! Ullman, "Compilers", 9.4), *post-dominator*.

pub(crate) mod accesses;
mod agent_code;
mod backtrace;
mod claims;
mod code;
mod code_files;
mod decisions;
pub(crate) mod detour;
mod elf;
mod error;
mod flow;
mod functions;
mod guard;
mod image;
pub(crate) mod interpretation;
mod leaders;
pub(crate) mod library;
mod lines;
mod moving;
mod names;
mod only_calls;
pub(crate) mod operations;
pub(crate) mod origins;
pub(crate) mod other_ways;
mod passed;
mod readings;
mod registers;
mod sanitizer;
mod scope;
#[cfg(test)]
pub(crate) mod sketch;
mod split;
mod stack;
mod stores;
pub(crate) mod unwinding;
pub(crate) mod variables;

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

pub use agent::names::{FunctionId, LeaderId, LeaderKind, Mark};
use agent::session::MAX_FRAME;
pub use backtrace::SourceFrame;
pub(crate) use code_files::CodeFiles;
pub use detour::DetourCounts;
pub use error::LoadError;
pub use image::Image;
pub(crate) use readings::{ProcessorReading, Read, is_loaded_by_glibc, readings};
pub use registers::RegisterSet;
pub use sanitizer::Sanitizer;
pub use scope::{InvalidPattern, Scope};
pub use stores::{Store, StoreOperand, StoredKind};

use backtrace::Names;
use passed::StatementRows;
use unwinding::Objects;

use crate::address::FileAddress;

/// The size of a statement: what counts as one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Granularity {
    /// All code of a line is one statement.
    Line,
    /// File, line and column tell statements apart.
    #[default]
    Statement,
}

/// A source file by its position in [`Program::files`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId(pub u32);

/// An image by its position in [`Program::images`]; the executable is the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ImageId(pub u16);

/// A source file.
#[derive(Clone, Debug)]
pub struct File {
    /// The path of the file as the compiler found it.
    pub path: PathBuf,
    /// The path as users know it: relative to the directory of the compilation where it lies below.
    pub shown: String,
}

/// A statement: a place in the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Statement {
    /// The source file.
    pub file: FileId,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1; 0 where the compiler gives none, or where lines are the statements.
    pub column: u32,
}

/// A leader: the address where an event begins.
#[derive(Clone, Debug)]
pub struct Leader {
    /// The image that holds it.
    pub image: ImageId,
    /// Its address in that image.
    pub address: FileAddress,
    /// The function that it belongs to.
    pub function: FunctionId,
    /// The reason why it is a leader.
    pub kind: LeaderKind,
    /// The statement that begins here.
    pub statement: Statement,
    /// The live registers: those that hold values which the function uses after it. No leader needs them on its own
    /// straight line, but a compiler may keep, say, the stack pointer in one across statements.
    pub live: RegisterSet,
    /// The number of bytes of code from here on that control can come to from here only: as many may be moved.
    pub movable: u8,
    /// Whether the status flags from before it may be read after it.
    pub flags_live: bool,
    /// Whether more than one leader can follow: a decision.
    pub decides: bool,
    /// Whether its statement calls functions and stores nothing itself.
    pub only_calls: bool,
    /// The leader that every way to the end of the function passes first, if there is one.
    pub post_dominator: Option<LeaderId>,
}

/// A traced function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name as the source language writes it.
    pub name: String,
    /// Its leaders, as positions in [`Program::leaders`].
    pub leaders: Range<u32>,
    /// The number of bytes below the stack pointer at the entry that it may use.
    pub frame_size: u32,
}

impl Function {
    /// The number of bytes below the stack pointer at the entry that are undefined there, as far as they are filled.
    pub fn undefined_size(&self) -> u64 {
        u64::from(self.frame_size).min(MAX_FRAME)
    }
}

/// The traced part of an executable and of those shared libraries that the scope names.
#[derive(Debug)]
pub struct Program {
    images: Vec<Image>,
    files: Vec<File>,
    functions: Vec<Function>,
    leaders: Vec<Leader>,
    marks: Vec<Mark>,
    by_address: HashMap<(ImageId, FileAddress), LeaderId>,
    /// The names of places, read when they are asked for.
    names: Names,
    /// The unwind tables, read when they are asked for.
    objects: Objects,
    code_files: CodeFiles,
    statement_rows: StatementRows,
}

impl Program {
    /// Reads the executable at `path` and the `libraries`, and finds the leaders of all functions in
    /// scope.
    ///
    /// # Errors
    /// If the executable is none that can be traced, has no line table, or has nothing in scope; and
    /// if a library is damaged. A library without a line table has nothing to trace.
    pub fn load(
        path: &Path,
        libraries: &[PathBuf],
        scope: &Scope,
        granularity: Granularity,
    ) -> Result<Program, LoadError> {
        let mut builder = image::Builder::new(scope, granularity)?;
        builder.add(path)?;
        for library in libraries {
            match builder.add(library) {
                Err(LoadError::NoLineTable(_)) => {}
                other => other?,
            }
        }
        let program = builder.finish();
        if program.leaders.is_empty() {
            return Err(LoadError::NothingInScope(path.into()));
        }
        Ok(program)
    }

    /// The program at `path`, of which nothing is traced: any that can be started. It has an image if it is an
    /// executable that can be read.
    pub fn untraced(path: &Path) -> Program {
        let images = Image::untraced(path).into_iter().collect();
        Program::new(images, Vec::new(), Vec::new(), Vec::new())
    }

    fn new(images: Vec<Image>, files: Vec<File>, functions: Vec<Function>, leaders: Vec<Leader>) -> Program {
        let code_files = CodeFiles::default();
        let mark = |leader: &Leader| Mark { function: leader.function, kind: leader.kind };
        let ids = (0..leaders.len() as u32).map(LeaderId);
        let by_address = leaders.iter().map(|leader| (leader.image, leader.address)).zip(ids).collect();
        let marks = leaders.iter().map(mark).collect();
        let (names, objects) = (Names::default(), Objects::default());
        let statement_rows = StatementRows::default();
        Program {
            images,
            files,
            functions,
            leaders,
            marks,
            by_address,
            names,
            objects,
            code_files,
            statement_rows,
        }
    }

    /// The files whose code its runs execute.
    pub(crate) fn code_files(&self) -> &CodeFiles {
        &self.code_files
    }

    /// The executable, then the traced shared libraries. None if nothing is traced, and the program is no
    /// executable itself, but a script.
    pub fn images(&self) -> &[Image] {
        &self.images
    }

    /// The executable itself.
    pub fn executable(&self) -> &Image {
        &self.images[0]
    }

    /// Whether a sanitizer in it looks for memory that was never freed, which needs ptrace(2) for itself.
    pub fn looks_for_leaks(&self) -> bool {
        self.images.iter().flat_map(|image| &image.sanitizers).any(|sanitizer| sanitizer.looks_for_leaks())
    }

    /// All source files of the images, in no particular order.
    pub fn files(&self) -> &[File] {
        &self.files
    }

    /// The traced functions.
    pub fn functions(&self) -> &[Function] {
        &self.functions
    }

    /// All leaders, grouped by function, each group in the order of addresses.
    pub fn leaders(&self) -> &[Leader] {
        &self.leaders
    }

    /// The leader with this number.
    pub fn leader(&self, id: LeaderId) -> &Leader {
        &self.leaders[id.0 as usize]
    }

    /// The marks of the leaders, for the rules of a replay.
    pub fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// The mark of a leader, for the rules of a replay.
    pub fn mark(&self, id: LeaderId) -> Mark {
        self.marks[id.0 as usize]
    }

    /// The function with this number.
    pub fn function(&self, id: FunctionId) -> &Function {
        &self.functions[id.0 as usize]
    }

    /// The function that a leader belongs to.
    pub fn function_of(&self, leader: LeaderId) -> &Function {
        self.function(self.leader(leader).function)
    }

    /// The file with this number.
    pub fn file(&self, id: FileId) -> &File {
        &self.files[id.0 as usize]
    }

    /// The functions that the code at an address of a file belongs to, the innermost first, then those into which a
    /// compiler has inlined it; none if nothing is known. The file is an image of the program or a library.
    pub fn source_frames(&self, file: &Path, address: FileAddress) -> Vec<SourceFrame> {
        self.names.at(self, file, address)
    }

    /// The unwind tables of the files whose code is executed.
    pub(crate) fn objects(&self) -> &Objects {
        &self.objects
    }

    /// The leader at an address of an image.
    pub fn leader_at(&self, image: ImageId, address: FileAddress) -> Option<LeaderId> {
        self.by_address.get(&(image, address)).copied()
    }

    /// A leader's place in the words of compilers, `file:line`.
    pub fn place(&self, leader: LeaderId) -> Place<'_> {
        self.place_of(self.leader(leader).statement)
    }

    /// A statement's place in the words of compilers, `file:line`.
    pub fn place_of(&self, statement: Statement) -> Place<'_> {
        Place { file: &self.file(statement.file).shown, line: statement.line }
    }
}

/// The address of this dynamic symbol in the ELF file at `path`.
pub(crate) fn symbol_address(path: &Path, name: &str) -> Option<FileAddress> {
    let data = elf::contents(path).ok()?;
    elf::Elf::parse(path, &data).ok()?.dynamic_symbol(name).map(FileAddress)
}

/// A source line for messages.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    file: &'a str,
    line: u32,
}

impl fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}
