//! Print which changes break a program, and write it to the files that the user names.

use std::path::{Path, PathBuf};

use super::changes_options::{ChangesEmission, ChangesFormat, ChangesResultOptions};
use super::exit::{Exit, Failure};
use super::files::{self, OutputPlace, Overwriting, Readers, place, temporary_beside, whereabouts};
use super::terminal::tell;
use crate::circumstances::change::{patch, write_tree};
use crate::guilty::GuiltyChanges;
use crate::report::{Style, changed, html};

/// The folders of --trees.
const SIDES: [&str; 2] = ["passing", "failing"];

/// The output of a search for changes: its result, and the command that has found it.
#[derive(Clone, Copy)]
pub(super) struct ChangesOutput<'f> {
    pub(super) found: &'f GuiltyChanges,
    /// The command that has found it, as typed into a shell.
    pub(super) command_line: &'f str,
}

/// Refuses, before any work is done, files that cannot be written or would be overwritten.
pub(super) fn check(options: &ChangesResultOptions) -> Result<(), Failure> {
    check_files(options.emit.iter().map(|one| &*one.file), options.force)?;
    let trees = options.trees.iter().flat_map(|folder| SIDES.map(|side| folder.join(side)));
    match trees.into_iter().find(|folder| folder.exists()) {
        Some(folder) => Err(Failure::new(
            Exit::Usage,
            format!("{}: exists; name another folder for --trees", folder.display()),
        )),
        None => Ok(()),
    }
}

/// The same of the files of --emit alone.
pub(super) fn check_files<'f>(files: impl Iterator<Item = &'f Path>, force: bool) -> Result<(), Failure> {
    let same = |one: &Path, other: &Path| whereabouts(one).is_some_and(|one| Some(one) == whereabouts(other));
    let files: Vec<&Path> = files.collect();
    for (number, file) in files.iter().copied().enumerate() {
        let refusal = |reason: &dyn std::fmt::Display| {
            Failure::new(Exit::Usage, format!("{}: {reason}: give --emit another file", file.display()))
        };
        if files[..number].iter().any(|earlier| same(earlier, file)) {
            return Err(refusal(&"is given twice"));
        }
        match place(file).map_err(|error| refusal(&error))? {
            OutputPlace::Special => {}
            OutputPlace::File(_) if !force => {
                let message = format!("{}: exists: give --emit another file, or add --force", file.display());
                return Err(Failure::new(Exit::Usage, message));
            }
            OutputPlace::File(target) => drop(temporary_beside(&target).map_err(|error| refusal(&error))?),
            OutputPlace::Free => drop(temporary_beside(file).map_err(|error| refusal(&error))?),
        }
    }
    Ok(())
}

impl ChangesOutput<'_> {
    /// Prints the result and writes it to files; a fault of one does not keep it from the others.
    pub(super) fn deliver(self, options: &ChangesResultOptions, style: Style) -> Result<(), Failure> {
        let printed = self.print(options.format, style);
        let written = self.write(&options.emit, options.force);
        let trees = options.trees.iter().map(|folder| self.write_trees(folder));
        [printed, written].into_iter().chain(trees).collect()
    }

    pub(super) fn print(self, format: ChangesFormat, style: Style) -> Result<(), Failure> {
        self.rendered(format, style).and_then(|bytes| super::print(&bytes)).map(drop)
    }

    pub(super) fn write(self, emit: &[ChangesEmission], force: bool) -> Result<(), Failure> {
        let write = |ChangesEmission { kind, file }: &ChangesEmission| -> Result<(), Failure> {
            let bytes = self.rendered(*kind, Style::default())?;
            let written = files::write(file, &bytes, Overwriting::if_asked(force), Readers::Anybody);
            written.map_err(|error| cannot_write(file, &error))?;
            tell(&format!("written: {}", file.display()));
            Ok(())
        };
        emit.iter().map(write).collect::<Vec<_>>().into_iter().collect()
    }

    /// The result in a format; what a patch cannot hold is told.
    fn rendered(self, format: ChangesFormat, style: Style) -> Result<Vec<u8>, Failure> {
        let ChangesOutput { found, command_line } = self;
        Ok(match format {
            ChangesFormat::Text => changed::text(found, style).into_bytes(),
            ChangesFormat::Json => changed::json(found).into_bytes(),
            ChangesFormat::Html => html::changes::page(found, command_line).into_bytes(),
            ChangesFormat::Patch => {
                let (text, binary) = patch(&found.base, &found.overlay)?;
                binary.iter().for_each(|path| mention_binary(path));
                text
            }
        })
    }

    fn write_trees(self, folder: &Path) -> Result<(), Failure> {
        for (side, name) in SIDES.iter().enumerate() {
            let place: PathBuf = folder.join(name);
            let written = write_tree(&self.found.version(side), &place);
            written.map_err(|error| cannot_write(&place, &error))?;
            tell(&format!("written: {}", place.display()));
        }
        Ok(())
    }
}

fn mention_binary(path: &Path) {
    tell(&format!("not in the patch, because it is binary: {}; --trees writes it", path.display()));
}

fn cannot_write(path: &Path, error: &std::io::Error) -> Failure {
    Failure::new(Exit::Failed, format!("{}: {error}; make room, or give another name", path.display()))
}
