//! Read spectra and rankings that other tools have written.
//!
//! Spectra: the three files of GZoltar, and test coverage matrices (TCM). Rankings: GZoltar's `name;suspiciousness_value`,
//! which flitsr writes with `--csv`, and flitsr's own form. Tools name lines in their ways, `src$a.c#main():12`,
//! `src/a.c:main:12`, `src.a$c#main:12`: a name is taken for the line of the study that it can mean, by file and line.

use std::collections::{BTreeMap, HashMap};

use crate::exchange::GzoltarFiles;
use crate::ranking::{LineGroup, LineRanking};
use crate::source_line::SourceLine;
use crate::spectra::{Spectra, SpectrumStatement, SpectrumTest};

/// Why a file cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormatMistake {
    /// The name of the file, if there are several; else empty.
    pub file: &'static str,
    /// The line, from 1.
    pub line: usize,
    /// The mistake, in words.
    pub what: String,
}

type Read<T> = Result<T, FormatMistake>;

fn mistake<T>(file: &'static str, line: usize, what: impl Into<String>) -> Read<T> {
    Err(FormatMistake { file, line: line + 1, what: what.into() })
}

/// Knows what the lines of a study are called.
pub struct LineNames<'l>(HashMap<u32, Vec<(String, &'l SourceLine)>>);

/// A path in which folders are not told from endings: `src/a.c` and `src.a$c` are the same.
fn dotted(path: &str) -> String {
    let plain = |c: char| match c {
        '/' | '$' => '.',
        c if c.is_ascii_alphanumeric() || "_.-".contains(c) => c,
        _ => '_',
    };
    let path: String = path.trim_start_matches("./").chars().map(plain).collect();
    path.strip_prefix("default.").map_or(path.clone(), str::to_owned)
}

fn is_end(whole: &str, end: &str) -> bool {
    whole.strip_suffix(end).is_some_and(|before| before.is_empty() || before.ends_with('.'))
}

impl<'l> LineNames<'l> {
    /// The names of these lines.
    pub fn new(lines: &'l [SourceLine]) -> LineNames<'l> {
        let mut known: HashMap<u32, Vec<(String, &SourceLine)>> = HashMap::new();
        for line in lines {
            known.entry(line.line).or_default().push((dotted(&line.file), line));
        }
        LineNames(known)
    }

    /// The line that is meant; a line that the study does not know keeps its name.
    fn line(&self, path: &str, line: u32) -> SourceLine {
        let path_dotted = dotted(path);
        let known = self.0.get(&line).into_iter().flatten();
        let mut meant = known.filter(|(name, _)| is_end(name, &path_dotted) || is_end(&path_dotted, name));
        match (meant.next(), meant.next()) {
            (Some((_, line)), None) => (*line).clone(),
            _ => SourceLine::new(path, line),
        }
    }

    /// The line of an element: `package$file#function():12`, `file:function:12:column`, perhaps with marks of faults.
    fn element(&self, text: &str) -> Option<(SourceLine, String)> {
        let text = text.split(" | ").next()?.split(" (FAULT").next()?.trim();
        let (path, parts): (&str, Vec<&str>) = match text.split_once('#') {
            Some((path, rest)) => (path, rest.split(':').collect()),
            None if text.contains('|') => {
                let mut parts = text.split('|');
                (parts.next()?, parts.collect())
            }
            None => {
                let mut parts = text.split(':');
                (parts.next()?, parts.collect())
            }
        };
        let line = parts.iter().find_map(|part| part.parse().ok().filter(|&line: &u32| line > 0))?;
        let function = parts.first().filter(|part| part.parse::<u32>().is_err());
        let function = function.map_or("", |part| part.split(['(', '@']).next().unwrap_or(part));
        Some((self.line(path, line), function.to_owned()))
    }

    fn statement(&self, file: &'static str, number: usize, text: &str) -> Read<SpectrumStatement> {
        match self.element(text) {
            Some((line, function)) => Ok(SpectrumStatement { line, column: 0, function }),
            None => mistake(file, number, format!("`{text}` names no line of a file")),
        }
    }

    /// The three files of GZoltar.
    ///
    /// # Errors
    /// If they are none.
    pub fn gzoltar(&self, files: &GzoltarFiles) -> Read<Spectra> {
        let names = files.spectra.lines().enumerate().skip(1).filter(|(_, line)| !line.is_empty());
        let statements: Vec<SpectrumStatement> =
            names.map(|(number, line)| self.statement("spectra.csv", number, line)).collect::<Read<_>>()?;
        let mut tests = Vec::new();
        for (number, line) in files.tests.lines().enumerate().skip(1).filter(|(_, line)| !line.is_empty()) {
            let mut cells = line.split(',');
            let (name, outcome) = (cells.next().unwrap_or_default(), cells.next());
            let fails = match outcome {
                Some("PASS") => false,
                Some("FAIL" | "ERROR") => true,
                _ => return mistake("tests.csv", number, "the second cell is neither PASS nor FAIL"),
            };
            tests.push(SpectrumTest { name: name.into(), fails, executed: Vec::new() });
        }
        let rows: Vec<&str> = files.matrix.lines().filter(|line| !line.trim().is_empty()).collect();
        if rows.len() != tests.len() {
            let what = format!("there are {} rows and {} tests", rows.len(), tests.len());
            return mistake("matrix.txt", rows.len(), what);
        }
        for (number, (row, test)) in rows.iter().zip(&mut tests).enumerate() {
            let mut cells: Vec<&str> = row.split_whitespace().collect();
            let outcome = cells.pop();
            if cells.len() != statements.len() {
                let what = format!("there are {} columns and {} elements", cells.len(), statements.len());
                return mistake("matrix.txt", number, what);
            }
            if outcome != Some(if test.fails { "-" } else { "+" }) {
                let what = format!("the outcome of {} is another one than in tests.csv", test.name);
                return mistake("matrix.txt", number, what);
            }
            test.executed = (0..cells.len()).filter(|&cell| cells[cell] != "0").collect();
        }
        Ok(Spectra { statements, tests })
    }

    /// A test coverage matrix.
    ///
    /// # Errors
    /// If it is none.
    pub fn tcm(&self, text: &str) -> Read<Spectra> {
        let (mut section, mut spectra, mut row) = ("", Spectra::default(), 0);
        for (number, line) in text.lines().enumerate() {
            if line.starts_with('#') {
                section = line.split_whitespace().next().unwrap_or_default();
                continue;
            }
            match section {
                // An empty row of the matrix is a test that executes nothing.
                "#matrix" if row < spectra.tests.len() => {
                    spectra.tests[row].executed = executed(number, line, spectra.statements.len())?;
                    row += 1;
                }
                _ if line.trim().is_empty() => {}
                "#tests" => spectra.tests.push(tcm_test(number, line)?),
                "#uuts" => spectra.statements.push(self.statement("", number, line)?),
                "#matrix" => return mistake("", number, "the matrix has more rows than there are tests"),
                "" => return mistake("", number, "a test coverage matrix begins with #tests"),
                _ => {}
            }
        }
        if spectra.statements.is_empty() || row < spectra.tests.len() || row == 0 {
            let what =
                format!("{row} rows, {} tests, {} elements", spectra.tests.len(), spectra.statements.len());
            return mistake("", text.lines().count(), format!("something is missing: there are {what}"));
        }
        Ok(spectra)
    }

    /// A ranking, by its numbers: equal ones are tied, and all but the lowest are named.
    ///
    /// # Errors
    /// If it is none.
    pub fn ranking(&self, text: &str) -> Read<LineRanking> {
        let mut scores: BTreeMap<SourceLine, f64> = BTreeMap::new();
        let mut group = None;
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line == "]" || number == 0 && line == "name;suspiciousness_value" {
                continue;
            }
            if let Some(rest) = line.strip_prefix("Faulty grouping:") {
                group = Some(score(number, rest.trim_end_matches('['))?);
                continue;
            }
            let (element, score) = match (group, line.rsplit_once(';')) {
                (Some(score), _) => (line, score),
                (None, Some((element, rest))) => (element, score(number, rest)?),
                (None, None) => return mistake("", number, "no number follows a semicolon"),
            };
            let Some((line, _)) = self.element(element) else {
                return mistake("", number, format!("`{element}` names no line of a file"));
            };
            let known = scores.entry(line).or_insert(score);
            *known = known.max(score);
        }
        match scores.is_empty() {
            true => mistake("", 0, "there is no line in it"),
            false => Ok(by_score(scores)),
        }
    }
}

fn score(number: usize, text: &str) -> Read<f64> {
    match text.trim().parse::<f64>() {
        Ok(score) if !score.is_nan() => Ok(score),
        _ => mistake("", number, format!("`{}` is no number", text.trim())),
    }
}

fn tcm_test(number: usize, line: &str) -> Read<SpectrumTest> {
    let mut words = line.split_whitespace();
    let name = words.next().unwrap_or_default().to_owned();
    let fails = match words.next() {
        Some("PASSED") => false,
        Some("FAILED" | "ERROR") => true,
        _ => return mistake("", number, "the second word of a test is neither PASSED nor FAILED"),
    };
    Ok(SpectrumTest { name, fails, executed: Vec::new() })
}

/// Pairs of the number of an element and how often it was executed.
fn executed(number: usize, line: &str, elements: usize) -> Read<Vec<usize>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let mut executed = Vec::new();
    for pair in words.chunks(2) {
        match (pair[0].parse::<usize>(), pair.get(1)) {
            (Ok(element), Some(count)) if element < elements => {
                executed.extend((*count != "0").then_some(element));
            }
            _ => {
                return mistake(
                    "",
                    number,
                    format!("`{}` is no pair of an element and a count", pair.join(" ")),
                );
            }
        }
    }
    executed.sort_unstable();
    executed.dedup();
    Ok(executed)
}

fn by_score(scores: BTreeMap<SourceLine, f64>) -> LineRanking {
    let mut ranked: Vec<(SourceLine, f64)> = scores.into_iter().collect();
    // Stable: lines that are tied stay in order.
    ranked.sort_by(|(_, one), (_, other)| other.total_cmp(one));
    let (highest, lowest) = (ranked[0].1, ranked[ranked.len() - 1].1);
    let groups = ranked.chunk_by(|(_, one), (_, other)| one == other).map(|group| LineGroup {
        is_suspect: group[0].1 > lowest || highest == lowest,
        score: Some(group[0].1),
        lines: group.iter().map(|(line, _)| line.clone()).collect(),
    });
    LineRanking { groups: groups.collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::{gzoltar, tcm};
    use crate::spectra::tests::spectra;

    fn lines() -> Vec<SourceLine> {
        [("src/a.c", 1), ("src/a.c", 2), ("src/b.c", 2), ("a.c", 3)]
            .map(|(file, line)| SourceLine::new(file, line))
            .to_vec()
    }

    #[test]
    fn what_was_written_is_read_back() {
        let mut written = spectra(&[(1, 0), (2, 0), (3, 0)], &[(true, &[0, 2]), (false, &[]), (false, &[1])]);
        let lines = written.lines();
        let names = LineNames::new(&lines);
        assert_eq!(names.gzoltar(&gzoltar(&written)).as_ref(), Ok(&written));
        assert_eq!(names.tcm(&tcm(&written, &[SourceLine::new("a.c", 2)])).as_ref(), Ok(&written));
        written.statements[0].column = 7;
        let by_statement = names.tcm(&tcm(&written, &[])).expect("read");
        assert_eq!(by_statement.statements[0].line, written.statements[0].line);
    }

    #[test]
    fn a_line_is_found_by_every_name_that_tools_give_it() {
        let lines = lines();
        let names = LineNames::new(&lines);
        let line = |text: &str| names.element(text).map(|(line, _)| line.to_string());
        for text in [
            "src$a.c#main():2",
            "src.a$c#main:2:0",
            "src/a.c:main:2",
            "src/a.c:main:2:9 | 0",
            "src/a.c|main|2 (FAULT 0)",
            "home.me.src$a.c#main():2",
        ] {
            assert_eq!(line(text).as_deref(), Some("src/a.c:2"), "{text}");
        }
        assert_eq!(line("default.a$c#main():3").as_deref(), Some("a.c:3"));
        // Nobody can tell which file is meant, or the study does not know the line: it keeps its name.
        assert_eq!(line("c:main:2").as_deref(), Some("c:2"));
        assert_eq!(line("other.c:main:2").as_deref(), Some("other.c:2"));
        assert_eq!((line("a.c:main"), line("a.c:0")), (None, None));
    }

    #[test]
    fn equal_numbers_are_tied_and_the_lowest_is_not_named() {
        let lines = lines();
        let names = LineNames::new(&lines);
        let csv =
            "name;suspiciousness_value\nsrc$a.c#f():1;0.5\nsrc$a.c#f():2;1.0\nsrc$b.c#f():2;0.5\na.c:3;0\n";
        let own = "Faulty grouping: 1.0 [\n  src/a.c|f|2 (FAULT 0)\n]\nFaulty grouping: 0.5 [\n  src/a.c|f|1\n]\n\
                   Faulty grouping: 0.5 [\n  src/b.c|f|2\n]\nFaulty grouping: 0 [\n  a.c|f|3\n]\n";
        for text in [csv, own] {
            let ranking = names.ranking(text).expect("a ranking");
            let groups: Vec<Vec<String>> = ranking
                .groups
                .iter()
                .map(|group| group.lines.iter().map(SourceLine::to_string).collect())
                .collect();
            assert_eq!(groups, [vec!["src/a.c:2"], vec!["src/a.c:1", "src/b.c:2"], vec!["a.c:3"]]);
            assert_eq!(ranking.suspects(), 3);
        }
    }

    #[test]
    fn mistakes_are_told_with_their_lines() {
        let lines = lines();
        let names = LineNames::new(&lines);
        let told = |read: Read<Spectra>| {
            read.map_err(|mistake| (mistake.file, mistake.line)).expect_err("a mistake")
        };
        let tests = "#tests\nt1 FAILED\n\n#uuts\na.c:f:3\n\n#matrix\n";
        assert_eq!(told(names.tcm("t1 FAILED\n")), ("", 1));
        assert_eq!(told(names.tcm(&tests.replace("FAILED", "BROKEN"))), ("", 2));
        assert_eq!(told(names.tcm(&format!("{tests}1 1\n"))), ("", 8));
        assert_eq!(told(names.tcm(tests)), ("", 8));
        assert_eq!(told(names.tcm(&format!("{tests}0 1\n0 1\n"))), ("", 9));
        let files = GzoltarFiles {
            spectra: "name\na.c#f():3\n".into(),
            tests: "name,outcome,runtime,stacktrace\nt1,FAIL,0,\n".into(),
            matrix: "1 -\n".into(),
        };
        assert!(names.gzoltar(&files).is_ok());
        let with = |matrix: &str| GzoltarFiles { matrix: matrix.into(), ..files.clone() };
        assert_eq!(told(names.gzoltar(&with("1 1 -\n"))), ("matrix.txt", 1));
        assert_eq!(told(names.gzoltar(&with("1 +\n"))), ("matrix.txt", 1));
        assert_eq!(told(names.gzoltar(&with("1 -\n1 -\n"))), ("matrix.txt", 3));
        for text in ["", "a.c:3", "a.c:3;often", "a.c;1"] {
            assert!(names.ranking(text).is_err(), "{text}");
        }
    }
}
