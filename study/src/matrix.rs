//! Draw the matrix of faults and techniques: where the first faulty line stands, the darker, the earlier.

use plotters::coord::Shift;
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::documents::ItemDocument;
use crate::metrics::TieRule;
use crate::results::{StudyResults, TOP};

type Drawn = Result<(), Box<dyn std::error::Error>>;
type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Rows have names and numbers up to so many faults; more are drawn as thin stripes.
const NAMED: usize = 200;
const LEFT: i32 = 190;
const RIGHT: i32 = 16;
/// Room for the names of techniques, which are turned.
const TOP_ROOM: i32 = 150;
const LEGEND: i32 = 40;

/// The grey of a place among the first 1, 3, 5, 10, or after these.
const SHADES: [(u8, &str); 5] =
    [(0x22, "1"), (0x66, "2, 3"), (0xaa, "4, 5"), (0xdd, "6 to 10"), (0xff, "later")];

fn row_height(faults: usize) -> i32 {
    if faults <= NAMED { 17 } else { 3 }
}

/// The height of the picture.
pub(crate) fn height(results: &StudyResults) -> u32 {
    let faults = results.study.faults.len();
    (TOP_ROOM + LEGEND + row_height(faults) * faults as i32) as u32
}

/// The shade of a place in a ranking, and whether its text is white.
pub(crate) fn shade(place: f64) -> (u8, bool) {
    let step = TOP.iter().position(|&most| place <= most as f64).unwrap_or(TOP.len());
    let (grey, _) = SHADES[step];
    // Whether what is written on it has to be white.
    (grey, grey < 0x80)
}

/// A place as it is shown, to a tenth.
pub(crate) fn shown(place: f64) -> String {
    format!("{}", (place * 10.0).round() / 10.0)
}

/// Draws it on an area of this width.
pub(crate) fn matrix(area: &Area<'_>, results: &StudyResults, rule: TieRule, width: u32) -> Drawn {
    let (faults, techniques) = (&results.study.faults, &results.study.techniques);
    let (row, is_named) = (row_height(faults.len()), faults.len() <= NAMED);
    let column = (width as i32 - LEFT - RIGHT) / techniques.len().max(1) as i32;
    let index = results.index();
    for (number, technique) in techniques.iter().enumerate() {
        let x = LEFT + column * number as i32;
        let turned = font(13).transform(FontTransform::Rotate270);
        area.draw(&Text::new(technique.clone(), (x + column / 2 - 7, TOP_ROOM - 6), turned))?;
        for (place, fault) in faults.iter().enumerate() {
            let corner = (x, TOP_ROOM + row * place as i32);
            let item = index.get(&(fault.name.as_str(), technique.as_str())).copied();
            cell(area, item, rule, (corner, (column, row)), is_named)?;
        }
    }
    for (place, fault) in faults.iter().enumerate().filter(|_| is_named) {
        let at = (LEFT - 8, TOP_ROOM + row * place as i32 + row / 2);
        area.draw(&Text::new(fault.name.clone(), at, aligned(12, HPos::Right, BLACK)))?;
    }
    legend(area, TOP_ROOM + row * faults.len() as i32 + 12)
}

fn font(size: i32) -> FontDesc<'static> {
    ("sans-serif", size).into_font()
}

fn aligned(size: i32, horizontal: HPos, colour: RGBColor) -> TextStyle<'static> {
    font(size).color(&colour).pos(Pos::new(horizontal, VPos::Center))
}

fn cell(
    area: &Area<'_>,
    item: Option<&ItemDocument>,
    rule: TieRule,
    ((x, y), (width, height)): ((i32, i32), (i32, i32)),
    is_named: bool,
) -> Drawn {
    let metrics = item.and_then(|item| item.metrics.as_ref());
    let place = metrics.map(|metrics| metrics.first.by(rule));
    let (grey, is_dark) = place.map_or((0xff, false), shade);
    let corners = [(x, y), (x + width, y + height)];
    area.draw(&Rectangle::new(corners, RGBColor(grey, grey, grey).filled()))?;
    if !is_named {
        return Ok(());
    }
    area.draw(&Rectangle::new(corners, RGBColor(0x99, 0x99, 0x99).stroke_width(1)))?;
    let told = match (item, place) {
        (None, _) => return Ok(()),
        (Some(_), None) => "✗".to_owned(),
        (Some(_), Some(place)) => shown(place),
    };
    let ink = if is_dark { WHITE } else { BLACK };
    let middle = (x + width / 2, y + height / 2);
    area.draw(&Text::new(told, middle, aligned(11, HPos::Center, ink)))?;
    // What a technique names is underlined.
    if metrics.is_some_and(|metrics| metrics.hit) {
        let line = [(middle.0 - 9, y + height - 3), (middle.0 + 9, y + height - 3)];
        area.draw(&PathElement::new(line, ink.stroke_width(1)))?;
    }
    Ok(())
}

fn legend(area: &Area<'_>, y: i32) -> Drawn {
    let mut x = LEFT;
    for (grey, words) in SHADES {
        let corners = [(x, y), (x + 14, y + 14)];
        area.draw(&Rectangle::new(corners, RGBColor(grey, grey, grey).filled()))?;
        area.draw(&Rectangle::new(corners, BLACK.stroke_width(1)))?;
        area.draw(&Text::new(words, (x + 19, y + 7), aligned(12, HPos::Left, BLACK)))?;
        x += 80;
    }
    area.draw(&Text::new("lines read", (LEFT - 8, y + 7), aligned(12, HPos::Right, BLACK)))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earlier_the_darker() {
        let greys: Vec<u8> = [1.0, 1.5, 3.0, 5.0, 10.0, 10.5].map(|place| shade(place).0).to_vec();
        assert_eq!((shown(44.0 / 3.0), shown(14.0)), ("14.7".into(), "14".into()));
        assert_eq!(greys, [0x22, 0x66, 0x66, 0xaa, 0xdd, 0xff]);
    }
}
