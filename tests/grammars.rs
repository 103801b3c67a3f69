//! `stripe simplify --grammar`: everything that is tried is derived by the grammar, and what is left is minimal in it.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use stripe::grammar::Grammar;
use support::random::Random;
use support::simplifying::{document, left, simplify};
use support::tiny::{assert_says, message, tiny};
use support::{Program, how_many, text};

/// Fails if a `(` stands before a `)`, as the mystery of the textbooks; and crashes if its input is no expression.
const MYSTERY: &str = r#"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char text[1 << 20], *at;
static void want(int ok) { if (!ok) abort(); }
static void factor(void);
static void list(const char *one, const char *other, void (*part)(void)) {
    part();
    while (!strncmp(at, one, 3) || !strncmp(at, other, 3)) { at += 3; part(); }
}
static void term(void) { list(" * ", " / ", factor); }
static void factor(void) {
    while (*at == '+' || *at == '-') at++;
    if (*at == '(') { at++; list(" + ", " - ", term); want(*at++ == ')'); return; }
    want(isdigit(*at)); while (isdigit(*at)) at++;
    if (*at == '.') { at++; want(isdigit(*at)); while (isdigit(*at)) at++; }
}
int main(void) {
    text[fread(text, 1, sizeof text - 1, stdin)] = 0; at = text;
    list(" + ", " - ", term); want(*at == 0);
    char *open = strchr(text, '(');
    if (open && strchr(open, ')')) { fprintf(stderr, "error: mystery\n"); return 1; }
    return 0;
}
"#;

fn expressions() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/grammars/expressions.bnf")
}

fn tests(document: &Value) -> u64 {
    document["tests"]["total"].as_u64().expect("a number")
}

/// Reduces an expression for the mystery.
fn mystery(program: &Program, input: &str, words: &[&str]) -> Value {
    fs::write(program.directory.join("in.txt"), input).expect("written");
    let name = program.path.display().to_string();
    document(&program.directory, &[&[&name, "--stdin", "in.txt", "--expect-exit", "1"], words].concat(), 0)
}

#[test]
fn the_expression_of_the_textbook_takes_a_handful_of_tests() {
    let program = tiny("expressions", MYSTERY);
    let grammar = expressions().display().to_string();
    let found = mystery(&program, "1 + (2 * 3)", &["--grammar", &grammar]);
    assert_eq!((left(&found), &found["grammar"], &found["status"]), ("(0)", &true.into(), &"minimal".into()));
    assert!(tests(&found) <= 30, "{found}");
    let subtrees = mystery(&program, "1 + (2 * 3)", &["--grammar", &grammar, "--strategy", "subtrees"]);
    assert!(left(&subtrees) == "(2)" || left(&subtrees) == "(3)", "{subtrees}");
    let alternatives =
        mystery(&program, "1 + (2 * 3)", &["--grammar", &grammar, "--strategy", "alternatives"]);
    assert_eq!(left(&alternatives), "(0)");
    let deleted = mystery(&program, "1 + (2 * 3)", &["--grammar", &grammar, "--only-delete"]);
    assert!(["(2)", "(3)"].contains(&left(&deleted)), "{deleted}");
}

#[test]
fn a_long_expression_takes_an_eighth_of_the_tests_that_characters_take() {
    let program = tiny("long-expression", MYSTERY);
    let grammar = expressions().display().to_string();
    // Of the kind that a fuzzer makes from this grammar.
    let input = "++---((-2 / 3 / 3 - -+1 / 5 - 2) * ++6 / +8 * 4 / 9 / 2 * 8 + ++(5) * 3 / 8 * 0 + 3 * 3 + 4 / 0 / 6 + 9) \
                 * ++++(+--9 * -3 * 7 / 4 + --(4) / 3 - 0 / 3 + 5 + 0) * (1 * 6 - 1 / 9 * 5 - 9 / 0 + 7) * ++(8 - 1) * +1 * \
                 7 * 0 + ((1 + 4) / 4 * 8 * 9 * 4 + 4 / (4) * 1 - (4) * 8 * 5 + 1 + 4) / (+(2 - 1 - 9) * 5 + 3 + 6 - 2) * \
                 +3 * (3 - 7 + 8) / 4 - -(9 * 4 - 1 * 0 + 5) / (5 / 9 * 5 + 2) * 7 + ((7 - 5 + 3) / 1 * 8 - 8 - 9) * --+1 * 4 \
                 / 4 - 4 / 7 * 4 - 3 / 6 * 1 - 2 - 7 - 8";
    let by_grammar = mystery(&program, input, &["--grammar", &grammar]);
    let by_characters = mystery(&program, input, &["--by", "characters"]);
    println!("by grammar: {} tests, by characters: {}", tests(&by_grammar), tests(&by_characters));
    assert_eq!(left(&by_grammar), "(0)");
    assert!(8 * tests(&by_grammar) <= tests(&by_characters));
}

#[test]
fn nothing_is_tried_that_the_grammar_does_not_derive() {
    let program = tiny("only-expressions", MYSTERY);
    let grammar = expressions().display().to_string();
    fs::write(program.directory.join("in.txt"), "(4 - 17 * (2.5 + 3)) / -6").expect("written");
    let name = program.path.display().to_string();
    let found = document(
        &program.directory,
        &[&name, "--stdin", "in.txt", "--expect-exit", "1", "--grammar", &grammar],
        0,
    );
    // What is no expression crashes, which says nothing.
    assert_eq!(
        (&found["tests"]["unresolved"], &found["other_failures"]),
        (&0.into(), &Value::Array(Vec::new()))
    );
    let any = mystery(&program, "(4 - 17 * (2.5 + 3)) / -6", &["--by", "characters"]);
    assert!(any["tests"]["unresolved"].as_u64() > Some(0), "{any}");
    let told = simplify(
        &program.directory,
        &[&name, "--stdin", "in.txt", "--expect-exit", "1", "--grammar", &grammar],
    );
    assert_eq!(left(&found), "(0)");
    assert_says(
        &text(&told.stdout),
        &["3 characters of 25", "no single symbol of it has a smaller derivation"],
    );
}

#[test]
fn results_by_random_needs_are_minimal_in_the_grammar_whoever_makes_the_tests() {
    let subject = r#"#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
    static char text[1 << 16];
    text[fread(text, 1, sizeof text - 1, stdin)] = 0;
    for (int i = 1; i < argc; i++) if (!strstr(text, argv[i])) return 0;
    fprintf(stderr, "error\n"); return 1;
}"#;
    let program = tiny("grammar-subject", subject);
    let name = program.path.display().to_string();
    let source = "list = '[' (item (',' item)*)? ']'; item = list | word | word '=' item; word = [a-c]+";
    fs::write(program.directory.join("lists.ebnf"), source).expect("written");
    let grammar = Grammar::read(source.as_bytes()).expect("a grammar");
    let items = format!("first = item; {source}");
    let items_alone = Grammar::read(items.as_bytes()).expect("a grammar");
    let mut random = Random::new("lists");
    fn item(random: &mut Random, depth: u64) -> String {
        let word: String =
            (0..1 + random.below(3)).map(|_| ['a', 'b', 'c'][random.below(3) as usize]).collect();
        match random.below(if depth > 3 { 1 } else { 4 }) {
            0 => word,
            1 => format!("{word}={}", item(random, depth + 1)),
            _ => {
                let items: Vec<String> = (0..random.below(5)).map(|_| item(random, depth + 1)).collect();
                format!("[{}]", items.join(","))
            }
        }
    }
    for _ in 0..how_many(4, 200) {
        let items: Vec<String> = (0..6).map(|_| item(&mut random, 0)).collect();
        let input = format!("[{}]", items.join(","));
        let mut needs: Vec<&str> = Vec::new();
        for _ in 0..1 + random.below(2) {
            let from = random.below(input.len() as u64 - 2) as usize;
            needs.push(&input[from..from + 2]);
        }
        fs::write(program.directory.join("in.txt"), &input).expect("written");
        let reduced = |jobs: &str| {
            let words =
                [&name[..], "--stdin", "in.txt", "--grammar", "lists.ebnf", "--expect-exit", "1", jobs, "--"];
            let output =
                simplify(&program.directory, &[&["--format", "json", "-q"], &words[..], &needs].concat());
            let document: Value = serde_json::from_slice(&output.stdout).expect("a document");
            document["parts"][0]["text"].as_str().expect("a text").to_owned()
        };
        let left = reduced("-j1");
        assert_eq!(left, reduced("-j3"), "{input}: {needs:?}");
        assert!(grammar.derive(left.as_bytes()).is_ok(), "{left}");
        assert!(needs.iter().all(|need| left.contains(need)), "{left}: {needs:?}");
        for shorter in without_one(&left, &items_alone) {
            assert!(grammar.derive(shorter.as_bytes()).is_ok(), "{left}: {shorter}");
            let is_needed = !needs.iter().all(|need| shorter.contains(need));
            assert!(is_needed, "{input}: {left} could be {shorter} for {needs:?}");
        }
    }
}

/// A list without any one letter of a word of several, item with a comma, or `word=` before an item. All found in the
/// text alone.
fn without_one(text: &str, item: &Grammar) -> Vec<String> {
    let is_letter = |at: usize| text[at..].starts_with(['a', 'b', 'c']);
    let begins = |from: usize| text[..from].ends_with(['[', ',', '=']);
    let is_unit = |from: usize, to: usize| {
        let unit = &text[from..to];
        let is_item = |text: &str| item.derive(text.as_bytes()).is_ok();
        let letter = to == from + 1 && is_letter(from) && (is_letter(from - 1) || is_letter(to));
        let is_listed = text[..from].ends_with(['[', ',']);
        let before_comma = is_listed && unit.strip_suffix(',').is_some_and(is_item);
        let ends = text[to..].starts_with([',', ']']);
        let behind_comma = ends && unit.strip_prefix(',').is_some_and(is_item);
        let is_word = |text: &str| !text.is_empty() && text.chars().all(|c| ('a'..='c').contains(&c));
        let name = begins(from) && unit.strip_suffix('=').is_some_and(is_word);
        letter || before_comma || behind_comma || name
    };
    let stretches = (1..text.len()).flat_map(|from| (from + 1..text.len()).map(move |to| (from, to)));
    let units = stretches.filter(|&(from, to)| is_unit(from, to));
    units.map(|(from, to)| format!("{}{}", &text[..from], &text[to..])).collect()
}

#[test]
fn files_are_reduced_by_a_grammar_and_arguments_beside_them_by_characters() {
    let script = "#!/bin/sh\ngrep -q 'b' in.txt || exit 0\ncase $1 in *y*) echo error >&2; exit 1;; esac\n";
    let program = tiny("files", "int main(void) { return 0; }\n");
    let place = &program.directory;
    fs::write(place.join("check.sh"), script).expect("written");
    fs::write(place.join("in.txt"), "a\nb\nc\n").expect("written");
    fs::write(place.join("lines.bnf"), "lines ::= ([a-z] '\\n')+").expect("written");
    let found = document(
        place,
        &["--file", "in.txt", "--arguments=y", "--grammar", "lines.bnf", "--", "sh", "check.sh", "xyz"],
        0,
    );
    let texts: Vec<&str> =
        found["parts"].as_array().expect("parts").iter().filter_map(|part| part["text"].as_str()).collect();
    assert_eq!(texts, ["b\n", "y"]);
}

#[test]
fn the_grammar_of_the_manual_is_one() {
    let manual = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/simplifying.md"));
    let manual = manual.expect("the manual");
    let block = manual.split("````text\n").find(|block| block.contains("list ::=")).expect("a grammar");
    let grammar = Grammar::read(block.split("````").next().expect("a block").as_bytes()).expect("a grammar");
    for text in ["[a]", "[a,b=[c_=7]]"] {
        assert!(grammar.derive(text.as_bytes()).is_ok(), "{text}");
    }
    assert!(grammar.derive(b"[a=]").is_err());
}

#[test]
fn what_does_not_go_with_a_grammar_is_refused() {
    let program = tiny("refused-grammars", MYSTERY);
    let place = &program.directory;
    let files = [
        ("in.txt", "1 + (2 ** 3)"),
        ("fine.txt", "1 + (2 * 3)"),
        ("wrong.bnf", "<start> ::= <expr>\n"),
        ("ambiguous.bnf", "e ::= e ' + ' e | '(' e ')' | e ' * ' e | [0-9]\n"),
    ];
    for (name, content) in files {
        fs::write(place.join(name), content).expect("written");
    }
    let name = program.path.display().to_string();
    let grammar = expressions().display().to_string();
    let refused = |words: &[&str]| message(&simplify(place, &[&[&name[..]], words].concat()), 2);
    assert_says(
        &refused(&["--stdin", "in.txt", "--grammar", &grammar]),
        &["expressions.bnf does not derive standard input: line 1, column 7: ", "' ' comes"],
    );
    assert_says(
        &refused(&["--stdin", "fine.txt", "--grammar", "wrong.bnf"]),
        &["wrong.bnf: line 1, column 13: <expr> has no rule"],
    );
    assert_says(
        &refused(&["--stdin", "fine.txt", "--grammar", "none.bnf"]),
        &["--grammar none.bnf: No such file"],
    );
    assert_says(
        &refused(&["--arguments", "--grammar", &grammar, "--", "1"]),
        &["--grammar is for the standard input and for files"],
    );
    assert_says(
        &refused(&["--stdin", "fine.txt", "--grammar", &grammar, "--by", "lines"]),
        &["cannot be used with"],
    );
    assert_says(&refused(&["--stdin", "fine.txt", "--strategy", "both"]), &["--grammar"]);
    let warnings = |input: &str| {
        fs::write(place.join("sum.txt"), input).expect("written");
        let words = [&name[..], "--stdin", "sum.txt", "--expect-exit", "1", "--grammar", "ambiguous.bnf"];
        document(place, &words, 0)["warnings"].clone()
    };
    assert_eq!(warnings("1 + (2 * 3)"), Value::Array(Vec::new()));
    let warning = "ambiguous.bnf is ambiguous: it derives standard input in several ways, first at byte 0 as e; one of them \
                   is taken";
    assert_eq!(warnings("1 + (2 * 3) + 4")[0], warning);
}

#[test]
fn where_the_shortest_text_of_a_grammar_fails_that_is_said() {
    let program = tiny(
        "any-expression",
        "#include <stdio.h>\nint main(void) { fprintf(stderr, \"error\\n\"); return 1; }\n",
    );
    fs::write(program.directory.join("in.txt"), "1 + 2").expect("written");
    let name = program.path.display().to_string();
    let grammar = expressions().display().to_string();
    let output = simplify(&program.directory, &[&name, "--stdin", "in.txt", "--grammar", &grammar]);
    assert_eq!(output.status.code(), Some(6), "{}", text(&output.stderr));
    assert_says(&text(&output.stdout), &["  0\n", "1 of 5 bytes", "with the shortest text of the grammar"]);
    assert_says(&text(&output.stderr), &["shortest text that the grammar derives"]);
}
