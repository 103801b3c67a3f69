//! The *data dependences* of a run: who has written what its events have read; and what it has printed, with the writer
//! of each byte.
//!
//! Source of the term: Korel and Laski, "Dynamic Program Slicing", Information Processing Letters 1988. Control
//! dependences follow from the trace alone, see [`crate::schedule::Omission::governor`].
//!
//! The dependences of an event take some four bytes each: the distance to the writer, the number of a name, and the
//! position that the run had reached.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::trace::EventId;

/// A data dependence: an event has read what another one has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DataDependence<'d> {
    /// The event that had written. An event that calls a function may read what the events of that function have
    /// written, which come later in the trace.
    pub writer: EventId,
    /// The latest event of the run when it was read first: the event itself, or one of a function that it has called
    /// and that had returned by then.
    pub read_after: EventId,
    /// The name in the source, such as `sum`, `p->next` or `f()` for what a function has returned; empty if it has no
    /// name.
    pub name: &'d str,
}

/// A potential dependence: an event has read what a decision could have written, had it gone another way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PotentialDependence<'d> {
    /// The decision. It was made after the event that has written what was read.
    pub decision: EventId,
    /// The latest event of the run when that was read first.
    pub read_after: EventId,
    /// The name in the source; empty if it has no name.
    pub name: &'d str,
}

/// Successive bytes that the program has printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrintedBytes {
    /// The number of bytes.
    pub length: u64,
    /// The event that has written them to memory, such as the call of printf; `None` for constants of the program.
    pub writer: Option<EventId>,
    /// The event that has handed them to the kernel. `None` if that was no event of the program's, such as its end.
    pub flusher: Option<EventId>,
    /// The event by which the descriptor leads where it does; `None` if it did so at the beginning.
    pub opener: Option<EventId>,
    /// Whether the flusher has only made room: the end of the program would have handed them on as well.
    pub is_by_the_way: bool,
}

/// The bytes that have been written to a descriptor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// The pieces in order, each with its writer.
    pub pieces: Vec<PrintedBytes>,
    /// The bytes themselves.
    pub bytes: Vec<u8>,
}

/// A question for the value of a variable at an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueQuestion {
    /// The event: the value when it begins is meant.
    pub event: EventId,
    /// The name of the variable in the source.
    pub name: String,
}

/// The answer to a question for a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueAnswer {
    /// The value, as the language of the program writes it.
    pub value: String,
    /// The events that have written it.
    pub writers: Vec<EventId>,
}

/// The choice of the processor or the tracer to execute the instructions of a run that is followed. The dependences
/// are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interpretation {
    /// The processor, all of them.
    None,
    /// The tracer, where it knows what they do and the processor has agreed; the processor otherwise.
    #[default]
    Trusted,
    /// The processor, and the tracer beside it, to be compared.
    Checked,
}

/// The reason why the dependences of a run are not complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Incomplete {
    /// The limit of instructions was reached; the latest event then.
    Instructions(Option<EventId>),
    /// The limit of memory for the notes was reached; the latest event then.
    Memory(Option<EventId>),
    /// The run did not go as recorded after this event.
    LeftPath(Option<EventId>),
    /// The run took too long, or somebody has ended it.
    Time(Option<EventId>),
}

/// The data dependences of a run.
#[derive(Clone, Debug, Default)]
pub struct Dependences {
    /// The position of each event's notes, plus 1; 0 for none.
    places: Vec<u32>,
    notes: Vec<u8>,
    names: Vec<String>,
    /// The potential dependences of each event that has any: the decision, the number of a name, and the latest event
    /// then.
    potential: HashMap<u32, Vec<(u32, u32, u32)>>,
    /// Standard output.
    pub stdout: Printed,
    /// Standard error.
    pub stderr: Printed,
    /// The answers to the questions, in their order; `None` where no variable of the name is there.
    pub answers: Vec<Option<ValueAnswer>>,
    /// The event whose instruction was executed last.
    pub last: Option<EventId>,
    /// The number of instructions that were executed one by one.
    pub instructions: u64,
    /// The number of those that the tracer has executed, and not the processor.
    pub interpreted: u64,
    /// The number of those that both have executed.
    pub compared: u64,
    /// The instructions about which the tracer and the processor did not agree. The processor is right.
    pub disagreements: Vec<String>,
    /// Remarks on what they may lack; each one sentence.
    pub remarks: BTreeSet<String>,
    /// The reason why they are not complete, if so.
    pub incomplete: Option<Incomplete>,
}

impl Dependences {
    /// The data dependences of the event on others: each writer once for each name, in order.
    pub fn of(&self, event: EventId) -> Vec<DataDependence<'_>> {
        let place = self.places.get(event.0 as usize).copied().unwrap_or(0);
        let Some(mut notes) = (place as usize).checked_sub(1).and_then(|at| self.notes.get(at..)) else {
            return Vec::new();
        };
        let mut number = || leb128::read::unsigned(&mut notes).unwrap_or(0);
        let count = number();
        let dependence = |_| {
            let (distance, name, later) = (number(), number(), number());
            let distance = (distance >> 1) as i64 ^ -((distance & 1) as i64);
            DataDependence {
                writer: EventId((i64::from(event.0) - distance) as u32),
                read_after: EventId(event.0 + later as u32),
                name: self.names.get(name as usize).map_or("", String::as_str),
            }
        };
        (0..count).map(dependence).collect()
    }

    /// The potential dependences of the event on decisions, in order. None unless they were asked for.
    pub fn potential(&self, event: EventId) -> impl Iterator<Item = PotentialDependence<'_>> {
        let found = self.potential.get(&event.0).into_iter().flatten();
        found.map(|&(decision, name, read_after)| PotentialDependence {
            decision: EventId(decision),
            read_after: EventId(read_after),
            name: self.names.get(name as usize).map_or("", String::as_str),
        })
    }

    /// The size of the dependences in memory, in bytes.
    pub fn memory(&self) -> u64 {
        let potential: usize = self.potential.values().map(Vec::len).sum();
        let potential = potential * size_of::<(u32, u32, u32)>();
        (self.places.capacity() * size_of::<u32>() + self.notes.capacity() + potential) as u64
    }
}

/// The builder of dependences.
#[derive(Default)]
pub(crate) struct DependencesBuilder {
    dependences: Dependences,
    numbers: HashMap<String, u32>,
}

impl DependencesBuilder {
    /// A builder for a run with so many events.
    pub(crate) fn new(events: usize) -> DependencesBuilder {
        let mut builder = DependencesBuilder::default();
        builder.dependences.places = vec![0; events];
        builder.number("");
        builder
    }

    /// The number of a name; 0 is that of no name.
    pub(crate) fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.dependences.names.len() as u32;
        self.dependences.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }

    /// Adds all that an event has read: writers and numbers of names, each with the latest event then.
    pub(crate) fn take(&mut self, event: EventId, read: &BTreeMap<(u32, u32), u32>) {
        let Dependences { places, notes, .. } = &mut self.dependences;
        // A writer without a name is left out if it has an entry with one as well.
        let named = |writer: u32| read.range((writer, 1)..=(writer, u32::MAX)).next().is_some();
        let kept: Vec<(u32, u32, u32)> = (read.iter())
            .filter(|&(&(writer, name), _)| name != 0 || !named(writer))
            .map(|(&(writer, name), &after)| (writer, name, after.saturating_sub(event.0)))
            .collect();
        if kept.is_empty() || notes.len() >= u32::MAX as usize - 1 {
            return;
        }
        places[event.0 as usize] = notes.len() as u32 + 1;
        let mut write = |number: u64| {
            // Writing to a vector cannot fail.
            let _ = leb128::write::unsigned(notes, number);
        };
        write(kept.len() as u64);
        for (writer, name, later) in kept {
            let distance = i64::from(event.0) - i64::from(writer);
            write(((distance << 1) ^ (distance >> 63)) as u64);
            write(u64::from(name));
            write(u64::from(later));
        }
    }

    /// Adds all that an event has read which decisions could have written, with numbers of names, each with the latest
    /// event then.
    pub(crate) fn take_potential(&mut self, event: EventId, read: &BTreeMap<(u32, u32), u32>) {
        if !read.is_empty() {
            let found = read.iter().map(|(&(decision, name), &after)| (decision, name, after));
            self.dependences.potential.insert(event.0, found.collect());
        }
    }

    /// The size of the notes in memory, in bytes.
    pub(crate) fn memory(&self) -> u64 {
        self.dependences.memory()
    }

    /// The finished dependences.
    pub(crate) fn finish(self) -> Dependences {
        self.dependences
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependences_are_read_as_they_were_taken_down() {
        let mut builder = DependencesBuilder::new(1000);
        let (sum, a) = (builder.number("sum"), builder.number("a"));
        assert_eq!(builder.number("sum"), sum);
        let read = [((1, sum), 900), ((899, a), 900), ((905, 0), 907), ((1, a), 900)];
        builder.take(EventId(900), &BTreeMap::from(read));
        builder.take(EventId(3), &BTreeMap::new());
        let dependences = builder.finish();
        let of = |event| {
            let found = dependences.of(EventId(event)).into_iter();
            found.map(|found| (found.writer.0, found.name, found.read_after.0)).collect::<Vec<_>>()
        };
        assert_eq!(of(900), [(1, "sum", 900), (1, "a", 900), (899, "a", 900), (905, "", 907)]);
        assert_eq!((of(3), of(5000)), (vec![], vec![]));
    }

    #[test]
    fn a_writer_with_a_name_is_not_told_without_it_too() {
        let mut builder = DependencesBuilder::new(10);
        let name = builder.number("x");
        builder.take(EventId(5), &BTreeMap::from([((1, 0), 5), ((1, name), 5), ((2, 0), 5)]));
        let dependences = builder.finish();
        let names: Vec<_> = dependences.of(EventId(5)).iter().map(|found| found.name.to_owned()).collect();
        assert_eq!(names, ["x", ""]);
    }
}
