//! Find blocks by their indentation, which most languages share: a line, deeper lines, and a line that ends them.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// The lines that begin and end blocks, both with the number of the block; in the order of the text. The lines between
/// them are deeper, and belong to none.
///
/// As in HDD the outer structure goes, and what is in it stays.
pub(super) fn frames(text: &[u8]) -> Vec<(Range<u32>, u32)> {
    let lines = indented_lines(text);
    // The lines that the block of a deeper line may begin with, each less deep than the next.
    let mut open: Vec<usize> = Vec::new();
    let mut found: Vec<(Range<u32>, u32)> = Vec::new();
    let mut count = 0;
    for (number, (line, depth)) in lines.iter().enumerate() {
        while let Some(&above) = open.last().filter(|&&above| lines[above].1 >= *depth) {
            open.pop();
            // With deeper lines in between, and no further line that it could belong to.
            if lines[above].1 == *depth && number > above + 1 {
                let place = |range: &Range<usize>| range.start as u32..range.end as u32;
                found.extend([(place(&lines[above].0), count), (place(line), count)]);
                count += 1;
                break;
            }
        }
        open.push(number);
    }
    found.sort_unstable_by_key(|(line, block)| (line.start, *block));
    without_shared(found)
}

/// Leaves out blocks of which a line is one of an earlier block too, as that of an `else` is: a line is in one unit at
/// most.
fn without_shared(found: Vec<(Range<u32>, u32)>) -> Vec<(Range<u32>, u32)> {
    let is_shared = |two: &&[(Range<u32>, u32)]| two[0].0.start == two[1].0.start;
    let shared: HashSet<u32> = found.windows(2).filter(is_shared).map(|two| two[1].1).collect();
    let mut numbers = HashMap::new();
    let mut left = Vec::new();
    for (line, block) in found.into_iter().filter(|(_, block)| !shared.contains(block)) {
        let next = numbers.len() as u32;
        left.push((line, *numbers.entry(block).or_insert(next)));
    }
    left
}

/// The lines in which there is anything, each with its indentation.
fn indented_lines(text: &[u8]) -> Vec<(Range<usize>, usize)> {
    let mut start = 0;
    let mut lines = Vec::new();
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        lines.extend(indentation(line).map(|depth| (start..start + line.len(), depth)));
        start += line.len();
    }
    lines
}

/// The white space before the first sign of a line; `None` if there is nothing else in it.
fn indentation(line: &[u8]) -> Option<usize> {
    line.iter().position(|byte| !byte.is_ascii_whitespace())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<(&str, u32)> {
        let part = |range: Range<u32>| text[range.start as usize..range.end as usize].trim();
        frames(text.as_bytes()).into_iter().map(|(line, block)| (part(line), block)).collect()
    }

    #[test]
    fn a_block_has_a_line_before_deeper_ones_and_a_line_after_them() {
        assert_eq!(found("if a then\n  x()\n\n  y()\nend\nz()\n"), [("if a then", 0), ("end", 0)]);
        let nested = "f {\n  g {\n    x\n  }\n}\n";
        assert_eq!(found(nested), [("f {", 0), ("g {", 1), ("}", 1), ("}", 0)]);
        assert_eq!(found("a\nb\n  c\n"), []);
        assert_eq!(found(""), []);
    }

    #[test]
    fn a_line_is_in_one_block_at_most() {
        assert_eq!(found("if\n  a\nelse\n  b\nend\n"), [("if", 0), ("else", 0)]);
        assert_eq!(found("    a\n  b\nc\n"), []);
    }
}
