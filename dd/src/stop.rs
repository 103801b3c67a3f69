//! The reasons for which a search ends before its result is minimal.

/// The reason why no further configuration is tested. `E` is the error of the tester.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop<E> {
    /// The permitted number of tests has been made.
    Limit,
    /// The observer asked for it.
    Asked,
    /// The search follows recorded outcomes only, and the next one is not among them.
    NotRecorded,
    /// A test could not be made at all; this says nothing about the configuration.
    Error(E),
}
