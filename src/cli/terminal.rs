//! Find out what the streams can show.

use std::io::IsTerminal;

use super::choices::ColorChoice;
use crate::report::Style;

/// The width of a report that nobody looks at on a terminal.
const WIDTH: usize = 80;

/// How to write a report to standard output.
pub(super) fn style(choice: ColorChoice) -> Style {
    let stdout = std::io::stdout();
    let forbidden = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    let color = match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => stdout.is_terminal() && !forbidden && !dumb,
    };
    Style { color, unicode: is_utf8(), width: width().unwrap_or(WIDTH) }
}

/// The width of the terminal to which standard output goes, if it does.
pub(super) fn width() -> Option<usize> {
    let (width, _) = terminal_size::terminal_size_of(std::io::stdout())?;
    Some(usize::from(width.0).max(40))
}

/// Whether somebody looks at standard error as it is written.
pub(super) fn is_watched() -> bool {
    std::io::stderr().is_terminal()
}

/// Whether the locale can show more than ASCII; unset, as in most containers, it is taken to.
fn is_utf8() -> bool {
    let value = ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
    value.is_none_or(|value| {
        let value = value.to_ascii_lowercase();
        value.contains("utf-8") || value.contains("utf8")
    })
}
