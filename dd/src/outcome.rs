//! The outcome of a test.
//!
//! Does not judge a run; whoever implements the testing function does.

/// The outcome of a test of a configuration with respect to the failure under study, in the words of the papers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// ✘ The failure under study is reproduced: good news for the reduction.
    Fail,
    /// ✔ The run ended and the failure is not reproduced.
    Pass,
    /// ? The run says nothing about the failure: it crashed in another way, hung or went astray.
    Unresolved,
}
