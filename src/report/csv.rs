//! Write the needed events as comma-separated values: a header, then one row for each event.
//!
//! The form is that of RFC 4180, but lines end as they do on Unix.

use crate::slice::{CriticalSlice, Recorded};

use super::needed;
use super::schema::NeededEvent;

const HEADER: &str = "event,file,line,column,function,occurrence,needed,outcome,why\n";

/// The slice as a table. The columns are the keys of the JSON result; `outcome` and `why` say what was
/// seen without the event, and are empty if that was not tried.
pub fn slice(recorded: Recorded<'_>, slice: &CriticalSlice) -> String {
    let events = needed::events(recorded, slice);
    let rows = events.iter().map(row);
    std::iter::once(HEADER.to_owned()).chain(rows).collect()
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

fn field(text: &str) -> String {
    if text.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample::Sample;
    use super::*;

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
        assert_eq!(slice(sample.recorded(), &result), expected);
    }

    #[test]
    fn what_would_end_a_field_is_quoted() {
        assert_eq!(
            ["f(int, int)", "\"a\"", "two\nlines", "plain"].map(field),
            ["\"f(int, int)\"", "\"\"\"a\"\"\"", "\"two\nlines\"", "plain"]
        );
    }
}
