//! Say why a program cannot be traced, and what to do about it.

use std::io;
use std::path::PathBuf;

/// Why a program cannot be loaded. Each message names the file, the cause and the remedy.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages are the documentation of the fields")]
pub enum LoadError {
    #[error("{}: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{}: is a directory: name the program in it", .0.display())]
    Directory(PathBuf),
    #[error("{}: is a device or a pipe: name a program in a file", .0.display())]
    NoFile(PathBuf),
    #[error("{}: has more than 4 GiB, the most that is read: link it with less debug information (-gz, -gsplit-dwarf)", .0.display())]
    TooLong(PathBuf),
    #[error("{}: is not executable: name a program, or make it executable with chmod +x", .0.display())]
    NotExecutable(PathBuf),
    #[error("{}: is set-uid or set-gid, and the kernel drops these rights under a tracer: copy the file without them", .0.display())]
    SetUid(PathBuf),
    #[error("{}: is not an ELF file but a script for `{interpreter}`, and only statements of native programs can be traced: take a debugger of its language, or name the native program that it starts", path.display())]
    Script { path: PathBuf, interpreter: String },
    #[error("{}: is not an ELF file: name a native program for Linux x86-64", .0.display())]
    NotElf(PathBuf),
    #[error("{}: is not an x86-64 program ({what}): compile it for x86-64", path.display())]
    Foreign { path: PathBuf, what: String },
    #[error("{}: is a Go program, whose runtime always starts threads and moves stacks, which cannot be replayed: for Go there is no remedy here, trace a program in C, C++, Rust or another language without such a runtime", .0.display())]
    Go(PathBuf),
    #[error("{}: is damaged ({source}): link it again", path.display())]
    Damaged { path: PathBuf, source: object::Error },
    #[error("{}: its debug information is damaged ({what}): compile it again with -g -O0", path.display())]
    DamagedDwarf { path: PathBuf, what: String },
    #[error("{}: its debug information is damaged (a reader failed at it: {said}): compile it again with -g -O0", path.display())]
    Confusing { path: PathBuf, said: String },
    #[error("{}: its section {section} claims {claimed} bytes, which is not believable: link it again", path.display())]
    Oversized { path: PathBuf, section: String, claimed: u64 },
    #[error("{}: its debug information is in {name}, which is not there or of another build: put it beside the program, or compile with -g -O0", path.display())]
    DebugFileMissing { path: PathBuf, name: String },
    #[error("{}: a part of its debug information is in {name}, which is not there: put it beside the program, compile without -gsplit-dwarf, or name your functions with --scope, for example --scope '*.c'", path.display())]
    SplitFileMissing { path: PathBuf, name: String },
    #[error("{}: has no line table (.debug_line): compile it with -g -O0", .0.display())]
    NoLineTable(PathBuf),
    #[error("{}: has a line table, but none of its functions is in scope: name yours with --scope, for example --scope '*.c'", .0.display())]
    NothingInScope(PathBuf),
    #[error("the disassembler cannot be set up: {0}")]
    Disassembler(String),
}
