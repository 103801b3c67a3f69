//! Give processes numbers that are the same in each run.
//!
//! The program is process 1000, those that it starts are 1001, 1002 and so on, in the order in which they
//! are started; its parent is 999. A number that is not among these stays as it is.

use nix::unistd::Pid;

use crate::process::status;
/// The number of the program's parent.
pub(super) const PARENT: i32 = 999;
/// The number of the program.
const FIRST: i32 = 1000;

/// The processes of a run, in the order in which they were started.
#[derive(Clone, Debug)]
pub(super) struct Numbers {
    program: Pid,
    /// Of the program itself, found out when it is first needed; then of the others.
    inside: Vec<Option<i32>>,
}

impl Numbers {
    /// Those of a run that `program` begins.
    pub(super) fn new(program: Pid) -> Numbers {
        Numbers { program, inside: vec![None] }
    }

    /// Those of a run that goes on as `copy`.
    pub(super) fn go_on_as(&self, copy: Pid) -> Numbers {
        let mut inside = self.inside.clone();
        inside[0] = None;
        Numbers { program: copy, inside }
    }

    /// The number of the program.
    pub(super) fn first(&self) -> i32 {
        FIRST
    }

    /// The number of a new process.
    pub(super) fn add(&mut self, new: Pid) -> i32 {
        self.inside.push(Some(number_inside(new)));
        FIRST + self.inside.len() as i32 - 1
    }

    /// What the kernel calls the process that the program knows by this number. A negative one means a
    /// group, as for kill(2).
    pub(super) fn real(&mut self, shown: i32) -> i32 {
        let real = match shown.wrapping_abs() {
            // The one that the program would reach without all this.
            PARENT => Some(std::process::id() as i32),
            FIRST => Some(self.program_inside()),
            number => self.inside.get((number.wrapping_sub(FIRST)) as usize).copied().flatten(),
        };
        real.map_or(shown, |real| if shown < 0 { -real } else { real })
    }

    /// By which number the program knows the process that the kernel calls `real`.
    pub(super) fn shown(&mut self, real: i32) -> i32 {
        if real == self.program_inside() {
            return FIRST;
        }
        // The kernel may give the number of one that has ended to another.
        let place = self.inside.iter().rposition(|&known| known == Some(real));
        match place {
            Some(place) => FIRST + place as i32,
            None if real == std::process::id() as i32 => PARENT,
            None => real,
        }
    }

    fn program_inside(&mut self) -> i32 {
        *self.inside[0].get_or_insert_with(|| number_inside(self.program))
    }
}

/// The number of a process in its own namespace.
fn number_inside(pid: Pid) -> i32 {
    status::number_inside(pid).map_or(pid.as_raw(), |number| number as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_there_and_back() {
        let me = Pid::this();
        let mut numbers = Numbers::new(me);
        assert_eq!((numbers.shown(me.as_raw()), numbers.real(FIRST)), (FIRST, me.as_raw()));
        assert_eq!(numbers.real(-FIRST), -me.as_raw());
        let other = Pid::parent();
        assert_eq!(numbers.add(other), FIRST + 1);
        assert_eq!((numbers.shown(other.as_raw()), numbers.real(FIRST + 1)), (FIRST + 1, other.as_raw()));
    }

    #[test]
    fn a_number_of_nobody_stays_as_it_is() {
        let mut numbers = Numbers::new(Pid::this());
        for number in [0, -1, 1, 7, FIRST + 1, i32::MAX, i32::MIN] {
            assert_eq!(numbers.real(number), number);
        }
        assert_eq!(numbers.shown(1), 1);
    }
}
