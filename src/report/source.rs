//! Read the source text of the program.
//!
//! The only place of the reports that opens files. A source that is missing, changed or not UTF-8 is no
//! error: a report can do without.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;

use tracer::Bytes;
use tracer::program::{FileId, Program};

use crate::subject::LONGEST_SOURCE;

const TAB: usize = 8;

/// The source files of a program, read when they are first asked for.
pub(super) struct Sources<'a> {
    program: &'a Program,
    read: HashMap<FileId, Vec<String>>,
}

impl<'a> Sources<'a> {
    pub(super) fn new(program: &'a Program) -> Sources<'a> {
        Sources { program, read: HashMap::new() }
    }

    /// The text of a line, counted from 1, if there is such a line.
    pub(super) fn line(&mut self, file: FileId, line: u32) -> Option<&str> {
        let program = self.program;
        let lines = self.read.entry(file).or_insert_with(|| {
            let path = &program.file(file).path;
            if is_newer(path, &program.executable().path) { Vec::new() } else { read(path) }
        });
        lines.get((line as usize).checked_sub(1)?).map(String::as_str)
    }
}

/// True if a source file is newer than the program: its lines may have changed.
fn is_newer(source: &Path, program: &Path) -> bool {
    let modified = |path: &Path| std::fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    matches!((modified(source), modified(program)), (Some(source), Some(program)) if source > program)
}

/// Reads the lines of a file; none where it cannot be read. Devices, pipes and what is too long for a source are
/// not opened: what a debug section names may be anything.
fn read(path: &Path) -> Vec<String> {
    let Ok(data) = std::fs::metadata(path) else { return Vec::new() };
    if !data.is_file() || data.len() > LONGEST_SOURCE {
        return Vec::new();
    }
    let bytes =
        File::open(path).and_then(|file| Bytes::read_at_most(file, LONGEST_SOURCE)).unwrap_or_default();
    String::from_utf8_lossy(&bytes).lines().map(printable).collect()
}

/// Makes a text printable: in one line, with tabs expanded, and without characters that would steer a terminal: names
/// of programs and files, arguments and debug information may hold any. All that is shown and may come from outside
/// goes through here.
pub fn printable(text: &str) -> String {
    let mut printable = String::with_capacity(text.len());
    let mut column = 0;
    for character in text.chars() {
        let (character, count) = match character {
            '\t' => (' ', TAB - column % TAB),
            control if control.is_control() => (char::REPLACEMENT_CHARACTER, 1),
            other => (other, 1),
        };
        printable.extend(std::iter::repeat_n(character, count));
        column += count;
    }
    printable
}

#[cfg(test)]
mod tests {
    use super::super::sample::Folder;
    use super::*;

    #[test]
    fn tabs_reach_to_the_next_multiple_of_eight() {
        assert_eq!(printable("\tx\ty"), "        x       y");
        assert_eq!(printable("1234567\t8"), "1234567 8");
    }

    #[test]
    fn nothing_that_steers_a_terminal_gets_through() {
        assert_eq!(printable("a\x1b[31mb\u{9b}c\x7f"), "a\u{fffd}[31mb\u{fffd}c\u{fffd}");
    }

    #[test]
    fn a_file_is_read_whatever_is_in_it() {
        let folder = Folder::new();
        let path = folder.path().join("odd.c");
        std::fs::write(&path, b"caf\xe9\r\n\tx\n\nlast").unwrap();
        assert_eq!(read(&path), ["caf\u{fffd}", "        x", "", "last"]);
    }

    #[test]
    fn a_file_that_is_too_long_has_no_lines() {
        let folder = Folder::new();
        let path = folder.path().join("long.c");
        let file = File::create(&path).unwrap();
        file.set_len(LONGEST_SOURCE).unwrap();
        assert_eq!(read(&path).len(), 1);
        file.set_len(LONGEST_SOURCE + 1).unwrap();
        assert!(read(&path).is_empty());
    }

    #[test]
    fn what_is_no_file_has_no_lines() {
        assert!(read(Path::new("/nowhere/sum-mul.c")).is_empty());
        assert!(read(Path::new("/dev/zero")).is_empty());
    }
}
