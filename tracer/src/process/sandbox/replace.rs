//! Replacement of files in the world of a run, and only there.
//!
//! The world is another tree than this process sees: its symbolic links are followed within it, openat2(2), so
//! that none of them leads to the user's own files.

use std::ffi::OsStr;
use std::fs::{self, File, FileTimes};
use std::io::{self, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use nix::dir::Dir;
use nix::errno::Errno;
use nix::fcntl::{OFlag, OpenHow, ResolveFlag, openat2};
use nix::sys::stat::Mode;
use nix::unistd::{UnlinkatFlags, unlinkat};

/// Gives a file this content, or removes it. In the world `root` lies what lies in `original` outside of it. Its times
/// are those of the original, as is all else. Refused if it is the very same file as outside.
pub(super) fn within(root: &Path, original: &Path, file: &Path, content: Option<&[u8]>) -> io::Result<()> {
    let outside = || io::Error::other(format!("it does not lie in {}", original.display()));
    let inside = file.strip_prefix(original).map_err(|_| outside())?;
    let (parent, name) = (inside.parent().unwrap_or(Path::new("")), inside.file_name().ok_or_else(outside)?);
    let root = Dir::open(root, OFlag::O_PATH | OFlag::O_DIRECTORY | OFlag::O_CLOEXEC, Mode::empty())?;
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let folder = open(&root, parent.as_os_str(), OFlag::O_PATH | OFlag::O_DIRECTORY)?;
    let found = File::from(open(&folder, name, OFlag::O_PATH | OFlag::O_NOFOLLOW)?).metadata()?;
    let outside = fs::symlink_metadata(file)?;
    if (found.dev(), found.ino()) == (outside.dev(), outside.ino()) {
        return Err(real());
    }
    let Some(content) = content else {
        return Ok(unlinkat(&folder, name, UnlinkatFlags::NoRemoveDir)?);
    };
    let times = fs::metadata(file)?;
    let mut file = File::from(open(&folder, name, OFlag::O_WRONLY | OFlag::O_NONBLOCK | OFlag::O_NOFOLLOW)?);
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    file.set_len(0)?;
    file.write_all(content)?;
    file.set_times(FileTimes::new().set_accessed(times.accessed()?).set_modified(times.modified()?))
}

/// The error about a file of which runs have no copy of their own.
pub(super) fn real() -> io::Error {
    let reason = "runs would change the file itself: it lies where they may write for real (--allow-write, --no-sandbox)";
    io::Error::other(reason)
}

/// Opens a file in a folder, wherever symbolic links lead in the world whose root it is.
fn open(root: impl AsFd, path: &OsStr, flags: OFlag) -> io::Result<OwnedFd> {
    let within = ResolveFlag::RESOLVE_IN_ROOT | ResolveFlag::RESOLVE_NO_MAGICLINKS;
    let how = OpenHow::new().flags(flags | OFlag::O_CLOEXEC).resolve(within);
    loop {
        match openat2(&root, path, how) {
            Err(Errno::EINTR | Errno::EAGAIN) => continue,
            opened => return Ok(opened?),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_file_is_replaced_in_the_world_and_not_where_links_lead_outside_of_it() {
        let (world, own) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let names = ["text", "folder/text"];
        for root in [world.path(), own.path()] {
            fs::create_dir(root.join("folder")).expect("made");
            names.iter().for_each(|name| fs::write(root.join(name), "as it was").expect("written"));
        }
        for name in names {
            let replaced = within(world.path(), own.path(), &own.path().join(name), Some(b"new"));
            replaced.expect("replaced");
            assert_eq!(fs::read(world.path().join(name)).expect("there"), b"new");
            let modified = |root: &Path| fs::metadata(root.join(name)).and_then(|data| data.modified()).ok();
            assert_eq!(modified(world.path()), modified(own.path()));
        }
        within(world.path(), own.path(), &own.path().join("text"), None).expect("taken away");
        assert!(!world.path().join("text").exists());
        // A link that leads to the same place from the root of each world.
        fs::remove_dir_all(world.path().join("folder")).expect("removed");
        symlink(own.path().join("folder"), world.path().join("folder")).expect("made");
        within(world.path(), own.path(), &own.path().join("folder/text"), Some(b"new"))
            .expect_err("it leads nowhere in that world");
        for name in names {
            assert_eq!(fs::read(own.path().join(name)).expect("there"), b"as it was");
        }
        within(world.path(), own.path(), Path::new("/etc/passwd"), Some(b"new"))
            .expect_err("not in the world");
    }

    #[test]
    fn a_file_that_is_the_same_one_in_the_world_as_outside_is_not_replaced() {
        let own = tempfile::tempdir().expect("a folder");
        let file = own.path().join("text");
        fs::write(&file, "as it was").expect("written");
        for content in [Some(&b"new"[..]), None] {
            let refused = within(own.path(), own.path(), &file, content).expect_err("refused").to_string();
            assert!(refused.contains("--allow-write"), "{refused}");
        }
        assert_eq!(fs::read(file).expect("there"), b"as it was");
    }
}
