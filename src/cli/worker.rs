//! `stripe worker`: make tests for a search on another machine, as its lines on standard input say.

use super::exit::{Exit, Failure};
use crate::report::words::contained;
use crate::session::serve::serve;

/// Answers until standard input ends.
pub(super) fn worker() -> Result<Exit, Failure> {
    serve(std::io::stdin(), std::io::stdout(), contained)?;
    Ok(Exit::Done)
}
