//! The techniques that a study compares, and the work that each of them needs.

use std::fmt;

use crate::formula::Formula;
use crate::spectra::CoverageUnit;

/// A technique; or several, of which each breaks the ties of those before it: `slice+ochiai`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Technique {
    /// The techniques in order; at least one.
    pub parts: Vec<SingleTechnique>,
}

/// One technique by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SingleTechnique {
    /// The lines of the critical slice, with its decisions.
    Slice,
    /// The lines of that slice that are needed for their effect.
    SliceEffect,
    /// The lines of the critical slice where the trace states the control flow.
    SliceTrace,
    /// The lines at which a change of the run makes its output right.
    Locate,
    /// The ranking of a formula over what tests have executed.
    Spectrum(Formula, CoverageUnit),
}

/// The work that gives results for one technique or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Work {
    /// Running and recording the tests. Everything else builds on it.
    Spectra,
    /// `stripe run --control both`.
    Slice,
    /// `stripe run --control trace`.
    SliceTrace,
    /// `stripe locate`.
    Locate,
}

impl SingleTechnique {
    /// All techniques.
    pub fn all() -> Vec<SingleTechnique> {
        use SingleTechnique::{Locate, Slice, SliceEffect, SliceTrace, Spectrum};
        let spectrum = |unit| Formula::ALL.map(|formula| Spectrum(formula, unit));
        let units = [CoverageUnit::Line, CoverageUnit::Statement];
        [Slice, SliceEffect, SliceTrace, Locate]
            .into_iter()
            .chain(units.into_iter().flat_map(spectrum))
            .collect()
    }

    /// The name in manifests and tables.
    pub fn name(self) -> String {
        match self {
            SingleTechnique::Slice => "slice".into(),
            SingleTechnique::SliceEffect => "slice-effect".into(),
            SingleTechnique::SliceTrace => "slice-trace".into(),
            SingleTechnique::Locate => "locate".into(),
            SingleTechnique::Spectrum(formula, CoverageUnit::Line) => formula.name().into(),
            SingleTechnique::Spectrum(formula, CoverageUnit::Statement) => {
                format!("{}-statement", formula.name())
            }
        }
    }

    /// The work that it needs.
    pub fn work(self) -> Work {
        match self {
            SingleTechnique::Slice | SingleTechnique::SliceEffect => Work::Slice,
            SingleTechnique::SliceTrace => Work::SliceTrace,
            SingleTechnique::Locate => Work::Locate,
            SingleTechnique::Spectrum(..) => Work::Spectra,
        }
    }
}

impl Technique {
    /// The techniques for a manifest without a list of them.
    pub fn usual() -> Vec<Technique> {
        let spectrum = |formula| SingleTechnique::Spectrum(formula, CoverageUnit::Line);
        let single = [SingleTechnique::Slice, SingleTechnique::SliceEffect, SingleTechnique::Locate];
        let all = single.into_iter().chain(Formula::ALL.map(spectrum));
        all.map(|one| Technique { parts: vec![one] }).collect()
    }

    /// Reads `ochiai` or `slice+ochiai`.
    ///
    /// # Errors
    /// If there is no technique of that name.
    pub fn parse(text: &str) -> Result<Technique, String> {
        let all = SingleTechnique::all();
        let part = |name: &str| {
            all.iter().copied().find(|one| one.name() == name.trim()).ok_or_else(|| {
                let names: Vec<String> = all.iter().map(|one| one.name()).collect();
                format!("there is no technique `{}`: take {}", name.trim(), names.join(", "))
            })
        };
        Ok(Technique { parts: text.split('+').map(part).collect::<Result<_, _>>()? })
    }

    /// All the work that it needs.
    pub fn works(&self) -> Vec<Work> {
        let mut works: Vec<Work> = self.parts.iter().map(|part| part.work()).collect();
        works.push(Work::Spectra);
        works.sort();
        works.dedup();
        works
    }
}

impl fmt::Display for Technique {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.parts.iter().map(|part| part.name()).collect();
        f.write_str(&names.join("+"))
    }
}

impl Work {
    /// The name of its file in a results folder.
    pub fn name(self) -> &'static str {
        match self {
            Work::Spectra => "spectra",
            Work::Slice => "slice",
            Work::SliceTrace => "slice-trace",
            Work::Locate => "locate",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_read_back_as_the_technique_that_it_names() {
        for one in SingleTechnique::all() {
            assert_eq!(Technique::parse(&one.name()), Ok(Technique { parts: vec![one] }));
        }
        let both = Technique::parse("slice + ochiai").expect("two techniques");
        assert_eq!((both.to_string().as_str(), both.works().len()), ("slice+ochiai", 2));
        assert!(Technique::parse("ochia").is_err_and(|error| error.contains("take slice, slice-effect")));
    }
}
