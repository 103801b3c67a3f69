//! `stripe slice`: what does the failure depend on, as far as dependences show?

use tracer::dependence::ValueQuestion;

use super::bounds::bounds;
use super::choices::ColorChoice;
use super::exit::{Exit, Failure};
use super::progress::ProgressPrinter;
use super::shell;
use super::slice_options::{SliceFormat, SliceKindChoice, SliceOptions};
use super::status::{Answers, SharedStatus, askers};
use super::target::{Loaded, criterion};
use super::terminal;
use super::values::ValuePlace;
use crate::dynamic::DependenceGraph;
use crate::oracle::{Criterion, must_decide, single};
use crate::report::dynamic::{self, SliceReport};
use crate::report::html;
use crate::session::dynamic::{FollowBudget, SliceCriterion, follow, record};
use crate::session::interrupt::Interrupt;
use crate::session::listener::Listener;
use crate::subject::{Ordinals, Recorded};

/// Records and follows a run, and prints its dynamic slice.
pub(super) fn slice(options: SliceOptions, color: ColorChoice) -> Result<Exit, Failure> {
    let interrupt = Interrupt::default();
    let failure = criterion(&options.oracle, &interrupt)?;
    must_be_single(&options, &failure)?;
    let Loaded { mut target, withheld } = Loaded::new(&options.target, &interrupt)?;
    target.conditions.limits = bounds(&options.target, &failure);
    if !options.quiet {
        withheld.mention();
    }
    let shared_status = SharedStatus::new("recording and following the run");
    let answers = Answers::begin(shared_status.clone(), askers(options.verbosity()))?;
    let printer =
        ProgressPrinter::new(options.verbosity(), terminal::style(color), &interrupt, &shared_status);
    let (mut tracer, baseline) = record(&target, &interrupt)?;
    let recorded = Recorded { program: &target.program, trace: &baseline.recording.trace };
    // Whether the run meets the criterion is to be known before the long work.
    let (asked, place) = asked(&options, recorded, failure)?;
    if let SliceCriterion::Failure(criterion) = &asked {
        criterion.concern(&baseline.recording.run).map_err(Failure::of(Exit::NotReproduced))?;
    }
    let questions: Vec<ValueQuestion> = match &asked {
        SliceCriterion::Value(question) => vec![question.clone()],
        _ => Vec::new(),
    };
    printer.tell("following the run instruction by instruction");
    let memory = target.conditions.limits.trace;
    let budget = FollowBudget {
        instructions: options.max_instructions,
        memory,
        asks_for_potential: options.kind == SliceKindChoice::Relevant,
    };
    let followed = follow((&target, &mut tracer), &baseline, &questions, budget)?;
    let start = followed.start(&target, &asked, &place)?;
    let graph = DependenceGraph::new(recorded, &followed.dependences);
    let kind = options.kind.into();
    let found = match options.forward {
        Some(_) => graph.forward(&start.events, kind),
        None => graph.backward(&start.events, kind),
    };
    let report = SliceReport { recorded, slice: &found, start: &start, followed: &followed };
    let style = terminal::style(color);
    let text = match options.format {
        SliceFormat::Text => dynamic::text(&report, options.full, style),
        SliceFormat::Json => dynamic::json(&report),
        SliceFormat::Html => page(&report),
        SliceFormat::Dot => dynamic::dot(&report),
    };
    drop(answers);
    super::print(text.as_bytes())
}

/// The page, with the command that makes it again.
fn page(report: &SliceReport<'_>) -> String {
    let path = &report.recorded.program.executable().path;
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let command_line = shell::stripe(std::env::args_os().skip(1));
    html::sliced::page(report, (&name, &command_line))
}

/// Checks that a place in the run is the only criterion.
fn must_be_single(options: &SliceOptions, failure: &Criterion) -> Result<(), Failure> {
    let place = [
        (options.value.is_some(), "--value"),
        (options.decision.is_some(), "--decision"),
        (options.forward.is_some(), "--forward"),
    ];
    match place.into_iter().find(|(is_given, _)| *is_given) {
        Some((_, option)) if !failure.is_empty() => Err(Failure::new(
            Exit::Usage,
            format!("{option} is a criterion by itself: leave out the options that say what the failure is"),
        )),
        _ => Ok(()),
    }
}

/// The criterion, and its place in words.
fn asked(
    options: &SliceOptions,
    recorded: Recorded<'_>,
    failure: Criterion,
) -> Result<(SliceCriterion, String), Failure> {
    let ordinals = Ordinals::new(recorded);
    let usage = |message| Failure::new(Exit::Usage, message);
    let event = |option: &str, text: &str| single(option, text, recorded, &ordinals).map_err(usage);
    if let Some(ValuePlace { name, place }) = &options.value {
        let event = event("--value", place)?;
        let question = ValueQuestion { event, name: name.clone() };
        return Ok((SliceCriterion::Value(question), ordinals.name(event)));
    }
    if let Some(text) = &options.decision {
        let event = event("--decision", text)?;
        must_decide(event, recorded, &ordinals).map_err(usage)?;
        return Ok((SliceCriterion::Decision(event), ordinals.name(event)));
    }
    if let Some(text) = &options.forward {
        let event = event("--forward", text)?;
        return Ok((SliceCriterion::Event(event), ordinals.name(event)));
    }
    Ok((SliceCriterion::Failure(Box::new(failure)), String::new()))
}
