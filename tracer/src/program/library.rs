//! Functions of libraries whose reads are known better than their instructions tell, and the objects that libraries
//! keep for themselves.
//!
//! If the C library chooses an implementation for the processor at hand (`STT_GNU_IFUNC`), the choice lies in
//! memory, where relocations say; so a slot is told for such a function, and not its address.

use std::path::Path;

use object::elf;
use object::read::elf::ElfFile64;
use object::{
    Endianness, Object, ObjectSymbol, ObjectSymbolTable, RelocationFlags, RelocationTarget, SymbolFlags,
};

use super::elf as file;

/// The effect of a function of the C library, as far as it matters who has written what it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LibraryFunction {
    /// It allocates or frees memory: what it reads is its own bookkeeping.
    Allocates,
    /// It moves allocated memory: of what it reads the old block alone counts.
    Reallocates,
    /// It reads texts up to their ends: the first so many arguments.
    ReadsTexts(u8),
    /// It reads texts: the first so many arguments, of each at most as many bytes as the third argument says.
    ReadsTextsUpTo(u8),
    /// It reads one text, at most as many bytes as the second argument says.
    ReadsTextUpToSecond,
    /// It reads as many bytes of each of the first two arguments as the third says.
    ReadsBoth,
    /// It reads at most as many bytes of the first argument as the third says.
    ReadsFirst,
    /// It opens a stream.
    Opens,
    /// It flushes a stream.
    Flushes,
    /// It flushes and closes a stream.
    Closes,
}

/// The location of an object in an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ImageLocation {
    /// At this address of the file.
    Address(u64),
    /// The address that the word at this address of the file holds, once it is in memory.
    Slot(u64),
}

/// The known functions and objects of an image.
#[derive(Debug, Default)]
pub(crate) struct LibraryContents {
    pub(crate) functions: Vec<(ImageLocation, LibraryFunction)>,
    /// The streams of standard output and standard error: address and size.
    pub(crate) outputs: Vec<(u64, u64)>,
    /// The stream of standard input: address and size.
    pub(crate) input: Option<(u64, u64)>,
    /// Its lowest address and the one after it.
    pub(crate) base: u64,
    pub(crate) end: u64,
}

/// The effect of a function of this name, if it is known.
fn known(name: &[u8]) -> Option<LibraryFunction> {
    use LibraryFunction::*;
    Some(match name {
        b"malloc"
        | b"calloc"
        | b"free"
        | b"cfree"
        | b"memalign"
        | b"aligned_alloc"
        | b"posix_memalign"
        | b"valloc"
        | b"pvalloc"
        | b"malloc_usable_size" => Allocates,
        b"realloc" | b"reallocarray" => Reallocates,
        b"strlen" | b"strchr" | b"strrchr" | b"strchrnul" | b"index" | b"rindex" | b"rawmemchr" => {
            ReadsTexts(1)
        }
        b"strcmp" | b"strcasecmp" | b"strcoll" | b"strstr" | b"strcasestr" | b"strspn" | b"strcspn"
        | b"strpbrk" => ReadsTexts(2),
        b"strncmp" | b"strncasecmp" => ReadsTextsUpTo(2),
        b"strnlen" => ReadsTextUpToSecond,
        b"memcmp" | b"bcmp" | b"__memcmpeq" => ReadsBoth,
        b"memchr" | b"memrchr" => ReadsFirst,
        b"fopen" | b"fopen64" | b"fdopen" | b"freopen" | b"freopen64" | b"popen" | b"tmpfile"
        | b"tmpfile64" => Opens,
        b"fflush" | b"fflush_unlocked" => Flushes,
        b"fclose" | b"pclose" => Closes,
        _ => return None,
    })
}

/// The known functions and objects of the image at `path`; nothing if it cannot be read.
pub(crate) fn contents(path: &Path) -> LibraryContents {
    let Ok(data) = file::contents(path) else { return LibraryContents::default() };
    let Ok(image) = ElfFile64::<Endianness>::parse(&*data) else { return LibraryContents::default() };
    let (base, end) = file::Elf::parse(path, &data).map_or((0, 0), |elf| (elf.base(), elf.end()));
    let mut contents = LibraryContents { base, end, ..LibraryContents::default() };
    let mut resolvers = Vec::new();
    for symbol in image.dynamic_symbols().chain(image.symbols()).filter(|symbol| symbol.is_definition()) {
        let (Ok(name), place) = (symbol.name_bytes(), (symbol.address(), symbol.size())) else { continue };
        match name {
            b"_IO_2_1_stdout_" | b"_IO_2_1_stderr_" => contents.outputs.push(place),
            b"_IO_2_1_stdin_" => contents.input = Some(place),
            _ => {}
        }
        let Some(function) = known(name) else { continue };
        let is_chosen = matches!(
            symbol.flags(),
            SymbolFlags::Elf { st_info, .. } if st_info.st_type() == elf::STT_GNU_IFUNC
        );
        match is_chosen {
            true => resolvers.push((symbol.address(), function)),
            false => contents.functions.push((ImageLocation::Address(symbol.address()), function)),
        }
    }
    let names = image.dynamic_symbol_table();
    for (slot, relocation) in image.dynamic_relocations().into_iter().flatten() {
        let is_choice = matches!(
            relocation.flags(),
            RelocationFlags::Elf { r_type } if r_type == elf::R_X86_64_IRELATIVE
        );
        let function = match relocation.target() {
            RelocationTarget::Symbol(index) => {
                let symbol = names.as_ref().and_then(|names| names.symbol_by_index(index).ok());
                symbol.and_then(|symbol| known(symbol.name_bytes().ok()?))
            }
            _ if is_choice => {
                let chosen =
                    |(resolver, _): &&(u64, LibraryFunction)| *resolver == relocation.addend() as u64;
                resolvers.iter().find(chosen).map(|&(_, function)| function)
            }
            _ => None,
        };
        contents.functions.extend(function.map(|function| (ImageLocation::Slot(slot), function)));
    }
    contents
}
