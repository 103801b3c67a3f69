//! Rank the executed lines by what changes at them have done.

use std::collections::BTreeMap;

use tracer::program::FileId;
use tracer::trace::EventId;

use super::candidates::{Candidate, CandidateKind, Granule};
use super::effect::{Effect, EffectKind};
use crate::subject::Recorded;

/// Why a line stands where it stands, the best reason first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RankReason {
    /// A decision that goes the other way makes the run right.
    FlipRepairs,
    /// Something left out makes it right.
    OmissionRepairs,
    /// A change brings the output nearer.
    Nearer,
    /// It was executed before the first wrong byte of the output.
    Before,
    /// It was executed only after that.
    After,
}

/// An executed line with its place in the ranking.
#[derive(Clone, Debug)]
pub struct LineRank {
    /// The place, from 1; lines that nothing tells apart share the first one of theirs.
    pub rank: usize,
    /// How many lines share it.
    pub ties: usize,
    /// The file.
    pub file: FileId,
    /// The line in it, from 1.
    pub line: u32,
    /// Why.
    pub reason: RankReason,
    /// Its last execution before the first wrong byte of the output, or else its last one.
    pub last: EventId,
    /// The changes that make the run right or bring it nearer, by their numbers among all; the best first.
    pub repairs: Vec<usize>,
}

/// The executed lines in the order in which they are worth a look.
#[derive(Clone, Debug)]
pub struct Ranking {
    /// All lines.
    pub lines: Vec<LineRank>,
    /// The last event that can have had a part in the first wrong byte, as far as changes have shown.
    pub cutoff: Option<EventId>,
}

/// Ranks the lines. Changes without an effect were not tried. `first_wrong`: so many bytes of the output are right.
pub fn ranking(
    recorded: Recorded<'_>,
    candidates: &[Candidate],
    effects: &[Option<Effect>],
    first_wrong: Option<usize>,
) -> Ranking {
    let cutoff = first_wrong.and_then(|wrong| cutoff(recorded, candidates, effects, wrong));
    let mut lines: BTreeMap<(FileId, u32), LineRank> = BTreeMap::new();
    for event in recorded.trace.events() {
        let leader = recorded.program.leader(recorded.trace.leader(event));
        if leader.kind.is_structural() {
            continue;
        }
        let place = (leader.statement.file, leader.statement.line);
        let is_before = cutoff.is_none_or(|cutoff| event <= cutoff);
        let reason = if is_before { RankReason::Before } else { RankReason::After };
        let line = lines.entry(place).or_insert(LineRank {
            rank: 0,
            ties: 1,
            file: place.0,
            line: place.1,
            reason,
            last: event,
            repairs: Vec::new(),
        });
        if is_before || line.reason == RankReason::After {
            line.last = event;
        }
    }
    for (number, (candidate, effect)) in candidates.iter().zip(effects).enumerate() {
        let Some(reason) = effect.as_ref().and_then(|effect| reason(candidate.kind, effect.kind)) else {
            continue;
        };
        let statement = candidate.statement(recorded);
        if let Some(line) = lines.get_mut(&(statement.file, statement.line)) {
            line.reason = line.reason.min(reason);
            line.repairs.push(number);
        }
    }
    let mut lines: Vec<LineRank> = lines.into_values().collect();
    for line in &mut lines {
        line.repairs.sort_by_key(|&number| {
            let effect = effects[number].map(|effect| effect.kind);
            (effect, candidates[number].kind, number)
        });
    }
    lines.sort_by_key(|line| (line.reason, std::cmp::Reverse(line.last), line.file, line.line));
    number(&mut lines);
    Ranking { lines, cutoff }
}

/// Gives each line its place. Two lines of one reason whose last executions are the same event are tied.
fn number(lines: &mut [LineRank]) {
    let key = |line: &LineRank| (line.reason, line.last);
    let mut first = 0;
    while first < lines.len() {
        let same = lines[first..].iter().take_while(|line| key(line) == key(&lines[first])).count();
        for line in &mut lines[first..first + same] {
            (line.rank, line.ties) = (first + 1, same);
        }
        first += same;
    }
}

fn reason(kind: CandidateKind, effect: EffectKind) -> Option<RankReason> {
    match (effect, kind) {
        (EffectKind::Right, CandidateKind::Omit) => Some(RankReason::OmissionRepairs),
        (EffectKind::Right, _) => Some(RankReason::FlipRepairs),
        (EffectKind::Nearer, _) => Some(RankReason::Nearer),
        _ => None,
    }
}

/// The latest execution whose change has changed the output at the first wrong byte or before it. What was printed
/// before an execution does not depend on it, so that no later one can do that.
fn cutoff(
    recorded: Recorded<'_>,
    candidates: &[Candidate],
    effects: &[Option<Effect>],
    wrong: usize,
) -> Option<EventId> {
    let only_execution = |candidate: &Candidate| {
        let mut events =
            recorded.trace.events().filter(|&event| recorded.trace.leader(event) == candidate.leader);
        events.next().filter(|_| events.next().is_none())
    };
    let changes = candidates.iter().zip(effects).filter(|(_, effect)| {
        effect.is_some_and(|effect| {
            effect.common <= wrong && !matches!(effect.kind, EffectKind::Unchanged | EffectKind::Untried)
        })
    });
    changes
        .filter_map(|(candidate, _)| match candidate.granule {
            Granule::Execution(_, event) => Some(event),
            Granule::Statement => only_execution(candidate),
        })
        .max()
}
