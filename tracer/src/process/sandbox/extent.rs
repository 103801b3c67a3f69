//! The permissions of runs, as far as the guard has to be asked.

use std::path::PathBuf;

use crate::invocation::Network;

/// The permissions of runs, as far as the guard has to be asked.
pub(super) struct RunExtent {
    pub(super) network: Network,
    pub(super) attributes: Attributes,
    pub(super) ipc: Ipc,
    pub(super) names: SocketNames,
    /// The folders in which changes to files are the run's own, if it has no view of its own.
    pub(super) places: Vec<PathBuf>,
}

/// The files whose attributes a run can change, as far as the kernel cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attributes {
    /// Only those in its own view of the file system.
    Apart,
    /// Those of all files of the machine.
    OfAllFiles,
}

/// The abstract sockets that a run reaches, unix(7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SocketNames {
    /// Those of its own, by the kernel.
    Apart,
    /// Those of the machine.
    Shared,
}

/// The namespace of the IPC objects that a run uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ipc {
    /// One of its own.
    Apart,
    /// That of the machine.
    Shared,
}
