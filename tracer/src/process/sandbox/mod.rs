//! The sandbox: a world of their own for runs, in which they can do no lasting harm.
//!
//! A sandbox is prepared once for a worker and serves all of its runs. In it waits the *starter*, a small
//! process to which everything applies that applies to runs, and which forks them (`starter.rs`).
//!
//! - *Full*: namespaces of users, mounts, processes, network, IPC, host name and control groups
//!   (`namespaces.rs`, `view.rs`). The file system is read-only; the working directory and the places for temporary
//!   files are overlays whose changes go to memory.
//! - *Basic*, where namespaces are refused: Landlock keeps runs from changing files (`landlock.rs`), but
//!   for those in a copy of the working directory (`copy.rs`), which is watched for changes (`watch.rs`).
//!
//! At both levels a filter of system calls (`filter.rs`) stops a run that reaches for more, and the
//! tracer decides (`guard.rs`).

mod copy;
mod extent;
mod filter;
mod guard;
mod landlock;
mod mounts;
mod namespaces;
mod numbered;
mod reach;
mod replace;
mod sockets;
mod starter;
mod trunk;
mod view;
mod watch;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

pub(super) use guard::{Answer, Guard, HeldCall, Waiting};
pub(super) use starter::{Order, Started};

use self::copy::Copied;
use self::extent::{Attributes, Ipc, RunExtent, SocketNames};
use self::namespaces::Namespaces;
use self::starter::{Confinement, Starter};
use super::launch::Launcher;
use super::{Launch, ProcessError};
use crate::invocation::{Constancy, Invocation, Permissions, SandboxMode};

/// The level of containment of runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Containment {
    /// By namespaces, with a private view of the file system.
    Full,
    /// By Landlock, a filter of system calls and a copy of the working directory; the reason why not
    /// better.
    Basic(String),
    /// Not at all, as the user wants it.
    None,
}

/// A sandbox, in which runs are started.
pub(crate) struct Sandbox {
    /// The start parameters of every run.
    launcher: Launcher,
    permissions: Permissions,
    directory: PathBuf,
    level: Containment,
    world: World,
}

/// The starter, the place for changes and the guard that make up a sandbox.
struct World {
    guard: Arc<Guard>,
    place: Place,
    starter: Starter,
}

/// The place where the changes of runs go.
enum Place {
    View(Namespaces),
    Copy(Copied),
    /// Where runs write for real: without a sandbox, or because the working directory was opened for that.
    Real,
}

/// The reason why no better level is possible here, found out once.
static FULL: OnceLock<Result<(), String>> = OnceLock::new();

impl Sandbox {
    /// Prepares for runs of `invocation`, at the best level that the machine allows.
    pub(crate) fn new(invocation: &Invocation) -> Result<Sandbox, ProcessError> {
        if !Path::new("/proc/self/fd").exists() {
            return Err(ProcessError::NoProc);
        }
        let launcher = Launcher::new(invocation)?;
        let Invocation { permissions, directory, .. } = invocation.clone();
        let (level, world) = match permissions.sandbox_mode {
            SandboxMode::None => (Containment::None, World::open(&launcher, &directory)?),
            SandboxMode::Sandbox => World::best(&launcher, &directory, &permissions)?,
        };
        Ok(Sandbox { launcher, permissions, directory, level, world })
    }

    /// The level of containment of the runs.
    pub(crate) fn containment(&self) -> Containment {
        self.level.clone()
    }

    /// Starts a run; its process is seized, and executes the program once it is continued.
    pub(super) fn start(&self, launch: &Launch<'_>, options: i32) -> Result<Started, ProcessError> {
        let stdin = self.launcher.stdin()?;
        let (texts, name) = (self.launcher.texts(), self.launcher.name());
        self.world.starter.start(Order { launch, stdin, texts, name }, options)
    }

    /// The constancy of answers: what runs are told about time, chance and processes.
    pub(super) fn constancy(&self) -> Constancy {
        self.launcher.constancy()
    }

    /// The number by which runs reach this process; one that nobody has, where they see no process but their
    /// own. What this process is called here may be the number of one of them there.
    pub(super) fn parent(&self) -> i32 {
        match self.world.place {
            Place::View(_) => i32::MAX,
            Place::Copy(_) | Place::Real => std::process::id() as i32,
        }
    }

    /// The guard, which decides about system calls that are held up.
    pub(super) fn guard(&self) -> Arc<Guard> {
        Arc::clone(&self.world.guard)
    }

    /// Makes the world as it was at first, if the latest run has changed it; returns true if it had. A process that was
    /// started before does not see the new one.
    pub(crate) fn refresh(&mut self) -> Result<bool, ProcessError> {
        let has_new_input = self.launcher.renew_stdin()?;
        Ok(self.refresh_world()? || has_new_input)
    }

    fn refresh_world(&mut self) -> Result<bool, ProcessError> {
        let failed = |source| ProcessError::System { what: "renewing the sandbox", source };
        let has_hidden_changes = self.world.guard.take_hidden_changes();
        let can_renew = self.permissions.writable.is_empty() && !has_hidden_changes;
        let is_touched = match &mut self.world.place {
            Place::View(view) if can_renew && view.is_touched() => {
                view.renew().map_err(failed)?;
                return Ok(true);
            }
            Place::View(view) => has_hidden_changes || view.is_touched(),
            Place::Copy(copy) => return copy.refresh(has_hidden_changes).map_err(not_copied),
            Place::Real => false,
        };
        if is_touched {
            self.world = World::best(&self.launcher, &self.directory, &self.permissions)?.1;
        }
        Ok(is_touched)
    }

    /// Takes over the arguments, the environment and the standard input of this invocation, which is of the same
    /// program, for the runs from now on.
    pub(crate) fn take_over(&mut self, invocation: &Invocation) -> Result<(), ProcessError> {
        self.launcher.take_over(invocation)
    }

    /// Replaces a file for the next run by one with this content, which it must have, or by none. Undone as what runs
    /// do, by [`Sandbox::refresh`].
    pub(crate) fn replace(&mut self, file: &Path, content: Option<&[u8]>) -> Result<(), ProcessError> {
        let replaced = match &self.world.place {
            Place::View(view) => replace::within(&view.root(), Path::new("/"), file, content),
            Place::Copy(copy) => replace::within(copy.directory(), &self.directory, file, content),
            Place::Real => Err(replace::real()),
        };
        replaced.map_err(|source| ProcessError::NotReplaced { path: file.into(), source })
    }

    /// Whether this path is that of a copy which the sandbox makes for its runs.
    pub(crate) fn holds(&self, path: &Path) -> bool {
        matches!(&self.world.place, Place::Copy(copy) if path.starts_with(copy.place()))
    }

    /// Whether the latest run has filled the place for its changes.
    pub(crate) fn is_full(&self) -> bool {
        match &self.world.place {
            Place::View(view) => view.is_touched() && view.is_full(),
            Place::Copy(copy) => copy.is_full(),
            Place::Real => false,
        }
    }
}

fn is_short_of_files(error: &io::Error) -> bool {
    [libc::EMFILE, libc::ENFILE].map(Some).contains(&error.raw_os_error())
}

fn not_copied(source: io::Error) -> ProcessError {
    ProcessError::Copy { to: copy::base().display().to_string(), source }
}

impl World {
    /// An open world, in which nothing is kept from a run.
    fn open(launcher: &Launcher, directory: &Path) -> Result<World, ProcessError> {
        let starter = Starter::outside(launcher, directory, &Confinement::none())?;
        let failed = |source| ProcessError::System { what: "preparing to start programs", source };
        starter.wait().map_err(failed)?;
        Ok(World { guard: Arc::new(Guard::new(None)), place: Place::Real, starter })
    }

    /// The best level of containment that the machine allows.
    fn best(
        launcher: &Launcher,
        directory: &Path,
        permissions: &Permissions,
    ) -> Result<(Containment, World), ProcessError> {
        let basic = |reason: &String| {
            let world = World::basic(launcher, directory, permissions, reason)?;
            Ok((Containment::Basic(reason.clone()), world))
        };
        if let Some(Err(reason)) = FULL.get() {
            return basic(reason);
        }
        match World::full(launcher, directory, permissions) {
            Ok(world) => {
                let _ = FULL.set(Ok(()));
                Ok((Containment::Full, world))
            }
            // A failure where it was possible once has nothing to do with the level, nor has a limit of the shell.
            Err(source) if FULL.get().is_some() || is_short_of_files(&source) => {
                Err(ProcessError::System { what: "preparing a sandbox", source })
            }
            Err(error) => {
                let reason = error.to_string();
                let _ = FULL.set(Err(reason.clone()));
                basic(&reason)
            }
        }
    }

    fn full(launcher: &Launcher, directory: &Path, permissions: &Permissions) -> io::Result<World> {
        let extent = RunExtent {
            network: permissions.network,
            attributes: Attributes::Apart,
            ipc: Ipc::Apart,
            // They belong to the namespace of the network.
            names: SocketNames::Apart,
            places: Vec::new(),
        };
        let walls = Confinement::new(&extent, landlock::scope())?;
        let (view, starter) = Namespaces::new(launcher, directory, permissions, &walls)?;
        Ok(World { guard: Arc::new(Guard::new(Some(extent))), place: Place::View(view), starter })
    }

    fn basic(
        launcher: &Launcher,
        directory: &Path,
        permissions: &Permissions,
        reason: &str,
    ) -> Result<World, ProcessError> {
        // As the kernel tells where a file lies.
        let real = |place: &Path| place.canonicalize().unwrap_or_else(|_| place.to_owned());
        let is_open = permissions.writable.iter().any(|place| real(directory).starts_with(real(place)));
        let copy = (!is_open).then(|| Copied::new(directory).map_err(not_copied)).transpose()?;
        // The folder of the copy stays from run to run, so that nobody changes its attributes.
        let own = copy.iter().map(Copied::directory).chain(permissions.writable.iter().map(PathBuf::as_path));
        let scope = landlock::scope();
        let extent = RunExtent {
            network: permissions.network,
            attributes: Attributes::OfAllFiles,
            ipc: Ipc::Shared,
            names: if scope.is_some() { SocketNames::Apart } else { SocketNames::Shared },
            places: own.map(real).collect(),
        };
        let uncontained = |error: io::Error| ProcessError::Uncontained {
            full: reason.to_owned(),
            basic: error.to_string(),
        };
        let writable = permissions.writable.iter().cloned();
        let open: Vec<_> = copy.iter().map(Copied::place).chain(writable).collect();
        let walls = Confinement::basic(&extent, scope, &open).map_err(uncontained)?;
        let directory = copy.as_ref().map_or(directory, Copied::directory);
        let starter = Starter::outside(launcher, directory, &walls)?;
        starter.wait().map_err(uncontained)?;
        let place = copy.map_or(Place::Real, Place::Copy);
        Ok(World { guard: Arc::new(Guard::new(Some(extent))), place, starter })
    }
}
