//! Declare which changes `stripe replay` makes before it lets a program go its own way.

use clap::Args;

use crate::locate::CandidateKind;

const CONFLICTS: [&str; 5] = ["omit", "keep", "by_product", "control", "poison"];

/// Which changes are made.
#[derive(Debug, Args)]
pub struct InterventionOptions {
    /// Take the decision there the other way, and then let the program go its own way. WHERE is a line, main.c:11, for
    /// all its executions; one of them, 11#3; of several statements of a line the one at a column, 11:5; an event, 12;
    /// or the address of a conditional jump, 0x401156. May be repeated.
    #[arg(long, value_name = "WHERE", conflicts_with_all = CONFLICTS, help_heading = "Changes")]
    pub flip: Vec<String>,
    /// The same, but the conditional jump of the decision always jumps; what that means is told.
    #[arg(long, value_name = "WHERE", conflicts_with_all = CONFLICTS, help_heading = "Changes")]
    pub always: Vec<String>,
    /// The same, but it never jumps.
    #[arg(long, value_name = "WHERE", conflicts_with_all = CONFLICTS, help_heading = "Changes")]
    pub never: Vec<String>,
    /// Leave out the statements there; a decision with what it governs.
    #[arg(long, value_name = "WHERE", conflicts_with_all = CONFLICTS, help_heading = "Changes")]
    pub omit_line: Vec<String>,
}

impl InterventionOptions {
    /// True if any changes are asked for.
    pub(super) fn is_given(&self) -> bool {
        let InterventionOptions { flip, always, never, omit_line } = self;
        [flip, always, never, omit_line].iter().any(|places| !places.is_empty())
    }

    /// The changes, each with its place.
    pub(super) fn asked(&self) -> impl Iterator<Item = (CandidateKind, &String)> {
        let of = |kind, places| std::iter::repeat(kind).zip(places);
        of(CandidateKind::Flip, &self.flip)
            .chain(of(CandidateKind::Always, &self.always))
            .chain(of(CandidateKind::Never, &self.never))
            .chain(of(CandidateKind::Omit, &self.omit_line))
    }
}
