//! Find the piece of a line that a statement is: of `for (i = 0; i < n; i++)` the second, of `a(); b();` the first.
//!
//! Compilers tell a column, which may lie anywhere in the statement: of `i < n` gcc names the `i`, of `n = f(x)` the
//! `=` or the call. Knows just enough of C, C++ and Rust to find where statements end.

/// The piece of a line in which a column lies, counted from 1, without brackets that are opened or closed elsewhere.
pub(super) fn at(line: &str, column: u32) -> &str {
    let place = (column as usize).saturating_sub(1);
    let pieces = spans(line);
    let of_place = pieces.iter().rev().find(|(start, _)| *start <= place).or(pieces.first());
    of_place.map_or("", |&(start, end)| bare(&line[start..end]))
}

/// The beginnings and ends of the pieces of a line that are not empty.
fn spans(line: &str) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    let (mut start, mut at) = (0, 0);
    while let Some(character) = line[at..].chars().next() {
        let length = match character {
            '"' => quoted(&line[at..]),
            _ => character.len_utf8(),
        };
        if matches!(character, ';' | '{' | '}') {
            spans.push((start, at));
            start = at + length;
        }
        at += length;
    }
    spans.push((start, line.len()));
    spans.retain(|&(start, end)| line[start..end].chars().any(char::is_alphanumeric));
    spans
}

/// The length of a string literal.
fn quoted(text: &str) -> usize {
    let mut bytes = text.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The piece without `for (` before it and without brackets that nothing in it has opened.
pub(super) fn bare(piece: &str) -> &str {
    let piece = piece.trim();
    let head = piece.strip_prefix("for").map(str::trim_start).and_then(|rest| rest.strip_prefix('('));
    let piece = head.filter(|_| balance(piece) > 0).unwrap_or(piece).trim();
    let mut depth = 0;
    for (at, step) in brackets(piece) {
        depth += step;
        if depth < 0 {
            return piece[..at].trim_end();
        }
    }
    piece
}

/// The number of brackets that stay open.
fn balance(text: &str) -> i32 {
    brackets(text).map(|(_, step)| step).sum()
}

/// The places of the brackets outside of string literals: 1 for one that opens, -1 for one that closes.
fn brackets(text: &str) -> impl Iterator<Item = (usize, i32)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let character = text[at..].chars().next()?;
        let place = at;
        at += if character == '"' { quoted(&text[at..]) } else { character.len_utf8() };
        Some((place, i32::from(character == '(') - i32::from(character == ')')))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pieces at the beginnings of these words.
    fn pieces<'l>(line: &'l str, words: &[&str]) -> Vec<&'l str> {
        words.iter().map(|word| at(line, line.find(word).unwrap() as u32 + 1)).collect()
    }

    #[test]
    fn the_parts_of_a_loop_are_told_apart() {
        let line = "    for (int i = 0; i < f(n); i = next(i)) x();";
        let expected = ["int i = 0", "i < f(n)", "i = next(i)"];
        assert_eq!(pieces(line, &["int", "< f", "i = next"]), expected);
        assert_eq!(pieces("for (;;)", &["for"]), [""]);
    }

    #[test]
    fn statements_on_a_line_are_told_apart_and_texts_are_whole() {
        let line = "  printf(\"a; b) \\\" \"); scanf(\"%d\", &a);";
        assert_eq!(pieces(line, &["printf", "scanf"]), ["printf(\"a; b) \\\" \")", "scanf(\"%d\", &a)"]);
        assert_eq!(pieces("if (x) { y = 1; }", &["x", "="]), ["if (x)", "y = 1"]);
    }

    #[test]
    fn columns_outside_of_the_line_do_no_harm() {
        assert_eq!((at("", 5), at("x;", 0), at("x;", 99), at("é; y", 2)), ("", "x", "x", "é"));
    }
}
