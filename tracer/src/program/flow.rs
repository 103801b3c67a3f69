//! The control flow between the leaders of a function: where control can go from each, and which leader every way out
//! must pass (the immediate post-dominator).
//!
//! Source: Ferrante, Ottenstein and Warren, "The Program Dependence Graph and Its Use in
//! Optimization", TOPLAS 1987, for control dependence by post-dominance.

use std::collections::{HashMap, HashSet};

use iced_x86::{Mnemonic, OpKind, Register};
use petgraph::algo::dominators;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::Reversed;

use super::code::{Code, ControlFlow};

/// The successors of a leader's block, leaders numbered within their function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Follow {
    /// The leaders that can come next in the same activation, except the leader itself; ascending.
    pub(super) successors: Vec<usize>,
    /// The leader that every way from here to the end of the function passes first. `None` where
    /// there is none but the end itself.
    pub(super) post_dominator: Option<usize>,
}

/// The largest number of entries of a jump table.
const MAX_TABLE: u64 = 4096;
/// The distance before an indirect jump within which the address of its table is looked for, in instructions.
const TABLE_WINDOW: usize = 12;

/// Reader of the image's memory as the file gives it: address and length to bytes.
pub(super) type ImageReader<'a> = dyn Fn(u64, u64) -> Option<&'a [u8]> + 'a;

/// The targets of the indirect jumps of a function, by the instruction of each; none where no table was found.
pub(super) struct JumpTables(HashMap<usize, Vec<usize>>);

impl JumpTables {
    /// Reads the tables of the function with this code.
    pub(super) fn read(code: &Code, memory: &ImageReader<'_>) -> JumpTables {
        let jumps = (0..code.insns().len()).filter(|&insn| code.at(insn).flow == ControlFlow::Indirect);
        JumpTables(jumps.map(|jump| (jump, read_table(code, jump, memory))).collect())
    }

    /// Whether each indirect jump has a table.
    pub(super) fn are_complete(&self) -> bool {
        self.0.values().all(|table| !table.is_empty())
    }

    /// The targets of all jumps.
    pub(super) fn targets(&self) -> impl Iterator<Item = usize> {
        self.0.values().flatten().copied()
    }
}

/// Connects the leaders at these instructions, given in ascending order.
pub(super) fn connect(code: &Code, leaders: &[usize], tables: &JumpTables) -> Vec<Follow> {
    let number: HashMap<usize, usize> = leaders.iter().enumerate().map(|(i, &insn)| (insn, i)).collect();
    let indirect = Indirect::new(code, leaders, tables);
    let exit = leaders.len();
    let nexts: Vec<Vec<usize>> =
        leaders.iter().map(|&insn| nexts(code, insn, &number, &indirect, exit)).collect();
    let mut graph: DiGraph<(), ()> = DiGraph::new();
    let nodes: Vec<NodeIndex> = (0..=exit).map(|_| graph.add_node(())).collect();
    for (leader, nexts) in nexts.iter().enumerate() {
        for &next in nexts {
            graph.add_edge(nodes[leader], nodes[next], ());
        }
    }
    let post_dominators = dominators::simple_fast(Reversed(&graph), nodes[exit]);
    let follow = |(leader, nexts): (usize, Vec<usize>)| Follow {
        successors: nexts.into_iter().filter(|&next| next != leader && next != exit).collect(),
        post_dominator: post_dominators
            .immediate_dominator(nodes[leader])
            .map(NodeIndex::index)
            .filter(|&dominator| dominator != exit),
    };
    nexts.into_iter().enumerate().map(follow).collect()
}

/// The leaders that can be reached from `start` without passing another one; `exit` for the end of the
/// function.
fn nexts(
    code: &Code,
    start: usize,
    number: &HashMap<usize, usize>,
    indirect: &Indirect<'_>,
    exit: usize,
) -> Vec<usize> {
    let mut found = HashSet::new();
    let mut seen = HashSet::new();
    let mut open = vec![start];
    while let Some(insn) = open.pop() {
        let mut ways: Vec<usize> =
            code.successors(insn).filter(|&way| !is_canary_alarm(code, insn, way)).collect();
        if code.at(insn).flow == ControlFlow::Indirect {
            ways.extend(indirect.targets(insn));
        }
        if ways.is_empty() {
            found.insert(exit);
        }
        for way in ways {
            match number.get(&way) {
                Some(&leader) => {
                    found.insert(leader);
                }
                None if seen.insert(way) => open.push(way),
                None => {}
            }
        }
    }
    let mut found: Vec<usize> = found.into_iter().collect();
    found.sort_unstable();
    found
}

/// Whether the way from a branch leads to the alarm of the stack canary, which is no decision of the
/// program's: the branch follows the comparison with the canary, and the way ends in a call.
fn is_canary_alarm(code: &Code, branch: usize, way: usize) -> bool {
    let compared = (branch.saturating_sub(3)..branch).any(|insn| code.at(insn).reads_canary());
    matches!(code.at(branch).flow, ControlFlow::Branch(_))
        && compared
        && code.at(way).flow == ControlFlow::Call
}

/// The targets of indirect jumps: as their tables say, or else all that no direct jump leads to.
struct Indirect<'t> {
    tables: &'t JumpTables,
    unclaimed: Vec<usize>,
}

impl<'t> Indirect<'t> {
    fn new(code: &Code, leaders: &[usize], tables: &'t JumpTables) -> Indirect<'t> {
        let mut unclaimed = Vec::new();
        if !tables.0.is_empty() {
            let predecessors = code.predecessors();
            unclaimed
                .extend(leaders.iter().copied().filter(|&insn| insn != 0 && predecessors[insn].is_empty()));
        }
        Indirect { tables, unclaimed }
    }

    fn targets(&self, jump: usize) -> impl Iterator<Item = usize> {
        let table = self.tables.0.get(&jump).filter(|table| !table.is_empty()).unwrap_or(&self.unclaimed);
        table.iter().copied()
    }
}

/// The targets of a compiler's jump table: 32-bit offsets from the table itself (`lea r,[rip+table]`)
/// or 64-bit addresses (`[r*8+table]`). Empty if the code before `jump` shows no table.
fn read_table(code: &Code, jump: usize, memory: &ImageReader<'_>) -> Vec<usize> {
    let window = (jump.saturating_sub(TABLE_WINDOW)..=jump).rev().map(|insn| &code.at(insn).iced);
    for insn in window {
        if insn.mnemonic() == Mnemonic::Lea && insn.memory_base() == Register::RIP {
            let table = insn.memory_displacement64();
            let offset = |bytes: &[u8]| bytes.try_into().ok().map(i32::from_le_bytes);
            let targets = entries(code, table, 4, memory, |bytes| {
                offset(bytes).map(|offset| table.wrapping_add_signed(offset.into()))
            });
            if !targets.is_empty() {
                return targets;
            }
        }
        let has_memory = (0..insn.op_count()).any(|i| insn.op_kind(i) == OpKind::Memory);
        if has_memory && insn.memory_index_scale() == 8 && insn.memory_base() == Register::None {
            let address = |bytes: &[u8]| bytes.try_into().ok().map(u64::from_le_bytes);
            return entries(code, insn.memory_displacement64(), 8, memory, address);
        }
    }
    Vec::new()
}

/// The entries of a table up to the first that is no instruction of the function.
fn entries(
    code: &Code,
    table: u64,
    width: u64,
    memory: &ImageReader<'_>,
    target: impl Fn(&[u8]) -> Option<u64>,
) -> Vec<usize> {
    (0..MAX_TABLE)
        .map_while(|i| memory(table.checked_add(i * width)?, width))
        .map_while(|bytes| code.index_of(target(bytes)?))
        .collect()
}
