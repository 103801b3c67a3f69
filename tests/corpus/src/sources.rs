//! Read and copy source files.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// A C file or header, and what it contains.
#[derive(Hash)]
pub(crate) struct Source {
    /// Its path below the folder of the sources: `zlib/deflate.c`.
    pub(crate) name: String,
    pub(crate) content: Vec<u8>,
}

impl Source {
    fn read(path: &Path, name: String) -> Result<Self> {
        let content = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
        Ok(Source { name, content })
    }

    /// The number of its lines.
    pub(crate) fn lines(&self) -> usize {
        self.content.iter().filter(|&&byte| byte == b'\n').count()
    }

    /// Writes it to its place below the given folder.
    pub(crate) fn copy_below(&self, folder: &Path) -> Result<()> {
        let path = folder.join(&self.name);
        fs::create_dir_all(path.parent().unwrap_or(folder))?;
        fs::write(&path, &self.content).with_context(|| format!("cannot write {}", path.display()))
    }
}

/// The C files and headers that stand in a folder itself, by name. In the copy the folder is called
/// `prefix`, which ends with a slash or is empty.
///
/// # Errors
/// If the folder or one of the files cannot be read.
pub(crate) fn read_folder(folder: &Path, prefix: &str) -> Result<Vec<Source>> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot read the folder {}", folder.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<PathBuf>>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "c" || extension == "h"));
    paths.sort();
    let read = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Source::read(path, format!("{prefix}{name}"))
    };
    paths.iter().map(read).collect()
}
