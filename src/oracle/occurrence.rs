//! Tell lines of the recorded output from equal lines elsewhere in it.
//!
//! A line of a criterion is an occurrence, not a text: where `5` is printed twice, a partial run that prints
//! it once may have printed either. So the output of a partial run is *aligned* with the recorded one: a
//! line that is missing, one that was added and one that is another text cost 1 each (Levenshtein's
//! distance of two sequences of lines), and the alignments that cost least are those by which the output is
//! understood. The wanted lines are there if *each* of these cheapest alignments has an equal line for each
//! of them. Where one has and another has not, nobody can tell, and that counts as not reproduced: a search
//! then keeps what prints the lines around, as far as it takes to tell equal lines apart.
//!
//! All cheapest alignments are looked at in one go: for each cell of the table (Wagner and Fischer, "The
//! String-to-String Correction Problem", JACM 1974) it is noted, besides the least cost, whether ways of that
//! cost lead there that have all wanted lines and ways that lack one. Only cells near the diagonal are looked
//! at, as far from it as the cost allows (Ukkonen, "Algorithms for Approximate String Matching", 1985).
//!
//! A limit of the alignment: it cannot see a partial run whose altered lines are, by luck, those of another place.

use std::hash::{DefaultHasher, Hash, Hasher};

/// The largest number of lines that are aligned; longer outputs are not.
const MOST_LINES: usize = 100_000;

/// The largest number of table cells that one alignment looks at: some milliseconds.
const MOST_CELLS: usize = 4 << 20;

/// The presence of the wanted lines in another output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Presence {
    /// Each cheapest alignment has all of them.
    There,
    /// None has all of them.
    Missing,
    /// Some have all of them, some have not.
    Untold,
    /// The outputs are too long to be aligned.
    Unaligned,
}

/// The wanted lines of the recorded output.
#[derive(Clone, Debug)]
pub(super) struct Occurrences {
    /// The comparison key of each recorded line; empty if there are too many lines.
    recorded: Vec<u64>,
    /// True for each line that is wanted.
    wanted: Vec<bool>,
    is_too_long: bool,
}

impl Occurrences {
    /// Builds the occurrences from the lines of a recorded output, each with whether it is wanted. Of a line
    /// the part is given by which it is compared.
    pub(super) fn new<'l>(lines: impl Iterator<Item = (&'l [u8], bool)>) -> Occurrences {
        let (recorded, wanted): (Vec<u64>, Vec<bool>) =
            lines.take(MOST_LINES + 1).map(|(line, wanted)| (key(line), wanted)).unzip();
        match recorded.len() > MOST_LINES {
            true => Occurrences { recorded: Vec::new(), wanted: Vec::new(), is_too_long: true },
            false => Occurrences { recorded, wanted, is_too_long: false },
        }
    }

    /// Returns the same lines with those wanted whose numbers, from 0, satisfy `numbers`.
    pub(super) fn wanting(&self, numbers: impl Fn(usize) -> bool) -> Occurrences {
        let wanted = (0..self.recorded.len()).map(numbers).collect();
        Occurrences { wanted, ..self.clone() }
    }

    /// Tells whether an output of these lines has the wanted ones.
    pub(super) fn presence<'l>(&self, lines: impl Iterator<Item = &'l [u8]>) -> Presence {
        if self.is_too_long {
            return Presence::Unaligned;
        }
        let actual: Vec<u64> = lines.take(MOST_LINES + 1).map(key).collect();
        if actual.len() > MOST_LINES {
            return Presence::Unaligned;
        }
        if actual == self.recorded {
            return Presence::There;
        }
        let cheapest = Table { recorded: &self.recorded, wanted: &self.wanted, actual: &actual }.cheapest();
        cheapest.map_or(Presence::Unaligned, Cell::presence)
    }
}

/// The comparison key of a line, a hash: equal lines have equal keys.
fn key(line: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    line.hash(&mut hasher);
    hasher.finish()
}

/// A cell of the alignment table: the least cost of aligning two beginnings of outputs, and whether
/// alignments of that cost have the wanted lines.
#[derive(Clone, Copy, Debug)]
struct Cell {
    cost: u32,
    /// True if one of them has all wanted lines so far.
    has_all: bool,
    /// True if one of them lacks a wanted line.
    lacks: bool,
}

impl Cell {
    const START: Cell = Cell { cost: 0, has_all: true, lacks: false };
    const UNREACHED: Cell = Cell { cost: u32::MAX / 2, has_all: false, lacks: false };

    /// The cell after a line that is missing, was added or is another text.
    fn edited(self) -> Cell {
        Cell { cost: self.cost + 1, ..self }
    }

    /// The cell after such an edit of a wanted line.
    fn lacking(self) -> Cell {
        Cell { cost: self.cost + 1, has_all: false, lacks: true }
    }

    fn or(self, other: Cell) -> Cell {
        match self.cost.cmp(&other.cost) {
            std::cmp::Ordering::Less => self,
            std::cmp::Ordering::Greater => other,
            std::cmp::Ordering::Equal => Cell {
                cost: self.cost,
                has_all: self.has_all | other.has_all,
                lacks: self.lacks | other.lacks,
            },
        }
    }

    fn presence(self) -> Presence {
        match (self.has_all, self.lacks) {
            (true, false) => Presence::There,
            (true, true) => Presence::Untold,
            (false, _) => Presence::Missing,
        }
    }
}

/// The table of two outputs: rows for recorded lines, columns for actual ones.
struct Table<'t> {
    recorded: &'t [u64],
    wanted: &'t [bool],
    actual: &'t [u64],
}

impl Table<'_> {
    /// Computes the last cell of the table; `None` if that takes too long. No way that costs more than `most`
    /// matters once one is found that does not, and `most` is doubled until one is.
    fn cheapest(&self) -> Option<Cell> {
        let (rows, columns) = (self.recorded.len(), self.actual.len());
        let mut most = rows.abs_diff(columns) + 8;
        let mut left = MOST_CELLS;
        loop {
            let width = (most + 1).min(columns + 1);
            left = left.checked_sub(rows.checked_mul(width)?)?;
            let cell = self.last_cell(most);
            if cell.cost as usize <= most {
                return Some(cell);
            }
            most *= 2;
        }
    }

    /// Computes the last cell, over ways that cost at most `most`. These keep to a band: a way that is `k`
    /// columns ahead has added that many lines, and has to come from there to the last cell.
    fn last_cell(&self, most: usize) -> Cell {
        let (rows, columns) = (self.recorded.len(), self.actual.len());
        let (behind, ahead) = ((most + rows - columns) / 2, (most + columns - rows) / 2);
        let mut cells = vec![Cell::UNREACHED; columns + 1];
        cells[0] = Cell::START;
        for column in 1..=ahead.min(columns) {
            cells[column] = cells[column - 1].edited();
        }
        for row in 1..=rows {
            let first = row.saturating_sub(behind);
            let mut diagonal = first.checked_sub(1).map_or(Cell::UNREACHED, |column| cells[column]);
            let mut left = Cell::UNREACHED;
            let last = (row + ahead).min(columns);
            for (column, cell) in cells.iter_mut().enumerate().take(last + 1).skip(first) {
                let above = *cell;
                left = left.edited().or(self.paired(row, column, diagonal)).or(self.missing(row, above));
                (diagonal, *cell) = (above, left);
            }
        }
        cells[columns]
    }

    /// The cell after a recorded line that has no line in the other output.
    fn missing(&self, row: usize, above: Cell) -> Cell {
        if self.wanted[row - 1] { above.lacking() } else { above.edited() }
    }

    /// The cell after a recorded line and the line aligned with it; in the first column there is none.
    fn paired(&self, row: usize, column: usize, diagonal: Cell) -> Cell {
        match column.checked_sub(1).map(|at| self.actual[at] == self.recorded[row - 1]) {
            None => Cell::UNREACHED,
            Some(true) => diagonal,
            Some(false) => self.missing(row, diagonal),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The presence of lines of one output in another, both with a letter for each line; wanted ones are
    /// capital in the recorded output.
    fn presence(recorded: &str, actual: &str) -> Presence {
        let lower = recorded.to_ascii_lowercase();
        let lines = lower.as_bytes().chunks(1).zip(recorded.bytes().map(|line| line.is_ascii_uppercase()));
        Occurrences::new(lines).presence(actual.as_bytes().chunks(1))
    }

    #[test]
    fn an_equal_line_alone_may_be_any_of_them() {
        assert_eq!(presence("Aa", "a"), Presence::Untold);
        assert_eq!(presence("aA", "a"), Presence::Untold);
        assert_eq!(presence("A", "a"), Presence::There);
        assert_eq!(presence("A", ""), Presence::Missing);
    }

    #[test]
    fn a_line_that_stands_for_another_tells_equal_lines_apart() {
        assert_eq!(presence("aA", "xa"), Presence::There);
        assert_eq!(presence("Aa", "xa"), Presence::Missing);
        assert_eq!(presence("aA", "ax"), Presence::Missing);
        assert_eq!(presence("1a2A3a", "2a3"), Presence::There);
        // What was printed after `3` may as well be what is left.
        assert_eq!(presence("1a2A3a", "2a"), Presence::Untold);
        assert_eq!(presence("1A2a3a", "2a"), Presence::Missing);
    }

    #[test]
    fn lines_that_were_left_out_or_altered_do_not_hide_the_wanted_one() {
        assert_eq!(presence("xyzA", "a"), Presence::There);
        assert_eq!(presence("xyzA", "a123"), Presence::Missing);
        assert_eq!(presence("xAy", "1a2"), Presence::There);
        assert_eq!(presence("AxB", "ab"), Presence::There);
        assert_eq!(presence("AxB", "a"), Presence::Missing);
    }

    #[test]
    fn an_altered_line_is_not_another_line() {
        // Both lines were printed: the first one, altered, is now what the second one was.
        assert_eq!(presence("xA", "ay"), Presence::Untold);
    }

    /// All alignments, tried one by one: the least cost, and whether ways of that cost have and lack wanted lines.
    fn by_trying(recorded: &[u8], actual: &[u8]) -> Vec<(u32, bool)> {
        let wanted = |line: &u8| line.is_ascii_uppercase();
        let after = |ways: Vec<(u32, bool)>, cost, has: bool| {
            ways.into_iter().map(move |(c, all)| (c + cost, all && has)).collect::<Vec<_>>()
        };
        let mut ways = match (recorded.split_last(), actual.split_last()) {
            (None, None) => vec![(0, true)],
            (Some((line, before)), None) => after(by_trying(before, actual), 1, !wanted(line)),
            (None, Some((_, before))) => after(by_trying(recorded, before), 1, true),
            (Some((old, olds)), Some((new, news))) => {
                let equal = old.eq_ignore_ascii_case(new);
                let paired = after(by_trying(olds, news), u32::from(!equal), equal || !wanted(old));
                let missing = after(by_trying(olds, actual), 1, !wanted(old));
                [paired, missing, after(by_trying(recorded, news), 1, true)].concat()
            }
        };
        ways.sort_unstable();
        ways.dedup();
        let least = ways[0].0;
        ways.retain(|way| way.0 == least);
        ways
    }

    #[test]
    fn the_table_agrees_with_all_alignments_tried_one_by_one() {
        let mut state = 1_u32;
        let mut random = |most: u32| {
            state = state.wrapping_mul(1_103_515_245).wrapping_add(12_345);
            (state >> 16) % most
        };
        let mut seen = [0; 3];
        for _ in 0..3000 {
            let recorded: String = (0..random(8)).map(|_| char::from(b"abAB"[random(4) as usize])).collect();
            let actual: String = (0..random(8)).map(|_| char::from(b"abc"[random(3) as usize])).collect();
            let ways = by_trying(recorded.as_bytes(), actual.as_bytes());
            let expected = match ways[..] {
                [(_, true)] => Presence::There,
                [(_, false)] => Presence::Missing,
                _ => Presence::Untold,
            };
            assert_eq!(presence(&recorded, &actual), expected, "{recorded} {actual}");
            seen[expected as usize] += 1;
        }
        assert!(seen.iter().all(|&count| count > 100), "{seen:?}");
    }

    #[test]
    fn a_band_that_was_too_narrow_is_widened() {
        let recorded = format!("{}A{}", "x".repeat(40), "y".repeat(40));
        let actual = format!("{}a{}", "p".repeat(40), "q".repeat(40));
        assert_eq!(presence(&recorded, &actual), Presence::There);
        assert_eq!(presence(&recorded, &actual.replace('a', "b")), Presence::Missing);
        assert_eq!(presence(&recorded, "a"), Presence::There);
    }

    #[test]
    fn the_effort_is_bounded() {
        let numbered = |count: usize, from: usize| -> Vec<Vec<u8>> {
            (from..from + count).map(|number| number.to_string().into_bytes()).collect()
        };
        let judge = |recorded: &[Vec<u8>], actual: &[Vec<u8>]| {
            let lines = recorded.iter().enumerate().map(|(at, line)| (&line[..], at == 0));
            Occurrences::new(lines).presence(actual.iter().map(|line| &line[..]))
        };
        let long = numbered(MOST_LINES, 0);
        assert_eq!(judge(&long, &long), Presence::There);
        assert_eq!(judge(&long, &long[..MOST_LINES - 1]), Presence::There);
        assert_eq!(judge(&long, &long[..1]), Presence::There);
        assert_eq!(judge(&long, &numbered(MOST_LINES, MOST_LINES)), Presence::Unaligned);
        let longer = numbered(MOST_LINES + 1, 0);
        assert_eq!(judge(&longer, &longer), Presence::Unaligned);
        assert_eq!(judge(&long, &longer), Presence::Unaligned);
    }
}
