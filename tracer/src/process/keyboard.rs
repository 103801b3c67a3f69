//! The keyboard: read single keys from the terminal while work goes on, and leave the terminal as it was found.
//!
//! Whatever ends the program or holds it up, the terminal is given back first: its own end, a panic, Ctrl-C,
//! Ctrl-\ and Ctrl-Z, and the signals by which others end it. Only SIGKILL cannot be helped.

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsFd;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use signal_hook::low_level::{emulate_default_handler, register};

/// The terminal settings as they were found: what a signal handler needs must lie still.
static FOUND: OnceLock<libc::termios> = OnceLock::new();
/// Whether the terminal has other settings now.
static TAKEN: AtomicBool = AtomicBool::new(false);
/// Whether the settings must not be changed again, because the program is about to end.
static ENDED: AtomicBool = AtomicBool::new(false);

/// The signals by which others end this program, but those that it was started to ignore: nohup(1) wants it to
/// outlive its terminal, and a script's Ctrl-C is not for what runs in its background.
pub fn ending_signals() -> impl Iterator<Item = i32> {
    [libc::SIGINT, libc::SIGTERM, libc::SIGHUP].into_iter().filter(|&signal| !is_ignored(signal))
}

fn is_ignored(signal: i32) -> bool {
    let mut action = MaybeUninit::<libc::sigaction>::zeroed();
    // SAFETY: nothing is changed; the call fills the structure, of which all bytes may be zero, or fails.
    unsafe {
        libc::sigaction(signal, std::ptr::null(), action.as_mut_ptr()) == 0
            && action.assume_init().sa_sigaction == libc::SIG_IGN
    }
}

/// The keyboard of the terminal that is this program's standard input, without echo and without waiting for
/// the end of a line. There is one at most. The terminal is given back with the value.
#[derive(Debug)]
pub struct Keyboard(());

impl Keyboard {
    /// Reads the terminal settings. `None` if the standard input is no terminal.
    ///
    /// # Errors
    /// If signals cannot be listened to.
    pub fn open() -> io::Result<Option<Keyboard>> {
        let mut settings = MaybeUninit::<libc::termios>::zeroed();
        // SAFETY: the call fills the structure, or fails.
        if unsafe { libc::tcgetattr(libc::STDIN_FILENO, settings.as_mut_ptr()) } != 0 {
            return Ok(None);
        }
        // SAFETY: zeroed at first and filled by the call above.
        FOUND.get_or_init(|| unsafe { settings.assume_init() });
        ENDED.store(false, Ordering::SeqCst);
        for signal in ending_signals() {
            // SAFETY: an atomic and tcsetattr(3), which may be called in a signal handler.
            unsafe { register(signal, || ENDED.store(true, Ordering::SeqCst))? };
            // SAFETY: as above.
            unsafe { register(signal, give_back)? };
        }
        for signal in [libc::SIGTSTP, libc::SIGQUIT] {
            let act = move || {
                give_back();
                let _ = emulate_default_handler(signal);
            };
            // SAFETY: as above; the other call is documented to be allowed there.
            unsafe { register(signal, act)? };
        }
        Ok(Some(Keyboard(())))
    }

    /// Waits at most so many milliseconds for a key. `None` if there was none, or if another program has the
    /// terminal now.
    pub fn key(&mut self, milliseconds: u8) -> Option<u8> {
        let stdin = io::stdin();
        let (mut keys, mut nothing) = ([PollFd::new(stdin.as_fd(), PollFlags::POLLIN)], []);
        let watched: &mut [PollFd<'_>] = if take() { &mut keys } else { &mut nothing };
        let ready = poll(watched, PollTimeout::from(milliseconds)).unwrap_or(0) > 0;
        if !ready || !is_in_foreground() {
            return None;
        }
        let mut key = [0];
        // Past the buffer of the standard library, which would take more than one.
        match nix::unistd::read(&stdin, &mut key) {
            Ok(1) => return Some(key[0]),
            // The terminal is gone.
            Ok(_) => ENDED.store(true, Ordering::SeqCst),
            Err(_) => {}
        }
        None
    }
}

impl Drop for Keyboard {
    fn drop(&mut self) {
        ENDED.store(true, Ordering::SeqCst);
        give_back();
    }
}

/// Whether this process is in the foreground: others would be stopped by reading, or by changing the terminal.
fn is_in_foreground() -> bool {
    // SAFETY: plain numbers.
    unsafe { libc::tcgetpgrp(libc::STDIN_FILENO) == libc::getpgrp() }
}

/// Sets the terminal for single keys if that is possible. True if keys can be read.
fn take() -> bool {
    let Some(found) = FOUND.get() else { return false };
    if ENDED.load(Ordering::SeqCst) || !is_in_foreground() {
        return false;
    }
    if !TAKEN.swap(true, Ordering::SeqCst) {
        let mut keys = *found;
        keys.c_lflag &= !(libc::ICANON | libc::ECHO);
        set(&keys);
        if ENDED.load(Ordering::SeqCst) {
            set(found);
        }
    }
    true
}

/// Restores the terminal settings. A signal handler may call it.
fn give_back() {
    if TAKEN.swap(false, Ordering::SeqCst)
        && is_in_foreground()
        && let Some(found) = FOUND.get()
    {
        set(found);
    }
}

fn set(settings: &libc::termios) {
    // SAFETY: the structure is only read.
    unsafe { libc::tcsetattr(libc::STDIN_FILENO, libc::TCSANOW, settings) };
}
