//! Closures by stretches, and schedules from drafts, are those of the definition, which goes event by event.
//!
//! On the recorded runs of the fixtures: recursion, callbacks, jumps over frames, exceptions, signals.

mod support;

use std::cell::Cell;

use dd::{Configuration, Space};
use stripe::circumstances::events::{Draft, Universe};
use support::engine::{in_two_threads, invocation, load, record};
use support::{Fixture, GCC};
use tracer::program::Granularity;
use tracer::schedule::{Control, Omission, Schedule};
use tracer::trace::EventId;
use tracer::{Preference, Tracer};

/// Marsaglia's xorshift generator: the same numbers in every run.
struct Random(Cell<u64>);

impl Random {
    fn below(&self, bound: usize) -> usize {
        let mut state = self.0.get();
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        self.0.set(state);
        (state >> 20) as usize % bound
    }
}

/// The schedule of a configuration by definition, and with it the effective set.
fn plain(universe: &Universe, omission: &Omission<'_>, chosen: &Configuration) -> (Schedule, Configuration) {
    let events: Vec<EventId> = chosen.iter().map(|number| universe.event(number)).collect();
    let schedule = omission.schedule(|event| events.binary_search(&event).is_ok());
    let effective = universe.configuration(schedule.kept());
    (schedule, effective)
}

/// Goes down from all events to few, as a search does, and sometimes to any set, as no search does.
fn descend(universe: &Universe, omission: &Omission<'_>, random: &Random, case: &str) {
    let mut draft = Draft::new(universe);
    let mut current = Configuration::full(universe.len());
    let schedule = draft.schedule(&current);
    assert_eq!((schedule, current.clone()), plain(universe, omission, &current), "{case}");
    for _ in 0..60 {
        let any = random.below(10) == 0 || current.is_empty();
        let candidate = if any {
            let rarity = 2 + random.below(30);
            let chosen = (0..universe.len()).filter(|_| random.below(rarity) > 0);
            let chosen = Configuration::from_iter(universe.len(), chosen);
            let effective = universe.normalise(&chosen);
            assert_eq!(effective, plain(universe, omission, &chosen).1, "{case}: {chosen:?}");
            effective
        } else {
            let members: Vec<usize> = current.iter().collect();
            let first = random.below(members.len());
            let length = 1 + random.below(1 + random.below(members.len() - first));
            let left_out = &members[first..first + length];
            let effective = universe.normalise_without(&current, left_out);
            assert_eq!(effective, plain(universe, omission, &current.without(left_out)).1, "{case}");
            effective
        };
        assert_eq!(draft.schedule(&candidate), plain(universe, omission, &candidate).0, "{case}");
        assert_eq!(universe.schedule(&candidate), plain(universe, omission, &candidate).0, "{case}");
        if any || random.below(4) == 0 {
            current = candidate;
        }
    }
}

#[test]
fn closures_by_stretches_and_schedules_from_drafts_are_those_of_the_definition() {
    let fixtures: Vec<Fixture> =
        Fixture::all().into_iter().filter(|fixture| fixture.directive("refused").is_none()).collect();
    in_two_threads(&fixtures, |fixture| {
        let built = fixture.build(GCC);
        let program = load(&built.path, Granularity::Statement);
        let arguments: Vec<&str> = built.arguments.iter().map(String::as_str).collect();
        let stdin = std::fs::read(&built.stdin).expect("an input");
        let start = invocation(&built.path, &built.directory, &arguments, stdin);
        let mut tracer = Tracer::new(&program, &start, Preference::Auto).expect("a tracer");
        let trace = record(&mut tracer, &fixture.name).trace;
        let random = Random(Cell::new(0x9e37_79b9_7f4a_7c15));
        for control in [Control::Trace, Control::Program] {
            let universe = Universe::new(&program, &trace, control);
            let omission = Omission::new(&program, &trace, control);
            if !universe.is_empty() {
                descend(&universe, &omission, &random, &format!("{}, {control:?}", fixture.name));
            }
        }
    });
}
