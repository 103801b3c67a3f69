//! Find the structure that most languages share: brackets, quotes, and the separators of lists.

use std::ops::Range;

/// The brackets of a text that match each other. Those in quotes do not count, nor those that match none.
pub(super) struct Brackets {
    /// The places of the opening brackets and of the closing ones, in the order of the opening ones.
    pairs: Vec<(u32, u32)>,
}

impl Brackets {
    pub(super) fn of(text: &[u8]) -> Brackets {
        let (mut open, mut pairs) = (Vec::new(), Vec::new());
        let mut at = 0;
        while at < text.len() {
            let byte = text[at];
            match byte {
                b'"' | b'\'' => {
                    at = quoted_end(text, at);
                    continue;
                }
                b'(' | b'[' | b'{' => open.push((byte, at)),
                b')' | b']' | b'}' => {
                    // Brackets that were opened in between and are not closed match nothing.
                    if let Some(place) = open.iter().rposition(|&(opening, _)| closing(opening) == byte) {
                        pairs.push((open[place].1 as u32, at as u32));
                        open.truncate(place);
                    }
                }
                _ => {}
            }
            at += 1;
        }
        pairs.sort_unstable();
        Brackets { pairs }
    }

    /// Both brackets of each pair, with the number of the pair; in the order of the text.
    pub(super) fn pairs(&self) -> Vec<(Range<u32>, u32)> {
        let single = |place: u32| place..place + 1;
        let numbered = self.pairs.iter().zip(0..);
        let mut places: Vec<_> = numbered
            .flat_map(|(&(open, close), pair)| [(single(open), pair), (single(close), pair)])
            .collect();
        places.sort_unstable_by_key(|(place, _)| place.start);
        places
    }

    /// The elements within so many brackets, each with its separator from the next one.
    pub(super) fn elements(&self, text: &[u8], depth: usize) -> Vec<Range<u32>> {
        let mut elements = Vec::new();
        let mut changes = self.pairs.iter().flat_map(|&(open, close)| [(open, true), (close, false)]);
        let mut brackets: Vec<(u32, bool)> = changes.by_ref().collect();
        brackets.sort_unstable();
        let mut brackets = brackets.into_iter().peekable();
        let (mut level, mut start) = (0, 0);
        let mut at = 0;
        let mut end_element = |start: &mut u32, end: u32| {
            if *start < end {
                elements.push(*start..end);
            }
            *start = end;
        };
        while at < text.len() {
            let place = at as u32;
            let bracket = brackets.next_if(|&(next, _)| next == place);
            match bracket {
                Some((_, true)) => {
                    level += 1;
                    if level == depth {
                        start = place + 1;
                    }
                }
                Some((_, false)) => {
                    if level == depth {
                        end_element(&mut start, place);
                    }
                    level -= 1;
                    // A block ends an element by itself.
                    if level == depth && text[at] == b'}' {
                        end_element(&mut start, place + 1);
                    }
                }
                None if level == depth && matches!(text[at], b'"' | b'\'') => {
                    at = quoted_end(text, at);
                    continue;
                }
                None if level == depth && matches!(text[at], b',' | b';' | b'\n') => {
                    end_element(&mut start, place + 1);
                }
                None => {}
            }
            at += 1;
        }
        if depth == 0 {
            end_element(&mut start, text.len() as u32);
        }
        elements
    }
}

fn closing(opening: u8) -> u8 {
    match opening {
        b'(' => b')',
        b'[' => b']',
        _ => b'}',
    }
}

/// The place after a quoted text, or after the quote alone, if its line ends first: it may be an apostrophe.
fn quoted_end(text: &[u8], at: usize) -> usize {
    let quote = text[at];
    let mut end = at + 1;
    while let Some(&byte) = text.get(end) {
        match byte {
            b'\\' => end += 2,
            b'\n' => break,
            _ if byte == quote => return end + 1,
            _ => end += 1,
        }
    }
    at + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(text: &str) -> Vec<(u32, u32)> {
        Brackets::of(text.as_bytes()).pairs
    }

    #[test]
    fn brackets_in_quotes_and_without_a_partner_do_not_count() {
        assert_eq!(pairs("(a[b]{c})"), [(0, 8), (2, 4), (5, 7)]);
        assert_eq!(pairs(r#"("(" ')' "\")")"#), [(0, 14)]);
        assert_eq!(pairs("([)]"), [(0, 2)]);
        assert_eq!(pairs(")(]"), []);
        assert_eq!(pairs("don't (stop)"), [(6, 11)]);
        assert_eq!(pairs("\"(\n)\\"), [(1, 3)]);
    }

    #[test]
    fn elements_of_a_depth_do_not_overlap_and_hold_whole_brackets() {
        let text = b"{ a(1,2); b[3] } c, {d}";
        for depth in 0..4 {
            let elements = Brackets::of(text).elements(text, depth);
            assert!(elements.windows(2).all(|two| two[0].end <= two[1].start), "{elements:?}");
            for element in elements {
                let inner = &text[element.start as usize..element.end as usize];
                let count = |byte: u8| inner.iter().filter(|&&other| other == byte).count();
                assert!([b'(', b'[', b'{'].iter().all(|&open| count(open) == count(closing(open))));
            }
        }
    }
}
