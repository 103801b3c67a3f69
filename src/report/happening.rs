//! Describe what an execution did with values, in one line: `sum = 0 + 1 → 1 (was 0)`.
//!
//! If the source text of the line has an assignment to what was written, its right side is shown with the
//! values that were read; otherwise what was written is listed, or else what was read. Knows just enough of
//! C, C++ and Rust to find names in an expression.

use tracer::observation::{Reading, Seen, Value, Writing};

use super::pieces;
use super::style::Style;

/// The number of characters of a value that are shown.
const LONGEST_VALUE: usize = 60;

/// Describes what an execution did; empty if it neither read nor wrote anything with a name. `line` is the text of
/// its line.
pub(super) fn told(seen: &Seen, line: &str, style: Style) -> String {
    let candidates = statements(line).into_iter().filter_map(|statement| assignment(seen, statement, style));
    let assignment = candidates.min_by_key(|told| !told.is_plausible);
    let rest = |told: &Told| {
        let others = seen.writes.iter().filter(|writing| writing.name != told.name);
        others.map(|writing| changed(writing, style)).collect::<Vec<_>>()
    };
    match assignment {
        Some(told) => {
            let rest = rest(&told);
            [vec![told.text], rest].concat().join(", ")
        }
        None if seen.writes.is_empty() => {
            seen.reads.iter().map(|reading| read(reading, style)).collect::<Vec<_>>().join(", ")
        }
        None => seen.writes.iter().map(|writing| changed(writing, style)).collect::<Vec<_>>().join(", "),
    }
}

/// A value that was written: `sum: 0 → 1`.
pub(super) fn changed(Writing { name, before, after }: &Writing, style: Style) -> String {
    format!("{name}: {} {} {}", short(text(before), style), arrow(style), short(text(after), style))
}

/// A value that was read: `a = 1`.
pub(super) fn read(Reading { name, value, .. }: &Reading, style: Style) -> String {
    format!("{name} = {}", short(&value.text, style))
}

pub(super) fn arrow(style: Style) -> &'static str {
    style.either("→", "->")
}

/// The text of a value; empty if it could not be read.
pub(super) fn text(value: &Option<Value>) -> &str {
    value.as_ref().map_or("", |value| &value.text)
}

/// A value as it is printed: cut, and in ASCII where nothing else can be printed.
fn short(value: &str, style: Style) -> String {
    let spelt = if style.unicode { value.to_owned() } else { ascii(value) };
    style.cut(&spelt, LONGEST_VALUE)
}

fn ascii(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii() { c.to_string() } else { c.escape_unicode().to_string() }).collect()
}

/// An assignment in words, with its values.
struct Told {
    name: String,
    text: String,
    /// True if the new value is the one that is assigned, as far as that can be seen: the head of a loop has
    /// several assignments to the same variable.
    is_plausible: bool,
}

/// The pieces of a line that may be statements; what stands between braces belongs to an assignment before.
fn statements(line: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let (mut start, mut at, mut depth) = (0, 0, 0);
    while let Some(character) = line[at..].chars().next() {
        let length = if character == '"' { quoted_length(&line[at..]) } else { character.len_utf8() };
        let is_value = depth > 0 || character == '{' && is_assignment(&line[start..at]);
        match character {
            '{' if is_value => depth += 1,
            '}' if is_value => depth -= 1,
            ';' | '{' | '}' if !is_value => {
                pieces.push(line[start..at].trim());
                start = at + length;
            }
            _ => {}
        }
        at += length;
    }
    pieces.push(line[start..].trim());
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

fn is_assignment(piece: &str) -> bool {
    let is_control =
        ["for", "if", "while", "switch", "match", "else"].iter().any(|word| piece.trim().starts_with(word));
    !is_control && parts(piece.trim()).is_some_and(|(_, operator, _)| operator == "=")
}

fn assignment(seen: &Seen, statement: &str, style: Style) -> Option<Told> {
    let statement = pieces::bare(statement);
    let (target, operator, value) = parts(statement)?;
    let target = target.trim_end();
    let written = with_indices(target, seen);
    let writing = seen.writes.iter().find(|writing| ends_with_name(&written, &writing.name))?;
    let Writing { name, before, after } = writing;
    let value = with_values(value.trim(), seen, style);
    let is_other_number =
        value.parse().is_ok_and(|number| !after.as_ref().is_some_and(|after| after.is_number(number)));
    let after = short(text(after), style);
    let made = match operator {
        "" => format!("{name}{value}"),
        _ => format!("{name} {operator} {value}"),
    };
    let result =
        if operator == "=" && value == after { String::new() } else { format!(" {} {after}", arrow(style)) };
    let is_plausible = operator != "=" || value == after || !is_other_number;
    let text = format!("{made}{result} (was {})", short(text(before), style));
    Some(Told { name: name.clone(), text, is_plausible })
}

/// The left side, the operator and the right side of an assignment; of a step, `i++`, the name and the operator.
fn parts(statement: &str) -> Option<(&str, &str, &str)> {
    for sign in ["++", "--"] {
        if let Some(name) =
            statement.strip_suffix(sign).or_else(|| statement.strip_suffix(&format!("{sign})")))
        {
            return Some((name, "", sign));
        }
    }
    let bytes = statement.as_bytes();
    let mut depth = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth -= 1,
            b'"' => return None,
            b'=' if depth <= 0 || statement.starts_with("for") => {
                let is_comparison =
                    bytes.get(at + 1) == Some(&b'=') || at > 0 && matches!(bytes[at - 1], b'!' | b'=');
                let is_arrow = bytes.get(at + 1) == Some(&b'>');
                let shift = at > 1 && bytes[at - 1] == bytes[at - 2] && matches!(bytes[at - 1], b'<' | b'>');
                if is_comparison || is_arrow || at > 0 && !shift && matches!(bytes[at - 1], b'<' | b'>') {
                    return None;
                }
                let is_compound = at > 0 && b"+-*/%&|^".contains(&bytes[at - 1]);
                let start = if shift { at - 2 } else { at - usize::from(is_compound) };
                return Some((&statement[..start], &statement[start..=at], &statement[at + 1..]));
            }
            _ => {}
        }
    }
    None
}

/// True if a declaration or an expression ends with this name, and not with a longer one. The type of a
/// declaration in Rust stands after the name.
fn ends_with_name(target: &str, name: &str) -> bool {
    let without_type = target.split_once(':').filter(|(_, kind)| !kind.starts_with(':'));
    let target = without_type.map_or(target, |(name, _)| name).trim_end();
    let ends = |name: &str| {
        let before = target.strip_suffix(name);
        before.is_some_and(|before| !before.ends_with(|c: char| is_of_name(c) || ".>:".contains(c)))
    };
    // Within a namespace its name is not written.
    ends(name) || name.rsplit_once("::").is_some_and(|(_, name)| ends(name))
}

fn is_of_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// The text with the values of indices in brackets: `list[i]` becomes `list[2]`.
fn with_indices(text: &str, seen: &Seen) -> String {
    let Some((before, rest)) = text.split_once('[') else { return text.to_owned() };
    let Some((index, behind)) = rest.split_once(']') else { return text.to_owned() };
    let index = with_values(index, seen, Style::default());
    format!("{before}[{index}]{}", with_indices(behind, seen))
}

/// The text with the values of the names in it that were read.
fn with_values(text: &str, seen: &Seen, style: Style) -> String {
    let mut told = String::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' | '\'' => quoted_length(rest),
            _ if is_of_name(first) || first == '*' => match named(rest, seen) {
                Some((length, value)) => {
                    told.push_str(&short(value, style));
                    rest = &rest[length..];
                    continue;
                }
                None if first == '*' => 1,
                None => rest.find(|c| !is_of_name(c)).unwrap_or(rest.len()),
            },
            _ => first.len_utf8(),
        };
        told.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    told
}

/// The length of a string literal.
fn quoted_length(text: &str) -> usize {
    let quote = text.as_bytes()[0];
    let mut bytes = text.bytes().enumerate().skip(1);
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            _ if byte == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// The longest name at the beginning of a text that was read, and its value.
fn named<'s>(text: &str, seen: &'s Seen) -> Option<(usize, &'s str)> {
    let mut end = usize::from(text.starts_with('*'));
    let mut best = None;
    loop {
        let name = text[end..].find(|c| !is_of_name(c)).unwrap_or(text.len() - end);
        if name == 0 {
            return best;
        }
        end += name;
        if text[end..].starts_with('(') {
            let result = format!("{}()", &text[..end]);
            let length = end + bracket_length(&text[end..])?;
            return value_of(&result, seen).map(|value| (length, value)).or(best);
        }
        best = value_of(&text[..end], seen).map(|value| (end, value)).or(best);
        while text[end..].starts_with('[') {
            let Some(length) = bracket_length(&text[end..]) else { return best };
            end += length;
            best = value_of(&with_indices(&text[..end], seen), seen).map(|value| (end, value)).or(best);
        }
        match &text[end..] {
            rest if rest.starts_with("->") || rest.starts_with("::") => end += 2,
            rest if rest.starts_with('.') => end += 1,
            _ => return best,
        }
    }
}

fn value_of<'s>(name: &str, seen: &'s Seen) -> Option<&'s str> {
    let short = |name: &str| name.rsplit("::").next().unwrap_or_default().to_owned();
    // Names of functions in C++ have their parameters, those of templates what they are made for.
    let bare = |path: &str| short(path.split(['(', '<']).next().unwrap_or_default()) + "()";
    let called = short(name.rsplit(['.', '>']).next().unwrap_or_default());
    let is_meant = |Reading { name: known, is_returned, .. }: &&Reading| match is_returned {
        true => name.ends_with("()") && bare(known) == called,
        false => known == name || known.contains("::") && short(known) == name,
    };
    seen.reads.iter().find(is_meant).map(|reading| &reading.value.text[..])
}

/// The length of a bracketed text, up to the closing bracket.
fn bracket_length(text: &str) -> Option<usize> {
    let mut depth = 0;
    for (at, character) in text.char_indices() {
        match character {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at + 1);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(reads: &[(&str, &str)], writes: &[(&str, &str, &str)]) -> Seen {
        let value = |text: &str| Value {
            bytes: text.parse().map_or_else(|_| Vec::new(), |number: i32| number.to_le_bytes().into()),
            text: text.into(),
            ..Value::default()
        };
        let reads = reads.iter().map(|&(name, text)| Reading {
            name: name.into(),
            is_returned: name.ends_with("()"),
            value: value(text),
        });
        let writing = |&(name, before, after): &(&str, &str, &str)| Writing {
            name: name.into(),
            before: Some(value(before)),
            after: Some(value(after)),
        };
        Seen { reads: reads.collect(), writes: writes.iter().map(writing).collect() }
    }

    fn told(line: &str, reads: &[(&str, &str)], writes: &[(&str, &str, &str)]) -> String {
        super::told(&seen(reads, writes), line, Style::default())
    }

    #[test]
    fn an_assignment_is_shown_with_the_values_that_it_read() {
        let reads = [("sum", "0"), ("a", "1")];
        assert_eq!(told("        sum = sum + a;", &reads, &[("sum", "0", "1")]), "sum = 0 + 1 → 1 (was 0)");
        assert_eq!(told("sum += a;", &reads[1..], &[("sum", "0", "1")]), "sum += 1 → 1 (was 0)");
        assert_eq!(told("x <<= a;", &reads[1..], &[("x", "3", "6")]), "x <<= 1 → 6 (was 3)");
    }

    #[test]
    fn what_needs_no_computing_is_not_told_twice() {
        assert_eq!(told("sum = 0;", &[], &[("sum", "7", "0")]), "sum = 0 (was 7)");
        assert_eq!(told("int y = x;", &[("x", "5")], &[("y", "7", "5")]), "y = 5 (was 7)");
    }

    #[test]
    fn of_several_statements_on_a_line_the_one_is_shown_that_wrote() {
        assert_eq!(
            told("p = { 3, 4 }; x = 1;", &[], &[("p", "{}", "{3, 4}")]),
            "p = { 3, 4 } → {3, 4} (was {})"
        );
        let line = "for (int i = 0; i < n; i++) { int sum = i; int b = i * 2; }";
        assert_eq!(told(line, &[("i", "3")], &[("b", "0", "6")]), "b = 3 * 2 → 6 (was 0)");
        assert_eq!(told(line, &[("i", "3")], &[("i", "3", "4")]), "i++ → 4 (was 3)");
        assert_eq!(told(line, &[], &[("i", "9", "0")]), "i = 0 (was 9)");
        let line = "for (; p; p = p->next) f(p);";
        assert_eq!(told(line, &[("p->next", "0x20")], &[("p", "0x10", "0x20")]), "p = 0x20 (was 0x10)");
    }

    #[test]
    fn a_number_is_compared_with_the_bytes_of_a_value_not_with_its_text() {
        let reading = Value { bytes: vec![65], text: "65 'A'".into(), type_name: "char".into() };
        let writes = vec![Writing { name: "c".into(), before: None, after: Some(reading) }];
        let seen = Seen { writes, ..Seen::default() };
        let line = "for (c = 65; more; c = next(c)) put(c);";
        assert_eq!(super::told(&seen, line, Style::default()), "c = 65 → 65 'A' (was )");
    }

    #[test]
    fn members_elements_and_results_of_functions_have_values_too() {
        let reads = [("i", "2"), ("p->x", "4"), ("list[2]", "7"), ("f()", "9")];
        let line = "list[i] = p->x + list[i] * f(p, g(1));";
        assert_eq!(told(line, &reads, &[("list[2]", "7", "67")]), "list[2] = 4 + 7 * 9 → 67 (was 7)");
        assert_eq!(told("*out = i;", &reads, &[("*out", "1", "2")]), "*out = 2 (was 1)");
        assert_eq!(told("let total: u32 = i;", &reads, &[("total", "1", "2")]), "total = 2 (was 1)");
    }

    #[test]
    fn names_are_not_found_in_other_names_nor_in_texts() {
        let reads = [("a", "1")];
        assert_eq!(told("c = ab + a + 'a';", &reads, &[("c", "0", "5")]), "c = ab + 1 + 'a' → 5 (was 0)");
        assert_eq!(told("summa = 1;", &[], &[("a", "0", "1")]), "a: 0 → 1");
        assert_eq!(told("if (a == b) c();", &reads, &[]), "a = 1");
    }

    #[test]
    fn what_is_no_assignment_lists_what_it_wrote_or_else_read() {
        assert_eq!(told("scanf(\"%d\", &a);", &[], &[("a", "3", "0")]), "a: 3 → 0");
        assert_eq!(told("while (a <= b) {", &[("a", "0"), ("b", "5")], &[]), "a = 0, b = 5");
        assert_eq!(told("return;", &[], &[]), "");
    }

    #[test]
    fn further_values_stand_behind_the_assignment() {
        let writes = [("n", "0", "1"), ("k", "4", "5")];
        assert_eq!(told("n = f(&k);", &[("f()", "1")], &writes), "n = 1 (was 0), k: 4 → 5");
    }

    #[test]
    fn ascii_is_enough_and_long_values_are_cut() {
        let style = Style { unicode: false, ..Style::default() };
        let long = "é".repeat(40);
        let told = super::told(&seen(&[], &[("x", "1", &long)]), "f();", style);
        assert!(told.is_ascii() && told.starts_with("x: 1 -> \\u{e9}") && told.len() < 80, "{told}");
    }
}
