//! Tables of results, for people: Markdown and LaTeX.

use std::fmt::Write;

use crate::metrics::TieRule;
use crate::results::{StudyResults, Summary, TOP, TechniquePair};

/// A table of texts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextTable {
    /// The caption.
    pub caption: String,
    /// The label, by which LaTeX refers to it.
    pub label: String,
    /// The names of the columns.
    pub header: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<String>>,
}

/// The largest number of rows of a table that stands on one page of a paper.
const ROWS_OF_A_PAGE: usize = 40;

/// Writes a number, or a dash where there is none.
pub(crate) fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or_else(|| "–".to_owned(), |value| format!("{value:.digits$}"))
}

fn probability(p: f64) -> String {
    if p < 0.001 { "< 0.001".into() } else { format!("{p:.3}") }
}

pub(crate) fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(|text| (*text).to_owned()).collect()
}

/// The tables of what each technique has achieved: one of what it names, and one of how early that is.
pub fn techniques(summaries: &[Summary], rule: TieRule, of: &str) -> [TextTable; 2] {
    [named(summaries, of), places(summaries, rule, of)]
}

fn named(summaries: &[Summary], of: &str) -> TextTable {
    let row = |one: &Summary| {
        vec![
            one.technique.clone(),
            match one.incomplete {
                0 => one.faults.to_string(),
                cut => format!("{} ({cut} cut)", one.faults),
            },
            one.failed.to_string(),
            one.hits.to_string(),
            number(one.suspects, 1),
            number(one.share.map(|share| 100.0 * share), 0),
            number(one.share_of_all.map(|share| 100.0 * share), 0),
            number(one.seconds, 2),
        ]
    };
    TextTable {
        caption: format!(
            "What techniques name{of}. Hit: faults of which a faulty line is named; Lines, % of run, % of all: named \
             lines, and their shares of those that the failing run executes and of all; these and the time are medians"
        ),
        label: "named".into(),
        header: texts(&["Technique", "Faults", "Failed", "Hit", "Lines", "% of run", "% of all", "Time (s)"]),
        rows: summaries.iter().map(row).collect(),
    }
}

fn places(summaries: &[Summary], rule: TieRule, of: &str) -> TextTable {
    let ties = match rule {
        TieRule::Best => "first",
        TieRule::Average => "on average over all orders",
        TieRule::Worst => "last",
    };
    let row = |one: &Summary| {
        let mut row = vec![one.technique.clone()];
        row.extend(one.top.map(|count| count.to_string()));
        row.extend([
            number(one.exam, 3),
            number(one.wasted_effort, 1),
            number(one.reciprocal_rank, 3),
            number(one.mean_place, 1),
        ]);
        row
    };
    let mut header = texts(&["Technique"]);
    header.extend(TOP.map(|top| format!("Top {top}")));
    header.extend(texts(&["EXAM", "Effort", "MRR", "All"]));
    TextTable {
        caption: format!(
            "Places of faulty lines{of}. Top: faults whose first faulty line is among so many; EXAM: share of lines read \
             up to it, mean; Effort: lines read in vain, mean; MRR: mean reciprocal rank; All: mean place of all faulty \
             lines. Tied lines are read {ties}"
        ),
        label: "places".into(),
        header,
        rows: summaries.iter().map(row).collect(),
    }
}

/// The table of the pairs of techniques.
pub fn pairs(comparisons: &[TechniquePair]) -> TextTable {
    let row = |one: &TechniquePair| {
        vec![
            one.one.clone(),
            one.other.clone(),
            one.pairs.to_string(),
            one.wins.to_string(),
            one.losses.to_string(),
            probability(one.p),
            probability(one.corrected),
            number(one.effect, 2),
        ]
    };
    TextTable {
        caption: "Pairs of techniques by EXAM. Better, Worse: faults for which the first reads fewer lines, or more; p: \
                  Wilcoxon's signed-rank test, two-sided, and corrected by Holm; A12: probability that the first \
                  reads less (Vargha and Delaney)"
            .into(),
        label: "pairs".into(),
        header: texts(&["Technique", "against", "Faults", "Better", "Worse", "p", "p (Holm)", "A12"]),
        rows: comparisons.iter().map(row).collect(),
    }
}

/// Lists what is missing, and why.
pub fn left_out(results: &StudyResults) -> Vec<String> {
    let mut told = results.study.left_out.clone();
    let failed = results.items.iter().filter(|item| item.metrics.is_none());
    told.extend(failed.map(|item| {
        format!("{}, {}: {}", item.fault, item.technique, item.why.as_deref().unwrap_or("no result"))
    }));
    if results.pending > 0 {
        told.push(format!("{} results are not there yet: `stripe study run` goes on", results.pending));
    }
    told
}

impl TextTable {
    /// The table as Markdown.
    pub fn markdown(&self) -> String {
        let cell = |text: &String| text.replace('|', "\\|");
        let row =
            |cells: &[String]| format!("| {} |\n", cells.iter().map(cell).collect::<Vec<_>>().join(" | "));
        let mut text = format!("{}\n\n{}", self.caption, row(&self.header));
        let rule = |(number, _)| if number == 0 { "---" } else { "---:" };
        let _ =
            writeln!(text, "|{}|", self.header.iter().enumerate().map(rule).collect::<Vec<_>>().join("|"));
        self.rows.iter().for_each(|cells| text += &row(cells));
        text
    }

    /// The table as LaTeX, with the rules of booktabs; one that is longer than a page by longtable.
    pub fn latex(&self) -> String {
        let row = |cells: &[String]| {
            let cells: Vec<String> = cells.iter().map(|text| latex_text(text)).collect();
            format!("    {} \\\\\n", cells.join(" & "))
        };
        let columns = format!("l{}", "r".repeat(self.header.len().saturating_sub(1)));
        let rows: String = self.rows.iter().map(|cells| row(cells)).collect();
        let (header, caption) = (row(&self.header), latex_text(&self.caption));
        let caption = format!("\\caption{{{caption}}}\\label{{tab:{}}}", self.label);
        // So that a dozen columns have room on a page of the class article.
        let size = "\\footnotesize\\setlength{\\tabcolsep}{4pt}";
        if self.rows.len() > ROWS_OF_A_PAGE {
            return format!(
                "{{{size}\n\\begin{{longtable}}{{{columns}}}\n  {caption} \\\\\n    \\toprule\n{header}    \\midrule\n  \\endfirsthead\n    \
                 \\toprule\n{header}    \\midrule\n  \\endhead\n    \\bottomrule\n  \\endfoot\n{rows}\\end{{longtable}}}}\n"
            );
        }
        format!(
            "\\begin{{table}}\n  \\centering\n  {caption}\n  {size}\n  \\begin{{tabular}}{{{columns}}}\n    \\toprule\n{header}    \
             \\midrule\n{rows}    \\bottomrule\n  \\end{{tabular}}\n\\end{{table}}\n"
        )
    }
}

/// Escapes a text for LaTeX.
fn latex_text(text: &str) -> String {
    let mut told = String::new();
    for c in text.chars() {
        match c {
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => told.extend(['\\', c]),
            '\\' => told += "\\textbackslash{}",
            '~' => told += "\\textasciitilde{}",
            '^' => told += "\\textasciicircum{}",
            '<' => told += "$<$",
            '>' => told += "$>$",
            '–' => told += "--",
            c => told.push(c),
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::results;

    #[test]
    fn latex_is_told_all_signs_as_signs() {
        assert_eq!(latex_text("a_b & 5 % < \\x"), "a\\_b \\& 5 \\% $<$ \\textbackslash{}x");
        let results = results(&[("a_b", &[Some(1.0), Some(3.0)])]);
        let [named, places] = techniques(&results.summaries(TieRule::Average, None), TieRule::Average, "");
        let text = named.latex();
        assert!(text.contains("    a\\_b & 2 & 0 & 2 & 5.0 & 50 & 25 & 0.50 \\\\"), "{text}");
        assert!(text.contains("\\toprule") && text.contains("{lrrrrrrr}"), "{text}");
        let text = places.latex();
        assert!(text.contains("    a\\_b & 1 & 2 & 2 & 2 & 0.100 &"), "{text}");
    }

    #[test]
    fn a_table_that_is_longer_than_a_page_is_a_longtable() {
        let row = texts(&["a", "1"]);
        let table = |count: usize| TextTable {
            header: texts(&["Technique", "Faults"]),
            rows: vec![row.clone(); count],
            ..TextTable::default()
        };
        assert!(table(ROWS_OF_A_PAGE).latex().contains("\\begin{tabular}{lr}"));
        let long = table(ROWS_OF_A_PAGE + 1).latex();
        assert!(long.contains("\\begin{longtable}{lr}") && !long.contains("tabular"), "{long}");
        assert_eq!(long.matches("    a & 1 \\\\").count(), ROWS_OF_A_PAGE + 1);
    }

    #[test]
    fn what_is_missing_is_told() {
        let results = results(&[("a", &[Some(1.0), None])]);
        assert_eq!(left_out(&results), ["f1, a: a_b fails & 100 % more"]);
    }
}
