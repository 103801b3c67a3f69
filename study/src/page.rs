//! The page of results: tables, plots, and a matrix of faults and techniques. Each number leads to its document.

use std::fmt::Write;

use crate::documents::ItemDocument;
use crate::folder::ResultsFolder;
use crate::matrix::{shade, shown};
use crate::metrics::TieRule;
use crate::plots::{MATRIX, Plot};
use crate::results::StudyResults;
use crate::tables::{TextTable, left_out, pairs, techniques};

const STYLE: &str = "body{font:15px/1.45 sans-serif;max-width:70em;margin:2em auto;padding:0 1em;color:#111;background:#fff}\
table{border-collapse:collapse;border-top:2px solid;border-bottom:2px solid;margin:1em 0}\
th{border-bottom:1px solid;text-align:right;padding:.2em .6em}td{text-align:right;padding:.1em .6em}\
th:first-child,td:first-child{text-align:left}caption{text-align:left;max-width:60em;padding:.4em 0}\
a{color:inherit}figure{margin:1.5em 0}.matrix td{border:1px solid #ccc}.named{font-weight:bold}\
.matrix td:first-child{white-space:nowrap}.matrix{print-color-adjust:exact}.dark a{color:#fff}.scroll{overflow-x:auto}";

/// The page. `root` leads from it to the folder of the results.
pub fn page(results: &StudyResults, plots: &[Plot], rule: TieRule, root: &str) -> String {
    let study = &results.study;
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width\">\n\
         <title>{name}</title>\n<style>{STYLE}</style>\n<h1>{name}</h1>\n",
        name = escaped(&format!("Study {}", study.manifest))
    );
    let _ = writeln!(
        page,
        "<p>{} faults, {} techniques, stripe {}, {}. <a href=\"{}\">study.json</a>, <a href=\"{}\">{}</a></p>",
        study.faults.len(),
        study.techniques.len(),
        escaped(&study.version),
        escaped(&study.compiler),
        link(root, "study.json"),
        link(root, &copy(&study.manifest)),
        escaped(&copy(&study.manifest)),
    );
    techniques(&results.summaries(rule, None), rule, "").iter().for_each(|one| page += &table(one));
    for plot in plots.iter().filter(|plot| plot.name != MATRIX) {
        let _ = write!(
            page,
            "<figure id=\"{}\">\n{}<figcaption>{}</figcaption>\n</figure>\n",
            plot.name,
            plot.svg,
            escaped(&plot.caption)
        );
    }
    page += &matrix(results, rule, root);
    page += &table(&pairs(&results.comparisons(rule)));
    let missing = left_out(results);
    if !missing.is_empty() {
        let items: String = missing.iter().map(|one| format!("<li>{}</li>\n", escaped(one))).collect();
        let _ = write!(page, "<h2>Left out</h2>\n<ul>\n{items}</ul>\n");
    }
    page + "</html>\n"
}

/// The name of the copy of a manifest.
fn copy(manifest: &str) -> String {
    let ending = manifest.rsplit_once('.').map_or("", |(_, ending)| ending);
    format!("manifest.{ending}")
}

fn link(root: &str, file: &str) -> String {
    // Signs that mean something in an address; the slash leads into folders.
    let mut told = String::new();
    for byte in format!("{root}{file}").bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
                told.push(byte as char)
            }
            _ => {
                let _ = write!(told, "%{byte:02X}");
            }
        }
    }
    told
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn table(table: &TextTable) -> String {
    let row = |tag: &str, cells: &[String]| {
        let cells: String = cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", escaped(cell))).collect();
        format!("<tr>{cells}</tr>\n")
    };
    let rows: String = table.rows.iter().map(|cells| row("td", cells)).collect();
    format!(
        "<div class=\"scroll\"><table id=\"{}\">\n<caption>{}.</caption>\n{}{rows}</table></div>\n",
        table.label,
        escaped(&table.caption),
        row("th", &table.header)
    )
}

/// The matrix of the places of the first faulty lines, by fault and technique: the darker, the earlier.
fn matrix(results: &StudyResults, rule: TieRule, root: &str) -> String {
    let study = &results.study;
    let heads: String = study.techniques.iter().map(|one| format!("<th>{}</th>", escaped(one))).collect();
    let mut text = format!(
        "<div class=\"scroll\"><table class=\"matrix\" id=\"matrix\">\n<caption>Lines read up to the first faulty one; bold: \
         the technique names it; dark: among the first 1, 3, 5 or 10; each number leads to its document.</caption>\n\
         <tr><th>Fault</th>{heads}</tr>\n"
    );
    let index = results.index();
    let find = |fault: &str, technique: &str| index.get(&(fault, technique)).copied();
    for fault in &study.faults {
        let cell = |technique: &String| match fault.asks(technique) {
            true => cell(find(&fault.name, technique), rule, root),
            false => "<td title=\"not asked for\">–</td>".into(),
        };
        let cells: String = study.techniques.iter().map(cell).collect();
        let _ = writeln!(text, "<tr><td>{}</td>{cells}</tr>", escaped(&fault.name));
    }
    text + "</table></div>\n"
}

fn cell(item: Option<&ItemDocument>, rule: TieRule, root: &str) -> String {
    let Some(item) = item else { return "<td title=\"not there yet\"></td>".into() };
    let address = link(root, &ResultsFolder::item_file(&item.fault, &item.technique));
    let Some(metrics) = &item.metrics else {
        let why = escaped(item.why.as_deref().unwrap_or("no result"));
        return format!("<td title=\"{why}\"><a href=\"{address}\">✗</a></td>");
    };
    let place = metrics.first.by(rule);
    let (grey, is_dark) = shade(place);
    let class = if is_dark { "dark" } else { "" };
    let named = if metrics.hit { "named" } else { "" };
    let title = format!("{} of {} lines, {} named, {}", place, metrics.lines, metrics.suspects, item.status);
    format!(
        "<td style=\"background:rgb({grey} {grey} {grey})\" class=\"{class} {named}\" title=\"{}\"><a href=\"{address}\">{}</a></td>",
        escaped(&title),
        shown(place)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::results;

    #[test]
    fn every_number_leads_to_its_document_and_nothing_is_markup_that_should_be_text() {
        let results = results(&[("slice+ochiai", &[Some(1.0), None]), ("<b>", &[Some(2.0), Some(12.0)])]);
        let page = page(&results, &[], TieRule::Average, "../results/");
        assert!(page.contains("<a href=\"../results/items/f0/slice%2Bochiai.json\">1</a>"), "{page}");
        assert!(page.contains("title=\"a_b fails &amp; 100 % more\"><a href="), "{page}");
        assert!(page.contains("<li>f1, slice+ochiai: a_b fails &amp; 100 % more</li>"), "{page}");
        assert!(!page.contains("<b>") && page.contains("&lt;b&gt;"), "{page}");
        assert_eq!(page.matches("<a href=\"../results/items/").count(), 4);
    }
}
