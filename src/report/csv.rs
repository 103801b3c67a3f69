//! Write the needed events as comma-separated values: a header, then one row for each event. Where criteria
//! have names, these are the first column.
//!
//! The form is that of RFC 4180, but lines end as they do on Unix.

use std::io::{self, Write};

use crate::session::locate::Located;
use crate::subject::Recorded;

use super::comparison::Compared;
use super::needed;
use super::ranked::{RankedLine, ranked};
use super::schema::NeededEvent;

const HEADER: &str = "event,file,line,column,function,occurrence,needed,outcome,why\n";

/// Writes the slices as one table, row by row. The columns are the keys of the JSON result; `outcome` and `why` say what
/// was seen without the event, and are empty if that was not tried.
///
/// # Errors
/// If `out` cannot be written.
pub fn slices(recorded: Recorded<'_>, all: &[Compared<'_>], out: &mut dyn Write) -> io::Result<()> {
    let have_names = all.iter().any(Compared::has_name);
    let column = |text: &str| if have_names { field(text) + "," } else { String::new() };
    write!(out, "{}{HEADER}", column("criterion"))?;
    for one in all {
        let name = column(one.name);
        needed::events(recorded, one.slice).try_for_each(|event| write!(out, "{name}{}", row(&event)))?;
    }
    Ok(())
}

/// Writes the lines of a located fault as a table, the first in the ranking first.
pub fn ranking(recorded: Recorded<'_>, found: &Located) -> String {
    let row = |line: RankedLine<'_>| {
        let fields = [
            &line.rank.to_string(),
            &line.ties.to_string(),
            &line.file.shown,
            &line.line.to_string(),
            line.function,
            line.why,
            &line.remark,
        ];
        fields.map(field).join(",") + "\n"
    };
    let rows = ranked(recorded, found, usize::MAX).into_iter().map(row);
    std::iter::once("rank,ties,file,line,function,why,remark\n".to_owned()).chain(rows).collect()
}

fn row(event: &NeededEvent<'_>) -> String {
    let place = &event.place;
    let (outcome, why) = event.without.as_ref().map_or(("", ""), |seen| (seen.outcome, seen.why));
    let fields = [
        &place.event.to_string(),
        place.file,
        &place.line.to_string(),
        &place.column.to_string(),
        place.function,
        &place.occurrence.to_string(),
        event.needed,
        outcome,
        why,
    ];
    fields.map(field).join(",") + "\n"
}

/// Writes a field. It has no control characters but line ends, says the RFC, whether it is quoted or not.
fn field(text: &str) -> String {
    let is_foreign = |c: char| c.is_control() && !"\n\r".contains(c);
    let text = &text.replace(is_foreign, "\u{fffd}");
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::{Sample, alone};
    use super::*;

    fn table(sample: &Sample, all: &[Compared<'_>]) -> String {
        let mut bytes = Vec::new();
        slices(sample.recorded(), all, &mut bytes).unwrap();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn each_needed_event_is_a_row() {
        let sample = Sample::sum_mul();
        let mut result = sample.slice(&sample.omittable(11)[4..], &sample.omittable(10)[6..]);
        result.needed[1].without = None;
        let expected = "\
event,file,line,column,function,occurrence,needed,outcome,why
25,sum-mul.c,11,19,main,5,effect,not_reproduced,no output
29,sum-mul.c,11,19,main,6,effect,,
32,sum-mul.c,10,14,main,7,decision,not_reproduced,no output
";
        assert_eq!(table(sample, &alone(&result)), expected);
    }

    #[test]
    fn the_slices_of_several_criteria_are_told_apart_by_a_column() {
        let sample = Sample::sum_mul();
        let (one, other) = (sample.slice(&sample.omittable(6), &[]), sample.slice(&sample.omittable(7), &[]));
        let all = [("sum", &one), ("mul", &other)];
        let all = all.map(|(name, slice)| Compared { name, is_wrong: false, slice });
        let expected = "\
criterion,event,file,line,column,function,occurrence,needed,outcome,why
sum,2,sum-mul.c,6,9,main,1,effect,not_reproduced,no output
mul,3,sum-mul.c,7,9,main,1,effect,not_reproduced,no output
";
        assert_eq!(table(sample, &all), expected);
    }

    #[test]
    fn what_would_end_a_field_is_quoted() {
        assert_eq!(
            ["f(int, int)", "\"a\"", "two\nlines", "plain", "\x1b[2J"].map(field),
            ["\"f(int, int)\"", "\"\"\"a\"\"\"", "\"two\nlines\"", "plain", "\u{fffd}[2J"]
        );
    }
}
