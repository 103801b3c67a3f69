//! Inspection and change of a stopped program: registers, memory, mappings, resource usage.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::mem::MaybeUninit;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::time::Duration;

use nix::unistd::Pid;

use super::mapped::Mapped;
use super::{ProcessError, Stop, Tracee, family, status};
use crate::address::RuntimeAddress;

/// The location at which a program has stopped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Location {
    /// The address of the next instruction.
    pub(crate) pc: u64,
    /// The stack pointer.
    pub(crate) sp: u64,
}

/// A file that a run had open at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenFile {
    /// The number of the descriptor.
    pub descriptor: i32,
    /// The path, as the run has it.
    pub path: PathBuf,
    /// The place to which the system calls of the run have come in it, in bytes from its beginning.
    pub position: u64,
}

impl Tracee {
    /// The location of the stop; `None` if the program has just died. Half as dear as all registers.
    pub(crate) fn location(&self) -> Option<Location> {
        let mut info = MaybeUninit::<libc::ptrace_syscall_info>::zeroed();
        let (size, address) = (size_of::<libc::ptrace_syscall_info>(), info.as_mut_ptr());
        // SAFETY: the request writes at most `size` bytes to the address.
        let got = unsafe { libc::ptrace(libc::PTRACE_GET_SYSCALL_INFO, self.pid().as_raw(), size, address) };
        if got <= 0 {
            return self.registers().map(|registers| Location { pc: registers.rip, sp: registers.rsp });
        }
        // SAFETY: all its fields are numbers, which were zeroed and then filled as far as they are known.
        let info = unsafe { info.assume_init() };
        Some(Location { pc: info.instruction_pointer, sp: info.stack_pointer })
    }

    /// The general registers; `None` if the program has just died.
    pub(crate) fn registers(&self) -> Option<libc::user_regs_struct> {
        nix::sys::ptrace::getregs(self.pid()).ok()
    }

    /// Sets the general registers.
    pub(crate) fn set_registers(&self, registers: &libc::user_regs_struct) {
        let _ = nix::sys::ptrace::setregs(self.pid(), *registers);
    }

    /// Sets the instruction pointer alone.
    pub(crate) fn set_pc(&self, pc: RuntimeAddress) {
        let offset = std::mem::offset_of!(libc::user_regs_struct, rip);
        // SAFETY: writes a register of a stopped process; nothing in this one.
        unsafe { libc::ptrace(libc::PTRACE_POKEUSER, self.pid().as_raw(), offset, pc.0) };
    }

    /// Sets each of the 16 SSE registers to these two words, repeated.
    pub(crate) fn set_vector_registers(&self, value: u64) {
        let mut registers = MaybeUninit::<libc::user_fpregs_struct>::zeroed();
        // SAFETY: the request fills the whole structure, which is valid for any bytes.
        let got =
            unsafe { libc::ptrace(libc::PTRACE_GETFPREGS, self.pid().as_raw(), 0, registers.as_mut_ptr()) };
        if got == 0 {
            // SAFETY: zeroed at first and filled by the request above.
            let mut registers = unsafe { registers.assume_init() };
            for (i, word) in registers.xmm_space.iter_mut().enumerate() {
                *word = if i % 2 == 0 { value as u32 } else { (value >> 32) as u32 };
            }
            // SAFETY: the request only reads the structure.
            unsafe { libc::ptrace(libc::PTRACE_SETFPREGS, self.pid().as_raw(), 0, &raw const registers) };
        }
    }

    /// Reads memory; `None` where none is mapped.
    pub(crate) fn read(&self, at: RuntimeAddress, length: usize) -> Option<Vec<u8>> {
        let mut bytes = vec![0; length];
        self.memory()?.read_exact_at(&mut bytes, at.0).ok().map(|()| bytes)
    }

    /// Writes memory, the program's text included; false if not all of it could be written.
    pub(crate) fn write(&self, at: RuntimeAddress, bytes: &[u8]) -> bool {
        self.memory().is_some_and(|memory| memory.write_all_at(bytes, at.0).is_ok())
    }

    /// The mapped files: the address and path of each, in the order of addresses.
    pub(crate) fn mapped_files(&self) -> Vec<(RuntimeAddress, PathBuf)> {
        let mut files: Vec<(RuntimeAddress, PathBuf)> = Vec::new();
        for Mapped { start, path, .. } in Mapped::of(self.pid()) {
            if files.iter().all(|(_, known)| *known != path) {
                files.push((start, path));
            }
        }
        files
    }

    /// The memory mappings, in the order of addresses.
    pub(crate) fn mapped(&self) -> Vec<Mapped> {
        Mapped::all(self.pid())
    }

    /// The stack pointer before its first instruction, proc_pid_stat(5): from there on its environment lies.
    pub(crate) fn stack_start(&self) -> Option<u64> {
        const STARTSTACK: usize = 28;
        // The name of the process, in parentheses, is the second field and may hold anything.
        let stat = std::fs::read(format!("/proc/{}/stat", self.pid())).ok()?;
        let stat = String::from_utf8_lossy(&stat);
        let (_, fields) = stat.rsplit_once(") ")?;
        fields.split(' ').nth(STARTSTACK - 3)?.parse().ok().filter(|&start| start != 0)
    }

    /// The file that a descriptor of the program leads to, as proc_pid_fd(5) calls it.
    pub(crate) fn descriptor(&self, number: u64) -> Option<PathBuf> {
        std::fs::read_link(format!("/proc/{}/fd/{number}", self.pid())).ok()
    }

    /// Whether the program's end is recorded: somebody has asked for a stop at its exit.
    pub(crate) fn is_recorded(&self) -> bool {
        self.tells_exit
    }

    /// The files whose code is mapped, in order; none if the end is not recorded.
    pub(crate) fn mapped_code(&self) -> Vec<PathBuf> {
        if !self.tells_exit {
            return Vec::new();
        }
        let files =
            Mapped::of(self.pid()).into_iter().filter(|mapped| mapped.is_code && mapped.path.exists());
        let files: BTreeSet<PathBuf> = files.map(|mapped| mapped.path).collect();
        files.into_iter().collect()
    }

    /// The processor time used so far, and the largest address space in bytes.
    pub(crate) fn usage(&self) -> (Duration, u64) {
        let cpu = nix::time::clock_getcpuclockid(self.pid()).and_then(nix::time::clock_gettime);
        let peak = status::field(self.pid(), "VmPeak:");
        let kilobytes = peak.and_then(|peak| peak.trim_end_matches(" kB").parse::<u64>().ok());
        (cpu.map_or(Duration::ZERO, Duration::from), kilobytes.unwrap_or(0) * 1024)
    }

    /// The same, but with the processor time of the program and of all its descendants.
    pub(crate) fn usage_of_family(&self) -> (Duration, u64) {
        let (own, memory) = self.usage();
        (own.max(family::used(self.pid())), memory)
    }

    /// The regular files that the program has open, and its standard input. Of those that it has closed nothing is
    /// known any more.
    pub(crate) fn open_files(&self) -> Vec<OpenFile> {
        let pid = self.pid();
        let Ok(entries) = fs::read_dir(format!("/proc/{pid}/fd")) else { return Vec::new() };
        let open = |entry: fs::DirEntry| {
            let descriptor: i32 = entry.file_name().to_str()?.parse().ok()?;
            let path = fs::read_link(entry.path()).ok()?;
            let details = fs::read_to_string(format!("/proc/{pid}/fdinfo/{descriptor}")).ok()?;
            let position = details.lines().find_map(|line| line.strip_prefix("pos:"))?.trim().parse().ok()?;
            Some(OpenFile { descriptor, path, position })
        };
        let mut files: Vec<OpenFile> = entries.flatten().filter_map(open).collect();
        files.sort_by_key(|file| file.descriptor);
        files
    }

    /// Writes into the memory of a process that the program has forked, before that runs.
    pub(crate) fn write_to_fork(&self, fork: Pid, at: RuntimeAddress, bytes: &[u8]) {
        let memory = File::options().write(true).open(format!("/proc/{fork}/mem"));
        let _ = memory.and_then(|memory| memory.write_all_at(bytes, at.0));
    }

    /// Injects a system call into the stopped program; a negative result is the number of an error. Its code
    /// at the program counter and its registers are as before afterwards.
    pub(crate) fn system_call(&mut self, number: i64, arguments: [u64; 6]) -> Result<i64, ProcessError> {
        const SYSCALL: [u8; 2] = [0x0f, 0x05];
        let failed = || ProcessError::System {
            what: "preparing the program's memory",
            source: io::Error::other("it has ended"),
        };
        let registers = self.registers().ok_or_else(failed)?;
        let pc = RuntimeAddress(registers.rip);
        let original = self.read(pc, SYSCALL.len()).ok_or_else(failed)?;
        let [rdi, rsi, rdx, r10, r8, r9] = arguments;
        if !self.write(pc, &SYSCALL) {
            return Err(failed());
        }
        let rax = number as u64;
        self.set_registers(&libc::user_regs_struct { rax, rdi, rsi, rdx, r10, r8, r9, ..registers });
        // The stops at entry and at exit of the call. Unlike a step this is no signal.
        let mut is_made = true;
        for _ in 0..2 {
            self.restart(libc::PTRACE_SYSCALL, 0);
            is_made &= self.wait()? == Stop::Call;
        }
        let result = self.registers().map(|registers| registers.rax as i64);
        self.write(pc, &original);
        self.set_registers(&registers);
        result.filter(|_| is_made).ok_or_else(failed)
    }
}
