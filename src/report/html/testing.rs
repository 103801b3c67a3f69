//! Share assertions of the tests of all pages.

/// Asserts that a page refers to nothing outside of itself.
pub(super) fn assert_closed(page: &str) {
    for reference in ["src=", "@import", "url(", "fetch(", "<link"] {
        assert!(!page.contains(reference), "{reference}");
    }
}

/// Asserts that names at the top of scripts are declared once, because they share one space of names; returns
/// their number.
pub(super) fn declared_once(scripts: &str) -> usize {
    let named = |line: &str| {
        let rest = ["function ", "const ", "let "].iter().find_map(|word| line.strip_prefix(word))?;
        Some(rest.split(|c: char| !c.is_alphanumeric()).next()?.to_owned())
    };
    let mut names: Vec<String> = scripts.lines().filter_map(named).collect();
    let all = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), all, "{names:#?}");
    all
}
