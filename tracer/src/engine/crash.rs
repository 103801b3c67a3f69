//! The account of a crash: by which instruction, about which address, within which calls.
//!
//! An account is the same whoever has led the program to it, and whatever the tracer has put into it: code
//! that was moved is at its own place here, and the memory of the agent is none of the program's.

use std::cell::OnceCell;

use super::crash_state::{CrashState, ProgramMemory};
use super::{Execution, Guide, Method, Placement, operand};
use crate::address::FileAddress;
use crate::process::{Cause, Mapped, Registers, SIGXFSZ, SignalSubject, Tracee};
use crate::program::variables::{Memory, RegisterValues, Variables};
use crate::program::{ImageId, Program, accesses};
use crate::run::Operand;
use crate::termination::{
    BadAddress, CodePlace, Crash, Cut, ImagePlace, LibraryPlace, MappedPlace, Termination,
};

use super::inside;

/// The largest number of functions that are not traced through which a traced one is looked for.
const MOST_FRAMES: usize = 64;
/// The size of the first page.
const PAGE: u64 = 4096;

impl Execution<'_> {
    /// The account of a crash by `signal`. The signal itself is not delivered: where core dumps are piped, the kernel
    /// would start their handler for each test, whatever the limit of core files is.
    pub(super) fn crash(&mut self, signal: i32, method: Method<'_>, guide: &dyn Guide) -> Termination {
        if signal == SIGXFSZ {
            return Termination::Cut(Cut::FileSize);
        }
        let detours = match method {
            Method::Inside(detours) => Some(detours),
            Method::Breakpoint | Method::SingleStep | Method::Interpreted => None,
        };
        let scene = CrashState {
            program: self.program,
            placement: self.placement,
            tracee: self.tracee,
            detours,
            mapped: OnceCell::new(),
        };
        let cause = self.tracee.cause(signal);
        let mut crash = Crash {
            signal,
            instruction: CodePlace::Any,
            back: None,
            address: BadAddress::None,
            calls: guide.position(),
        };
        if let Some((cause, registers)) = cause.zip(registers(self.tracee)) {
            let at = scene.original(&registers, cause);
            crash.address = scene.address(cause, &at);
            if cause.instruction.is_some() {
                crash.instruction = scene.instruction(at.pc);
                crash.back = scene.back(&at);
            }
            if self.tracee.is_recorded() {
                (self.operand, self.unwritten) = (scene.operand(cause, &at), scene.unwritten());
            }
        }
        Termination::Crashed(crash)
    }
}

/// The account of a crash by `signal` of a program of which nothing is traced. Where its stack, its heap and the like
/// lie depends on what it is given: of an address outside of the executable only the kind is told.
pub(crate) fn crash_of_untraced(
    program: &Program,
    placement: &Placement,
    tracee: &Tracee,
    signal: i32,
) -> Crash {
    let scene = CrashState { program, placement, tracee, detours: None, mapped: OnceCell::new() };
    let mut crash = Crash {
        signal,
        instruction: CodePlace::Any,
        back: None,
        address: BadAddress::None,
        calls: Vec::new(),
    };
    let Some(registers) = registers(tracee) else { return crash };
    match tracee.cause(signal) {
        Some(cause) => {
            let at = scene.original(&registers, cause);
            crash.address = match scene.address(cause, &at) {
                _ if scene.has_overflown(cause, &at) => BadAddress::BeyondStack,
                BadAddress::Mapped(MappedPlace::Stack(_) | MappedPlace::Other(_)) => {
                    BadAddress::Mapped(MappedPlace::Anywhere)
                }
                address => address,
            };
            // The stack may end in any of the calls that fill it.
            if cause.instruction.is_some() && crash.address != BadAddress::BeyondStack {
                crash.instruction = scene.instruction(at.pc);
                crash.back = scene.back(&at);
            }
        }
        // Sent by the program itself, as abort(3) does.
        None => crash.back = scene.back(&registers),
    }
    crash
}

impl CrashState<'_> {
    /// Whether the stack has overflown: the address that could not be used is where it would grow.
    fn has_overflown(&self, cause: Cause, at: &RegisterValues) -> bool {
        /// The largest frame, and the distance that the kernel keeps free below the stack.
        const REACH: u64 = 1 << 20;
        let SignalSubject::Address(address) = cause.subject else { return false };
        let is_stack = |region: &Mapped| region.path.as_os_str() == "[stack]";
        address.abs_diff(at.sp()) < REACH
            && !self.region(address).is_some_and(is_stack)
            && self.region(at.sp()).is_none_or(is_stack)
    }

    /// The registers as they would be without the tracer, at the instruction that has caused the signal.
    fn original(&self, registers: &RegisterValues, cause: Cause) -> RegisterValues {
        let pc = cause.instruction.unwrap_or(registers.pc);
        RegisterValues { pc: self.detours.map_or(pc, |detours| detours.original(pc)), ..*registers }
    }

    /// The program's own memory mappings.
    fn mapped(&self) -> &[Mapped] {
        self.mapped.get_or_init(|| {
            let is_own = |mapped: &Mapped| {
                let of_agent = |detours| inside::is_of_agent(detours, mapped.start.0);
                mapped.is_accessible && !self.detours.is_some_and(of_agent)
            };
            self.tracee.mapped().into_iter().filter(is_own).collect()
        })
    }

    fn region(&self, address: u64) -> Option<&Mapped> {
        self.mapped().iter().find(|mapped| mapped.contains(address))
    }

    fn address(&self, cause: Cause, at: &RegisterValues) -> BadAddress {
        match cause.subject {
            SignalSubject::Nothing => BadAddress::None,
            SignalSubject::Address(address @ 0..PAGE) => BadAddress::FirstPage(address),
            SignalSubject::Address(address) => match self.region(address) {
                Some(region) => BadAddress::Mapped(self.mapped_place(region, address)),
                None => BadAddress::Unmapped,
            },
            SignalSubject::Untold if self.meets_no_address(at) => BadAddress::NotCanonical,
            SignalSubject::Untold => BadAddress::Forbidden,
        }
    }

    /// The operand that the instruction could not use, as the source calls it.
    fn operand(&self, cause: Cause, at: &RegisterValues) -> Option<Operand> {
        let SignalSubject::Address(address) = cause.subject else { return None };
        self.placement.text(at.pc)?;
        let variables = Variables::load(self.program).ok()?;
        operand::told(self, &variables, at, address)
    }

    /// The number of bytes of the standard output that the GNU C library has not written yet.
    fn unwritten(&self) -> u64 {
        let executable = self.program.executable();
        let bias = self.placement.bias(ImageId(0));
        let own = self.program.objects().at(&executable.path).and_then(|object| object.stdout);
        let own = own.map(|stdout| stdout.0.wrapping_add(bias));
        own.or_else(|| self.stdout_of_library()).and_then(|stdout| self.unwritten_in(stdout)).unwrap_or(0)
    }

    fn stdout_of_library(&self) -> Option<u64> {
        let is_library = |region: &&Mapped| {
            let name = region.path.file_name().unwrap_or_default();
            name.as_encoded_bytes().starts_with(b"libc.so")
        };
        let first = self.mapped().iter().find(is_library)?;
        let object = self.program.objects().at(&first.path)?;
        let start = first.start.0.wrapping_sub(first.offset);
        Some(object.stdout?.0.wrapping_sub(object.base.0).wrapping_add(start))
    }

    /// The number of bytes in the buffer of this stream. Source: glibc, `libio/bits/types/struct_FILE.h`, whose first
    /// members never change.
    fn unwritten_in(&self, stdout: u64) -> Option<u64> {
        const WRITE_BASE: u64 = 0x20;
        const MOST: u64 = 1 << 30;
        let word = |at: u64| {
            let bytes = ProgramMemory(self.tracee).read(stdout.wrapping_add(at), 8)?;
            Some(u64::from_le_bytes(bytes.try_into().ok()?))
        };
        let length = word(WRITE_BASE + 8)?.checked_sub(word(WRITE_BASE)?)?;
        (length < MOST).then_some(length)
    }

    /// Whether the instruction uses a non-canonical address, or goes to one.
    fn meets_no_address(&self, at: &RegisterValues) -> bool {
        const LONGEST: usize = 15;
        let code = self.code(at.pc, LONGEST);
        let Some(effect) = accesses::effect(&code, at) else { return false };
        let is_canonical = |address: u64| ((address as i64) << 16 >> 16) as u64 == address;
        effect.way != accesses::Way::On
            || effect.accesses.iter().any(|(piece, _)| !is_canonical(piece.address))
    }

    /// The code from an address on, up to so many bytes, without what leads to the tracer.
    fn code(&self, address: u64, most: usize) -> Vec<u8> {
        if let Some(text) = self.placement.text(address) {
            return text[..text.len().min(most)].to_vec();
        }
        let read = |length| ProgramMemory(self.tracee).read(address, length);
        (1..=most).rev().find_map(read).unwrap_or_default()
    }

    fn mapped_place(&self, region: &Mapped, address: u64) -> MappedPlace {
        if let Some(place) = self.image_place(address) {
            return MappedPlace::Image(place);
        }
        match self.tracee.stack_start().filter(|_| region.path.as_os_str() == "[stack]") {
            Some(start) => MappedPlace::Stack(start.wrapping_sub(address) as i64),
            None => MappedPlace::Other(address),
        }
    }

    fn image_place(&self, address: u64) -> Option<ImagePlace> {
        self.placement.image_place(self.program, address)
    }

    /// The place of an instruction.
    fn instruction(&self, pc: u64) -> CodePlace {
        if let Some(place) = self.image_place(pc) {
            return CodePlace::Program(place);
        }
        match self.region(pc) {
            Some(region) if region.is_code => match self.library_place(region, pc) {
                Some(place) => CodePlace::Library(place),
                None => CodePlace::Made(pc),
            },
            _ => CodePlace::Astray,
        }
    }

    fn library_place(&self, region: &Mapped, pc: u64) -> Option<LibraryPlace> {
        if !region.path.has_root() {
            return None;
        }
        let first = self.mapped().iter().find(|mapped| mapped.path == region.path)?;
        let base = self.program.objects().at(&region.path).map_or(0, |object| object.base.0);
        // What is mapped first is the beginning of the file, as a rule.
        let start = first.start.0.wrapping_sub(first.offset);
        let address = FileAddress(pc.wrapping_sub(start).wrapping_add(base));
        Some(LibraryPlace { file: region.path.clone(), address })
    }

    /// The place at which control is to come back to the traced code from code that is not traced.
    fn back(&self, at: &RegisterValues) -> Option<ImagePlace> {
        let mut frame = *at;
        for depth in 0..MOST_FRAMES {
            // The address after a call may be the end of a function.
            let within = frame.pc.wrapping_sub(u64::from(depth > 0));
            if self.is_own(within) {
                return (depth > 0).then(|| self.image_place(frame.pc)).flatten();
            }
            frame = self.caller(&frame, within)?;
        }
        None
    }

    /// Whether code is the program's own: that which is traced, or all of the executable where nothing is.
    fn is_own(&self, pc: u64) -> bool {
        match self.program.leaders() {
            [] => self.image_place(pc).is_some(),
            _ => self.placement.text(pc).is_some(),
        }
    }

    fn caller(&self, frame: &RegisterValues, within: u64) -> Option<RegisterValues> {
        let memory = ProgramMemory(self.tracee);
        let objects = self.program.objects();
        if let Some(ImagePlace { image, address }) = self.image_place(within) {
            let path = &self.program.images()[usize::from(image.0)].path;
            return objects.at(path)?.caller(path, address, frame, &memory);
        }
        match self.region(within) {
            Some(region) if region.is_code => {
                let place = self.library_place(region, within)?;
                objects.at(&place.file)?.caller(&place.file, place.address, frame, &memory)
            }
            // A call has led to where no code is.
            _ => {
                let word = memory.read(frame.sp(), 8)?;
                let mut caller = *frame;
                caller.pc = u64::from_le_bytes(word.try_into().ok()?);
                caller.general[4] = frame.sp().wrapping_add(8);
                Some(caller)
            }
        }
    }
}

/// The registers of a stopped program.
pub(super) fn registers(tracee: &Tracee) -> Option<RegisterValues> {
    tracee.registers().as_ref().map(values_of)
}

/// The registers that instructions name.
pub(super) fn values_of(r: &Registers) -> RegisterValues {
    let general = [
        r.rax, r.rcx, r.rdx, r.rbx, r.rsp, r.rbp, r.rsi, r.rdi, r.r8, r.r9, r.r10, r.r11, r.r12, r.r13,
        r.r14, r.r15,
    ];
    RegisterValues { general, pc: r.rip, fs_base: r.fs_base }
}
