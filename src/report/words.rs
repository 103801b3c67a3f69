//! Put outcomes, numbers and durations into the user's words.

use std::time::Duration;

use tracer::Containment;

use dd::Outcome;

/// The outcome of a test. The papers' *fail* would be misread: it is the good news.
pub fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Fail => "reproduced",
        Outcome::Pass => "not reproduced",
        Outcome::Unresolved => "unresolved",
    }
}

/// A number of things, such as `1 test` and `2 tests`.
pub fn count(number: u64, thing: &str) -> String {
    format!("{number} {thing}{}", one_or_more(number, "", "s"))
}

/// The singular or plural that goes with a number of things.
pub fn one_or_more<'a>(number: u64, one: &'a str, more: &'a str) -> &'a str {
    if number == 1 { one } else { more }
}

/// A test by its number: `test 3 of 75`.
pub fn ordinal_test(number: usize, total: u64) -> String {
    format!("test {number} of {total}")
}

/// A duration, rounded for readers: `40 ms`, `2.1 s`, `3 min 5 s`, `2 h 0 min`.
pub fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match seconds {
        0 if duration.as_millis() < 100 => format!("{} ms", duration.as_millis()),
        0..60 => format!("{:.1} s", duration.as_secs_f64()),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// The containment of programs, as a part of a sentence.
pub fn contained(containment: &Containment) -> String {
    match containment {
        Containment::Full => "fully contained".to_owned(),
        Containment::Basic(reason) => format!("contained at the basic level ({reason})"),
        Containment::None => "not contained".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_user_reads_of_failing_or_passing_tests() {
        let words = [Outcome::Fail, Outcome::Pass, Outcome::Unresolved].map(outcome);
        assert_eq!(words, ["reproduced", "not reproduced", "unresolved"]);
    }

    #[test]
    fn one_thing_has_no_plural() {
        assert_eq!([0, 1, 2].map(|number| count(number, "test")), ["0 tests", "1 test", "2 tests"]);
    }

    #[test]
    fn a_span_of_time_is_told_in_fitting_units() {
        let told = [7, 99, 100, 2_149, 185_000, 7_230_000].map(|ms| duration(Duration::from_millis(ms)));
        assert_eq!(told, ["7 ms", "99 ms", "0.1 s", "2.1 s", "3 min 5 s", "2 h 0 min"]);
    }
}
