//! Errors of loading: why a program cannot be traced, and what to do about it.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::{error, fmt, io};

/// An error of loading a program. The message names the file, the cause and the remedy.
#[derive(Debug)]
#[allow(missing_docs, reason = "the messages are the documentation of the fields")]
pub enum LoadError {
    Unreadable { path: PathBuf, source: io::Error },
    Directory(PathBuf),
    NoFile(PathBuf),
    TooLong(PathBuf),
    NotExecutable(PathBuf),
    SetUid(PathBuf),
    Script { path: PathBuf, interpreter: String },
    NotElf(PathBuf),
    Foreign { path: PathBuf, what: String },
    Go(PathBuf),
    Damaged { path: PathBuf, source: object::Error },
    DamagedDwarf { path: PathBuf, what: String },
    Confusing { path: PathBuf, said: String },
    Oversized { path: PathBuf, section: String, claimed: u64 },
    DebugFileMissing { path: PathBuf, name: String },
    SplitFileMissing { path: PathBuf, name: String },
    NoLineTable(PathBuf),
    NothingInScope(PathBuf),
    Disassembler(String),
}

impl LoadError {
    /// The path of the file; none for what fails whatever the file is.
    pub fn path(&self) -> Option<&Path> {
        Some(match self {
            LoadError::Directory(path)
            | LoadError::NoFile(path)
            | LoadError::TooLong(path)
            | LoadError::NotExecutable(path)
            | LoadError::SetUid(path)
            | LoadError::NotElf(path)
            | LoadError::Go(path)
            | LoadError::NoLineTable(path)
            | LoadError::NothingInScope(path)
            | LoadError::Unreadable { path, .. }
            | LoadError::Script { path, .. }
            | LoadError::Foreign { path, .. }
            | LoadError::Damaged { path, .. }
            | LoadError::DamagedDwarf { path, .. }
            | LoadError::Confusing { path, .. }
            | LoadError::Oversized { path, .. }
            | LoadError::DebugFileMissing { path, .. }
            | LoadError::SplitFileMissing { path, .. } => path,
            LoadError::Disassembler(_) => return None,
        })
    }

    /// The cause, as the rest of a sentence that the file begins.
    pub fn cause(&self) -> Cow<'static, str> {
        match self {
            LoadError::Unreadable { source, .. } => source.to_string().into(),
            LoadError::Directory(_) => "is a directory".into(),
            LoadError::NoFile(_) => "is a device or a pipe".into(),
            LoadError::TooLong(_) => "has more than 4 GiB, the most that is read".into(),
            LoadError::NotExecutable(_) => "is not executable".into(),
            LoadError::SetUid(_) => {
                "is set-uid or set-gid, and the kernel drops these rights under a tracer".into()
            }
            LoadError::Script { interpreter, .. } => format!(
                "is not an ELF file but a script for `{interpreter}`, and only statements of native programs can be \
                 traced"
            )
            .into(),
            LoadError::NotElf(_) => "is not an ELF file".into(),
            LoadError::Foreign { what, .. } => format!("is not an x86-64 program ({what})").into(),
            LoadError::Go(_) => {
                "is a Go program, whose runtime always starts threads and moves stacks, which cannot be replayed".into()
            }
            LoadError::Damaged { source, .. } => format!("is damaged ({source})").into(),
            LoadError::DamagedDwarf { what, .. } => {
                format!("its debug information is damaged ({what})").into()
            }
            LoadError::Confusing { said, .. } => {
                format!("its debug information is damaged (a reader failed at it: {said})").into()
            }
            LoadError::Oversized { section, claimed, .. } => {
                format!("its section {section} claims {claimed} bytes, which is not believable").into()
            }
            LoadError::DebugFileMissing { name, .. } => {
                format!("its debug information is in {name}, which is not there or of another build").into()
            }
            LoadError::SplitFileMissing { name, .. } => {
                format!("a part of its debug information is in {name}, which is not there").into()
            }
            LoadError::NoLineTable(_) => "has no line table (.debug_line)".into(),
            LoadError::NothingInScope(_) => "has a line table, but none of its functions is in scope".into(),
            LoadError::Disassembler(why) => format!("the disassembler cannot be set up: {why}").into(),
        }
    }

    /// The file, if it is about one, and the cause.
    pub fn refused(&self) -> String {
        let path = self.path().map(|path| format!("{}: ", path.display())).unwrap_or_default();
        path + &self.cause()
    }

    /// The remedy, if one is known.
    pub fn remedy(&self) -> Option<&'static str> {
        Some(match self {
            LoadError::Unreadable { .. } | LoadError::Disassembler(_) => return None,
            LoadError::Directory(_) => "name the program in it",
            LoadError::NoFile(_) => "name a program in a file",
            LoadError::TooLong(_) => "link it with less debug information (-gz, -gsplit-dwarf)",
            LoadError::NotExecutable(_) => "name a program, or make it executable with chmod +x",
            LoadError::SetUid(_) => "copy the file without them",
            LoadError::Script { .. } => {
                "take a debugger of its language, or name the native program that it starts"
            }
            LoadError::NotElf(_) => "name a native program for Linux x86-64",
            LoadError::Foreign { .. } => "compile it for x86-64",
            LoadError::Go(_) => {
                "for Go there is no remedy here, trace a program in C, C++, Rust or another language without such a \
                 runtime"
            }
            LoadError::Damaged { .. } | LoadError::Oversized { .. } => "link it again",
            LoadError::DamagedDwarf { .. } | LoadError::Confusing { .. } => "compile it again with -g -O0",
            LoadError::NoLineTable(_) => "compile it with -g -O0",
            LoadError::DebugFileMissing { .. } => "put it beside the program, or compile with -g -O0",
            LoadError::SplitFileMissing { .. } => {
                "put it beside the program, compile without -gsplit-dwarf, or name your functions with --scope, for \
                 example --scope '*.c'"
            }
            LoadError::NothingInScope(_) => "name yours with --scope, for example --scope '*.c'",
        })
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.refused())?;
        self.remedy().map_or(Ok(()), |remedy| write!(out, ": {remedy}"))
    }
}

impl error::Error for LoadError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            LoadError::Unreadable { source, .. } => Some(source),
            LoadError::Damaged { source, .. } => Some(source),
            _ => None,
        }
    }
}
