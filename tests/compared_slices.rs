//! `stripe run --compare` for programs and for browsers: the dynamic slice beside the critical one.

mod support;

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;
use support::browser::Browser;
use support::tiny::{assert_says, message};
use support::{Fixture, GCC, Program, sample, scratch, text, tmp};

fn compared(program: &Program, options: &[&str]) -> Value {
    program.slice(&[options, &["--compare", "--no-save"]].concat(), 0)
}

/// The events of a list such as `2,5-7`.
fn listed(events: &Value) -> BTreeSet<u64> {
    let text = events.as_str().expect("a list");
    let ranges = text.split(',').filter(|range| !range.is_empty());
    let number = |text: &str| text.parse::<u64>().expect("a number");
    let range = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        number(first)..=number(last)
    };
    ranges.flat_map(range).collect()
}

#[test]
fn json_has_both_slices_and_the_tests_that_tell_them_apart() {
    let program = sample(GCC, "");
    let found = compared(&program, &["--expect-match", "mul = 0"]);
    let beside = &found["comparison"];
    assert_eq!((&beside["executed"], &beside["dynamic"]), (&34.into(), &21.into()));
    let (dynamic, needed) = (listed(&beside["dynamic_events"]), listed(&found["needed"]));
    assert_eq!(dynamic.len(), 21);
    let unneeded: BTreeSet<u64> =
        beside["not_needed"].as_array().unwrap().iter().map(|one| one["event"].as_u64().unwrap()).collect();
    assert_eq!(unneeded, dynamic.difference(&needed).copied().collect());
    assert_eq!(beside["not_inferred"], "");
    assert_says(beside["criterion"].as_str().unwrap(), &["mul = 0"]);
    // The tests are those that say so.
    let tests = scratch("compared").join("tests.jsonl");
    let emission = format!("jsonl={}", tests.display());
    let again = compared(&program, &["--expect-match", "mul = 0", "-j1", "--emit", &emission]);
    let tests: Vec<Value> = (fs::read_to_string(&tests).unwrap().lines())
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    for one in again["comparison"]["not_needed"].as_array().unwrap() {
        let number = one["test"].as_u64().expect("a short search keeps all tests") as usize;
        assert_eq!(tests[number - 1]["outcome"], "reproduced", "test {number}");
    }
    let without = program.slice(&["--expect-match", "mul = 0", "--no-save"], 0);
    assert!(without.get("comparison").is_none(), "only if it is asked for");
}

#[test]
fn each_of_several_criteria_has_its_own() {
    let found = compared(&sample(GCC, ""), &["--criterion", "sum=^sum", "--criterion", "mul=^mul"]);
    let of = |place: usize| found["criteria"][place]["slice"]["comparison"]["dynamic_events"].clone();
    assert!(listed(&of(0)).len() >= 20 && listed(&of(1)).len() >= 20);
    assert_ne!(of(0), of(1));
}

#[test]
fn the_page_shows_three_shades_and_tells_why() {
    let folder = scratch("compared-page");
    let page = |program: &Program, name: &str, options: &[&str]| {
        let page = folder.join(name);
        let emission = format!("html={}", page.display());
        let output = program
            .stripe("run", &[options, &["--compare", "--no-save", "-q", "--emit", &emission]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        page
    };
    let mut browser = Browser::start();
    let criterion = ["--expect-match", "mul = 0"];
    let of_sample = page(&sample(GCC, ""), "sample.html", &criterion);
    for (width, scheme) in [(1280, "light"), (400, "dark")] {
        browser.open(&of_sample, width, scheme);
        browser.picture(&tmp().join("pages").join(format!("compared-{width}-{scheme}.png")));
        let beyond = browser.evaluate("document.documentElement.scrollWidth - innerWidth");
        assert!(beyond.as_i64() <= Some(0), "{beyond} pixels too wide");
    }
    let mut of = |expression: &str| browser.evaluate(expression);
    assert_eq!(of("document.querySelectorAll('.dot.i').length"), 16);
    assert_eq!(of("document.querySelector('#funnel b[data-key=dynamic]').textContent"), "21");
    let row =
        "[...document.querySelectorAll('#listing tr.inferred')].map(row => row.cells[0].textContent).join()";
    assert_eq!(of(row), "7,13");
    of("document.querySelector('tr.inferred .dot.i').click()");
    let told = of("document.getElementById('evidence').textContent");
    assert_says(
        told.as_str().unwrap(),
        &[
            "in the dynamic slice, but not needed",
            "Dependences lead from the failure to it. Test ",
            "left it out",
        ],
    );
    assert_says(
        of("document.getElementById('comparison').textContent").as_str().unwrap(),
        &["21 of 34", "16 of them"],
    );
    // Here no dependence leads to one that is needed.
    browser.open(&page(&Fixture::named("bubble_sort").build(GCC), "sort.html", &[]), 1280, "light");
    assert_eq!(browser.evaluate("document.querySelectorAll('.dot.h').length"), 1);
    let told = browser.evaluate("document.getElementById('comparison').textContent");
    assert_says(told.as_str().unwrap(), &["Needed, and not in it: events ", "no dependence leads there"]);
    assert!(browser.complaints.is_empty(), "{:#?}", browser.complaints);
}

#[test]
fn the_page_of_a_dynamic_slice_tells_who_feeds_whom() {
    let output = sample(GCC, "").stripe("slice", &["--expect-match", "mul = 0", "--format", "html", "-q"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let page = scratch("sliced-page").join("sample.html");
    fs::create_dir_all(page.parent().expect("a folder")).expect("a folder");
    fs::write(&page, &output.stdout).expect("a page");
    let mut browser = Browser::start();
    for (width, scheme) in [(1280, "light"), (400, "dark")] {
        browser.open(&page, width, scheme);
        browser.picture(&tmp().join("pages").join(format!("sliced-{width}-{scheme}.png")));
        let beyond = browser.evaluate("document.documentElement.scrollWidth - innerWidth");
        assert!(beyond.as_i64() <= Some(0), "{beyond} pixels too wide");
    }
    browser.open(&page, 1280, "light");
    let mut of = |expression: &str| browser.evaluate(expression);
    assert_eq!(of("document.querySelectorAll('.dot.e, .dot.d').length"), 21);
    // It begins with what prints the line.
    let told = |of: &mut dyn FnMut(&str) -> Value| {
        of("document.getElementById('evidence').textContent").as_str().expect("words").to_owned()
    };
    assert_says(
        &told(&mut of),
        &["sum-mul.c:16, execution 1 of 1", "12#6 (mul, data)", "what the criterion"],
    );
    // From there by a click to who has written that, which is marked, too.
    assert_eq!(of("document.querySelectorAll('.dot.feeds').length"), 1);
    of("document.querySelector('#evidence button').click()");
    let words = told(&mut of);
    assert_says(
        &words,
        &["sum-mul.c:12, execution 6 of 6", "12#5 (mul, data)", "13#5 (a, data)", "10#6 (decision)"],
    );
    assert_says(&words, &["On it depend16#1 (mul, data)"]);
    assert_eq!(of("document.querySelectorAll('.dot.fed').length"), 1);
    assert_eq!(of("document.querySelectorAll('#table tbody tr').length"), 19);
    browser.show_on_paper();
    browser.picture(&tmp().join("pages").join("sliced-paper.png"));
    assert!(browser.complaints.is_empty(), "{:#?}", browser.complaints);
}

#[test]
fn other_forms_have_no_room_for_it() {
    let told = message(&sample(GCC, "").stripe("run", &["--compare", "--format", "csv", "-q"]), 2);
    assert_says(&told, &["--compare goes with text, json and html"]);
}
