//! Sketches of programs for tests of the pure parts, without a compiler.

use super::{
    FileId, Function, FunctionId, ImageId, Leader, LeaderId, LeaderKind, Program, RegisterSet, Statement,
};
use crate::address::FileAddress;

/// A function in outline: its name, its statements as line numbers, and its decisions as pairs of a
/// line and the line where its ways meet again (0 for the epilogue).
pub(crate) struct Outline<'a> {
    pub(crate) name: &'a str,
    pub(crate) lines: &'a [u32],
    pub(crate) decisions: &'a [(u32, u32)],
}

/// The program that consists of these functions. Each has an entry at line 1 and an epilogue at line
/// 99.
pub(crate) fn program(outlines: &[Outline<'_>]) -> Program {
    let (mut functions, mut leaders) = (Vec::new(), Vec::new());
    for outline in outlines {
        let first = leaders.len() as u32;
        let function = FunctionId(functions.len() as u32);
        let all = [&[1], outline.lines, &[99]].concat();
        let position =
            |line: u32| all.iter().position(|&other| other == line).map(|at| LeaderId(first + at as u32));
        for &line in &all {
            let decision = outline.decisions.iter().find(|(at, _)| *at == line);
            leaders.push(Leader {
                image: ImageId(0),
                address: FileAddress(0x1000 + leaders.len() as u64),
                function,
                kind: match line {
                    1 => LeaderKind::Entry,
                    99 => LeaderKind::Epilogue,
                    _ => LeaderKind::Statement,
                },
                statement: Statement { file: FileId(0), line, column: 0 },
                live: RegisterSet::default(),
                movable: 0,
                flags_live: false,
                decides: decision.is_some(),
                only_calls: false,
                post_dominator: decision.and_then(|&(_, end)| position(if end == 0 { 99 } else { end })),
            });
        }
        let last = leaders.len() as u32;
        functions.push(Function { name: outline.name.into(), leaders: first..last, frame_size: 0 });
    }
    Program::new(Vec::new(), Vec::new(), functions, leaders)
}

/// The leader of a function at a line.
pub(crate) fn leader(program: &Program, function: &str, line: u32) -> LeaderId {
    let function = program.functions().iter().find(|known| known.name == function).expect("a function");
    let found = function.leaders.clone().map(LeaderId).find(|&id| program.leader(id).statement.line == line);
    found.expect("a leader on this line")
}
