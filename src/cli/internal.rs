//! Turn a panic of this program into a message and an exit status.

use std::panic::{self, PanicHookInfo};
use std::sync::OnceLock;

use super::exit::{Exit, Failure};

/// The place and message of the first panic: on whatever thread, others only follow from it.
static FIRST: OnceLock<String> = OnceLock::new();

/// Runs the work; a panic becomes a failure.
pub(super) fn guarded(
    work: impl FnOnce() -> Result<Exit, Failure> + panic::UnwindSafe,
) -> Result<Exit, Failure> {
    panic::set_hook(Box::new(remember));
    panic::catch_unwind(work).unwrap_or_else(|_| {
        let fault = FIRST.get().map_or("unknown", String::as_str);
        Err(Failure::new(
            Exit::Internal,
            format!(
                "internal error: {fault}; this is a fault of stripe: please report it, with the command line"
            ),
        ))
    })
}

fn remember(fault: &PanicHookInfo<'_>) {
    let payload = fault.payload();
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    let said = text.unwrap_or("no message").replace('\n', " ");
    let place = fault.location().map_or_else(String::new, |place| format!(" at {place}"));
    let _ = FIRST.set(format!("{said}{place}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_of_the_program_is_told_in_one_line_and_has_a_status_of_its_own() {
        let hook = panic::take_hook();
        let failure = guarded(|| panic!("two\nlines")).expect_err("a failure");
        panic::set_hook(hook);
        assert_eq!(failure.exit.status(), 70);
        assert!(failure.message.starts_with("internal error: two lines at src/cli/internal.rs:"));
        assert_eq!(failure.message.lines().count(), 1);
    }
}
