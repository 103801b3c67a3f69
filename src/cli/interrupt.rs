//! Let the user end the work early without losing what was found.
//!
//! The first signal sets a flag that everything that takes long looks at; the second ends the program
//! at once. Traced programs die with it, because the kernel kills them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

/// Whether the user has asked for the end.
#[derive(Clone, Debug, Default)]
pub(super) struct Interrupt {
    asked: Arc<AtomicBool>,
    signal: Arc<AtomicUsize>,
}

impl Interrupt {
    /// Listens to SIGINT, SIGTERM and SIGHUP from now on.
    pub(super) fn listen() -> std::io::Result<Interrupt> {
        let interrupt = Interrupt::default();
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // In this order: the second signal finds the flag set by the first.
            signal_hook::flag::register_conditional_shutdown(
                signal,
                128 + signal,
                Arc::clone(&interrupt.asked),
            )?;
            signal_hook::flag::register_usize(signal, Arc::clone(&interrupt.signal), signal as usize)?;
            signal_hook::flag::register(signal, Arc::clone(&interrupt.asked))?;
        }
        Ok(interrupt)
    }

    /// The flag, for whom it may end.
    pub(super) fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.asked)
    }

    /// The signal by which the user has asked for the end, if so.
    pub(super) fn signal(&self) -> Option<i32> {
        self.asked.load(Ordering::Relaxed).then(|| self.signal.load(Ordering::Relaxed) as i32)
    }
}
