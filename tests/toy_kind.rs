//! A further kind of circumstance takes one file: the lines of a text, of which a failure needs some.

use dd::{Algorithm, Cancellation, Configuration, Independent, Level, Outcome, Test};
use stripe::circumstances::{
    Before, Kind, NextPhase, PhaseId, PhaseStart, PhaseTitle, Status, TestError, Trial,
};
use stripe::oracle::Evidence;
use stripe::session::driver::{Obstacle, SearchMeans, Strategy, search};
use stripe::session::memory::Memory;
use stripe::session::watcher::NoWatcher;
use tracer::Processors;

/// The lines of a text, and what fails for some of them.
struct Lines<'t> {
    lines: Vec<&'t str>,
    fails: fn(&str) -> bool,
    workers: usize,
}

/// Tries the text without some of its lines.
struct Without<'t> {
    lines: Vec<&'t str>,
    fails: fn(&str) -> bool,
}

impl Kind for Lines<'_> {
    type Space = Independent;
    type Trial<'t>
        = Without<'t>
    where
        Self: 't;

    fn next(&mut self, before: Option<Before<'_, Independent>>) -> Option<NextPhase<Independent>> {
        let title = PhaseTitle { id: PhaseId(b'l'), what: "lines".into(), unit: "line" };
        let space = Independent::new(self.lines.len());
        before.is_none().then_some(NextPhase { title, space, start: PhaseStart::Everything })
    }

    fn trials<'t>(&'t mut self, _: &'t Independent) -> Vec<Without<'t>> {
        (0..self.workers).map(|_| Without { lines: self.lines.clone(), fails: self.fails }).collect()
    }
}

impl Test for Without<'_> {
    type Evidence = Evidence;
    type Error = TestError;

    fn test(&mut self, chosen: &Configuration, _: &Cancellation) -> Result<(Outcome, Evidence), TestError> {
        let text: Vec<&str> = chosen.iter().map(|line| self.lines[line]).collect();
        let outcome = if (self.fails)(&text.join("\n")) { Outcome::Fail } else { Outcome::Pass };
        Ok((outcome, Evidence::new(outcome, format!("{} lines", text.len()))))
    }
}

impl Trial for Without<'_> {
    fn rehearse(&mut self, chosen: &Configuration) -> Result<Evidence, TestError> {
        Ok(self.test(chosen, &Cancellation::default())?.1)
    }

    fn confirm(&mut self, chosen: &Configuration) -> Result<Evidence, TestError> {
        self.rehearse(chosen)
    }
}

#[test]
fn a_text_is_reduced_to_its_needed_lines_by_any_number_of_workers() {
    let text = "one\n(\ntwo\nthree\n)\nfour\nfive\nsix\nseven";
    let fails = |text: &str| text.contains('(') && text.contains(')');
    for (workers, algorithm) in [(1, Algorithm::Sweep), (3, Algorithm::Sweep), (2, Algorithm::Ddmin)] {
        let (processors, memory) = (Processors::available(), Memory::default());
        let means = SearchMeans { processors: &processors, memory: &memory };
        let mut lines = Lines { lines: text.lines().collect(), fails, workers };
        let strategy = Strategy { algorithm, max_tests: None };
        let found = search(&mut lines, strategy, means, &mut NoWatcher).expect("it fails");
        assert_eq!((found.status(), found.last().level), (Status::Minimal, Level::Members));
        assert_eq!(found.last().configuration.iter().collect::<Vec<_>>(), [1, 4]);
        let mut never = Lines { fails: |_| false, ..lines };
        let refused = search(&mut never, strategy, means, &mut NoWatcher);
        assert!(matches!(refused, Err(Obstacle::NotReplayable(_))));
    }
}
