//! Choose how much of the source a text shows: of a large slice, what two screens hold, unless all is asked for.

use tracer::program::Program;

use super::listing::{self, Listed};
use super::rows::Row;

/// The number of rows that two screens hold.
const MOST_ROWS: usize = 100;

/// The number of sections that are named though they are not shown.
const MOST_NAMED: usize = 8;

/// The number of executions whose values are shown without being asked for.
const FEW: usize = 60;

/// The needed executions whose values are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ValuesTold {
    /// None.
    #[default]
    None,
    /// All, if they are few.
    Few,
    /// All.
    All,
}

impl ValuesTold {
    /// True if the values of so many executions are shown.
    pub fn includes(self, executions: usize) -> bool {
        match self {
            ValuesTold::None => false,
            ValuesTold::Few => executions <= FEW,
            ValuesTold::All => true,
        }
    }
}

/// The number of events that are listed without being asked for.
const MOST_EVENTS: usize = 100_000;

/// The needed events that a document lists in full, some 700 bytes each. Their numbers are there
/// in any case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EventsListed {
    /// The first 100,000.
    #[default]
    First,
    /// All.
    All,
}

impl EventsListed {
    /// The largest number of events that are listed.
    pub(super) fn most(self) -> usize {
        match self {
            EventsListed::First => MOST_EVENTS,
            EventsListed::All => usize::MAX,
        }
    }
}

/// The level of detail of a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Detail {
    /// The needed executions whose values are shown.
    pub values: ValuesTold,
    /// True if it shows the whole source of all functions with a needed execution, however long that is.
    pub is_full: bool,
    /// The needed events that a document lists.
    pub events: EventsListed,
}

/// The parts that are shown, and a note about what is not. Of a large slice these are the needed lines of the first
/// functions, of one function at least.
pub(super) fn shown<'a>(
    program: &Program,
    parts: Vec<Listed<'a>>,
    detail: Detail,
) -> (Vec<Listed<'a>>, Option<String>) {
    let rows: usize = parts.iter().map(|(_, rows)| rows.len()).sum();
    if detail.is_full || rows <= MOST_ROWS {
        return (parts, None);
    }
    let mut parts: Vec<Listed<'a>> = parts.into_iter().map(condensed).collect();
    let mut rows = 0;
    let fitting = parts.iter().take_while(|(_, of_part)| {
        rows += of_part.len();
        rows <= MOST_ROWS
    });
    let rest = parts.split_off(fitting.count().max(1).min(parts.len()));
    (parts, Some(note(program, &rest)))
}

/// The needed lines of a section, or the executed ones where nothing is needed.
fn condensed((section, rows): Listed<'_>) -> Listed<'_> {
    let is_needed = |row: &Row<'_>| row.executions().is_some_and(|all| all.needed() > 0);
    let has_needed = rows.iter().any(is_needed);
    let mut kept: Vec<Row<'_>> = Vec::new();
    for row in rows {
        let matters = if has_needed { is_needed(&row) } else { row.executions().is_some() };
        match (matters, kept.last()) {
            (true, _) => kept.push(row),
            (false, Some(Row::Fold)) => {}
            (false, _) => kept.push(Row::Fold),
        }
    }
    (section, kept)
}

fn note(program: &Program, rest: &[Listed<'_>]) -> String {
    let lines = "Lines without a needed execution are not shown";
    if rest.is_empty() {
        return format!("{lines}: --full shows all.");
    }
    let mut names: Vec<String> =
        rest.iter().take(MOST_NAMED).map(|(section, _)| listing::title(program, section)).collect();
    if rest.len() > MOST_NAMED {
        names.push("...".to_owned());
    }
    let parts = if rest.len() == 1 { "part" } else { "parts" };
    format!(
        "{lines}, nor are {} more {parts} of the source, last needed before these ({}): --full shows all.",
        rest.len(),
        names.join("; ")
    )
}

#[cfg(test)]
mod tests {
    use super::super::sample::{Folder, Sample};
    use super::super::style::Style;
    use super::super::text;
    use super::*;

    const FULL: Detail = Detail { values: ValuesTold::None, is_full: true, events: EventsListed::First };

    /// The text of a slice of so many functions, one line of three of each needed.
    fn told(functions: usize, detail: Detail) -> String {
        let folder = Folder::new();
        let function =
            |number| format!("int f{number}(int x) {{ x = x + 1;\n    x = x * 2;\n    return x; }}\n");
        let mut source: String = (0..functions).map(function).collect();
        source += "int main(void) { int x = 0;\n";
        source += &(0..functions).map(|number| format!("    x = f{number}(x);\n")).collect::<String>();
        source += "    return 0;\n}\n";
        let sample = Sample::of(&folder, &source);
        let needed: Vec<_> =
            (0..functions).flat_map(|number| sample.omittable(3 * number as u32 + 2)).collect();
        text::slice(sample.recorded(), &sample.slice(&needed, &[]), detail, Style::default())
    }

    #[test]
    fn a_small_slice_is_shown_with_all_lines() {
        assert_eq!(told(5, Detail::default()), told(5, FULL));
        assert!(!told(5, FULL).contains("--full"));
    }

    #[test]
    fn of_a_large_slice_the_functions_needed_last_are_shown_and_the_others_counted() {
        let (short, full) = (told(120, Detail::default()), told(120, FULL));
        assert!(short.lines().count() < 300 && short.len() < full.len() / 2, "{short}");
        assert!(
            short.contains(": f119\n") && !short.contains(": f3\n") && full.contains(": f3\n"),
            "{short}"
        );
        let note: Vec<&str> = short.split_whitespace().collect();
        let note = note.join(" ");
        assert!(note.contains("Lines without a needed execution are not shown, nor are "), "{short}");
        assert!(note.contains("--full shows all."), "{short}");
    }
}
