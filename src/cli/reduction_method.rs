//! Read the method by which an input is reduced: its units, or a grammar.

use std::path::Path;
use std::sync::Arc;

use tracer::invocation::Input;

use super::exit::{Exit, Failure};
use super::reading;
use super::simplify_options::{SimplifyOptions, StrategyChoice, UnitChoice};
use crate::circumstances::input::{
    DerivationStrategy, Given, Granularity, InputPart, PartName, ReductionMethod,
};
use crate::grammar::{Grammar, GrammarError};
use crate::syntax::Language;

/// The method by which parts are reduced.
pub(super) fn method(options: &SimplifyOptions) -> Result<ReductionMethod, Failure> {
    if options.prevent && options.by == UnitChoice::Tree {
        let message =
            "--prevent counts circumstances: with --by lines, tokens, characters or bytes, not tree";
        return Err(Failure::new(Exit::Usage, message));
    }
    let grammar = options.grammar.as_deref().map(grammar).transpose()?;
    let derivations = match options.strategy {
        StrategyChoice::Subtrees => DerivationStrategy::Subtrees,
        StrategyChoice::Alternatives => DerivationStrategy::Alternatives,
        StrategyChoice::Both => DerivationStrategy::Both,
    };
    let granularity = granularity(options.by);
    Ok(ReductionMethod { granularity, grammar, derivations, only_deletes: options.only_delete })
}

fn granularity(choice: UnitChoice) -> Granularity {
    match choice {
        UnitChoice::Auto => Granularity::Auto,
        UnitChoice::Lines => Granularity::Lines,
        UnitChoice::Tokens => Granularity::Tokens,
        UnitChoice::Tree => Granularity::Elements,
        UnitChoice::Characters => Granularity::Characters,
        UnitChoice::Bytes => Granularity::Bytes,
    }
}

fn grammar(path: &Path) -> Result<Arc<Grammar>, Failure> {
    let read = Grammar::read(&reading::file("--grammar", path)?);
    let refusal =
        |error: GrammarError| Failure::new(Exit::Usage, format!("--grammar {}: {error}", path.display()));
    read.map(Arc::new).map_err(refusal)
}

/// Checks that the grammar derives the parts that it has to, and sets their least content. Returns what weakens the
/// result.
pub(super) fn derived(
    method: &ReductionMethod,
    given: &mut Given,
    options: &SimplifyOptions,
) -> Result<Vec<String>, Failure> {
    let (Some(grammar), Some(file)) = (&method.grammar, &options.grammar) else { return Ok(Vec::new()) };
    let file = file.display();
    let mut warnings = Vec::new();
    let mut is_any = false;
    for part in given.parts.iter_mut().filter(|part| method.grammar_of(part).is_some()) {
        let refusal = |error: GrammarError| {
            let message = format!(
                "--grammar {file} does not derive {}: {error}; correct the grammar, or leave it out",
                part.name
            );
            Failure::new(Exit::Usage, message)
        };
        let text = part.content.as_deref().unwrap_or_default();
        let derivation = grammar.derive(text).map_err(refusal)?;
        if let Some((symbol, place)) = derivation.ambiguity {
            warnings.push(format!(
                "{file} is ambiguous: it derives {} in several ways, first at byte {place} as {}; one of them is taken",
                part.name,
                grammar.name(symbol)
            ));
        }
        part.least = Input::new(grammar.least_text().to_vec());
        is_any = true;
    }
    match is_any {
        true => Ok(warnings),
        false => {
            let message = "--grammar is for the standard input and for files: give --stdin or --file as well";
            Err(Failure::new(Exit::Usage, message))
        }
    }
}

/// Sets the languages of texts whose names do not tell.
pub(super) fn guess_languages(given: &mut Given) {
    let is_content = |part: &&mut InputPart| matches!(part.name, PartName::Stdin | PartName::File(_));
    for part in given.parts.iter_mut().filter(is_content).filter(|part| part.language.is_none()) {
        part.language = part.content.as_deref().and_then(Language::of_text);
    }
}

/// The warnings if nodes are asked for, and a part is in a language whose grammar is not in this program.
pub(super) fn missing_grammars(given: &Given, options: &SimplifyOptions) -> Vec<String> {
    let is_asked = options.by == UnitChoice::Tree;
    let languages =
        given.parts.iter().filter_map(|part| part.language.filter(|language| !language.is_built_in()));
    let mut names: Vec<&str> = languages.filter(|_| is_asked).map(Language::name).collect();
    names.sort_unstable();
    names.dedup();
    let told = |name: &str| {
        format!(
            "this stripe was built without the grammar of {name}: brackets stood for its syntax tree; build it with \
             --features all-languages"
        )
    };
    names.into_iter().map(told).collect()
}
