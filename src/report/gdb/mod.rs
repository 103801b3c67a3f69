//! Write the slice as a script for gdb, which performs exactly the critical slice there: a second engine,
//! and the slice in the debugger that one is used to.
//!
//! The script holds what was recorded and which of it is executed, as tables; and a program in Python, the
//! same in each script, that follows them by breakpoints and by `set $pc`. It runs the program as it was
//! recorded: arguments, environment, directory, input, address space and undefined values. It is not
//! contained, and what it asks the kernel for, such as the time, has real answers.

use std::ffi::OsStr;
use std::fmt::Write;

use tracer::Untouched;
use tracer::invocation::{Invocation, Limits, Stdout};
use tracer::poison::{Poison, SCRATCH};
use tracer::program::{Function, FunctionId, Leader, LeaderId, LeaderKind, Program};
use tracer::schedule::{Control, Omission, Schedule};
use tracer::trace::EventId;

use crate::circumstances::events;
use crate::slice::{CriticalSlice, Necessity};
use crate::subject::Recorded;

use super::source::printable;
use super::verdict::verdict;

/// Each event is a line of the script, and gdb needs some milliseconds for one that is executed.
const MOST_EVENTS: usize = 100_000;

/// As many bytes of input are written into a script.
const MOST_INPUT: usize = 1 << 20;

/// The part that is the same in every script.
const REPLAY: &str = include_str!("replay.py");

/// The registers of [`SCRATCH`] in gdb's words.
const NAMES: [&str; SCRATCH.len()] = ["rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11"];

/// How a run is repeated.
#[derive(Clone, Copy, Debug)]
pub struct Start<'a> {
    /// How the program is started.
    pub invocation: &'a Invocation,
    /// What undefined values are set to.
    pub poison: Poison,
    /// The undefined memory to which that is not done.
    pub untouched: &'a Untouched,
    /// What it may use up.
    pub limits: Limits,
}

/// Why there is no script.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages are the documentation of the fields")]
pub enum Unscriptable {
    #[error(
        "a script for gdb has a line for each event, {MOST_EVENTS} at most, and this run has {0}: reduce a smaller \
         run, or look at this one with --format text or html"
    )]
    TooManyEvents(usize),
    #[error(
        "a script for gdb holds the program's input, {MOST_INPUT} bytes at most, and this has {0}: give the program \
         less to read"
    )]
    TooMuchInput(usize),
    #[error("{0}: gdb takes no path that is not UTF-8: rename it")]
    Path(String),
}

/// The slice as a script. Where effects and decisions were told apart it performs both, and branches decide.
///
/// # Errors
/// If the script would be too long, or gdb could not read it.
pub fn slice(
    recorded: Recorded<'_>,
    slice: &CriticalSlice,
    start: Start<'_>,
) -> Result<String, Unscriptable> {
    check(recorded, start.invocation)?;
    let control = control(slice);
    let parts = [
        introduction(slice),
        "python\n".to_owned(),
        started(recorded.program, start),
        undefined(start.poison),
        format!("CONTROL = \"{}\"\n\n", if control == Control::Program { "program" } else { "trace" }),
        leaders(recorded.program, start.untouched),
        events(recorded, slice, control),
        REPLAY.to_owned(),
        "end\n".to_owned(),
    ];
    Ok(parts.concat())
}

/// Whether there can be a script of this run.
///
/// # Errors
/// As for [`slice`](fn@slice).
pub fn check(recorded: Recorded<'_>, invocation: &Invocation) -> Result<(), Unscriptable> {
    if recorded.trace.len() > MOST_EVENTS {
        return Err(Unscriptable::TooManyEvents(recorded.trace.len()));
    }
    if invocation.stdin.len() > MOST_INPUT {
        return Err(Unscriptable::TooMuchInput(invocation.stdin.len()));
    }
    let mut paths = recorded.program.images().iter().map(|image| &image.path);
    match paths.find(|path| path.to_str().is_none_or(|path| path.contains('\n'))) {
        Some(path) => Err(Unscriptable::Path(path.display().to_string())),
        None => Ok(()),
    }
}

/// What makes a statement be executed when the whole slice is performed.
fn control(slice: &CriticalSlice) -> Control {
    match slice.question.control {
        events::Control::Trace => Control::Trace,
        events::Control::Both | events::Control::Program => Control::Program,
    }
}

fn introduction(slice: &CriticalSlice) -> String {
    let command = slice.question.command.join(" ");
    let told = [
        format!("The critical slice of {command} as a script for gdb: gdb -q -x FILE"),
        format!("Failure: {}", slice.question.criterion),
        verdict(slice),
        "`continue` goes to the next needed execution, and past all others. `slice through` runs to the"
            .into(),
        "end and prints what the program has written: gdb -q -batch -x FILE -ex 'slice through'".into(),
        "The program runs as it is, not contained: what it changes stays changed.".into(),
    ];
    let comment = |line: &String| format!("# {}\n", printable(&line.replace('\n', " ")));
    let settings = ["pagination off", "confirm off", "disable-randomization on", "startup-with-shell on"];
    let more = ["breakpoint always-inserted on", "print inferior-events off"];
    let setting = |setting: &&str| format!("set {setting}\n");
    let comments: String = told.iter().map(comment).collect();
    comments + "\n" + &settings.iter().chain(&more).map(setting).collect::<String>() + "\n"
}

/// How the program is started.
fn started(program: &Program, start: Start<'_>) -> String {
    let Start { invocation, poison, untouched, limits } = start;
    let mut text = String::from("# How the program was started.\n");
    let mut put = |name: &str, value: String| {
        let _ = writeln!(text, "{name} = {value}");
    };
    let bytes = |text: &OsStr| literal(text.as_encoded_bytes());
    put("PROGRAM", bytes(invocation.program.as_os_str()));
    put("ARGUMENTS", list(invocation.arguments.iter().map(|argument| bytes(argument))));
    let heap = if untouched.heap { Poison::Off } else { poison };
    let variables = invocation.environment_under(heap);
    put(
        "ENVIRONMENT",
        list(variables.iter().map(|(name, value)| format!("({}, {})", bytes(name), bytes(value)))),
    );
    put("DIRECTORY", bytes(invocation.directory.as_os_str()));
    put("STDIN", literal(&invocation.stdin));
    put("TERMINAL", if invocation.stdout == Stdout::Terminal { "True" } else { "False" }.into());
    let memory = limits.memory.map(|memory| format!("(\"RLIMIT_AS\", {memory})"));
    let limits = [format!("(\"RLIMIT_FSIZE\", {})", limits.file_size)].into_iter().chain(memory);
    put("LIMITS", list(limits));
    let images = program.images().iter();
    let image = |(number, image): (usize, &tracer::program::Image)| {
        let (address, path) = (if number == 0 { image.entry } else { image.base }, &image.path);
        let id = image.build_id.as_ref().map_or("None".to_owned(), |id| format!("{id:?}"));
        format!("({:?}, {address}, {id})", path.to_string_lossy())
    };
    text.push_str("# The path of each image, its entry (of a library: its lowest address), its build id.\n");
    let _ = writeln!(text, "IMAGES = {}\n", list(images.enumerate().map(image)));
    text
}

/// What undefined values are set to.
fn undefined(poison: Poison) -> String {
    let mut text = String::from("# What undefined memory and registers hold.\n");
    let registers =
        NAMES.iter().zip(poison.general()).map(|(name, value)| format!("(\"{name}\", {value:#x})"));
    let is_set = if poison == Poison::Off { "False" } else { "True" };
    let _ = writeln!(text, "POISON = {is_set}\nPOISON_BASE = {:#x}", poison.word(0));
    let _ = writeln!(text, "REGISTERS = {}\nVECTOR = {:#x}\n", list(registers), poison.vector());
    text
}

/// Where statements begin, and the frames of the functions.
fn leaders(program: &Program, untouched: &Untouched) -> String {
    let mut text = String::from(
        "# Where statements begin: image, address, function, kind, registers that are in use, place.\nLEADERS = \"\"\"\n",
    );
    for (number, leader) in program.leaders().iter().enumerate() {
        let kind = match leader.kind {
            LeaderKind::Entry => "entry",
            LeaderKind::Statement => "statement",
            LeaderKind::Epilogue => "epilogue",
        };
        let place = program.place(LeaderId(number as u32)).to_string();
        let Leader { image, address, function, .. } = leader;
        let place = printable(&place).replace(['"', '\\'], "?");
        let _ = writeln!(text, "{} {address} {} {kind} {:x} {place}", image.0, function.0, in_use(leader));
    }
    let size = |(number, function): (usize, &Function)| {
        let is_filled = !untouched.frames.contains(&FunctionId(number as u32));
        if is_filled { function.undefined_size().to_string() } else { "0".to_owned() }
    };
    let frames: Vec<String> = program.functions().iter().enumerate().map(size).collect();
    let _ = writeln!(
        text,
        "\"\"\"\n# How much of each function's frame is undefined.\nFRAMES = \"{}\"\n",
        frames.join(" ")
    );
    text
}

/// Bit by bit the registers of [`SCRATCH`], then all vector registers, that are not undefined behind it.
fn in_use(leader: &Leader) -> u32 {
    let general = SCRATCH.iter().enumerate();
    let general =
        general.map(|(bit, &number)| u32::from(leader.live.has_general(number)) << bit).sum::<u32>();
    general | u32::from(leader.live.has_vector()) << SCRATCH.len()
}

/// The recorded run, and what of it is executed.
fn events(recorded: Recorded<'_>, slice: &CriticalSlice, control: Control) -> String {
    let trace = recorded.trace;
    let schedule = schedule(recorded, slice, control);
    let mut text = String::from(
        "# The recorded run: leader, call, and `*` needed for its effect, `o` as a decision, `=` executed, `-` left\n\
         # out. The first event of a call names the event that calls it.\nEVENTS = \"\"\"\n",
    );
    let mut needed = slice.needed.iter().peekable();
    for event in trace.events() {
        let sign = match needed.next_if(|needed| needed.event == event).map(|needed| needed.necessity) {
            Some(Necessity::Effect) => '*',
            Some(Necessity::Decision) => 'o',
            None if schedule.keeps(event) => '=',
            None => '-',
        };
        let call = trace.activation(event);
        let caller = trace.caller(call).filter(|_| trace.entry(call) == event);
        let caller = caller.map_or(String::new(), |caller| format!(" {}", caller.time()));
        let _ = writeln!(text, "{} {} {sign}{caller}", trace.leader(event).0, call.0);
    }
    text + "\"\"\"\n\n"
}

fn schedule(recorded: Recorded<'_>, slice: &CriticalSlice, control: Control) -> Schedule {
    let needed: Vec<EventId> = slice.needed.iter().map(|needed| needed.event).collect();
    let omission = Omission::new(recorded.program, recorded.trace, control);
    omission.schedule(|event| needed.binary_search(&event).is_ok())
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

/// A literal of Python.
fn literal(bytes: &[u8]) -> String {
    let byte = |&byte: &u8| match byte {
        b'\'' | b'\\' => format!("\\{}", char::from(byte)),
        b'\n' => "\\n".to_owned(),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\x{byte:02x}"),
    };
    format!("b'{}'", bytes.iter().map(byte).collect::<String>())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tracer::denial::Actions;

    use super::super::sample::Sample;
    use super::*;

    fn script(invocation: &Invocation, poison: Poison) -> Result<String, Unscriptable> {
        let sample = Sample::sum_mul();
        let (hour, none) = (Duration::from_secs(3600), None);
        let limits = Limits {
            cpu: hour,
            wall: hour,
            idle: hour,
            arrivals: 100,
            memory: none,
            trace: u64::MAX,
            file_size: 7,
            output: 7,
            tasks: 1,
            tolerated: Actions::NONE,
        };
        let result = sample.slice(&sample.omittable(11)[1..], &sample.omittable(10)[6..]);
        slice(
            sample.recorded(),
            &result,
            Start { invocation, poison, untouched: &Untouched::default(), limits },
        )
    }

    fn invocation(stdin: &[u8]) -> Invocation {
        Invocation {
            arguments: vec!["./p".into(), "it's".into()],
            environment: vec![("GLIBC_TUNABLES".into(), "x=1".into()), ("A".into(), "\n".into())],
            stdin: stdin.to_vec().into(),
            ..Invocation::new("/p".into(), "/".into())
        }
    }

    #[test]
    fn a_script_starts_the_program_as_it_was_started() {
        let script = script(&invocation(b"0 5\n\xff"), Poison::Negative).unwrap();
        for line in [
            "ARGUMENTS = [b'./p', b'it\\'s']",
            "ENVIRONMENT = [(b'LD_BIND_NOW', b'1'), (b'A', b'\\n'), (b'GLIBC_TUNABLES', \
             b'x=1:glibc.malloc.perturb=0x5a')]",
            "STDIN = b'0 5\\n\\xff'",
            "TERMINAL = False",
            "LIMITS = [(\"RLIMIT_FSIZE\", 7)]",
            "POISON = True",
            "POISON_BASE = 0xa5c3e197",
        ] {
            assert!(script.lines().any(|other| other == line), "{line}\n{}", &script[..3000]);
        }
    }

    #[test]
    fn each_event_is_a_row_with_its_leader_its_call_and_whether_it_is_executed() {
        let script = script(&invocation(b""), Poison::Off).unwrap();
        let table = script.split("EVENTS = \"\"\"\n").nth(1).and_then(|rest| rest.split("\"\"\"").next());
        let signs: Vec<&str> = table.unwrap().lines().map(|row| row.split(' ').nth(2).unwrap()).collect();
        assert_eq!(signs.len(), 36);
        let of = |sign| signs.iter().filter(|other| **other == sign).count();
        assert_eq!((of("*"), of("o")), (5, 1));
        assert!(of("-") > 0 && signs[0] == "=" && signs[35] == "=");
    }

    #[test]
    fn what_gdb_would_choke_on_is_refused() {
        let told = script(&invocation(&vec![0; MOST_INPUT + 1]), Poison::Off).unwrap_err().to_string();
        assert!(told.contains("1048576 bytes at most, and this has 1048577"), "{told}");
    }
}
