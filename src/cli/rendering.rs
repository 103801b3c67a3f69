//! Make of a result what the user asks for: one of the kinds of `--format` and `--emit`.

use super::values::EmissionKind;
use crate::history::History;
use crate::report::html::{self, Case};
use crate::report::{self, Style};
use crate::slice::{CriticalSlice, Recorded};

/// What a search has come to.
#[derive(Clone, Copy)]
pub(super) struct Found<'a> {
    /// The run that was reduced.
    pub(super) recorded: Recorded<'a>,
    /// What of it is needed.
    pub(super) slice: &'a CriticalSlice,
    /// How this was found out.
    pub(super) history: &'a History,
    /// The command that found it, as typed into a shell.
    pub(super) command_line: &'a str,
}

impl Found<'_> {
    /// The result as this kind of text.
    pub(super) fn render(self, kind: EmissionKind, style: Style) -> String {
        let Found { recorded, slice, history, .. } = self;
        match kind {
            EmissionKind::Text => report::text::slice(recorded, slice, style),
            EmissionKind::Json => report::json::slice(recorded, slice),
            EmissionKind::Html => self.page(),
            EmissionKind::Trace => report::json::trace(recorded, &slice.question.command),
            EmissionKind::Jsonl => report::tests_made::jsonl(history),
            EmissionKind::Csv => report::csv::slice(recorded, slice),
            EmissionKind::Lcov => report::lcov::slice(recorded, slice),
            EmissionKind::Sarif => report::sarif::slice(recorded, slice),
            EmissionKind::Github => report::github::slice(recorded, slice),
            EmissionKind::Quickfix => report::quickfix::slice(recorded, slice),
            EmissionKind::Dot => report::dot::slice(recorded, slice),
            EmissionKind::Chrome => report::chrome::slice(recorded, slice),
        }
    }

    /// The result as a part of a page; `remark` says what there is to see.
    pub(super) fn chapter(self, remark: &str) -> html::Chapter {
        let Found { recorded, slice, history, command_line } = self;
        html::chapter(&Case { recorded, slice, history, command_line, remark })
    }

    fn page(self) -> String {
        let path = &self.recorded.program.executable().path;
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        html::page(&name, "", &[self.chapter("")])
    }
}
