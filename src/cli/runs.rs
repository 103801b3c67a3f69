//! `stripe runs`: list the runs that are kept in the working directory.

use std::time::{SystemTime, UNIX_EPOCH};

use super::choices::ColorChoice;
use super::exit::{Exit, Failure};
use super::terminal;
use crate::archive::{Entry, KeptSize, RunFolder, SearchProgress, Stage};
use crate::circumstances::Status;
use crate::report::{Style, printable};
use crate::session::SessionError;
use crate::session::keeping::archive;

const TITLES: [&str; 7] = ["run", "when (UTC)", "status", "kept", "tests", "command", "criterion"];

/// The columns of numbers, which are aligned to the right.
const NUMBERS: [usize; 3] = [0, 3, 4];

/// Lists the runs of the working directory.
pub(super) fn runs(color: ColorChoice) -> Result<Exit, Failure> {
    let runs = archive().runs().map_err(SessionError::from)?;
    if runs.is_empty() {
        return super::print(b"There are no runs here; `stripe run` makes one.\n");
    }
    // A program that reads the listing needs whole lines.
    let style = Style { width: terminal::width().unwrap_or(usize::MAX), ..terminal::style(color) };
    let rows = runs.iter().flat_map(|run| rows(run, style));
    let rows = rows.map(|row| row.map(|cell| printable(&cell)));
    let all: Vec<[String; 7]> = std::iter::once(TITLES.map(str::to_owned)).chain(rows).collect();
    super::print(table(&all, style).as_bytes())
}

fn rows(run: &RunFolder, style: Style) -> Vec<[String; 7]> {
    match run.entry() {
        Ok(entry) => entry
            .progress
            .iter()
            .map(|progress| row([run.name(), command(&entry, style)], &entry, progress))
            .collect(),
        Err(error) => {
            let nothing = String::new;
            vec![[run.name(), nothing(), error.to_string(), nothing(), nothing(), nothing(), nothing()]]
        }
    }
}

/// The command without the folders of the program, so that there is room for its arguments.
fn command(entry: &Entry, style: Style) -> String {
    let mut words = entry.command.iter().map(String::as_str);
    let program = words.next().unwrap_or_default();
    let program = program.rsplit('/').next().unwrap_or(program);
    let words: Vec<&str> = std::iter::once(program).chain(words).collect();
    style.cut(&words.join(" "), style.width / 4)
}

fn row([run, command]: [String; 2], entry: &Entry, progress: &SearchProgress) -> [String; 7] {
    let status = match progress.stage {
        Stage::Ended(Status::Minimal) if matches!(progress.kept, Some(KeptSize::Repairs(_))) => "complete",
        Stage::Ended(Status::Minimal) => "minimal",
        Stage::Ended(Status::Budget) => "budget",
        Stage::Ended(Status::Interrupted) => "interrupted",
        Stage::Ended(Status::Unconfirmed) => "unconfirmed",
        Stage::Running => "running",
        Stage::Unfinished => "unfinished",
    };
    [
        run,
        moment(entry.started),
        status.to_owned(),
        progress.kept.map_or_else(|| "-".to_owned(), size),
        progress.tests.to_string(),
        command,
        progress.name.clone().unwrap_or_else(|| entry.criterion.clone()),
    ]
}

/// Executions are counted without a word.
fn size(kept: KeptSize) -> String {
    match kept {
        KeptSize::Executions(executions) => executions.to_string(),
        KeptSize::Bytes(bytes) => format!("{bytes} B"),
        KeptSize::Changes(changes) => format!("{changes} ±"),
        KeptSize::Repairs(changes) => format!("{changes} right"),
    }
}

/// The rows as a table with aligned columns. Errors are not cut: they end with the remedy.
fn table(rows: &[[String; 7]], style: Style) -> String {
    let length = |text: &String| text.chars().count();
    // A row with nothing but an error does not widen the columns of the others.
    let whole = || rows.iter().filter(|row| !row[1].is_empty());
    let width = |column: usize| whole().map(|row| length(&row[column])).max().unwrap_or(0);
    let mut text = String::new();
    for row in rows {
        let cell = |(column, cell): (usize, &String)| {
            let padding = " ".repeat(width(column).saturating_sub(length(cell)));
            if NUMBERS.contains(&column) { padding + cell } else { cell.clone() + &padding }
        };
        let cells: Vec<String> = row.iter().enumerate().map(cell).collect();
        let line = cells.join("  ");
        let line = if row[1].is_empty() { line } else { style.cut(line.trim_end(), style.width) };
        text += &format!("{}\n", line.trim_end());
    }
    text
}

/// A time as year, month, day, hour and minute.
///
/// Source of the calendar: H. Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days.
fn moment(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let (days, minutes) = (seconds / 86_400 + 719_468, seconds % 86_400 / 60);
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, next_year) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = year + 400 * era + next_year;
    format!("{year}-{month:02}-{day:02} {:02}:{:02}", minutes / 60, minutes % 60)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn moments_are_dates_of_the_calendar() {
        let told = |seconds| moment(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(told(0), "1970-01-01 00:00");
        assert_eq!(told(951_782_400), "2000-02-29 00:00");
        assert_eq!(told(1_795_267_919), "2026-11-21 13:31");
        assert_eq!(told(4_102_444_799), "2099-12-31 23:59");
    }

    #[test]
    fn a_row_that_is_too_long_is_cut() {
        let criterion = "x".repeat(100);
        let rows = [["1", "now", "budget", "7", "10", "./p", &criterion].map(str::to_owned)];
        let row = table(&rows, Style::default());
        assert!(row.chars().count() == 81 && row.ends_with("x…\n"), "{row}");
    }

    #[test]
    fn an_error_does_not_widen_the_columns_of_the_others() {
        let row = |cells: [&str; 7]| cells.map(str::to_owned);
        let long = "x".repeat(100);
        let rows =
            [row(["1", "now", "budget", "7", "10", "./p", "c"]), row(["12", "", &long, "", "", "", ""])];
        assert_eq!(
            table(&rows, Style::default()),
            format!("1  now  budget  7  10  ./p  c\n12       {long}\n")
        );
    }
}
