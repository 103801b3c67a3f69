//! Reduce a list by a function that tests a part of it: the short form, without a space or a tester.

use std::convert::Infallible;

use super::algorithms::sweep;
use super::configuration::Configuration;
use super::experiment::Experiment;
use super::outcome::Outcome;
use super::space::Independent;
use super::tester::Sequential;

/// Reduces `items`, which together are known to fail, to a 1-minimal part: leave out any single item, and
/// `test` does not say [`Outcome::Fail`] any more. The order of the items stays.
///
/// The examples of the chapter "Reducing Failure-Inducing Inputs" of The Debugging Book:
///
/// ```
/// use dd::{reduce, Outcome};
///
/// // A list of numbers fails if it holds a zero and a two.
/// let numbers = [2, 7, 0, 4, 2, 9];
/// let needed = reduce(&numbers, |part| {
///     if part.contains(&&0) && part.contains(&&2) { Outcome::Fail } else { Outcome::Pass }
/// });
/// assert_eq!(needed, [&2, &0]);
///
/// // `1 / 0` of an expression: what has no digit before and after the sign says nothing.
/// let expression: Vec<char> = "x = 1 + 2/0 - 3".chars().collect();
/// let needed = reduce(&expression, |part| {
///     let text: String = part.iter().map(|&&c| c).collect();
///     match text.split_once('/') {
///         Some((left, right)) if left.ends_with(|c: char| c.is_ascii_digit()) => {
///             if right.starts_with('0') { Outcome::Fail } else { Outcome::Pass }
///         }
///         _ => Outcome::Unresolved,
///     }
/// });
/// assert_eq!(needed.into_iter().collect::<String>(), "2/0");
/// ```
pub fn reduce<'i, T>(items: &'i [T], mut test: impl FnMut(&[&'i T]) -> Outcome) -> Vec<&'i T> {
    let part = |configuration: &Configuration| -> Vec<&'i T> {
        configuration.iter().map(|member| &items[member]).collect()
    };
    let mut tester = Sequential::new(|configuration: &Configuration| {
        Ok::<_, Infallible>((test(&part(configuration)), ()))
    });
    let space = Independent::new(items.len());
    let mut experiment = Experiment::new(&space, &mut tester);
    part(&sweep(&mut experiment, Configuration::full(items.len())).configuration)
}

/// Reduces several lists, which together are known to fail, in turns, until no item of any of them can be left
/// out.
///
/// ```
/// use dd::{reduce_arguments, Outcome};
///
/// // A function of two strings fails if both hold the same letter.
/// let arguments = ["hello".chars().collect::<Vec<_>>(), "word".chars().collect()];
/// let needed = reduce_arguments(&arguments, |parts| {
///     let shares = parts[0].iter().any(|letter| parts[1].contains(letter));
///     if shares { Outcome::Fail } else { Outcome::Pass }
/// });
/// assert_eq!(needed, [[&'o'], [&'o']]);
/// ```
pub fn reduce_arguments<'i, T>(
    lists: &'i [Vec<T>],
    mut test: impl FnMut(&[Vec<&'i T>]) -> Outcome,
) -> Vec<Vec<&'i T>> {
    let mut parts: Vec<Vec<&'i T>> = lists.iter().map(|list| list.iter().collect()).collect();
    loop {
        let before: usize = parts.iter().map(Vec::len).sum();
        for turn in 0..parts.len() {
            let present = parts[turn].clone();
            let needed = reduce(&present, |part| {
                let mut all = parts.clone();
                all[turn] = part.iter().map(|&&item| item).collect();
                test(&all)
            });
            parts[turn] = needed.into_iter().copied().collect();
        }
        if parts.iter().map(Vec::len).sum::<usize>() == before {
            return parts;
        }
    }
}
