//! Convert the loop of a run that never ends into a document and back.

use std::time::Duration;

use tracer::program::LeaderId;
use tracer::termination::Cut;
use tracer::trace::Endless;

use super::documents::{CutDocument, EndlessDocument};

/// The reasons why a run that never ends is ended by the tracer.
const CUTS: [(Cut, CutDocument); 8] = [
    (Cut::CpuTime, CutDocument::CpuTime),
    (Cut::WallTime, CutDocument::WallTime),
    (Cut::Asleep, CutDocument::Asleep),
    (Cut::Arrivals, CutDocument::Arrivals),
    (Cut::Trace, CutDocument::Trace),
    (Cut::FileSize, CutDocument::FileSize),
    (Cut::Output, CutDocument::Output),
    (Cut::Disk, CutDocument::Disk),
];

pub(super) fn document(endless: &Endless) -> EndlessDocument {
    let known = CUTS.iter().find(|(cut, _)| *cut == endless.cut);
    EndlessDocument {
        // A run that was ended for another reason is not one that never ends.
        cut: known.map_or(CutDocument::WallTime, |(_, document)| *document),
        leaders: endless.leaders.iter().map(|leader| leader.0).collect(),
        enough: endless.enough,
        arrivals: endless.arrivals,
        events: endless.events,
        silence_us: endless.silence.as_micros() as u64,
    }
}

pub(super) fn endless(document: &EndlessDocument) -> Endless {
    let known = CUTS.iter().find(|(_, cut)| *cut == document.cut);
    Endless {
        cut: known.expect("all are listed").0,
        leaders: document.leaders.iter().map(|&leader| LeaderId(leader)).collect(),
        enough: document.enough,
        arrivals: document.arrivals,
        events: document.events,
        silence: Duration::from_micros(document.silence_us),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_to_end_a_run_that_never_ends_is_kept() {
        for (cut, _) in CUTS {
            assert!(cut.is_for_endless(), "{cut}");
            let silence = Duration::from_millis(5);
            let original =
                Endless { cut, leaders: vec![LeaderId(3)], enough: 7, arrivals: 9, events: 11, silence };
            assert_eq!(endless(&document(&original)), original);
        }
    }
}
