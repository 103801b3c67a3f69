//! Say how a program is made from its sources.

use std::path::Path;

use anyhow::Result;

use crate::packages::{HOME, package_folder};
use crate::sources::{Source, read_folder};

/// How a program is made.
#[derive(Hash)]
pub(crate) struct Recipe {
    /// Its name, which is also the name of its folder below `drivers`.
    pub(crate) name: &'static str,
    /// The folders that are copied from the packages.
    pub(crate) folders: &'static [Folder],
    /// The files that are compiled besides the driver's `main.c`; `*.c` stands for all of a folder.
    pub(crate) units: &'static [&'static str],
    /// The flags of the preprocessor.
    pub(crate) preprocessor: &'static [&'static str],
}

/// A folder of a package, without the folders in it.
#[derive(Hash)]
pub(crate) struct Folder {
    /// The name of the package.
    pub(crate) package: &'static str,
    /// The path of the folder in the package.
    pub(crate) path: &'static str,
    /// The path of its copy, with a slash at its end.
    pub(crate) copy: &'static str,
}

impl Recipe {
    /// All sources: those of the packages, and the driver.
    ///
    /// # Errors
    /// If one of them is missing.
    pub(crate) fn sources(&self) -> Result<Vec<Source>> {
        let mut sources = driver(self.name)?;
        for folder in self.folders {
            sources.extend(read_folder(&package_folder(folder.package)?.join(folder.path), folder.copy)?);
        }
        Ok(sources)
    }

    /// The names of the sources to compile.
    pub(crate) fn units(&self, sources: &[Source]) -> Vec<String> {
        let mut units = vec!["main.c".to_owned()];
        for unit in self.units {
            match unit.strip_suffix("*.c") {
                Some(prefix) => units.extend(c_files(prefix, sources)),
                None => units.push((*unit).to_owned()),
            }
        }
        units
    }
}

fn c_files(prefix: &str, sources: &[Source]) -> impl Iterator<Item = String> {
    let names = sources.iter().map(|source| &source.name);
    names.filter(move |name| name.starts_with(prefix) && name.ends_with(".c")).cloned()
}

/// The files of a folder of drivers, which come to stand in the folder of the sources itself.
///
/// # Errors
/// If they cannot be read.
pub(crate) fn driver(name: &str) -> Result<Vec<Source>> {
    read_folder(&Path::new(HOME).join("drivers").join(name), "")
}
