//! What a simplification has found is kept: `stripe runs` lists it, and `stripe report` shows it, as text, as JSON, and as
//! a page that tells of each test what it gave to the program.

mod support;

use std::fs;
use std::path::Path;

use serde_json::Value;
use support::browser::Browser;
use support::simplifying::{document, folder, simplify};
use support::tiny::{assert_says, message};
use support::{stripe, text, tmp};

/// Fails with a message if its input has `<` before `>`; crashes if it has a `!` and no `<`.
const PROGRAM: &str = "#!/bin/sh\ntext=$(cat)\ncase $text in *'<'*'>'*) echo error: bad tag >&2; exit 1;; *'<'*) ;; *!*) kill -SEGV $$;; esac\n";

/// In several lines, not all of them ASCII.
fn input() -> String {
    let line = |number| format!("é line {number} of text, value {}\n", 17 * number);
    let lines = |from, to| (from..to).map(line).collect::<String>();
    lines(0, 10) + "beware!\n" + &lines(10, 40) + "some <b>bold</b>\n" + &lines(40, 60)
}

fn told(place: &Path, words: &[&str], status: i32) -> String {
    let output = stripe().args(words).current_dir(place).output().expect("stripe starts");
    assert_eq!(output.status.code(), Some(status), "{words:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn what_was_found_is_listed_and_told_again_word_by_word() {
    let place = folder("kept-simplification", &[("prog", PROGRAM), ("in.txt", &input())]);
    let words = ["./prog", "--stdin", "in.txt"];
    let first = text(&simplify(&place, &words).stdout);
    assert_says(
        &first,
        &["standard input: 2 characters of", "  <>\n", "bytes and tests: ", "another failure, in"],
    );
    let listed = told(&place, &["runs"], 0);
    let row: Vec<&str> = listed.lines().nth(1).expect("a row").split_whitespace().collect();
    assert_eq!((row[0], &row[3..6]), ("1", &["minimal", "2", "B"][..]), "{listed}");
    assert_says(&listed, &["exit status 1, and the message `error: bad tag`"]);
    assert_eq!(told(&place, &["report"], 0), first);
    assert_eq!(told(&place, &["report", "1"], 0), first);
    let found = document(&place, &words, 0);
    let kept: Value =
        serde_json::from_str(&told(&place, &["report", "2", "--format", "json"], 0)).expect("JSON");
    assert_eq!(kept, found);
    // What failed in another way is a file that can be given to the program.
    let other = fs::read(place.join(".stripe/1-prog/other-0-0")).expect("kept");
    assert!(other.contains(&b'!') && !other.contains(&b'<'), "{}", text(&other));
    // Nothing was traced.
    let refused = |words: &[&str], status| {
        message(&stripe().args(words).current_dir(&place).output().expect("stripe starts"), status)
    };
    assert_says(
        &refused(&["explain"], 2),
        &["none of the runs here is one of `stripe run`", "`stripe runs`"],
    );
    for verb in ["reduce", "replay"] {
        assert_says(&refused(&[verb, "1"], 2), &["run 1 is a simplification", "`stripe report 1`"]);
    }
    assert_says(
        &refused(&["report", "--format", "dot"], 2),
        &["dot: does not tell of a simplification", "html"],
    );
    fs::write(place.join(".stripe/1-prog/after-0"), "changed").expect("written");
    assert_says(&refused(&["report", "1"], 1), &["after-0: is damaged"]);
}

#[test]
fn a_search_that_goes_on_is_kept_where_it_began() {
    let place = folder("kept-resumed", &[("prog", PROGRAM), ("in.txt", &input())]);
    let words = ["./prog", "--stdin", "in.txt"];
    let output = simplify(&place, &[&words[..], &["--max-tests", "5"]].concat());
    assert_eq!(output.status.code(), Some(5), "{}", text(&output.stderr));
    assert_says(&told(&place, &["runs"], 0), &["budget"]);
    assert!(simplify(&place, &[&words[..], &["--resume"]].concat()).status.success());
    let listed = told(&place, &["runs"], 0);
    assert_eq!(listed.lines().count(), 2, "{listed}");
    assert_says(&listed, &["minimal"]);
}

#[test]
fn sets_that_prevent_a_failure_are_kept_too() {
    let script = "#!/bin/sh\nfor a; do [ $a != -safe ] || exit 0; done\necho error >&2; exit 1\n";
    let place = folder("kept-prevention", &[("prog", script)]);
    let words = ["--prevent", "--arguments", "./prog", "--expect-exit", "1", "--", "-a", "-safe", "-b"];
    let first = text(&simplify(&place, &words).stdout);
    assert_says(&first, &["1. prevents the failure\n  argument 2: -safe\n"]);
    assert_eq!(told(&place, &["report"], 0), first);
    let page = told(&place, &["report", "--format", "html"], 0);
    assert_says(&page, &["argument 2: -safe"]);
}

#[test]
fn the_page_shows_what_went_and_what_each_test_has_given() {
    let input = input();
    let place = folder("simplification-page", &[("prog", PROGRAM), ("in.txt", &input)]);
    let found = document(&place, &["./prog", "--stdin", "in.txt"], 0);
    told(&place, &["report", "-q", "--emit", "html=page.html"], 0);
    let mut browser = Browser::start();
    for (width, scheme) in [(1280, "light"), (400, "dark")] {
        browser.open(&place.join("page.html"), width, scheme);
        browser.picture(&tmp().join("pages").join(format!("simplified-{width}-{scheme}.png")));
        let beyond = browser.evaluate("document.documentElement.scrollWidth - innerWidth");
        assert!(beyond.as_i64() <= Some(0), "at {width}: {beyond} pixels too wide");
    }
    let shown = |browser: &mut Browser, signs: &str| {
        let all =
            format!("[...document.querySelectorAll('.input {signs}')].map(e => e.textContent).join('')");
        browser.evaluate(&all).as_str().expect("a text").to_owned()
    };
    assert_eq!(shown(&mut browser, ":is(.kept, ins)"), "<>");
    assert!(shown(&mut browser, ".fold").contains("lines went"));
    browser.evaluate("document.getElementById('unfold').click()");
    assert_eq!(shown(&mut browser, ":is(.kept, del)"), input);
    let tests = found["tests"]["total"].as_u64().expect("a number");
    assert_eq!(browser.evaluate("Number(document.getElementById('test').max)"), tests);
    // What the page says of a test is true: the program does that.
    let bytes = "document.getElementById('test-told').textContent";
    for test in [1, tests / 3, tests / 2, tests] {
        let choose =
            "const t = document.getElementById('test'); t.value = N; t.dispatchEvent(new Event('input'))";
        browser.evaluate(&format!("(() => {{ {} }})()", choose.replace('N', &test.to_string())));
        let given = shown(&mut browser, ":is(.kept, ins)");
        let told = browser.evaluate(bytes).as_str().expect("words").to_owned();
        let length =
            if given.len() == 1 { "1 byte ".into() } else { format!("{} bytes ", grouped(given.len())) };
        assert_says(&told, &[&format!("Test {test}: "), &length]);
        let fails = given.find('<').is_some_and(|at| given[at..].contains('>'));
        assert_eq!(fails, told.contains(" given: reproduced"), "{told}: {given}");
    }
    browser.evaluate("document.getElementById('filter-off').click()");
    assert_eq!(shown(&mut browser, ":is(.kept, ins)"), "<>");
    assert_says(&shown_whole(&mut browser), &["SIGSEGV", "error: bad tag"]);
    assert!(browser.complaints.is_empty(), "{:#?}", browser.complaints);
}

fn shown_whole(browser: &mut Browser) -> String {
    browser.evaluate("document.body.innerText").as_str().expect("a text").to_owned()
}

fn grouped(number: usize) -> String {
    if number < 1000 { number.to_string() } else { format!("{},{:03}", number / 1000, number % 1000) }
}

#[test]
fn the_result_is_written_to_files_in_several_forms_at_once() {
    let here =
        support::simplifying::folder("emitted", &[("in.txt", "some text [with] brackets"), ("old", "old")]);
    let check = ["--file", "in.txt", "--check", "grep -q ']' in.txt"];
    let words = [&check[..], &["-q", "--emit", "json=a.json", "--emit", "html=a.html"]].concat();
    let done = support::simplifying::simplify(&here, &words);
    assert_eq!(done.status.code(), Some(0), "{}", support::text(&done.stderr));
    let read = |name: &str| std::fs::read_to_string(here.join(name)).expect("written");
    let document: serde_json::Value = serde_json::from_str(&read("a.json")).expect("a document");
    assert_eq!(document["schema"], "stripe.input/1");
    assert!(read("a.html").starts_with("<!"), "a page");
    for (emission, says) in [("json=old", "exists"), ("dot=x", "text, json or html"), ("json", "KIND=FILE")] {
        let refused = support::simplifying::simplify(&here, &[&check[..], &["--emit", emission]].concat());
        assert_eq!(refused.status.code(), Some(2), "{emission}");
        assert!(
            support::text(&refused.stderr).contains(says),
            "{emission}: {}",
            support::text(&refused.stderr)
        );
    }
    assert_eq!(read("old"), "old");
}
