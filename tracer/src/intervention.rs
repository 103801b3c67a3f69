//! Interventions: changes of a program's control flow; decisions that go the other way, statements that are left out.
//!
//! Unlike a schedule, which keeps a replay on the recorded path, an intervention changes one thing, and from there on
//! the program goes its own way.

use agent::poison::Poison;

use crate::program::StoredKind;
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
}

/// A change of a program's control flow at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intervention {
    /// The place of the change in the executable: a leader for [`Change::Skip`], a store for [`Change::Write`],
    /// otherwise a conditional jump.
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
    /// The store of such a value writes another one.
    Write(StoredKind, NewValue),
}

/// The new value that a store writes instead of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewValue {
    /// This number.
    Number(i64),
    /// The value plus this number.
    Plus(i64),
    /// The value with the other sign.
    Negated,
    /// The value that was in memory before the store.
    Old,
}

impl NewValue {
    /// The bytes in place of those `written` over the `old` ones, of which there are as many as the kind has.
    pub fn bytes(self, kind: StoredKind, old: &[u8], written: &[u8]) -> Vec<u8> {
        match kind {
            _ if self == NewValue::Old => old.to_vec(),
            StoredKind::Integer(size) => {
                let mut word = [0; 8];
                word[..written.len()].copy_from_slice(written);
                let value = i64::from_le_bytes(word);
                let new = match self {
                    NewValue::Number(number) => number,
                    NewValue::Plus(more) => value.wrapping_add(more),
                    NewValue::Negated | NewValue::Old => value.wrapping_neg(),
                };
                new.to_le_bytes()[..usize::from(size)].to_vec()
            }
            StoredKind::Float(4) => {
                let value = written.try_into().map_or(0.0, f32::from_le_bytes);
                (self.float(f64::from(value)) as f32).to_le_bytes().to_vec()
            }
            StoredKind::Float(_) => {
                self.float(written.try_into().map_or(0.0, f64::from_le_bytes)).to_le_bytes().to_vec()
            }
        }
    }

    fn float(self, value: f64) -> f64 {
        match self {
            NewValue::Number(number) => number as f64,
            NewValue::Plus(more) => value + more as f64,
            NewValue::Negated | NewValue::Old => -value,
        }
    }
}

/// The executions of a place that are changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// All executions.
    Always,
    /// The execution with this number, from 1.
    Execution(u32),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_values_are_of_the_kind_that_is_stored() {
        let new =
            |value: NewValue, kind, written: &[u8]| value.bytes(kind, &[7; 8][..written.len()], written);
        let (byte, int, double) = (StoredKind::Integer(1), StoredKind::Integer(4), StoredKind::Float(8));
        assert_eq!(new(NewValue::Number(-1), int, &5i32.to_le_bytes()), (-1i32).to_le_bytes());
        assert_eq!(new(NewValue::Plus(1), byte, &[0xff]), [0]);
        assert_eq!(new(NewValue::Plus(-1), int, &0i32.to_le_bytes()), (-1i32).to_le_bytes());
        assert_eq!(new(NewValue::Negated, int, &5i32.to_le_bytes()), (-5i32).to_le_bytes());
        assert_eq!(new(NewValue::Old, int, &5i32.to_le_bytes()), [7; 4]);
        assert_eq!(new(NewValue::Number(1), double, &2.5f64.to_le_bytes()), 1f64.to_le_bytes());
        assert_eq!(new(NewValue::Plus(1), double, &2.5f64.to_le_bytes()), 3.5f64.to_le_bytes());
        assert_eq!(
            new(NewValue::Negated, StoredKind::Float(4), &2.5f32.to_le_bytes()),
            (-2.5f32).to_le_bytes()
        );
    }
}
