//! Find the report of a sanitizer in what a run has written to standard error.

use std::sync::LazyLock;

use regex::bytes::Regex;

/// The patterns of reports by the sanitizers of gcc and clang, the most informative first: the line at the
/// end of a report, the line at its beginning, and that of an undefined behaviour, after which the program
/// goes on.
static REPORTS: LazyLock<[Regex; 3]> = LazyLock::new(|| {
    [
        r"(?m)^SUMMARY: (\w+Sanitizer: [^\n]+)$",
        r"(?m)(?:ERROR|WARNING): (\w+Sanitizer: [\w-]+)",
        r"(?m)^([^\n]*:\d+:\d+: runtime error: [^\n]*)$",
    ]
    .map(|pattern| Regex::new(pattern).expect("an expression"))
});

/// The first error that a sanitizer reports, with its place as far as it is given; `None` if there is no report.
pub(super) fn report(stderr: &[u8]) -> Option<String> {
    const MARKS: [&[u8]; 2] = [b"Sanitizer: ", b": runtime error: "];
    // Regular expressions are slow, and most runs write nothing.
    let has = |mark: &[u8]| stderr.windows(mark.len()).any(|window| window == mark);
    MARKS.into_iter().find(|mark| has(mark))?;
    let found = REPORTS.iter().find_map(|report| report.captures(stderr)?.get(1));
    let text = String::from_utf8_lossy(found?.as_bytes()).into_owned();
    // The place to which the tracer has moved the code is not a place of the program.
    Some(text.split(" (/memfd:").next().unwrap_or_default().trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_tells_most_is_taken() {
        let address =
            b"==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x60 at pc 0x55\n    #0 0x1\n\
            SUMMARY: AddressSanitizer: heap-use-after-free a.c:10 in main\n";
        assert_eq!(report(address).as_deref(), Some("AddressSanitizer: heap-use-after-free a.c:10 in main"));
        let undefined = b"hello\na.c:3:5: runtime error: signed integer overflow\n";
        assert_eq!(report(undefined).as_deref(), Some("a.c:3:5: runtime error: signed integer overflow"));
        let moved = b"SUMMARY: AddressSanitizer: SEGV (/memfd:stripe (deleted)+0x4ad9)\n";
        assert_eq!(report(moved).as_deref(), Some("AddressSanitizer: SEGV"));
        let unfinished = b"==7==ERROR: LeakSanitizer: detected memory leaks\n";
        assert_eq!(report(unfinished).as_deref(), Some("LeakSanitizer: detected"));
    }

    #[test]
    fn other_messages_are_no_report() {
        assert_eq!(report(b"runtime error: none\nSanitizer: off\n"), None);
        assert_eq!(report(b""), None);
    }
}
