//! Comparison of two techniques on the same faults: Wilcoxon's signed-rank test and the effect size of Vargha and
//! Delaney.
//!
//! The distribution of the test is the exact one up to 50 differences, also with ties, and a normal one above that, with
//! the correction for ties and none for continuity. Differences of zero are left out, as by Wilcoxon. Sources:
//! F. Wilcoxon, Biometrics Bulletin 1945; A. Vargha and H. D. Delaney, Journal of Educational and Behavioral Statistics
//! 2000; A. Arcuri and L. Briand, ICSE 2011, for their use on software.

/// The largest number of differences for which the distribution is the exact one.
const MOST_EXACT: usize = 50;

/// The result of Wilcoxon's signed-rank test, two-sided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignedRankTest {
    /// The number of pairs that differ.
    pub differing: usize,
    /// The smaller one of the sums of ranks of positive and of negative differences.
    pub statistic: f64,
    /// The p-value: the probability of sums that lie at least as far apart, if the two do not differ; 1 if no pair
    /// differs.
    pub p: f64,
}

/// Wilcoxon's signed-rank test: whether the differences of pairs are symmetrical about zero.
pub fn signed_rank_test(pairs: &[(f64, f64)]) -> SignedRankTest {
    let differences: Vec<f64> =
        pairs.iter().map(|(one, other)| one - other).filter(|difference| *difference != 0.0).collect();
    let ranks = doubled_ranks(&differences);
    let positive: u64 = differences
        .iter()
        .zip(&ranks)
        .filter(|(difference, _)| **difference > 0.0)
        .map(|(_, rank)| rank)
        .sum();
    let all: u64 = ranks.iter().sum();
    let smaller = positive.min(all - positive);
    let p = match ranks.len() {
        0 => 1.0,
        count if count <= MOST_EXACT => exact(&ranks, smaller),
        _ => normal(&ranks, smaller),
    };
    SignedRankTest { differing: ranks.len(), statistic: smaller as f64 / 2.0, p }
}

/// Twice the rank of each number's size, so that the mean rank of ties is whole.
fn doubled_ranks(numbers: &[f64]) -> Vec<u64> {
    // Sizes that differ by the rounding of a subtraction only are the same.
    let is_same = |one: f64, other: f64| (one - other).abs() <= 1e-12 * one.abs().max(other.abs());
    let mut order: Vec<usize> = (0..numbers.len()).collect();
    order.sort_by(|&one, &other| numbers[one].abs().total_cmp(&numbers[other].abs()));
    let mut ranks = vec![0; numbers.len()];
    let mut before = 0;
    for ties in order.chunk_by(|&one, &other| is_same(numbers[one].abs(), numbers[other].abs())) {
        for &number in ties {
            ranks[number] = (2 * before + ties.len() + 1) as u64;
        }
        before += ties.len();
    }
    ranks
}

/// The exact probability: of all ways to give signs to these ranks, the share with a sum of positive ones as far out as
/// this one.
fn exact(ranks: &[u64], smaller: u64) -> f64 {
    let all: u64 = ranks.iter().sum();
    let mut ways = vec![0.0; all as usize + 1];
    ways[0] = 1.0;
    for &rank in ranks {
        for sum in (rank as usize..ways.len()).rev() {
            ways[sum] += ways[sum - rank as usize];
        }
    }
    let tail: f64 = ways[..=smaller as usize].iter().sum();
    (2.0 * tail / 2f64.powi(ranks.len() as i32)).min(1.0)
}

fn normal(ranks: &[u64], smaller: u64) -> f64 {
    let all: u64 = ranks.iter().sum();
    let mean = all as f64 / 4.0;
    // The sum over the squares of ranks has the correction for ties in it.
    let variance: f64 = ranks.iter().map(|&rank| (rank as f64 / 2.0).powi(2)).sum::<f64>() / 4.0;
    let distance = (smaller as f64 / 2.0 - mean).abs() / variance.sqrt();
    libm::erfc(distance / std::f64::consts::SQRT_2)
}

/// The probability that a value of `one` is smaller than one of `other`, ties counted half: above 0.5 if `one` tends to be
/// smaller. `None` if there are no values.
pub fn smaller_probability(one: &[f64], other: &[f64]) -> Option<f64> {
    let mut sorted = other.to_vec();
    sorted.sort_by(f64::total_cmp);
    let wins = |value: &f64| {
        let (to, from) =
            (sorted.partition_point(|other| other <= value), sorted.partition_point(|other| other < value));
        (sorted.len() - to) as f64 + (to - from) as f64 / 2.0
    };
    let pairs = one.len() * other.len();
    (pairs > 0).then(|| one.iter().map(wins).sum::<f64>() / pairs as f64)
}

/// Holm's correction of probabilities for their number: S. Holm, Scandinavian Journal of Statistics 1979.
pub fn holm(probabilities: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|&one, &other| probabilities[one].total_cmp(&probabilities[other]));
    let mut corrected = vec![1.0; probabilities.len()];
    let mut least = 0.0f64;
    for (place, number) in order.into_iter().enumerate() {
        least = least.max(probabilities[number] * (probabilities.len() - place) as f64).min(1.0);
        corrected[number] = least;
    }
    corrected
}

/// The median; `None` of nothing.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (low, high) = (sorted.len().checked_sub(1)? / 2, sorted.len() / 2);
    Some((sorted[low] + sorted[high]) / 2.0)
}

/// The least value, the quartiles, and the greatest one; between two values in proportion, as R and NumPy do. `None` of
/// nothing.
pub fn five_numbers(values: &[f64]) -> Option<[f64; 5]> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let last = sorted.len().checked_sub(1)?;
    Some([0.0, 0.25, 0.5, 0.75, 1.0].map(|share| {
        let place = share * last as f64;
        let (low, high) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
        low + (high - low) * place.fract()
    }))
}

/// The arithmetic mean; `None` of nothing.
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_differences(differences: &[f64]) -> SignedRankTest {
        signed_rank_test(&differences.iter().map(|&difference| (difference, 0.0)).collect::<Vec<_>>())
    }

    fn assert_p(test: SignedRankTest, statistic: f64, p: f64) {
        assert_eq!(test.statistic, statistic);
        assert!((test.p - p).abs() < 1e-9, "{test:?}, wanted {p}");
    }

    /// Of 2^3 ways to give signs to the ranks 1, 2, 3 only two, all of one sign, are as far out.
    #[test]
    fn three_differences_of_one_sign_by_hand() {
        assert_p(of_differences(&[1.0, 2.0, 3.0]), 0.0, 0.25);
        // Sums of positive ranks as far out as 1: 0, 1, 5, 6.
        assert_p(of_differences(&[-1.0, 2.0, 3.0]), 1.0, 0.5);
    }

    #[test]
    fn pairs_that_do_not_differ_are_left_out() {
        assert_eq!(of_differences(&[0.0, 1.0, 0.0, 2.0, 3.0]), of_differences(&[1.0, 2.0, 3.0]));
        let none = SignedRankTest { differing: 0, statistic: 0.0, p: 1.0 };
        assert_eq!((of_differences(&[0.0, 0.0]), of_differences(&[])), (none, none));
    }

    /// Ranks 1.5, 1.5, 3, 4. Of the 16 sums of some of them 0, 1.5, 1.5 are at most 1.5, and as many at least 8.5.
    #[test]
    fn ties_have_the_exact_distribution_of_their_mean_ranks() {
        assert_p(of_differences(&[1.0, -1.0, 2.0, 3.0]), 1.5, 6.0 / 16.0);
    }

    /// `scipy.stats.wilcoxon(d, method="exact")` of SciPy 1.17.1; the data are those of its manual.
    #[test]
    fn a_sample_without_ties_has_the_values_of_scipy() {
        let differences = [6., 8., 14., 16., 23., 24., 28., 29., 41., -48., 49., 56., 60., -67., 75.];
        assert_p(of_differences(&differences), 24.0, 0.041259765625);
    }

    /// `scipy.stats.wilcoxon(d, method="approx", correction=False)` of SciPy 1.17.1, d as below.
    #[test]
    fn a_large_sample_with_ties_has_the_values_of_scipy() {
        let differences: Vec<f64> = (0..80).map(|n| f64::from((n * 37 + 11) % 23 - 9)).collect();
        assert_p(of_differences(&differences), 980.0, 0.008043660095203185);
    }

    #[test]
    fn the_effect_size_is_the_share_of_pairs_that_are_smaller() {
        // Of nine pairs four are smaller and two equal.
        assert_eq!(smaller_probability(&[1.0, 3.0, 4.0], &[1.0, 3.0, 5.0]), Some((4.0 + 1.0) / 9.0));
        assert_eq!(smaller_probability(&[1.0, 2.0], &[3.0, 4.0]), Some(1.0));
        assert_eq!(smaller_probability(&[2.0; 5], &[2.0; 3]), Some(0.5));
        assert_eq!(smaller_probability(&[], &[1.0]), None);
    }

    #[test]
    fn the_correction_of_holm_by_hand() {
        // 3 * 0.01, 2 * 0.03, and 0.04, which must not fall below the one before.
        assert_eq!(holm(&[0.04, 0.01, 0.03]), [0.06, 0.03, 0.06]);
        assert_eq!(holm(&[0.6, 0.9]), [1.0, 1.0]);
    }

    #[test]
    fn the_median_of_an_even_number_lies_between_the_two_in_the_middle() {
        assert_eq!((median(&[3.0, 1.0, 2.0]), median(&[4.0, 1.0, 2.0, 3.0])), (Some(2.0), Some(2.5)));
        assert_eq!(five_numbers(&[4.0, 1.0, 2.0, 3.0]), Some([1.0, 1.75, 2.5, 3.25, 4.0]));
        assert_eq!((median(&[]), mean(&[]), mean(&[1.0, 2.0])), (None, None, Some(1.5)));
    }
}
