//! Draw a test as a row of bullets, one for each circumstance: Cleve and Zeller, AADEBUG 2000, Figure 5.

use dd::{Configuration, Outcome};

use super::style::{Style, length};
use super::words;

/// The width of the column for the number of a test.
const NUMBER: usize = 5;

/// Draws the number of a test, its configuration and its outcome. Where there are more circumstances than
/// columns, each column stands for several, and tells whether all, some or none of them are selected.
pub fn row(number: u64, configuration: &Configuration, outcome: Outcome, style: Style) -> String {
    let longest = [Outcome::Fail, Outcome::Pass, Outcome::Unresolved]
        .map(|outcome| length(words::outcome(outcome)))
        .into_iter()
        .max()
        .unwrap_or_default();
    let room = style.width.saturating_sub(NUMBER + longest + 4).max(1);
    let cells = cells(configuration, room);
    let bullets: String = cells.into_iter().map(|cell| cell.glyph(style)).collect();
    let outcome = match outcome {
        Outcome::Fail => style.bold(words::outcome(outcome)),
        Outcome::Pass | Outcome::Unresolved => words::outcome(outcome).to_owned(),
    };
    format!("{number:>NUMBER$}  {bullets}  {outcome}")
}

/// The number of circumstances of a column, and of those that are selected.
struct Cell {
    selected: usize,
    all: usize,
}

impl Cell {
    fn glyph(&self, style: Style) -> char {
        match self.selected {
            0 => style.either('·', '.'),
            selected if selected == self.all => style.either('●', '*'),
            _ => style.either('◐', '+'),
        }
    }
}

/// Spreads the circumstances over at most `room` columns of nearly the same number.
fn cells(configuration: &Configuration, room: usize) -> Vec<Cell> {
    let universe = configuration.universe();
    let columns = universe.min(room);
    let start = |column: usize| column * universe / columns;
    let mut members = configuration.iter().peekable();
    let cell = |column: usize| {
        let end = start(column + 1);
        let selected = std::iter::from_fn(|| members.next_if(|&member| member < end)).count();
        Cell { selected, all: end - start(column) }
    };
    (0..columns).map(cell).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NARROW: Style = Style { color: false, unicode: true, width: 28 };

    #[test]
    fn each_circumstance_has_a_bullet_where_they_fit() {
        let configuration = Configuration::from_iter(6, [0, 1, 4]);
        assert_eq!(row(1, &configuration, Outcome::Fail, Style::default()), "    1  ●●··●·  reproduced");
        let ascii = Style { unicode: false, ..Style::default() };
        assert_eq!(row(12, &configuration, Outcome::Pass, ascii), "   12  **..*.  not reproduced");
    }

    #[test]
    fn a_column_tells_whether_all_some_or_none_of_its_circumstances_are_selected() {
        let configuration = Configuration::from_iter(10, [0, 1, 2, 6, 7, 8, 9]);
        assert_eq!(row(3, &configuration, Outcome::Unresolved, NARROW), "    3  ●◐·●●  unresolved");
    }

    #[test]
    fn every_circumstance_belongs_to_one_column() {
        for universe in [0, 1, 4, 5, 6, 7, 99, 1000] {
            let cells = cells(&Configuration::full(universe), 5);
            assert!(cells.len() <= 5);
            assert!(cells.iter().all(|cell| cell.selected == cell.all && cell.all > 0));
            assert_eq!(cells.iter().map(|cell| cell.all).sum::<usize>(), universe);
        }
    }

    #[test]
    fn a_reproduced_failure_is_set_off() {
        let style = Style { color: true, ..NARROW };
        let configuration = Configuration::full(1);
        assert_eq!(row(1, &configuration, Outcome::Fail, style), "    1  ●  \x1b[1mreproduced\x1b[0m");
    }
}
