//! Catch what a run writes: into files in memory, or through a pseudo-terminal.
//!
//! Each run gets files of its own, so that nothing an earlier one left behind can write into them.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
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
    /// What [`Output::take`] leaves in the files, in bytes from their beginnings.
    origin: [u64; 2],
}

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
        Ok(Output { stdout, stderr: memory_file()?, origin: [0, 0] })
    }

    /// What was written so far is part of all that will be taken.
    pub(crate) fn keep(&mut self) -> Result<(), ProcessError> {
        let failed = |source| ProcessError::System { what: "measuring the program's output", source };
        let length = |file: &File| file.metadata().map(|data| data.len()).map_err(failed);
        if let Channel::File(stdout) = &self.stdout {
            self.origin = [length(stdout)?, length(&self.stderr)?];
        }
        Ok(())
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

    /// Everything that was written to the two files; afterwards they hold again what was kept. Not for a
    /// terminal.
    pub(crate) fn take(&mut self) -> Result<(Vec<u8>, Vec<u8>), ProcessError> {
        let [of_stdout, of_stderr] = self.origin;
        let stdout = match &mut self.stdout {
            Channel::File(stdout) => take(stdout, of_stdout)?,
            Channel::Terminal { .. } => Vec::new(),
        };
        Ok((stdout, take(&mut self.stderr, of_stderr)?))
    }

    /// Everything that was written to standard output and error. All writers must be gone.
    pub(crate) fn collect(self) -> Result<(Vec<u8>, Vec<u8>), ProcessError> {
        let stdout = match self.stdout {
            Channel::File(file) => contents(file)?,
            Channel::Terminal { slave, reader } => {
                drop(slave);
                reader.join().unwrap_or_default()
            }
        };
        Ok((stdout, contents(self.stderr)?))
    }
}

/// An empty file that no folder holds.
pub(super) fn memory_file() -> Result<File, ProcessError> {
    let file = memfd_create(c"stripe", MFdFlags::MFD_CLOEXEC);
    file.map(File::from).map_err(ProcessError::from_errno("creating a file in memory"))
}

fn contents(mut file: File) -> Result<Vec<u8>, ProcessError> {
    read_all(&mut file)
}

fn take(file: &mut File, origin: u64) -> Result<Vec<u8>, ProcessError> {
    let failed = |source| ProcessError::System { what: "emptying the program's output", source };
    let bytes = read_all(file)?;
    if bytes.len() as u64 != origin {
        file.set_len(origin).map_err(failed)?;
    }
    file.seek(SeekFrom::Start(origin)).map_err(failed)?;
    // What a program can change of the description, which outlives it.
    let _ = fcntl(&*file, FcntlArg::F_SETFL(OFlag::empty()));
    Ok(bytes)
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
