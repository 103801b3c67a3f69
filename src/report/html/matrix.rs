//! Draw tests as rows of a matrix: Cleve and Zeller, AADEBUG 2000, Figure 5.
//!
//! The columns are the events that can be left out. Where there are too many of them, a column stands for
//! several.

use std::ops::Range;

use tracer::schedule::{Control as Rule, Omission};
use tracer::trace::EventId;

use crate::circumstances::events::Control;
use crate::subject::{Recorded, stretches};
use dd::Configuration;

use super::super::spelling;
use super::data::Subset;

const MOST_COLUMNS: usize = 400;

/// The number of stretches of events that are named, of a test with more events than columns.
const MOST_STRETCHES: usize = 40;

/// The events that a phase can choose from.
pub(super) fn omittable(recorded: Recorded<'_>, rule: Rule) -> Vec<EventId> {
    Omission::new(recorded.program, recorded.trace, rule).omittable().collect()
}

/// The horizontal axis of the matrix: the events.
pub(super) struct Axis {
    events: Vec<EventId>,
    pub(super) columns: usize,
}

impl Axis {
    /// Creates the axis. The last phase has the most events to choose from.
    pub(super) fn new(recorded: Recorded<'_>, control: Control) -> Axis {
        let rule = control.rules().last().expect("there is a phase");
        let events = omittable(recorded, rule);
        Axis { columns: events.len().min(MOST_COLUMNS), events }
    }

    /// The number of events.
    pub(super) fn len(&self) -> usize {
        self.events.len()
    }

    /// True if each column is one event.
    pub(super) fn is_exact(&self) -> bool {
        self.columns == self.events.len()
    }

    /// The positions of the events of a column.
    fn range(&self, column: usize) -> Range<usize> {
        let start = |column: usize| column * self.events.len() / self.columns;
        start(column)..start(column + 1)
    }

    /// First event, last event, and line of the first, for each column.
    pub(super) fn columns(&self, recorded: Recorded<'_>) -> Vec<(u32, u32, u32)> {
        let column = |column| {
            let events = &self.events[self.range(column)];
            let (first, last) = (events[0], events[events.len() - 1]);
            let line = recorded.program.leader(recorded.trace.leader(first)).statement.line;
            (first.time(), last.time(), line)
        };
        (0..self.columns).map(column).collect()
    }
}

/// The events that a phase can choose from, with the column of each.
pub(super) struct Choice {
    rule: Rule,
    events: Vec<EventId>,
    columns: Vec<usize>,
    /// The number of circumstances of each column.
    all: Vec<usize>,
}

impl Choice {
    /// Creates the choice of a phase with this rule.
    pub(super) fn new(recorded: Recorded<'_>, rule: Rule, axis: &Axis) -> Choice {
        let mut of_position = vec![0; axis.events.len()];
        for column in 0..axis.columns {
            of_position[axis.range(column)].fill(column);
        }
        let column = |event: EventId| Some(of_position[axis.events.binary_search(&event).ok()?]);
        let events = omittable(recorded, rule);
        let columns: Vec<usize> = events.iter().copied().filter_map(column).collect();
        let mut all = vec![0; axis.columns];
        columns.iter().for_each(|&column| all[column] += 1);
        Choice { rule, events, columns, all }
    }

    /// The events that a test has executed; `None` if the configuration is not one of this phase.
    pub(super) fn subset(&self, configuration: &Configuration, axis: &Axis) -> Option<Subset> {
        let cells = self.cells(configuration, axis)?;
        let mut stretches = stretches(configuration.iter().map(|circumstance| self.events[circumstance]));
        let most = if axis.is_exact() { usize::MAX } else { MOST_STRETCHES };
        let events = spelling::events(stretches.by_ref().take(most));
        Some(Subset { control: spelling::rule(self.rule), events, is_cut: stretches.next().is_some(), cells })
    }

    fn cells(&self, configuration: &Configuration, axis: &Axis) -> Option<String> {
        if configuration.universe() != self.columns.len() {
            return None;
        }
        let mut chosen = vec![0; axis.columns];
        configuration.iter().for_each(|circumstance| chosen[self.columns[circumstance]] += 1);
        Some(chosen.into_iter().zip(&self.all).map(|(chosen, &all)| sign(chosen, all)).collect())
    }
}

fn sign(chosen: usize, all: usize) -> char {
    match (chosen, all) {
        (_, 0) => '-',
        (0, _) => '0',
        (chosen, all) if chosen == all => '9',
        _ => char::from(b'1' + (chosen * 8 / all) as u8),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_tells_how_many_of_its_events_are_chosen() {
        assert_eq!(
            [(0, 5), (1, 100), (4, 8), (99, 100), (7, 7), (0, 0)].map(|(n, all)| sign(n, all)),
            ['0', '1', '5', '8', '9', '-']
        );
    }
}
