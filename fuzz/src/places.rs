//! Remember where panics happen: those of libraries that the loader catches are told from our own.

use std::panic::{self, PanicHookInfo};
use std::sync::{Mutex, Once, PoisonError};

static LAST: Mutex<String> = Mutex::new(String::new());

/// From now on, panics are remembered; only those that are no library's are printed.
pub(crate) fn remember() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| panic::set_hook(Box::new(note)));
}

/// The file of the last panic.
pub(crate) fn last() -> String {
    LAST.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

fn note(fault: &PanicHookInfo<'_>) {
    let place = fault.location().map_or_else(String::new, |place| place.file().to_owned());
    if !place.contains("/registry/") {
        eprintln!("{fault}");
    }
    *LAST.lock().unwrap_or_else(PoisonError::into_inner) = place;
}
