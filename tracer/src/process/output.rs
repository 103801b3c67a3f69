//! The output of a run, caught in files in memory or, if it may be much, on disk; or through a pseudo-terminal.
//!
//! Each run gets files of its own, so that no process left over from an earlier one can write into them.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::thread::{Builder, JoinHandle};

use nix::pty::openpty;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::stat::{Mode, fchmod};
use nix::sys::statvfs::fstatvfs;
use nix::sys::termios::{OutputFlags, SetArg, tcgetattr, tcsetattr};

use super::descriptions::{FileAttributes, restore_description};
use super::{Bytes, ProcessError, patiently};
use crate::invocation::Stdout;

/// The output of one run: the write ends for the program, and what reads them.
pub(crate) struct Output {
    stdout: Channel,
    stderr: File,
    /// The attributes of the files as they were made.
    looks: Vec<FileAttributes>,
}

/// The bytes that a run has written to its standard output and its standard error so far.
pub(crate) type Written = (Bytes, Bytes);

enum Channel {
    File(File),
    Terminal { slave: OwnedFd, reader: JoinHandle<Vec<u8>> },
}

impl Output {
    /// Prepares for one run that writes at most `limit` bytes into a file. From a terminal no more are kept.
    pub(crate) fn new(kind: Stdout, limit: u64) -> Result<Output, ProcessError> {
        let stdout = match kind {
            Stdout::File => Channel::File(file_for(limit)?),
            Stdout::Terminal => terminal(limit)?,
        };
        let mut output = Output { stdout, stderr: file_for(limit)?, looks: Vec::new() };
        output.looks = output.files().map(FileAttributes::of).collect();
        Ok(output)
    }

    /// The file for descriptor 1.
    pub(crate) fn stdout(&self) -> BorrowedFd<'_> {
        match &self.stdout {
            Channel::File(file) => file.as_fd(),
            Channel::Terminal { slave, .. } => slave.as_fd(),
        }
    }

    /// The file for descriptor 2.
    pub(crate) fn stderr(&self) -> BorrowedFd<'_> {
        self.stderr.as_fd()
    }

    /// The output so far, from the two files. Of a terminal's nothing is known yet.
    pub(crate) fn written(&mut self) -> Result<Written, ProcessError> {
        let stdout = match &mut self.stdout {
            Channel::File(stdout) => read_all(stdout)?,
            Channel::Terminal { .. } => Bytes::default(),
        };
        Ok((stdout, read_all(&mut self.stderr)?))
    }

    /// Takes back what was written after `earlier`. The files hold `now`.
    pub(crate) fn take_back(&mut self, now: &Written, earlier: &Written) -> Result<(), ProcessError> {
        if let Channel::File(stdout) = &mut self.stdout {
            take_back(stdout, &now.0, &earlier.0)?;
        }
        take_back(&mut self.stderr, &now.1, &earlier.1)
    }

    /// Whether the files have the modes, owners and attributes that they had at first. Their contents, lengths and
    /// positions are restored by [`Output::take_back`].
    pub(crate) fn is_as_made(&self) -> bool {
        self.files().map(FileAttributes::of).eq(self.looks.iter().copied())
    }

    /// Whether the path is that of one of the files.
    pub(super) fn has(&self, path: &Path) -> bool {
        let number = |data: Metadata| (data.dev(), data.ino());
        let sought = fs::metadata(path).map(number).ok();
        sought.is_some() && self.files().any(|file| file.metadata().map(number).ok() == sought)
    }

    fn files(&self) -> impl Iterator<Item = &File> {
        let stdout = match &self.stdout {
            Channel::File(file) => Some(file),
            Channel::Terminal { .. } => None,
        };
        stdout.into_iter().chain([&self.stderr])
    }

    /// Reads everything that was written to standard output and error. All writers must be gone.
    pub(crate) fn collect(self) -> Result<Written, ProcessError> {
        let stdout = match self.stdout {
            Channel::File(file) => Bytes::of(file).map_err(unreadable)?,
            Channel::Terminal { slave, reader } => {
                drop(slave);
                reader.join().unwrap_or_default().into()
            }
        };
        Ok((stdout, Bytes::of(self.stderr).map_err(unreadable)?))
    }
}

/// An empty file in memory that no run can seal, memfd_create(2).
fn memory_file() -> Result<File, ProcessError> {
    let failed = ProcessError::from_errno("creating a file in memory");
    let file = memfd_create(c"stripe", MFdFlags::MFD_CLOEXEC).map_err(&failed)?;
    // The mode of a file on disk, so that a program cannot tell the difference.
    fchmod(&file, Mode::S_IRUSR | Mode::S_IWUSR).map_err(failed)?;
    Ok(file.into())
}

/// An empty file that no folder holds, for what one run writes: of so many bytes at most.
///
/// Output that could fill the memory goes to the disk, if there is room, and if a program cannot tell the difference:
/// the C library writes in pieces as large as the blocks of a file.
fn file_for(limit: u64) -> Result<File, ProcessError> {
    const MOST_IN_MEMORY: u64 = 64 << 20;
    let memory = memory_file()?;
    if limit <= MOST_IN_MEMORY {
        return Ok(memory);
    }
    let is_fit = |disk: &File| -> io::Result<bool> {
        let room = fstatvfs(disk)?;
        let has_room = room.blocks_available() * room.fragment_size() >= 2 * limit;
        Ok(has_room && disk.metadata()?.blksize() == memory.metadata()?.blksize())
    };
    let disk = tempfile::tempfile().ok().filter(|disk| is_fit(disk).unwrap_or(false));
    Ok(disk.unwrap_or(memory))
}

fn take_back(file: &mut File, now: &[u8], earlier: &[u8]) -> Result<(), ProcessError> {
    let failed = |source| ProcessError::System { what: "emptying the program's output", source };
    // A program may overwrite what it has written before.
    if !now.starts_with(earlier) {
        file.write_all_at(earlier, 0).map_err(failed)?;
    }
    if now.len() != earlier.len() {
        file.set_len(earlier.len() as u64).map_err(failed)?;
    }
    file.seek(SeekFrom::Start(earlier.len() as u64)).map_err(failed)?;
    restore_description(file);
    Ok(())
}

fn read_all(file: &mut File) -> Result<Bytes, ProcessError> {
    file.rewind().and_then(|()| Bytes::read(file)).map_err(unreadable)
}

fn unreadable(source: io::Error) -> ProcessError {
    ProcessError::System { what: "reading the program's output", source }
}

fn terminal(limit: u64) -> Result<Channel, ProcessError> {
    let failed = ProcessError::from_errno("opening a pseudo-terminal");
    let pty = openpty(None, None).map_err(&failed)?;
    // The output is compared byte by byte: no carriage returns in front of newlines.
    let mut settings = tcgetattr(&pty.slave).map_err(&failed)?;
    settings.output_flags.remove(OutputFlags::OPOST);
    tcsetattr(&pty.slave, SetArg::TCSANOW, &settings).map_err(&failed)?;
    let master = File::from(pty.master);
    let reader = patiently(|| {
        let mut master = master.try_clone()?;
        Builder::new().spawn(move || {
            let mut kept = Vec::new();
            let mut chunk = [0; 4096];
            // The kernel reports EIO once the last writer has gone.
            while let Ok(length @ 1..) = master.read(&mut chunk) {
                let room = (limit as usize).saturating_sub(kept.len());
                kept.extend_from_slice(&chunk[..length.min(room)]);
            }
            kept
        })
    });
    let reader = reader.map_err(|source| ProcessError::System { what: "starting a thread", source })?;
    Ok(Channel::Terminal { slave: pty.slave, reader })
}
