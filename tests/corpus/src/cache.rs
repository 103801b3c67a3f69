//! Keep what was built, and hand it to all who ask.
//!
//! A build is a folder, `<target>/corpus/<name>-<key>`, where the key stands for all that went into it. It
//! is filled under another name and then renamed: whoever sees it sees it complete. If two processes build
//! the same, the second one drops its work.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};

use crate::packages::target_folder;

/// Held while a folder is filled: the threads of a test process often ask for the same program.
static FILLING: Mutex<()> = Mutex::new(());

/// The number that stands for everything that went into a build.
pub fn key(ingredients: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    ingredients.hash(&mut hasher);
    hasher.finish()
}

/// A folder that is being filled.
pub(crate) struct Draft<'a> {
    /// Where it is now.
    pub(crate) folder: &'a Path,
    /// Where it is going to be.
    pub(crate) destination: &'a Path,
}

/// The folder of the build with this name and key, which `fill` makes if there is none yet.
///
/// # Errors
/// Those of `fill`, and if the target folder cannot be written.
pub(crate) fn folder(name: &str, key: u64, fill: impl FnOnce(&Draft) -> Result<()>) -> Result<PathBuf> {
    let root = root()?;
    let destination = root.join(format!("{name}-{key:016x}"));
    let _filling = FILLING.lock().unwrap_or_else(PoisonError::into_inner);
    if !destination.exists() {
        let folder = root.join(format!("{name}-{key:016x}.{}", process::id()));
        let _ = fs::remove_dir_all(&folder); // of an earlier process that had our number and was killed
        fs::create_dir(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let filled = fill(&Draft { folder: &folder, destination: &destination });
        publish(filled, &folder, &destination).with_context(|| format!("cannot build {name}"))?;
    }
    Ok(destination)
}

/// Gives the folder its final name, or removes it if it is of no use.
fn publish(filled: Result<()>, folder: &Path, destination: &Path) -> Result<()> {
    let renamed = filled.and_then(|()| Ok(fs::rename(folder, destination)?));
    if renamed.is_err() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    if destination.exists() { Ok(()) } else { renamed }
}

/// The folder of all builds. Without symbolic links: the compiler must see it as we name it.
fn root() -> Result<PathBuf> {
    let root = target_folder()?.join("corpus");
    fs::create_dir_all(&root).with_context(|| format!("cannot create {}", root.display()))?;
    root.canonicalize().with_context(|| format!("cannot resolve {}", root.display()))
}
