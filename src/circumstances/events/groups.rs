//! Group statement executions: those of one statement, with the same caller, with the same history.
//!
//! In a loop of many rounds, and in an interpreter, a stretch of time has nothing that can be left out, but a
//! statement has: all its executions, or those that were reached in the same way. Knows traces; tests nothing.

use std::collections::VecDeque;

use dd::{Grouping, Partition};
use tracer::program::Program;
use tracer::trace::{EventId, Trace};

/// The lengths of histories: the history of an execution are so many statements before it in the same
/// activation. In the loop of an interpreter that is the kind of instruction.
const HISTORIES: [usize; 5] = [1, 2, 4, 8, 16];

/// The length of the longest history.
const LONGEST: usize = 16;

/// The groupings of these events of a run: their statements, then these by caller and by history.
pub(super) fn groupings(program: &Program, trace: &Trace, events: &[EventId]) -> Vec<Grouping> {
    let statements = statements(program, trace);
    let of_event = |event: &EventId| statements[event.0 as usize];
    let with_caller = |event: &EventId| {
        let caller = trace.caller(trace.activation(*event));
        (of_event(event), caller.map(|caller| statements[caller.0 as usize]))
    };
    let by_statement = Partition::by_key(&events.iter().map(of_event).collect::<Vec<_>>());
    let by_caller = Partition::by_key(&events.iter().map(with_caller).collect::<Vec<_>>());
    let by_history = HISTORIES.iter().map(|&length| {
        let histories = histories(trace, &statements, length);
        Partition::by_key(&events.iter().map(|event| histories[event.0 as usize]).collect::<Vec<_>>())
    });
    vec![
        Grouping { name: "statements", partitions: vec![by_statement] },
        Grouping {
            name: "statements by caller and history",
            partitions: std::iter::once(by_caller).chain(by_history).collect(),
        },
    ]
}

/// The number of each event's statement.
fn statements(program: &Program, trace: &Trace) -> Vec<u32> {
    let leaders = program.leaders();
    let mut numbers: Vec<u32> = (0..leaders.len() as u32).collect();
    numbers.sort_by_key(|&leader| leaders[leader as usize].statement);
    let mut of_leader = vec![0; leaders.len()];
    let same =
        |&one: &u32, &other: &u32| leaders[one as usize].statement == leaders[other as usize].statement;
    for (number, leaders) in numbers.chunk_by(same).enumerate() {
        leaders.iter().for_each(|&leader| of_leader[leader as usize] = number as u32);
    }
    trace.events().map(|event| of_leader[trace.leader(event).0 as usize]).collect()
}

/// The hash of each event's history: its statement and so many before it in the same activation. Equal
/// for equal ones, and different for different ones but for an accident of one in 2^64.
fn histories(trace: &Trace, statements: &[u32], length: usize) -> Vec<u64> {
    debug_assert!(length <= LONGEST);
    let mut histories = vec![0; trace.len()];
    let mut recent: VecDeque<u32> = VecDeque::with_capacity(length + 1);
    let entries = trace.events().filter(|&event| trace.entry(trace.activation(event)) == event);
    for entry in entries {
        recent.clear();
        for event in std::iter::successors(Some(entry), |&event| trace.next(event)) {
            recent.push_back(statements[event.0 as usize]);
            if recent.len() > length + 1 {
                recent.pop_front();
            }
            histories[event.0 as usize] = recent.iter().fold(0, |sum, &statement| mix(sum, statement));
        }
    }
    histories
}

/// One step of a hash: the finaliser of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
fn mix(sum: u64, statement: u32) -> u64 {
    let mut mixed = sum.wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_add(u64::from(statement));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
