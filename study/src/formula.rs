//! Formulas of suspiciousness, from the numbers of failing and passing tests that have executed something.
//!
//! Sources: J. A. Jones and M. J. Harrold, ASE 2005 (Tarantula); R. Abreu, P. Zoeteweij and A. van Gemund, TAIC PART
//! 2007 (Ochiai, Jaccard) and ASE 2009 (Barinel); W. E. Wong, V. Debroy, R. Gao and Y. Li, IEEE Transactions on
//! Reliability 2014 (DStar); L. Naish, H. J. Lee and K. Ramamohanarao, TOSEM 2011 (Op2).

use std::cmp::Ordering;

/// The numbers of tests that have executed something, and of all tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExecutionCounts {
    /// The number of failing tests that have executed it.
    pub failing: u64,
    /// The number of passing tests that have executed it.
    pub passing: u64,
    /// The number of all failing tests.
    pub all_failing: u64,
    /// The number of all passing tests.
    pub all_passing: u64,
}

/// A formula of spectrum-based fault localization.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Formula {
    /// The share of failing tests over the sum of both shares.
    Tarantula,
    /// The cosine of the angle between "executes it" and "fails".
    Ochiai,
    /// Failing executions squared, over passing ones and failing tests without it.
    DStar,
    /// Failing executions first, passing ones to break ties.
    Op2,
    /// The maximum likelihood of a single fault.
    Barinel,
    /// The tests that execute it and fail, over those that do either.
    Jaccard,
}

/// The suspiciousness of something. Two of them compare as the exact numbers do, so that ties do not depend on
/// rounding.
#[derive(Clone, Copy, Debug)]
pub struct Suspicion {
    numerator: i128,
    /// The denominator of the fraction; 0 for an infinite suspicion.
    denominator: i128,
    /// Whether the formula is the square root of the fraction.
    is_square: bool,
}

impl Formula {
    /// All formulas.
    pub const ALL: [Formula; 6] = [
        Formula::Tarantula,
        Formula::Ochiai,
        Formula::DStar,
        Formula::Op2,
        Formula::Barinel,
        Formula::Jaccard,
    ];

    /// The name in manifests and tables.
    pub fn name(self) -> &'static str {
        match self {
            Formula::Tarantula => "tarantula",
            Formula::Ochiai => "ochiai",
            Formula::DStar => "dstar",
            Formula::Op2 => "op2",
            Formula::Barinel => "barinel",
            Formula::Jaccard => "jaccard",
        }
    }

    /// The suspiciousness of something by this formula. What no failing test has executed is not suspicious: 0 by all
    /// formulas but Op2, for which it is negative or 0.
    pub fn suspicion(self, counts: ExecutionCounts) -> Suspicion {
        let [ef, ep] = [counts.failing, counts.passing].map(i128::from);
        let [f, p] = [counts.all_failing, counts.all_passing].map(i128::from);
        if ef == 0 && self != Formula::Op2 {
            return Suspicion { numerator: 0, denominator: 1, is_square: false };
        }
        let (numerator, denominator) = match self {
            // Without passing tests no share of them can be told: it counts as 0.
            Formula::Tarantula if p == 0 => (1, 1),
            Formula::Tarantula => (ef * p, ef * p + ep * f),
            Formula::Ochiai => (ef * ef, f * (ef + ep)),
            Formula::DStar => (ef * ef, ep + (f - ef)),
            Formula::Op2 => (ef * (p + 1) - ep, p + 1),
            Formula::Barinel => (ef, ef + ep),
            Formula::Jaccard => (ef, f + ep),
        };
        Suspicion { numerator, denominator, is_square: self == Formula::Ochiai }
    }
}

impl Suspicion {
    /// The suspiciousness as a number; infinite where DStar divides by zero.
    pub fn value(self) -> f64 {
        let value = self.numerator as f64 / self.denominator as f64;
        if self.is_square { value.sqrt() } else { value }
    }
}

impl PartialEq for Suspicion {
    fn eq(&self, other: &Suspicion) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Suspicion {}

impl PartialOrd for Suspicion {
    fn partial_cmp(&self, other: &Suspicion) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Suspicion {
    fn cmp(&self, other: &Suspicion) -> Ordering {
        match (self.denominator, other.denominator) {
            (0, 0) => Ordering::Equal,
            (0, _) => Ordering::Greater,
            (_, 0) => Ordering::Less,
            _ => (self.numerator * other.denominator).cmp(&(other.numerator * self.denominator)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(failing: u64, passing: u64) -> ExecutionCounts {
        ExecutionCounts { failing, passing, all_failing: 2, all_passing: 4 }
    }

    fn values(counts: ExecutionCounts) -> [f64; 6] {
        Formula::ALL.map(|formula| formula.suspicion(counts).value())
    }

    fn assert_close(found: [f64; 6], wanted: [f64; 6]) {
        let near = |(a, b): (&f64, &f64)| a == b || (a - b).abs() < 1e-9;
        assert!(found.iter().zip(&wanted).all(near), "{found:?}, by hand {wanted:?}");
    }

    #[test]
    fn the_formulas_give_what_they_give_by_hand() {
        // One of 2 failing and 1 of 4 passing tests: (1/2) / (1/2 + 1/4), 1 / sqrt(2 * 2), 1 / (1 + 1),
        // 1 - 1/5, 1 - 1/2, 1 / (2 + 1).
        assert_close(values(counts(1, 1)), [2.0 / 3.0, 0.5, 0.5, 0.8, 0.5, 1.0 / 3.0]);
        // Both failing and 3 passing tests.
        assert_close(
            values(counts(2, 3)),
            [1.0 / 1.75, 2.0 / 10f64.sqrt(), 4.0 / 3.0, 2.0 - 0.6, 0.4, 2.0 / 5.0],
        );
        // Exactly the failing tests: DStar divides by zero.
        assert_close(values(counts(2, 0)), [1.0, 1.0, f64::INFINITY, 2.0, 1.0, 1.0]);
    }

    #[test]
    fn what_no_failing_test_has_executed_is_not_suspicious() {
        assert_close(values(counts(0, 3)), [0.0, 0.0, 0.0, -0.6, 0.0, 0.0]);
        assert_close(values(counts(0, 0)), [0.0; 6]);
    }

    #[test]
    fn without_passing_tests_nothing_divides_by_zero() {
        let counts = ExecutionCounts { failing: 1, passing: 0, all_failing: 2, all_passing: 0 };
        assert_close(values(counts), [1.0, 0.5f64.sqrt(), 1.0, 1.0, 1.0, 0.5]);
    }

    #[test]
    fn equal_suspicions_are_equal_however_they_are_rounded() {
        let of = |failing, passing, all_failing| {
            let counts = ExecutionCounts { failing, passing, all_failing, all_passing: 100 };
            Formula::Ochiai.suspicion(counts)
        };
        // 9 / (7 * 9) and 1 / (7 * 1): the same number.
        assert_eq!(of(3, 6, 7), of(1, 0, 7));
        assert!(of(3, 5, 7) > of(1, 0, 7));
    }
}
