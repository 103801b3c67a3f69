//! The seccomp filter that holds up system calls, so that the tracer decides about them.
//!
//! The filter (seccomp(2)) looks at the number of a call and at its arguments, as far as they are in
//! registers. Nothing that an ordinary program does often is among its calls, so that they cost nothing.
//! If no tracer listens, the calls fail with ENOSYS.

use std::collections::BTreeMap;

use libc::c_long;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};

use super::extent::{Attributes, Ipc, RunExtent};
use crate::denial::Action;
use crate::invocation::Network;

/// The question about a system call that the tracer has to decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallSubject {
    /// Whether the program may do this at all.
    Always(Action),
    /// Whether a process may be started with the flags in this argument, clone(2).
    Start(usize),
    /// Whether the address in this argument, as long as that argument says, is that of the run's own socket.
    Address(usize, usize),
    /// Whether an address is that of the run's own socket, where the argument points to a `struct msghdr`.
    Message(usize),
    /// Whether the process in this argument is one of the run's own, to do this to it.
    Process(Action, usize),
    /// Whether a process is one of the run's own, where the first argument says whether the second is a process, a
    /// group or a user, of which the first of these kinds has this number.
    Kind(u64),
    /// Whether the process that gets signals about a file, fcntl(2), is one of the run's own.
    Owner,
    /// Whether the process of a descriptor (pidfd) is one of the run's own.
    Descriptor,
    /// Whether the process that gets signals is one of the run's own, or the attributes of a file may be changed,
    /// ioctl(2).
    Control,
    /// An IPC object is about to be used.
    Ipc,
    /// Whether so many bytes of memory may be added, by the argument.
    Memory(usize),
    /// Whether the file's attributes may be changed, by the arguments for the folder and the path.
    Path(Option<usize>, usize),
    /// Whether the attributes of the file whose descriptor is the first argument may be changed.
    File,
    /// Whether opening a file affects others, by the arguments for the folder and the path.
    Open(Option<usize>, usize),
    /// Whether the file in the first argument may be locked.
    Lock,
}

/// The size from which on the tracer is asked for a piece of memory, in bytes.
const LARGE: u64 = 1 << 30;
/// The flag of seccomp(2) by which somebody answers calls of the program, which would count more than the tracer's
/// answers.
const NEW_LISTENER: u64 = 1 << 3;
/// The value by which ioprio_set(2) is told that its argument is a process.
const IOPRIO_WHO_PROCESS: u64 = 1;
/// The commands FIOSETOWN and SIOCSPGRP of ioctl(2), which set who gets signals about a socket, ioctl_socket(2).
pub(super) const OWNERS: [u64; 2] = [0x8901, 0x8902];
/// The bits of a command of ioctl(2) that say whether it hands something over, and which driver or file system it is
/// for.
const KIND_OF_CONTROL: u64 = 0xC000_FF00;
const GETS: u64 = 0x8000_0000;
/// The types of the commands by which file systems change attributes of files, whatever their descriptor is open for.
/// All types but one tell the commands that only read apart from the others.
const CONTROLS: [u64; 6] = [b'X' as u64, b'v' as u64, 0x94, b'r' as u64, 0xf5, 0xcf];
const MIXED_CONTROLS: u64 = b'f' as u64;
/// The commands of the mixed type that only read: FS_IOC_GETFLAGS, FS_IOC32_GETFLAGS, FS_IOC_FIEMAP.
const READING_CONTROLS: [u64; 3] = [0x8008_6601, 0x8004_6601, 0xC020_660B];
/// A command of fcntl(2).
pub(super) const F_SETOWN_EX: libc::c_int = 15;
/// The commands of fcntl(2) that set who gets signals about a file.
const SETTING_OWNERS: [libc::c_int; 2] = [libc::F_SETOWN, F_SETOWN_EX];
/// The commands of fcntl(2) that lock a file, which is possible whatever its descriptor is open for.
const LOCKING: [libc::c_int; 5] =
    [libc::F_SETLK, libc::F_SETLKW, libc::F_OFD_SETLK, libc::F_OFD_SETLKW, libc::F_SETLEASE];
const SYS_FCHMODAT2: c_long = 452;
const SYS_SETXATTRAT: c_long = 463;
const SYS_REMOVEXATTRAT: c_long = 466;
const SYS_OPEN_TREE_ATTR: c_long = 467;
const SYS_FILE_SETATTR: c_long = 469;

/// The calls that are never allowed, by the action that they are part of.
const DENIED: [(Action, &[c_long]); 8] = [
    (
        Action::Trace,
        &[
            libc::SYS_ptrace,
            libc::SYS_process_vm_readv,
            libc::SYS_process_vm_writev,
            libc::SYS_process_madvise,
            libc::SYS_pidfd_getfd,
            libc::SYS_kcmp,
            libc::SYS_perf_event_open,
        ],
    ),
    (
        Action::Mount,
        &[
            libc::SYS_mount,
            libc::SYS_umount2,
            libc::SYS_pivot_root,
            libc::SYS_chroot,
            libc::SYS_move_mount,
            libc::SYS_open_tree,
            SYS_OPEN_TREE_ATTR,
            libc::SYS_fsopen,
            libc::SYS_fsconfig,
            libc::SYS_fsmount,
            libc::SYS_fspick,
            libc::SYS_mount_setattr,
            libc::SYS_swapon,
            libc::SYS_swapoff,
            libc::SYS_quotactl,
            libc::SYS_quotactl_fd,
            libc::SYS_open_by_handle_at,
            libc::SYS_fanotify_init,
        ],
    ),
    (Action::Namespace, &[libc::SYS_unshare, libc::SYS_setns]),
    (Action::IoUring, &[libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register]),
    (Action::Bpf, &[libc::SYS_bpf]),
    (Action::Keys, &[libc::SYS_add_key, libc::SYS_request_key, libc::SYS_keyctl]),
    (
        Action::Machine,
        &[
            libc::SYS_init_module,
            libc::SYS_finit_module,
            libc::SYS_delete_module,
            libc::SYS_kexec_load,
            libc::SYS_kexec_file_load,
            libc::SYS_reboot,
            libc::SYS_settimeofday,
            libc::SYS_clock_settime,
            libc::SYS_sethostname,
            libc::SYS_setdomainname,
            libc::SYS_iopl,
            libc::SYS_ioperm,
            libc::SYS_acct,
            libc::SYS_syslog,
            libc::SYS_vhangup,
        ],
    ),
    // Several messages in one call: which addresses they go to would be a long story.
    (Action::Network, &[libc::SYS_sendmmsg]),
];

/// The flags of clone(2) that hide a new process from the tracer, or make namespaces.
const HIDING: [libc::c_int; 8] = [
    libc::CLONE_UNTRACED,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// Whether a process that is started with these flags is out of the tracer's reach.
pub(super) fn hides(flags: u64) -> bool {
    HIDING.into_iter().any(|flag| flags & u64::from(flag as u32) != 0)
}

/// Whether an ioctl(2) that file systems know only reads, and changes nothing.
pub(super) fn reads_only(command: u64) -> bool {
    READING_CONTROLS.contains(&(command & u64::from(u32::MAX)))
}

/// Whether a call that changes attributes follows a symbolic link at the end of its path.
pub(super) fn follows_links(number: c_long, argument: impl Fn(usize) -> u64) -> bool {
    let follows = |flags: usize| argument(flags) & libc::AT_SYMLINK_NOFOLLOW as u64 == 0;
    match number {
        libc::SYS_lchown | libc::SYS_lsetxattr | libc::SYS_lremovexattr => false,
        SYS_SETXATTRAT | SYS_REMOVEXATTRAT => follows(2),
        SYS_FCHMODAT2 | libc::SYS_utimensat => follows(3),
        libc::SYS_fchownat | SYS_FILE_SETATTR => follows(4),
        _ => true,
    }
}

/// The subject of a system call; `None` for one that no filter holds up.
///
/// Of fcntl(2) the second argument tells, `command`.
pub(super) fn subject(number: c_long, command: u64) -> Option<CallSubject> {
    if let Some((action, _)) = DENIED.iter().find(|(_, calls)| calls.contains(&number)) {
        return Some(CallSubject::Always(*action));
    }
    Some(match number {
        libc::SYS_fcntl if SETTING_OWNERS.contains(&(command as libc::c_int)) => CallSubject::Owner,
        libc::SYS_fcntl => CallSubject::Lock,
        libc::SYS_socket => CallSubject::Always(Action::Network),
        libc::SYS_seccomp => CallSubject::Always(Action::Trace),
        libc::SYS_clone => CallSubject::Start(0),
        libc::SYS_mknod | libc::SYS_mknodat => CallSubject::Always(Action::Device),
        libc::SYS_connect => CallSubject::Address(1, 2),
        libc::SYS_sendto => CallSubject::Address(4, 5),
        libc::SYS_sendmsg => CallSubject::Message(1),
        libc::SYS_kill | libc::SYS_tkill | libc::SYS_rt_sigqueueinfo | libc::SYS_pidfd_open => {
            CallSubject::Process(Action::Signal, 0)
        }
        libc::SYS_tgkill | libc::SYS_rt_tgsigqueueinfo => CallSubject::Process(Action::Signal, 1),
        libc::SYS_pidfd_send_signal => CallSubject::Descriptor,
        libc::SYS_open | libc::SYS_creat => CallSubject::Open(None, 0),
        libc::SYS_openat | libc::SYS_openat2 => CallSubject::Open(Some(0), 1),
        libc::SYS_flock => CallSubject::Lock,
        libc::SYS_ioctl => CallSubject::Control,
        libc::SYS_setpriority => CallSubject::Kind(libc::PRIO_PROCESS as u64),
        libc::SYS_ioprio_set => CallSubject::Kind(IOPRIO_WHO_PROCESS),
        _ if OF_OTHERS.contains(&number) => CallSubject::Process(Action::Processes, 0),
        libc::SYS_shmget | libc::SYS_semget | libc::SYS_msgget | libc::SYS_mq_open => CallSubject::Ipc,
        _ if OF_IPC.contains(&number) => CallSubject::Ipc,
        libc::SYS_mmap => CallSubject::Memory(1),
        libc::SYS_mremap => CallSubject::Memory(2),
        libc::SYS_fchmod | libc::SYS_fchown | libc::SYS_fsetxattr | libc::SYS_fremovexattr => {
            CallSubject::File
        }
        libc::SYS_chmod
        | libc::SYS_chown
        | libc::SYS_lchown
        | libc::SYS_utime
        | libc::SYS_utimes
        | libc::SYS_setxattr
        | libc::SYS_lsetxattr
        | libc::SYS_removexattr
        | libc::SYS_lremovexattr => CallSubject::Path(None, 0),
        libc::SYS_fchmodat
        | SYS_FCHMODAT2
        | libc::SYS_fchownat
        | libc::SYS_utimensat
        | libc::SYS_futimesat
        | SYS_SETXATTRAT
        | SYS_REMOVEXATTRAT
        | SYS_FILE_SETATTR => CallSubject::Path(Some(0), 1),
        _ => return None,
    })
}

/// The calls that change a process, if their first argument names one.
const OF_OTHERS: [c_long; 7] = [
    libc::SYS_prlimit64,
    libc::SYS_sched_setscheduler,
    libc::SYS_sched_setparam,
    libc::SYS_sched_setattr,
    libc::SYS_sched_setaffinity,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
];
/// The calls that are held up whatever their arguments are.
const ASKED: [c_long; 17] = [
    libc::SYS_open,
    libc::SYS_openat,
    libc::SYS_openat2,
    libc::SYS_creat,
    libc::SYS_kill,
    libc::SYS_tkill,
    libc::SYS_tgkill,
    libc::SYS_rt_sigqueueinfo,
    libc::SYS_rt_tgsigqueueinfo,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_send_signal,
    libc::SYS_shmget,
    libc::SYS_semget,
    libc::SYS_msgget,
    libc::SYS_mq_open,
    libc::SYS_connect,
    libc::SYS_sendmsg,
];
/// The calls that reach IPC objects that others have made: by a number, which is small and easily hit, or by a name.
const OF_IPC: [c_long; 9] = [
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_unlink,
];
/// The calls that change the attributes of files.
const ATTRIBUTES: [c_long; 21] = [
    libc::SYS_chmod,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    SYS_FCHMODAT2,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_utimensat,
    libc::SYS_futimesat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    SYS_SETXATTRAT,
    SYS_REMOVEXATTRAT,
    SYS_FILE_SETATTR,
];
/// The calls that are held up only where the network is denied.
const NETWORK: [c_long; 5] =
    [libc::SYS_socket, libc::SYS_connect, libc::SYS_sendto, libc::SYS_sendmsg, libc::SYS_sendmmsg];

/// Compiles the filter into its BPF programs, to be attached one after the other.
pub(super) fn programs(extent: &RunExtent) -> Result<Vec<BpfProgram>, seccompiler::BackendError> {
    let mut rules = rules(extent)?;
    if extent.network == Network::Allowed {
        NETWORK.iter().for_each(|call| drop(rules.remove(call)));
    }
    let asks = SeccompAction::Trace(0);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, asks, TargetArch::x86_64)?;
    // Its flags are in memory. The C library falls back to clone(2).
    let no_clone3 = BTreeMap::from([(libc::SYS_clone3, Vec::new())]);
    let missing = SeccompAction::Errno(libc::ENOSYS as u32);
    let second = SeccompFilter::new(no_clone3, SeccompAction::Allow, missing, TargetArch::x86_64)?;
    Ok(vec![filter.try_into()?, second.try_into()?, no_second_table()])
}

type Rules = BTreeMap<c_long, Vec<SeccompRule>>;

fn rules(extent: &RunExtent) -> Result<Rules, seccompiler::BackendError> {
    let denied = DENIED.iter().flat_map(|(_, calls)| calls.iter());
    let mut rules: Rules = denied.chain(&ASKED).map(|&call| (call, Vec::new())).collect();
    if extent.attributes == Attributes::OfAllFiles {
        rules.extend(ATTRIBUTES.map(|call| (call, Vec::new())));
    }
    if extent.ipc == Ipc::Shared {
        rules.extend(OF_IPC.map(|call| (call, Vec::new())));
    }
    let unix = libc::AF_UNIX as u64;
    rules.insert(libc::SYS_socket, vec![rule(0, SeccompCmpOp::Ne, unix)?]);
    rules.insert(libc::SYS_sendto, vec![rule(4, SeccompCmpOp::Ne, 0)?]);
    let listens = number(1, SeccompCmpOp::MaskedEq(NEW_LISTENER), NEW_LISTENER)?;
    rules.insert(libc::SYS_seccomp, vec![listens]);
    let hiding =
        HIDING.map(|flag| flag as u32 as u64).map(|flag| rule(0, SeccompCmpOp::MaskedEq(flag), flag));
    rules.insert(libc::SYS_clone, hiding.into_iter().collect::<Result<_, _>>()?);
    for (call, mode) in [(libc::SYS_mknod, 1), (libc::SYS_mknodat, 2)] {
        let kinds = [libc::S_IFCHR, libc::S_IFBLK].map(u64::from);
        let kinds = kinds.map(|kind| rule(mode, SeccompCmpOp::MaskedEq(u64::from(libc::S_IFMT)), kind));
        rules.insert(call, kinds.into_iter().collect::<Result<_, _>>()?);
    }
    for call in OF_OTHERS {
        rules.insert(call, vec![rule(0, SeccompCmpOp::Ne, 0)?]);
    }
    for (call, user) in
        [(libc::SYS_setpriority, libc::PRIO_USER as u64), (libc::SYS_ioprio_set, IOPRIO_WHO_PROCESS + 2)]
    {
        rules.insert(call, vec![rule(1, SeccompCmpOp::Ne, 0)?, rule(0, SeccompCmpOp::Eq, user)?]);
    }
    let commands = SETTING_OWNERS.iter().chain(&LOCKING);
    let commands = commands.map(|&command| number(1, SeccompCmpOp::Eq, command as u64));
    rules.insert(libc::SYS_fcntl, commands.collect::<Result<_, _>>()?);
    let locks = [libc::LOCK_SH, libc::LOCK_EX].map(|lock| lock as u64);
    let locks = locks.map(|lock| number(1, SeccompCmpOp::MaskedEq(lock), lock));
    rules.insert(libc::SYS_flock, locks.into_iter().collect::<Result<_, _>>()?);
    let mut controls: Vec<SeccompRule> =
        OWNERS.map(|command| number(1, SeccompCmpOp::Eq, command)).into_iter().collect::<Result<_, _>>()?;
    if extent.attributes == Attributes::OfAllFiles {
        controls.extend(changing_controls()?);
    }
    rules.insert(libc::SYS_ioctl, controls);
    rules.insert(libc::SYS_mmap, vec![rule(1, SeccompCmpOp::Ge, LARGE)?]);
    rules.insert(libc::SYS_mremap, vec![rule(2, SeccompCmpOp::Ge, LARGE)?]);
    Ok(rules)
}

/// The rules for the commands of ioctl(2) that may change attributes of files.
fn changing_controls() -> Result<Vec<SeccompRule>, seccompiler::BackendError> {
    let directions = (0..4).map(|direction| direction << 30).filter(|&direction| direction != GETS);
    let kinds = directions.flat_map(|direction| CONTROLS.map(|kind| direction | kind << 8));
    let mut rules: Vec<SeccompRule> = kinds
        .map(|kind| number(1, SeccompCmpOp::MaskedEq(KIND_OF_CONTROL), kind))
        .collect::<Result<_, _>>()?;
    rules.push(number(1, SeccompCmpOp::MaskedEq(0xFF00), MIXED_CONTROLS << 8)?);
    Ok(rules)
}

fn rule(argument: u8, op: SeccompCmpOp, value: u64) -> Result<SeccompRule, seccompiler::BackendError> {
    compared(argument, SeccompCmpArgLen::Qword, op, value)
}

/// The condition on an argument of which the kernel looks at the lower half.
fn number(argument: u8, op: SeccompCmpOp, value: u64) -> Result<SeccompRule, seccompiler::BackendError> {
    compared(argument, SeccompCmpArgLen::Dword, op, value)
}

fn compared(
    argument: u8,
    length: SeccompCmpArgLen,
    op: SeccompCmpOp,
    value: u64,
) -> Result<SeccompRule, seccompiler::BackendError> {
    SeccompRule::new(vec![SeccompCondition::new(argument, length, op, value)?])
}

/// The filter for calls of the x32 convention, which have numbers of their own: they fail as if the kernel did not know
/// them.
fn no_second_table() -> BpfProgram {
    const X32: u32 = 0x4000_0000;
    let step = |code: u32, jt, jf, k| sock_filter { code: code as u16, jt, jf, k };
    vec![
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K, 0, 1, X32),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS as u32),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, libc::SECCOMP_RET_ALLOW),
    ]
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::extent::SocketNames;
    use super::*;

    #[test]
    fn the_tracer_knows_what_each_call_of_the_filter_is_about() {
        for call in rules(&extent(Network::Denied)).expect("rules").into_keys() {
            assert!(subject(call, 0).is_some(), "call {call}");
        }
    }

    /// The permissions under which most is held up.
    fn extent(network: Network) -> RunExtent {
        RunExtent {
            network,
            attributes: Attributes::OfAllFiles,
            ipc: Ipc::Shared,
            names: SocketNames::Shared,
            places: vec![PathBuf::from("/tmp")],
        }
    }

    #[test]
    fn who_may_use_the_network_is_not_asked_about_it() {
        let length = |network| programs(&extent(network)).expect("programs")[0].len();
        assert!(length(Network::Allowed) < length(Network::Denied));
    }
}
