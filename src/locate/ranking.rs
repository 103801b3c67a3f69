//! Rank the executed lines by the effects of changes at them.

use std::cmp::{Ordering, Reverse};
use std::collections::{BTreeMap, BTreeSet, HashMap};

use study::formula::Suspicion;
use tracer::program::{FileId, Statement};
use tracer::trace::EventId;

use super::candidates::{Candidate, CandidateKind, Granule};
use super::effect::{Effect, EffectKind};
use super::further::{FurtherTests, OnTests};
use crate::subject::{Recorded, executed_by, step};

/// The reason for a line's rank, the best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RankReason {
    /// A decision that goes the other way makes the run right.
    FlipRepairs,
    /// An omission makes it right.
    OmissionRepairs,
    /// Another value makes it right.
    ValueRepairs,
    /// A change makes it right, but only with what happens to lie in undefined memory.
    UndefinedRepairs,
    /// A change brings the output nearer.
    Nearer,
    /// The line was executed before the first wrong byte of the output.
    Before,
    /// The line was executed only after that.
    After,
}

/// An executed line with its rank.
#[derive(Clone, Debug)]
pub struct LineRank {
    /// The rank, from 1; lines that nothing tells apart share the first one of theirs.
    pub rank: usize,
    /// The number of lines that share it.
    pub ties: usize,
    /// The file.
    pub file: FileId,
    /// The line in it, from 1.
    pub line: u32,
    /// The reason for the rank.
    pub reason: RankReason,
    /// True if a change makes the run under study and all failing tests right, and no passing test wrong.
    pub is_plausible: bool,
    /// The effect on further tests of its best change that makes the run under study right.
    pub on_tests: Option<OnTests>,
    /// The suspicion by which tests execute it; `None` without further tests.
    pub suspicion: Option<Suspicion>,
    /// True if it was executed shortly before a line whose change makes the run right, or is such a line.
    pub is_near_repair: bool,
    /// The distance from it, in lines of its file, to the nearest line whose change satisfies all tests; if there is none
    /// in any file, makes the run right; if there is none, brings the output nearer. `None` if its file has no such line.
    pub distance: Option<u32>,
    /// The last execution before the first wrong byte of the output, or else the last one.
    pub last: EventId,
    /// The changes that make the run right or bring it nearer, by their numbers among the candidates; the best first.
    pub repairs: Vec<usize>,
}

/// The ranking: the executed lines in the order in which they are worth a look.
#[derive(Clone, Debug)]
pub struct Ranking {
    /// All lines.
    pub lines: Vec<LineRank>,
    /// The last event that can have had a part in the first wrong byte, as far as changes have shown.
    pub cutoff: Option<EventId>,
}

/// A key by which lines are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankKey {
    /// Lines with a change that satisfies all tests come first.
    Plausible,
    /// Then those with a change that makes more failing tests right.
    RepairedTests,
    /// Then those whose change makes fewer passing tests wrong.
    BrokenTests,
    /// Then those with a change that makes the run right, in whichever way.
    Repaired,
    /// Then the better reason.
    Reason,
    /// Then those that more of the failing and fewer of the passing tests execute.
    Suspicion,
    /// Then those executed shortly before a line whose change makes the run right: what is wrong there was often made
    /// wrong just before.
    Near,
    /// Then those that stand nearer in the source to a line whose change helps, by bands of 20, 200 and 2,000 lines.
    Distance,
    /// Then those that were executed later, of what was executed before the first wrong byte.
    Last,
}

/// The order of lines: the first key that tells two lines apart decides. Chosen by `benches/mutants` on faults that are
/// kept apart from those by which it is measured.
pub const ORDER: [RankKey; 7] = [
    RankKey::Plausible,
    RankKey::Suspicion,
    RankKey::RepairedTests,
    RankKey::Repaired,
    RankKey::Distance,
    RankKey::Reason,
    RankKey::Last,
];

/// The largest number of events from an execution to that of a repair which is near. Between 10 and 200 the number makes
/// hardly any difference to the study.
const NEAR: u32 = 10;

/// The bands of distances in the source, by the largest of each. In small programs everything is near everything, and
/// there the time of execution tells more than lines in between; in large ones it is the other way round.
const BANDS: [u32; 3] = [20, 200, 2000];

/// The experiments that a ranking is based on.
pub struct Experiments<'e> {
    /// The candidates.
    pub candidates: &'e [Candidate],
    /// The effect of each candidate; `None` for one that was not tried.
    pub effects: &'e [Option<Effect>],
    /// The number of output bytes before the first wrong one, if that is known.
    pub first_wrong: Option<usize>,
    /// The effect of each change on further tests; `None` for one that was not tried on them.
    pub on_tests: &'e [Option<OnTests>],
    /// The further tests.
    pub tests: &'e FurtherTests,
}

/// Ranks the lines.
pub fn ranking(recorded: Recorded<'_>, known: &Experiments<'_>, order: &[RankKey]) -> Ranking {
    let Experiments { candidates, effects, .. } = *known;
    let cutoff = known.first_wrong.and_then(|wrong| cutoff(recorded, candidates, effects, wrong));
    let mut lines = executed(recorded, cutoff);
    for (number, (candidate, effect)) in candidates.iter().zip(effects).enumerate() {
        let Some(reason) = effect.as_ref().and_then(|effect| reason(candidate.kind, effect.kind)) else {
            continue;
        };
        let statement = candidate.statement(recorded);
        let Some(line) = lines.get_mut(&(statement.file, statement.line)) else { continue };
        line.reason = line.reason.min(reason);
        line.repairs.push(number);
        if let Some(with) = known.on_tests[number].filter(|_| reason < RankReason::UndefinedRepairs) {
            line.is_plausible |= known.tests.are_satisfied(with);
            line.on_tests = line.on_tests.max(Some(with));
        }
    }
    let mut lines: Vec<LineRank> = lines.into_values().collect();
    for line in &mut lines {
        line.suspicion = known.tests.suspicion((line.file, line.line));
        line.repairs.sort_by_key(|&number| {
            // A change that makes the output right to the byte comes first; of those that do not, one that
            // does but for white space.
            let effect = effects[number]
                .map(|Effect { kind, only_space, .. }| (kind, only_space == (kind == EffectKind::Right)));
            (effect, Reverse(known.on_tests[number]), candidates[number].kind, number)
        });
    }
    note_near_repairs(&mut lines);
    note_distances(&mut lines);
    let place = |line: &LineRank| (line.file, line.line);
    lines.sort_by(|one, other| compare(one, other, order).then_with(|| place(one).cmp(&place(other))));
    number(&mut lines, order);
    Ranking { lines, cutoff }
}

/// Notes which lines were executed shortly before one where a change satisfies all tests, or if there is none, makes the
/// run right.
fn note_near_repairs(lines: &mut [LineRank]) {
    let last_of = |is_meant: &dyn Fn(&LineRank) -> bool| -> Vec<EventId> {
        lines.iter().filter(|line| is_meant(line)).map(|line| line.last).collect()
    };
    let mut repairs = last_of(&|line| line.is_plausible);
    if repairs.is_empty() {
        repairs = last_of(&|line| line.reason <= RankReason::ValueRepairs);
    }
    for line in lines {
        let is_before = |repair: &EventId| repair.0.checked_sub(line.last.0).is_some_and(|gap| gap <= NEAR);
        line.is_near_repair = repairs.iter().any(is_before);
    }
}

/// Notes how far each line is in the source from one whose change helps. Those that help best count alone.
fn note_distances(lines: &mut [LineRank]) {
    let help_best: [fn(&LineRank) -> bool; 3] = [
        |line| line.is_plausible,
        |line| line.reason <= RankReason::ValueRepairs,
        |line| line.reason <= RankReason::Nearer,
    ];
    let places = |helps: &fn(&LineRank) -> bool| -> BTreeSet<(FileId, u32)> {
        lines.iter().filter(|line| helps(line)).map(|line| (line.file, line.line)).collect()
    };
    let places = help_best.iter().map(places).find(|places| !places.is_empty()).unwrap_or_default();
    for line in lines {
        let before = places.range((line.file, 0)..=(line.file, line.line)).next_back();
        let after = places.range((line.file, line.line)..=(line.file, u32::MAX)).next();
        line.distance = before.into_iter().chain(after).map(|(_, other)| other.abs_diff(line.line)).min();
    }
}

/// The executed lines, unordered; also those at which no event begins.
fn executed(recorded: Recorded<'_>, cutoff: Option<EventId>) -> BTreeMap<(FileId, u32), LineRank> {
    let mut lines: BTreeMap<(FileId, u32), LineRank> = BTreeMap::new();
    let mut known: HashMap<_, Vec<Statement>> = HashMap::new();
    for event in recorded.trace.events() {
        let Some(step) = step(recorded, event) else { continue };
        let is_before = cutoff.is_none_or(|cutoff| event <= cutoff);
        for statement in known.entry(step).or_insert_with(|| executed_by(recorded, step)) {
            let place = (statement.file, statement.line);
            let line = lines.entry(place).or_insert_with(|| unranked(place, event, is_before));
            if is_before || line.reason == RankReason::After {
                line.last = event;
            }
        }
    }
    lines
}

fn unranked((file, line): (FileId, u32), event: EventId, is_before: bool) -> LineRank {
    LineRank {
        rank: 0,
        ties: 1,
        file,
        line,
        reason: if is_before { RankReason::Before } else { RankReason::After },
        is_plausible: false,
        on_tests: None,
        suspicion: None,
        is_near_repair: false,
        distance: None,
        last: event,
        repairs: Vec::new(),
    }
}

/// Compares two lines by the keys of an order.
fn compare(one: &LineRank, other: &LineRank, order: &[RankKey]) -> Ordering {
    let repaired = |line: &LineRank| line.on_tests.map_or(0, |with| with.repaired);
    // Lines without such a change are told apart by their reasons.
    let broken = |line: &LineRank| line.on_tests.map_or(usize::MAX, |with| with.broken);
    let is_repaired = |line: &LineRank| line.reason <= RankReason::ValueRepairs;
    let distance = |line: &LineRank| band(line.distance);
    let by = |key: &RankKey| match key {
        RankKey::Plausible => other.is_plausible.cmp(&one.is_plausible),
        RankKey::RepairedTests => repaired(other).cmp(&repaired(one)),
        RankKey::BrokenTests => broken(one).cmp(&broken(other)),
        RankKey::Repaired => is_repaired(other).cmp(&is_repaired(one)),
        RankKey::Reason => one.reason.cmp(&other.reason),
        RankKey::Suspicion => other.suspicion.cmp(&one.suspicion),
        RankKey::Near => other.is_near_repair.cmp(&one.is_near_repair),
        RankKey::Distance => distance(one).cmp(&distance(other)),
        RankKey::Last => other.last.cmp(&one.last),
    };
    order.iter().map(by).find(|ordering| ordering.is_ne()).unwrap_or(Ordering::Equal)
}

/// The band of a distance; the last one is that of lines in other files.
fn band(distance: Option<u32>) -> usize {
    distance.map_or(BANDS.len() + 1, |distance| BANDS.partition_point(|&most| most < distance))
}

/// Assigns each line its rank. Lines that no key tells apart are tied.
fn number(lines: &mut [LineRank], order: &[RankKey]) {
    let mut first = 0;
    while first < lines.len() {
        let is_same = |line: &&LineRank| compare(line, &lines[first], order).is_eq();
        let same = lines[first..].iter().take_while(is_same).count();
        for line in &mut lines[first..first + same] {
            (line.rank, line.ties) = (first + 1, same);
        }
        first += same;
    }
}

fn reason(kind: CandidateKind, effect: EffectKind) -> Option<RankReason> {
    match (effect, kind) {
        (EffectKind::Right, CandidateKind::Omit) => Some(RankReason::OmissionRepairs),
        (EffectKind::Right, CandidateKind::Value) => Some(RankReason::ValueRepairs),
        (EffectKind::Right, _) => Some(RankReason::FlipRepairs),
        (EffectKind::Undefined, _) => Some(RankReason::UndefinedRepairs),
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
