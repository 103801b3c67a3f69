//! Name changes of a program's control flow: decisions that go the other way, statements that are left out.
//!
//! Unlike a schedule, which keeps a replay on the recorded path, an intervention changes one thing, and from there on
//! the program goes its own way.

use agent::poison::Poison;

use crate::termination::ImagePlace;
use crate::untouched::Untouched;

/// How a run differs from one of the program as it is.
#[derive(Clone, Copy, Debug)]
pub struct Alterations<'a> {
    /// What is changed.
    pub interventions: &'a [Intervention],
    /// What undefined values are set to: fresh frames, fresh memory, and the registers where a statement is left out.
    pub poison: Poison,
    /// The undefined memory to which that is not done.
    pub untouched: &'a Untouched,
}

impl<'a> Alterations<'a> {
    /// These changes, and undefined values as they happen to be.
    pub fn of(interventions: &'a [Intervention]) -> Alterations<'a> {
        Alterations { interventions, poison: Poison::Off, untouched: Untouched::NONE }
    }

    /// What freshly allocated memory is filled with.
    pub(crate) fn heap_poison(&self) -> Poison {
        if self.untouched.heap { Poison::Off } else { self.poison }
    }
}

/// A change of a program's control flow at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intervention {
    /// Where: a leader for [`Change::Skip`], otherwise a conditional jump. In the executable.
    pub place: ImagePlace,
    /// What happens there instead.
    pub change: Change,
    /// Which of the executions of the place are changed.
    pub when: When,
}

/// What happens at a place instead of what is written there.
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

/// Which executions of a place are changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// All.
    Always,
    /// The one of this number, from 1.
    Execution(u32),
}
