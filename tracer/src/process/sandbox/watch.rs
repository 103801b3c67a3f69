//! The watch of a folder for changes (inotify), without looking through it.

use std::os::fd::AsFd;
use std::path::Path;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};

/// The report of the kernel on a folder since it was asked last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WatchReport {
    /// Nobody has changed the content of a file, its mode, owner or times, or which files there are.
    Nothing,
    /// A file could have been written, through a mapping of it into memory, of which the kernel tells the end
    /// only.
    Perhaps,
    /// Something was changed.
    Change,
}

/// Watches folders.
pub(super) struct Watch(Inotify);

impl Watch {
    /// Watches these folders and what lies in them, but not in folders in them; `None` if the machine does not
    /// allow as many. Of changes of flags, ioctl_iflags(2), nothing is told.
    pub(super) fn over<'p>(mut folders: impl Iterator<Item = &'p Path>) -> Option<Watch> {
        let changes = AddWatchFlags::IN_MODIFY
            | AddWatchFlags::IN_ATTRIB
            | AddWatchFlags::IN_CREATE
            | AddWatchFlags::IN_DELETE
            | AddWatchFlags::IN_MOVE;
        let told = changes | AddWatchFlags::IN_CLOSE_WRITE | AddWatchFlags::IN_ONLYDIR;
        let inotify = Inotify::init(InitFlags::IN_NONBLOCK | InitFlags::IN_CLOEXEC).ok()?;
        folders.all(|folder| inotify.add_watch(folder, told).is_ok()).then_some(Watch(inotify))
    }

    /// Whether there is something to be reported, which stays so.
    pub(super) fn has_news(&self) -> bool {
        let mut waits = [PollFd::new(self.0.as_fd(), PollFlags::POLLIN)];
        // What cannot be asked may be.
        poll(&mut waits, PollTimeout::ZERO) != Ok(0)
    }

    /// The report on what has happened since it was asked last.
    pub(super) fn news(&self) -> WatchReport {
        let events = std::iter::from_fn(|| self.0.read_events().ok()).flatten();
        let seen = events.map(|event| event.mask).fold(AddWatchFlags::empty(), AddWatchFlags::union);
        if seen.is_empty() {
            WatchReport::Nothing
        } else if seen == AddWatchFlags::IN_CLOSE_WRITE {
            WatchReport::Perhaps
        } else {
            // Too many events to be told are an event, too.
            WatchReport::Change
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File, OpenOptions, Permissions};
    use std::os::unix::fs::{PermissionsExt, chown, symlink};
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn each_kind_of_change_is_news_once_and_reading_is_none() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        let open = || OpenOptions::new().write(true).open(at("file")).expect("opened");
        fs::write(at("file"), "text").expect("written");
        let watch = Watch::over([folder.path()].into_iter()).expect("watched");
        type Act<'a> = (&'a str, WatchReport, &'a dyn Fn());
        let acts: [Act<'_>; 14] = [
            ("reading", WatchReport::Nothing, &|| assert_eq!(fs::read(at("file")).expect("read"), b"text")),
            ("looking", WatchReport::Nothing, &|| {
                assert_eq!(fs::read_dir(folder.path()).expect("read").count(), 1)
            }),
            ("opening for writing", WatchReport::Perhaps, &|| drop(open())),
            ("writing", WatchReport::Change, &|| fs::write(at("file"), "more").expect("written")),
            ("cutting off", WatchReport::Change, &|| open().set_len(2).expect("cut off")),
            ("time", WatchReport::Change, &|| open().set_modified(SystemTime::UNIX_EPOCH).expect("set")),
            ("mode", WatchReport::Change, &|| {
                fs::set_permissions(at("file"), Permissions::from_mode(0o600)).expect("set");
            }),
            ("owner", WatchReport::Change, &|| {
                chown(at("file"), Some(nix::unistd::getuid().as_raw()), None).expect("set");
            }),
            ("making", WatchReport::Change, &|| drop(File::create(at("new")).expect("made"))),
            ("renaming", WatchReport::Change, &|| fs::rename(at("new"), at("other")).expect("renamed")),
            ("linking", WatchReport::Change, &|| fs::hard_link(at("other"), at("link")).expect("linked")),
            ("leading", WatchReport::Change, &|| symlink("nowhere", at("symbolic")).expect("linked")),
            ("removing", WatchReport::Change, &|| fs::remove_file(at("other")).expect("removed")),
            ("mode of the folder", WatchReport::Change, &|| {
                fs::set_permissions(folder.path(), Permissions::from_mode(0o711)).expect("set");
            }),
        ];
        for (name, news, act) in acts {
            act();
            let has_news = news != WatchReport::Nothing;
            assert_eq!([watch.has_news(), watch.has_news()], [has_news; 2], "{name}");
            assert_eq!(watch.news(), news, "{name}");
            assert!(!watch.has_news() && watch.news() == WatchReport::Nothing, "after {name}");
        }
    }

    #[test]
    fn a_folder_that_is_not_there_cannot_be_watched() {
        assert!(Watch::over([Path::new("/nowhere")].into_iter()).is_none());
    }
}
