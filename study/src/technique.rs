//! The techniques that a study compares, and the work that each of them needs.

use std::fmt;

use crate::formula::Formula;
use crate::spectra::CoverageUnit;
use crate::times::SearchBudget;

/// A technique; or several, of which each breaks the ties of those before it: `slice+ochiai`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Technique {
    /// The techniques in order; at least one.
    pub parts: Vec<BudgetedTechnique>,
}

/// One technique, perhaps with a budget of its own: `slice:10s`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BudgetedTechnique {
    /// The technique.
    pub technique: SingleTechnique,
    /// The budget of its search; `None`: that of the fault.
    pub budget: Option<SearchBudget>,
}

/// One technique by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SingleTechnique {
    /// The lines of the critical slice.
    Slice(SliceControl),
    /// The lines of the critical slice that are needed for their effect, without its decisions.
    SliceEffect,
    /// The lines of a dynamic slice.
    Dynamic(DependenceKind),
    /// The lines at which a change of the run makes its output right.
    Locate,
    /// The same, with the tests of the fault.
    LocateTests,
    /// The ranking of a formula over what tests have executed.
    Spectrum(Formula, CoverageUnit),
}

/// The control of a critical slice: who decides where a run goes, as `stripe run --control` has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SliceControl {
    /// First the program, then the trace.
    Both,
    /// The program's branches.
    Program,
    /// The trace.
    Trace,
}

/// The dependences that a dynamic slice follows, as `stripe slice --kind` has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DependenceKind {
    /// Data and control.
    Full,
    /// Data alone.
    Data,
    /// Potential ones, too.
    Relevant,
}

/// The work that gives results for one technique or several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Work {
    /// The kind of work.
    pub kind: WorkKind,
    /// The budget of its search; `None`: that of the fault.
    pub budget: Option<SearchBudget>,
}

/// A kind of work. In this order it is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WorkKind {
    /// Running and recording the tests. Everything else builds on it.
    Spectra,
    /// `stripe slice`.
    Dynamic(DependenceKind),
    /// `stripe run`.
    Slice(SliceControl),
    /// `stripe locate`.
    Locate,
    /// `stripe locate --tests`.
    LocateTests,
}

impl SliceControl {
    /// All of them.
    pub const ALL: [SliceControl; 3] = [SliceControl::Both, SliceControl::Program, SliceControl::Trace];

    /// The name, as the option of stripe has it.
    pub fn name(self) -> &'static str {
        match self {
            SliceControl::Both => "both",
            SliceControl::Program => "program",
            SliceControl::Trace => "trace",
        }
    }

    /// The technique or the work that slices under this control.
    fn slice(self) -> &'static str {
        match self {
            SliceControl::Both => "slice",
            SliceControl::Program => "slice-program",
            SliceControl::Trace => "slice-trace",
        }
    }

    /// Reads the name of a control.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn parse(text: &str) -> Result<SliceControl, String> {
        let found = SliceControl::ALL.into_iter().find(|one| one.name() == text.trim());
        found.ok_or_else(|| format!("there is no control `{text}`: take both, program, trace"))
    }
}

impl fmt::Display for SliceControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl DependenceKind {
    /// All of them.
    pub const ALL: [DependenceKind; 3] =
        [DependenceKind::Full, DependenceKind::Data, DependenceKind::Relevant];

    /// The name, as the option of stripe has it.
    pub fn name(self) -> &'static str {
        match self {
            DependenceKind::Full => "full",
            DependenceKind::Data => "data",
            DependenceKind::Relevant => "relevant",
        }
    }

    /// The technique or the work that follows these dependences.
    fn slice(self) -> &'static str {
        match self {
            DependenceKind::Full => "dynamic",
            DependenceKind::Data => "dynamic-data",
            DependenceKind::Relevant => "dynamic-relevant",
        }
    }
}

impl SingleTechnique {
    /// All techniques.
    pub fn all() -> Vec<SingleTechnique> {
        use SingleTechnique::{Dynamic, Locate, LocateTests, Slice, SliceEffect, Spectrum};
        let spectrum = |unit| Formula::ALL.map(|formula| Spectrum(formula, unit));
        let units = [CoverageUnit::Line, CoverageUnit::Statement];
        let slices = SliceControl::ALL.map(Slice).into_iter().chain([SliceEffect]);
        slices
            .chain(DependenceKind::ALL.map(Dynamic))
            .chain([Locate, LocateTests])
            .chain(units.into_iter().flat_map(spectrum))
            .collect()
    }

    /// The name in manifests and tables.
    pub fn name(self) -> String {
        match self {
            SingleTechnique::Slice(control) => control.slice().into(),
            SingleTechnique::SliceEffect => "slice-effect".into(),
            SingleTechnique::Dynamic(kind) => kind.slice().into(),
            SingleTechnique::Locate => "locate".into(),
            SingleTechnique::LocateTests => "locate-tests".into(),
            SingleTechnique::Spectrum(formula, CoverageUnit::Line) => formula.name().into(),
            SingleTechnique::Spectrum(formula, CoverageUnit::Statement) => {
                format!("{}-statement", formula.name())
            }
        }
    }

    /// Reads a name.
    ///
    /// # Errors
    /// If there is no technique of that name.
    pub fn parse(name: &str) -> Result<SingleTechnique, String> {
        let all = SingleTechnique::all();
        all.iter().copied().find(|one| one.name() == name).ok_or_else(|| {
            let names: Vec<String> = all.iter().map(|one| one.name()).collect();
            format!("there is no technique `{name}`: take {}", names.join(", "))
        })
    }

    /// The work that it needs.
    pub fn work(self) -> WorkKind {
        match self {
            SingleTechnique::Slice(control) => WorkKind::Slice(control),
            SingleTechnique::SliceEffect => WorkKind::Slice(SliceControl::Both),
            SingleTechnique::Dynamic(kind) => WorkKind::Dynamic(kind),
            SingleTechnique::Locate => WorkKind::Locate,
            SingleTechnique::LocateTests => WorkKind::LocateTests,
            SingleTechnique::Spectrum(..) => WorkKind::Spectra,
        }
    }

    /// Whether it is a slice: its result is events of the failing run.
    pub fn is_slice(self) -> bool {
        use SingleTechnique::{Dynamic, Slice, SliceEffect};
        matches!(self, Slice(_) | SliceEffect | Dynamic(_))
    }

    /// Whether it searches, so that a budget can end it.
    fn searches(self) -> bool {
        !matches!(self, SingleTechnique::Spectrum(..) | SingleTechnique::Dynamic(_))
    }
}

impl BudgetedTechnique {
    /// The work that it needs.
    pub fn work(self) -> Work {
        Work { kind: self.technique.work(), budget: self.budget }
    }

    fn parse(text: &str) -> Result<BudgetedTechnique, String> {
        let (name, budget) = match text.trim().split_once(':') {
            Some((name, budget)) => (name, Some(SearchBudget::parse(budget)?)),
            None => (text.trim(), None),
        };
        let technique = SingleTechnique::parse(name)?;
        match budget {
            Some(_) if !technique.searches() => {
                Err(format!("`{name}` does not search, and has no budget: leave `:` and the rest out"))
            }
            _ => Ok(BudgetedTechnique { technique, budget }),
        }
    }

    /// It under this control and with this budget, unless it has its own.
    fn with(self, control: SliceControl, budget: Option<SearchBudget>) -> BudgetedTechnique {
        let technique = match self.technique {
            SingleTechnique::Slice(SliceControl::Both) => SingleTechnique::Slice(control),
            other => other,
        };
        BudgetedTechnique { technique, budget: self.budget.or(budget.filter(|_| technique.searches())) }
    }
}

impl From<SingleTechnique> for BudgetedTechnique {
    fn from(technique: SingleTechnique) -> BudgetedTechnique {
        BudgetedTechnique { technique, budget: None }
    }
}

impl fmt::Display for BudgetedTechnique {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.technique.name())?;
        self.budget.map_or(Ok(()), |budget| write!(f, ":{budget}"))
    }
}

impl Technique {
    /// The techniques for a manifest without a list of them.
    pub fn usual() -> Vec<Technique> {
        let spectrum = |formula| SingleTechnique::Spectrum(formula, CoverageUnit::Line);
        let single = [
            SingleTechnique::Slice(SliceControl::Both),
            SingleTechnique::SliceEffect,
            SingleTechnique::Dynamic(DependenceKind::Full),
            SingleTechnique::Locate,
        ];
        let all = single.into_iter().chain(Formula::ALL.map(spectrum));
        all.map(|one| Technique { parts: vec![one.into()] }).collect()
    }

    /// Reads `ochiai`, `slice+ochiai` or `slice:10s+ochiai`.
    ///
    /// # Errors
    /// If there is no technique of that name.
    pub fn parse(text: &str) -> Result<Technique, String> {
        Ok(Technique { parts: text.split('+').map(BudgetedTechnique::parse).collect::<Result<_, _>>()? })
    }

    /// The techniques that a matrix makes of this one: `slice` under each control, and what searches with each budget. A
    /// part that has a control or a budget of its own keeps it. An empty list stands for what is usual.
    pub fn in_matrix(&self, controls: &[SliceControl], budgets: &[SearchBudget]) -> Vec<Technique> {
        let controls: Vec<SliceControl> =
            if controls.is_empty() { vec![SliceControl::Both] } else { controls.into() };
        let budgets: Vec<Option<SearchBudget>> =
            if budgets.is_empty() { vec![None] } else { budgets.iter().copied().map(Some).collect() };
        let mut techniques = Vec::new();
        for control in controls {
            for &budget in &budgets {
                let part = |part: &BudgetedTechnique| part.with(control, budget);
                let technique = Technique { parts: self.parts.iter().map(part).collect() };
                if !techniques.contains(&technique) {
                    techniques.push(technique);
                }
            }
        }
        techniques
    }

    /// All the work that it needs.
    pub fn works(&self) -> Vec<Work> {
        let mut works: Vec<Work> = self.parts.iter().map(|part| part.work()).collect();
        works.push(Work::SPECTRA);
        works.sort();
        works.dedup();
        works
    }
}

impl fmt::Display for Technique {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.parts.iter().map(ToString::to_string).collect();
        f.write_str(&names.join("+"))
    }
}

impl Work {
    /// Running and recording the tests.
    pub const SPECTRA: Work = Work { kind: WorkKind::Spectra, budget: None };

    /// The name of its file in a results folder.
    pub fn name(self) -> String {
        let kind = match self.kind {
            WorkKind::Spectra => "spectra",
            WorkKind::Slice(control) => control.slice(),
            WorkKind::Dynamic(kind) => kind.slice(),
            WorkKind::Locate => "locate",
            WorkKind::LocateTests => "locate-tests",
        };
        self.budget.map_or_else(|| kind.to_owned(), |budget| format!("{kind}:{budget}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> Technique {
        Technique::parse(text).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn every_name_is_read_back_as_the_technique_that_it_names() {
        for one in SingleTechnique::all() {
            assert_eq!(Technique::parse(&one.name()), Ok(Technique { parts: vec![one.into()] }));
        }
        let both = named("slice + ochiai");
        assert_eq!((both.to_string().as_str(), both.works().len()), ("slice+ochiai", 2));
        assert!(Technique::parse("ochia").is_err_and(|error| error.contains("take slice, slice-program")));
    }

    #[test]
    fn a_budget_belongs_to_the_name_and_to_the_work() {
        for (text, told) in [
            ("slice:10s", "slice:10s"),
            ("slice:0.5m+ochiai", "slice:30s+ochiai"),
            ("locate:1500ms", "locate:1500ms"),
            ("slice-trace:200-tests", "slice-trace:200-tests"),
        ] {
            assert_eq!(named(text).to_string(), told);
        }
        let works: Vec<String> = named("slice:10s+locate").works().into_iter().map(Work::name).collect();
        assert_eq!(works, ["spectra", "slice:10s", "locate"]);
        for wrong in [
            "slice:",
            "slice:0s",
            "slice:0-tests",
            "slice:10",
            "slice:ten",
            "slice:-1s",
            "ochiai:10s",
            "dynamic:1s",
        ] {
            assert!(Technique::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_matrix_has_each_control_and_each_budget_once_and_keeps_what_is_named() {
        let of = |text: &str| -> Vec<String> {
            let budgets = ["10s", "200-tests"].map(|text| SearchBudget::parse(text).expect("a budget"));
            let matrix = named(text).in_matrix(&[SliceControl::Both, SliceControl::Trace], &budgets);
            matrix.iter().map(ToString::to_string).collect()
        };
        assert_eq!(of("slice"), ["slice:10s", "slice:200-tests", "slice-trace:10s", "slice-trace:200-tests"]);
        assert_eq!(of("slice-program:1s+ochiai"), ["slice-program:1s+ochiai"]);
        assert_eq!(of("slice-effect"), ["slice-effect:10s", "slice-effect:200-tests"]);
        assert_eq!(of("ochiai"), ["ochiai"]);
        assert_eq!(named("slice+ochiai").in_matrix(&[], &[]), [named("slice+ochiai")]);
    }
}
