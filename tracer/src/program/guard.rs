//! A guard against damaged debug information, whose readers may panic: that must not end the program.

use std::panic::{self, AssertUnwindSafe};
use std::path::Path;

use super::LoadError;

/// Reads debug information with libraries that may panic where it is damaged: gimli 0.34 adds addresses
/// and sizes without asking whether the sum fits.
pub(super) fn guarded<T>(path: &Path, read: impl FnOnce() -> Result<T, LoadError>) -> Result<T, LoadError> {
    // What the reader leaves half done is dropped along with it.
    panic::catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|payload| {
        let said = payload.downcast_ref::<&str>().map(|&text| text.to_owned());
        let said = said.or_else(|| payload.downcast_ref::<String>().cloned());
        let said = said.unwrap_or_else(|| "for no known reason".into()).replace('\n', " ");
        Err(LoadError::Confusing { path: path.into(), said })
    })
}
