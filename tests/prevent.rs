//! `stripe simplify --prevent`: what keeps a failure away, one minimal set after the other.

mod support;

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use support::random::Random;
use support::simplifying::{self, folder, simplify};
use support::tiny::{assert_says, message};
use support::{how_many, text};

/// Fails unless all letters of one of the words in GUARDS are among its arguments, each as `-fLETTER`.
const GUARDED: &str = r#"#!/bin/sh
for word in $GUARDS; do
  missing=
  while [ -n "$word" ]; do
    rest=${word#?}
    case " $* " in *" -f${word%"$rest"} "*) ;; *) missing=1 ;; esac
    word=$rest
  done
  [ -n "$missing" ] || exit 0
done
case " $* " in *" -fZ "*) exit 9 ;; esac
echo "error: crashed" >&2
exit 1
"#;

fn prevent(folder: &Path, words: &[&str]) -> Output {
    simplify(folder, &[&["--prevent"], words].concat())
}

/// The result as a document, of a command that ends with this status.
fn document(folder: &Path, words: &[&str], status: i32) -> Value {
    simplifying::document(folder, &[&["--prevent"], words].concat(), status)
}

/// What the members of the sets hold.
fn sets(document: &Value) -> Vec<Vec<&str>> {
    let members = |set: &'_ Value| set["members"].as_array().map(Vec::len);
    let all = document["prevention"]["sets"].as_array().expect("sets");
    assert!(!all.is_empty() && all.iter().all(|set| members(set) > Some(0)), "{document}");
    let mut sets = Vec::new();
    for set in all {
        let members = set["members"].as_array().expect("members").iter();
        sets.push(members.map(|member| member["text"].as_str().expect("a text")).collect());
    }
    sets
}

#[test]
fn each_option_that_prevents_the_failure_is_found_one_after_the_other() {
    let place = folder("prevent-options", &[("prog", GUARDED)]);
    let options: Vec<String> = ('a'..='z').chain('A'..='E').map(|letter| format!("-f{letter}")).collect();
    let mut words = vec!["--arguments=^-f", "--env", "GUARDS=q B dx", "./prog", "--", "keep.c"];
    words.extend(options.iter().map(String::as_str));
    let found = document(&place, &words, 0);
    let mut all = sets(&found);
    all.sort();
    assert_eq!(all, [vec!["-fB"], vec!["-fd", "-fx"], vec!["-fq"]]);
    assert_eq!((&found["status"], &found["prevention"]["others"]), (&"minimal".into(), &"fails".into()));
    assert_eq!(found["prevention"]["circumstances"], 31);
    for set in found["prevention"]["sets"].as_array().expect("sets") {
        for member in set["members"].as_array().expect("members") {
            assert_eq!(member["without"], "fails", "{found}");
        }
    }
    // The first set is what is left, and what may not be left out is no part.
    let parts = found["parts"].as_array().expect("parts");
    let left: Vec<&str> = parts.iter().filter_map(|part| part["text"].as_str()).collect();
    assert_eq!((parts.len(), left), (31, sets(&found)[0].clone()));
    words.splice(..0, ["-j1", "-v"]);
    let told = prevent(&place, &words);
    let (out, err) = (text(&told.stdout), text(&told.stderr));
    assert_says(&out, &["1. prevents the failure\n", "With all the others together the failure is there."]);
    assert_says(
        &err,
        &["the failure: exit status 1, and the message `error: crashed`", "with exit status 0"],
    );
    // With all options the failure is not reproduced, and that is what a row says.
    let first = err.lines().find(|line| line.trim_start().starts_with("1  ")).expect("a row");
    assert!(first.ends_with("not reproduced"), "{err}");
}

#[test]
fn a_run_that_fails_in_another_way_prevents_nothing() {
    let place = folder("prevent-otherwise", &[("prog", GUARDED)]);
    let words = ["--arguments=^-f", "--env", "GUARDS=a", "./prog", "--", "-fZ", "-fa", "-fb"];
    let found = document(&place, &words, 0);
    // With -fZ alone the failure is not there either, but the program ends with 9.
    assert_eq!(sets(&found), [["-fa"]]);
    assert_eq!(found["prevention"]["others"], "unresolved");
    assert_says(found["prevention"]["others_why"].as_str().expect("words"), &["exit status 9 instead of 0"]);
}

#[test]
fn variables_and_lines_prevent_a_failure_too() {
    let script = "#!/bin/sh\n[ \"$SAFE\" = yes ] && exit 0\ngrep -q one conf && grep -q two conf && exit 0\n\
                  echo error: bad >&2\nexit 1\n";
    let place = folder("prevent-lines", &[("prog", script), ("conf", "zero\none\nand\ntwo")]);
    let found = document(&place, &["--file", "conf", "./prog"], 0);
    assert_eq!(sets(&found), [["one\n", "two"]]);
    let names = &found["prevention"]["sets"][0]["members"];
    assert_eq!((&names[0]["name"], &names[1]["name"]), (&"conf, line 2".into(), &"conf, line 4".into()));
    assert_eq!(fs::read(place.join("conf.min")).expect("written"), b"one\ntwo");
    let words = ["--environment=^S", "--env", "SAFE=yes", "--env", "SAME=1", "--file", "conf", "./prog"];
    let both = document(&place, &words, 0);
    let mut all = sets(&both);
    all.sort();
    assert_eq!(all, [vec!["one\n", "two"], vec!["yes"]]);
}

#[test]
fn what_a_check_denies_is_prevented_and_what_it_cannot_tell_is_not() {
    let check =
        "grep -q x conf && exit 125; grep -q safe conf && exit 3; grep -q fine conf && exit 4; exit 0";
    let place = folder("prevent-check", &[("conf", "a\nsafe\nb\nfine\nc\n")]);
    let found = document(&place, &["--file", "conf", "--check", check], 0);
    let mut all = sets(&found);
    all.sort();
    assert_eq!(all, [["fine\n"], ["safe\n"]]);
    let refused = prevent(&place, &["--file", "conf", "--check", "exit 125"]);
    assert_says(&message(&refused, 3), &["without anything of what is given the failure is not there"]);
}

#[test]
fn what_prevents_nothing_is_refused_and_says_how_to_go_on() {
    let hang = "#!/bin/sh\n[ $# = 0 ] || while :; do :; done\necho error >&2\nexit 1\n";
    let files = [("prog", GUARDED), ("hang", hang), ("conf", "a\n")];
    let place = folder("prevent-refused", &files);
    let refused = |words: &[&str], status| message(&prevent(&place, words), status);
    let words = ["--arguments=^-f", "-q", "--env", "GUARDS=a", "./prog", "--", "-fb", "-fc"];
    assert_says(&refused(&words, 3), &["with all that is given the failure is still there"]);
    let words = ["--arguments", "-q", "--env", "GUARDS=a", "--expect-exit", "7", "./prog", "--", "-fa"];
    assert_says(&refused(&words, 3), &["exit status 1 instead of 7", "--arguments=RE"]);
    let words = ["--arguments", "-q", "--timeout", "200ms", "./hang", "--", "x"];
    assert_says(&refused(&words, 3), &["does not end by itself", "--timeout"]);
    assert_says(&refused(&["--file", "conf", "--by", "tree", "./prog"], 2), &["--by lines"]);
    assert_says(&refused(&["--arguments=^-x", "./prog", "--", "-fa"], 2), &["nothing to simplify"]);
}

#[test]
fn a_budget_leaves_a_set_that_prevents_but_may_be_too_large() {
    let place = folder("prevent-budget", &[("prog", GUARDED)]);
    let options: Vec<String> = ('a'..='p').map(|letter| format!("-f{letter}")).collect();
    let mut words = vec!["--arguments", "--env", "GUARDS=ch k", "--max-tests", "4", "./prog", "--"];
    words.extend(options.iter().map(String::as_str));
    let found = document(&place, &words, 5);
    let all = sets(&found);
    assert!(all.len() == 1 && all[0].len() < 16, "{all:?}");
    assert!(all[0].contains(&"-fk") || all[0].contains(&"-fc") && all[0].contains(&"-fh"), "{all:?}");
    assert_eq!((&found["status"], &found["prevention"]["others"]), (&"budget".into(), &"unknown".into()));
}

#[test]
fn sets_of_random_programs_are_minimal_and_have_no_common_member() {
    let place = folder("prevent-random", &[("prog", GUARDED)]);
    let mut random = Random::new("prevent");
    for _ in 0..how_many(3, 100) {
        let letters: Vec<String> = ('a'..='l').map(|letter| format!("-f{letter}")).collect();
        let mut word = || -> String {
            (0..1 + random.below(3)).map(|_| char::from(b'a' + random.below(12) as u8)).collect()
        };
        let guards = format!("{} {} {}", word(), word(), word());
        let works = |options: &[&str]| {
            let mut command = Command::new(place.join("prog"));
            command.args(options).env("GUARDS", &guards).stderr(Stdio::null());
            command.status().expect("started").success()
        };
        let variable = format!("GUARDS={guards}");
        let found = |jobs| {
            let mut words = vec!["--arguments", jobs, "--env", &variable, "./prog", "--"];
            words.extend(letters.iter().map(String::as_str));
            document(&place, &words, 0)["prevention"].clone()
        };
        let prevention = found("-j1");
        assert_eq!(prevention, found("-j3"), "{guards}");
        let document = serde_json::json!({ "prevention": prevention });
        let mut left: Vec<&str> = letters.iter().map(String::as_str).collect();
        for set in sets(&document) {
            assert!(works(&set), "{guards}: {set:?}");
            for gone in 0..set.len() {
                assert!(!works(&[&set[..gone], &set[gone + 1..]].concat()), "{guards}: {set:?}");
            }
            assert!(set.iter().all(|option| left.contains(option)), "{guards}: {set:?}");
            left.retain(|option| !set.contains(option));
        }
        assert!(!works(&left), "{guards}: {left:?}");
    }
}
