//! The actions that a sandbox denies to programs.

use std::fmt;

/// A kind of action that reaches out of the sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Using the network, or a socket of another program.
    Network,
    /// Signalling a process that is not the run's own.
    Signal,
    /// Tracing or reading another process.
    Trace,
    /// Changing what is mounted where.
    Mount,
    /// Making or entering namespaces, or hiding from the tracer.
    Namespace,
    /// Handing system calls to the kernel by io_uring.
    IoUring,
    /// Loading a BPF program into the kernel.
    Bpf,
    /// Using the kernel's keys.
    Keys,
    /// Making a device file, or opening one that may do something lasting.
    Device,
    /// Controlling the machine: its clock, name, modules, power, kernel log.
    Machine,
    /// Using System V or POSIX IPC objects, where they cannot be kept apart.
    Ipc,
    /// Changing the mode, owner or times of a file elsewhere, where that cannot be kept apart.
    Attributes,
    /// Changing the priority, the limits or the processors of a process that is not the run's own.
    Processes,
    /// Opening a named pipe of other programs.
    Pipe,
    /// Locking a file of others.
    Lock,
}

impl Action {
    /// All kinds of actions.
    pub const ALL: [Action; 15] = [
        Action::Network,
        Action::Signal,
        Action::Trace,
        Action::Mount,
        Action::Namespace,
        Action::IoUring,
        Action::Bpf,
        Action::Keys,
        Action::Device,
        Action::Machine,
        Action::Ipc,
        Action::Attributes,
        Action::Processes,
        Action::Pipe,
        Action::Lock,
    ];

    fn bit(self) -> u16 {
        1 << self as u16
    }
}

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Action::Network => "use the network",
            Action::Signal => "signal other processes",
            Action::Trace => "trace another process",
            Action::Mount => "mount",
            Action::Namespace => "leave its namespaces",
            Action::IoUring => "use io_uring",
            Action::Bpf => "load a BPF program",
            Action::Keys => "use the kernel's keys",
            Action::Device => "use a device file",
            Action::Machine => "control the machine",
            Action::Ipc => "use IPC objects",
            Action::Attributes => "change attributes of files elsewhere",
            Action::Processes => "change other processes",
            Action::Pipe => "open a named pipe of other programs",
            Action::Lock => "lock files elsewhere",
        })
    }
}

/// A set of kinds of actions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Actions(u16);

impl Actions {
    /// The empty set.
    pub const NONE: Actions = Actions(0);
    /// The set of all actions.
    pub const ALL: Actions = Actions(u16::MAX);

    /// The set of these bits, as [`Actions::bits`] tells them.
    pub fn from_bits(bits: u16) -> Actions {
        Actions(bits)
    }

    /// One bit for each member, in the order of [`Action::ALL`], the first in the lowest bit.
    pub fn bits(self) -> u16 {
        self.0
    }

    /// Whether the action is a member.
    pub fn contains(self, action: Action) -> bool {
        self.0 & action.bit() != 0
    }

    /// Adds an action.
    pub fn insert(&mut self, action: Action) {
        self.0 |= action.bit();
    }

    /// The members.
    pub fn iter(self) -> impl Iterator<Item = Action> {
        Action::ALL.into_iter().filter(move |&action| self.contains(action))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_holds_what_was_inserted_and_nothing_else() {
        let mut actions = Actions::NONE;
        actions.insert(Action::Signal);
        actions.insert(Action::Attributes);
        assert_eq!(actions.iter().collect::<Vec<_>>(), [Action::Signal, Action::Attributes]);
        assert_eq!(Actions::from_bits(actions.bits()), actions);
        assert!(Action::ALL.into_iter().all(|action| Actions::ALL.contains(action)));
    }
}
