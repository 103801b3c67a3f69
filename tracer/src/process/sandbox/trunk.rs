//! Plan of the overlays over folders below which others are mounted.
//!
//! Within a namespace of users the kernel makes no overlay over a folder below which there are mounts of
//! others: it could show what they hide. Such a folder, a *trunk*, is made anew in memory. It holds copies of
//! its files, and each of its folders gets an overlay of its own, or is a trunk again.

use std::ffi::{CString, OsString};
use std::fs::{self, DirEntry};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use nix::unistd::{AccessFlags, access};

use crate::invocation::SHELF;

/// The longest file of a trunk that is copied, and the most bytes in all; files beyond that are read-only.
const LONGEST: u64 = 64 << 20;
const MOST_BYTES: u64 = 256 << 20;
/// The most entries that a trunk may have, with those in it.
const MOST_ENTRIES: usize = 10_000;
/// The most places that are covered one by one. What is beyond is read-only, or not seen at all.
const MOST_PIECES: usize = 150;

/// A place to be covered, after those above it.
pub(super) struct Piece {
    pub(super) place: PathBuf,
    pub(super) cover: Cover,
}

/// The way in which a place is covered.
pub(super) enum Cover {
    /// By an overlay over what lies there.
    Overlay,
    /// By an overlay; where the kernel refuses that, it is read-only.
    OverlayIfPossible,
    /// By itself, read-only.
    ReadOnly,
    /// By an overlay over a folder that holds these entries.
    Trunk(Vec<Entry>),
}

/// An entry that is made in the folder for a trunk.
pub(super) struct Entry {
    pub(super) name: CString,
    pub(super) original: CString,
    pub(super) kind: Kind,
}

pub(super) enum Kind {
    /// A folder, to be covered.
    Folder,
    Link(CString),
    /// A copy of a file with so many bytes.
    Copy(u64),
    /// An empty file, to be covered.
    Covered,
}

/// The planner of how places are covered.
pub(super) struct Planner<'p> {
    /// The working directory of runs.
    directory: &'p Path,
    mounts: Vec<PathBuf>,
    pieces: Vec<Piece>,
    entries: usize,
    bytes: u64,
}

impl<'p> Planner<'p> {
    pub(super) fn new(directory: &'p Path) -> io::Result<Planner<'p>> {
        let mounts = mount_points(&fs::read("/proc/self/mountinfo")?);
        Ok(Planner { directory, mounts, pieces: Vec::new(), entries: 0, bytes: 0 })
    }

    /// Plans the cover of a place.
    ///
    /// # Errors
    /// If it is a trunk that holds too much, or cannot be read.
    pub(super) fn cover(&mut self, place: &Path) -> io::Result<()> {
        let cover = if self.is_trunk(place) { self.trunk(place)? } else { Cover::Overlay };
        let at = self.pieces.len();
        self.pieces.push(Piece { place: place.into(), cover });
        self.cover_entries(at)
    }

    /// Whether a place lies in what is covered entry by entry.
    pub(super) fn covers(&self, place: &Path) -> bool {
        self.pieces
            .iter()
            .any(|piece| matches!(piece.cover, Cover::Trunk(_)) && place.starts_with(&piece.place))
    }

    /// The places that are to be covered, in order.
    pub(super) fn finish(self) -> Vec<Piece> {
        self.pieces
    }

    /// Whether something is mounted below a place.
    fn is_trunk(&self, place: &Path) -> bool {
        self.mounts.iter().any(|mount| mount != place && mount.starts_with(place))
    }

    /// Plans the covers of what a trunk holds.
    fn cover_entries(&mut self, at: usize) -> io::Result<()> {
        let Piece { place, cover: Cover::Trunk(entries) } = &self.pieces[at] else { return Ok(()) };
        let covered = entries.iter().filter(|entry| matches!(entry.kind, Kind::Folder | Kind::Covered));
        let covered = covered.map(|entry| {
            let path = place.join(std::ffi::OsStr::from_bytes(entry.name.as_bytes()));
            (path, matches!(entry.kind, Kind::Folder))
        });
        let mut covered: Vec<_> = covered.collect();
        // What is nearest to the run comes first, if not all can be covered.
        covered.sort_by_key(|(path, _)| !self.directory.starts_with(path));
        for (path, is_folder) in covered {
            let is_needed = self.directory.starts_with(&path);
            let is_readable = access(&path, AccessFlags::R_OK | AccessFlags::X_OK).is_ok();
            let cover = match () {
                () if is_needed && self.is_trunk(&path) => self.trunk(&path)?,
                () if is_needed => Cover::Overlay,
                () if self.pieces.len() >= MOST_PIECES => continue,
                () if !is_folder || !is_readable => Cover::ReadOnly,
                () if self.is_trunk(&path) => self.trunk(&path).unwrap_or(Cover::ReadOnly),
                () => Cover::OverlayIfPossible,
            };
            let at = self.pieces.len();
            self.pieces.push(Piece { place: path, cover });
            self.cover_entries(at)?;
        }
        Ok(())
    }

    fn trunk(&mut self, place: &Path) -> io::Result<Cover> {
        let failed = |error| io::Error::other(format!("reading {}: {error}", place.display()));
        let mut entries = Vec::new();
        let entries_there = fs::read_dir(place).map_err(failed)?.flatten();
        for entry in entries_there.filter(|entry| entry.file_name() != SHELF) {
            self.entries += 1;
            if self.entries > MOST_ENTRIES {
                let why = format!(
                    "{} holds more than {MOST_ENTRIES} files, and something is mounted below it",
                    place.display()
                );
                return Err(io::Error::other(why));
            }
            if let Some(kind) = self.kind_of(&entry) {
                let original = CString::new(entry.path().as_os_str().as_bytes())?;
                entries.push(Entry { name: CString::new(entry.file_name().as_bytes())?, original, kind });
            }
        }
        Ok(Cover::Trunk(entries))
    }

    /// The kind of a folder's entry. Sockets, pipes and devices stay out, and what vanishes meanwhile.
    fn kind_of(&mut self, entry: &DirEntry) -> Option<Kind> {
        let kind = entry.file_type().ok()?;
        if kind.is_dir() {
            return Some(Kind::Folder);
        }
        if kind.is_symlink() {
            let target = fs::read_link(entry.path()).ok()?;
            return CString::new(target.as_os_str().as_bytes()).ok().map(Kind::Link);
        }
        if !kind.is_file() {
            return None;
        }
        let length = entry.metadata().ok()?.len();
        if length > LONGEST || self.bytes + length > MOST_BYTES || self.mounts.contains(&entry.path()) {
            return Some(Kind::Covered);
        }
        self.bytes += length;
        Some(Kind::Copy(length))
    }
}

/// The mount points that proc_pid_mountinfo(5) lists.
fn mount_points(told: &[u8]) -> Vec<PathBuf> {
    let lines = told.split(|&byte| byte == b'\n');
    let points = lines.filter_map(|line| line.split(|&byte| byte == b' ').nth(4));
    points.map(|point| PathBuf::from(OsString::from_vec(unescaped(point)))).collect()
}

/// Decodes a path in which spaces and the like are written as a backslash and three octal digits.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut plain = Vec::new();
    let mut rest = text;
    while let Some((&first, more)) = rest.split_first() {
        let digits = more.get(..3).filter(|_| first == b'\\').and_then(|digits| str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                plain.push(byte);
                rest = &more[3..];
            }
            None => {
                plain.push(first);
                rest = more;
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn mount_points_are_told_with_spaces_and_backslashes() {
        let told = b"22 27 0:21 / /proc rw - proc proc rw\n28 27 0:2 / /a\\040b\\134c rw - tmpfs t rw\n";
        assert_eq!(mount_points(told), [Path::new("/proc"), Path::new("/a b\\c")]);
    }

    #[test]
    fn a_folder_with_a_mount_below_is_covered_entry_by_entry_and_any_other_as_a_whole() {
        let folder = tempfile::tempdir().expect("a folder");
        let place = folder.path();
        for name in ["plain", "trunk/mounted", "trunk/other"] {
            fs::create_dir_all(place.join(name)).expect("made");
        }
        fs::write(place.join("file"), "text").expect("written");
        fs::File::create(place.join("long")).and_then(|file| file.set_len(LONGEST + 1)).expect("made");
        symlink("file", place.join("link")).expect("made");
        let directory = place.join("trunk/other/deep");
        let planned = |mounts: Vec<PathBuf>| {
            let mut planner =
                Planner { directory: &directory, mounts, pieces: Vec::new(), entries: 0, bytes: 0 };
            planner.cover(place).expect("planned");
            let pieces = planner.finish().into_iter();
            let mut told: Vec<String> = pieces.map(|piece| tell(place, &piece)).collect();
            told.sort();
            told
        };
        assert_eq!(planned(vec!["/".into(), place.into()]), [": overlay"]);
        assert_eq!(
            planned(vec!["/".into(), place.join("trunk/mounted")]),
            [
                ": trunk file link long plain trunk",
                "long: read-only",
                "plain: overlay if possible",
                "trunk/mounted: overlay if possible",
                "trunk/other: overlay",
                "trunk: trunk mounted other",
            ]
        );
    }

    fn tell(base: &Path, piece: &Piece) -> String {
        let cover = match &piece.cover {
            Cover::Overlay => "overlay".into(),
            Cover::OverlayIfPossible => "overlay if possible".into(),
            Cover::ReadOnly => "read-only".into(),
            Cover::Trunk(entries) => {
                let mut names: Vec<_> = entries.iter().map(|entry| entry.name.to_string_lossy()).collect();
                names.sort();
                format!("trunk {}", names.join(" "))
            }
        };
        format!("{}: {cover}", piece.place.strip_prefix(base).expect("below").display())
    }
}
