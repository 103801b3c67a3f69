//! Interventions: changes of a program's control flow; decisions that go the other way, statements that are left out.
//!
//! Unlike a schedule, which keeps a replay on the recorded path, an intervention changes one thing, and from there on
//! the program goes its own way.

use agent::poison::Poison;

use crate::termination::ImagePlace;
use crate::untouched::Untouched;

/// The alterations of a run, compared with one of the program as it is.
#[derive(Clone, Copy, Debug)]
pub struct Alterations<'a> {
    /// The interventions.
    pub interventions: &'a [Intervention],
    /// The pattern of undefined values: fresh frames, fresh memory, and the registers where a statement is left out.
    pub poison: Poison,
    /// The undefined memory that is not filled.
    pub untouched: &'a Untouched,
}

impl<'a> Alterations<'a> {
    /// Alterations by these interventions, with undefined values as they happen to be.
    pub fn of(interventions: &'a [Intervention]) -> Alterations<'a> {
        Alterations { interventions, poison: Poison::Off, untouched: Untouched::NONE }
    }

    /// The pattern of freshly allocated memory.
    pub(crate) fn heap_poison(&self) -> Poison {
        if self.untouched.heap { Poison::Off } else { self.poison }
    }
}

/// A change of a program's control flow at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intervention {
    /// The place, in the executable: a leader for [`Change::Skip`], otherwise a conditional jump.
    pub place: ImagePlace,
    /// The change that is made there.
    pub change: Change,
    /// The executions of the place that are changed.
    pub when: When,
}

/// The change at a place, in place of what is written there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Control goes on at this place of the same function.
    Skip(ImagePlace),
    /// The conditional jump goes the other way.
    Flip,
    /// The conditional jump always jumps.
    Jump,
    /// The conditional jump never jumps.
    FallThrough,
}

/// The executions of a place that are changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// All executions.
    Always,
    /// The execution with this number, from 1.
    Execution(u32),
}
