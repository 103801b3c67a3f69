use std::collections::BTreeSet;

use super::*;

fn read(text: &str) -> Grammar {
    Grammar::read(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"))
}

fn refused(text: &str) -> String {
    Grammar::read(text.as_bytes()).expect_err(text).to_string()
}

fn derives(grammar: &Grammar, text: &str) -> bool {
    grammar.derive(text.as_bytes()).is_ok()
}

/// The derivation as nested brackets.
fn shown(grammar: &Grammar, derivation: &Derivation, text: &str, node: usize) -> String {
    let DerivationNode { symbol, range, children, .. } = &derivation.nodes[node];
    if children.is_empty() {
        return format!("{}:{}", grammar.name(*symbol), &text[range.clone()]);
    }
    let children: Vec<String> =
        children.iter().map(|&child| shown(grammar, derivation, text, child)).collect();
    format!("{}({})", grammar.name(*symbol), children.join(" "))
}

#[test]
fn all_ways_to_write_a_grammar_mean_the_same() {
    let forms = [
        "<sum> ::= <number> | <number> '+' <sum>\n<number> ::= <digit> | <digit> <number>\n\
         <digit> ::= '0' | '1' | '2' | '3' | '4' | '5' | '6' | '7' | '8' | '9'",
        "sum = number, { \"+\", number };\nnumber = digit, { digit } ; (* one or more *)\ndigit = \"0\"..\"9\";",
        "sum ::= number ('+' number)*   // sums\nnumber ::= [0-9]+",
        "sum: number [ '+' sum ]; number: [0-9] [ number ] ;",
        "# sums\nsum -> number (\"\\x2b\" number)* number -> [#x30-#x39]+",
    ];
    for form in forms {
        let grammar = read(form);
        for text in ["1", "12+3", "1+2+30"] {
            assert!(derives(&grammar, text), "{form}: {text}");
        }
        for text in ["", "+", "1+", "+1", "1++2", "a", "1 + 2"] {
            assert!(!derives(&grammar, text), "{form}: {text}");
        }
        assert_eq!(grammar.least_text(), b"0", "{form}");
    }
}

#[test]
fn characters_in_square_brackets_are_no_optional_rule_and_the_other_way_round() {
    let grammar = read("start ::= [^\"\\\\\\n]* [ab] [sign] [\\] -]\nsign ::= [+-]");
    for text in ["a]", "xyéb+-", "aa "] {
        assert!(derives(&grammar, text), "{text}");
    }
    for text in ["\"a]", "a", "a+", "ab\na]"] {
        assert!(!derives(&grammar, text), "{text}");
    }
}

#[test]
fn a_text_of_nothing_is_nothing() {
    let grammar = read("s = ''* 'a' (\"\" | 'b' '')+ ''");
    assert!(["a", "ab", "abb"].iter().all(|text| derives(&grammar, text)));
    assert!(!derives(&grammar, "") && !derives(&grammar, "b"));
}

#[test]
fn what_is_wrong_with_a_grammar_is_told_with_its_place() {
    let wrong = [
        ("", "line 1, column 1: there is no rule"),
        ("a = \"x\";\nb = c", "line 2, column 5: c has no rule"),
        ("a = \"x\";\na = \"y\"", "line 2, column 1: a has a rule already"),
        ("a = \"x", "line 1, column 5: this text does not end in its line"),
        ("a = (\"x\" | \"y\"", "line 1, column 5: this bracket is not closed: ) is missing"),
        ("a = \"x\" )", "line 1, column 9: this closes or repeats nothing"),
        ("a = \"x\" a", "line 1, column 1: a derives no text that ends"),
        ("<a> ::= <b c", "a name in angle brackets"),
        ("a = \"\\q\"", "stands for no character"),
        ("a = [z-a]", "'a' is before 'z'"),
        ("a = \"b\"..\"a\"", "a range goes"),
        ("a = 'x' b = [ab b] 'a' c = 'y' b = 'z'", "b has a rule already"),
        (
            "a = 'x' long = [ long 'a' ]",
            "[ long 'a' ] can be one of these characters, or what the rule long says",
        ),
        ("a = % b", "% has no meaning here"),
        ("a = (* x", "does not end"),
        ("x ::= [x] 'a'", "line 1, column 7: [x] can be one of these characters"),
        ("\"x\" = a", "a rule is wanted"),
    ];
    for (text, message) in wrong {
        let told = refused(text);
        assert!(told.contains(message), "{text}: {told}");
    }
    let deep = format!("a = {}\"x\"{}", "(".repeat(1000), ")".repeat(1000));
    assert!(refused(&deep).contains("too deep"));
    assert!(
        Grammar::read(b"a = \"\xff\"")
            .expect_err("no UTF-8")
            .to_string()
            .contains("column 6: this is not UTF-8")
    );
}

#[test]
fn a_text_that_is_not_derived_is_told_with_the_place_where_it_stops() {
    let grammar = read("<list> ::= '[' <item> (',' '\\n'? <item>)* ']'\n<item> ::= <list> | [a-z]+");
    let told = |text: &[u8]| grammar.derive(text).expect_err("not derived").to_string();
    let message = told(b"[a,\n[b,],c]");
    assert!(
        message
            .starts_with("line 2, column 4: the grammar derives nothing that goes on like this: ']' comes"),
        "{message}"
    );
    assert!(message.contains("expected was \"\\n\", \"[\", a character of <item>"), "{message}");
    assert!(
        told(b"[a").contains("column 3: the grammar derives nothing that goes on like this: the text ends")
    );
    assert!(told(b"[a]x").contains("'x' comes, and the end was expected"));
    assert!(told(b"[a\xff").contains("no UTF-8 comes"));
}

#[test]
fn a_derivation_says_which_symbol_derives_what() {
    let grammar = read("<e> ::= <t> '+' <e> | <t>\n<t> ::= '(' <e> ')' | <n>\n<n> ::= [0-9]+");
    let text = "1+(23+4)";
    let derivation = grammar.derive(text.as_bytes()).expect("derived");
    assert_eq!(derivation.ambiguity, None);
    let tree = shown(&grammar, &derivation, text, 0);
    // The elements of a repetition stand side by side.
    assert_eq!(
        tree,
        "<e>(<t>(<n>(<n>(<n>:1))) <e>(<t>(<e>(<t>(<n>(<n>(<n>:2 <n>:3))) <e>(<t>(<n>(<n>(<n>:4))))))))"
    );
    for node in &derivation.nodes {
        assert!(
            node.children
                .windows(2)
                .all(|two| { derivation.nodes[two[0]].range.end <= derivation.nodes[two[1]].range.start })
        );
    }
}

#[test]
fn a_choice_that_a_grammar_leaves_is_told() {
    let ambiguous = |grammar: &str, text: &str| {
        let grammar = read(grammar);
        let derivation = grammar.derive(text.as_bytes()).expect("derived");
        derivation.ambiguity.map(|(symbol, place)| (grammar.name(symbol).to_owned(), place))
    };
    let sums = "e = e '+' e | [0-9]";
    assert_eq!(ambiguous(sums, "1+2"), None);
    assert_eq!(ambiguous(sums, "1+2+3"), Some(("e".to_owned(), 0)));
    assert_eq!(ambiguous("s = 'x' t; t = a | b; a = 'y'; b = 'y'", "xy"), Some(("t".to_owned(), 1)));
    // In circles, and by way of what derives nothing.
    assert_eq!(ambiguous("a = a | 'x'", "x"), Some(("a".to_owned(), 0)));
    assert!(ambiguous("a = ('x'?)*", "xx").is_some());
    assert!(ambiguous("a = b b a | 'x'; b = 'y' | ; ", "yx").is_some());
}

/// All texts of at most so many characters that each symbol derives: by trying, until there are no more.
fn texts(grammar: &Grammar, longest: usize) -> Vec<BTreeSet<Vec<u8>>> {
    let mut known: Vec<BTreeSet<Vec<u8>>> = vec![BTreeSet::new(); grammar.symbols.len()];
    loop {
        let before: usize = known.iter().map(BTreeSet::len).sum();
        for Production { symbol, terms } in &grammar.productions {
            let mut found = BTreeSet::from([Vec::new()]);
            for term in terms {
                let next: Vec<Vec<u8>> = match term {
                    GrammarTerm::Literal(text) => vec![text.clone()],
                    GrammarTerm::Class(class) => {
                        b"ab".iter().filter(|&&c| class.contains(char::from(c))).map(|&c| vec![c]).collect()
                    }
                    GrammarTerm::Symbol(symbol) => known[*symbol as usize].iter().cloned().collect(),
                };
                let joined = found
                    .iter()
                    .flat_map(|first: &Vec<u8>| next.iter().map(move |second| [&first[..], second].concat()));
                found = joined.filter(|text| text.len() <= longest).collect();
            }
            known[*symbol as usize].extend(found);
        }
        if known.iter().map(BTreeSet::len).sum::<usize>() == before {
            return known;
        }
    }
}

#[test]
fn exactly_the_texts_of_a_grammar_are_derived_whatever_it_is_like() {
    const LONGEST: usize = 4;
    let mut seed = 7_u64;
    let mut below = |most: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % most
    };
    let mut derived = 0;
    for _ in 0..60 {
        let mut source = String::new();
        for name in ["s", "t", "u"] {
            source += &format!("{name} = ");
            for alternative in 0..1 + below(3) {
                source += if alternative > 0 { " | " } else { "" };
                for _ in 0..below(4) {
                    let term = [
                        "'a'",
                        "'b'",
                        "'ab'",
                        "[ab]",
                        "s",
                        "t",
                        "u",
                        "('a' t)*",
                        "[ u 'b' ]",
                        "(s | 'b')+",
                        "t?",
                    ];
                    source += term[below(11) as usize];
                    source += " ";
                }
            }
            source += ";\n";
        }
        let Ok(grammar) = Grammar::read(source.as_bytes()) else { continue };
        let all = texts(&grammar, LONGEST);
        let expected = &all[grammar.start as usize];
        for length in 0..=LONGEST {
            for bits in 0..1_u32 << length {
                let text: Vec<u8> =
                    (0..length).map(|at| if bits >> at & 1 == 0 { b'a' } else { b'b' }).collect();
                let found = grammar.derive(&text);
                assert_eq!(
                    found.is_ok(),
                    expected.contains(&text),
                    "{source}{}",
                    String::from_utf8_lossy(&text)
                );
                let Ok(derivation) = found else { continue };
                derived += 1;
                for node in &derivation.nodes {
                    let part = &text[node.range.clone()];
                    assert!(all[node.symbol as usize].contains(part), "{source}{node:?}");
                }
            }
        }
        assert!(
            grammar.least_text().len() > LONGEST
                || expected.iter().map(Vec::len).min() == Some(grammar.least_text().len()),
            "{source}"
        );
    }
    assert!(derived > 200, "{derived}");
}

#[test]
fn long_texts_and_deep_ones_are_parsed() {
    let grammar = read("s = item*; item = '(' s ')' | [a-z]");
    let deep = "(".repeat(20_000) + &")".repeat(20_000);
    assert!(derives(&grammar, &deep));
    let flat = "a".repeat(50_000);
    let derivation = grammar.derive(flat.as_bytes()).expect("derived");
    assert_eq!(derivation.nodes.iter().map(|node| node.children.len()).max(), Some(50_000));
}
