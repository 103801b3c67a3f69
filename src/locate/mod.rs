//! Find where one change of a failing run makes its output right: the candidates, the effect of each, and
//! the ranking of lines.
//!
//! Pure: runs are made elsewhere.
//!
//! Sources: X. Zhang, N. Gupta and R. Gupta, "Locating Faults Through Automated Predicate Switching", ICSE 2006;
//! M. Papadakis and Y. Le Traon, "Metallaxis-FL", STVR 2015, for the ranking of lines by what changes at them do.

mod candidates;
mod effect;
mod further;
mod ranking;
mod spacing;

pub use candidates::{
    Candidate, CandidateKind, Granule, candidates, changes_of_execution, changes_of_statement,
};
pub use effect::{Correct, Effect, EffectKind, Trials};
pub use further::{FurtherTests, OnTests, TestCoverage};
pub use ranking::{Experiments, LineRank, ORDER, RankKey, RankReason, Ranking, ranking};
pub use spacing::Spacing;
