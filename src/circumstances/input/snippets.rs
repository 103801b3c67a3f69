//! Split the whole input into circumstances that count as one each: arguments, variables, lines.

use dd::Configuration;

use super::part::{Given, InputPart};
use super::unit_levels::Granularity;
use super::units::{Unit, Units};

/// The input, split into circumstances that are numbered through.
#[derive(Clone, Debug)]
pub struct Snippets {
    /// The units of each part.
    cuts: Vec<(Unit, Units)>,
    /// The part of each circumstance, and its number in it.
    places: Vec<(usize, usize)>,
}

impl Snippets {
    /// Splits the input. What can be left out as a whole is one circumstance: an argument, a variable, a
    /// file of a folder. Anything else is split into units: lines, if nothing else is asked for.
    pub fn of(given: &Given, granularity: Granularity) -> Snippets {
        let unit = |part: &InputPart| match granularity {
            _ if part.is_optional => Unit::Whole,
            Granularity::Auto => Unit::Lines,
            granularity => granularity.finest(),
        };
        let cut = |part| {
            let unit = unit(part);
            (unit, Units::of(part.content.as_deref().unwrap_or_default(), unit))
        };
        let cuts: Vec<(Unit, Units)> = given.parts.iter().map(cut).collect();
        let numbered = cuts.iter().enumerate();
        let places = numbered.flat_map(|(part, (_, units))| (0..units.len()).map(move |unit| (part, unit)));
        Snippets { places: places.collect(), cuts }
    }

    /// The number of circumstances.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// True if there is nothing that could be left out.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The unit into which each part is split.
    pub fn units(&self) -> Vec<Unit> {
        self.cuts.iter().map(|(unit, _)| *unit).collect()
    }

    /// The input with these circumstances only.
    pub fn choose(&self, given: &Given, these: impl IntoIterator<Item = usize>) -> Given {
        let mut chosen = vec![Vec::new(); self.cuts.len()];
        for (part, unit) in these.into_iter().map(|number| self.places[number]) {
            chosen[part].push(unit);
        }
        let parts = given.parts.iter().zip(&self.cuts).zip(chosen);
        let left = |((part, (unit, units)), chosen): ((&InputPart, &(Unit, Units)), Vec<usize>)| {
            if *unit == Unit::Whole {
                return if chosen.is_empty() { part.emptied() } else { part.clone() };
            }
            let chosen = Configuration::from_iter(units.len(), chosen);
            let text = part.content.as_deref().unwrap_or_default();
            InputPart { content: Some(units.join(text, &chosen).into()), ..part.clone() }
        };
        Given { parts: parts.map(left).collect() }
    }

    /// The name and the content of a circumstance.
    pub fn told(&self, given: &Given, number: usize) -> (String, Vec<u8>) {
        let (part, unit) = self.places[number];
        let name = &given.parts[part].name;
        let only = self.choose(given, [number]).parts[part].content.clone();
        let name = match self.cuts[part].0 {
            Unit::Whole => name.to_string(),
            kind => format!("{name}, {} {}", kind.name(), unit + 1),
        };
        (name, only.as_deref().unwrap_or_default().to_vec())
    }
}
