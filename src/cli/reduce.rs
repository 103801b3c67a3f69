//! `stripe reduce`: go on with a search that was ended early.

use std::time::Instant;

use tracer::Processors;

use super::choices::{ColorChoice, LevelChoice};
use super::delivery::{Delivery, exit_of, mention};
use super::emissions;
use super::exit::{Exit, Failure};
use super::options::ReduceOptions;
use super::progress::ProgressPrinter;
use super::run::look;
use super::status::{Answers, SharedStatus, askers};
use super::{locate, shell, terminal};
use crate::session::interrupt::Interrupt;
use crate::session::keeping::Keeping;
use crate::session::locate_resume::KeptLocated;
use crate::session::recording::tracers;
use crate::session::reopened::Reopened;
use crate::session::resume::{Continuation, Expenditure};
use crate::session::search::SearchResources;
use crate::session::workers::{hand_over_kept, tell_losses};

/// Continues the searches of a kept run that have not ended.
pub(super) fn reduce(options: ReduceOptions, color: ColorChoice) -> Result<Exit, Failure> {
    let started = Instant::now();
    let (interrupt, output) = (Interrupt::default(), &options.output);
    if let Some(kept) = KeptLocated::open(options.run.as_deref(), &interrupt)? {
        return locate::go_on(kept, (&options.limits, output), color, &interrupt);
    }
    let reopened = Reopened::open(options.run.as_deref(), &interrupt)?;
    let program = &reopened.target.program.executable().path;
    emissions::check(output, program, reopened.has_several())?;
    reopened.require_same_surroundings()?;
    interrupt.listen()?;
    let processors = Processors::available();
    let kept = &reopened.run.search;
    let jobs = options.limits.jobs.or(kept.jobs);
    // Before this process is bound to a processor, which they would inherit.
    let links = options.workers.launch()?.start()?;
    let mut tracers = tracers(&reopened.target, kept.preference, jobs, &processors)?;
    processors.bind(0);
    let shared_status = SharedStatus::new("finding the way again");
    let answers = Answers::begin(shared_status.clone(), askers(output.verbosity()))?;
    let printer =
        ProgressPrinter::new(output.verbosity(), terminal::style(color), &interrupt, &shared_status)
            .to(LevelChoice::Execution);
    let keeping = Keeping::of(reopened.folder.clone(), &printer);
    let mut links = hand_over_kept(links, &reopened, &printer, &interrupt)?;
    let resources = SearchResources {
        tracers: &mut tracers,
        links: &mut links,
        processors: &processors,
        interrupt: &interrupt,
        started,
    };
    let allowance = Expenditure {
        max_tests: options.limits.max_tests.or(kept.max_tests),
        max_time: options.limits.max_time.or(kept.max_time),
        tells_history: output.tells_history(),
    };
    let mut continuation =
        Continuation { reopened: &reopened, keeping: &keeping, listener: &printer, allowance, resources };
    let mut findings = continuation.all()?;
    tell_losses(continuation.resources.links, &printer);
    let subject = reopened.subject();
    look(&mut findings, &subject, &mut continuation.resources, output, &keeping);
    drop(answers);
    let exit = exit_of(&findings, &interrupt);
    let command_line = shell::stripe(reopened.run.line.iter().cloned());
    let delivery = Delivery { subject, findings: &findings, command_line: &command_line, layers: &[] };
    delivery.deliver(output, terminal::style(color))?;
    mention(&keeping, exit, &printer);
    delivery.ended(exit)
}
