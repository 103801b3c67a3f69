//! Write results to the files that the user names with `--emit`.

use std::path::Path;

use super::exit::{Exit, Failure};
use super::files::{self, OutputPlace, Overwriting, Readers, place, temporary_beside, whereabouts};
use super::options::OutputOptions;
use super::rendering::Rendered;
use super::values::Emission;

/// Refuses, before any work is done, output files that cannot be written or would be overwritten, and
/// kinds of output that cannot hold `several` results.
pub(super) fn check(output: &OutputOptions, program: &Path, several: bool) -> Result<(), Failure> {
    if let (true, Some(kind)) = (several, output.kinds().find(|kind| !kind.holds_several())) {
        let message = format!(
            "{kind}: holds one result, and there are several criteria: ask for one, or take another kind"
        );
        return Err(Failure::new(Exit::Usage, message));
    }
    let same = |one: &Path, other: &Path| whereabouts(one).is_some_and(|one| Some(one) == whereabouts(other));
    for (number, Emission { file, .. }) in output.emit.iter().enumerate() {
        let usage = |reason: &dyn std::fmt::Display| {
            Failure::new(Exit::Usage, format!("{}: {reason}: give --emit another file", file.display()))
        };
        if same(file, program) {
            return Err(usage(&"is the program itself"));
        }
        if output.emit[..number].iter().any(|earlier| same(&earlier.file, file)) {
            return Err(usage(&"is given twice"));
        }
        match place(file).map_err(|error| usage(&error))? {
            OutputPlace::Special => {}
            OutputPlace::File(_) if !output.force => {
                return Err(Failure::new(
                    Exit::Usage,
                    format!("{}: exists: give --emit another file, or add --force", file.display()),
                ));
            }
            OutputPlace::File(target) => drop(temporary_beside(&target).map_err(|error| usage(&error))?),
            OutputPlace::Free => drop(temporary_beside(file).map_err(|error| usage(&error))?),
        }
    }
    Ok(())
}

/// Writes one output file.
pub(super) fn write(
    emission: &Emission,
    rendered: &Rendered<'_>,
    output: &OutputOptions,
) -> Result<(), Failure> {
    let Emission { kind, file } = emission;
    let readers = if kind.holds_environment() { Readers::Owner } else { Readers::Anybody };
    let overwriting = Overwriting::if_asked(output.force);
    files::write_by(file, overwriting, readers, |out| rendered.write(out)).map_err(|error| {
        Failure::new(
            Exit::Failed,
            format!("{}: {error}; make room, or give --emit a file that can be written", file.display()),
        )
    })
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;
    use std::path::PathBuf;

    use super::*;
    use crate::cli::values::EmissionKind;

    fn output(force: bool) -> OutputOptions {
        OutputOptions {
            format: EmissionKind::Text,
            emit: Vec::new(),
            force,
            values: false,
            no_values: false,
            full: false,
            all_events: false,
            quiet: true,
            verbose: false,
        }
    }

    fn emission(file: PathBuf) -> Emission {
        Emission { kind: EmissionKind::Text, file }
    }

    fn ours() -> Rendered<'static> {
        Rendered::Whole("ours".to_owned())
    }

    #[test]
    fn what_holds_the_environment_is_for_its_owner_alone() {
        let folder = tempfile::tempdir().unwrap();
        let mode = |kind, name: &str| {
            let file = folder.path().join(name);
            write(&Emission { kind, file: file.clone() }, &ours(), &output(false)).unwrap();
            fs::metadata(&file).unwrap().permissions().mode() & 0o777
        };
        let usual = mode(EmissionKind::Json, "json");
        assert_eq!(mode(EmissionKind::Gdb, "gdb"), 0o600);
        fs::write(folder.path().join("any"), "").unwrap();
        assert_eq!(usual, fs::metadata(folder.path().join("any")).unwrap().permissions().mode() & 0o777);
    }

    #[test]
    fn a_file_that_came_into_being_in_the_meantime_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("out");
        fs::write(&file, "theirs").unwrap();
        assert!(write(&emission(file.clone()), &ours(), &output(false)).is_err());
        assert_eq!(fs::read(&file).unwrap(), b"theirs");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn an_overwritten_file_keeps_its_rights_and_a_link_to_it_stays_a_link() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("out"), folder.path().join("link"));
        fs::write(&file, "theirs").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink("out", &link).unwrap();
        assert!(write(&emission(link.clone()), &ours(), &output(true)).is_ok());
        assert_eq!(fs::read(&file).unwrap(), b"ours");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }
}
