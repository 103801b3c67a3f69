//! Describe how the program is started, the same way for every run.

use std::ffi::OsString;
use std::fmt;
use std::ops::Deref;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agent::poison::Poison;

use crate::denial::Actions;

/// The folder, in a working directory, of what is kept of runs. It is none of theirs: where they get a copy of
/// the directory, it is not in there.
pub const SHELF: &str = ".stripe";

/// Where the program's standard output goes. It decides how the C library buffers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stdout {
    /// A file: fully buffered, lost in a crash if not flushed.
    #[default]
    File,
    /// A pseudo-terminal: line-buffered.
    Terminal,
}

/// What a program reads, wherever it lies: in memory, or in a file that is mapped. A copy costs nothing.
#[derive(Clone)]
pub struct Input(Arc<dyn AsRef<[u8]> + Send + Sync>);

impl Input {
    /// These bytes.
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
    /// All arguments, the program's name for itself first.
    pub arguments: Vec<OsString>,
    /// The whole environment. `LD_BIND_NOW` and a tunable of glibc are added, see
    /// [`Invocation::environment_under`].
    pub environment: Vec<(OsString, OsString)>,
    /// The working directory, absolute.
    pub directory: PathBuf,
    /// What the program reads from its standard input.
    pub stdin: Input,
    /// The kind of its standard output.
    pub stdout: Stdout,
    /// What it may do to the world.
    pub permissions: Permissions,
    /// What it is told that would differ from run to run.
    pub constancy: Constancy,
}

/// Which answers to a program's questions are the same in each run. What it asks about processes always
/// is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Constancy {
    /// Clocks, and how much time was used.
    pub time: Answers,
    /// Random numbers.
    pub chance: Answers,
}

/// What a program is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Answers {
    /// The same in each run.
    #[default]
    Constant,
    /// What is the case.
    Real,
}

/// What a program may do to the world outside of its sandbox.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permissions {
    /// Whether there is a sandbox at all.
    pub sandbox_mode: SandboxMode,
    /// Whether it may use the network.
    pub network: Network,
    /// Directories in which its changes are real, absolute.
    pub writable: Vec<PathBuf>,
}

/// Whether programs are contained.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SandboxMode {
    /// As well as the machine allows, or not run at all.
    #[default]
    Sandbox,
    /// Not: all that they do is real.
    None,
}

/// Whether programs may use the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Network {
    /// They may not.
    #[default]
    Denied,
    /// They may, and sockets of other programs as well.
    Allowed,
}

impl Invocation {
    /// The bare program: no arguments, no environment, no input, its output in a file. It is contained, and
    /// its questions have constant answers.
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

    /// Lets no sanitizer look for leaks: these need ptrace(2), which a program cannot use that is traced itself.
    /// What the environment says besides stays.
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

/// What a run may use up before it is ended.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Processor time of the program, its children not counted.
    pub cpu: Duration,
    /// Time from start to end.
    pub wall: Duration,
    /// Time in which it sleeps, has no child, and uses no processor time.
    pub idle: Duration,
    /// Arrivals at leaders.
    pub arrivals: u64,
    /// Address space in bytes; `None` for no limit.
    pub memory: Option<u64>,
    /// Bytes that its trace may take while it is recorded.
    pub trace: u64,
    /// Bytes of the longest file, standard output and error included; more cannot be written.
    pub file_size: u64,
    /// Bytes of standard output and error together.
    pub output: u64,
    /// Processes that the run starts.
    pub tasks: u32,
    /// Denied actions that do not end the run: they fail with EPERM.
    pub tolerated: Actions,
}

impl Limits {
    /// The same with so many times the time: one time-out on a busy machine proves nothing.
    pub fn with_time(self, times: u32) -> Limits {
        Limits { cpu: times * self.cpu, wall: times * self.wall, idle: times * self.idle, ..self }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// So much time, and enough of all else.
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
