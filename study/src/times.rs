//! Read times and budgets of searches, as options and manifests have them.

use std::fmt;
use std::time::Duration;

/// Reads a time: `500ms`, `10s`, `5m` or `1h`; a number alone means seconds.
///
/// # Errors
/// If it is none, or nothing, or more than a year; a part of a sentence.
pub fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let factor = match unit {
        "ms" => 0.001,
        "" | "s" => 1.0,
        "m" => 60.0,
        "h" => 3600.0,
        _ => return Err("the unit must be ms, s, m or h".into()),
    };
    let number: f64 = number.parse().map_err(|_| "not a time: write 500ms, 10s, 5m or 1h".to_owned())?;
    match Duration::try_from_secs_f64(number * factor) {
        Ok(time) if !time.is_zero() && time <= Duration::from_secs(366 * 86400) => Ok(time),
        _ => Err("must be more than nothing and at most a year".into()),
    }
}

/// The budget of a search: `10s` or `200-tests`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SearchBudget {
    /// The most time, in milliseconds.
    Time(u64),
    /// The largest number of tests.
    Tests(u64),
}

impl SearchBudget {
    /// Reads `10s` or `200-tests`.
    ///
    /// # Errors
    /// If it is neither a time with a unit nor a number of tests.
    pub fn parse(text: &str) -> Result<SearchBudget, String> {
        let text = text.trim();
        let budget = match text.strip_suffix("-tests") {
            Some(number) => number.parse().ok().filter(|number| *number > 0).map(SearchBudget::Tests),
            // A number alone could be meant as tests.
            None if text.ends_with(|c: char| c.is_ascii_digit()) => None,
            None => {
                let milliseconds = duration(text).ok().and_then(|time| time.as_millis().try_into().ok());
                milliseconds.filter(|time| *time > 0).map(SearchBudget::Time)
            }
        };
        budget.ok_or_else(|| {
            format!("`{text}` is no budget: write a time, such as 10s, or tests, such as 200-tests")
        })
    }
}

impl fmt::Display for SearchBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SearchBudget::Tests(number) => write!(f, "{number}-tests"),
            SearchBudget::Time(time) if time % 1000 != 0 => write!(f, "{time}ms"),
            SearchBudget::Time(time) => write!(f, "{}s", time / 1000),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units_and_sense() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        for bad in ["-1", "NaN", "inf", "0", "1e300", "5 parsecs", "", "1180591620717411303424"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }
}
