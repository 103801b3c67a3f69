//! Say what runs may do, as far as it has to be asked.

use std::path::PathBuf;

use crate::invocation::Network;

/// What runs may do, as far as it has to be asked.
pub(super) struct RunExtent {
    pub(super) network: Network,
    pub(super) attributes: Attributes,
    pub(super) ipc: Ipc,
    pub(super) names: SocketNames,
    /// Where changes to files are the run's own, if it has no view of its own.
    pub(super) places: Vec<PathBuf>,
}

/// Whose attributes a run can change, as far as the kernel cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attributes {
    /// Those of its own view of the file system.
    Apart,
    /// Those of all files.
    OfAllFiles,
}

/// Which abstract sockets a run reaches, unix(7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SocketNames {
    /// Its own: the kernel sees to that.
    Apart,
    /// Those of the machine.
    Shared,
}

/// Whose IPC objects a run uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ipc {
    /// Its own.
    Apart,
    /// Those of the machine.
    Shared,
}
