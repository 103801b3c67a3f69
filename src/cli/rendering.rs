//! Render a result in one of the kinds of `--format` and `--emit`.

use std::io::{self, Write};

use tracer::run::Run;

use super::exit::{Exit, Failure};
use super::options::OutputOptions;
use super::values::EmissionKind;
use crate::report::comparison::{Compared, comparison};
use crate::report::gdb::{self, Unscriptable};
use crate::report::html::{self, ChapterSource, WrongOnly};
use crate::report::{self, Detail, Style, ValuesTold};
use crate::session::case::Subject;
use crate::session::findings::Answered;
use crate::session::layers::Layers;
use crate::slice::CriticalSlice;

/// The answers to the questions about a run, to be rendered.
#[derive(Clone, Copy)]
pub(super) struct Rendering<'a> {
    /// The run that was reduced.
    pub(super) subject: Subject<'a>,
    /// The answers with their histories: one, or several with names.
    pub(super) answers: &'a [Answered],
    /// The command that found it, as typed into a shell.
    pub(super) command_line: &'a str,
    /// The level of detail of a text.
    pub(super) detail: Detail,
    /// The dynamic slices beside the answers, if they are asked for.
    pub(super) layers: &'a [Layers<'a>],
}

/// Refuses, before a search, kinds of output that its result could not be rendered in.
pub(super) fn check(subject: Subject<'_>, output: &OutputOptions) -> Result<(), Failure> {
    match output.kinds().any(|kind| kind == EmissionKind::Gdb) {
        true => gdb::check(subject.recorded(), &subject.target.invocation).map_err(unscriptable),
        false => Ok(()),
    }
}

/// A result for comparison with others.
fn compared(answered: &Answered) -> Compared<'_> {
    let Answered { is_wrong, answer, .. } = answered;
    Compared { name: answered.name(), is_wrong: *is_wrong, slice: &answer.slice }
}

fn unscriptable(error: Unscriptable) -> Failure {
    Failure::new(Exit::Failed, error)
}

/// Writes a text piece by piece.
type Piecewise<'a> = dyn Fn(&mut dyn Write) -> io::Result<()> + 'a;

/// A result in one of its forms, ready to be written.
pub(super) enum Rendered<'a> {
    /// A text that lists lines or tests, whose number is bounded.
    Whole(String),
    /// A text that lists single events, and is therefore rendered while it is written.
    Piecewise(Box<Piecewise<'a>>),
}

impl From<String> for Rendered<'_> {
    fn from(text: String) -> Self {
        Rendered::Whole(text)
    }
}

impl<'a> Rendered<'a> {
    fn piecewise(write: impl Fn(&mut dyn Write) -> io::Result<()> + 'a) -> Rendered<'a> {
        Rendered::Piecewise(Box::new(write))
    }

    /// Writes the text.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Rendered::Whole(text) => out.write_all(text.as_bytes()),
            Rendered::Piecewise(write) => write(out),
        }
    }
}

impl<'a> Rendering<'a> {
    /// Renders the result in this form.
    pub(super) fn render(self, kind: EmissionKind, style: Style) -> Result<Rendered<'a>, Failure> {
        let recorded = self.subject.recorded();
        Ok(match kind {
            EmissionKind::Json => Rendered::piecewise(move |out| self.json(out)),
            EmissionKind::Trace => {
                Rendered::piecewise(move |out| report::json::trace(recorded, self.command(), out))
            }
            EmissionKind::Csv => {
                Rendered::piecewise(move |out| report::csv::slices(recorded, &self.all(), out))
            }
            EmissionKind::Chrome => {
                Rendered::piecewise(move |out| report::chrome::slices(recorded, &self.all(), out))
            }
            EmissionKind::Text => self.text(style).into(),
            EmissionKind::Html => self.page().into(),
            EmissionKind::Jsonl => {
                let searches = self.answers.iter().map(|one| (one.name(), &one.answer.history));
                report::tests_made::jsonl(self.run(), &searches.collect::<Vec<_>>()).into()
            }
            EmissionKind::Lcov => report::lcov::slices(recorded, &self.all()).into(),
            EmissionKind::Sarif => report::sarif::slices(recorded, &self.all()).into(),
            EmissionKind::Github => report::github::slices(recorded, &self.all()).into(),
            EmissionKind::Quickfix => report::quickfix::slices(recorded, &self.all()).into(),
            EmissionKind::Dot => report::dot::slice(recorded, self.only()).into(),
            EmissionKind::Gdb => self.script(self.only())?.into(),
        })
    }

    /// All results, for a comparison.
    fn all(self) -> Vec<Compared<'a>> {
        self.answers.iter().map(compared).collect()
    }

    fn json(self, out: &mut dyn Write) -> io::Result<()> {
        let (recorded, listed) = (self.subject.recorded(), self.detail.events);
        match self.answers {
            [Answered { name: None, answer, .. }] => {
                report::json::slice(recorded, &answer.slice, listed, self.layers.first(), out)
            }
            _ => report::json::slices(recorded, &self.all(), listed, self.layers, out),
        }
    }

    /// The listing of one answer, or the table of several.
    fn text(self, style: Style) -> String {
        let recorded = self.subject.recorded();
        let text = match self.answers {
            [only] => report::text::slice(recorded, &only.answer.slice, self.detail, style),
            _ => {
                let all = self.all();
                comparison(recorded, &all, self.detail, style) + &self.values(&all, style)
            }
        };
        text + &report::layers::text(recorded, self.layers, self.detail, style)
    }

    /// The values that several criteria's needed executions read and wrote, if that is to be shown: of those
    /// about wrong output, if it is not asked for.
    fn values(self, all: &[Compared<'_>], style: Style) -> String {
        let is_chosen = |one: &&Compared<'_>| self.detail.values == ValuesTold::All || one.is_wrong;
        let has_wrong = all.iter().any(|one| one.is_wrong);
        let chosen: Vec<&Compared<'_>> = all.iter().filter(|one| !has_wrong || is_chosen(one)).collect();
        let executions = chosen.iter().map(|one| one.slice.needed.len()).sum();
        if !self.detail.values.includes(executions) {
            return String::new();
        }
        let recorded = self.subject.recorded();
        chosen
            .into_iter()
            .map(|one| report::values::of_criterion(recorded, one.slice, one.name, style))
            .collect()
    }

    /// The slice, for kinds of output that hold a single one.
    fn only(self) -> &'a CriticalSlice {
        let [only] = self.answers else { unreachable!("several are refused before the search") };
        &only.answer.slice
    }

    fn script(self, slice: &CriticalSlice) -> Result<String, Failure> {
        let Subject { target, baseline, limits, .. } = self.subject;
        let poison = baseline.patterns.first().copied().unwrap_or_default();
        let untouched = &baseline.untouched;
        let start = gdb::Start { invocation: &target.invocation, poison, untouched, limits };
        gdb::slice(self.subject.recorded(), slice, start).map_err(unscriptable)
    }

    /// The recorded run: its end and its output.
    fn run(self) -> &'a Run {
        &self.subject.baseline.recording.run
    }

    fn command(self) -> &'a [String] {
        self.answers.first().map_or(&[], |first| &first.answer.slice.question.command)
    }

    /// The results as chapters of a page; `remark` says what there is to see.
    pub(super) fn chapters(self, remark: &str) -> Vec<html::Chapter> {
        let chapter = |Answered { name, is_wrong, answer }: &Answered| {
            html::chapter(&ChapterSource {
                recorded: self.subject.recorded(),
                run: self.run(),
                slice: &answer.slice,
                history: &answer.history,
                command_line: self.command_line,
                name: name.as_deref().unwrap_or_default(),
                is_wrong: *is_wrong,
                remark: name.as_deref().unwrap_or(remark),
                beside: self.layers.iter().find(|layers| layers.name == name.as_deref().unwrap_or_default()),
            })
        };
        self.answers.iter().map(chapter).collect()
    }

    fn page(self) -> String {
        let path = &self.subject.target.program.executable().path;
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        let all = self.all();
        html::page(&name, "", &self.chapters(""), &WrongOnly::of(self.subject.recorded(), &all))
    }
}
