//! Plots of results: SVG that can be read in black and white. Lines are told apart by their dashes and marks.

use std::error::Error;

use plotters::coord::Shift;
use plotters::coord::ranged1d::SegmentedCoord;
use plotters::element::DashedPathElement;
use plotters::prelude::*;

use crate::documents::ItemDocument;
use crate::matrix;
use crate::metrics::TieRule;
use crate::results::StudyResults;
use crate::statistics::five_numbers;

/// A plot that was drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plot {
    /// The name of its file, without the ending.
    pub name: &'static str,
    /// The caption.
    pub caption: String,
    /// The picture as SVG.
    pub svg: String,
}

type Drawn = Result<(), Box<dyn Error>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// The plot that a page has as a table, whose numbers lead to their documents.
pub const MATRIX: &str = "matrix";

const FONT: (&str, i32) = ("sans-serif", 14);
const WIDTH: u32 = 760;

/// Draws all plots; none if there are no results.
///
/// # Errors
/// If one cannot be drawn.
pub fn plots(results: &StudyResults, rule: TieRule) -> Result<Vec<Plot>, Box<dyn Error>> {
    let techniques: Vec<&str> = results
        .study
        .techniques
        .iter()
        .map(String::as_str)
        .filter(|technique| results.of(technique).any(|item| item.metrics.is_some()))
        .collect();
    if techniques.is_empty() {
        return Ok(Vec::new());
    }
    let height = 26 * techniques.len() as u32 + 90;
    let draw = |height: u32, by: &dyn Fn(&Area<'_>) -> Drawn| -> Result<String, Box<dyn Error>> {
        let mut svg = String::new();
        let area = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        area.fill(&WHITE)?;
        by(&area)?;
        area.present()?;
        drop(area);
        Ok(svg)
    };
    Ok(vec![
        Plot {
            name: "found",
            caption: "Faults found over lines read: how many faults have a faulty line among the first ones".into(),
            svg: draw(440, &|area| found(area, results, &techniques, rule))?,
        },
        Plot {
            name: "sizes",
            caption: "Lines that a technique names: least, quartiles, greatest".into(),
            svg: draw(height, &|area| sizes(area, results, &techniques))?,
        },
        Plot {
            name: "exam",
            caption: "Share of lines read up to the first faulty one (EXAM): least, quartiles, greatest".into(),
            svg: draw(height, &|area| exams(area, results, &techniques, rule))?,
        },
        Plot {
            name: "time",
            caption: "Time over events of the failing run, both in logarithmic axes; of techniques that share their work the first one".into(),
            svg: draw(440, &|area| times(area, results, &techniques))?,
        },
        Plot {
            name: MATRIX,
            caption: "Lines read up to the first faulty one, by fault and technique: the darker, the earlier; underlined: the technique names it".into(),
            svg: draw(matrix::height(results), &|area| matrix::matrix(area, results, rule, WIDTH))?,
        },
    ])
}

/// The dashes of a line: the lengths drawn and left out, in pixels.
fn dashes(number: usize) -> (u32, u32) {
    [(600, 0), (8, 4), (2, 3), (12, 3), (4, 8), (16, 6)][number % 6]
}

/// Draws the legend: a column of marks and names, on the right; a technique has its number, and so its mark, in all
/// plots.
fn legend(area: &Area<'_>, techniques: &[(usize, &str)]) -> Drawn {
    for (place, &(number, technique)) in techniques.iter().enumerate() {
        let y = 30 + 22 * place as i32;
        let (dash, gap) = dashes(number);
        let line = DashedPathElement::new([(4, y), (32, y)], dash.min(28), gap, BLACK.stroke_width(1));
        area.draw(&line)?;
        draw_mark(area, number, (18, y))?;
        area.draw(&Text::new(technique.to_owned(), (40, y - 7), FONT))?;
    }
    Ok(())
}

/// Draws a mark of its own for each of a dozen techniques: five forms, filled or hollow, and two crosses.
fn draw_mark(area: &Area<'_>, number: usize, (x, y): (i32, i32)) -> Drawn {
    let (line, number) = (BLACK.stroke_width(1), number % 12);
    let outline: &[(i32, i32)] = match number / 2 {
        0 => &[(-4, -4), (4, -4), (4, 4), (-4, 4)],
        1 => &[(0, -5), (5, 4), (-5, 4)],
        2 => &[(0, -6), (6, 0), (0, 6), (-6, 0)],
        3 => &[(0, 5), (5, -4), (-5, -4)],
        4 => &[(-2, -5), (2, -5), (5, -2), (5, 2), (2, 5), (-2, 5), (-5, 2), (-5, -2)],
        _ => {
            let (a, b) = if number == 10 { ((4, 4), (4, -4)) } else { ((5, 0), (0, 5)) };
            for (dx, dy) in [a, b] {
                area.draw(&PathElement::new([(x - dx, y - dy), (x + dx, y + dy)], BLACK.stroke_width(2)))?;
            }
            return Ok(());
        }
    };
    let mut points: Vec<(i32, i32)> = outline.iter().map(|(dx, dy)| (x + dx, y + dy)).collect();
    area.draw(&Polygon::new(
        points.clone(),
        if number.is_multiple_of(2) { BLACK.filled() } else { WHITE.filled() },
    ))?;
    points.push(points[0]);
    area.draw(&PathElement::new(points, line))?;
    Ok(())
}

fn found(area: &Area<'_>, results: &StudyResults, techniques: &[&str], rule: TieRule) -> Drawn {
    let places = |technique: &str| -> Vec<f64> {
        let found = results.of(technique).filter_map(|item| item.metrics.as_ref());
        found.map(|metrics| metrics.first.by(rule)).collect()
    };
    let all: Vec<Vec<f64>> = techniques.iter().map(|technique| places(technique)).collect();
    let most = all.iter().flatten().copied().fold(1.0, f64::max).ceil();
    let faults = all.iter().map(Vec::len).max().unwrap_or(1);
    let (left, right) = area.split_horizontally(WIDTH - 190);
    let mut chart = ChartBuilder::on(&left)
        .margin(12)
        .x_label_area_size(42)
        .y_label_area_size(48)
        .build_cartesian_2d(0.0..most, 0.0..faults as f64)?;
    let whole = |value: &f64| format!("{value:.0}");
    chart
        .configure_mesh()
        .disable_mesh()
        .x_desc("lines read")
        .y_desc("faults found")
        .label_style(FONT)
        .x_label_formatter(&whole)
        .y_label_formatter(&whole)
        .draw()?;
    for (number, places) in all.iter().enumerate() {
        let count = |lines: f64| places.iter().filter(|place| **place <= lines).count() as f64;
        let lines: Vec<f64> = (0..=most as u32).map(f64::from).collect();
        let points: Vec<(f64, f64)> = lines.iter().map(|&lines| (lines, count(lines))).collect();
        let (dash, gap) = dashes(number);
        chart.draw_series(DashedLineSeries::new(points.clone(), dash, gap, BLACK.stroke_width(1)))?;
        // Marks of different techniques begin at different places, so that they do not hide each other.
        let distance = (points.len() / 6).max(1);
        for point in points.iter().skip(1 + number % distance).step_by(distance) {
            let at = chart.backend_coord(point);
            let origin = left.get_pixel_range();
            draw_mark(&left, number, (at.0 - origin.0.start, at.1 - origin.1.start))?;
        }
    }
    let numbered: Vec<(usize, &str)> = techniques.iter().copied().enumerate().collect();
    legend(&right, &numbered)
}

/// Draws boxes from the least to the greatest value, a technique a row.
fn boxes(area: &Area<'_>, techniques: &[&str], values: &[Vec<f64>], title: &str, most: f64) -> Drawn {
    let rows: SegmentedCoord<_> = (0..techniques.len() as u32).into_segmented();
    let mut chart = ChartBuilder::on(area)
        .margin(12)
        .x_label_area_size(42)
        .y_label_area_size(150)
        .build_cartesian_2d(0f32..most as f32, rows)?;
    let name = |row: &SegmentValue<u32>| match row {
        SegmentValue::CenterOf(row) | SegmentValue::Exact(row) => {
            techniques.iter().rev().nth(*row as usize).map_or_else(String::new, |name| (*name).to_owned())
        }
        SegmentValue::Last => String::new(),
    };
    chart
        .configure_mesh()
        .disable_mesh()
        .x_desc(title)
        .y_labels(techniques.len())
        .label_style(FONT)
        .y_label_formatter(&name)
        .draw()?;
    let origin = area.get_pixel_range();
    for (number, values) in values.iter().enumerate() {
        let Some(numbers) = five_numbers(values) else { continue };
        let row = SegmentValue::CenterOf((techniques.len() - 1 - number) as u32);
        let (_, y) = chart.backend_coord(&(0.0, row.clone()));
        let x = numbers.map(|number| chart.backend_coord(&(number as f32, row.clone())).0 - origin.0.start);
        draw_box(area, x, y - origin.1.start)?;
    }
    Ok(())
}

/// Draws a box from quartile to quartile, a thick line at the median, and lines to the least and the greatest value.
fn draw_box(area: &Area<'_>, [least, low, median, high, greatest]: [i32; 5], y: i32) -> Drawn {
    let (thin, thick) = (BLACK.stroke_width(1), BLACK.stroke_width(3));
    for (from, to) in [(least, low), (high, greatest)] {
        area.draw(&PathElement::new([(from, y), (to, y)], thin))?;
    }
    for end in [least, greatest] {
        area.draw(&PathElement::new([(end, y - 4), (end, y + 4)], thin))?;
    }
    area.draw(&Rectangle::new([(low, y - 7), (high, y + 7)], thin))?;
    area.draw(&PathElement::new([(median, y - 7), (median, y + 7)], thick))?;
    Ok(())
}

fn sizes(area: &Area<'_>, results: &StudyResults, techniques: &[&str]) -> Drawn {
    let of = |technique: &&str| -> Vec<f64> {
        let found = results.of(technique).filter_map(|item| item.metrics.as_ref());
        found.map(|metrics| metrics.suspects as f64).collect()
    };
    let values: Vec<Vec<f64>> = techniques.iter().map(of).collect();
    let most = values.iter().flatten().copied().fold(1.0, f64::max);
    boxes(area, techniques, &values, "lines named", most * 1.05)
}

fn exams(area: &Area<'_>, results: &StudyResults, techniques: &[&str], rule: TieRule) -> Drawn {
    let of = |technique: &&str| -> Vec<f64> {
        let found = results.of(technique).filter_map(|item| item.metrics.as_ref());
        found.map(|metrics| metrics.exam.by(rule)).collect()
    };
    let values: Vec<Vec<f64>> = techniques.iter().map(of).collect();
    boxes(area, techniques, &values, "share of lines read", 1.05)
}

fn times(area: &Area<'_>, results: &StudyResults, techniques: &[&str]) -> Drawn {
    let point = |item: &ItemDocument| {
        let (events, seconds) = (item.cost.events as f64, item.cost.seconds);
        (item.metrics.is_some() && events > 0.0 && seconds > 0.0).then_some((events, seconds))
    };
    let mut numbered: Vec<(usize, &str)> = Vec::new();
    let mut all: Vec<Vec<(f64, f64)>> = Vec::new();
    for (number, technique) in techniques.iter().enumerate() {
        let points: Vec<(f64, f64)> = results.of(technique).filter_map(point).collect();
        if !all.contains(&points) {
            numbered.push((number, technique));
            all.push(points);
        }
    }
    let range = |of: &dyn Fn(&(f64, f64)) -> f64| {
        let values = || all.iter().flatten().map(of);
        let (least, most) = (values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max));
        // Some room on both sides; and where there is nothing to show, an axis all the same.
        if least <= most { (least * 0.7)..(most * 1.5) } else { 0.1..10.0 }
    };
    let (left, right) = area.split_horizontally(WIDTH - 190);
    let mut chart = ChartBuilder::on(&left)
        .margin(12)
        .x_label_area_size(42)
        .y_label_area_size(60)
        .build_cartesian_2d(range(&|point| point.0).log_scale(), range(&|point| point.1).log_scale())?;
    // Of the many ticks of a logarithmic axis those at 1, 2 and 5 have room for a number.
    let short = |value: &f64| match format!("{value:e}").chars().next() {
        Some('1' | '2' | '5') => format!("{value}"),
        _ => String::new(),
    };
    chart
        .configure_mesh()
        .disable_mesh()
        .x_desc("events")
        .y_desc("seconds")
        .label_style(FONT)
        .x_label_formatter(&short)
        .y_label_formatter(&short)
        .draw()?;
    for (&(number, _), points) in numbered.iter().zip(&all) {
        for point in points {
            let at = chart.backend_coord(point);
            let origin = left.get_pixel_range();
            draw_mark(&left, number, (at.0 - origin.0.start, at.1 - origin.1.start))?;
        }
    }
    legend(&right, &numbered)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::results;

    #[test]
    fn every_plot_is_drawn_without_colours_and_names_all_techniques() {
        let places: Vec<Option<f64>> = (1..=9).map(|place| Some(f64::from(place))).collect();
        let results = results(&[("alpha", &places), ("beta", &[None; 9]), ("gamma", &places)]);
        let plots = plots(&results, TieRule::Average).expect("drawn");
        assert_eq!(
            plots.iter().map(|plot| plot.name).collect::<Vec<_>>(),
            ["found", "sizes", "exam", "time", MATRIX]
        );
        for plot in &plots {
            assert!(plot.svg.starts_with("<svg") && plot.svg.ends_with("</svg>\n"), "{}", plot.svg);
            // A technique without results is in the matrix only.
            assert!(plot.svg.contains("alpha"), "{}", plot.name);
            assert_eq!(plot.svg.contains("beta"), plot.name == MATRIX, "{}", plot.name);
            // Both took the same time for the same events: one mark is enough.
            assert_eq!(plot.svg.contains("gamma"), plot.name != "time", "{}", plot.name);
            let colours = plot.svg.split("=\"#").skip(1).map(|rest| &rest[..6]);
            for colour in colours {
                assert!(
                    colour[..2] == colour[2..4] && colour[..2] == colour[4..],
                    "{}: #{colour}",
                    plot.name
                );
            }
        }
    }

    #[test]
    fn of_nothing_there_is_no_plot() {
        let results = results(&[("alpha", &[None])]);
        assert_eq!(plots(&results, TieRule::Average).expect("nothing to draw"), []);
    }
}
