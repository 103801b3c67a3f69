//! Find the executions that a user names: by line, by line and number, or by event.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use tracer::program::{FileId, LeaderKind};
use tracer::trace::EventId;

use super::{Ordinals, Recorded};

/// An error in the text that names an execution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceError(String);

impl fmt::Display for PlaceError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

/// A place as the user names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Where {
    /// The last needed execution before the failure.
    Last,
    /// An event by its number, from 1.
    Event(u32),
    /// A line of a file, or of the only one that has it; a column of it, if it has several statements; and an
    /// execution of it.
    Line {
        /// The file, or the end of its path; `None` for the only one that has the line.
        file: Option<String>,
        /// The line number, from 1.
        line: u32,
        /// The column of the statement.
        column: Option<u32>,
        /// The number of the execution, from 1; `None` for all.
        execution: Option<u32>,
    },
}

/// The executions at a place, or that there are none.
#[derive(Debug)]
pub enum PlaceFound {
    /// One execution, or all of a line.
    Executions(Vec<EventId>),
    /// A line that was not executed.
    Nothing {
        /// The line, with its file.
        place: String,
        /// True if the line has code that could have been executed.
        has_code: bool,
        /// The nearest lines that were executed.
        nearest: Vec<u32>,
    },
}

impl Where {
    /// Parses `main.c:11`, `main.c:11:5`, `11:5`, `11#3`, `main.c:11#3`, `main.c:11:5#3`, `12` or `last`.
    pub fn parse(text: &str) -> Result<Where, PlaceError> {
        let wrong = || {
            let message = format!(
                "`{text}` names no place: write main.c:11 for a line, 11#3 for the third execution of line 11, \
                 12 for event 12, or last for what was needed last"
            );
            PlaceError(message)
        };
        if text == "last" {
            return Ok(Where::Last);
        }
        let number = |text: &str| text.parse::<u32>().ok().filter(|&number| number > 0).ok_or_else(wrong);
        let (place, execution) = match text.rsplit_once('#') {
            Some((place, execution)) => (place, Some(number(execution)?)),
            None => (text, None),
        };
        let (place, column) = match place.rsplit_once(':') {
            Some((line, column)) if is_line(line) => (line, Some(number(column)?)),
            _ => (place, None),
        };
        match (place.rsplit_once(':'), execution) {
            (Some(("", _)), _) => Err(wrong()),
            (Some((file, line)), execution) => {
                Ok(Where::Line { file: Some(file.to_owned()), line: number(line)?, column, execution })
            }
            (None, None) if column.is_none() => Ok(Where::Event(number(place)?)),
            (None, _) => Ok(Where::Line { file: None, line: number(place)?, column, execution }),
        }
    }

    /// The executed line whose number is that of the named event, as in `main.c:8`: it may be meant.
    pub fn line_of_same_number(&self, recorded: Recorded<'_>, ordinals: &Ordinals<'_>) -> Option<String> {
        let Where::Event(number) = *self else { return None };
        let files: BTreeSet<FileId> =
            recorded.program.leaders().iter().map(|leader| leader.statement.file).collect();
        let file = files.into_iter().find(|&file| ordinals.total(file, number) > 0)?;
        Some(format!("{}:{number}", recorded.program.file(file).shown))
    }

    /// Finds the executions in a recorded run.
    pub fn find(&self, recorded: Recorded<'_>, ordinals: &Ordinals<'_>) -> Result<PlaceFound, PlaceError> {
        match self {
            Where::Last => unreachable!("what was needed last is known as an event by now"),
            Where::Event(number) => {
                let last = recorded.trace.len() as u32;
                if *number > last {
                    return usage(format!(
                        "there is no event {number}: the run has events 1 to {last}; a line is named with its file, \
                         main.c:{number}"
                    ));
                }
                Ok(PlaceFound::Executions(vec![EventId(number - 1)]))
            }
            Where::Line { file, line: number, column, execution } => {
                let file = named_file(recorded, ordinals, file.as_deref(), *number)?;
                let number = *number;
                let events = at_column(ordinals, ordinals.of_line(file, number), *column)?;
                let line = column.map_or(number.to_string(), |column| format!("{number}:{column}"));
                let place = format!("{}:{line}", recorded.program.file(file).shown);
                match execution {
                    _ if events.is_empty() => Ok(nothing(recorded, ordinals, (file, number), place)),
                    None => Ok(PlaceFound::Executions(events)),
                    Some(execution) => match events.get(*execution as usize - 1) {
                        Some(&event) => Ok(PlaceFound::Executions(vec![event])),
                        None => usage(format!(
                            "{place} was executed {} times: name one of {line}#1 to {line}#{}",
                            events.len(),
                            events.len()
                        )),
                    },
                }
            }
        }
    }
}

/// The executions of a line that begin at this column, if one is named.
fn at_column(
    ordinals: &Ordinals<'_>,
    events: Vec<EventId>,
    column: Option<u32>,
) -> Result<Vec<EventId>, PlaceError> {
    let Some(column) = column else { return Ok(events) };
    let columns: BTreeSet<u32> = events.iter().map(|&event| ordinals.statement(event).column).collect();
    if columns.is_empty() || columns.contains(&column) {
        let is_there = |event: &EventId| ordinals.statement(*event).column == column;
        return Ok(events.into_iter().filter(is_there).collect());
    }
    let known: Vec<String> = columns.iter().map(u32::to_string).collect();
    usage(format!("nothing begins at column {column}: statements begin at column {}", known.join(", ")))
}

/// True if a text is a line of some file, so that what follows after a colon is a column.
fn is_line(text: &str) -> bool {
    let line = text.rsplit_once(':').map_or(text, |(_, line)| line);
    line.parse::<u32>().is_ok_and(|line| line > 0)
}

fn usage<T>(message: String) -> Result<T, PlaceError> {
    Err(PlaceError(message))
}

/// The traced source file that is meant, by the end of its path.
fn named_file(
    recorded: Recorded<'_>,
    ordinals: &Ordinals<'_>,
    name: Option<&str>,
    line: u32,
) -> Result<FileId, PlaceError> {
    let program = recorded.program;
    let mut files: Vec<FileId> = program.leaders().iter().map(|leader| leader.statement.file).collect();
    files.sort_unstable();
    files.dedup();
    let shown = |file: &FileId| program.file(*file).shown.as_str();
    if let Some(name) = name {
        let is_meant = |file: &FileId| {
            let file = program.file(*file);
            file.shown == name || Path::new(&file.shown).ends_with(name) || file.path.ends_with(name)
        };
        files.retain(is_meant);
        if let Some(&exact) = files.iter().find(|file| shown(file) == name) {
            return Ok(exact);
        }
    } else {
        let executed: Vec<FileId> =
            files.iter().copied().filter(|&file| ordinals.total(file, line) > 0).collect();
        if !executed.is_empty() {
            files = executed;
        }
    }
    match (&files[..], name) {
        ([file], _) => Ok(*file),
        ([], name) => usage(format!(
            "{}: no traced function has code in a file of this name; `stripe trace` shows the names",
            name.unwrap_or_default()
        )),
        (several, _) => {
            let mut names: Vec<&str> = several.iter().map(shown).take(4).collect();
            names.dedup();
            usage(format!(
                "line {line} is in several files ({}): name the file, as in {}:{line}",
                names.join(", "),
                names[0]
            ))
        }
    }
}

fn nothing(
    recorded: Recorded<'_>,
    ordinals: &Ordinals<'_>,
    (file, line): (FileId, u32),
    place: String,
) -> PlaceFound {
    let has_code = recorded.program.leaders().iter().any(|leader| {
        let statement = leader.statement;
        leader.kind == LeaderKind::Statement && (statement.file, statement.line) == (file, line)
    });
    let lines = ordinals.lines(file);
    let behind = lines.partition_point(|&other| other < line);
    let nearest = lines[..behind].last().into_iter().chain(lines.get(behind)).copied().collect();
    PlaceFound::Nothing { place, has_code, nearest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_an_execution_and_an_event_are_told_apart() {
        let line = |file: Option<&str>, line, execution| Where::Line {
            file: file.map(str::to_owned),
            line,
            column: None,
            execution,
        };
        assert_eq!(Where::parse("main.c:11").unwrap(), line(Some("main.c"), 11, None));
        assert_eq!(Where::parse("11#3").unwrap(), line(None, 11, Some(3)));
        assert_eq!(Where::parse("src/a:b.c:11#3").unwrap(), line(Some("src/a:b.c"), 11, Some(3)));
        assert_eq!(Where::parse("12").unwrap(), Where::Event(12));
        let file = Some("main.c".to_owned());
        let column = Where::Line { file, line: 11, column: Some(5), execution: Some(3) };
        assert_eq!(Where::parse("main.c:11:5#3").unwrap(), column);
        let column = Where::Line { file: None, line: 11, column: Some(5), execution: None };
        assert_eq!(Where::parse("11:5").unwrap(), column);
        assert_eq!(Where::parse("last").unwrap(), Where::Last);
    }

    #[test]
    fn what_names_no_place_is_refused_with_examples() {
        for wrong in ["", "main.c", "0", "11#0", "main.c:", ":11", "11#", "-3", "main.c:x"] {
            let failure = Where::parse(wrong).unwrap_err();
            assert!(failure.to_string().contains("11#3"), "{wrong}");
        }
    }
}
