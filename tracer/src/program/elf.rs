//! The reader of ELF files: it refuses what cannot be traced, and hands out sections and symbols.
//!
//! The only place that knows the `object` crate. The meaning of the debug sections is for `lines` and `functions`.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use object::elf;
use object::read::elf::{ElfFile64, FileHeader};
use object::{
    Endianness, NameOrOrdinal, Object, ObjectSection, ObjectSegment, ObjectSymbol, SectionKind, SymbolKind,
};

use super::LoadError;

/// A compressed section may claim this many times its stored size...
const MAX_EXPANSION: u64 = 1000;
/// ...or this many bytes, whichever is more; a larger claim is damage or malice.
const MAX_CLAIM: u64 = 64 << 20;

/// The folder in which distributions keep separate debug files.
const DEBUG_ROOT: &str = "/usr/lib/debug";

/// A function of the symbol table.
#[derive(Debug)]
pub(super) struct Symbol<'data> {
    pub(super) name: &'data str,
    pub(super) address: u64,
    pub(super) size: u64,
}

/// An x86-64 ELF file in memory.
pub(super) struct Elf<'data> {
    file: ElfFile64<'data, Endianness>,
    path: &'data Path,
    pointers: OnceCell<Vec<u64>>,
}

/// Reads the file at `path`, after the checks that need no ELF knowledge.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, LoadError> {
    let unreadable = |source| LoadError::Unreadable { path: path.into(), source };
    let metadata = fs::metadata(path).map_err(unreadable)?;
    if metadata.is_dir() {
        return Err(LoadError::Directory(path.into()));
    }
    let mode = metadata.permissions().mode();
    let library = path.to_string_lossy().contains(".so");
    if mode & 0o111 == 0 && !library {
        return Err(LoadError::NotExecutable(path.into()));
    }
    if mode & 0o6000 != 0 {
        return Err(LoadError::SetUid(path.into()));
    }
    let data = contents(path)?;
    if data.starts_with(b"#!") {
        let first = data[2..].split(|&byte| byte == b'\n').next().unwrap_or_default();
        let interpreter = String::from_utf8_lossy(first).trim().to_owned();
        return Err(LoadError::Script { path: path.into(), interpreter });
    }
    Ok(data)
}

/// The size of the longest file that is read, in bytes: no executable with its debug information is longer.
const LONGEST: u64 = 4 << 30;

/// Reads all bytes of a file with code or debug information. Pipes and devices may have no end.
pub(super) fn contents(path: &Path) -> Result<Vec<u8>, LoadError> {
    let unreadable = |source| LoadError::Unreadable { path: path.into(), source };
    let metadata = fs::metadata(path).map_err(unreadable)?;
    if !metadata.is_file() {
        return Err(LoadError::NoFile(path.into()));
    }
    if metadata.len() > LONGEST {
        return Err(LoadError::TooLong(path.into()));
    }
    fs::read(path).map_err(unreadable)
}

impl<'data> Elf<'data> {
    /// Parses `data`, the contents of the file at `path`.
    pub(super) fn parse(path: &'data Path, data: &'data [u8]) -> Result<Elf<'data>, LoadError> {
        let foreign = |what: String| LoadError::Foreign { path: path.into(), what };
        if !data.starts_with(&elf::ELFMAG) {
            return Err(LoadError::NotElf(path.into()));
        }
        if data.get(4) != Some(&elf::ELFCLASS64.0) {
            return Err(foreign("it is a 32-bit program".into()));
        }
        let damaged = |source| LoadError::Damaged { path: path.into(), source };
        let file = ElfFile64::parse(data).map_err(damaged)?;
        let header = file.elf_header();
        let machine = header.e_machine(file.endian());
        if machine != elf::EM_X86_64 {
            return Err(foreign(format!("it is for another processor (ELF machine {machine})")));
        }
        Ok(Elf { file, path, pointers: OnceCell::new() })
    }

    /// The address of the first instruction, `e_entry`.
    pub(super) fn entry(&self) -> u64 {
        self.file.entry()
    }

    /// The size of the file in bytes.
    pub(super) fn size(&self) -> usize {
        self.file.data().len()
    }

    /// The lowest address of a loaded segment, rounded down to its page.
    pub(super) fn base(&self) -> u64 {
        self.file.segments().map(|segment| segment.address()).min().unwrap_or(0) & !0xfff
    }

    /// The address after the last loaded segment.
    pub(super) fn end(&self) -> u64 {
        self.file
            .segments()
            .map(|segment| segment.address().saturating_add(segment.size()))
            .max()
            .unwrap_or(0)
    }

    /// Whether the program needs a dynamic loader.
    pub(super) fn is_dynamic(&self) -> bool {
        self.file.section_by_name(".interp").is_some()
    }

    /// The build id in hexadecimal, where the linker left one.
    pub(super) fn build_id(&self) -> Option<String> {
        let id = self.file.build_id().ok()??;
        Some(id.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// The bytes of the loaded image from `start` to `end`; `None` where the file holds none.
    pub(super) fn code(&self, start: u64, end: u64) -> Option<&'data [u8]> {
        let length = end.checked_sub(start)?;
        self.file.segments().find_map(|segment| segment.data_range(start, length).ok().flatten())
    }

    /// The functions of the symbol table, or of the dynamic one if there is no other.
    pub(super) fn functions(&self) -> Vec<Symbol<'data>> {
        let defined = |symbol: &object::read::elf::ElfSymbol64<'data, '_, Endianness>| {
            symbol.kind() == SymbolKind::Text && symbol.address() != 0 && symbol.is_definition()
        };
        let read = |symbol: object::read::elf::ElfSymbol64<'data, '_, Endianness>| {
            let name = symbol.name().ok()?;
            Some(Symbol { name, address: symbol.address(), size: symbol.size() })
        };
        let mut symbols: Vec<Symbol<'data>> = self.file.symbols().filter(defined).filter_map(read).collect();
        if symbols.is_empty() {
            symbols = self.file.dynamic_symbols().filter(defined).filter_map(read).collect();
        }
        symbols
    }

    /// The address of a dynamic symbol, which the image exports.
    pub(super) fn dynamic_symbol(&self, name: &str) -> Option<u64> {
        let mut symbols = self.file.dynamic_symbols();
        symbols.find(|symbol| symbol.name() == Ok(name)).map(|symbol| symbol.address())
    }

    /// The address of a symbol that the image defines, whether it exports it or not.
    pub(super) fn symbol(&self, name: &str) -> Option<u64> {
        let symbols = self.file.symbols().chain(self.file.dynamic_symbols());
        let mut named = symbols.filter(|symbol| symbol.is_definition() && symbol.name() == Ok(name));
        named.next().map(|symbol| symbol.address())
    }

    /// All addresses of code that the image's data holds, or will hold once it is relocated; and some
    /// numbers that only look like it.
    pub(super) fn pointers(&self) -> &[u64] {
        self.pointers.get_or_init(|| {
            let sections = |is_wanted: fn(SectionKind) -> bool| {
                self.file.sections().filter(move |section| is_wanted(section.kind()))
            };
            let code: Vec<_> = sections(|kind| kind == SectionKind::Text)
                .map(|section| section.address()..section.address().saturating_add(section.size()))
                .collect();
            let words = sections(|kind| {
                matches!(
                    kind,
                    SectionKind::Data | SectionKind::ReadOnlyData | SectionKind::ReadOnlyDataWithRel
                )
            })
            .flat_map(|section| {
                let words = section.data().unwrap_or_default().chunks_exact(8);
                words.map(|word| u64::from_le_bytes(word.try_into().unwrap_or_default()))
            });
            let relocations = self.file.dynamic_relocations().into_iter().flatten();
            let addends = relocations.map(|(_, relocation)| relocation.addend() as u64);
            let is_code = |address: &u64| code.iter().any(|section| section.contains(address));
            words.chain(addends).filter(is_code).collect()
        })
    }

    /// The names of the functions that the image imports.
    pub(super) fn imports(&self) -> Vec<String> {
        let imports = self.file.imports().into_iter().flatten().flatten();
        let name = |import: object::Import<'data>| match import.name() {
            NameOrOrdinal::Name(name) => Some(String::from_utf8_lossy(name).into_owned()),
            NameOrOrdinal::Ordinal(_) => None,
        };
        imports.filter_map(name).collect()
    }

    /// The texts of the tables of names: symbols, and libraries that it needs.
    pub(super) fn names(&self) -> impl Iterator<Item = &'data [u8]> {
        let tables = [".dynstr", ".strtab"].into_iter().filter_map(|name| self.file.section_by_name(name));
        tables.flat_map(|table| table.data().unwrap_or_default().split(|&byte| byte == 0))
    }

    /// The address of a section in the loaded image.
    pub(super) fn section_address(&self, name: &str) -> Option<u64> {
        self.file.section_by_name(name).map(|section| section.address())
    }

    /// Whether the file has a section of this name with contents.
    pub(super) fn has(&self, name: &str) -> bool {
        self.file.section_by_name(name).is_some_and(|section| section.size() > 0)
    }

    /// The contents of a section, decompressed; empty where there is none.
    pub(super) fn section(&self, name: &str) -> Result<Cow<'data, [u8]>, LoadError> {
        let Some(section) = self.file.section_by_name(name) else {
            return Ok(Cow::Borrowed(&[]));
        };
        let damaged = |source| LoadError::Damaged { path: self.path.into(), source };
        let compressed = section.compressed_data().map_err(damaged)?;
        let stored = compressed.data.len() as u64;
        if compressed.uncompressed_size > MAX_CLAIM.max(stored.saturating_mul(MAX_EXPANSION)) {
            return Err(LoadError::Oversized {
                path: self.path.into(),
                section: name.to_owned(),
                claimed: compressed.uncompressed_size,
            });
        }
        compressed.decompress().map_err(damaged)
    }

    /// The file that holds the debug information: this one, or the separate one that it names by
    /// build id or `.gnu_debuglink`. `None` if this file has it or names no other.
    ///
    /// Source of the search order: GDB manual, "Debugging Information in Separate Files".
    pub(super) fn separate_debug_file(&self) -> Result<Option<PathBuf>, LoadError> {
        if self.has(".debug_line") || self.has(".zdebug_line") {
            return Ok(None);
        }
        let mut candidates = Vec::new();
        if let Some(id) = self.build_id().filter(|id| id.len() > 2) {
            candidates.push(Path::new(DEBUG_ROOT).join(format!(".build-id/{}/{}.debug", &id[..2], &id[2..])));
        }
        let link = self.file.gnu_debuglink().ok().flatten();
        if let Some((name, _)) = link {
            let name = String::from_utf8_lossy(name).into_owned();
            let absolute = fs::canonicalize(self.path).unwrap_or_else(|_| self.path.into());
            let folder = absolute.parent().unwrap_or(Path::new("/"));
            candidates.push(folder.join(&name));
            candidates.push(folder.join(".debug").join(&name));
            candidates
                .push(Path::new(DEBUG_ROOT).join(folder.strip_prefix("/").unwrap_or(folder)).join(&name));
        }
        let belongs = |candidate: &&PathBuf| self.owns(candidate, link.map(|(_, checksum)| checksum));
        if let Some(found) = candidates.iter().find(belongs) {
            return Ok(Some(found.clone()));
        }
        match link {
            Some((name, _)) => Err(LoadError::DebugFileMissing {
                path: self.path.into(),
                name: String::from_utf8_lossy(name).into_owned(),
            }),
            None => Ok(None),
        }
    }

    /// Whether a file is the debug file of this one: by its build id, or else by the checksum in
    /// `.gnu_debuglink`, the CRC-32 of the whole file.
    fn owns(&self, candidate: &Path, checksum: Option<u32>) -> bool {
        let Ok(data) = contents(candidate) else {
            return false;
        };
        let id = Elf::parse(candidate, &data).ok().and_then(|debug| debug.build_id());
        match (self.build_id(), id) {
            (Some(own), Some(other)) => own == other,
            _ => checksum.is_none_or(|checksum| checksum == crc32fast::hash(&data)),
        }
    }
}
