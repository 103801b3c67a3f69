//! `stripe slice`: what does the failure depend on, as far as dependences tell?

use tracer::dependence::ValueQuestion;
use tracer::trace::EventId;

use super::bounds::bounds;
use super::choices::ColorChoice;
use super::exit::{Exit, Failure};
use super::place::{PlaceFound, Where};
use super::progress::Voice;
use super::slice_options::{SliceFormat, SliceKindChoice, SliceOptions};
use super::status::{Answers, Board, askers};
use super::target::{Loaded, criterion};
use super::terminal;
use crate::dynamic::DependenceGraph;
use crate::oracle::Criterion;
use crate::report::dynamic::{self, SliceReport};
use crate::report::ordinals::Ordinals;
use crate::session::dynamic::{FollowBudget, SliceCriterion, follow, record};
use crate::session::interrupt::Interrupt;
use crate::session::listener::Listener;
use crate::subject::Recorded;

/// Slices.
pub(super) fn slice(options: SliceOptions, color: ColorChoice) -> Result<Exit, Failure> {
    let interrupt = Interrupt::default();
    let failure = criterion(&options.oracle, &interrupt)?;
    must_be_single(&options, &failure)?;
    let Loaded { mut target, withheld } = Loaded::new(&options.target, &interrupt)?;
    target.conditions.limits = bounds(&options.target, &failure);
    if !options.quiet {
        withheld.mention();
    }
    let board = Board::new("recording and following the run");
    let answers = Answers::begin(board.clone(), askers(options.loudness()))?;
    let voice = Voice::new(options.loudness(), terminal::style(color), &interrupt, &board);
    let (mut tracer, baseline) = record(&target, &interrupt)?;
    let recorded = Recorded { program: &target.program, trace: &baseline.recording.trace };
    // Whether the run meets it is to be known before the long work.
    let (asked, place) = asked(&options, recorded, failure)?;
    if let SliceCriterion::Failure(criterion) = &asked {
        criterion.concern(&baseline.recording.run).map_err(Failure::of(Exit::NotReproduced))?;
    }
    let questions: Vec<ValueQuestion> = match &asked {
        SliceCriterion::Value(question) => vec![question.clone()],
        _ => Vec::new(),
    };
    voice.tell("following the run instruction by instruction");
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
        SliceFormat::Dot => dynamic::dot(&report),
    };
    drop(answers);
    super::print(text.as_bytes())
}

/// A place in the run is a criterion by itself.
fn must_be_single(options: &SliceOptions, failure: &Criterion) -> Result<(), Failure> {
    let place =
        [(&options.value, "--value"), (&options.decision, "--decision"), (&options.forward, "--forward")];
    match place.into_iter().find(|(given, _)| given.is_some()) {
        Some((_, option)) if !failure.is_empty() => Err(Failure::new(
            Exit::Usage,
            format!("{option} is a criterion by itself: leave out the options that say what the failure is"),
        )),
        _ => Ok(()),
    }
}

/// What is asked for, and its place in words.
fn asked(
    options: &SliceOptions,
    recorded: Recorded<'_>,
    failure: Criterion,
) -> Result<(SliceCriterion, String), Failure> {
    let ordinals = Ordinals::new(recorded);
    let event = |option: &str, text: &str| single(option, text, recorded, &ordinals);
    if let Some(text) = &options.value {
        let Some((name, place)) = text.rsplit_once('@') else {
            let message = format!(
                "--value: `{text}` names no place: write sum@13#3 for sum where the third execution of line 13 begins"
            );
            return Err(Failure::new(Exit::Usage, message));
        };
        let event = event("--value", place)?;
        let question = ValueQuestion { event, name: name.to_owned() };
        return Ok((SliceCriterion::Value(question), ordinals.name(event)));
    }
    if let Some(text) = &options.decision {
        let event = event("--decision", text)?;
        must_decide(event, recorded, &ordinals)?;
        return Ok((SliceCriterion::Decision(event), ordinals.name(event)));
    }
    if let Some(text) = &options.forward {
        let event = event("--forward", text)?;
        return Ok((SliceCriterion::Event(event), ordinals.name(event)));
    }
    Ok((SliceCriterion::Failure(Box::new(failure)), String::new()))
}

/// The one event that a text names.
fn single(
    option: &str,
    text: &str,
    recorded: Recorded<'_>,
    ordinals: &Ordinals<'_>,
) -> Result<EventId, Failure> {
    let usage = |message| Err(Failure::new(Exit::Usage, format!("{option}: {message}")));
    match Where::parse(text)?.find(recorded, ordinals)? {
        PlaceFound::Executions(events) => match events[..] {
            [event] => Ok(event),
            _ => usage(format!("{text} was executed {} times: name one, as in {text}#1", events.len())),
        },
        PlaceFound::Nothing { place, nearest, .. } => {
            let nearest: Vec<String> = nearest.iter().map(u32::to_string).collect();
            usage(format!("{place} was not executed; the nearest lines that were: {}", nearest.join(", ")))
        }
    }
}

fn must_decide(event: EventId, recorded: Recorded<'_>, ordinals: &Ordinals<'_>) -> Result<(), Failure> {
    const MOST: usize = 3;
    let Recorded { program, trace } = recorded;
    let decides = |event: &EventId| program.leader(trace.leader(*event)).decides;
    if decides(&event) {
        return Ok(());
    }
    let statement = ordinals.statement(event);
    let others = ordinals.of_line(statement.file, statement.line).into_iter().filter(decides);
    let others: Vec<String> = others.take(MOST).map(|other| ordinals.name(other)).collect();
    let remedy = match others.is_empty() {
        true => "no execution of this line does".to_owned(),
        false => format!("of this line {} do", others.join(", ")),
    };
    let message = format!("--decision: {} decides nothing; {remedy}", ordinals.name(event));
    Err(Failure::new(Exit::Usage, message))
}
