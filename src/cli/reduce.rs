//! `stripe reduce`: go on with a search that was ended early.

use std::time::Instant;

use tracer::Processors;

use super::choices::{ColorChoice, LevelChoice};
use super::delivery::{Delivery, exit_of, mention};
use super::emissions;
use super::exit::{Exit, Failure};
use super::options::ReduceOptions;
use super::progress::Voice;
use super::run::look;
use super::status::{Answers, Board, askers};
use super::{shell, terminal};
use crate::session::interrupt::Interrupt;
use crate::session::keeping::Keeping;
use crate::session::recording::tracers;
use crate::session::reopened::Reopened;
use crate::session::resume::{Continuation, Expenditure};
use crate::session::search::Crew;
use crate::session::workers::{hand_over_kept, tell_losses};

/// Goes on with what has not ended.
pub(super) fn reduce(options: ReduceOptions, color: ColorChoice) -> Result<Exit, Failure> {
    let started = Instant::now();
    let (interrupt, output) = (Interrupt::default(), &options.output);
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
    let board = Board::new("finding the way again");
    let answers = Answers::begin(board.clone(), askers(output.loudness()))?;
    let voice =
        Voice::new(output.loudness(), terminal::style(color), &interrupt, &board).to(LevelChoice::Execution);
    let keeping = Keeping::of(reopened.folder.clone(), &voice);
    let mut links = hand_over_kept(links, &reopened, &voice, &interrupt)?;
    let crew = Crew {
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
        Continuation { reopened: &reopened, keeping: &keeping, listener: &voice, allowance, crew };
    let mut findings = continuation.all()?;
    tell_losses(continuation.crew.links, &voice);
    let subject = reopened.subject();
    look(&mut findings, &subject, &mut continuation.crew, output, &keeping);
    drop(answers);
    let exit = exit_of(&findings, &interrupt);
    let command_line = shell::stripe(reopened.run.line.iter().cloned());
    let delivery = Delivery { subject, findings: &findings, command_line: &command_line, layers: &[] };
    delivery.deliver(output, terminal::style(color))?;
    mention(&keeping, exit, &voice);
    delivery.ended(exit)
}
