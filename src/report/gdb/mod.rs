//! Write the slice as a script for gdb, which performs exactly the critical slice there: a second engine,
//! and the slice in a familiar debugger.
//!
//! The script holds the recorded events and which of them are executed, as tables; and a program in Python, the
//! same in each script, that follows them by breakpoints and by `set $pc`. It runs the program as it was
//! recorded: arguments, environment, directory, input, address space and undefined values. It is not
//! contained, and system calls, such as for the time, have real results.

pub mod repairs;
mod start;

use std::fmt::Write;

use tracer::Untouched;
use tracer::invocation::Invocation;
use tracer::poison::SCRATCH;
use tracer::program::{Function, FunctionId, Leader, LeaderId, LeaderKind, Program};
use tracer::schedule::{Control, Omission, Schedule};
use tracer::trace::EventId;

use crate::circumstances::events;
use crate::slice::{CriticalSlice, Necessity};
use crate::subject::Recorded;

use super::source::printable;
use super::verdict::verdict;
use start::{MOST_EVENTS, PROCESS, check_start, head, started, undefined};
pub use start::{Start, Unscriptable};

/// The Python program that replays, the same in every script of a slice.
const REPLAY: &str = include_str!("replay.py");

/// Writes the slice as a script. Where effects and decisions were distinguished it performs both, and branches decide.
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
        PROCESS.to_owned(),
        REPLAY.to_owned(),
        "end\n".to_owned(),
    ];
    Ok(parts.concat())
}

/// Checks that there can be a script of this run.
///
/// # Errors
/// As for [`slice`](fn@slice).
pub fn check(recorded: Recorded<'_>, invocation: &Invocation) -> Result<(), Unscriptable> {
    match recorded.trace.len() {
        ..=MOST_EVENTS => check_start(recorded.program, invocation),
        events => Err(Unscriptable::TooManyEvents(events)),
    }
}

/// The control rule by which the whole slice is performed.
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
    head(&told)
}

/// The table of leaders, where statements begin, and of the frames of the functions.
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

/// A bit mask of the registers of [`SCRATCH`], then one bit for all vector registers, that are live after the leader
/// and so are not set to patterns.
fn in_use(leader: &Leader) -> u32 {
    let general = SCRATCH.iter().enumerate();
    let general =
        general.map(|(bit, &number)| u32::from(leader.live.has_general(number)) << bit).sum::<u32>();
    general | u32::from(leader.live.has_vector()) << SCRATCH.len()
}

/// The table of recorded events, each with whether it is executed.
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tracer::denial::Actions;
    use tracer::invocation::Limits;
    use tracer::poison::Poison;

    use super::super::sample::Sample;
    use super::start::MOST_INPUT;
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
