//! Write the failing version of a search for changes into a folder that stays, and build it there.

use std::io;
use std::path::{Path, PathBuf};

use tracer::plain::Runner;
use tracer::program::Program;
use tracer::termination::Termination;

use super::change_request::ChangesRequest;
use super::ends::first_limits;
use super::error::{Cause, SessionError};
use super::interrupt::Interrupt;
use super::keeping::archive;
use crate::circumstances::change::write_tree;
use crate::guilty::GuiltyChanges;

/// The name of the folder of the built version, in that of the search.
const NAME: &str = "failing";

/// A version that was built.
pub struct BuiltVersion {
    /// The folder of its files.
    pub root: PathBuf,
    /// The working directory of commands in it.
    pub directory: PathBuf,
    /// Why it was not built, if so.
    pub refused: Option<String>,
}

/// Writes and builds it.
///
/// # Errors
/// If it cannot be written, or the set-up is broken.
pub fn built(
    request: &ChangesRequest,
    found: &GuiltyChanges,
    interrupt: &Interrupt,
) -> Result<BuiltVersion, SessionError> {
    let name = found.kept_as.as_ref().map(PathBuf::from);
    let folder = name.ok_or_else(|| {
        let why = "--then-run: the search is not kept, so that there is no place for the failing version; name a folder that \
                   can be written with --out";
        SessionError::new(Cause::Failed, why)
    })?;
    let folder = archive().find(Some(&folder))?;
    let root = std::path::absolute(folder.path().join(NAME))?;
    remove(&root)?;
    write_tree(&found.version(1), &root)?;
    let root = root.canonicalize()?;
    let directory = root.join(&found.below).join(&request.test.directory);
    std::fs::create_dir_all(&directory)?;
    let refused = match &request.build {
        Some(build) => {
            let mut build = build.clone();
            build.directory = directory.clone();
            build.permissions.writable.push(root.clone());
            let program = Program::untraced(&build.program);
            let limits = first_limits(request.build_timeout);
            let run = Runner::new(&program, &build)
                .and_then(|mut runner| runner.run(&build, &[], &limits, &interrupt.flag()))
                .map_err(|error| interrupt.or(SessionError::from(error)))?;
            let said = String::from_utf8_lossy(&run.stderr).trim().lines().next_back().map(str::to_owned);
            (run.termination != Termination::Exited(0)).then(|| said.unwrap_or_default())
        }
        None => None,
    };
    Ok(BuiltVersion { root, directory, refused })
}

/// Takes away what an earlier search has left there.
fn remove(folder: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
