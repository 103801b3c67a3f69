//! The results of a study, and a summary of what each technique has achieved.

use std::collections::HashMap;

use crate::documents::{ItemDocument, MetricsDocument, PlaceDocument, StudyDocument};
use crate::folder::{FolderError, ResultsFolder};
use crate::metrics::TieRule;
use crate::statistics::{holm, mean, median, signed_rank_test, smaller_probability};

/// The numbers of lines that a reader may be willing to read.
pub const TOP: [usize; 4] = [1, 3, 5, 10];

/// All results of a study.
#[derive(Clone, Debug, Default)]
pub struct StudyResults {
    /// The study: its techniques and faults.
    pub study: StudyDocument,
    /// The results that are there, by fault, then by technique, both in the order of the study.
    pub items: Vec<ItemDocument>,
    /// The number of results that are not there yet.
    pub pending: usize,
}

/// The summary of a technique.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// The name of the technique.
    pub technique: String,
    /// The number of faults with a result.
    pub faults: usize,
    /// The number of faults for which it has failed.
    pub failed: usize,
    /// The number of faults for which a budget has ended it, or whose result is not confirmed; they are among those
    /// with a result.
    pub incomplete: usize,
    /// The number of faults of which it names a faulty line.
    pub hits: usize,
    /// The median number of lines that it names.
    pub suspects: Option<f64>,
    /// The median share of the executed lines that it names.
    pub share: Option<f64>,
    /// The median share of all lines that it names.
    pub share_of_all: Option<f64>,
    /// The numbers of faults whose first faulty line is among the first 1, 3, 5 and 10.
    pub top: [usize; 4],
    /// The mean place of the first faulty line.
    pub first: Option<f64>,
    /// The mean over faults of the mean place of all faulty lines.
    pub mean_place: Option<f64>,
    /// The mean share of lines read.
    pub exam: Option<f64>,
    /// The mean number of lines read in vain.
    pub wasted_effort: Option<f64>,
    /// The mean of 1 over the place.
    pub reciprocal_rank: Option<f64>,
    /// The median time, in seconds.
    pub seconds: Option<f64>,
}

/// The comparison of two techniques on the faults for which both have a result.
#[derive(Clone, Debug, PartialEq)]
pub struct TechniquePair {
    /// The name of the one.
    pub one: String,
    /// The name of the other.
    pub other: String,
    /// The number of faults with both results.
    pub pairs: usize,
    /// The number of faults for which the one reads fewer lines.
    pub wins: usize,
    /// The number of faults for which it reads more.
    pub losses: usize,
    /// The p-value of Wilcoxon's signed-rank test over the shares of lines read, two-sided.
    pub p: f64,
    /// The p-value, corrected by Holm for the number of comparisons.
    pub corrected: f64,
    /// The effect size: the probability that the one reads less, above 0.5 if it tends to be better.
    pub effect: Option<f64>,
}

impl PlaceDocument {
    /// The number by a rule.
    pub fn by(&self, rule: TieRule) -> f64 {
        match rule {
            TieRule::Best => self.best,
            TieRule::Average => self.average,
            TieRule::Worst => self.worst,
        }
    }
}

impl MetricsDocument {
    /// The number of named lines, as a share of those that the failing run has executed. It is above 1 where other
    /// failing tests have executed more.
    pub fn share_of_executed(&self) -> f64 {
        self.suspects as f64 / self.lines_executed.max(1) as f64
    }

    /// The number of named lines, as a share of all that can be executed.
    pub fn share_of_all(&self) -> f64 {
        self.suspects as f64 / self.lines.max(1) as f64
    }
}

impl StudyResults {
    /// Reads all results, without their rankings, which may take much memory.
    ///
    /// # Errors
    /// If one cannot be read.
    pub fn read(folder: &ResultsFolder, mut study: StudyDocument) -> Result<StudyResults, FolderError> {
        // From here on what was taken in is a technique like any other.
        study.techniques.append(&mut study.imported);
        let (mut items, mut pending) = (Vec::new(), 0);
        for fault in &study.faults {
            for technique in study.techniques.iter().filter(|technique| fault.asks(technique)) {
                let item = folder.item(&fault.name, technique)?;
                match item.filter(|item| item.key == fault.key) {
                    Some(item) => items.push(ItemDocument { ranking: Vec::new(), ..item }),
                    None => pending += 1,
                }
            }
        }
        Ok(StudyResults { study, items, pending })
    }

    /// The results of a technique.
    pub fn of<'r>(&'r self, technique: &'r str) -> impl Iterator<Item = &'r ItemDocument> + Clone {
        self.items.iter().filter(move |item| item.technique == technique)
    }

    /// The results by fault and technique.
    pub fn index(&self) -> HashMap<(&str, &str), &ItemDocument> {
        self.items.iter().map(|item| ((item.fault.as_str(), item.technique.as_str()), item)).collect()
    }

    /// The groups of faults, in order.
    pub fn groups(&self) -> Vec<&str> {
        let mut groups: Vec<&str> = Vec::new();
        for fault in &self.study.faults {
            if !groups.contains(&fault.group.as_str()) {
                groups.push(&fault.group);
            }
        }
        groups
    }

    /// The summaries of the techniques; on the faults of one group, or on all.
    pub fn summaries(&self, rule: TieRule, group: Option<&str>) -> Vec<Summary> {
        let of_group = |item: &&ItemDocument| group.is_none_or(|group| item.group == group);
        let summary = |technique: &String| {
            let items: Vec<&ItemDocument> = self.of(technique).filter(of_group).collect();
            summary(technique, &items, rule)
        };
        self.study.techniques.iter().map(summary).collect()
    }

    /// The comparisons of each pair of techniques.
    pub fn comparisons(&self, rule: TieRule) -> Vec<TechniquePair> {
        let techniques = &self.study.techniques;
        let index = self.index();
        let mut comparisons: Vec<TechniquePair> = Vec::new();
        for (number, one) in techniques.iter().enumerate() {
            for other in &techniques[number + 1..] {
                comparisons.push(self.comparison(one, other, rule, &index));
            }
        }
        let corrected = holm(&comparisons.iter().map(|one| one.p).collect::<Vec<f64>>());
        for (comparison, p) in comparisons.iter_mut().zip(corrected) {
            comparison.corrected = p;
        }
        comparisons
    }

    fn comparison(
        &self,
        one: &str,
        other: &str,
        rule: TieRule,
        index: &HashMap<(&str, &str), &ItemDocument>,
    ) -> TechniquePair {
        let exam = |item: &ItemDocument| item.metrics.as_ref().map(|metrics| metrics.exam.by(rule));
        let pair = |item: &ItemDocument| {
            let same = index.get(&(item.fault.as_str(), other))?;
            Some((exam(item)?, exam(same)?))
        };
        let pairs: Vec<(f64, f64)> = self.of(one).filter_map(pair).collect();
        let (ones, others): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
        let p = signed_rank_test(&pairs).p;
        TechniquePair {
            one: one.to_owned(),
            other: other.to_owned(),
            pairs: pairs.len(),
            wins: pairs.iter().filter(|(one, other)| one < other).count(),
            losses: pairs.iter().filter(|(one, other)| one > other).count(),
            p,
            corrected: p,
            effect: smaller_probability(&ones, &others),
        }
    }
}

fn summary(technique: &str, items: &[&ItemDocument], rule: TieRule) -> Summary {
    let found: Vec<&MetricsDocument> = items.iter().filter_map(|item| item.metrics.as_ref()).collect();
    let values = |of: &dyn Fn(&MetricsDocument) -> f64| found.iter().map(|one| of(one)).collect::<Vec<f64>>();
    let is_cut = |item: &&&ItemDocument| item.metrics.is_some() && item.status != "complete";
    // What other tools took is not known.
    let has_cost = |item: &&&ItemDocument| item.metrics.is_some() && !item.technique.contains('@');
    let seconds: Vec<f64> =
        items.iter().filter(|item| has_cost(item)).map(|item| item.cost.seconds).collect();
    Summary {
        technique: technique.to_owned(),
        faults: found.len(),
        failed: items.len() - found.len(),
        incomplete: items.iter().filter(is_cut).count(),
        hits: found.iter().filter(|one| one.hit).count(),
        suspects: median(&values(&|one| one.suspects as f64)),
        share: median(&values(&MetricsDocument::share_of_executed)),
        share_of_all: median(&values(&MetricsDocument::share_of_all)),
        top: TOP.map(|top| found.iter().filter(|one| one.first.by(rule) <= top as f64).count()),
        first: mean(&values(&|one| one.first.by(rule))),
        mean_place: mean(&values(&|one| one.mean.by(rule))),
        exam: mean(&values(&|one| one.exam.by(rule))),
        wasted_effort: mean(&values(&|one| one.wasted_effort.by(rule))),
        reciprocal_rank: mean(&values(&|one| one.reciprocal_rank.by(rule))),
        seconds: median(&seconds),
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::documents::{CostDocument, FaultDocument};

    /// Results for tests: of each technique the places of the first faulty line, of 20 lines; `None` where it has
    /// failed.
    pub(crate) fn results(techniques: &[(&str, &[Option<f64>])]) -> StudyResults {
        let mut items = Vec::new();
        let count = techniques[0].1.len();
        for fault in 0..count {
            for (technique, places) in techniques {
                let metrics = places[fault].map(|place| {
                    let all = |value| PlaceDocument { best: value, average: value, worst: value };
                    MetricsDocument {
                        lines: 20,
                        lines_executed: 10,
                        suspects: 5,
                        hit: place <= 5.0,
                        first: all(place),
                        mean: all(place),
                        exam: all(place / 20.0),
                        wasted_effort: all(place - 1.0),
                        reciprocal_rank: all(1.0 / place),
                        ..MetricsDocument::default()
                    }
                });
                items.push(ItemDocument {
                    fault: format!("f{fault}"),
                    technique: (*technique).to_owned(),
                    status: if metrics.is_some() { "complete" } else { "failed" }.into(),
                    why: metrics.is_none().then(|| "a_b fails & 100 % more".into()),
                    metrics,
                    cost: CostDocument { seconds: 0.5, events: 100, ..CostDocument::default() },
                    ..ItemDocument::default()
                });
            }
        }
        let name = |number| FaultDocument { name: format!("f{number}"), ..FaultDocument::default() };
        let study = StudyDocument {
            techniques: techniques.iter().map(|(technique, _)| (*technique).to_owned()).collect(),
            faults: (0..count).map(name).collect(),
            ..StudyDocument::default()
        };
        StudyResults { study, items, pending: 0 }
    }

    #[test]
    fn a_summary_is_what_it_is_by_hand() {
        let results = results(&[("a", &[Some(1.0), Some(4.0), Some(10.0), None])]);
        let summary = &results.summaries(TieRule::Average, None)[0];
        assert_eq!((summary.faults, summary.failed, summary.hits, summary.top), (3, 1, 2, [1, 1, 2, 3]));
        assert_eq!((summary.exam, summary.wasted_effort), (Some(0.25), Some(4.0)));
        assert_eq!(summary.reciprocal_rank, Some((1.0 + 0.25 + 0.1) / 3.0));
        assert_eq!((summary.suspects, summary.share), (Some(5.0), Some(0.5)));
    }

    #[test]
    fn techniques_are_compared_on_the_faults_that_both_have() {
        let one = [Some(1.0), Some(2.0), Some(3.0), None, Some(4.0)];
        let other = [Some(2.0), Some(4.0), Some(6.0), Some(1.0), Some(4.0)];
        let results = results(&[("a", &one), ("b", &other)]);
        let comparison = &results.comparisons(TieRule::Average)[0];
        assert_eq!((comparison.pairs, comparison.wins, comparison.losses), (4, 3, 0));
        // Three differences of one sign: 2 of 8.
        assert_eq!((comparison.p, comparison.corrected), (0.25, 0.25));
        // 1, 2, 3, 4 against 2, 4, 6, 4: wins 4, 3.5, 3, 2 (one half twice for 4).
        assert_eq!(comparison.effect, Some((4.0 + 3.5 + 3.0 + 2.0) / 16.0));
    }
}
