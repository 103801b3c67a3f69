//! `stripe replay`: one partial execution, with its output and its outcome.

use std::io::{Write, stderr};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use tracer::invocation::Permissions;
use tracer::poison::Poison;
use tracer::schedule::{Control, Schedule};
use tracer::{Processors, Tracer, Untouched};

use super::bounds::bounds;
use super::choices::{PoisonOption, SingleControl};
use super::exit::{Exit, Failure};
use super::options::{ReplayOptions, names_run};
use super::run::{poison, preference};
use super::target::{Loaded, criterion};
use super::values::{ByProductNumber, EventList};
use crate::circumstances::RunLock;
use crate::circumstances::events::{EventTest, EventTestSetup, Universe};
use crate::oracle::Evidence;
use crate::oracle::Oracle;
use crate::report::{printable, words};
use crate::session::case::Subject;
use crate::session::interrupt::Interrupt;
use crate::session::permissions::openings;
use crate::session::recording::{demands, establish, limits};
use crate::session::reopened::Reopened;
use crate::subject::{Recorded, Target, stretches};
use dd::Outcome;

/// Replays a kept run, or a new recording, once, and judges it.
pub(super) fn replay(options: ReplayOptions) -> Result<Exit, Failure> {
    if names_run(&options.target.program) { of_kept_run(options) } else { of_new_run(options) }
}

/// Records the program first, and then replays it.
fn of_new_run(options: ReplayOptions) -> Result<Exit, Failure> {
    if options.by_product.is_some() {
        let message =
            "--by-product is about a kept run: name it, by its number in `stripe runs`, instead of a program";
        return Err(Failure::new(Exit::Usage, message));
    }
    let preference = preference(options.target.engine)?;
    let interrupt = Interrupt::default();
    let mut criterion = criterion(&options.oracle, &interrupt)?;
    let Loaded { mut target, withheld } = Loaded::new(&options.target, &interrupt)?;
    withheld.mention();
    target.conditions.limits = bounds(&options.target, &criterion);
    Processors::available().bind(0);
    let mut tracer = Tracer::new(&target.program, &target.invocation, preference)?;
    let demands = demands(poison(options.poison), &criterion);
    let baseline = establish(&target, &mut tracer, &demands, &interrupt)?;
    let recorded = Recorded { program: &target.program, trace: &baseline.recording.trace };
    criterion.locate(recorded);
    let oracle = criterion.oracle(&baseline.recording.run).map_err(Failure::of(Exit::NotReproduced))?;
    let experiment = Experiment {
        recorded,
        patterns: &baseline.patterns,
        untouched: &baseline.untouched,
        asked: target.conditions.asked.clone(),
        limits: limits(&baseline, options.target.world.timeout),
        permissions: &target.invocation.permissions,
        choice: Choice::of(&options),
    };
    experiment.perform(&mut tracer, &[(None, &oracle)])
}

/// Replays with the recorded run, the invocation and the criterion of a kept run.
fn of_kept_run(options: ReplayOptions) -> Result<Exit, Failure> {
    if let Some(option) = options.unfit_for_kept_run() {
        let message = format!("{option}: is as it was for the kept run: leave it out, or name a program");
        return Err(Failure::new(Exit::Usage, message));
    }
    let interrupt = Interrupt::default();
    let reopened = Reopened::open(Some(&options.target.program), &interrupt)?;
    reopened.require_same_surroundings()?;
    interrupt.listen()?;
    let choice = match &options.by_product {
        Some(number) => by_product(&reopened, number)?,
        None => Choice::of(&options),
    };
    Processors::available().bind(0);
    let Target { program, invocation, .. } = &reopened.target;
    let mut tracer = Tracer::new(program, invocation, reopened.run.search.preference)?;
    let Subject { baseline, limits, .. } = reopened.subject();
    let untouched = &baseline.untouched;
    let patterns = match options.poison {
        PoisonOption::Auto => &baseline.patterns,
        PoisonOption::Off => &[Poison::Off][..],
    };
    let permissions = &invocation.permissions;
    let recorded = reopened.subject().recorded();
    let asked = reopened.target.conditions.asked.clone();
    let experiment = Experiment { recorded, patterns, untouched, asked, limits, permissions, choice };
    let questions = reopened.questions.iter().map(|question| (question.name.as_deref(), &question.oracle));
    experiment.perform(&mut tracer, &questions.collect::<Vec<_>>())
}

/// The events that another failure which came up in the search for a kept run has executed.
fn by_product(
    reopened: &Reopened,
    ByProductNumber { criterion, number }: &ByProductNumber,
) -> Result<Choice, Failure> {
    let usage = |message: String| Failure::new(Exit::Usage, message);
    let mut questions = reopened.questions.iter();
    let question = match criterion {
        Some(name) => questions.find(|question| question.name.as_ref() == Some(name)),
        None => questions.next().filter(|_| !reopened.has_several()),
    };
    let names = reopened.questions.iter().filter_map(|question| question.name.as_deref()).collect::<Vec<_>>();
    let question = question.ok_or_else(|| {
        usage(match names.first() {
            Some(first) => format!("--by-product: name one of {}, as in {first}:{number}", names.join(", ")),
            None => format!("--by-product: this run has a single criterion: write {number}"),
        })
    })?;
    let answer = match reopened.result(question, false)? {
        Some(answer) => answer,
        None => reopened.best_so_far(question)?,
    };
    let all = &answer.slice.by_products;
    let chosen = number
        .checked_sub(1)
        .and_then(|at| all.get(at))
        .ok_or_else(|| usage(format!("there is no by-product {number}: the run has {}", all.len())))?;
    let events = stretches(chosen.executed.iter().copied()).map(|(first, last)| first.time()..=last.time());
    Ok(Choice { control: chosen.rule, list: EventList::new(events.collect()), kept: true })
}

/// The choice of the events that are executed.
struct Choice {
    control: Control,
    list: EventList,
    /// True if those of the list are executed, false if all others are.
    kept: bool,
}

impl Choice {
    fn of(options: &ReplayOptions) -> Choice {
        let control = match options.control {
            SingleControl::Program => Control::Program,
            SingleControl::Trace => Control::Trace,
        };
        match &options.keep {
            Some(keep) => Choice { control, list: keep.clone(), kept: true },
            None => Choice { control, list: options.omit.clone().unwrap_or_default(), kept: false },
        }
    }
}

/// A partial execution of a recorded run.
struct Experiment<'e> {
    recorded: Recorded<'e>,
    patterns: &'e [Poison],
    untouched: &'e Arc<Untouched>,
    asked: Option<Arc<str>>,
    limits: tracer::invocation::Limits,
    permissions: &'e Permissions,
    choice: Choice,
}

impl Experiment<'_> {
    /// Replays, and judges by each criterion. The program's output is printed once: it is the same for all.
    fn perform(
        &self,
        tracer: &mut Tracer<'_>,
        questions: &[(Option<&str>, &Oracle)],
    ) -> Result<Exit, Failure> {
        let universe = Universe::new(self.recorded.program, self.recorded.trace, self.choice.control);
        let schedule = self.schedule(&universe)?;
        let mut exit = Exit::Done;
        for (position, &(name, oracle)) in questions.iter().enumerate() {
            let setup = EventTestSetup {
                recorded: self.recorded,
                oracle,
                patterns: self.patterns,
                untouched: self.untouched,
                asked: &self.asked,
                limits: self.limits,
                runs: &AtomicU64::new(0),
                memo: None,
                outputs: None,
                turns: RunLock::default(),
            };
            let (run, evidence) = EventTest::new(&setup, &universe, tracer).examine(&schedule)?;
            if position == 0 {
                super::print(&run.stdout)?;
                tell(&run.stderr);
            }
            self.tell_outcome(name, &evidence, &schedule, tracer);
            exit = worse(exit, evidence.outcome);
        }
        let oracles: Vec<&Oracle> = questions.iter().map(|(_, oracle)| *oracle).collect();
        tell_openings(self.permissions, &oracles);
        Ok(exit)
    }

    fn tell_outcome(
        &self,
        name: Option<&str>,
        evidence: &Evidence,
        schedule: &Schedule,
        tracer: &Tracer<'_>,
    ) {
        let why = match evidence.outcome {
            Outcome::Fail => String::new(),
            Outcome::Pass | Outcome::Unresolved => format!(": {}", evidence.why),
        };
        let name = name.map_or_else(String::new, |name| format!("{name}: "));
        tell_line(&format!(
            "stripe: {name}{}{why} ({} of {} events executed, {})",
            words::outcome(evidence.outcome),
            schedule.kept().count(),
            self.recorded.trace.len(),
            words::contained(&tracer.containment())
        ));
    }

    /// The schedule of the choice; events that cannot be omitted stay.
    fn schedule(&self, universe: &Universe) -> Result<Schedule, Failure> {
        let Choice { list, kept, .. } = &self.choice;
        let last = self.recorded.trace.len() as u32;
        if let Some(range) = list.0.iter().find(|range| *range.end() > last) {
            return Err(Failure::new(
                Exit::Usage,
                format!(
                    "there is no event {}: this run has events 1 to {last}; `stripe trace` lists them",
                    range.end()
                ),
            ));
        }
        let chosen = self.recorded.trace.events().filter(|event| list.contains(event.time()) == *kept);
        Ok(universe.schedule(&universe.configuration(chosen)))
    }
}

/// The worse of two exits: a replay that says nothing outweighs one that has not reproduced the failure, and that one
/// outweighs one that has.
pub(super) fn worse(exit: Exit, outcome: Outcome) -> Exit {
    match (exit, outcome) {
        (_, Outcome::Unresolved) => Exit::Unresolved,
        (Exit::Done, Outcome::Pass) => Exit::Failed,
        _ => exit,
    }
}

/// Prints what was allowed beyond the sandbox, and the remarks of the criteria.
pub(super) fn tell_openings(permissions: &Permissions, oracles: &[&Oracle]) {
    let remarks = oracles.iter().flat_map(|oracle| oracle.remarks());
    for warning in openings(permissions).iter().chain(remarks) {
        tell_line(&format!("stripe: warning: {warning}"));
    }
}

pub(super) fn tell_line(line: &str) {
    tell((printable(line) + "\n").as_bytes());
}

/// Writes to standard error; a write error is ignored.
pub(super) fn tell(bytes: &[u8]) {
    let _ = stderr().lock().write_all(bytes);
}
