//! Catch what a run writes: into files in memory, or through a pseudo-terminal.
//!
//! Each run gets files of its own, so that nothing an earlier one left behind can write into them.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::thread::{Builder, JoinHandle};

use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::pty::openpty;
use nix::sys::memfd::{MFdFlags, memfd_create};
use nix::sys::termios::{OutputFlags, SetArg, tcgetattr, tcsetattr};

use super::ProcessError;
use crate::invocation::Stdout;

/// The write ends for the program, and what reads them.
pub(crate) struct Output {
    stdout: Channel,
    stderr: File,
}

/// What a run has written to its standard output and its standard error so far.
pub(crate) type Written = (Vec<u8>, Vec<u8>);

enum Channel {
    File(File),
    Terminal { slave: OwnedFd, reader: JoinHandle<Vec<u8>> },
}

impl Output {
    /// Prepares for one run. From a terminal at most `limit` bytes are kept.
    pub(crate) fn new(kind: Stdout, limit: u64) -> Result<Output, ProcessError> {
        let stdout = match kind {
            Stdout::File => Channel::File(memory_file()?),
            Stdout::Terminal => terminal(limit)?,
        };
        Ok(Output { stdout, stderr: memory_file()? })
    }

    /// What becomes descriptor 1.
    pub(crate) fn stdout(&self) -> BorrowedFd<'_> {
        match &self.stdout {
            Channel::File(file) => file.as_fd(),
            Channel::Terminal { slave, .. } => slave.as_fd(),
        }
    }

    /// What becomes descriptor 2.
    pub(crate) fn stderr(&self) -> BorrowedFd<'_> {
        self.stderr.as_fd()
    }

    /// What was written to the two files so far. Of a terminal's nothing is known yet.
    pub(crate) fn written(&mut self) -> Result<Written, ProcessError> {
        let stdout = match &mut self.stdout {
            Channel::File(stdout) => read_all(stdout)?,
            Channel::Terminal { .. } => Vec::new(),
        };
        Ok((stdout, read_all(&mut self.stderr)?))
    }

    /// Makes the files as if no more than `earlier` had been written. They hold `now`.
    pub(crate) fn take_back(&mut self, now: &Written, earlier: &Written) -> Result<(), ProcessError> {
        if let Channel::File(stdout) = &mut self.stdout {
            take_back(stdout, &now.0, &earlier.0)?;
        }
        take_back(&mut self.stderr, &now.1, &earlier.1)
    }

    /// Everything that was written to standard output and error. All writers must be gone.
    pub(crate) fn collect(mut self) -> Result<Written, ProcessError> {
        let stdout = match self.stdout {
            Channel::File(mut file) => read_all(&mut file)?,
            Channel::Terminal { slave, reader } => {
                drop(slave);
                reader.join().unwrap_or_default()
            }
        };
        Ok((stdout, read_all(&mut self.stderr)?))
    }
}

/// An empty file that no folder holds.
pub(super) fn memory_file() -> Result<File, ProcessError> {
    let file = memfd_create(c"stripe", MFdFlags::MFD_CLOEXEC);
    file.map(File::from).map_err(ProcessError::from_errno("creating a file in memory"))
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
    // What a program can change of the description, which outlives it.
    let _ = fcntl(&*file, FcntlArg::F_SETFL(OFlag::empty()));
    Ok(())
}

fn read_all(file: &mut File) -> Result<Vec<u8>, ProcessError> {
    let failed = |source| ProcessError::System { what: "reading the program's output", source };
    let mut bytes = Vec::new();
    file.rewind().map_err(failed)?;
    file.read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}

fn terminal(limit: u64) -> Result<Channel, ProcessError> {
    let failed = ProcessError::from_errno("opening a pseudo-terminal");
    let pty = openpty(None, None).map_err(&failed)?;
    // The output is compared byte by byte: no carriage returns in front of newlines.
    let mut settings = tcgetattr(&pty.slave).map_err(&failed)?;
    settings.output_flags.remove(OutputFlags::OPOST);
    tcsetattr(&pty.slave, SetArg::TCSANOW, &settings).map_err(&failed)?;
    let mut master = File::from(pty.master);
    let reader = Builder::new().spawn(move || {
        let mut kept = Vec::new();
        let mut chunk = [0; 4096];
        // The kernel reports EIO once the last writer has gone.
        while let Ok(length @ 1..) = master.read(&mut chunk) {
            let room = (limit as usize).saturating_sub(kept.len());
            kept.extend_from_slice(&chunk[..length.min(room)]);
        }
        kept
    });
    let reader = reader.map_err(|source| ProcessError::System { what: "starting a thread", source })?;
    Ok(Channel::Terminal { slave: pty.slave, reader })
}
