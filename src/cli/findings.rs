//! Deliver what was found: one slice, or several side by side.

use super::emissions;
use super::exit::{Exit, Failure};
use super::options::{Format, OutputOptions};
use super::questions::Inquiry;
use super::run::deliver;
use super::values::{Emission, EmissionKind};
use crate::report::comparison::{Compared, comparison};
use crate::report::{self, Style};
use crate::slice::{CriticalSlice, Recorded};

/// The slices that were found, in the order of the questions.
#[derive(Default)]
pub(super) struct Findings {
    single: Option<CriticalSlice>,
    several: Vec<Compared>,
    exit: Option<Exit>,
}

impl Findings {
    /// Adds what a question has led to.
    pub(super) fn add(&mut self, question: &Inquiry, slice: CriticalSlice, exit: Exit) {
        // The first that says more than that all is well is the exit of all.
        self.exit = self.exit.filter(|known| *known != Exit::Done).or(Some(exit));
        match &question.name {
            None => self.single = Some(slice),
            Some(name) => {
                self.several.push(Compared { name: name.clone(), is_wrong: question.is_wrong, slice });
            }
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

    /// Prints the result and writes it to files.
    pub(super) fn deliver(
        &self,
        recorded: Recorded<'_>,
        output: &OutputOptions,
        style: Style,
    ) -> Result<(), Failure> {
        match &self.single {
            Some(slice) => deliver(recorded, slice, output, style),
            None => self.deliver_several(recorded, output, style),
        }
    }

    /// A fault of one file does not keep the result from the others.
    fn deliver_several(
        &self,
        recorded: Recorded<'_>,
        output: &OutputOptions,
        style: Style,
    ) -> Result<(), Failure> {
        let text = match output.format {
            Format::Text => comparison(recorded, &self.several, style),
            Format::Json => report::json::slices(recorded, &self.several),
        };
        let printed = super::print(text.as_bytes()).map(drop);
        let plain = Style { color: false, ..style };
        let write = |Emission { kind, file }: &Emission| {
            let text = match kind {
                EmissionKind::Text => comparison(recorded, &self.several, plain),
                EmissionKind::Json => report::json::slices(recorded, &self.several),
                EmissionKind::Trace => report::json::trace(recorded, self.command()),
            };
            emissions::write(file, text.as_bytes(), output)
        };
        let written: Vec<_> = output.emit.iter().map(write).collect();
        std::iter::once(printed).chain(written).collect()
    }

    fn command(&self) -> &[String] {
        self.several.first().map_or(&[], |first| &first.slice.question.command)
    }
}
