//! Byte strings of which there may be more than should lie in memory.

use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::ops::Deref;
use std::sync::Arc;

use memmap2::Mmap;

/// The most bytes that are held in memory; more go to a file.
const MOST_IN_MEMORY: usize = 16 << 20;

/// Bytes that do not change: what a run has printed, or was expected to. A copy costs nothing.
///
/// Up to 16 MiB are held in memory. What is longer lies in a file without a name, in the folder for temporary
/// files, and is read from there when it is looked at.
#[derive(Clone)]
pub struct Bytes(Held);

#[derive(Clone)]
enum Held {
    Memory(Arc<Vec<u8>>),
    File(Arc<Mmap>),
}

impl Bytes {
    /// Reads all bytes of `source`.
    ///
    /// # Errors
    /// If it cannot be read, or if there is no room for it.
    pub fn read(source: impl Read) -> io::Result<Bytes> {
        Bytes::read_at_most(source, u64::MAX)
    }

    /// Reads all bytes of `source`, if there are no more than `most`.
    ///
    /// # Errors
    /// If it is more ([`ErrorKind::FileTooLarge`]: devices and pipes may have no end), if it cannot be read, or
    /// if there is no room for it.
    pub fn read_at_most(mut source: impl Read, most: u64) -> io::Result<Bytes> {
        let mut beginning = Vec::new();
        source
            .by_ref()
            .take(most.min(MOST_IN_MEMORY as u64).saturating_add(1))
            .read_to_end(&mut beginning)?;
        if beginning.len() as u64 > most {
            return Err(ErrorKind::FileTooLarge.into());
        }
        if beginning.len() <= MOST_IN_MEMORY {
            return Ok(beginning.into());
        }
        let mut file = tempfile::tempfile()?;
        file.write_all(&beginning)?;
        let rest = most - beginning.len() as u64;
        if copy(&mut source.take(rest.saturating_add(1)), &mut file, &mut beginning)? > rest {
            return Err(ErrorKind::FileTooLarge.into());
        }
        Bytes::map(&file)
    }

    /// Maps all that is in a file without a name, which nobody writes any more.
    pub(super) fn of(mut file: File) -> io::Result<Bytes> {
        if file.metadata()?.len() > MOST_IN_MEMORY as u64 {
            return Bytes::map(&file);
        }
        file.rewind()?;
        Bytes::read(file)
    }

    fn map(file: &File) -> io::Result<Bytes> {
        // SAFETY: the file has no name, and who could write it does not any more, so that it stays as it is.
        let map = unsafe { Mmap::map(file)? };
        Ok(Bytes(Held::File(Arc::new(map))))
    }
}

/// Copies by way of `buffer`, and never within the kernel, which would heed no signal meanwhile: `sendfile` of
/// /dev/zero is two gibibytes long. Returns the number of bytes.
fn copy(source: &mut impl Read, file: &mut File, buffer: &mut [u8]) -> io::Result<u64> {
    let mut copied = 0;
    loop {
        match source.read(buffer) {
            Ok(0) => return Ok(copied),
            Ok(length) => {
                file.write_all(&buffer[..length])?;
                copied += length as u64;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

impl Deref for Bytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Held::Memory(bytes) => bytes,
            Held::File(map) => map,
        }
    }
}

impl AsRef<[u8]> for Bytes {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl Default for Bytes {
    fn default() -> Bytes {
        Vec::new().into()
    }
}

impl From<Vec<u8>> for Bytes {
    fn from(bytes: Vec<u8>) -> Bytes {
        Bytes(Held::Memory(Arc::new(bytes)))
    }
}

impl From<&[u8]> for Bytes {
    fn from(bytes: &[u8]) -> Bytes {
        bytes.to_vec().into()
    }
}

impl<const LENGTH: usize> From<&[u8; LENGTH]> for Bytes {
    fn from(bytes: &[u8; LENGTH]) -> Bytes {
        bytes[..].into()
    }
}

impl PartialEq for Bytes {
    fn eq(&self, other: &Bytes) -> bool {
        **self == **other
    }
}

impl Eq for Bytes {}

impl fmt::Debug for Bytes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MOST_SHOWN: usize = 80;
        write!(formatter, "b\"{}\"", self[..self.len().min(MOST_SHOWN)].escape_ascii())?;
        if self.len() > MOST_SHOWN { write!(formatter, " and more, {} bytes", self.len()) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_has_no_end_is_read_to_the_bound_and_refused() {
        const MOST: u64 = 2 * MOST_IN_MEMORY as u64;
        for most in [0, 5, MOST] {
            let read = |length| Bytes::read_at_most(io::repeat(b'y').take(length), most);
            assert_eq!(read(most).expect("no more than the bound").len() as u64, most);
            for length in [most + 1, u64::MAX] {
                let refused = read(length).expect_err("more than the bound").kind();
                assert_eq!(refused, ErrorKind::FileTooLarge, "{length} of {most}");
            }
        }
    }

    #[test]
    fn many_bytes_are_those_that_were_read_and_lie_in_no_memory() {
        for length in [0, 1, MOST_IN_MEMORY, MOST_IN_MEMORY + 1, 3 * MOST_IN_MEMORY] {
            let source: Vec<u8> = (0..length).map(|at| (at / 7) as u8).collect();
            let bytes = Bytes::read(&source[..]).expect("room for temporary files");
            assert!(*bytes == source[..], "{length} bytes");
            assert_eq!(matches!(bytes.0, Held::File(_)), length > MOST_IN_MEMORY);
            let mut file = tempfile::tempfile().expect("room for temporary files");
            file.write_all(&source).expect("room");
            assert!(Bytes::of(file).expect("a file") == bytes, "{length} bytes");
        }
    }
}
