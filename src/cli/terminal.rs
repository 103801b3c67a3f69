//! Find out what the terminal can show, and write lines to standard error.

use std::io::{IsTerminal, Write, stderr};
use std::sync::atomic::{AtomicBool, Ordering};

use super::choices::ColorChoice;
use crate::report::{Style, printable};

/// The verbosity that the user wants.
#[derive(Clone, Copy)]
pub(super) struct Verbosity {
    pub(super) quiet: bool,
    pub(super) verbose: bool,
}

/// The width of a report that does not go to a terminal.
const WIDTH: usize = 80;

/// The style of a report on standard output.
pub(super) fn style(choice: ColorChoice) -> Style {
    let stdout = std::io::stdout();
    let forbidden = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let color = match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => stdout.is_terminal() && !forbidden && !is_dumb(),
    };
    Style { color, unicode: is_utf8(), width: width().unwrap_or(WIDTH) }
}

/// The width of the terminal to which standard output goes, if it does.
pub(super) fn width() -> Option<usize> {
    let (width, _) = terminal_size::terminal_size_of(std::io::stdout())?;
    Some(usize::from(width.0).max(40))
}

/// True if standard error is a terminal.
pub(super) fn is_watched() -> bool {
    std::io::stderr().is_terminal()
}

/// True if a line on standard error can be redrawn.
pub(super) fn draws_again() -> bool {
    is_watched() && !is_dumb()
}

/// True if the terminal knows no escape sequences.
fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// The parts of a line that fit on the terminal of standard error, whose size may have changed: a line that wraps
/// could not be redrawn.
pub(super) fn clipped(line: &str) -> String {
    match terminal_size::terminal_size_of(std::io::stderr()) {
        Some((width, _)) => first_parts(line, usize::from(width.0).saturating_sub(1)),
        None => line.to_owned(),
    }
}

/// The longest beginning of a line that ends before a comma and takes at most `width` columns. Half a number
/// would be another one.
fn first_parts(line: &str, width: usize) -> String {
    let beginnings = line.match_indices(", ").map(|(end, _)| &line[..end]).chain([line]);
    let fitting = beginnings.take_while(|beginning| beginning.chars().count() <= width);
    fitting.last().map_or_else(|| line.chars().take(width).collect(), str::to_owned)
}

/// True if the locale can show more than ASCII; unset, as in most containers, it is taken to.
fn is_utf8() -> bool {
    let value = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    value.is_none_or(|value| {
        let value = value.to_ascii_lowercase();
        value.contains("utf-8") || value.contains("utf8")
    })
}

/// Prints a line to standard error; text from outside may hold anything.
pub(super) fn tell(line: &str) {
    say(&(printable(line) + "\n"));
}

/// True if a redrawn line stands there, which the next output removes.
static IS_DRAWN: AtomicBool = AtomicBool::new(false);

/// The escape sequence that clears the line of the cursor.
const CLEAR: &str = "\r\x1b[K";

/// Writes to standard error; a write error is ignored.
pub(super) fn say(text: &str) {
    let clear = if IS_DRAWN.swap(false, Ordering::Relaxed) { CLEAR } else { "" };
    let mut stderr = stderr().lock();
    let _ = stderr.write_all((clear.to_owned() + text).as_bytes()).and_then(|()| stderr.flush());
}

/// Draws a line that the next output removes; in place of another one if one stands there.
pub(super) fn draw(line: &str) {
    say(&format!("{CLEAR}{}", clipped(&printable(line))));
    IS_DRAWN.store(true, Ordering::Relaxed);
}

/// Removes such a line, if there is one.
pub(super) fn undraw() {
    say("");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_long_loses_its_last_parts() {
        let line = "branches decide, 24 of 34 left, 100 tests";
        let shortened = [0, 8, 15, 16, 29, 30, 40, 41, 99].map(|width| first_parts(line, width));
        let (one, two) = ("branches decide", "branches decide, 24 of 34 left");
        assert_eq!(shortened, ["", "branches", one, one, one, two, two, line, line]);
    }
}
