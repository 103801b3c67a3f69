//! A line of the source, by which all techniques are compared.

use std::fmt;

/// A line of a source file. Its order is by file, then by line.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceLine {
    /// The file as reports show it: relative to the directory of the compilation.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
}

impl SourceLine {
    /// A line of a file.
    pub fn new(file: &str, line: u32) -> SourceLine {
        SourceLine { file: file.to_owned(), line }
    }

    /// Reads `file.c:12`.
    ///
    /// # Errors
    /// If there is no line, or none from 1 on.
    pub fn parse(text: &str) -> Result<SourceLine, String> {
        let form = || format!("`{text}` names no line: write it as file.c:12");
        let (file, line) = text.rsplit_once(':').ok_or_else(form)?;
        match line.parse() {
            Ok(line) if line > 0 && !file.is_empty() => Ok(SourceLine::new(file, line)),
            _ => Err(form()),
        }
    }

    /// Whether this line, as a manifest names it, is `other`, as reports show it: the same line of the same file, or of
    /// one whose path ends with this one.
    pub fn means(&self, other: &SourceLine) -> bool {
        let named = self.file.trim_start_matches("./");
        let is_end = other.file.ends_with(named)
            && (other.file.len() == named.len()
                || other.file.as_bytes()[other.file.len() - named.len() - 1] == b'/');
        self.line == other.line && is_end
    }
}

impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_named_by_the_end_of_its_path() {
        let shown = SourceLine::new("src/io/read.c", 12);
        let means = |text: &str| SourceLine::parse(text).is_ok_and(|line| line.means(&shown));
        assert!(means("read.c:12") && means("io/read.c:12") && means("./src/io/read.c:12"));
        assert!(!means("ad.c:12") && !means("read.c:13") && !means("other/read.c:12"));
        assert!(SourceLine::parse("read.c").is_err() && SourceLine::parse("read.c:0").is_err());
    }
}
