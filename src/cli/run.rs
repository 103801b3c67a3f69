//! `stripe run`: record a failing run and reduce it to its critical slice.

use std::ffi::OsString;
use std::time::Instant;

use tracer::{Preference, Processors};

use super::bounds::bounds;
use super::choices::{AlgorithmChoice, ColorChoice, ControlChoice, EngineChoice, PoisonOption};
use super::delivery::{Delivery, exit_of, mention};
use super::emissions;
use super::exit::{Exit, Failure};
use super::follow::Follower;
use super::keep_options::KeepOptions;
use super::offers::{self, Offers};
use super::options::{OutputOptions, RunOptions, SearchOptions, SeveralOptions};
use super::progress::ProgressPrinter;
use super::rendering;
use super::shell;
use super::status::{Answers, SharedStatus, askers};
use super::target::{Loaded, criterion};
use super::terminal;
use super::values::EmissionKind;
use crate::baseline::PoisonChoice;
use crate::circumstances::events::Control;
use crate::oracle::Criterion;
use crate::report::Style;
use crate::session::case::{Plan, Subject};
use crate::session::driver::Strategy;
use crate::session::findings::Findings;
use crate::session::interrupt::Interrupt;
use crate::session::keeping::Keeping;
use crate::session::observing::Reach;
use crate::session::questions::Several;
use crate::session::recording::{Recording, tracers};
use crate::session::request::{Keep, Request};
use crate::session::search::SearchResources;
use crate::session::workers::{hand_over, tell_losses};
use dd::Algorithm;

/// Records a failing run and reduces it.
pub(super) fn run(options: RunOptions, color: ColorChoice) -> Result<Exit, Failure> {
    let line = std::env::args_os().skip(1).collect();
    search(options, color, line, |delivery, output, style| delivery.deliver(output, style))
}

/// Carries out the search that this line asks for, which is without the name of this program, and passes
/// the findings to `deliver`.
pub(super) fn search(
    options: RunOptions,
    color: ColorChoice,
    line: Vec<OsString>,
    deliver: impl FnOnce(Delivery<'_>, &OutputOptions, Style) -> Result<(), Failure>,
) -> Result<Exit, Failure> {
    let started = Instant::now();
    let output = &options.output;
    let preference = preference_for(&options)?;
    if options.compare && !output.kinds().any(has_layers) {
        let message = "--compare goes with text, json and html: take one of these for --format or --emit";
        return Err(Failure::new(Exit::Usage, message));
    }
    emissions::check(output, &options.target.program, options.several.are_asked())?;
    let interrupt = Interrupt::default();
    options.search.total_time.map(|time| interrupt.ask_after(time)).transpose()?;
    let request = request(&options, preference, line, &interrupt)?;
    let shared_status = SharedStatus::new("recording the run");
    let answers = Answers::begin(shared_status.clone(), askers(output.verbosity()))?;
    let processors = Processors::available();
    // Before this process is bound to a processor, which they would inherit.
    let links = options.workers.launch()?.start()?;
    let mut tracers = tracers(&request.target, preference, request.jobs, &processors)?;
    processors.bind(0);
    let printer =
        ProgressPrinter::new(output.verbosity(), terminal::style(color), &interrupt, &shared_status)
            .to(options.search.level);
    let mut keeping = Keeping::reserve(&request, &printer)?;
    let recording = Recording::make(&request, &mut tracers[0], &interrupt).map_err(offers::failure)?;
    let subject = recording.subject();
    rendering::check(subject, output)?;
    keeping.record(&recording);
    let mut links = hand_over(links, &recording, &printer, &interrupt)?;
    let mut resources = SearchResources {
        tracers: &mut tracers,
        links: &mut links,
        processors: &processors,
        interrupt: &interrupt,
        started,
    };
    let mut follower = Follower::new(&recording, &printer);
    let guesses = follower.guess(&options, &mut resources.tracers[0]);
    let asked = (&recording, &guesses[..]);
    let mut findings = crate::session::run::search(asked, &mut resources, &mut keeping, &printer)?;
    tell_losses(resources.links, &printer);
    look(&mut findings, &subject, &mut resources, output, &keeping);
    let beside = match options.compare {
        true => follower.compare(&findings, &mut resources.tracers[0])?,
        false => Vec::new(),
    };
    drop(answers);
    let exit = exit_of(&findings, &interrupt);
    let command_line = shell::stripe(request.line.iter().cloned());
    let delivery = Delivery { subject, findings: &findings, command_line: &command_line, layers: &beside };
    // The size of the terminal may have changed.
    deliver(delivery, output, terminal::style(color))?;
    mention(&keeping, exit, &printer);
    if let (Some(offers), None) = (Offers::own(), interrupt.signal()) {
        offers.tell(&recording, &printer);
    }
    delivery.ended(exit)
}

/// True if this kind of output shows dynamic slices beside critical ones.
fn has_layers(kind: EmissionKind) -> bool {
    matches!(kind, EmissionKind::Text | EmissionKind::Json | EmissionKind::Html)
}

/// Observes values, if that is asked for or takes little time.
pub(super) fn look(
    findings: &mut Findings,
    subject: &Subject<'_>,
    resources: &mut SearchResources<'_, '_>,
    output: &OutputOptions,
    keeping: &Keeping<'_>,
) {
    let is_short = output.values_told().includes(findings.executions());
    if output.asks_for_values() || findings.crashes_anyway() || is_short {
        let reach = if output.values { Reach::Whole } else { Reach::Near };
        findings.look(subject, &mut resources.tracers[0], reach, keeping);
    }
}

/// The request that the options make; the program is loaded, and not started.
fn request(
    options: &RunOptions,
    preference: Preference,
    line: Vec<OsString>,
    interrupt: &Interrupt,
) -> Result<Request, Failure> {
    let criterion = Criterion { inner: options.inner.criterion(), ..criterion(&options.oracle, interrupt)? };
    let Loaded { mut target, withheld } = Loaded::new(&options.target, interrupt)?;
    target.conditions.limits = bounds(&options.target, &criterion);
    target.conditions.asked = criterion.asked();
    if !options.output.quiet {
        withheld.mention();
    }
    let search = &options.search;
    Ok(Request {
        target,
        scope: options.target.scope.clone(),
        criterion,
        several: several(&options.several),
        preference,
        poison: poison(search.poison),
        plan: plan(search),
        max_tests: search.max_tests,
        max_time: search.max_time,
        jobs: search.jobs,
        timeout: options.target.world.timeout,
        keep: keep(&options.keep),
        line,
    })
}

/// The preference of a run; values are asked for at breakpoints.
fn preference_for(options: &RunOptions) -> Result<Preference, Failure> {
    match (&options.inner.value, options.target.engine) {
        (Some(_), EngineChoice::Auto) => Ok(Preference::Breakpoint),
        (Some(_), EngineChoice::Jump) => {
            let message = "--value: values are asked for at breakpoints: leave --engine jump out";
            Err(Failure::new(Exit::Usage, message))
        }
        (_, engine) => preference(engine),
    }
}

/// The preference for jumps or breakpoints; only recording works by single steps.
pub(super) fn preference(engine: EngineChoice) -> Result<Preference, Failure> {
    match engine {
        EngineChoice::Auto => Ok(Preference::Auto),
        EngineChoice::Jump => Ok(Preference::Jump),
        EngineChoice::Breakpoint => Ok(Preference::Breakpoint),
        EngineChoice::Step => Err(Failure::new(
            Exit::Usage,
            "--engine step only records: use it with `stripe trace`, or take jump or breakpoint",
        )),
    }
}

/// The choice whether undefined values are set to patterns.
pub(super) fn poison(option: PoisonOption) -> PoisonChoice {
    match option {
        PoisonOption::Auto => PoisonChoice::Auto,
        PoisonOption::Off => PoisonChoice::Off,
    }
}

fn several(options: &SeveralOptions) -> Several {
    if options.each_line { Several::EachLine } else { Several::Named(options.criterion.clone()) }
}

/// Where a run is kept.
pub(super) fn keep(options: &KeepOptions) -> Keep {
    match &options.out {
        _ if options.no_save => Keep::Nowhere,
        Some(folder) => Keep::In(folder.clone()),
        None => Keep::InArchive,
    }
}

fn plan(search: &SearchOptions) -> Plan {
    let algorithm = match search.algorithm {
        AlgorithmChoice::Sweep => Algorithm::Sweep,
        AlgorithmChoice::Ddmin => Algorithm::Ddmin,
    };
    let control = match search.control {
        ControlChoice::Both => Control::Both,
        ControlChoice::Program => Control::Program,
        ControlChoice::Trace => Control::Trace,
    };
    Plan { control, strategy: Strategy { algorithm, max_tests: None } }
}
