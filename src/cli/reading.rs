//! Read files that the user names, whatever they are, with a limit.
//!
//! A device or a pipe may have no end. What is read before the work begins is read without a handler of signals,
//! so that each ends it at once.

use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal};
use std::path::Path;

use tracer::Bytes;

use super::exit::{Exit, Failure};

/// The largest size of an input, or of a text that outputs are compared with: as much as a run may print.
const MOST: u64 = 1 << 30;

/// The largest size of a list of events.
const MOST_OF_A_LIST: u64 = 64 << 20;

/// Reads the file that is given to `option`.
pub(super) fn file(option: &str, path: &Path) -> Result<Bytes, Failure> {
    let name = || format!("{option} {}", path.display());
    bounded(File::open(path), MOST).map_err(|error| refusal(&name(), &error, MOST))
}

/// Reads the standard input; nothing if it is a terminal, or closed.
pub(super) fn standard_input() -> Result<Bytes, Failure> {
    let stdin = io::stdin();
    if stdin.is_terminal() {
        return Ok(Bytes::default());
    }
    match Bytes::read_at_most(stdin.lock(), MOST) {
        Err(error) if is_too_large(&error) => Err(refusal("standard input", &error, MOST)),
        // A closed standard input is an empty one.
        read => Ok(read.unwrap_or_default()),
    }
}

/// Reads a list of events from a file.
pub(super) fn list(path: &Path) -> Result<String, String> {
    let read = bounded(File::open(path), MOST_OF_A_LIST);
    let bytes = read.map_err(|error| refusal(&path.display().to_string(), &error, MOST_OF_A_LIST).message)?;
    String::from_utf8(bytes.to_vec()).map_err(|_| format!("{}: is no text", path.display()))
}

fn bounded(file: io::Result<File>, most: u64) -> io::Result<Bytes> {
    let file = file?;
    match file.metadata()? {
        data if data.is_file() && data.len() > most => Err(ErrorKind::FileTooLarge.into()),
        _ => Bytes::read_at_most(file, most),
    }
}

/// True for the limit here, not for that of the shell, whose error has the same kind.
fn is_too_large(error: &io::Error) -> bool {
    error.kind() == ErrorKind::FileTooLarge && error.raw_os_error().is_none()
}

fn refusal(name: &str, error: &io::Error, most: u64) -> Failure {
    let message = match is_too_large(error) {
        true => format!("{name}: has more than {} MiB, the most that is read: give less", most >> 20),
        false => format!("{name}: {error}; name a file that can be read"),
    };
    Failure::new(Exit::Usage, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_too_long_is_refused_before_it_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("long");
        let length =
            |length| File::create(&path).and_then(|file| file.set_len(length)).expect("a file of zeros");
        length(1 << 40);
        let refused = file("--expect-output", &path).expect_err("too long");
        let (name, bound) = (format!("--expect-output {}: ", path.display()), "has more than 1024 MiB");
        assert!(refused.message.starts_with(&(name + bound)), "{}", refused.message);
        length(1 << 20);
        assert_eq!(file("--expect-output", &path).expect("short enough").len(), 1 << 20);
    }
}
