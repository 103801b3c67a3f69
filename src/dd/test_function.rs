//! State what the core asks of whoever can test configurations.
//!
//! Holds no implementation: see [`Sequential`](super::Sequential) for the simple one.

use super::configuration::Configuration;
use super::outcome::Outcome;

/// The testing function of the papers: runs the program under a configuration and judges the run.
///
/// The methods take `&self`, because candidates are drawn, and thus normalised, while tests are
/// under way. What changes during a test (a process, a pool of workers) belongs in a cell or a lock.
pub trait TestFunction {
    /// What a test showed besides its outcome. The core keeps it as long as it may
    /// matter for the result, and hands it back.
    type Evidence: Clone;
    /// Why a test could not be made at all. It ends the search.
    type Error;

    /// Returns the *effective set*: what will really be executed when `configuration` is chosen.
    /// Outcomes are cached by it, and minimality is meant with respect to it.
    ///
    /// It must be a subset of `configuration`, for otherwise leaving out a circumstance could lead
    /// nowhere, and an effective set must be its own effective set.
    fn normalise(&self, configuration: &Configuration) -> Configuration {
        configuration.clone()
    }

    /// Returns the effective set of `effective`, which is one, without the circumstances in
    /// `left_out`, which come in ascending order.
    ///
    /// Most candidates come this way, a little is left out of much: who can tell what goes with the
    /// little, without going through the rest, does so here. The result must be the same.
    fn normalise_without(&self, effective: &Configuration, left_out: &[usize]) -> Configuration {
        self.normalise(&effective.without(left_out))
    }

    /// Tests the candidates in order up to and including the first that fails, and returns it.
    ///
    /// Calls `tested` for each of these, in order, right when its outcome is known. Draws
    /// candidates until one fails or there are no more. The candidates are effective sets, and no
    /// two are equal.
    ///
    /// Several may be tested at once: draw ahead, bet that the earlier ones do not fail, and drop
    /// whatever lies behind a failure. What is reported and returned must be the same as if one
    /// were tested after the other; so draw no further ahead than can be worked on.
    ///
    /// # Errors
    /// If a candidate before the first failure cannot be tested. Trouble behind it is not reported.
    fn first_failure(
        &self,
        candidates: &mut dyn Iterator<Item = Configuration>,
        tested: &mut dyn FnMut(&Configuration, Outcome, &Self::Evidence),
    ) -> Result<Option<Configuration>, Self::Error>;
}
