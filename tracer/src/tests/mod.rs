//! Trace, schedule and lockstep together, on programs in outline: no process takes part.

pub(crate) mod random;

use agent::lockstep::{Deviation, Directive};

use crate::engine::{Guide, Replayer};
use crate::program::sketch::{Outline, leader, program};
use crate::program::{LeaderKind, Program};
use crate::schedule::{Control, Omission};
use crate::trace::{BrokenTrace, EventId, Trace, TraceBuilder};
use random::{LINES, NAMES, Numbers, random_trace, subject};

/// An arrival: function, line, and how many frames deep the stack is.
type Arrival = (&'static str, u32, u64);

fn sp(depth: u64, at_entry: bool) -> u64 {
    // A frame takes 32 bytes, of which the entry has only seen the return address.
    0x8000 - 32 * depth + if at_entry { 24 } else { 0 }
}

fn record(program: &Program, arrivals: &[Arrival]) -> Trace {
    let mut builder = TraceBuilder::default();
    for &(function, line, depth) in arrivals {
        builder
            .arrive(program, leader(program, function, line), sp(depth, line == 1))
            .expect("a sound trace");
    }
    builder.finish()
}

/// Writes the lines of a trace, an activation after a bar.
fn lines(program: &Program, trace: &Trace) -> String {
    let word = |event| {
        let line = program.leader(trace.leader(event)).statement.line;
        let entered = trace.entry(trace.activation(event)) == event;
        format!("{}{line}", if entered { "| " } else { "" })
    };
    trace.events().map(word).collect::<Vec<_>>().join(" ")
}

fn caller_helper() -> Program {
    program(&[
        Outline { name: "main", lines: &[2, 3, 4], decisions: &[] },
        Outline { name: "f", lines: &[2, 3], decisions: &[] },
    ])
}

const CALLS: [Arrival; 12] = [
    ("main", 1, 0),
    ("main", 2, 0),
    ("f", 1, 1),
    ("f", 2, 1),
    ("f", 99, 1),
    ("main", 3, 0),
    ("f", 1, 1),
    ("f", 2, 1),
    ("f", 3, 1),
    ("f", 99, 1),
    ("main", 4, 0),
    ("main", 99, 0),
];

/// Replays arrivals; returns where each makes the run go on, up to the first deviation.
fn replay(
    program: &Program,
    trace: &Trace,
    control: Control,
    omitted: &[u32],
    arrivals: &[Arrival],
) -> Vec<String> {
    let omission = Omission::new(program, trace, control);
    let schedule = omission.schedule(|event| !omitted.contains(&event.time()));
    let kept = schedule.bytes();
    let mut lockstep = Replayer::new(program, trace, control, &kept);
    let tell = |&(function, line, depth): &Arrival| match lockstep
        .arrive(leader(program, function, line), sp(depth, line == 1))
    {
        Directive::RunFreely => "free".into(),
        Directive::Enter => "enter".into(),
        Directive::Resume { at, omitting } => {
            format!("{}{}", program.leader(at).statement.line, if omitting { "!" } else { "" })
        }
        Directive::LoopsOn => "loops on".into(),
        Directive::Leave(deviation) => match deviation {
            Deviation::Diverged { .. } => "diverged".into(),
            Deviation::OtherCall { .. } => "other call".into(),
            Deviation::MissingCall { .. } => "missing call".into(),
            Deviation::RanPastEnd { .. } => "past end".into(),
            Deviation::NotEntered(_) => "not entered".into(),
        },
    };
    arrivals.iter().map(tell).collect()
}

#[test]
fn a_second_arrival_at_the_same_leader_does_not_count() {
    let program = caller_helper();
    let trace =
        record(&program, &[("main", 1, 0), ("main", 2, 0), ("main", 2, 0), ("main", 3, 0), ("main", 2, 0)]);
    assert_eq!(lines(&program, &trace), "| 1 2 3 2");
}

#[test]
fn the_stack_pointer_tells_calls_from_returns() {
    let program = caller_helper();
    let trace = record(&program, &CALLS);
    assert_eq!(lines(&program, &trace), "| 1 2 | 1 2 99 3 | 1 2 3 99 4 99");
    let second = trace.activation(EventId(6));
    assert_eq!(trace.caller(second), Some(EventId(5)));
    assert_eq!(trace.next(EventId(1)), Some(EventId(5)));
    assert_eq!(trace.depth(EventId(7)), 1);
    assert_eq!(trace.tape().first_callee(EventId(5)), Some(second));
}

#[test]
fn a_jump_over_several_frames_closes_them_all() {
    let program = caller_helper();
    let trace = record(
        &program,
        &[("main", 1, 0), ("main", 2, 0), ("f", 1, 1), ("f", 1, 2), ("f", 2, 2), ("main", 4, 0)],
    );
    assert_eq!(trace.next(EventId(1)), Some(EventId(4)));
    // The entry of f twice in a row is one event.
    assert_eq!(lines(&program, &trace), "| 1 2 | 1 2 4");
}

#[test]
fn a_call_is_over_behind_its_epilogue_even_if_the_stack_has_not_risen() {
    let program = caller_helper();
    // The result of one call is pushed as an argument of the next, which begins further down.
    let arrivals = [
        ("main", 1, 0),
        ("main", 2, 0),
        ("f", 1, 1),
        ("f", 2, 1),
        ("f", 99, 1),
        ("f", 1, 3),
        ("f", 3, 3),
        ("f", 99, 3),
    ];
    let trace = record(&program, &arrivals);
    let callers: Vec<u32> =
        [2, 5].map(|event| trace.caller(trace.activation(EventId(event))).unwrap().0).to_vec();
    assert_eq!(callers, [1, 1]);
}

#[test]
fn control_that_is_back_further_out_closes_what_is_inside() {
    let program = caller_helper();
    // f ends without an epilogue of its own, and main goes on with arguments still on the stack.
    let trace = record(&program, &[("main", 1, 0), ("main", 2, 0), ("f", 1, 1), ("f", 2, 1), ("main", 3, 3)]);
    assert_eq!(trace.next(EventId(1)), Some(EventId(4)));
}

#[test]
fn a_function_that_nobody_entered_breaks_the_trace() {
    let program = caller_helper();
    let mut builder = TraceBuilder::default();
    let middle = leader(&program, "f", 2);
    assert_eq!(builder.arrive(&program, middle, sp(1, false)), Err(BrokenTrace::NotEntered(middle)));
}

#[test]
fn structural_and_last_events_cannot_be_omitted() {
    let program = caller_helper();
    let trace = record(&program, &CALLS[..8]);
    let omission = Omission::new(&program, &trace, Control::Trace);
    let times: Vec<u32> = omission.omittable().map(EventId::time).collect();
    // Not the entries 1, 3, 7, not the epilogue 5, not 6 and 8, after which the activation ends.
    assert_eq!(times, [2, 4]);
}

#[test]
fn an_omitted_call_takes_the_events_of_its_callee_along() {
    let program = caller_helper();
    let trace = record(&program, &CALLS);
    let schedule = Omission::new(&program, &trace, Control::Trace).schedule(|event| event.time() != 6);
    let kept: Vec<u32> = schedule.kept().map(EventId::time).collect();
    assert_eq!(kept, [1, 2, 3, 4, 5, 11, 12]);
}

#[test]
fn a_replay_that_omits_nothing_goes_on_where_it_is() {
    let program = caller_helper();
    let trace = record(&program, &CALLS);
    for control in [Control::Trace, Control::Program] {
        let told = replay(&program, &trace, control, &[], &CALLS);
        assert_eq!(told, ["enter", "2", "enter", "2", "99", "3", "enter", "2", "3", "99", "4", "99"]);
    }
}

#[test]
fn omission_goes_on_at_the_next_kept_event_of_the_activation() {
    let program = caller_helper();
    let trace = record(&program, &CALLS);
    let arrivals = [("main", 1, 0), ("main", 2, 0), ("main", 99, 0)];
    let told = replay(&program, &trace, Control::Trace, &[2, 6, 11], &arrivals);
    assert_eq!(told[..2], ["enter", "99!"]);
}

#[test]
fn under_trace_control_any_arrival_in_the_function_goes_on_as_recorded() {
    let program = caller_helper();
    let trace = record(&program, &CALLS);
    let arrivals = [("main", 1, 0), ("main", 4, 0), ("f", 1, 1), ("f", 3, 1)];
    assert_eq!(replay(&program, &trace, Control::Trace, &[], &arrivals), ["enter", "2", "enter", "2"]);
    assert_eq!(replay(&program, &trace, Control::Program, &[], &arrivals)[..2], ["enter", "diverged"]);
}

#[test]
fn an_unrecorded_call_runs_freely_or_diverges() {
    let program = program(&[
        Outline { name: "main", lines: &[2, 3], decisions: &[] },
        Outline { name: "f", lines: &[2], decisions: &[] },
    ]);
    let trace = record(&program, &[("main", 1, 0), ("main", 2, 0), ("main", 3, 0), ("main", 99, 0)]);
    let arrivals = [("main", 1, 0), ("main", 2, 0), ("f", 1, 1), ("f", 2, 1), ("f", 1, 2), ("main", 3, 0)];
    let told = replay(&program, &trace, Control::Trace, &[], &arrivals);
    assert_eq!(told, ["enter", "2", "enter", "free", "enter", "3"]);
    let told = replay(&program, &trace, Control::Program, &[], &arrivals[..3]);
    assert_eq!(told, ["enter", "2", "other call"]);
}

#[test]
fn a_recorded_call_that_is_not_made_is_missed_where_branches_decide() {
    let program = caller_helper();
    let trace = record(&program, &CALLS);
    let arrivals = [("main", 1, 0), ("main", 2, 0), ("main", 3, 0)];
    assert_eq!(replay(&program, &trace, Control::Program, &[], &arrivals)[2], "missing call");
    assert_eq!(replay(&program, &trace, Control::Trace, &[], &arrivals)[2], "3");
}

#[test]
fn what_goes_on_behind_the_last_recorded_event_has_run_past_the_end() {
    let program = caller_helper();
    let trace = record(&program, &[("main", 1, 0), ("main", 2, 0)]);
    let told =
        replay(&program, &trace, Control::Trace, &[], &[("main", 1, 0), ("main", 2, 0), ("main", 3, 0)]);
    assert_eq!(told[2], "past end");
}

/// A program `while (2) { 3 } 4` with `if (5) 6` after it.
fn loop_and_branch() -> Program {
    program(&[Outline { name: "main", lines: &[2, 3, 4, 5, 6, 7], decisions: &[(2, 4), (5, 7)] }])
}

fn loop_trace(program: &Program) -> Trace {
    record(program, &[1, 2, 3, 2, 3, 2, 4, 5, 6, 7, 99].map(|line| ("main", line, 0)))
}

#[test]
fn a_decision_governs_until_its_ways_meet_again() {
    let program = loop_and_branch();
    let trace = loop_trace(&program);
    let omission = Omission::new(&program, &trace, Control::Program);
    let governors: Vec<u32> =
        trace.events().map(|event| omission.governor(event).map_or(0, EventId::time)).collect();
    assert_eq!(governors, [0, 0, 2, 2, 4, 4, 0, 0, 8, 0, 0]);
}

#[test]
fn without_its_decision_nothing_that_it_governs_is_kept() {
    let program = loop_and_branch();
    let trace = loop_trace(&program);
    let omission = Omission::new(&program, &trace, Control::Program);
    let kept: Vec<u32> = omission.schedule(|event| event.time() != 4).kept().map(EventId::time).collect();
    assert_eq!(kept, [1, 2, 3, 7, 8, 9, 10, 11]);
    let trace_kept =
        Omission::new(&program, &trace, Control::Trace).schedule(|event| event.time() != 4).kept().count();
    assert_eq!(trace_kept, 10);
}

#[test]
fn the_decisions_on_the_way_to_a_final_call_cannot_be_omitted() {
    let program = loop_and_branch();
    // The run ends within line 6, as by exit().
    let trace = record(&program, &[1, 4, 5, 6].map(|line| ("main", line, 0)));
    let times =
        |control| Omission::new(&program, &trace, control).omittable().map(EventId::time).collect::<Vec<_>>();
    assert_eq!(times(Control::Trace), [2, 3]);
    assert_eq!(times(Control::Program), [2]);
}

#[test]
fn a_kept_decision_must_go_as_recorded() {
    let program = loop_and_branch();
    let trace = loop_trace(&program);
    let arrivals = [("main", 1, 0), ("main", 2, 0), ("main", 4, 0)];
    assert_eq!(replay(&program, &trace, Control::Program, &[], &arrivals)[2], "diverged");
    assert_eq!(replay(&program, &trace, Control::Trace, &[], &arrivals)[2], "3");
}

#[test]
fn wherever_a_replay_goes_astray_it_is_led_on_in_the_function_that_it_has_reached() {
    let program = subject();
    let mut led_on = 0;
    for seed in 0..2_000 {
        let trace = random_trace(&program, seed, 60);
        let mut numbers = Numbers(seed + 1);
        let control = if seed % 2 == 0 { Control::Trace } else { Control::Program };
        // Any selection, whether it is down-closed or not.
        let kept: Vec<u8> = trace.events().map(|_| u8::from(numbers.below(4) > 0)).collect();
        let mut lockstep = Replayer::new(&program, &trace, control, &kept);
        for event in trace.events() {
            // Mostly the recorded way, so that much is open when the replay leaves it.
            let recorded = trace.leader(event);
            let reached = match numbers.below(8) {
                0 => leader(&program, NAMES[numbers.below(3) as usize], LINES[numbers.below(6) as usize]),
                _ => recorded,
            };
            let depth = trace.depth(event) as u64;
            let depth = if numbers.below(8) == 0 { numbers.below(6) } else { depth };
            let at_entry = program.leader(reached).kind == LeaderKind::Entry;
            match lockstep.arrive(reached, sp(depth, at_entry)) {
                Directive::Resume { at, .. } => {
                    let (from, to) = (program.leader(reached), program.leader(at));
                    assert_eq!(to.function, from.function, "seed {seed}, at {event:?}");
                    led_on += usize::from(at != recorded);
                }
                Directive::Leave(_) | Directive::LoopsOn => break,
                Directive::Enter | Directive::RunFreely => {}
            }
        }
    }
    assert!(led_on > 1_000, "{led_on}");
}
