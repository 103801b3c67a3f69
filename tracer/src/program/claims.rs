//! Budget for debug information: it is believed only as far as its size allows.
//!
//! Many entries may refer to the same list of ranges, the same text or the same line program. In a sound
//! file few do; in a damaged one all may refer to the longest there is, so that a few kilobytes claim
//! gigabytes and hours.

use std::path::Path;

use super::LoadError;

/// The reason why debug information cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum Damage {
    #[error(transparent)]
    Unreadable(#[from] gimli::Error),
    #[error("it claims more {0} than it has room for")]
    Excessive(&'static str),
    #[error("{0} belongs to another compilation")]
    Foreign(String),
    /// The error of a file that holds a part of it.
    #[error(transparent)]
    Elsewhere(Box<LoadError>),
}

impl From<LoadError> for Damage {
    fn from(error: LoadError) -> Damage {
        Damage::Elsewhere(Box::new(error))
    }
}

impl Damage {
    /// The damage as that of the program at this path.
    pub(super) fn of(self, path: &Path) -> LoadError {
        match self {
            Damage::Elsewhere(error) => *error,
            damage => LoadError::DamagedDwarf { path: path.into(), what: damage.to_string() },
        }
    }
}

/// The budget that is left: what may still be claimed.
pub(super) struct Claims {
    rows: usize,
    ranges: usize,
    /// Bytes of names of functions, files and compilers.
    text: usize,
}

impl Claims {
    /// The budget that is free, in bytes: sound files stay far below the budget in proportion to their size.
    const FREE: usize = 1 << 20;

    /// The budget of a file of this size.
    pub(super) fn of(size: usize) -> Claims {
        let room = |factor: usize| size.saturating_mul(factor).saturating_add(Claims::FREE);
        Claims { rows: room(4), ranges: room(1), text: room(64) }
    }

    /// Counts a row of a line table.
    pub(super) fn row(&mut self) -> Result<(), Damage> {
        claim(&mut self.rows, 1, "rows of line tables")
    }

    /// Counts a range of addresses.
    pub(super) fn range(&mut self) -> Result<(), Damage> {
        claim(&mut self.ranges, 1, "ranges of addresses")
    }

    /// Counts a name of this length.
    pub(super) fn text(&mut self, length: usize) -> Result<(), Damage> {
        claim(&mut self.text, length, "names")
    }
}

fn claim(left: &mut usize, amount: usize, what: &'static str) -> Result<(), Damage> {
    *left = left.checked_sub(amount).ok_or(Damage::Excessive(what))?;
    Ok(())
}
