//! Make of a result what the user asks for: one of the kinds of `--format` and `--emit`.

use super::findings::Answered;
use super::search::Answer;
use super::values::EmissionKind;
use crate::report::comparison::{Compared, comparison};
use crate::report::html::{self, Case};
use crate::report::{self, Style};
use crate::slice::Recorded;

/// What the questions about a run have led to.
#[derive(Clone, Copy)]
pub(super) struct Found<'a> {
    /// The run that was reduced.
    pub(super) recorded: Recorded<'a>,
    /// What of it is needed, and how this was found out: one answer, or several with names.
    pub(super) answers: &'a [Answered],
    /// The command that found it, as typed into a shell.
    pub(super) command_line: &'a str,
    /// How much a text tells.
    pub(super) detail: Detail,
}

/// How much a text tells.
#[derive(Clone, Copy)]
pub(super) enum Detail {
    /// Which executions are needed.
    Executions,
    /// What they did with values, too.
    Values,
}

impl<'a> Found<'a> {
    /// The result as this kind of text.
    pub(super) fn render(self, kind: EmissionKind, style: Style) -> String {
        match self.answers {
            [Answered { name: None, answer, .. }] => self.single(answer, kind, style),
            _ => self.several(kind, style),
        }
    }

    fn single(self, Answer { slice, history }: &Answer, kind: EmissionKind, style: Style) -> String {
        let recorded = self.recorded;
        match kind {
            EmissionKind::Text => match self.detail {
                Detail::Executions => report::text::slice(recorded, slice, style),
                Detail::Values => report::text::with_values(recorded, slice, style),
            },
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

    fn several(self, kind: EmissionKind, style: Style) -> String {
        let compared = |one: &'a Answered| Compared {
            name: one.name.as_deref().unwrap_or_default(),
            is_wrong: one.is_wrong,
            slice: &one.answer.slice,
        };
        let all: Vec<Compared<'_>> = self.answers.iter().map(compared).collect();
        match kind {
            EmissionKind::Text => {
                let values = |one: &Compared<'_>| match self.detail {
                    Detail::Executions => String::new(),
                    Detail::Values => report::values::of_criterion(self.recorded, one.slice, one.name, style),
                };
                comparison(self.recorded, &all, style) + &all.iter().map(values).collect::<String>()
            }
            EmissionKind::Json => report::json::slices(self.recorded, &all),
            EmissionKind::Html => self.page(),
            EmissionKind::Trace => report::json::trace(self.recorded, self.command()),
            _ => unreachable!("what holds a single result is refused before the search"),
        }
    }

    fn command(self) -> &'a [String] {
        self.answers.first().map_or(&[], |first| &first.answer.slice.question.command)
    }

    /// The results as parts of a page; `remark` says what there is to see.
    pub(super) fn chapters(self, remark: &str) -> Vec<html::Chapter> {
        let chapter = |Answered { name, is_wrong, answer }: &Answered| {
            let wrong = if *is_wrong { ", which is wrong" } else { "" };
            let named = name.as_ref().map(|name| format!("{name}{wrong}"));
            html::chapter(&Case {
                recorded: self.recorded,
                slice: &answer.slice,
                history: &answer.history,
                command_line: self.command_line,
                remark: named.as_deref().unwrap_or(remark),
            })
        };
        self.answers.iter().map(chapter).collect()
    }

    fn page(self) -> String {
        let path = &self.recorded.program.executable().path;
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        html::page(&name, "", &self.chapters(""))
    }
}
