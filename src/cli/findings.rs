//! Deliver what was found: one slice, or several side by side.

use std::collections::BTreeSet;

use tracer::Tracer;
use tracer::trace::EventId;

use super::emissions;
use super::exit::{Exit, Failure};
use super::keeping::Keeping;
use super::observing;
use super::options::OutputOptions;
use super::questions::Inquiry;
use super::rendering::Found;
use super::search::{Answer, Subject};
use super::shell;
use super::values::Emission;
use crate::report::comparison::Compared;
use crate::report::{Detail, Style};

const TRIVIAL: &str = "the failure shows even if nothing is executed, so that every execution seems needless: ask for \
                       more, for example with --expect-output or --expect-match";

const UNCONFIRMED: &str = "the result was replayed once more from the beginning, and the failure was not reproduced: the \
                           program, or what judges it, depends on more than its input; make that constant, or give it \
                           more time with --timeout";

const NEVER_ENDS_ANYWAY: &str = "it does not end whatever is left out before: what it waits for never comes, or the \
                                 condition of the loop cannot become false; look there";

const CRASHES_ANYWAY: &str = "the crash comes whatever is left out: nothing is needed for it but that the run gets to \
                              its place, which is told above; look there";

/// What was found, in the order of the questions.
pub(super) struct Findings {
    command_line: String,
    /// The word by which commands name the run, if it is kept.
    run: Option<String>,
    answers: Vec<Answered>,
    exit: Option<Exit>,
}

/// What a question has led to.
pub(super) struct Answered {
    /// The name of the criterion, if there are several.
    pub(super) name: Option<String>,
    /// Whether it is known to be about wrong output.
    pub(super) is_wrong: bool,
    pub(super) answer: Answer,
}

impl Answered {
    /// The name of the criterion; empty if there is none.
    pub(super) fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_default()
    }

    /// The result, to be put beside others.
    pub(super) fn compared(&self) -> Compared<'_> {
        Compared { name: self.name(), is_wrong: self.is_wrong, slice: &self.answer.slice }
    }
}

impl Findings {
    /// What this command finds about a run, as typed into a shell; nothing so far.
    pub(super) fn of(command_line: String, run: Option<String>) -> Findings {
        let run = run.map(|run| shell::command_line([&run[..]]));
        Findings { command_line, run, answers: Vec::new(), exit: None }
    }

    /// Adds what a question has led to.
    pub(super) fn add(&mut self, question: &Inquiry, mut answer: Answer, exit: Exit) {
        answer.slice.kept_as.clone_from(&self.run);
        // The first that says more than that all is well is the exit of all.
        self.exit = self.exit.filter(|known| *known != Exit::Done).or(Some(exit));
        let (name, is_wrong) = (question.name.clone(), question.is_wrong);
        self.answers.push(Answered { name, is_wrong, answer });
    }

    /// Whether nothing was found yet.
    pub(super) fn are_none(&self) -> bool {
        self.answers.is_empty()
    }

    /// Whether a crash was found that needs nothing.
    pub(super) fn crashes_anyway(&self) -> bool {
        self.answers.iter().any(|answered| answered.answer.slice.crashed_at.is_some())
    }

    /// How the command ends once what was found about this run is delivered.
    pub(super) fn done(&self, subject: Subject<'_>) -> Result<Exit, Failure> {
        let never_ends = subject.baseline.recording.trace.endless().is_some();
        match self.exit() {
            Exit::Trivial if self.crashes_anyway() => Err(Failure::new(Exit::Trivial, CRASHES_ANYWAY)),
            Exit::Trivial if never_ends => Err(Failure::new(Exit::Trivial, NEVER_ENDS_ANYWAY)),
            Exit::Trivial => Err(Failure::new(Exit::Trivial, TRIVIAL)),
            Exit::Flaky => Err(Failure::new(Exit::Flaky, UNCONFIRMED)),
            exit => Ok(exit),
        }
    }

    /// Whether the user has asked for the end.
    pub(super) fn are_interrupted(&self) -> bool {
        matches!(self.exit, Some(Exit::Interrupted(_)))
    }

    /// How the command ends.
    pub(super) fn exit(&self) -> Exit {
        self.exit.unwrap_or(Exit::Done)
    }

    /// What was found about a run, for a reader.
    pub(super) fn found<'f>(&'f self, subject: Subject<'f>) -> Found<'f> {
        let detail = Detail::default();
        Found { subject, answers: &self.answers, command_line: &self.command_line, detail }
    }

    /// Looks at what the needed events did with values, if the user wants to know and nobody has looked yet.
    pub(super) fn look(
        &mut self,
        subject: &Subject<'_>,
        tracer: &mut Tracer<'_>,
        output: &OutputOptions,
        keeping: &Keeping,
    ) {
        let is_done = self.answers.iter().all(|answered| answered.answer.slice.values.is_some());
        if !(output.tells_values() || self.crashes_anyway()) || is_done || self.are_interrupted() {
            return;
        }
        let slices = self.answers.iter().map(|answered| &answered.answer.slice);
        let needed: BTreeSet<EventId> = slices.flat_map(|slice| slice.told()).collect();
        match observing::observe(subject, tracer, &observing::worth_seeing(subject, &needed, None)) {
            Ok(seen) => self.answers.iter_mut().for_each(|answered| {
                observing::tell(&mut answered.answer.slice, &seen);
                keeping.conclude(answered.name.as_deref(), &answered.answer.slice);
            }),
            Err(failure) => keeping.warn(&format!("values cannot be told: {}", failure.message)),
        }
    }

    /// Prints the result and writes it to files; a fault of one does not keep it from the others.
    pub(super) fn deliver(
        &self,
        subject: Subject<'_>,
        output: &OutputOptions,
        style: Style,
    ) -> Result<(), Failure> {
        let detail = Detail { has_values: output.values, is_full: output.full };
        let found = Found { detail, ..self.found(subject) };
        let text = found.render(output.format, style);
        let printed = text.and_then(|text| super::print(text.as_bytes())).map(drop);
        let plain = Style { color: false, ..style };
        let write = |emission: &Emission| {
            emissions::write(emission, found.render(emission.kind, plain)?.as_bytes(), output)
        };
        let written: Vec<_> = output.emit.iter().map(write).collect();
        std::iter::once(printed).chain(written).collect()
    }
}
