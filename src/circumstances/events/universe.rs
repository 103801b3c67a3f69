//! Number the events that can be left out, and compute what goes with each.
//!
//! What cannot take place without an event follows it in the trace without a gap, and so do the numbers of
//! these circumstances. A closure is therefore no search: from where something is left out, a whole
//! stretch is. Knows traces; does not run anything.

use std::ops::Range;

use tracer::program::Program;
use tracer::schedule::{Control, Omission, Schedule};
use tracer::trace::{EventId, Trace};

use dd::{Configuration, Grouping, Space};

use super::groups::groupings;

/// The events that a reduction may leave out, as the circumstances 0, 1, 2, ...
#[derive(Debug)]
pub struct Universe {
    /// The events that vanish if a circumstance is left out, its own the first of them.
    with_dependents: Vec<Range<EventId>>,
    all: Configuration,
    /// The schedule that leaves out nothing.
    everything: Schedule,
    levels: Vec<Grouping>,
}

/// The least number of events for which groups are formed: in shorter runs they bring nothing.
const LEAST_GROUPED: usize = 16;

impl Universe {
    /// Numbers the omittable events of `trace`, a run of `program`.
    pub fn new(program: &Program, trace: &Trace, control: Control) -> Universe {
        let omission = Omission::new(program, trace, control);
        let mut with_dependents = Vec::with_capacity(omission.omittable().count());
        with_dependents.extend(omission.into_stretches());
        Universe {
            all: Configuration::full(with_dependents.len()),
            everything: Schedule::everything(trace, control),
            with_dependents,
            levels: Vec::new(),
        }
    }

    /// Returns the universe with the groups in which events are left out first: 28 bytes for each event.
    pub fn grouped(self, program: &Program, trace: &Trace) -> Universe {
        if self.len() < LEAST_GROUPED {
            return self;
        }
        let events: Vec<EventId> = self.with_dependents.iter().map(|events| events.start).collect();
        Universe { levels: groupings(program, trace, &events), ..self }
    }

    /// The control rule: what makes a statement be executed.
    pub fn control(&self) -> Control {
        self.everything.control()
    }

    /// The event of a circumstance.
    pub fn event(&self, circumstance: usize) -> EventId {
        self.with_dependents[circumstance].start
    }

    /// The configuration of those of its events that are among these.
    pub fn configuration(&self, chosen: impl Iterator<Item = EventId>) -> Configuration {
        let number = |event| self.with_dependents.binary_search_by_key(&event, |events| events.start).ok();
        Configuration::from_iter(self.len(), chosen.filter_map(number))
    }

    /// The schedule by which a replay executes this configuration.
    pub fn schedule(&self, configuration: &Configuration) -> Schedule {
        let mut schedule = self.everything.clone();
        self.omit_unselected(&mut schedule, configuration, 0..self.len());
        schedule
    }

    /// The circumstances that are left out together with one.
    fn stretch(&self, circumstance: usize) -> Range<usize> {
        let end = self.with_dependents[circumstance].end;
        let behind = &self.with_dependents[circumstance + 1..];
        // Most take nothing along.
        let alone = behind.first().is_none_or(|next| next.start >= end);
        let along = if alone { 0 } else { behind.partition_point(|other| other.start < end) };
        circumstance..circumstance + 1 + along
    }

    /// The outermost circumstances among `range` that are selected in `here` and not in `there`: of those
    /// that go with another of them only the latter.
    fn outermost(
        &self,
        here: &Configuration,
        there: &Configuration,
        range: Range<usize>,
    ) -> impl Iterator<Item = usize> {
        let mut place = range.start;
        std::iter::from_fn(move || {
            let found = here.first_outside(there, place..range.end)?;
            place = self.stretch(found).end;
            Some(found)
        })
    }

    /// Omits from a schedule what a configuration does not select among `range`.
    fn omit_unselected(&self, schedule: &mut Schedule, configuration: &Configuration, range: Range<usize>) {
        for events in self.vanishing(&self.all, configuration, range) {
            schedule.omit(events);
        }
    }

    /// The events that vanish between two configurations, among `range`.
    fn vanishing(
        &self,
        here: &Configuration,
        there: &Configuration,
        range: Range<usize>,
    ) -> impl Iterator<Item = Range<EventId>> {
        joined(self.outermost(here, there, range).map(|left_out| self.with_dependents[left_out].clone()))
    }
}

/// Joins ranges that touch each other: what is left out is often all there is for a while.
fn joined<T: PartialEq>(ranges: impl Iterator<Item = Range<T>>) -> impl Iterator<Item = Range<T>> {
    let mut ranges = ranges.peekable();
    std::iter::from_fn(move || {
        let mut whole = ranges.next()?;
        while let Some(next) = ranges.next_if(|next| next.start == whole.end) {
            whole.end = next.end;
        }
        Some(whole)
    })
}

/// An effective set holds those of its events that a replay executes.
impl Space for Universe {
    fn len(&self) -> usize {
        self.with_dependents.len()
    }

    fn levels(&self) -> &[Grouping] {
        &self.levels
    }

    fn normalise(&self, configuration: &Configuration) -> Configuration {
        let mut effective = configuration.clone();
        let left_out = self.outermost(&self.all, configuration, 0..self.len());
        for stretch in joined(left_out.map(|circumstance| self.stretch(circumstance))) {
            effective.leave_out(stretch);
        }
        effective
    }

    fn normalise_without(&self, effective: &Configuration, left_out: &[usize]) -> Configuration {
        let mut rest = effective.clone();
        let mut place = 0;
        let outermost = left_out.iter().filter_map(|&circumstance| {
            // A circumstance that goes with another one takes its own dependents along.
            let stretch = (circumstance >= place).then(|| self.stretch(circumstance))?;
            place = stretch.end;
            Some(stretch)
        });
        for stretch in joined(outermost) {
            rest.leave_out(stretch);
        }
        rest
    }
}

/// A draft of schedules, each made from what it has in common with the earlier ones.
///
/// The candidates of a search differ in little. So the draft keeps the schedule of a set that holds them all,
/// copies it and takes out what the candidate at hand does not have.
#[derive(Debug)]
pub struct Draft<'u> {
    universe: &'u Universe,
    /// An effective configuration that holds all candidates at hand.
    common: Configuration,
    /// The schedule of that configuration.
    schedule: Schedule,
}

impl<'u> Draft<'u> {
    /// The number of circumstances.
    pub fn circumstances(&self) -> usize {
        self.universe.len()
    }

    /// Creates a draft that holds everything.
    pub fn new(universe: &'u Universe) -> Draft<'u> {
        Draft { universe, common: universe.all.clone(), schedule: universe.everything.clone() }
    }

    /// The schedule of an effective configuration: the same as [`Universe::schedule`] returns.
    pub fn schedule(&mut self, effective: &Configuration) -> Schedule {
        if !effective.is_subset(&self.common) {
            self.widen(effective);
        }
        let mut schedule = self.schedule.clone();
        let mut cuts = 0;
        for events in self.universe.vanishing(&self.common, effective, 0..self.universe.len()) {
            schedule.omit(events);
            cuts += 1;
        }
        // The search has gone on from the common set. A cut costs about as much as to copy 512 bits.
        if cuts > self.universe.len() / 512 {
            self.common.clone_from(effective);
            self.schedule.clone_from(&schedule);
        }
        debug_assert_eq!(schedule, self.universe.schedule(effective), "{effective:?} is not effective");
        schedule
    }

    /// Widens the common set by this one; the union of effective sets is one.
    fn widen(&mut self, effective: &Configuration) {
        let narrow = self.common.clone();
        self.common.insert_all(effective);
        for added in self.universe.outermost(&self.common, &narrow, 0..self.universe.len()) {
            self.schedule.execute(self.universe.with_dependents[added].clone());
            let stretch = self.universe.stretch(added);
            self.universe.omit_unselected(&mut self.schedule, &self.common, stretch);
        }
    }
}
