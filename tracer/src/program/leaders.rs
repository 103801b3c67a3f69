//! The leaders of a function: the addresses where an event begins.
//!
//! For a function with entry `lo`, and with key = (file, line), or (file, line, column) for [`Granularity::Statement`],
//! a leader is
//! - (a) `lo`;
//! - (b) a statement row that control can reach directly from another key;
//! - (c) a statement row that control can only reach by an indirect jump, such as a switch case;
//! - (d) the first row after the prologue;
//! - (e) the epilogue before each `ret`, with or without a row of its own.
//!
//! Not a leader is a block of one `jmp` (its target inherits the predecessors) and, except for (a)
//! and (e), an address where a statement is half done. That is *rule S*: on the straight line that
//! follows, a register other than rsp and rbp, a status flag or the floating-point stack is read
//! before it is written; or arguments are on the stack already, so that rsp is not where the prologue
//! has left it. This turns a compiler's many rows per expression into real statements.
//!
//! This module knows one function at a time and neither ELF nor DWARF.

use std::collections::{BTreeMap, HashSet};

use iced_x86::{Mnemonic, OpKind, Register};

use super::code::{Code, ControlFlow, Insn};
use super::lines::Row;
use super::moving::STATUS_FLAGS;
use super::registers::{self, RegisterSet, Uses};
use super::stack::StackHeights;
use super::{Granularity, LeaderKind};

/// A leader within its function: the index of its instruction, and why it is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FoundLeader {
    pub(super) insn: usize,
    pub(super) kind: LeaderKind,
    /// The row that says which statement begins here.
    pub(super) row: Row,
    /// The live registers: those that hold values which are used after it.
    pub(super) live: RegisterSet,
}

/// The leaders of the function with this code, in the order of their addresses.
///
/// `rows` are the line table's rows in the function, several at one address allowed; `entry` is the
/// index of the first instruction. Empty if the function's entry has no row.
pub(super) fn find(
    code: &Code,
    rows: &[Row],
    entry: usize,
    heights: &StackHeights,
    granularity: Granularity,
) -> Vec<FoundLeader> {
    let table = Table::new(code, rows, granularity);
    let Some(entry_row) = table.covering(entry) else {
        return Vec::new();
    };
    let mut uses = Uses::new();
    let live = registers::live(code, &mut uses);
    let epilogues = epilogues(code, entry);
    let mut found = BTreeMap::new();
    for &(start, end) in &epilogues {
        if let Some(row) = table.of_epilogue(start, end) {
            found.insert(
                start,
                FoundLeader { insn: start, kind: LeaderKind::Epilogue, row, live: live[start] },
            );
        }
    }
    let of_epilogues: HashSet<usize> = epilogues.iter().flat_map(|&(start, end)| start..=end).collect();
    let borrowed = borrowed(code, &mut uses);
    let behind_prologue = behind_prologue(code, &table, entry);
    let base = behind_prologue.and_then(|insn| heights.at(insn));
    let predecessors = Predecessors::new(code, &table);
    for (&insn, &row) in &table.rows {
        let first = Some(insn) == behind_prologue;
        let in_prologue = behind_prologue.is_some_and(|first| insn < first)
            && code.at(insn).address >= code.at(entry).address;
        if !(row.is_stmt || first)
            || in_prologue
            || of_epilogues.contains(&insn)
            || table.is_jump_only(code, insn)
        {
            continue;
        }
        let sources = predecessors.of(insn);
        let from_elsewhere = sources.iter().any(|&source| table.key(source) != table.key(insn));
        let unsettled = matches!((heights.at(insn), base), (Some(here), Some(base)) if here != base);
        if (first || sources.is_empty() || from_elsewhere) && !unsettled && !borrowed[insn].is_anything() {
            found.insert(insn, FoundLeader { insn, kind: LeaderKind::Statement, row, live: live[insn] });
        }
    }
    found.insert(
        entry,
        FoundLeader { insn: entry, kind: LeaderKind::Entry, row: entry_row, live: live[entry] },
    );
    found.into_values().collect()
}

/// The rows of a function by the instruction at which they begin: the last row of an address, a
/// statement if any row there is one; without those of line 0 and of `nop`, which belong to the row
/// before.
struct Table {
    rows: BTreeMap<usize, Row>,
    /// The rows of `nop`, which only say where an epilogue stands.
    of_nops: BTreeMap<usize, Row>,
    granularity: Granularity,
}

impl Table {
    fn new(code: &Code, all: &[Row], granularity: Granularity) -> Table {
        let mut rows: BTreeMap<usize, Row> = BTreeMap::new();
        for row in all {
            let Some(insn) = code.index_of(row.address) else {
                continue;
            };
            let before = rows.get(&insn);
            let is_stmt = row.is_stmt || before.is_some_and(|before| before.is_stmt);
            let prologue_end = row.prologue_end || before.is_some_and(|before| before.prologue_end);
            // A row that begins no statement says nothing where another one does.
            let row = before.filter(|before| before.is_stmt && !row.is_stmt).unwrap_or(row);
            rows.insert(insn, Row { is_stmt, prologue_end, ..*row });
        }
        rows.retain(|_, row| row.line != 0);
        let (of_nops, rows) = rows.into_iter().partition(|&(insn, _)| code.at(insn).is_nop());
        Table { rows, of_nops, granularity }
    }

    /// The row to which an instruction belongs.
    fn covering(&self, insn: usize) -> Option<Row> {
        self.rows.range(..=insn).next_back().map(|(_, &row)| row)
    }

    /// The row of an epilogue from `start` to `end`: its own, if it has one.
    fn of_epilogue(&self, start: usize, end: usize) -> Option<Row> {
        let own = [&self.of_nops, &self.rows].into_iter().find_map(|rows| rows.range(start..=end).next());
        own.map(|(_, &row)| row).or_else(|| self.covering(start))
    }

    fn key(&self, insn: usize) -> Option<(u32, u32, u32)> {
        let row = self.covering(insn)?;
        let column = match self.granularity {
            Granularity::Line => 0,
            Granularity::Statement => row.column,
        };
        Some((row.file.0, row.line, column))
    }

    /// Whether a row begins here whose block is one `jmp` inside the function.
    fn is_jump_only(&self, code: &Code, insn: usize) -> bool {
        match code.at(insn).flow {
            ControlFlow::Jump(target) => self.rows.contains_key(&insn) && code.index_of(target).is_some(),
            _ => false,
        }
    }
}

/// The predecessors of an instruction, seen through blocks of one `jmp`.
struct Predecessors<'c> {
    direct: &'c [Vec<usize>],
    transparent: HashSet<usize>,
}

impl<'c> Predecessors<'c> {
    fn new(code: &'c Code, table: &Table) -> Predecessors<'c> {
        let transparent = table.rows.keys().copied().filter(|&insn| table.is_jump_only(code, insn)).collect();
        Predecessors { direct: code.predecessors(), transparent }
    }

    fn of(&self, insn: usize) -> Vec<usize> {
        let mut sources = Vec::new();
        let mut seen = HashSet::new();
        let mut open = self.direct[insn].clone();
        while let Some(source) = open.pop() {
            if !seen.insert(source) {
                continue;
            }
            if self.transparent.contains(&source) {
                open.extend(&self.direct[source]);
            } else {
                sources.push(source);
            }
        }
        sources
    }
}

/// The instruction of the first row after the prologue: the compiler's mark, or else the second row. The store of the
/// stack canary belongs to the prologue.
fn behind_prologue(code: &Code, table: &Table, entry: usize) -> Option<usize> {
    let marked = table.rows.range(entry + 1..).find(|(_, row)| row.prologue_end).map(|(&insn, _)| insn);
    let start = marked.unwrap_or(entry + 1);
    table.rows.range(start..).map(|(&insn, _)| insn).find(|&insn| !code.at(insn).reads_canary())
}

/// First and last instruction of the epilogue before each `ret`.
///
/// The longest suffix of `nop`, `add rsp`, `lea` and `mov rsp`, `leave`, `pop` and the check of the
/// stack canary, but none that control enters in its middle: each way out must pass the leader.
fn epilogues(code: &Code, entry: usize) -> Vec<(usize, usize)> {
    let predecessors = code.predecessors();
    let returns = (0..code.insns().len()).filter(|&insn| code.at(insn).flow == ControlFlow::Return);
    returns
        .map(|last| {
            let mut start = last;
            while start > 0 {
                let entered = predecessors[start].iter().any(|&source| source + 1 != start);
                let before = if entered { None } else { tears_down(code.at(start - 1)).then_some(start - 1) };
                match before.or_else(|| canary_check(code, predecessors, start)) {
                    Some(before) if code.fall_through(before).is_some() && before != entry => start = before,
                    _ => break,
                }
            }
            (start, last)
        })
        .collect()
}

fn tears_down(insn: &Insn) -> bool {
    let writes_rsp = insn.iced.op0_register() == Register::RSP;
    match insn.iced.mnemonic() {
        Mnemonic::Nop | Mnemonic::Leave | Mnemonic::Pop => true,
        Mnemonic::Add | Mnemonic::Lea | Mnemonic::Mov => writes_rsp,
        _ => false,
    }
}

/// The beginning of the check of the stack canary, if that is the code before `end`.
///
/// gcc: `mov r,[slot]; sub r,fs:28h; je end; call __stack_chk_fail`.
fn canary_check(code: &Code, predecessors: &[Vec<usize>], end: usize) -> Option<usize> {
    let start = end.checked_sub(4)?;
    let [load, compare, branch, call] = [start, start + 1, start + 2, start + 3].map(|insn| code.at(insn));
    let shape = load.iced.mnemonic() == Mnemonic::Mov
        && compare.reads_canary()
        && branch.flow == ControlFlow::Branch(code.at(end).address)
        && call.flow == ControlFlow::Call;
    let only_from_check = predecessors[end].iter().all(|&source| source == start + 2 || source == start + 3);
    (shape && only_from_check).then_some(start)
}

/// Rule S as far as registers, flags and the floating-point stack go: for each instruction, what the straight line from
/// there, up to the first call, jump or return, uses without having produced it.
fn borrowed(code: &Code, uses: &mut Uses) -> Vec<Borrowed> {
    let mut lines = vec![Borrowed::default(); code.insns().len()];
    for (index, insn) in code.insns().iter().enumerate().rev() {
        let next = if insn.flow == ControlFlow::Next { code.fall_through(index) } else { None };
        let behind = next.map_or_else(Borrowed::default, |next| lines[next]);
        let registers = uses.of(insn);
        let flags = behind.flags & !insn.iced.rflags_modified();
        // An instruction that pops a value needs one more on the stack than what follows.
        let popped = insn.iced.fpu_stack_increment_info().increment();
        let values = behind.values.saturating_add(popped).max(0);
        lines[index] = Borrowed {
            registers: registers.reads | behind.registers & !registers.writes,
            flags: insn.iced.rflags_read() & STATUS_FLAGS | flags,
            values: if uses_fpu_stack(insn) { values.max(fpu_operands(insn)) } else { values },
        };
    }
    lines
}

/// The values that a straight line of code uses from before it.
#[derive(Clone, Copy, Default)]
struct Borrowed {
    registers: RegisterSet,
    /// Status flags.
    flags: u32,
    /// The number of values on the floating-point stack.
    values: i32,
}

impl Borrowed {
    fn is_anything(self) -> bool {
        !self.registers.is_empty() || self.flags != 0 || self.values > 0
    }
}

fn uses_fpu_stack(insn: &Insn) -> bool {
    insn.iced.fpu_stack_increment_info().writes_top()
        || (0..insn.iced.op_count()).any(|i| insn.iced.op_register(i).is_st())
}

/// The number of values that an x87 instruction expects on the floating-point stack.
fn fpu_operands(insn: &Insn) -> i32 {
    let deepest = (0..insn.iced.op_count())
        .map(|i| insn.iced.op_register(i))
        .filter(|register| register.is_st())
        .map(|register| register as i32 - Register::ST0 as i32 + 1)
        .max()
        .unwrap_or(0);
    let loads = insn.iced.fpu_stack_increment_info().increment() < 0;
    let pops = insn.iced.fpu_stack_increment_info().increment().max(0);
    match insn.iced.mnemonic() {
        Mnemonic::Fld if insn.iced.op0_kind() == OpKind::Memory => 0,
        _ if loads && deepest <= 1 => deepest.min(i32::from(insn.iced.op_count() > 1)),
        _ => deepest.max(pops),
    }
}
