//! Process numbers that are the same in each run.
//!
//! The program is process 1000, those that it starts are 1001, 1002 and so on, in the order in which they
//! are started; its parent is 999. A number that is not among these stays as it is.

/// The number of the program's parent.
pub(super) const PARENT: i32 = 999;
/// The number of the program.
const FIRST: i32 = 1000;

/// The process numbers of a run, in the order in which the processes were started.
#[derive(Clone, Debug)]
pub(super) struct Numbers {
    /// The numbers that the kernel tells the processes: of the program itself, then of the others.
    inside: Vec<i32>,
    /// The number by which they reach the program's parent.
    parent: i32,
}

impl Numbers {
    /// The numbers of a run whose program the kernel tells this number, and which reaches its parent by that one.
    pub(super) fn new(program: u32, parent: i32) -> Numbers {
        Numbers { inside: vec![program as i32], parent }
    }

    /// The numbers of a run that goes on as a copy with this number.
    pub(super) fn go_on_as(&self, copy: u32) -> Numbers {
        let mut inside = self.inside.clone();
        inside[0] = copy as i32;
        Numbers { inside, ..*self }
    }

    /// The number of the program.
    pub(super) fn first(&self) -> i32 {
        FIRST
    }

    /// Whether the program has started no other process.
    pub(super) fn is_alone(&self) -> bool {
        self.inside.len() == 1
    }

    /// Adds a new process, whom the kernel tells the number `new`; returns the one that it is shown.
    pub(super) fn add(&mut self, new: u32) -> i32 {
        self.inside.push(new as i32);
        FIRST + self.inside.len() as i32 - 1
    }

    /// The kernel's number of the process that the program knows by this one. A negative one means a
    /// group, as for kill(2).
    pub(super) fn real(&self, shown: i32) -> i32 {
        let real = match shown.wrapping_abs() {
            PARENT => Some(self.parent),
            number => self.inside.get((number.wrapping_sub(FIRST)) as usize).copied(),
        };
        real.map_or(shown, |real| if shown < 0 { -real } else { real })
    }

    /// The number by which the program knows the process that the kernel calls `real`.
    pub(super) fn shown(&self, real: i32) -> i32 {
        if self.inside[0] == real {
            return FIRST;
        }
        // The kernel may give the number of one that has ended to another.
        let place = self.inside.iter().rposition(|&known| known == real);
        match place {
            Some(place) => FIRST + place as i32,
            None if real == self.parent => PARENT,
            None => real,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_there_and_back() {
        let mut numbers = Numbers::new(7, 5);
        assert_eq!((numbers.shown(7), numbers.real(FIRST), numbers.real(-FIRST)), (FIRST, 7, -7));
        assert_eq!(numbers.add(9), FIRST + 1);
        assert_eq!((numbers.shown(9), numbers.real(FIRST + 1)), (FIRST + 1, 9));
        assert_eq!((numbers.shown(5), numbers.real(PARENT), numbers.real(-PARENT)), (PARENT, 5, -5));
        let copy = numbers.go_on_as(8);
        assert_eq!((copy.shown(8), copy.real(FIRST), copy.shown(9)), (FIRST, 8, FIRST + 1));
    }

    #[test]
    fn a_number_of_nobody_stays_as_it_is() {
        let numbers = Numbers::new(2, 5);
        for number in [0, -1, 1, 7, FIRST + 1, i32::MAX, i32::MIN] {
            assert_eq!(numbers.real(number), number);
        }
        assert_eq!(numbers.shown(1), 1);
    }
}
