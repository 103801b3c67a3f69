//! Sealed files: files in memory that runs read and nobody can write any more.
//!
//! A run could open such a file anew by `/proc/self/fd`, or make its mapping writable, and later runs would see
//! what it has written. The kernel keeps a sealed one as it is, fcntl(2), F_ADD_SEALS.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, SealFlag, fcntl};
use nix::sys::memfd::{MFdFlags, memfd_create};

use super::{ProcessError, patiently};

/// An empty file in memory that can be sealed.
pub(super) fn sealable_file() -> Result<File, ProcessError> {
    let file = memfd_create(c"stripe", MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING);
    file.map(File::from).map_err(ProcessError::from_errno("creating a file in memory"))
}

/// A sealed file in memory.
#[derive(Debug)]
pub(crate) struct Sealed {
    file: File,
    length: u64,
}

impl Sealed {
    /// Makes a sealed file of these bytes.
    pub(super) fn holding(bytes: &[u8]) -> Result<Sealed, ProcessError> {
        let failed = |source| ProcessError::System { what: "filling a file in memory", source };
        let mut file = sealable_file()?;
        file.write_all(bytes).map_err(failed)?;
        Sealed::new(file).map_err(failed)
    }

    /// Seals a file that is mapped nowhere. The kernel may still hold pages of it for a moment.
    pub(super) fn new(file: File) -> io::Result<Sealed> {
        seal_length(&file)?;
        let seals = SealFlag::F_SEAL_WRITE | SealFlag::F_SEAL_SEAL;
        patiently(|| match fcntl(&file, FcntlArg::F_ADD_SEALS(seals)) {
            Err(Errno::EBUSY) => Err(Errno::EAGAIN),
            sealed => sealed,
        })?;
        let length = file.metadata()?.len();
        Ok(Sealed { file, length })
    }

    /// Its length in bytes.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    /// The file itself.
    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// The file to be mapped by a program.
    pub(crate) fn descriptor(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Seals the length of a file, so that no page of it that is mapped can go away.
pub(super) fn seal_length(file: &File) -> io::Result<()> {
    fcntl(file, FcntlArg::F_ADD_SEALS(SealFlag::F_SEAL_SHRINK | SealFlag::F_SEAL_GROW))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::FileExt;

    use super::*;

    #[test]
    fn what_is_sealed_can_neither_be_written_nor_cut_even_if_it_is_opened_anew() {
        let sealed = Sealed::holding(b"as it is").expect("memory");
        let path = format!("/proc/self/fd/{}", sealed.file.as_raw_fd());
        let again = File::options().read(true).write(true).open(&path).expect("opened anew");
        assert!(again.write_all_at(b"other", 0).is_err());
        assert!(again.set_len(0).is_err() && again.set_len(100).is_err());
        assert_eq!(fs::read(&path).expect("readable"), b"as it is");
    }
}
