//! Make of a located fault what the user asks for: one of the kinds of `--format` and `--emit`.

use tracer::Untouched;
use tracer::poison::Poison;

use super::emissions;
use super::exit::{Exit, Failure};
use super::options::OutputOptions;
use super::values::{Emission, EmissionKind};
use crate::report::{Style, csv, gdb, github, html, located, located_json, quickfix, sarif};
use crate::session::located::Located;
use crate::subject::{Recorded, Target};

/// The kinds in which a located fault can be told.
const KINDS: [EmissionKind; 8] = [
    EmissionKind::Text,
    EmissionKind::Json,
    EmissionKind::Html,
    EmissionKind::Csv,
    EmissionKind::Sarif,
    EmissionKind::Quickfix,
    EmissionKind::Github,
    EmissionKind::Gdb,
];

/// A located fault, and how it is told.
pub(super) struct LocatedRendering<'r> {
    pub(super) target: &'r Target,
    pub(super) found: &'r Located,
    /// The command that has found it, as typed into a shell.
    pub(super) command_line: &'r str,
    /// Whether all lines are told.
    pub(super) is_full: bool,
}

/// Refuses, before any work is done, what a located fault cannot be told in.
pub(super) fn check(output: &OutputOptions, target: &Target) -> Result<(), Failure> {
    if let Some(kind) = output.kinds().find(|kind| !KINDS.contains(kind)) {
        let names = KINDS.map(|kind| kind.to_string()).join(", ");
        let why =
            format!("{kind}: tells of a slice, and this run is one of `stripe locate`: take one of {names}");
        return Err(Failure::new(Exit::Usage, why));
    }
    emissions::check(output, &target.program.executable().path, false)
}

impl LocatedRendering<'_> {
    /// The result as this kind of text.
    pub(super) fn render(&self, kind: EmissionKind, style: Style) -> Result<String, Failure> {
        let LocatedRendering { target, found, is_full, .. } = *self;
        let recorded = Recorded { program: &target.program, trace: &found.baseline.recording.trace };
        Ok(match kind {
            EmissionKind::Json => located_json::json(recorded, found),
            EmissionKind::Html => self.page(recorded),
            EmissionKind::Csv => csv::ranking(recorded, found),
            EmissionKind::Sarif => sarif::ranking(recorded, found, is_full),
            EmissionKind::Quickfix => quickfix::ranking(recorded, found, is_full),
            EmissionKind::Github => github::ranking(recorded, found, is_full),
            EmissionKind::Gdb => self.script(recorded)?,
            _ => located::text(recorded, found, is_full, style),
        })
    }

    /// Prints the result and writes it to files; a fault of one does not keep it from the others.
    pub(super) fn deliver(&self, output: &OutputOptions, style: Style) -> Result<(), Failure> {
        let text = self.render(output.format, style);
        let printed = text.and_then(|text| super::print(text.as_bytes())).map(drop);
        let plain = Style { color: false, ..style };
        let write = |emission: &Emission| {
            emissions::write(emission, &self.render(emission.kind, plain)?.into(), output)
        };
        let written: Vec<_> = output.emit.iter().map(write).collect();
        std::iter::once(printed).chain(written).collect()
    }

    fn page(&self, recorded: Recorded<'_>) -> String {
        let path = &recorded.program.executable().path;
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        html::located::page(recorded, self.found, (&name, self.command_line), self.is_full)
    }

    fn script(&self, recorded: Recorded<'_>) -> Result<String, Failure> {
        let start = gdb::Start {
            invocation: &self.target.invocation,
            poison: Poison::Off,
            untouched: &Untouched::default(),
            limits: self.found.baseline.limits(),
        };
        gdb::repairs::script(recorded, self.found, start).map_err(Failure::of(Exit::Failed))
    }
}
