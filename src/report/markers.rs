//! Write the executions of a line as markers: `··●●●●`, or `1-2 ·, 3-400 ●` where that is too long.

use std::fmt::Write;

use super::executions::{Executions, Mark};
use super::style::{Style, length};

/// All markers in the order in which a legend names them.
pub(super) const ALL: [Mark; 6] =
    [Mark::Effect, Mark::Decision, Mark::Hole, Mark::Inferred, Mark::Unneeded, Mark::Fixed];

/// The character for an execution.
pub(super) fn glyph(mark: Mark, style: Style) -> char {
    match mark {
        Mark::Effect => style.either('●', '*'),
        Mark::Decision => style.either('○', 'o'),
        Mark::Unneeded => style.either('·', '.'),
        Mark::Fixed => style.either('■', '#'),
        Mark::Inferred => style.either('◌', '+'),
        Mark::Hole => style.either('◆', '!'),
    }
}

/// One marker for each execution, if they fit into `room`; otherwise the runs of equal markers, as many
/// as fit.
pub(super) fn write(executions: &Executions, room: usize, style: Style) -> String {
    if executions.executed() > room as u64 {
        return folded(executions, room, style);
    }
    let run = |run: &super::executions::Run| std::iter::repeat_n(glyph(run.mark, style), run.count as usize);
    executions.runs().iter().flat_map(run).collect()
}

/// Sets off the markers of needed executions.
pub(super) fn embolden(markers: &str, style: Style) -> String {
    let needed = [Mark::Effect, Mark::Decision, Mark::Hole].map(|mark| glyph(mark, style));
    let mut rest = markers;
    let mut painted = String::new();
    while let Some(start) = rest.find(needed) {
        let (before, from) = rest.split_at(start);
        let (bold, behind) = from.split_at(from.find(|c| !needed.contains(&c)).unwrap_or(from.len()));
        painted.push_str(before);
        painted.push_str(&style.bold(bold));
        rest = behind;
    }
    painted + rest
}

/// True if all executions can be shown in so much room, one by one or as runs.
pub(super) fn fit(executions: &Executions, room: usize, style: Style) -> bool {
    // A run takes three columns at least, so that most of what does not fit need not be written.
    let may_fit = executions.runs().len() <= room / 3 + 1;
    executions.executed() <= room as u64
        || (may_fit && length(&folded(executions, usize::MAX, style)) <= room)
}

fn folded(executions: &Executions, room: usize, style: Style) -> String {
    let mut text = String::new();
    let mut first = 1;
    let mut runs = executions.runs().iter().peekable();
    while let Some(run) = runs.next() {
        let last = first + run.count - 1;
        let complete = text.len();
        let separator = if text.is_empty() { "" } else { ", " };
        let _ = write!(text, "{separator}{} {}", numbers(first, last), glyph(run.mark, style));
        let reserve = runs.peek().map_or(0, |_| 2 + length(style.ellipsis()));
        if length(&text) + reserve > room {
            text.truncate(complete);
            return style.cut(&format!("{text}{separator}{}", style.ellipsis()), room);
        }
        first = last + 1;
    }
    text
}

fn numbers(first: u64, last: u64) -> String {
    if first == last { first.to_string() } else { format!("{first}-{last}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn executions(runs: &[(Mark, u64)]) -> Executions {
        let mut executions = Executions::default();
        for &(mark, count) in runs {
            (0..count).for_each(|_| executions.push(mark));
        }
        executions
    }

    const ASCII: Style = Style { color: false, unicode: false, width: 80 };

    #[test]
    fn each_execution_has_a_marker_where_they_fit() {
        let all = executions(&[(Mark::Unneeded, 2), (Mark::Effect, 1), (Mark::Decision, 3)]);
        assert_eq!(write(&all, 6, Style::default()), "··●○○○");
        assert_eq!(write(&all, 6, ASCII), "..*ooo");
    }

    #[test]
    fn markers_fold_into_runs_where_they_do_not_fit() {
        let all = executions(&[(Mark::Effect, 400), (Mark::Unneeded, 1)]);
        assert_eq!(write(&all, 14, Style::default()), "1-400 ●, 401 ·");
    }

    #[test]
    fn runs_that_do_not_fit_either_are_cut_behind_a_whole_run() {
        let runs = [(Mark::Effect, 400), (Mark::Unneeded, 1), (Mark::Effect, 9)];
        assert_eq!(write(&executions(&runs), 17, Style::default()), "1-400 ●, 401 ·, …");
        assert_eq!(write(&executions(&runs), 16, Style::default()), "1-400 ●, …");
        assert_eq!(write(&executions(&runs), 6, ASCII), "...");
    }

    #[test]
    fn what_is_cut_does_not_fit() {
        let style = Style::default();
        let all = executions(&[(Mark::Effect, 400), (Mark::Unneeded, 1)]);
        assert!(fit(&all, 14, style) && !fit(&all, 13, style));
        let alternating = executions(&[(Mark::Effect, 1), (Mark::Unneeded, 1)].repeat(500));
        assert!(fit(&alternating, 1000, style) && !fit(&alternating, 999, style));
    }

    #[test]
    fn what_is_needed_is_set_off() {
        let colored = Style { color: true, ..Style::default() };
        assert_eq!(embolden("·●○·", colored), "·\x1b[1m●○\x1b[0m·");
        assert_eq!(embolden("1-400 ●, 401 ·", Style::default()), "1-400 ●, 401 ·");
    }
}
