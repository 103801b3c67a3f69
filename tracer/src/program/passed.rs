//! Find the statements that control passes between two leaders: conditions on values that are in registers already, and
//! plain jumps such as `break`. No event begins at them, so that a trace does not name them.

use std::collections::{BTreeSet, HashMap, HashSet};

use iced_x86::{Decoder, DecoderOptions, FlowControl, Instruction};

use super::{ImageId, LeaderId, Program, Statement};
use crate::address::FileAddress;

/// The largest number of instructions that are looked at from a leader on.
const MOST_INSTRUCTIONS: usize = 4096;

/// A row of the line table of a traced function at which a statement begins.
#[derive(Clone, Copy, Debug)]
pub(super) struct StatementRow {
    pub(super) image: ImageId,
    pub(super) address: FileAddress,
    pub(super) statement: Statement,
    /// Whether a leader of the function stands in its line, so that events tell when the line is executed.
    pub(super) has_events: bool,
}

/// The statement rows of an executable, by their addresses; of neighbours with events the first alone.
#[derive(Debug, Default)]
pub(super) struct StatementRows(Vec<StatementRow>);

impl StatementRows {
    pub(super) fn new(mut rows: Vec<StatementRow>) -> StatementRows {
        // Of several rows at an address the last one counts.
        rows.sort_by_key(|row| (row.image, row.address));
        // Nothing is asked of those with events, which are nearly all, but that the others end there.
        rows.dedup_by(|row, before| row.has_events && before.has_events);
        rows.shrink_to_fit();
        StatementRows(rows)
    }

    /// The last row at or before an address, if its line has no events.
    fn before(&self, image: ImageId, address: FileAddress) -> Option<StatementRow> {
        let count = self.0.partition_point(|row| (row.image, row.address) <= (image, address));
        let row = *self.0.get(count.checked_sub(1)?)?;
        (row.image == image && !row.has_events).then_some(row)
    }
}

/// Where control goes on after an instruction.
enum Successors {
    /// At these addresses.
    At(Vec<u64>),
    /// At a place that the code does not say, or in another function.
    Anywhere,
}

impl Program {
    /// The statements in lines without events that control passes from a leader to the next one of the same activation.
    /// Where several ways lead there, those of all of them. Without a next one: those on the straight line, up to the
    /// first branch.
    pub fn passed(&self, from: LeaderId, to: Option<LeaderId>) -> BTreeSet<Statement> {
        let (image, begin) = (self.leader(from).image, self.leader(from).address.0);
        let (mut sources, mut ends) = (HashMap::<u64, Vec<u64>>::new(), Vec::new());
        let (mut open, mut seen) = (vec![begin], HashSet::from([begin]));
        while let Some(at) = open.pop().filter(|_| seen.len() <= MOST_INSTRUCTIONS) {
            let Some(instruction) = self.instruction(image, at) else { continue };
            let next = match successors(&instruction) {
                Successors::At(next) if to.is_some() || next.len() == 1 => next,
                Successors::At(_) | Successors::Anywhere => {
                    ends.push(at);
                    continue;
                }
            };
            for next in next {
                match self.leader_at(image, FileAddress(next)) {
                    Some(leader) if Some(leader) == to => ends.push(at),
                    Some(leader) if leader != from => {}
                    // An arrival at the leader that was reached last is no new event.
                    _ => {
                        sources.entry(next).or_default().push(at);
                        open.extend(seen.insert(next).then_some(next));
                    }
                }
            }
        }
        let rows = reaching(ends, &sources).into_iter().filter_map(|at| {
            let row = self.statement_rows.before(image, FileAddress(at));
            row.filter(|row| row.address.0 == at).map(|row| row.statement)
        });
        rows.collect()
    }

    /// The statement that an instruction of a traced function belongs to, if that has a line without events.
    pub fn passed_statement(&self, image: ImageId, address: FileAddress) -> Option<Statement> {
        self.text_at(image, address)?;
        self.statement_rows.before(image, address).map(|row| row.statement)
    }

    fn instruction(&self, image: ImageId, address: u64) -> Option<Instruction> {
        let text = self.text_at(image, FileAddress(address))?;
        let instruction = Decoder::with_ip(64, text, address, DecoderOptions::NONE).decode();
        (!instruction.is_invalid()).then_some(instruction)
    }
}

fn successors(instruction: &Instruction) -> Successors {
    let next = instruction.next_ip();
    match instruction.flow_control() {
        FlowControl::Next | FlowControl::Call | FlowControl::IndirectCall => Successors::At(vec![next]),
        FlowControl::UnconditionalBranch => Successors::At(vec![instruction.near_branch_target()]),
        FlowControl::ConditionalBranch => Successors::At(vec![next, instruction.near_branch_target()]),
        _ => Successors::Anywhere,
    }
}

/// All addresses from which one of `ends` is reached, with those themselves.
fn reaching(ends: Vec<u64>, sources: &HashMap<u64, Vec<u64>>) -> BTreeSet<u64> {
    let mut reaching = BTreeSet::new();
    let mut open = ends;
    while let Some(at) = open.pop() {
        if reaching.insert(at) {
            open.extend(sources.get(&at).into_iter().flatten());
        }
    }
    reaching
}
