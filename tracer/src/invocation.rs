//! The invocation of a program: how it is started, the same way for every run.

use std::ffi::OsString;
use std::fmt;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agent::poison::Poison;

use crate::denial::Actions;

/// The name of the folder, in a working directory, in which runs are kept. It is none of theirs: where they get a copy
/// of the directory, it is not in there.
pub const SHELF: &str = ".stripe";

/// The kind of file of the program's standard output. It decides how the C library buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stdout {
    /// A file: fully buffered, lost in a crash if not flushed.
    #[default]
    File,
    /// A pseudo-terminal: line-buffered.
    Terminal,
}

/// The input of a program, wherever it lies: in memory, or in a file that is mapped. A copy costs nothing.
#[derive(Clone)]
pub struct Input(Arc<dyn AsRef<[u8]> + Send + Sync>);

impl Input {
    /// An input of these bytes.
    pub fn new(bytes: impl AsRef<[u8]> + Send + Sync + 'static) -> Input {
        Input(Arc::new(bytes))
    }
}

impl Default for Input {
    fn default() -> Input {
        Input::new([])
    }
}

impl From<Vec<u8>> for Input {
    fn from(bytes: Vec<u8>) -> Input {
        Input::new(bytes)
    }
}

impl Deref for Input {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        (*self.0).as_ref()
    }
}

impl fmt::Debug for Input {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} bytes", self.len())
    }
}

/// A command with everything that it sees of the world when it starts.
#[derive(Clone, Debug)]
pub struct Invocation {
    /// The executable, absolute.
    pub program: PathBuf,
    /// All arguments, the program's name for itself first (`argv[0]`).
    pub arguments: Vec<OsString>,
    /// The whole environment. `LD_BIND_NOW` and a tunable of glibc are added, see
    /// [`Invocation::environment_under`].
    pub environment: Vec<(OsString, OsString)>,
    /// The working directory, absolute.
    pub directory: PathBuf,
    /// The content of its standard input.
    pub stdin: Input,
    /// The kind of its standard output.
    pub stdout: Stdout,
    /// The permissions of the program outside of its sandbox.
    pub permissions: Permissions,
    /// The answers that are the same in each run.
    pub constancy: Constancy,
}

/// The constancy of answers: which questions of a program are answered the same in each run. Those about processes
/// always are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Constancy {
    /// The answers of clocks, and of how much time was used.
    pub time: Answers,
    /// The answers to questions for random numbers.
    pub chance: Answers,
}

/// The answers that a program gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Answers {
    /// The same in each run.
    #[default]
    Constant,
    /// The real ones.
    Real,
}

/// The permissions of a program outside of its sandbox.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    /// Whether there is a sandbox at all.
    pub sandbox_mode: SandboxMode,
    /// Whether it may use the network.
    pub network: Network,
    /// The directories in which its changes are real, absolute.
    pub writable: Vec<PathBuf>,
}

/// The mode of containment of programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SandboxMode {
    /// Contained as well as the machine allows, or not run at all.
    #[default]
    Sandbox,
    /// Not contained: all that they do is real.
    None,
}

/// The access of programs to the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Network {
    /// Denied.
    #[default]
    Denied,
    /// Allowed, to sockets of other programs as well.
    Allowed,
}

impl Invocation {
    /// An invocation of the bare program: no arguments, no environment, no input, its output in a file. It is
    /// contained, and its questions have constant answers.
    pub fn new(program: PathBuf, directory: PathBuf) -> Invocation {
        Invocation {
            arguments: vec![program.clone().into()],
            program,
            environment: Vec::new(),
            directory,
            stdin: Input::default(),
            stdout: Stdout::default(),
            permissions: Permissions::default(),
            constancy: Constancy::default(),
        }
    }

    /// Lets no sanitizer look for leaks: these need ptrace(2), which a program cannot use that is traced itself. Other
    /// options in the environment stay.
    pub fn look_for_no_leaks(&mut self) {
        for variable in ["ASAN_OPTIONS", "LSAN_OPTIONS"] {
            let known = self.environment.iter_mut().find(|(name, _)| name == variable);
            match known {
                // The last one counts.
                Some((_, options)) if !options.is_empty() => options.push(":detect_leaks=0"),
                Some((_, options)) => options.push("detect_leaks=0"),
                None => self.environment.push((variable.into(), "detect_leaks=0".into())),
            }
        }
    }

    /// The environment with what a run adds to it, in which undefined values are set to `poison`. All are of
    /// one length, because the environment moves the stack.
    pub fn environment_under(&self, poison: Poison) -> Vec<(OsString, OsString)> {
        const BIND_NOW: &str = "LD_BIND_NOW";
        const TUNABLES: &str = "GLIBC_TUNABLES";
        let mut environment = vec![(BIND_NOW.into(), "1".into())];
        let mut tunables = OsString::new();
        for (name, value) in &self.environment {
            if name == TUNABLES {
                tunables.push(value);
                tunables.push(":");
            } else if name != BIND_NOW {
                environment.push((name.clone(), value.clone()));
            }
        }
        tunables.push("glibc.malloc.perturb=");
        tunables.push(poison.perturb());
        environment.push((TUNABLES.into(), tunables));
        environment
    }
}

/// The resource limits of a run, at which it is ended.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The processor time of the program, its children not counted.
    pub cpu: Duration,
    /// The wall-clock time from start to end.
    pub wall: Duration,
    /// The time in which it sleeps, has no child, and uses no processor time.
    pub idle: Duration,
    /// The number of arrivals at leaders.
    pub arrivals: u64,
    /// The address space in bytes; `None` for no limit.
    pub memory: Option<u64>,
    /// The bytes that its trace may take while it is recorded.
    pub trace: u64,
    /// The bytes of the longest file, standard output and error included; more cannot be written.
    pub file_size: u64,
    /// The bytes of standard output and error together.
    pub output: u64,
    /// The number of processes that the run starts.
    pub tasks: u32,
    /// The denied actions that do not end the run: they fail with EPERM.
    pub tolerated: Actions,
}

impl Limits {
    /// The same limits with so many times the time: one time-out on a busy machine proves nothing.
    pub fn with_time(self, times: u32) -> Limits {
        Limits { cpu: times * self.cpu, wall: times * self.wall, idle: times * self.idle, ..self }
    }
}

/// A replacement of a file: a run finds this content instead; nothing that it does to it is real.
#[derive(Clone, Debug)]
pub struct Replacement {
    /// The file, absolute, without symbolic links on the way. There is one, and it is a regular file.
    pub path: PathBuf,
    /// The content; `None` if there is to be no file.
    pub content: Option<Input>,
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Limits for tests: so much time, and enough of all else.
    pub(crate) fn limits(wall: Duration) -> Limits {
        const MINUTE: Duration = Duration::from_secs(60);
        Limits {
            cpu: MINUTE,
            wall,
            idle: MINUTE,
            arrivals: u64::MAX,
            memory: None,
            trace: u64::MAX,
            file_size: 1 << 20,
            output: 1 << 20,
            tasks: 1,
            tolerated: Actions::NONE,
        }
    }
}
