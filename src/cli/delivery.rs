//! Deliver what was found, as text and as files, and say how the command ends.

use tracer::termination::Termination;

use super::emissions;
use super::exit::{Exit, Failure};
use super::options::OutputOptions;
use super::progress::ProgressPrinter;
use super::rendering::Rendering;
use super::values::Emission;
use crate::report::{Detail, Style};
use crate::session::case::Subject;
use crate::session::findings::Findings;
use crate::session::interrupt::Interrupt;
use crate::session::keeping::Keeping;
use crate::session::layers::Layers;
use crate::session::listener::Listener;

const TRIVIAL: &str = "the failure shows even if nothing is executed, so that every execution seems needless: ask for \
                       more, for example with --expect-output or --expect-match";

const UNCONFIRMED: &str = "the result was replayed once more from the beginning, and the failure was not reproduced: the \
                           program, or what judges it, depends on more than its input; make that constant, or give it \
                           more time with --timeout";

const NEVER_ENDS_ANYWAY: &str = "it does not end whatever is left out before: what it waits for never comes, or the \
                                 condition of the loop cannot become false; look there";

const ANSWERED_ANYWAY: &str = "the answer is the same whatever is left out: nothing is needed for it but that the run gets \
                               there, by what cannot be left out (■)";

const CRASHES_ANYWAY: &str = "the crash comes whatever is left out: nothing is needed for it but that the run gets to \
                              its place, which is told above; look there";

/// The findings about a run, to be delivered.
#[derive(Clone, Copy)]
pub(super) struct Delivery<'f> {
    pub(super) subject: Subject<'f>,
    pub(super) findings: &'f Findings,
    /// The command that has found them, as typed into a shell.
    pub(super) command_line: &'f str,
    /// The dynamic slices beside the critical ones, if they are asked for.
    pub(super) layers: &'f [Layers<'f>],
}

/// The exit of a command with these findings: the first answer that is not simply done decides.
pub(super) fn exit_of(findings: &Findings, interrupt: &Interrupt) -> Exit {
    let exits = findings.answers.iter().map(|answered| match answered.answer.slice.status {
        _ if answered.answer.is_trivial => Exit::Trivial,
        status => Exit::of(status, interrupt.signal()),
    });
    exits.into_iter().find(|exit| *exit != Exit::Done).unwrap_or(Exit::Done)
}

/// Prints how to go on with a search that was ended early.
pub(super) fn mention(keeping: &Keeping<'_>, exit: Exit, printer: &ProgressPrinter) {
    if let (Some(name), Exit::Budget | Exit::Interrupted(_)) = (keeping.name(), exit) {
        printer.tell(&format!("stripe: kept as run {name}; `stripe reduce {name}` goes on"));
    }
}

impl<'f> Delivery<'f> {
    /// The findings for a reader.
    pub(super) fn rendering(self) -> Rendering<'f> {
        let Delivery { subject, findings, command_line, layers } = self;
        Rendering { subject, answers: &findings.answers, command_line, detail: Detail::default(), layers }
    }

    /// Prints the result and writes it to files; an error with one does not keep it from the others.
    pub(super) fn deliver(self, output: &OutputOptions, style: Style) -> Result<(), Failure> {
        let detail =
            Detail { values: output.values_told(), is_full: output.full, events: output.events_listed() };
        let found = Rendering { detail, ..self.rendering() };
        let text = found.render(output.format, style);
        let printed = text.and_then(|text| super::print_by(|out| text.write(out))).map(drop);
        let plain = Style { color: false, ..style };
        let write =
            |emission: &Emission| emissions::write(emission, &found.render(emission.kind, plain)?, output);
        let written: Vec<_> = output.emit.iter().map(write).collect();
        std::iter::once(printed).chain(written).collect()
    }

    /// The end of the command once this is delivered.
    pub(super) fn ended(self, exit: Exit) -> Result<Exit, Failure> {
        let never_ends = self.subject.baseline.recording.trace.endless().is_some();
        let run = &self.subject.baseline.recording.run;
        let is_inner = matches!(run.termination, Termination::Reached | Termination::Left(_));
        let message = match exit {
            Exit::Trivial if self.findings.crashes_anyway() => CRASHES_ANYWAY,
            Exit::Trivial if is_inner => ANSWERED_ANYWAY,
            Exit::Trivial if never_ends => NEVER_ENDS_ANYWAY,
            Exit::Trivial => TRIVIAL,
            Exit::Flaky => UNCONFIRMED,
            exit => return Ok(exit),
        };
        Err(Failure::new(exit, message))
    }
}
