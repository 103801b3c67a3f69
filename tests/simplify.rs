//! `stripe simplify`: what is left of an input fails as all of it does, and nothing of it can be left out.

mod support;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use stripe::syntax::{Language, SyntaxTree};
use support::random::Random;
use support::simplifying::{document, folder, left, simplify};
use support::tiny::{assert_says, message, tiny};
use support::{Program, how_many, stripe, text};

/// Fails with a message if a `(` stands before a `)`, as the mystery of the textbooks.
const MYSTERY: &str = r#"
#include <stdio.h>
#include <string.h>
int main(void) {
    static char text[1 << 20];
    size_t length = fread(text, 1, sizeof text, stdin);
    char *open = memchr(text, '(', length);
    if (open && memchr(open, ')', text + length - open)) { fprintf(stderr, "error: at %d\n", (int)(open - text)); return 1; }
    return 0;
}
"#;

fn mystery(input: impl AsRef<[u8]>) -> Program {
    let program = tiny("mystery", MYSTERY);
    fs::write(program.directory.join("in.txt"), input).expect("written");
    program
}

#[test]
fn the_mystery_of_the_textbooks_needs_two_brackets() {
    let program = mystery("7:,>((?3!)4*)'_x");
    let name = program.path.display().to_string();
    let found = document(&program.directory, &[&name, "--stdin", "in.txt"], 0);
    assert_eq!((left(&found), &found["status"]), ("()", &"minimal".into()));
    let criterion = found["criterion"].as_str().expect("words");
    assert_eq!(criterion, "exit status 1, and the message `error: at 0` on standard error, numbers aside");
    assert_eq!(fs::read(program.directory.join("in.min.txt")).expect("beside it"), b"()");
    assert_eq!(fs::read(program.directory.join("in.txt")).expect("still there"), b"7:,>((?3!)4*)'_x");
    // The next one gets another name.
    document(&program.directory, &[&name, "--stdin", "in.txt"], 0);
    assert!(program.directory.join("in.min-2.txt").exists());
}

#[test]
fn arguments_are_left_out_and_then_shortened() {
    let script = "#!/bin/sh\nfor a; do case $a in *x*y*) F=1;; esac; done\n[ -z \"$F$G\" ] || { echo bad error >&2; exit 3; }\n";
    let place = folder("arguments", &[("prog", script)]);
    let words = ["./prog", "--arguments", "--", "-v", "--axb", "12x34y56", "file", "xy z"];
    let output = simplify(&place, &words);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_says(&text(&output.stdout), &["arguments\n  ./prog xy\n", "exit status 3"]);
    let words = ["./prog", "--arguments", "--environment", "--env", "G=a long value", "--", "-v", "xy"];
    let found = document(&place, &words, 0);
    let parts = found["parts"].as_array().expect("parts");
    let present: Vec<_> = parts.iter().filter(|part| part["present"] == true).collect();
    // One of the two is enough, and of the variable one character.
    assert_eq!(present.len(), 1, "{present:?}");
    assert!(present[0]["text"] == "xy" || present[0]["after"] == 1, "{present:?}");
}

#[test]
fn two_arguments_are_reduced_in_turns() {
    let script = "#!/bin/sh\n[ $# = 2 ] || exit 0\ncase $2 in *\"$1\"*) ;; *) exit 0;; esac\n[ ${#1} -ge 2 ] || exit 0\necho assertion failed >&2\nexit 1\n";
    let place = folder("turns", &[("prog", script)]);
    let found = document(&place, &["./prog", "--arguments", "--", "abcdef", "zabcdefz"], 0);
    let texts: Vec<&str> =
        found["parts"].as_array().expect("parts").iter().filter_map(|part| part["text"].as_str()).collect();
    assert_eq!(texts[0].len(), 2);
    assert_eq!(texts[0], texts[1]);
}

#[test]
fn of_a_program_its_lines_are_left_out_as_far_as_its_check_allows() {
    let program = r#"strip() {
  tag=0; out=
  rest=$1
  while [ -n "$rest" ]; do
    c=${rest%"${rest#?}"}; rest=${rest#?}
    if [ "$c" = '<' ]; then tag=1; fi
    if [ "$c" = '>' ]; then tag=0; continue; fi
    if [ $tag = 1 ]; then continue; fi
    out=$out$c
  done
  # The bug.
  out=$(printf %s "$out" | tr -d '"')
  printf '%s\n' "$out"
}
"#;
    let fails = ". ./strip.sh\n[ \"$(strip '\"a\"')\" = a ]";
    let works = "[ \"$(strip '<b>x</b>')\" = x ]";
    let place = folder(
        "code",
        &[
            ("strip.sh", program),
            ("bug.sh", &format!("#!/bin/sh\n{fails}\n")),
            ("bug-only.sh", &format!("#!/bin/sh\n{fails} && {works}\n")),
        ],
    );
    let reduced = |check: &str| {
        let found = document(
            &place,
            &["--file", "strip.sh", "--by", "lines", "--timeout", "100ms", "--check", check],
            0,
        );
        left(&found).to_owned()
    };
    let (any, intact) = (reduced("./bug.sh"), reduced("./bug-only.sh"));
    assert!(any.lines().count() < intact.lines().count(), "{any}\n{intact}");
    assert!(
        intact.contains("tag=1") && intact.contains("tr -d") && !intact.contains("# The bug."),
        "{intact}"
    );
}

#[test]
fn a_crash_is_the_same_only_at_its_place_and_another_one_is_kept() {
    let program = tiny(
        "two-crashes",
        "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nint main(void) {\n  static char t[1 << 16]; \
         t[fread(t, 1, sizeof t - 1, stdin)] = 0;\n  if (strchr(t, '[') && strstr(t, \"]]\")) *(int *)0 = 1;\n  \
         if (strstr(t, \"((\")) abort();\n  return 0;\n}\n",
    );
    let input = "some (( text\n[with] brackets]]\n";
    fs::write(program.directory.join("in.txt"), input).expect("written");
    let name = program.path.display().to_string();
    let found = document(&program.directory, &[&name, "--stdin", "in.txt"], 0);
    assert_eq!(left(&found), "[]]");
    assert_says(
        found["criterion"].as_str().expect("words"),
        &["SIGSEGV at two-crashes.c:6 in main", "null pointer"],
    );
    let others = found["other_failures"].as_array().expect("a list");
    assert_eq!(others.len(), 1, "{others:?}");
    assert_says(others[0]["what"].as_str().expect("words"), &["SIGABRT at two-crashes.c:7 in main"]);
    let any = document(&program.directory, &[&name, "--stdin", "in.txt", "--expect-crash", "any"], 0);
    assert!(["((", "[]]"].contains(&left(&any)), "{any}");
}

#[test]
fn a_stack_that_overflows_is_the_same_crash_wherever_it_ends() {
    let program = tiny(
        "overflow",
        "#include <stdio.h>\nstatic int depth(int n) { volatile char room[4096]; room[0] = n; return n == 0 ? 0 : 1 + depth(n - 1) + room[0]; }\n\
         static int other(int n) { volatile char room[512]; room[0] = n; return n == 0 ? 0 : 1 + other(n - 1) + room[0]; }\n\
         int main(void) {\n  int n = 0, c;\n  while ((c = getchar()) != EOF) n += c == '(' ? 1000 : c == 'x' ? 7 : 0;\n  \
         other(n % 999); return depth(n) & 1;\n}\n",
    );
    fs::write(program.directory.join("in.txt"), "(((x(((x((\nhello (((((\n").expect("written");
    let name = program.path.display().to_string();
    let found = document(&program.directory, &[&name, "--stdin", "in.txt"], 0);
    assert_says(found["criterion"].as_str().expect("words"), &["SIGSEGV", "the stack has overflown"]);
    assert!(left(&found).chars().all(|c| c == '('), "{found}");
}

#[test]
fn what_a_check_alone_says_is_the_failure() {
    let place = folder(
        "check",
        &[
            ("page.html", "<html>\n<b>bold</b>\n<i class='x'>text</i>\n</html>\n"),
            ("check.sh", "#!/bin/sh\ngrep -q '<i.*text' page.html\n"),
        ],
    );
    let output =
        simplify(&place, &["--file", "page.html", "--check", "./check.sh", "--output", "small.html"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(fs::read(place.join("small.html")).expect("written"), b"<itext");
    let again = simplify(&place, &["--file", "page.html", "--check", "./check.sh", "--output", "small.html"]);
    assert_says(&message(&again, 2), &["small.html: exists", "--force"]);
    let own =
        simplify(&place, &["--file", "page.html", "--check", "./check.sh", "-o", "page.html", "--force"]);
    assert_says(&message(&own, 2), &["page.html: is what is simplified"]);
}

#[test]
fn a_check_that_cannot_tell_says_nothing_about_the_failure() {
    let place = folder(
        "cannot-tell",
        &[
            ("in.txt", "begin\nneeded\nend\n"),
            ("check.sh", "#!/bin/sh\ngrep -q begin in.txt || exit 125\ngrep -q needed in.txt\n"),
        ],
    );
    let found = document(&place, &["--file", "in.txt", "--by", "lines", "--check", "./check.sh"], 0);
    assert_eq!(left(&found), "begin\nneeded\n");
    let tests = &found["tests"];
    assert!(tests["unresolved"].as_u64() > Some(0) && tests["not_reproduced"].as_u64() > Some(0), "{tests}");
}

#[test]
fn of_a_folder_whole_files_go_first_and_files_are_found_where_they_lie() {
    let place = folder(
        "of-files",
        &[
            ("in put/a.txt", "nothing\n"),
            ("in put/deep/b\nc.txt", "one\nneeded here\r\ntwo\n"),
            ("in put/d.txt", "nothing either\n"),
            (
                "prog",
                "#!/bin/sh\nif cat in\\ put/* in\\ put/*/* 2>/dev/null | grep -q needed; then echo 'error: found' >&2; exit 1; fi\n",
            ),
        ],
    );
    let found = document(&place, &["./prog", "--file", "in put", "-o", "out"], 0);
    let parts = found["parts"].as_array().expect("parts");
    let texts: Vec<Option<&str>> = parts.iter().map(|part| part["text"].as_str()).collect();
    assert_eq!(texts, [None, None, Some("needed")]);
    assert_eq!(fs::read(place.join("out/in put/deep/b\nc.txt")).expect("written"), b"needed");
    assert_eq!(fs::read(place.join("in put/a.txt")).expect("still there"), b"nothing\n");
}

#[test]
fn a_program_that_does_not_end_is_a_failure_too() {
    let script = "#!/bin/sh\nread a\ncase $a in *go*on*) while :; do :; done;; esac\n";
    let place = folder("hang", &[("prog", script), ("in.txt", "please go further on\n")]);
    let words = ["./prog", "--stdin", "in.txt", "--expect-timeout", "--timeout", "200ms", "--by", "lines"];
    let found = document(&place, &words, 0);
    assert_eq!(left(&found), "please go further on\n");
    let refused = simplify(&place, &["./prog", "--stdin", "in.txt", "--timeout", "200ms"]);
    assert_says(&message(&refused, 3), &["--expect-timeout"]);
}

#[test]
fn two_programs_that_differ_are_a_failure() {
    let place = folder("differs", &[("in.txt", "one\ntwo\nthree\nfour\n")]);
    let found = document(&place, &["sort", "--stdin", "in.txt", "--differs-from", "cat"], 0);
    // Two lines in the wrong order, or one without an end, which sort adds.
    assert_eq!(left(&found).len(), 1, "{found}");
    let lines = document(&place, &["sort", "--stdin", "in.txt", "--differs-from", "cat", "--by", "lines"], 0);
    assert_eq!(left(&lines).lines().count(), 2, "{lines}");
    let same = simplify(&place, &["cat", "--stdin", "in.txt", "--differs-from", "cat -u"]);
    assert_says(&message(&same, 3), &["both programs print the same"]);
}

#[test]
fn what_is_no_text_is_reduced_byte_by_byte() {
    let program = mystery(b"\x00\xff(\xc3\x28 \x80)\x01".as_slice());
    let name = program.path.display().to_string();
    let found = document(&program.directory, &[&name, "--stdin", "in.txt", "--expect-exit", "1"], 0);
    assert_eq!((left(&found), &found["parts"][0]["unit"]), ("()", &"byte".into()));
}

#[test]
fn each_granularity_ends_with_its_own_units() {
    let text_of = "int f(int a) { return (a); }\nint g(void) { call(1, (2), 3); }\n";
    let program = mystery(text_of);
    let name = program.path.display().to_string();
    for (by, expected) in [("lines", 1), ("tokens", 2), ("tree", 2), ("characters", 2), ("bytes", 2)] {
        let found = document(&program.directory, &[&name, "--stdin", "in.txt", "--by", by], 0);
        let left = left(&found);
        match by {
            "lines" => assert_eq!(left.lines().count(), expected),
            "tree" => assert!(left.contains('(') && left.len() < text_of.len() / 2, "{left}"),
            _ => assert_eq!(left, "()", "{by}"),
        }
    }
}

#[test]
fn what_cannot_be_simplified_is_refused_and_nothing_is_lost() {
    let files = [
        ("in.txt", "some text"),
        ("empty", ""),
        ("fine", "#!/bin/sh\nexit 0\n"),
        ("silent", "#!/bin/sh\nexit 1\n"),
        ("always", "#!/bin/sh\necho error >&2\nexit 1\n"),
    ];
    let place = folder("refused", &files);
    let refused = |words: &[&str], status| message(&simplify(&place, words), status);
    assert_says(&refused(&[], 2), &["no program is given", "--"]);
    assert_says(&refused(&["./fine"], 2), &["nothing to simplify", "--stdin"]);
    assert_says(&refused(&["./fine", "--stdin", "empty"], 2), &["nothing to simplify"]);
    assert_says(&refused(&["./fine", "--stdin", "not-there"], 2), &["--stdin not-there: No such file"]);
    assert_says(&refused(&["./nothing", "--stdin", "in.txt"], 2), &["./nothing: No such file"]);
    assert_says(&refused(&["./fine", "--stdin", "in.txt"], 3), &["exit status 0", "--expect-match"]);
    assert_says(&refused(&["./silent", "--stdin", "in.txt"], 3), &["says nothing", "--expect-exit"]);
    assert_says(
        &refused(&["./fine", "--stdin", "in.txt", "--expect-exit", "1"], 3),
        &["exit status 0 instead of 1"],
    );
    assert_says(&refused(&["./fine", "--file", "/dev/null"], 2), &["neither a file nor a folder"]);
    assert_says(&refused(&["./fine", "--file", "in.txt", "--no-sandbox"], 2), &["--file needs the sandbox"]);
    assert_says(
        &refused(&["./always", "--file", "/etc/hostname"], 1),
        &["cannot be replaced for a run", "/tmp"],
    );
    let fifo = Command::new("mkfifo").arg(place.join("fifo")).status().expect("mkfifo starts");
    assert!(fifo.success());
    assert_says(&refused(&["./fine", "--file", "fifo"], 2), &["neither a file nor a folder"]);
    let trivial = simplify(&place, &["./always", "--stdin", "in.txt", "-o", "left"]);
    assert_says(&text(&trivial.stdout), &["0 of 9 bytes are left", "shows even if nothing is given"]);
    assert_eq!(trivial.status.code(), Some(6));
    for (name, content) in files {
        assert_eq!(fs::read(place.join(name)).expect("still there"), content.as_bytes());
    }
}

#[test]
fn a_program_that_fails_now_and_then_is_refused() {
    // Counts its runs where they can all write.
    let flaky = "#!/bin/sh\necho x >>shared/runs\n[ $(($(wc -l <shared/runs) % 3)) != 0 ] || exit 0\necho error >&2\nexit 1\n";
    let place = folder("flaky", &[("prog", flaky), ("in.txt", "some text"), ("shared/runs", "")]);
    let words = ["./prog", "--stdin", "in.txt", "--allow-write", "shared", "-j1", "-q"];
    assert_says(&message(&simplify(&place, &words), 4), &["does not show in each run"]);
}

#[test]
fn what_is_piped_in_is_simplified() {
    let program = mystery("");
    let mut command = stripe();
    command.args(["simplify", &program.path.display().to_string()]).current_dir(&program.directory);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
    child.stdin.take().expect("a pipe").write_all(b"a(b)c").expect("written");
    let output = child.wait_with_output().expect("ended");
    assert_says(&text(&output.stdout), &["standard input: 2 characters of 5\n  ()\n"]);
}

#[test]
fn a_budget_ends_the_search_with_what_is_left_so_far() {
    let program = mystery("x".repeat(500) + "(y)" + &"z".repeat(500));
    let name = program.path.display().to_string();
    let found = document(&program.directory, &[&name, "--stdin", "in.txt", "--max-tests", "6"], 5);
    let left = left(&found);
    assert!(left.len() < 1003 && left.contains('('), "{left}");
    assert_eq!(found["status"], "budget");
}

/// Fails if its argument, an expression, matches its input; ends of lines are `~` for it, tabs `^`.
const EXPRESSION: &str = r#"
#include <regex.h>
#include <stdio.h>
int main(int argc, char **argv) {
    static char text[1 << 16];
    text[fread(text, 1, sizeof text - 1, stdin)] = 0;
    for (char *at = text; *at; at++) *at = *at == '\n' ? '~' : *at == '\t' ? '^' : *at;
    regex_t expression;
    if (regcomp(&expression, argv[1], REG_EXTENDED)) return 2;
    if (regexec(&expression, text, 0, NULL, 0)) return 0;
    fprintf(stderr, "error\n");
    return 1;
}
"#;

/// What is left of a text of which an expression has to match.
fn left_by_expression(program: &Program, input: &str, expression: &str, words: &[&str]) -> String {
    fs::write(program.directory.join("in.txt"), input).expect("written");
    let name = program.path.display().to_string();
    let words = [&[&name, "--stdin", "in.txt", "-o", "out", "--force"], words, &["--", expression]].concat();
    let found = document(&program.directory, &words, 0);
    assert_eq!(found["status"], "minimal");
    left(&found).to_owned()
}

#[test]
fn what_cannot_be_left_out_becomes_simpler() {
    let program = tiny("expression", EXPRESSION);
    let examples = [
        ("numbers", "count = 8472;\n", "^[^0-9]*([1-9][0-9]{3})", "1000"),
        ("equal numbers", "f(37) g(37)", "f.([0-9][0-9]+). g.\\1[^0-9]*$", "f(00) g(00"),
        ("names", "int total_sum=total_sum+1;", "(^|[^a-z_])([a-zA-Z_]+)=\\2\\+", "a=a+"),
        ("quotes", "f(\"abcdef\");", "\"([^\"]{4,})?\"", "\"\""),
        ("spaces", "aa\tbb", "a[\\^ ]b", "a b"),
        ("lines", "aa 1\nbb 2\n", "1[~ ]b", "1 b"),
        ("everywhere", "<bold>x</bold>", "^<([bold]*)>x</\\1>$", "<>x</>"),
    ];
    for (name, input, expression, expected) in examples {
        assert_eq!(left_by_expression(&program, input, expression, &[]), expected, "{name}");
        if !["numbers", "names", "everywhere"].contains(&name) {
            continue;
        }
        let deleted = left_by_expression(&program, input, expression, &["--only-delete"]);
        let mut rest = input.chars();
        assert!(deleted.chars().all(|one| rest.any(|other| other == one)), "{name}: {deleted}");
        assert_ne!(deleted, expected, "{name}");
    }
}

#[test]
fn units_that_are_named_stay_as_they_are() {
    let input = "one 8472\ntwo 17\n";
    let program = tiny("named-units", EXPRESSION);
    let left = |unit| left_by_expression(&program, input, "[0-9]{4}", &["--by", unit]);
    assert_eq!(left("lines"), "one 8472\n");
    assert_eq!(left("tokens"), "8472");
}

/// Fails if one of the alternatives that its arguments name holds: of each all words have to occur, in order.
const SUBJECT: &str = r#"
#include <stdio.h>
#include <string.h>
int main(int argc, char **argv) {
    static char text[1 << 16];
    text[fread(text, 1, sizeof text - 1, stdin)] = 0;
    for (int i = 1; i < argc; i++) {
        char *at = text, *word = strtok(argv[i], ",");
        while (word && at && (at = strstr(at, word))) { at += strlen(word); word = strtok(NULL, ","); }
        if (!word) { fprintf(stderr, "error %d\n", i); return 1; }
    }
    return 0;
}
"#;

/// Whether the subject fails with this input, outside of stripe.
fn fails(program: &Path, alternatives: &[String], input: &[u8]) -> bool {
    let mut command = Command::new(program);
    command.args(alternatives).stdin(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().expect("started");
    child.stdin.take().expect("a pipe").write_all(input).expect("written");
    child.wait().expect("ended").code() == Some(1)
}

#[test]
fn results_of_random_subjects_are_minimal_whoever_makes_the_tests() {
    let program = tiny("random-subject", SUBJECT);
    let name = program.path.display().to_string();
    let mut random = Random::new("simplify");
    for round in 0..how_many(12, 200) {
        let alphabet = ["a", "b", "(", ")", "\n", ";", " ", "é"];
        let mut some = |most: u64| -> String {
            (0..1 + random.below(most)).map(|_| alphabet[random.below(8) as usize]).collect()
        };
        let input = format!("{}{}", some(120), some(40));
        let alternatives: Vec<String> = (0..1 + round % 3)
            .map(|_| (0..1 + round % 4).map(|_| some(2).replace(',', "")).collect::<Vec<_>>().join(","))
            .collect();
        if !fails(&program.path, &alternatives, input.as_bytes()) || fails(&program.path, &alternatives, b"")
        {
            continue;
        }
        fs::write(program.directory.join("in.txt"), &input).expect("written");
        let by = ["auto", "lines", "tokens", "characters", "bytes"][(round % 5) as usize];
        let reduced = |jobs: &str| {
            let mut words =
                vec![&name[..], "--stdin", "in.txt", "--expect-exit", "1", "--by", by, jobs, "--"];
            words.extend(alternatives.iter().map(String::as_str));
            document(&program.directory, &words, 0)["parts"][0].clone()
        };
        let part = reduced("-j1");
        assert_eq!(part, reduced("-j3"), "{input:?} {alternatives:?}");
        let left = match &part["text"] {
            Value::String(text) => text.clone().into_bytes(),
            _ => serde_json::from_value(part["bytes"].clone()).expect("bytes"),
        };
        assert!(fails(&program.path, &alternatives, &left), "{left:?} {alternatives:?}");
        for without in without_one(&left, by) {
            assert!(
                !fails(&program.path, &alternatives, &without),
                "{left:?}, {without:?}: {alternatives:?}, {by}"
            );
        }
    }
}

/// A text without one of its units, for each of them.
fn without_one(text: &[u8], by: &str) -> Vec<Vec<u8>> {
    let units: Vec<&[u8]> = match by {
        "lines" => text.split_inclusive(|&byte| byte == b'\n').collect(),
        "bytes" => text.chunks(1).collect(),
        "tokens" => text
            .chunk_by(|&one, &next| {
                let class = |byte: u8| match byte {
                    byte if byte.is_ascii_whitespace() => 1,
                    byte if byte.is_ascii_alphanumeric() || byte >= 0x80 => 2,
                    _ => 0,
                };
                class(one) == class(next) && class(one) != 0
            })
            .collect(),
        _ => {
            let text = str::from_utf8(text).expect("a text");
            text.char_indices().map(|(at, c)| &text.as_bytes()[at..at + c.len_utf8()]).collect()
        }
    };
    (0..units.len()).map(|gone| [&units[..gone], &units[gone + 1..]].concat().concat()).collect()
}

/// The files in which outcomes are kept.
fn kept_outcomes(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder.join(".stripe")) else { return Vec::new() };
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.filter(|path| path.display().to_string().contains("/simplify-")).collect()
}

/// What has to be the same, whether a search was interrupted or not. How many tests have failed in another way depends
/// on the number of tests at the same time.
fn result(found: &Value) -> Vec<&Value> {
    let others = found["other_failures"].as_array().expect("a list");
    let others = others.iter().flat_map(|other| [&other["what"], &other["parts"]]);
    ["status", "criterion", "parts", "warnings"].map(|key| &found[key]).into_iter().chain(others).collect()
}

const TWO_FAILURES: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
int main(void) {
    static char text[1 << 16];
    text[fread(text, 1, sizeof text - 1, stdin)] = 0;
    if (!strstr(text, "end")) abort();
    if (strstr(text, "four") && strchr(text, '7')) { fprintf(stderr, "error\n"); return 1; }
    return 0;
}
"#;

#[test]
fn a_search_that_was_ended_goes_on_and_ends_with_the_same_result() {
    let program = tiny("resumed", TWO_FAILURES);
    let place = &program.directory;
    let lines: String = (0..60).map(|line| format!("line {line}: one two three four\n")).collect();
    fs::write(place.join("in.txt"), lines + "end\n").expect("written");
    let name = program.path.display().to_string();
    let words = [&name[..], "--stdin", "in.txt", "--expect-exit", "1"];
    let whole = document(place, &words, 0);
    assert!(kept_outcomes(place).is_empty(), "it has come to its end");
    assert!(whole["other_failures"][0]["what"].as_str().expect("words").contains("SIGABRT"), "{whole}");
    let runs = |found: &Value| found["tests"]["runs"].as_u64().expect("a number");
    for jobs in ["-j1", "-j3"] {
        let with =
            |more: &[&'static str], status| document(place, &[&words[..], &[jobs], more].concat(), status);
        let mut found = with(&["--max-tests", "9"], 5);
        assert_eq!(kept_outcomes(place).len(), 1);
        let mut rounds = 0;
        while found["status"] == "budget" {
            rounds += 1;
            assert!(rounds < 100, "{found}");
            let output = simplify(
                place,
                &[&words[..], &[jobs, "--resume", "--max-tests", "20", "--format", "json"]].concat(),
            );
            assert!(text(&output.stderr).contains("going on after"), "{}", text(&output.stderr));
            found = serde_json::from_slice(&output.stdout).expect("a document");
        }
        assert!(rounds > 1, "{rounds}");
        assert_eq!(result(&found), result(&whole), "{jobs}");
        assert!(runs(&found) < runs(&whole), "{found}");
        assert!(kept_outcomes(place).is_empty());
    }
}

#[test]
fn a_search_that_was_killed_goes_on_after_the_tests_that_it_made() {
    // Nothing can be left out, so that there are many tests.
    let source = "#include <stdio.h>\nint main(void) { int c, n = 0; while ((c = getchar()) != EOF) n += c == '\\n'; \
                  if (n != 150) return 0; fprintf(stderr, \"error\\n\"); return 1; }\n";
    let program = tiny("killed", source);
    let place = &program.directory;
    fs::write(place.join("in.txt"), "\n".repeat(150)).expect("written");
    let name = program.path.display().to_string();
    let words = [&name[..], "--stdin", "in.txt", "--format", "json"];
    let kept = || {
        let file = kept_outcomes(place).into_iter().next()?;
        Some(fs::read_to_string(file).ok()?.matches('\n').count().saturating_sub(1))
    };
    // One that has come to its end before it was killed proves nothing.
    let is_killed = (0..20).any(|_| {
        let mut command = stripe();
        command.arg("simplify").args(words).current_dir(place).stdin(Stdio::null());
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("started");
        while kept() < Some(4) && child.try_wait().expect("a child").is_none() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        child.kill().expect("killed");
        child.wait().expect("dead");
        kept() >= Some(4)
    });
    assert!(is_killed);
    let output = simplify(place, &[&words[..], &["--resume"]].concat());
    // The same text may have been tested twice at the same time.
    assert_says(&text(&output.stderr), &["going on after", " tests"]);
    let resumed: Value = serde_json::from_slice(&output.stdout).expect("a document");
    let whole: Value = serde_json::from_slice(&simplify(place, &words).stdout).expect("a document");
    assert_eq!(result(&resumed), result(&whole));
    assert!(resumed["tests"]["runs"].as_u64() < whole["tests"]["runs"].as_u64(), "{resumed}");
}

#[test]
fn nothing_goes_on_that_is_not_the_same() {
    let program = mystery("some (text) that is reduced");
    let place = &program.directory;
    let name = program.path.display().to_string();
    let refused = |words: &[&str]| {
        message(&simplify(place, &[&[&name[..], "--stdin", "in.txt", "--resume"], words].concat()), 2)
    };
    assert_says(&refused(&[]), &["no tests of this search are kept", "leave --resume out"]);
    document(place, &[&name, "--stdin", "in.txt", "--max-tests", "3"], 5);
    assert_says(&refused(&["--only-delete"]), &["no tests of this search are kept"]);
    assert_says(&refused(&["--", "argument"]), &["no tests of this search are kept"]);
    fs::write(place.join("in.txt"), "some (other text)").expect("written");
    assert_says(&refused(&[]), &["no tests of this search are kept"]);
    fs::write(place.join("in.txt"), "some (text) that is reduced").expect("written");
    let output = simplify(place, &[&name, "--stdin", "in.txt", "--max-tests", "3"]);
    assert_says(&text(&output.stderr), &["the same command with --resume goes on from here"]);
    let found = document(place, &[&name, "--stdin", "in.txt", "--resume"], 0);
    assert_eq!(left(&found), "()");
    assert_says(&refused(&[]), &["no tests of this search are kept"]);
}

#[test]
fn pipes_and_devices_that_a_check_names_are_not_read_to_know_whether_it_is_the_same() {
    let program = mystery("some (text)");
    let place = &program.directory;
    let pipe = place.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("started").success());
    let name = program.path.display().to_string();
    let check = "test $STRIPE_EXIT = 1 && head -c 4 /dev/zero > /dev/null && test -p pipe";
    let found = document(place, &[&name, "--stdin", "in.txt", "--check", check], 0);
    assert_eq!((left(&found), &found["status"]), ("()", &"minimal".into()));
}

/// Fails if a text has `needle` in a function of its own, and all brackets match.
const BALANCED: &str = r#"
#include <stdio.h>
#include <string.h>
int main(void) {
    static char text[1 << 16];
    size_t length = fread(text, 1, sizeof text - 1, stdin);
    int depth = 0, seen = 0;
    for (size_t at = 0; at < length; at++) {
        depth += (text[at] == '{') - (text[at] == '}');
        seen |= depth == 2 && strncmp(text + at, "needle", 6) == 0;
        if (depth < 0) return 0;
    }
    if (depth == 0 && seen) { fprintf(stderr, "error: found\n"); return 1; }
    return 0;
}
"#;

fn is_found(text: &str) -> bool {
    let (mut depth, mut is_seen) = (0, false);
    for (at, sign) in text.char_indices() {
        depth += i32::from(sign == '{') - i32::from(sign == '}');
        is_seen |= depth == 2 && text[at..].starts_with("needle");
        if depth < 0 {
            return false;
        }
    }
    depth == 0 && is_seen
}

#[test]
fn of_a_known_language_no_node_can_be_left_out() {
    let program = tiny("balanced", BALANCED);
    let name = program.path.display().to_string();
    let function = |number: u32| {
        let what = if number == 5 { "needle" } else { "other" };
        format!(
            "int f{number}(int a, int b) {{\n  if (a > {number}) {{ {what}(a, \"(}}\"); return b; }}\n  while (b) {{ b--; }}\n  return a + {number} * b;\n}}\n"
        )
    };
    let source: String = (0..9).map(|number| function(number).replace("(}", "(")).collect();
    fs::write(program.directory.join("in.c"), &source).expect("written");
    let by_tree = document(&program.directory, &[&name, "--stdin", "in.c", "--by", "tree"], 0);
    let text_left = left(&by_tree);
    assert_eq!(by_tree["parts"][0]["unit"], "node");
    assert!(is_found(text_left) && text_left.len() < 60, "{text_left}");
    let tree = SyntaxTree::of(text_left.as_bytes(), Language::C).expect("built in");
    for node in tree.nodes.iter().filter(|node| node.children.len() > 1) {
        for child in node.children.iter().map(|&child| &tree.nodes[child]).filter(|child| child.is_named) {
            let without = format!("{}{}", &text_left[..child.range.start], &text_left[child.range.end..]);
            assert!(child.range.is_empty() || !is_found(&without), "{text_left}: {without}");
        }
    }
    // By characters as well, as without a tree.
    let found = document(&program.directory, &[&name, "--stdin", "in.c"], 0);
    assert_eq!((left(&found), &found["parts"][0]["unit"]), ("{{needle}}", &"character".into()));
    // Without the grammar brackets stand for the tree, and that is told.
    if !Language::Sql.is_built_in() {
        fs::write(program.directory.join("in.sql"), &source).expect("written");
        let found = document(&program.directory, &[&name, "--stdin", "in.sql", "--by", "tree"], 0);
        assert!(found["warnings"].to_string().contains("without the grammar of SQL"), "{found}");
    }
}
