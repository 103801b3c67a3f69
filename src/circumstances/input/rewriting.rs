//! Simplify what stands in a text and cannot be left out: smaller numbers, shorter names and quoted
//! texts, less white space; and leave out everywhere at once what occurs several times.
//!
//! Nothing is known of the language: a word is a word wherever it stands. Whether a replacement was right
//! is for a test to say.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::simpler::{Simpler, is_simpler};
use super::swaps::{Swap, SwapPiece};
use super::units::{lines, tokens};

/// The kinds of simplifications, in their order.
const REPEATED: u8 = 0;
const QUOTED: u8 = 1;
const NUMBERS: u8 = 2;
const NAMES: u8 = 3;
const SPACE: u8 = 4;
const SEVERAL: u8 = 5;

/// The number of kinds.
pub(super) const KINDS: u8 = 6;

/// In a text of at most so many words and signs several of them that follow each other are tried together, up to so many.
const FEW_TOKENS: usize = 60;
const MOST_TOGETHER: usize = 6;

/// In a text of at most so many bytes any two of them are tried together.
const FEW_BYTES: usize = 8;

/// The number of digits above which not each digit of a number is tried.
const MOST_DIGITS: usize = 20;

/// The title of a kind of simplification.
pub(super) fn title(kind: u8) -> &'static str {
    match kind {
        REPEATED => "what occurs several times",
        QUOTED => "texts in quotes",
        NUMBERS => "numbers",
        NAMES => "names",
        SPACE => "white space",
        _ => "several words and signs together",
    }
}

/// All simplifications of a kind; each by itself makes the text simpler.
pub(super) fn simpler_things(text: &[u8], kind: u8) -> Vec<Simpler> {
    match kind {
        REPEATED => repeated(text),
        QUOTED => quoted(text),
        NUMBERS => numbers(text),
        NAMES => names(text),
        SPACE => space(text),
        _ => several(text),
    }
}

/// Replaces all of these stretches by this text.
fn instead(ranges: Vec<Range<usize>>, other: &[u8], class: (u8, u32, u32)) -> Simpler {
    let pieces = if other.is_empty() { Vec::new() } else { vec![SwapPiece::Text(other.to_vec())] };
    Simpler { class, swap: Swap { ranges, pieces } }
}

/// Leaves out lines, and then words and signs, that occur several times, everywhere at once. What occurs
/// once was tried by units.
fn repeated(text: &[u8]) -> Vec<Simpler> {
    let is_visible = |token: &Range<usize>| !text[token.start].is_ascii_whitespace();
    let visible = tokens(text).into_iter().filter(is_visible).collect();
    let mut found = Vec::new();
    for (order, stretches) in [(0, lines(text)), (1, visible)] {
        let several = by_text(text, &stretches).into_values().filter(|ranges| ranges.len() > 1);
        found.extend(several.map(|ranges| instead(ranges, b"", (REPEATED, order, 0))));
    }
    found
}

/// Shortens quoted texts: to nothing, to one half or to the other half.
fn quoted(text: &[u8]) -> Vec<Simpler> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let is_quote = matches!(text[at], b'"' | b'\'' | b'`');
        // Not for each character: a line may be as long as the text.
        let behind = if is_quote { &text[at + 1..] } else { &[] };
        let end = behind.iter().position(|&byte| byte == text[at] || byte == b'\n');
        let end = end.map(|end| at + 1 + end).filter(|&end| text[end] == text[at]);
        let Some(end) = end else {
            at += 1;
            continue;
        };
        let (from, half) = (at + 1, boundary(text, (at + 1 + end) / 2));
        // A single character was tried by units.
        if end - from > 1 {
            for (rank, range) in [(0, from..end), (1, half..end), (2, from..half)] {
                found.extend((!range.is_empty()).then(|| instead(vec![range], b"", (QUOTED, 0, rank))));
            }
        }
        at = end + 1;
    }
    found
}

/// The beginning of the character at a place.
fn boundary(text: &[u8], at: usize) -> usize {
    (0..=at).rev().find(|&at| !matches!(text[at], 0x80..=0xbf)).unwrap_or(0)
}

/// Replaces numbers by smaller ones: first equal ones together, then each by itself.
fn numbers(text: &[u8]) -> Vec<Simpler> {
    let is_number = |token: &Range<usize>| text[token.clone()].iter().all(u8::is_ascii_digit);
    let numbers: Vec<Range<usize>> = number_tokens(text).into_iter().filter(is_number).collect();
    let mut found = Vec::new();
    for (digits, ranges) in by_text(text, &numbers).into_iter().filter(|(_, ranges)| ranges.len() > 1) {
        for (other, rank) in smaller_numbers(digits).into_iter().zip(0..) {
            found.push(instead(ranges.clone(), &other, (NUMBERS, 0, rank)));
        }
    }
    for range in numbers {
        for (other, rank) in smaller_numbers(&text[range.clone()]).into_iter().zip(0..) {
            found.push(instead(vec![range.clone()], &other, (NUMBERS, 1, rank)));
        }
    }
    found
}

/// The smaller numbers: 0, 1, half of it, one digit of it 0 or less by 1, all of it less by 1. Digits in, digits out.
fn smaller_numbers(digits: &[u8]) -> Vec<Vec<u8>> {
    let plain = &plain(digits.to_vec())[..];
    let mut smaller = vec![b"0".to_vec(), b"1".to_vec(), plain.to_vec(), half(plain)];
    if digits.len() <= MOST_DIGITS {
        let changed = |place: usize, digit: u8| {
            let mut other = digits.to_vec();
            other[place] = digit;
            other
        };
        smaller.extend((0..digits.len()).map(|place| changed(place, b'0')));
        let positive = (0..digits.len()).filter(|&place| digits[place] > b'0');
        smaller.extend(positive.map(|place| changed(place, digits[place] - 1)));
        smaller.push(one_less(plain));
    }
    let mut seen = BTreeSet::new();
    smaller.retain(|other| is_simpler(other, digits) && seen.insert(other.clone()));
    smaller
}

fn half(digits: &[u8]) -> Vec<u8> {
    let mut rest = 0;
    let mut half = Vec::new();
    for digit in digits {
        let value = 10 * rest + (digit - b'0');
        half.push(b'0' + value / 2);
        rest = value % 2;
    }
    plain(half)
}

fn one_less(digits: &[u8]) -> Vec<u8> {
    let mut less = digits.to_vec();
    for digit in less.iter_mut().rev() {
        if *digit > b'0' {
            *digit -= 1;
            return plain(less);
        }
        *digit = b'9';
    }
    digits.to_vec()
}

/// The number without leading zeros.
fn plain(mut digits: Vec<u8>) -> Vec<u8> {
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    digits.drain(..zeros.min(digits.len() - 1));
    digits
}

/// Replaces each name by the simplest ones that are no names in the text, everywhere at once.
fn names(text: &[u8]) -> Vec<Simpler> {
    let is_name = |token: &Range<usize>| matches!(text[token.start], b'a'..=b'z' | b'A'..=b'Z' | b'_');
    let names: Vec<Range<usize>> = tokens(text).into_iter().filter(is_name).collect();
    let mut by_name: Vec<(&[u8], Vec<Range<usize>>)> = by_text(text, &names).into_iter().collect();
    by_name.sort_by_key(|(_, ranges)| ranges[0].start);
    let known: BTreeSet<Vec<u8>> = by_name.iter().map(|(name, _)| name.to_vec()).collect();
    let mut free = simple_names().filter(|name| !known.contains(name)).peekable();
    let mut found = Vec::new();
    for (name, ranges) in by_name {
        if let Some(other) = free.next_if(|free| is_simpler(free, name)) {
            found.push(instead(ranges, &other, (NAMES, 0, 0)));
        }
    }
    found
}

/// The simple names, in order: `a`, `b`, ..., `z`, `aa`, `ab`, ...
fn simple_names() -> impl Iterator<Item = Vec<u8>> {
    (1_u32..).map(|number| {
        let (mut number, mut name) = (number, Vec::new());
        while number > 0 {
            name.push(b'a' + ((number - 1) % 26) as u8);
            number = (number - 1) / 26;
        }
        name.reverse();
        name
    })
}

/// Replaces white space by nothing, a space, the end of a line.
fn space(text: &[u8]) -> Vec<Simpler> {
    let mut found = Vec::new();
    for range in tokens(text).into_iter().filter(|token| text[token.start].is_ascii_whitespace()) {
        let now = &text[range.clone()];
        for (rank, other) in [(0, &b""[..]), (1, b" "), (2, b"\n")] {
            // A single sign was tried by units, with nothing in its place.
            let is_new = now.len() > 1 || !other.is_empty();
            if is_new && is_simpler(other, now) {
                found.push(instead(vec![range.clone()], other, (SPACE, 0, rank)));
            }
        }
    }
    found
}

/// Leaves out words and signs that follow each other, of which none can go alone, and whose brackets match: an assignment,
/// a clause. In the shortest texts any two bytes.
fn several(text: &[u8]) -> Vec<Simpler> {
    let is_visible = |token: &Range<usize>| !text[token.start].is_ascii_whitespace();
    let visible: Vec<Range<usize>> = tokens(text).into_iter().filter(is_visible).collect();
    let mut found = Vec::new();
    if visible.len() <= FEW_TOKENS {
        for count in 2..=MOST_TOGETHER {
            let run = |run: &[Range<usize>]| run[0].start..run[count - 1].end;
            // All of it was tried as a whole.
            let runs = visible.windows(count).map(run).filter(|run| run.len() < text.len());
            let runs = runs.filter(|run| is_balanced(&text[run.clone()]));
            found.extend(runs.map(|run| instead(vec![run], b"", (SEVERAL, count as u32, 0))));
        }
    }
    if text.len() <= FEW_BYTES && text.is_ascii() {
        let pairs = (0..text.len()).flat_map(|one| (one + 1..text.len()).map(move |other| [one, other]));
        for pair in pairs.filter(|_| text.len() > 2) {
            let ranges = pair.map(|place| place..place + 1).into();
            found.push(instead(ranges, b"", (SEVERAL, MOST_TOGETHER as u32 + 1, 0)));
        }
    }
    found
}

/// True if each bracket has its partner.
fn is_balanced(text: &[u8]) -> bool {
    let mut open = Vec::new();
    for byte in text {
        match byte {
            b'(' => open.push(b')'),
            b'[' => open.push(b']'),
            b'{' => open.push(b'}'),
            b')' | b']' | b'}' if open.pop() != Some(*byte) => return false,
            _ => {}
        }
    }
    open.is_empty()
}

/// Groups stretches by their texts.
fn by_text<'t>(text: &'t [u8], stretches: &[Range<usize>]) -> BTreeMap<&'t [u8], Vec<Range<usize>>> {
    let mut by_text: BTreeMap<&[u8], Vec<Range<usize>>> = BTreeMap::new();
    for range in stretches {
        by_text.entry(&text[range.clone()]).or_default().push(range.clone());
    }
    by_text
}

/// Splits a text into tokens, with a number apart from the letters after it, as in `10px`.
fn number_tokens(text: &[u8]) -> Vec<Range<usize>> {
    let number = |token: Range<usize>| {
        let digits = text[token.clone()].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits > 0 { token.start..token.start + digits } else { token }
    };
    tokens(text).into_iter().map(number).collect()
}

#[cfg(test)]
mod tests {
    use dd::Configuration;

    use super::super::swaps::Swaps;
    use super::*;

    /// All texts that single simplifications of a kind lead to.
    fn all(text: &str, kind: u8) -> Vec<String> {
        let mut found = simpler_things(text.as_bytes(), kind);
        found.sort_by_key(|simpler| simpler.class);
        let alone = |simpler: Simpler| {
            let other = Swaps::choose(vec![simpler.swap]).join(text.as_bytes(), &Configuration::empty(1));
            assert!(is_simpler(&other, text.as_bytes()), "{text}: {other:?}");
            String::from_utf8(other).expect("a text")
        };
        found.into_iter().map(alone).collect()
    }

    #[test]
    fn each_kind_finds_its_own() {
        assert_eq!(all("x;y;x", REPEATED), ["xyx", ";y;"]);
        assert_eq!(all("ab\ncd\nab\n", REPEATED), ["cd\n", "\ncd\n\n"]);
        assert_eq!(
            all("f(\"abcd\", 'x', don't)", QUOTED)[..3],
            ["f(\"\", 'x', don't)", "f(\"ab\", 'x', don't)", "f(\"cd\", 'x', don't)",]
        );
        assert_eq!(
            all("int foo = foo + b1;", NAMES),
            ["a foo = foo + b1;", "int b = b + b1;", "int foo = foo + c;"]
        );
        assert_eq!(all("b a", NAMES), [""; 0]);
        assert_eq!(all("a\t\n b\tc", SPACE), ["ab\tc", "a b\tc", "a\t\n b c", "a\nb\tc", "a\t\n b\nc"]);
    }

    #[test]
    fn what_cannot_go_alone_may_go_with_what_follows_it() {
        assert_eq!(all("f(a) b = c;", SEVERAL)[..4], ["f(a)  c;", "f(a) b ;", "f(a) b = ", "f b = c;"]);
        assert_eq!(all("[00}", SEVERAL), ["0}", "0}", "00", "[}", "[0", "[0"]);
        assert_eq!(all("ab", SEVERAL), [""; 0]);
        assert!(all(&"a ".repeat(FEW_TOKENS + 1), SEVERAL).is_empty());
    }

    #[test]
    fn numbers_become_smaller_step_by_step() {
        assert_eq!(
            all("x1 = 20px", NUMBERS),
            ["x1 = 0px", "x1 = 1px", "x1 = 10px", "x1 = 00px", "x1 = 19px"]
        );
        assert_eq!(all("7+7", NUMBERS)[..3], ["0+0", "1+1", "3+3"]);
        let smaller = |digits: &str| -> Vec<String> {
            let texts = smaller_numbers(digits.as_bytes()).into_iter();
            texts.map(|text| String::from_utf8(text).expect("digits")).collect()
        };
        assert_eq!(smaller("100"), ["0", "1", "50", "000", "99"]);
        assert_eq!(smaller("007"), ["0", "1", "7", "3", "000", "006", "6"]);
        assert_eq!(smaller("1"), ["0"]);
        assert!(smaller("0").is_empty());
        let huge = "9".repeat(100);
        assert_eq!(smaller(&huge), ["0".into(), "1".into(), format!("4{}", "9".repeat(99))]);
    }
}
