//! Say in words which executions of a line are needed, where there are too many for a sign each:
//! `executions 1 to 400: needed; 401: not`.
//!
//! A few stretches are listed one after the other. Where there are more, what is rare is named, and the
//! rest is "all others": a loop mostly does the same, and the exceptions are what there is to see.

use super::executions::{Executions, Mark};

/// The number of stretches that are listed in their order.
const FEW: usize = 4;

/// The number of stretches of rare executions that are named.
const NAMED: usize = 6;

/// Executions that follow each other: the first and the last, from 1.
type Stretch = (u64, u64);

/// Says which executions are needed, in a sentence.
pub(super) fn sentence(executions: &Executions) -> String {
    let noun = if executions.executed() == 1 { "execution" } else { "executions" };
    format!("{noun} {}", list(executions))
}

/// The same without the noun, where it is clear that numbers are those of executions: `1 to 400: needed; 401: not`.
pub(super) fn list(executions: &Executions) -> String {
    let stretches = stretches(executions);
    let parts = if stretches.len() <= FEW { in_order(&stretches) } else { rare_first(&stretches) };
    parts.join("; ")
}

fn stretches(executions: &Executions) -> Vec<(Mark, Stretch)> {
    let mut first = 1;
    let stretch = |run: &super::executions::Run| {
        let stretch = (first, first + run.count - 1);
        first += run.count;
        (run.mark, stretch)
    };
    executions.runs().iter().map(stretch).collect()
}

fn in_order(stretches: &[(Mark, Stretch)]) -> Vec<String> {
    stretches.iter().map(|&(mark, stretch)| format!("{}: {}", name(stretch), meaning(mark))).collect()
}

/// The marks from the rarest to the most frequent, which is written as all others.
fn rare_first(stretches: &[(Mark, Stretch)]) -> Vec<String> {
    let mut kinds: Vec<(Mark, Vec<Stretch>)> = Vec::new();
    for &(mark, stretch) in stretches {
        match kinds.iter_mut().find(|(other, _)| *other == mark) {
            Some((_, of_kind)) => of_kind.push(stretch),
            None => kinds.push((mark, vec![stretch])),
        }
    }
    let executions = |of_kind: &[Stretch]| of_kind.iter().map(|(first, last)| last - first + 1).sum::<u64>();
    kinds.sort_by_key(|(_, of_kind)| executions(of_kind));
    let others = kinds.pop().map(|(mark, _)| format!("all others: {}", meaning(mark)));
    let rare = kinds.iter().map(|(mark, of_kind)| format!("{}: {}", names(of_kind), meaning(*mark)));
    rare.chain(others).collect()
}

/// The names of all stretches with the same mark; regular ones by their rule.
fn names(stretches: &[Stretch]) -> String {
    if let Some(rule) = rule(stretches) {
        return rule;
    }
    let more = stretches.len().saturating_sub(NAMED);
    let mut names: Vec<String> = stretches.iter().take(NAMED).map(|&stretch| name(stretch)).collect();
    if more > 0 {
        let executions: u64 = stretches[NAMED..].iter().map(|(first, last)| last - first + 1).sum();
        names.push(format!("{executions} more"));
    }
    let last = names.pop().unwrap_or_default();
    if names.is_empty() { last } else { format!("{} and {last}", names.join(", ")) }
}

/// `every 7th from 3 to 703`, if single executions come in equal distances and often enough.
fn rule(stretches: &[Stretch]) -> Option<String> {
    let [(first, _), (second, _), .., (_, last)] = *stretches else { return None };
    let step = second - first;
    let is_single = stretches.iter().all(|(first, last)| first == last);
    let is_regular = stretches.windows(2).all(|pair| pair[1].0 - pair[0].0 == step);
    let is_rule = stretches.len() >= FEW && is_single && is_regular;
    is_rule.then(|| format!("every {} from {first} to {last}", ordinal(step)))
}

fn ordinal(number: u64) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

fn name((first, last): Stretch) -> String {
    if first == last { first.to_string() } else { format!("{first} to {last}") }
}

fn meaning(mark: Mark) -> &'static str {
    match mark {
        Mark::Effect => "needed",
        Mark::Decision => "needed as decisions",
        Mark::Unneeded => "not",
        Mark::Fixed => "cannot be left out",
        Mark::Inferred => "only inferred",
        Mark::Hole => "needed, and not inferred",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(runs: &[(Mark, u64)]) -> String {
        let mut executions = Executions::default();
        for &(mark, count) in runs {
            (0..count).for_each(|_| executions.push(mark));
        }
        sentence(&executions)
    }

    /// A number of rounds of a pattern.
    fn rounds(pattern: &[(Mark, u64)], number: usize) -> Vec<(Mark, u64)> {
        std::iter::repeat_n(pattern, number).flatten().copied().collect()
    }

    #[test]
    fn a_few_stretches_are_told_in_their_order() {
        assert_eq!(told(&[(Mark::Effect, 1)]), "execution 1: needed");
        assert_eq!(
            told(&[(Mark::Effect, 400), (Mark::Unneeded, 1)]),
            "executions 1 to 400: needed; 401: not"
        );
        assert_eq!(
            told(&[(Mark::Unneeded, 2), (Mark::Decision, 7), (Mark::Fixed, 1)]),
            "executions 1 to 2: not; 3 to 9: needed as decisions; 10: cannot be left out"
        );
    }

    #[test]
    fn of_many_stretches_the_exceptional_ones_are_named() {
        let exceptions = [(Mark::Effect, 99), (Mark::Unneeded, 1), (Mark::Effect, 30), (Mark::Unneeded, 3)];
        let runs = [&exceptions[..], &[(Mark::Effect, 1000)]].concat();
        assert_eq!(told(&runs), "executions 100 and 131 to 133: not; all others: needed");
    }

    #[test]
    fn exceptions_beyond_the_sixth_are_counted() {
        let runs: Vec<(Mark, u64)> =
            (1..=9).flat_map(|number| [(Mark::Unneeded, 10 * number), (Mark::Effect, 2)]).collect();
        let expected = "executions 11 to 12, 33 to 34, 65 to 66, 107 to 108, 159 to 160, 221 to 222 and 6 more: \
                        needed; all others: not";
        assert_eq!(told(&runs), expected);
    }

    #[test]
    fn regular_exceptions_are_told_by_their_rule() {
        let runs = rounds(&[(Mark::Unneeded, 6), (Mark::Effect, 1)], 100);
        assert_eq!(told(&runs), "executions every 7th from 7 to 700: needed; all others: not");
        assert_eq!([1, 2, 3, 4, 11, 22, 113].map(ordinal).join(" "), "1st 2nd 3rd 4th 11th 22nd 113th");
    }
}
