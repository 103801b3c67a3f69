//! Let the user end the work early without losing what was found.
//!
//! The first signal sets a flag that all long work checks; the second ends the program
//! at once. Traced programs die with it, because the kernel kills them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use tracer::patiently;

use super::error::{Cause, SessionError};

const TIME_OVER: &str = "the time of --total-time was over before anything was found: raise it";

/// The user's wish to end the work. Before [`listen`](Interrupt::listen) there is nothing to
/// lose, and signals end the program as they always do.
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    asked: Arc<AtomicBool>,
    signal: Arc<AtomicUsize>,
}

impl Interrupt {
    /// Installs handlers for SIGINT, SIGTERM and SIGHUP, but for those that are ignored.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn listen(&self) -> std::io::Result<()> {
        for signal in tracer::ending_signals() {
            // In this order: the second signal finds the flag set by the first.
            signal_hook::flag::register_conditional_shutdown(signal, 128 + signal, Arc::clone(&self.asked))?;
            signal_hook::flag::register_usize(signal, Arc::clone(&self.signal), signal as usize)?;
            signal_hook::flag::register(signal, Arc::clone(&self.asked))?;
        }
        Ok(())
    }

    /// Sets the flag when this time is over, in place of the user.
    ///
    /// # Errors
    /// If the system refuses a thread.
    pub fn ask_after(&self, time: Duration) -> Result<(), SessionError> {
        let asked = Arc::clone(&self.asked);
        let timer = patiently(|| {
            let asked = Arc::clone(&asked);
            std::thread::Builder::new().name("total time".into()).spawn(move || {
                std::thread::sleep(time);
                asked.store(true, Ordering::Relaxed);
            })
        });
        let failed =
            |error| format!("starting a thread failed: {error}: free memory or process slots and try again");
        timer.map(drop).map_err(|error| SessionError::new(Cause::Failed, failed(error)))
    }

    /// The flag, for work that it is to end.
    pub fn flag(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.asked)
    }

    /// True if the work is to end.
    pub fn is_asked(&self) -> bool {
        self.asked.load(Ordering::Relaxed)
    }

    /// The signal by which the user has asked for the end, if so.
    pub fn signal(&self) -> Option<i32> {
        Some(self.signal.load(Ordering::Relaxed) as i32).filter(|&signal| signal != 0)
    }

    /// The error of work that has failed: that the user has ended it, or else this one.
    pub fn or(&self, error: impl Into<SessionError>) -> SessionError {
        match self.signal() {
            None if self.is_asked() => SessionError::new(Cause::Failed, TIME_OVER),
            Some(signal) => {
                SessionError::new(Cause::Interrupted(signal), "interrupted before anything was found")
            }
            None => error.into(),
        }
    }
}

/// Handles SIGXFSZ, so that a write beyond the limit of file sizes (`ulimit -f`) is an error with a
/// message. Without a handler the kernel ends this program. Programs that it starts have none.
///
/// # Errors
/// If the system refuses.
pub fn outlive_file_limits() -> std::io::Result<()> {
    signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default()).map(drop)
}
