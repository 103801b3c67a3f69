//! Write a critical slice as annotated source text with a verdict.

use tracer::program::FileId;

use crate::slice::{CriticalSlice, Effects};
use crate::subject::Recorded;

use super::by_products;
use super::executions::{self, Mark};
use super::extent::{self, Detail};
use super::listing::{self, Listed};
use super::markers;
use super::rows::{Row, Rows};
use super::sections;
use super::source::{Sources, printable};
use super::style::{Style, length, wrap, wrap_behind};
use super::values;
use super::verdict::verdict;

/// The number of rows that a screen holds, apart from what is around them.
const SCREEN: usize = 20;

/// The number of lines that are named to begin with.
const MOST_FIRST: usize = 4;

/// Writes the slice for people: the lines to look at first, if that is long; the source of all functions
/// with a needed execution, with the executions of each line, or that of the function that crashes if
/// nothing is needed for that; a legend of the markers; the criterion, the verdict and the warnings.
///
/// Executions of a line are counted from 1: each event at one of its statements. The values of the executions
/// are shown if that is asked for and they were observed; always of a crash that needs nothing.
pub fn slice(recorded: Recorded<'_>, slice: &CriticalSlice, detail: Detail, style: Style) -> String {
    let lines = executions::count(recorded, slice);
    let statements = executions::by_statement(recorded, slice);
    let mut rows = Rows::new(recorded.program, &lines, &statements);
    let sections = sections::find(recorded, slice).into_iter();
    let parts: Vec<Listed<'_>> = sections.map(|section| (section.clone(), rows.of(&section))).collect();
    let conclusion = conclusion(slice, style);
    if parts.is_empty() {
        return conclusion;
    }
    let first = look_first(recorded, slice, &parts, style);
    let (parts, note) = extent::shown(recorded.program, parts, detail);
    let listing = listing::write(recorded.program, &parts, style);
    let note = note.map(|note| format!("\n\n{}", wrap(&note, style.width))).unwrap_or_default();
    let legend = legend(&parts, slice.effects, style);
    let values = match detail.values.includes(slice.needed.len()) || slice.crashed_at.is_some() {
        true => values::section(recorded, slice, style),
        false => String::new(),
    };
    format!("{first}{listing}{note}\n\n{legend}\n\n{values}{conclusion}")
}

/// Names the lines that were needed last, if the listing is longer than a screen: they are nearest to the failure.
fn look_first(recorded: Recorded<'_>, slice: &CriticalSlice, parts: &[Listed<'_>], style: Style) -> String {
    let rows: usize = parts.iter().map(|(_, rows)| rows.len()).sum();
    let leader = |event| recorded.program.leader(recorded.trace.leader(event)).statement;
    let mut lines: Vec<(FileId, u32)> = Vec::new();
    for statement in slice.told().map(leader).collect::<Vec<_>>().into_iter().rev() {
        if lines.len() < MOST_FIRST && !lines.contains(&(statement.file, statement.line)) {
            lines.push((statement.file, statement.line));
        }
    }
    if rows <= SCREEN || lines.is_empty() {
        return String::new();
    }
    let mut sources = Sources::new(recorded.program);
    let mut told = String::from("Look first at what was needed last, the latest first:\n");
    for (file, line) in lines {
        let shown = printable(&recorded.program.file(file).shown);
        let text = sources.line(file, line).unwrap_or_default();
        told += &format!(
            "{}\n",
            wrap_behind(&format!("  {shown}:{line}  "), text.trim(), style.width).trim_end()
        );
    }
    told + "\n"
}

/// The legend: the meaning of the markers that occur.
fn legend(parts: &[Listed<'_>], effects: Effects, style: Style) -> String {
    let occurs = |mark: &Mark| {
        let rows = parts.iter().flat_map(|(_, rows)| rows);
        rows.filter_map(Row::executions).flat_map(|all| all.runs()).any(|run| run.mark == *mark)
    };
    let meaning = |mark| match (mark, effects) {
        (Mark::Effect, Effects::Untried) => "needed",
        (Mark::Effect, Effects::Tried) => "needed for its effect",
        (Mark::Decision, Effects::Untried) => "needed, a decision",
        (Mark::Decision, Effects::Tried) => "needed only as a decision",
        (Mark::Unneeded, _) => "executed but not needed",
        (Mark::Fixed, _) => "cannot be left out",
        (Mark::Inferred, _) => "in the dynamic slice, but not needed",
        (Mark::Hole, _) => "needed, but not in the dynamic slice",
    };
    let explained = |mark| format!("{} {}", markers::glyph(mark, style), meaning(mark));
    let all: Vec<String> = markers::ALL.into_iter().filter(occurs).map(explained).collect();
    let line = all.join(", ");
    if length(&line) <= style.width { line } else { all.join("\n") }
}

/// The conclusion: the criterion, the verdict, the warnings, and other failures that came up.
fn conclusion(slice: &CriticalSlice, style: Style) -> String {
    let criterion = format!("Failure: {}", slice.question.criterion);
    let warnings = slice.warnings.iter().map(|warning| format!("warning: {warning}"));
    let sentences = [criterion, verdict(slice)].into_iter().chain(warnings);
    let sentences = sentences.chain(by_products::sentence(slice, ""));
    sentences.map(|sentence| paragraph(&sentence, style) + "\n").collect()
}

/// A sentence in lines; text from outside may hold anything.
fn paragraph(sentence: &str, style: Style) -> String {
    let words: Vec<String> = sentence.lines().map(printable).collect();
    wrap(&words.join(" "), style.width)
}

#[cfg(test)]
mod tests {
    use super::super::sample::{Folder, Sample};
    use super::*;

    /// The slice of the paper's example for `sum = 15`.
    fn sum_is_15() -> CriticalSlice {
        let sample = Sample::sum_mul();
        let whole = [6, 8, 9, 15].map(|line| sample.omittable(line)).concat();
        let (sums, steps) = (sample.omittable(11), sample.omittable(13));
        let effects = [&whole, &sums[1..], &steps[..5]].concat();
        let mut slice = sample.slice(&effects, &sample.omittable(10));
        slice.warnings =
            vec!["the program was compiled with -O1, which leaves few statements to omit".into()];
        slice
    }

    #[test]
    fn a_slice_is_told_by_the_source_and_its_executions() {
        let text = slice(Sample::sum_mul().recorded(), &sum_is_15(), Detail::default(), Style::default());
        let expected = r#"line  source                               executed  needed  which
sum-mul.c: main
   4  {
   5      int a, b, sum, mul;
   6      sum = 0;                                1       1  ●
   7      mul = 1;                                1       0  ·
   8      printf("a? "); scanf("%d", &a);         2       2  ●●
   9      printf("b? "); scanf("%d", &b);         2       2  ●●
  10      while (a <= b) {                        7       7  ○○○○○○○
  11          sum = sum + a;                      6       5  ·●●●●●
  12          mul = mul * a;                      6       0  ······
  13          a = a + 1;                          6       5  ●●●●●·
  14      }
  15      printf("sum = %d\n", sum);              1       1  ●
  16      printf("mul = %d\n", mul);              1       0  ·
  17      return 0;                               1       0  ·
  18  }

● needed for its effect, ○ needed only as a decision, · executed but not needed

Failure: the output contains `sum = 15`
23 of 34 statement executions are needed (16 for their effect, 7 only as
  decisions); 1-minimal: without any single one of them the failure is gone. 120
  tests: 11 reproduced the failure, 80 did not, 29 told neither (unresolved);
  142 runs in 0.2 s, fully contained.
warning: the program was compiled with -O1, which leaves few statements to omit
"#;
        assert_eq!(text, expected);
    }

    #[test]
    fn whatever_the_width_is_rows_keep_to_it() {
        for width in [60, 65, 72, 100] {
            let style = Style { width, ..Style::default() };
            let text = slice(Sample::sum_mul().recorded(), &sum_is_15(), Detail::default(), style);
            assert!(text.lines().all(|line| line.chars().count() <= width), "{text}");
        }
    }

    #[test]
    fn colour_sets_off_what_is_needed_and_tones_down_what_is_not() {
        let style = Style { color: true, ..Style::default() };
        let text = slice(Sample::sum_mul().recorded(), &sum_is_15(), Detail::default(), style);
        let line = |number: &str| text.lines().find(|line| line.contains(number)).unwrap().to_owned();
        assert!(line("  11  ").ends_with("6       5  ·\x1b[1m●●●●●\x1b[0m"), "{text}");
        assert!(line("  12  ").starts_with("\x1b[2m  12  ") && line("  12  ").ends_with("······\x1b[0m"));
        assert_eq!(line("  18  "), "  18  }");
    }

    #[test]
    fn ascii_is_enough() {
        let style = Style { unicode: false, width: 60, ..Style::default() };
        assert!(slice(Sample::sum_mul().recorded(), &sum_is_15(), Detail::default(), style).is_ascii());
    }

    #[test]
    fn a_slice_of_nothing_has_a_verdict_only() {
        let sample = Sample::sum_mul();
        let text = slice(sample.recorded(), &sample.slice(&[], &[]), Detail::default(), Style::default());
        assert!(text.starts_with("Failure: the output contains `sum = 15`\nNone of 34 "), "{text}");
    }

    #[test]
    fn a_loop_that_has_no_room_is_told_in_words_below() {
        let source = "int main(void) { int x = 0;\n    for (int i = 0; i < 999; i++)\n        x = 1;\n    return x;\n}\n";
        let sample = Sample::of(&Folder::new(), source);
        let rounds = sample.omittable(3);
        let needed = |round: &usize| round % 7 != 3;
        let most: Vec<_> = (0..999).filter(needed).map(|round| rounds[round]).collect();
        let text = slice(sample.recorded(), &sample.slice(&most, &[]), Detail::default(), Style::default());
        let row = "   3               999     856  1-3 ●, 4 ·, 5-10 ●, 11 ·, 12-17 ●, 18 ·, …";
        assert!(text.contains(row), "{text}");
        let note = "program.c:3: executions every 7th from 4 to 998: not; all others: needed\n";
        assert!(text.contains(note), "{text}");
    }

    #[test]
    fn without_its_source_a_program_has_rows_of_numbers() {
        let source = "int main(void) { int x = 1;\n\n    return x - 1;\n}\n";
        let sample = Sample::of(&Folder::new(), source);
        let text = slice(
            sample.recorded(),
            &sample.slice(&sample.omittable(1), &[]),
            Detail::default(),
            Style::default(),
        );
        let rows = [
            "line  source  executed  needed  which",
            "program.c: main",
            "   1                 1       1  ●",
            "   3                 1       0  ·",
            "   4",
        ];
        assert!(text.starts_with(&(rows.join("\n") + "\n\n")), "{text}");
    }
}
