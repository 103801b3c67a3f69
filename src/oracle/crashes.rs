//! Put into words where and how a run crashed: `SIGSEGV at table.c:12 in get, inlined into main`.

use tracer::address::FileAddress;
use tracer::program::{FunctionId, LeaderId, Program, SourceFrame};
use tracer::run::{Operand, Run};
use tracer::termination::{
    BadAddress, CodePlace, Crash, CrashDifference, ImagePlace, LibraryPlace, Termination, signal_name,
};

/// The largest number of callers that are named.
const MOST_CALLERS: usize = 3;

/// A crash with its place: `SIGSEGV at main.c:3 in f (null pointer)`.
pub fn crash(crash: &Crash, program: &Program) -> String {
    format!("{}{}{}", signal_name(crash.signal), place(crash, program), address(crash.address))
}

/// A crash of a run in words, with the operand of the crashing instruction and the callers; `None` if it did
/// not crash.
pub(super) fn account(run: &Run, program: &Program) -> Option<String> {
    let Termination::Crashed(how) = &run.termination else { return None };
    let operand = run.operand.as_ref().map_or_else(String::new, |operand| format!(": {}", told(operand)));
    Some(format!("{}{}{operand}", crash(how, program), callers(how, program)))
}

/// The difference of a crash from the recorded one, where the words for both are equal.
pub(super) fn distinction(crash: &Crash, recorded: &Crash, program: &Program) -> &'static str {
    let tells = place(crash, program) != place(recorded, program);
    let tells_address = address(crash.address) != address(recorded.address);
    match recorded.difference(crash) {
        Some(CrashDifference::Instruction) if !tells => ", at another instruction",
        Some(CrashDifference::Address) if !tells_address => ", about another address",
        Some(CrashDifference::Back) if !tells => ", called from another place of the statement",
        Some(CrashDifference::Calls) => ", within other calls",
        _ => "",
    }
}

/// A crash instead of another one, in words that differ.
pub fn instead(crash: &Crash, recorded: &Crash, program: &Program) -> String {
    let (one, other) = (self::crash(crash, program), self::crash(recorded, program));
    format!("{one}{} instead of {other}", distinction(crash, recorded, program))
}

/// The operand of an instruction in words: what it reads or writes, and by which pointer.
fn told(operand: &Operand) -> String {
    let verb = if operand.is_written { "writes" } else { "reads" };
    match &operand.pointer {
        Some((pointer, value)) if value == "0x0" => {
            format!("it {verb} {}, and {pointer} is NULL", operand.name)
        }
        Some((pointer, value)) => format!("it {verb} {}, and {pointer} is {value}", operand.name),
        None => format!("it {verb} {}", operand.name),
    }
}

fn address(address: BadAddress) -> String {
    match address {
        BadAddress::None => String::new(),
        BadAddress::FirstPage(0) => " (null pointer)".into(),
        BadAddress::FirstPage(address) => format!(" (null pointer: address {address:#x})"),
        BadAddress::Mapped(_) => " (memory that must not be used so)".into(),
        BadAddress::Unmapped => " (bad address)".into(),
        BadAddress::BeyondStack => " (the stack has overflown)".into(),
        BadAddress::NotCanonical => " (address that is not canonical)".into(),
        BadAddress::Forbidden => " (forbidden)".into(),
    }
}

fn place(crash: &Crash, program: &Program) -> String {
    let within = |what: String| match crash.back {
        Some(back) => format!("{} ({what})", at(&called_from(back, program))),
        None => format!("{} ({what})", statement(crash, program)),
    };
    match &crash.instruction {
        CodePlace::Program(place) if crash.back.is_none() => match frames(*place, program) {
            frames if frames.iter().any(|frame| frame.place.is_some()) => at(&frames),
            _ => statement(crash, program),
        },
        CodePlace::Program(place) => within(format!("within {}", name(&frames(*place, program)))),
        CodePlace::Library(place) => within(format!("within {}", library(place))),
        CodePlace::Made(_) => within("within code made at run time".into()),
        CodePlace::Astray => within("a call or jump to where no code is".into()),
        CodePlace::Any => statement(crash, program),
    }
}

/// The statement that was being executed, in words.
fn statement(crash: &Crash, program: &Program) -> String {
    match (crash.innermost(), crash.calls.is_empty()) {
        (Some(leader), _) => format!(" at {} in {}", program.place(leader), program.function_of(leader).name),
        (None, false) => " in a call that was not recorded".into(),
        (None, true) => String::new(),
    }
}

fn frames(place: ImagePlace, program: &Program) -> Vec<SourceFrame> {
    let image = &program.images()[usize::from(place.image.0)];
    program.source_frames(&image.path, place.address)
}

/// The source frames of a call with the return address `back`.
fn called_from(back: ImagePlace, program: &Program) -> Vec<SourceFrame> {
    frames(ImagePlace { address: FileAddress(back.address.0.wrapping_sub(1)), ..back }, program)
}

/// A source place with its inlined frames, in words: ` at table.c:12 in get, inlined into main`.
fn at(frames: &[SourceFrame]) -> String {
    let Some((innermost, outer)) = frames.split_first() else { return String::new() };
    let mut words = String::new();
    if let Some((file, line)) = &innermost.place {
        words += &format!(" at {file}:{line}");
    }
    if let Some(function) = &innermost.function {
        words += &format!(" in {function}");
    }
    for function in outer.iter().filter_map(|frame| frame.function.as_ref()) {
        words += &format!(", inlined into {function}");
    }
    words
}

fn name(frames: &[SourceFrame]) -> &str {
    let named = frames.first().and_then(|frame| frame.function.as_deref());
    named.unwrap_or("a function that is not traced")
}

/// The file name of a library. That of its function would depend on the processor and on what is installed.
fn library(LibraryPlace { file, .. }: &LibraryPlace) -> String {
    file.file_name().unwrap_or(file.as_os_str()).to_string_lossy().into_owned()
}

/// The calls that were open around the one that crashed, in words.
fn callers(crash: &Crash, program: &Program) -> String {
    let place = crash.back.or(match crash.instruction {
        CodePlace::Program(place) => Some(place),
        _ => None,
    });
    let function = place.and_then(|place| function_at(place, program));
    let is_crashed = |leader: &Option<LeaderId>| {
        leader.is_some_and(|leader| Some(program.leader(leader).function) == function)
    };
    // Calls count as open until the program reaches another statement.
    let crashed = crash.calls.iter().position(is_crashed).unwrap_or(0);
    let callers = crash.calls.get(crashed + 1..).unwrap_or_default();
    let mut words = String::new();
    for leader in callers.iter().take(MOST_CALLERS).flatten() {
        let (place, function) = (program.place(*leader), &program.function_of(*leader).name);
        words += &format!(", called at {place} in {function}");
    }
    match callers.len().saturating_sub(MOST_CALLERS) {
        0 => words,
        more => words + &format!(" and so on ({more} more)"),
    }
}

/// The traced function that holds a place.
fn function_at(place: ImagePlace, program: &Program) -> Option<FunctionId> {
    let leaders = program.leaders().iter();
    let before = leaders.filter(|leader| leader.image == place.image && leader.address <= place.address);
    before.max_by_key(|leader| leader.address).map(|leader| leader.function)
}
