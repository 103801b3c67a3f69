//! Give runs a view of the world in which they can do no lasting harm.
//!
//! A namespace of mounts, prepared once and joined by every run: the whole file system is read-only,
//! and the working directory and the places for temporary files are overlays whose changes go to
//! memory. Before a run that would see the changes of an earlier one, the view is made anew. With
//! Landlock, signals reach only the run's own processes. Network, IPC objects and a private `/proc` are
//! not part of it.

use std::ffi::CString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use landlock::{AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, Scope as Reach};
use nix::fcntl::OFlag;
use nix::mount::{MsFlags, mount};
use nix::sched::CloneFlags;
use nix::sys::stat::Mode;

use super::ProcessError;

/// Folders whose changes a run may see, but nobody else; the working directory is one more.
const TEMPORARY: [&str; 3] = ["/tmp", "/var/tmp", "/dev/shm"];
/// How much memory the changes to one folder may take.
const OVERLAY_SIZE: &str = "size=1g,mode=0755";

/// What root could undo the sandbox or harm the machine with: CAP_SYS_MODULE, CAP_SYS_RAWIO,
/// CAP_SYS_ADMIN, CAP_SYS_BOOT, CAP_SYS_TIME, CAP_MKNOD.
const DROPPED: [libc::c_int; 6] = [16, 17, 21, 22, 25, 27];

/// How well runs are contained.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Containment {
    /// Changes to files go to memory and are thrown away.
    Overlay,
    /// Files are as they are, and nothing keeps a run from changing them; the reason why.
    None(String),
}

/// The view of the world that runs get.
pub struct Sandbox {
    directory: PathBuf,
    view: Result<View, String>,
    landlock: Option<OwnedFd>,
}

struct View {
    /// The namespace in which an ordinary user may mount; root needs none.
    user: Option<OwnedFd>,
    mounts: OwnedFd,
    /// The folders that hold the changes: empty as long as nothing was changed.
    changes: Vec<OwnedFd>,
}

impl Sandbox {
    /// Prepares a view for runs in `directory`. Where the kernel refuses, runs are not contained, and
    /// [`Sandbox::containment`] says why.
    pub fn new(directory: &Path) -> Sandbox {
        let view = View::new(directory).map_err(|error| error.to_string());
        Sandbox { directory: directory.into(), view, landlock: signal_scope() }
    }

    /// How well runs are contained.
    pub fn containment(&self) -> Containment {
        match &self.view {
            Ok(_) => Containment::Overlay,
            Err(reason) => Containment::None(reason.clone()),
        }
    }

    /// Whether signals of a run reach only its own processes.
    pub fn contains_signals(&self) -> bool {
        self.landlock.is_some()
    }

    /// Makes the view as it was at first, if the latest run has changed it; tells whether it had. Whoever
    /// has entered the view before does not see the new one.
    pub(crate) fn refresh(&mut self) -> Result<bool, ProcessError> {
        let touched = self.view.as_ref().is_ok_and(View::is_touched);
        if touched {
            let view = View::new(&self.directory);
            self.view =
                Ok(view.map_err(|source| ProcessError::System { what: "renewing the sandbox", source })?);
        }
        Ok(touched)
    }

    /// Enters the view. For a process that has just been forked, before it executes the program: makes
    /// system calls only.
    pub(super) fn enter(&self) -> nix::Result<()> {
        if let Ok(view) = &self.view {
            if let Some(user) = &view.user {
                nix::sched::setns(user, CloneFlags::CLONE_NEWUSER)?;
            }
            nix::sched::setns(&view.mounts, CloneFlags::CLONE_NEWNS)?;
            for capability in DROPPED {
                // SAFETY: prctl with plain numbers.
                unsafe { libc::prctl(libc::PR_CAPBSET_DROP, capability, 0, 0, 0) };
            }
        }
        if let Some(ruleset) = &self.landlock {
            // SAFETY: prctl and landlock_restrict_self with plain numbers and an open descriptor.
            unsafe {
                libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
                nix::errno::Errno::result(libc::syscall(
                    libc::SYS_landlock_restrict_self,
                    ruleset.as_raw_fd(),
                    0,
                ))?;
            }
        }
        Ok(())
    }
}

/// A rule set that keeps signals and abstract sockets inside; `None` on kernels before 6.12.
fn signal_scope() -> Option<OwnedFd> {
    let rules = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::MakeBlock)
        .and_then(|rules| rules.scope(Reach::Signal | Reach::AbstractUnixSocket))
        .and_then(Ruleset::create);
    rules.ok().and_then(Option::<OwnedFd>::from)
}

impl View {
    /// A helper process makes the namespaces, waits until this one holds them, and goes.
    fn new(directory: &Path) -> io::Result<View> {
        let plan = Plan::new(directory)?;
        let (ready, tell_ready) = nix::unistd::pipe()?;
        let (wait, release) = nix::unistd::pipe()?;
        let parent = nix::unistd::getpid();
        // SAFETY: the child only makes system calls and allocates little, which glibc permits after a
        // fork; it never returns.
        let helper = match unsafe { nix::unistd::fork() }? {
            nix::unistd::ForkResult::Child => {
                // SAFETY: prctl with plain numbers.
                unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL, 0, 0, 0) };
                if nix::unistd::getppid() != parent {
                    // It has died before it could be asked for.
                    // SAFETY: ends the process without running the parent's destructors.
                    unsafe { libc::_exit(0) }
                }
                let errno = plan.carry_out().err().map_or(0, |errno| errno as i32);
                let _ = nix::unistd::write(&tell_ready, &errno.to_ne_bytes());
                // A word, not the end of the file: helpers of other threads may hold the other end, too.
                let _ = nix::unistd::read(&wait, &mut [0]);
                // SAFETY: ends the process without running the parent's destructors.
                unsafe { libc::_exit(0) }
            }
            nix::unistd::ForkResult::Parent { child } => child,
        };
        drop((tell_ready, wait));
        let view = receive(File::from(ready)).and_then(|()| plan.view(helper));
        let _ = nix::unistd::write(&release, &[0]);
        let _ = nix::sys::wait::waitpid(helper, None);
        view
    }

    fn is_touched(&self) -> bool {
        self.changes.iter().any(|folder| {
            // A description of its own: the directory stream starts at the beginning.
            let list =
                nix::dir::Dir::openat(folder, ".", OFlag::O_DIRECTORY | OFlag::O_RDONLY, Mode::empty());
            list.map_or(true, |mut list| {
                list.iter().flatten().any(|entry| !matches!(entry.file_name().to_bytes(), b"." | b".."))
            })
        })
    }
}

fn receive(mut ready: File) -> io::Result<()> {
    let mut errno = [0; 4];
    ready.read_exact(&mut errno)?;
    match i32::from_ne_bytes(errno) {
        0 => Ok(()),
        errno => Err(io::Error::from_raw_os_error(errno)),
    }
}

/// Everything that the helper needs, made before the fork.
struct Plan {
    /// What the helper writes where to be itself in a namespace of users; empty for root.
    identity: Vec<(&'static str, String)>,
    overlays: Vec<Overlay>,
}

struct Overlay {
    place: CString,
    upper: CString,
    work: CString,
    options: CString,
    /// The descriptors under which the helper opens the original folder, the changes, and the
    /// overlay's own working folder.
    original_fd: i32,
    upper_fd: i32,
    work_fd: i32,
}

/// Where these descriptors begin: above any that this program opens.
const FIRST_FD: i32 = 700;

impl Plan {
    fn new(directory: &Path) -> io::Result<Plan> {
        let uid = nix::unistd::getuid();
        let gid = nix::unistd::getgid();
        let identity = vec![
            ("/proc/self/setgroups", "deny".into()),
            ("/proc/self/uid_map", format!("{uid} {uid} 1")),
            ("/proc/self/gid_map", format!("{gid} {gid} 1")),
        ];
        let mut places: Vec<PathBuf> = Vec::new();
        for place in TEMPORARY.iter().map(Path::new).chain([directory]) {
            let Ok(place) = place.canonicalize() else { continue };
            let covered =
                |outer: &PathBuf| place.starts_with(outer) && device(outer).ok() == device(&place).ok();
            if place != Path::new("/") && !places.iter().any(covered) {
                places.push(place);
            }
        }
        let overlays = places.iter().enumerate().map(|(number, place)| Overlay::new(number as i32, place));
        Ok(Plan {
            identity: if uid.is_root() { Vec::new() } else { identity },
            overlays: overlays.collect::<io::Result<_>>()?,
        })
    }

    /// Makes the namespaces of the calling process.
    fn carry_out(&self) -> nix::Result<()> {
        if !self.identity.is_empty() {
            nix::sched::unshare(CloneFlags::CLONE_NEWUSER)?;
        }
        nix::sched::unshare(CloneFlags::CLONE_NEWNS)?;
        for (path, text) in &self.identity {
            let file = nix::fcntl::open(*path, OFlag::O_WRONLY, Mode::empty())?;
            nix::unistd::write(&file, text.as_bytes())?;
        }
        let none: Option<&str> = None;
        mount(none, "/", none, MsFlags::MS_REC | MsFlags::MS_PRIVATE, none)?;
        read_only()?;
        self.overlays.iter().try_for_each(Overlay::put)
    }

    /// Takes hold of what the helper has made.
    fn view(&self, helper: nix::unistd::Pid) -> io::Result<View> {
        let open = |path: String| File::open(path).map(OwnedFd::from);
        let changes =
            self.overlays.iter().map(|overlay| open(format!("/proc/{helper}/fd/{}", overlay.upper_fd)));
        Ok(View {
            user: (!self.identity.is_empty()).then(|| open(format!("/proc/{helper}/ns/user"))).transpose()?,
            mounts: open(format!("/proc/{helper}/ns/mnt"))?,
            changes: changes.collect::<io::Result<_>>()?,
        })
    }
}

impl Overlay {
    fn new(number: i32, place: &Path) -> io::Result<Overlay> {
        let text = |bytes: Vec<u8>| CString::new(bytes).map_err(io::Error::other);
        let bytes = place.as_os_str().as_bytes();
        let [original_fd, upper_fd, work_fd] = [0, 1, 2].map(|i| FIRST_FD + 3 * number + i);
        // By descriptor, because a path may hold the commas and colons that separate options.
        let fd = "/proc/self/fd";
        let options =
            format!("userxattr,lowerdir={fd}/{original_fd},upperdir={fd}/{upper_fd},workdir={fd}/{work_fd}");
        Ok(Overlay {
            place: text(bytes.to_vec())?,
            upper: text([bytes, b"/u"].concat())?,
            work: text([bytes, b"/w"].concat())?,
            options: text(options.into_bytes())?,
            original_fd,
            upper_fd,
            work_fd,
        })
    }

    /// Mounts the overlay over the original folder. The changes live in a file system in memory, which
    /// the overlay itself hides.
    fn put(&self) -> nix::Result<()> {
        let mode = nix::sys::stat::stat(self.place.as_c_str())?.st_mode & 0o7777;
        open_as(&self.place, self.original_fd)?;
        mount(Some("tmpfs"), self.place.as_c_str(), Some("tmpfs"), MsFlags::empty(), Some(OVERLAY_SIZE))?;
        for (folder, fd) in [(&self.upper, self.upper_fd), (&self.work, self.work_fd)] {
            nix::unistd::mkdir(folder.as_c_str(), Mode::S_IRWXU)?;
            open_as(folder, fd)?;
        }
        // The overlay takes its mode from the folder of the changes.
        // SAFETY: fchmod on an open descriptor.
        nix::errno::Errno::result(unsafe { libc::fchmod(self.upper_fd, mode) })?;
        mount(
            Some("overlay"),
            self.place.as_c_str(),
            Some("overlay"),
            MsFlags::empty(),
            Some(self.options.as_c_str()),
        )
    }
}

/// Opens a folder under this number, until the helper exits.
fn open_as(folder: &CString, number: i32) -> nix::Result<()> {
    let opened = nix::fcntl::open(folder.as_c_str(), OFlag::O_DIRECTORY, Mode::empty())?;
    // SAFETY: dup2 onto a number that nothing else in the helper uses.
    nix::errno::Errno::result(unsafe { libc::dup2(opened.as_raw_fd(), number) }).map(drop)
}

fn device(path: &Path) -> io::Result<u64> {
    Ok(std::fs::metadata(path)?.dev())
}

/// Makes all mounts of the namespace read-only, mount_setattr(2).
fn read_only() -> nix::Result<()> {
    let mut attributes =
        libc::mount_attr { attr_set: libc::MOUNT_ATTR_RDONLY, attr_clr: 0, propagation: 0, userns_fd: 0 };
    // SAFETY: the path is a C string and the structure is as long as the call is told.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            c"/".as_ptr(),
            libc::AT_RECURSIVE,
            &raw mut attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    nix::errno::Errno::result(result).map(drop)
}
