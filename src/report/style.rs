//! Define the look of text: colour, character set, width.
//!
//! The only place that knows escape sequences. Widths are counted in characters; that terminals
//! draw some of them two columns wide is ignored.

/// The look of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// True if escape sequences may be used for emphasis.
    pub color: bool,
    /// True if characters outside ASCII may be used.
    pub unicode: bool,
    /// The width of a row in columns.
    pub width: usize,
}

impl Default for Style {
    fn default() -> Style {
        Style { color: false, unicode: true, width: 80 }
    }
}

impl Style {
    /// The text in bold.
    pub(super) fn bold(self, text: &str) -> String {
        self.painted("\x1b[1m", text)
    }

    /// The text dimmed.
    pub(super) fn dim(self, text: &str) -> String {
        self.painted("\x1b[2m", text)
    }

    /// One of two spellings, depending on the character set.
    pub(super) fn either<T>(self, unicode: T, ascii: T) -> T {
        if self.unicode { unicode } else { ascii }
    }

    /// The ellipsis in place of text that was left out.
    pub(super) fn ellipsis(self) -> &'static str {
        self.either("…", "...")
    }

    /// Cuts a text to `room` columns.
    pub fn cut(self, text: &str, room: usize) -> String {
        if length(text) <= room {
            return text.to_owned();
        }
        let kept = room.saturating_sub(length(self.ellipsis()));
        text.chars().take(kept).chain(self.ellipsis().chars()).take(room).collect()
    }

    fn painted(self, code: &str, text: &str) -> String {
        if self.color && !text.is_empty() { format!("{code}{text}\x1b[0m") } else { text.to_owned() }
    }
}

/// The number of columns that a text takes.
pub(super) fn length(text: &str) -> usize {
    text.chars().count()
}

/// The indentation of all but the first line of a wrapped text.
const INDENT: &str = "  ";

/// Wraps a text to lines of at most `width` columns, where its words allow. Spaces between words stay as they
/// are.
pub fn wrap(text: &str, width: usize) -> String {
    let mut lines = String::new();
    let mut column = 0;
    for (position, word) in text.split(' ').enumerate() {
        if position > 0 && column + 1 + length(word) > width {
            lines.push('\n');
            lines.push_str(INDENT);
            column = length(INDENT);
        } else if position > 0 {
            lines.push(' ');
            column += 1;
        }
        lines.push_str(word);
        column += length(word);
    }
    lines
}

/// Wraps a text after a margin, to lines of at most `width` columns; those that follow are indented further than the
/// first. A word that is too long is cut in two.
pub(super) fn wrap_behind(margin: &str, text: &str, width: usize) -> String {
    let indent = text.chars().take_while(|character| *character == ' ').count();
    let further = length(margin) + indent.min(width / 4) + 4;
    let mut lines = margin.to_owned();
    let mut rest = text;
    let mut room = width.saturating_sub(length(margin)).max(LEAST);
    while length(rest) > room {
        let end = rest.char_indices().nth(room).map_or(rest.len(), |(at, _)| at);
        let blank = match rest[end..].starts_with(' ') {
            true => Some(end),
            false => rest[..end].rfind(' '),
        };
        let (line, behind) = match blank.filter(|&at| !rest[..at].trim().is_empty()) {
            Some(blank) => (&rest[..blank], rest[blank..].trim_start()),
            None => rest.split_at(end),
        };
        lines += line.trim_end();
        lines += &format!("\n{:further$}", "");
        (rest, room) = (behind, width.saturating_sub(further).max(LEAST));
    }
    lines + rest
}

/// The least width of a piece of a text, however narrow the terminal.
const LEAST: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_too_long_ends_in_an_ellipsis_within_its_room() {
        let (unicode, ascii) = (Style::default(), Style { unicode: false, ..Style::default() });
        assert_eq!(unicode.cut("sum = sum + a;", 14), "sum = sum + a;");
        assert_eq!(unicode.cut("sum = sum + a;", 6), "sum =…");
        assert_eq!(ascii.cut("sum = sum + a;", 6), "sum...");
        assert_eq!(ascii.cut("sum = sum + a;", 2), "..");
    }

    #[test]
    fn words_are_wrapped_at_the_width_and_longer_ones_are_left_whole() {
        assert_eq!(wrap("a bb  ccc dddd", 7), "a bb \n  ccc\n  dddd");
        assert_eq!(wrap("warning: a monstrosity", 10), "warning: a\n  monstrosity");
    }

    #[test]
    fn source_is_wrapped_behind_its_number() {
        let wrapped = wrap_behind(" 7  ", "  if (first || second && third) { é = 1; }", 30);
        assert_eq!(wrapped, " 7    if (first || second &&\n          third) { é = 1; }");
        assert_eq!(wrap_behind("7 ", "short", 24), "7 short");
        let long = "é".repeat(26);
        assert_eq!(wrap_behind("7 ", &long, 24), format!("7 {}\n      éééé", "é".repeat(22)));
    }

    #[test]
    fn escape_sequences_appear_with_colour_only() {
        let colored = Style { color: true, ..Style::default() };
        assert_eq!(Style::default().bold("x"), "x");
        assert_eq!(colored.bold("x") + &colored.dim("y"), "\x1b[1mx\x1b[0m\x1b[2my\x1b[0m");
    }
}
