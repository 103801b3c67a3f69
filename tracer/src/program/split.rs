//! Split DWARF: the part of a unit's debug information that a compiler has put into a file of its own.
//!
//! With `-gsplit-dwarf` a program has only a *skeleton* of each unit, with its line table and its addresses.
//! The functions are described in a `.dwo` file, or in `PROGRAM.dwp`, a package of these. Sources: DWARF 5,
//! 7.3 and appendix F; GCC's older form of it, "DebugFission".

use std::path::{Path, PathBuf};

use gimli::{Dwarf, DwarfPackageSections, DwarfSections, EndianSlice, RunTimeEndian, SectionId, Unit};

use super::claims::Damage;
use super::elf::{self, Elf};
use super::lines::{self, Slice};
use super::{LoadError, Scope};

/// The files beside a program that hold what its units lack.
pub(super) struct SplitFiles<'p> {
    program: &'p Path,
    package: Option<DwarfPackageSections<Vec<u8>>>,
    /// Whether units may go without: the user names what is traced, and the symbol table has functions.
    may_lack: bool,
}

impl<'p> SplitFiles<'p> {
    /// The split files of the program at this path.
    pub(super) fn of(program: &'p Path, scope: &Scope) -> Result<SplitFiles<'p>, LoadError> {
        let mut name = program.as_os_str().to_owned();
        name.push(".dwp");
        let package = Path::new(&name);
        let package = if package.is_file() { Some(read_package(package)?) } else { None };
        Ok(SplitFiles { program, package, may_lack: scope.names_what_is_traced() })
    }

    /// Hands out the whole unit that belongs to a skeleton; `None` if `skeleton` is no such thing, or if it
    /// may go without.
    pub(super) fn with_whole<T>(
        &self,
        dwarf: &Dwarf<Slice<'_>>,
        skeleton: &Unit<Slice<'_>>,
        work: impl FnOnce(&Dwarf<Slice<'_>>, &Unit<Slice<'_>>) -> Result<T, Damage>,
    ) -> Result<Option<T>, Damage> {
        let (Some(name), Some(id)) = (skeleton.dwo_name()?, skeleton.dwo_id) else {
            return Ok(None);
        };
        if let Some(package) = &self.package {
            let package = package.borrow(|bytes| slice(bytes), slice(&[]))?;
            if let Some(dwo) = package.find_cu(id, dwarf)? {
                return with_unit(&dwo, skeleton, self.program, work).map(Some);
            }
        }
        let name = dwarf.attr_string(skeleton, name)?.to_string_lossy().into_owned();
        let file = match self.find(&lines::directory(skeleton), &name) {
            Some(file) => file,
            None if self.may_lack => return Ok(None),
            None => return Err(self.missing(name).into()),
        };
        let data = elf::contents(&file)?;
        let elf = Elf::parse(&file, &data)?;
        let sections = DwarfSections::load(|id| section(&elf, id))?;
        let mut dwo = sections.borrow(|bytes| slice(bytes));
        dwo.make_dwo(dwarf);
        with_unit(&dwo, skeleton, &file, work).map(Some)
    }

    /// The path of a split file: where the compiler has left it, or beside the program.
    fn find(&self, directory: &Path, name: &str) -> Option<PathBuf> {
        let beside = self.program.parent()?.join(Path::new(name).file_name()?);
        [directory.join(name), beside].into_iter().find(|file| file.is_file())
    }

    fn missing(&self, name: String) -> LoadError {
        LoadError::SplitFileMissing { path: self.program.into(), name }
    }
}

fn with_unit<T>(
    dwo: &Dwarf<Slice<'_>>,
    skeleton: &Unit<Slice<'_>>,
    file: &Path,
    work: impl FnOnce(&Dwarf<Slice<'_>>, &Unit<Slice<'_>>) -> Result<T, Damage>,
) -> Result<T, Damage> {
    let mut headers = dwo.units();
    while let Some(header) = headers.next()? {
        let mut unit = dwo.unit(header)?;
        if unit.dwo_id == skeleton.dwo_id {
            unit.copy_relocated_attributes(skeleton);
            return work(dwo, &unit);
        }
    }
    Err(Damage::Foreign(file.display().to_string()))
}

fn read_package(path: &Path) -> Result<DwarfPackageSections<Vec<u8>>, LoadError> {
    let data = elf::contents(path)?;
    let elf = Elf::parse(path, &data)?;
    let sections = DwarfPackageSections::load(|id| section(&elf, id));
    sections.map_err(|damage: Damage| damage.of(path))
}

fn section(elf: &Elf<'_>, id: SectionId) -> Result<Vec<u8>, Damage> {
    match id.dwo_name() {
        Some(name) => Ok(elf.section(name)?.into_owned()),
        None => Ok(Vec::new()),
    }
}

fn slice(bytes: &[u8]) -> Slice<'_> {
    EndianSlice::new(bytes, RunTimeEndian::Little)
}
