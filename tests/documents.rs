//! The documents: their commands work, their tables are complete, their links lead somewhere, and what they show
//! is what is seen.
//!
//! Compares README, ARCHITECTURE, CONTRIBUTING and `docs/` with the command line and with results. Meaning is not checked.

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use regex::Regex;
use serde_json::Value;
use support::{root, scratch, stripe, text};

/// The subcommands that take options.
const SUBCOMMANDS: &[&str] = &[
    "run",
    "reduce",
    "report",
    "explain",
    "trace",
    "replay",
    "locate",
    "simplify",
    "demo",
    "doctor",
    "study check",
    "study run",
    "study table",
    "study report",
    "study export",
    "study import",
    "study verify",
    "study init",
    "study submit",
    "slice",
    "changes",
];

fn read(document: &str) -> String {
    fs::read_to_string(root().join(document)).unwrap_or_else(|error| panic!("{document}: {error}"))
}

/// All documents for users, by their path below the root.
fn documents() -> Vec<String> {
    let pages =
        fs::read_dir(root().join("docs")).expect("a folder").map(|entry| entry.expect("readable").path());
    let pages = pages.filter(|page| page.extension().is_some_and(|extension| extension == "md"));
    let name = |page: PathBuf| format!("docs/{}", page.file_name().expect("a name").to_string_lossy());
    let above = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"].map(str::to_owned);
    above.into_iter().chain(pages.map(name)).collect()
}

/// The part of a document below a heading, up to the next heading of any level.
fn section<'d>(document: &'d str, heading: &str) -> &'d str {
    let (_, below) = document.split_once(&format!("{heading}\n")).unwrap_or_else(|| panic!("no {heading}"));
    below.split("\n#").next().expect("a text")
}

/// The commands of a text: its indented lines.
fn commands(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| line.strip_prefix("    ")).filter(|line| !line.starts_with(' ')).collect()
}

/// The blocks of a text between fences.
fn blocks(text: &str) -> Vec<&str> {
    text.split("````text\n").skip(1).map(|rest| rest.split("````").next().expect("a block")).collect()
}

fn all<'t>(pattern: &str, text: &'t str) -> BTreeSet<&'t str> {
    let pattern = Regex::new(pattern).expect("an expression");
    pattern.captures_iter(text).map(|found| found.get(1).expect("a group").as_str()).collect()
}

fn help(subcommand: &str) -> String {
    let output = stripe().args(subcommand.split(' ')).arg("--help").output().expect("stripe starts");
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

/// The options that a subcommand has by its help.
fn options(help: &str) -> BTreeSet<&str> {
    all(r"(?m)^ {2,6}(?:-\w, )?(--[a-z][a-z-]+)", help)
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A folder with the samples, in which `stripe` is found.
fn workshop(name: &str) -> PathBuf {
    let folder = scratch(name);
    let samples = root().join("samples");
    let copied = Command::new("cp").arg("-r").arg(samples).arg(&folder).status().expect("cp starts");
    assert!(copied.success());
    folder
}

fn in_shell(command: &str, folder: &Path) -> Output {
    let program = PathBuf::from(stripe().get_program());
    let path = format!(
        "{}:{}",
        program.parent().expect("a folder").display(),
        std::env::var("PATH").expect("a path")
    );
    let mut shell = Command::new("sh");
    shell
        .args(["-c", command])
        .current_dir(folder)
        .env("PATH", path)
        .env("LC_ALL", "C.UTF-8")
        .env("COLUMNS", "80");
    let output = shell.output().expect("sh starts");
    assert_eq!(output.status.code(), Some(0), "{command}: {}", text(&output.stderr));
    output
}

#[test]
fn every_option_is_documented_and_every_documented_option_is_there() {
    let document = read("docs/using.md");
    let rows: String =
        document.lines().filter(|line| line.starts_with("| `")).map(|line| line.to_owned() + "\n").collect();
    let names: String =
        rows.lines().map(|row| row.split(" | ").next().expect("a cell").to_owned() + "\n").collect();
    let documented = all("(--[a-z][a-z-]+)", &names);
    let helps: Vec<_> = SUBCOMMANDS.iter().copied().map(help).collect();
    let there: BTreeSet<&str> = helps.iter().flat_map(|help| options(help)).chain(["--version"]).collect();
    assert!(there.len() > 40, "{there:?}");
    let missing: Vec<_> = there.difference(&documented).collect();
    assert!(missing.is_empty(), "not in docs/using.md: {missing:?}");
    let gone: Vec<_> = documented.difference(&there).collect();
    assert!(gone.is_empty(), "only in docs/using.md: {gone:?}");
}

#[test]
fn commands_of_the_documents_have_options_that_are_there() {
    let mut seen = 0;
    // What is quoted may be the command of another program.
    let quoted = Regex::new("'[^']*'").expect("an expression");
    for document in documents() {
        let page = read(&document);
        for command in commands(&page).into_iter().filter(|command| command.starts_with("stripe ")) {
            let own = quoted.replace_all(command.split(" -- ").next().expect("a command"), "QUOTED");
            let words: Vec<&str> = own.split_whitespace().collect();
            let length = if words[1] == "study" { 2 } else { 1 };
            let help = help(&words[1..=length].join(" "));
            let missing: Vec<_> = all(r"\s(--[a-z][a-z-]+)", &own)
                .into_iter()
                .filter(|one| !options(&help).contains(one))
                .collect();
            assert!(missing.is_empty(), "{document}: {command}: {missing:?}");
            seen += 1;
        }
    }
    assert!(seen > 15, "{seen} commands");
}

#[test]
fn the_two_commands_of_the_readme_need_no_other_step() {
    let readme = read("README.md");
    let commands = commands(section(&readme, "## Two commands"));
    let [main_job, tests] = commands[..] else { panic!("{commands:?}") };
    let arguments = main_job.strip_prefix("cargo run --release -- ").expect("a command of cargo");
    let output = in_shell(&format!("stripe {arguments}"), &scratch("documents-demo"));
    assert!(text(&output.stdout).contains("22 of 34 statement executions are needed"));
    let mode = fs::metadata(root().join(tests)).expect("a file").permissions().mode();
    assert_eq!(mode & 0o111, 0o111, "{tests}");
}

#[test]
fn the_example_of_the_readme_finds_the_fault_as_it_is_shown() {
    let readme = read("README.md");
    let example = section(&readme, "## A fault in 60 seconds");
    let folder = workshop("documents-example");
    let outputs: Vec<Output> = commands(example).iter().map(|command| in_shell(command, &folder)).collect();
    assert_eq!(outputs.len(), 4);
    let shown = text(&outputs[1].stdout);
    assert!(shown.starts_with(blocks(example)[0]), "{shown}");
    assert!(text(&outputs[2].stdout).contains("+ smallest -"), "what is printed without it");
    assert!(folder.join("report.html").exists());
}

#[test]
fn the_demo_prints_what_the_documents_show() {
    let document = read("docs/results.md");
    let shown = blocks(section(&document, "## What the demo shows"))[0]
        .lines()
        .skip(1)
        .collect::<Vec<_>>()
        .join("\n");
    let output = in_shell("stripe demo", &scratch("documents-shown"));
    // How many runs there were depends on the number of processors, and times on the machine.
    let varies = Regex::new(r"\d+ runs in [0-9.]+ m?s").expect("an expression");
    let same = |text: &str| varies.replace_all(&squeezed(text), "runs").into_owned();
    assert_eq!(same(&text(&output.stdout)), same(&shown));
}

/// The names of all keys of a document; members of lists after `[]`.
fn keys(value: &Value, path: &str, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (key, value) in members {
                let key = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                found.insert(key.clone());
                keys(value, &key, found);
            }
        }
        Value::Array(elements) => elements.iter().for_each(|one| keys(one, &format!("{path}[]"), found)),
        _ => {}
    }
}

/// The keys that a table of the document tells of, in the first cells of its rows.
fn documented_keys(schema: &str) -> BTreeSet<String> {
    let document = read("docs/results.md");
    let (_, below) = document.split_once(&format!("| key of `{schema}` | meaning |\n")).expect("a table");
    let rows = below.lines().take_while(|line| line.starts_with('|')).skip(1);
    let cells: Vec<&str> = rows.map(|row| row.split(" | ").next().expect("a cell")).collect();
    let mut keys = BTreeSet::new();
    for cell in cells {
        for key in all("`([^`]+)`", cell) {
            // Of `events[].event`, `.file` the second key is `events[].file`.
            let list = cell.split('`').nth(1).and_then(|first| first.rsplit_once('.')).map(|(list, _)| list);
            keys.insert(if key.starts_with('.') {
                format!("{}{key}", list.expect("a list"))
            } else {
                key.to_owned()
            });
        }
    }
    keys
}

fn assert_documented(schema: &str, found: &BTreeSet<String>, told_in_words: &[&str]) {
    let in_words = |key: &&String| told_in_words.iter().any(|part| key.contains(part));
    let found: BTreeSet<String> = found.iter().filter(|key| !in_words(key)).cloned().collect();
    let known: BTreeSet<String> = documented_keys(schema);
    let missing: Vec<_> = found.difference(&known).collect();
    assert!(missing.is_empty(), "{schema}: not documented: {missing:?}");
    // What only holds other keys needs no row of its own, and no run has all lists filled.
    let gone: Vec<_> = known.difference(&found).collect();
    assert!(gone.is_empty(), "{schema}: only documented: {gone:?}");
}

#[test]
fn every_key_of_a_document_has_its_row() {
    let folder = workshop("documents-keys");
    in_shell("cc -g -O0 -o statistics samples/statistics/*.c", &folder);
    let parse = |output: &Output| serde_json::from_slice::<Value>(&output.stdout).expect("JSON");
    let of_statistics = "./statistics --stdin samples/statistics/input.txt --format json";
    let several = format!(
        "stripe run {of_statistics} --each-line --reference samples/statistics/correct.txt --values --no-save -q"
    );
    let several = parse(&in_shell(&several, &folder));
    let (mut outer, mut slice, mut trace) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    keys(&several, "", &mut outer);
    let of_several: BTreeSet<String> =
        outer.iter().filter(|key| !key.starts_with("criteria[].slice.")).cloned().collect();
    assert_documented("stripe.slices/1", &of_several, &["wrong_only[]"]);
    for one in several["criteria"].as_array().expect("criteria") {
        keys(&one["slice"], "", &mut slice);
    }
    let compared = format!("stripe run {of_statistics} --compare --no-save -q");
    keys(&parse(&in_shell(&compared, &folder)), "", &mut slice);
    for holder in ["program", "events", "tests", "comparison.not_needed"] {
        assert!(slice.remove(holder), "{holder}");
    }
    assert_documented("stripe.slice/1", &slice, &["reads[]", "writes[]", "fed_by[]"]);
    keys(&parse(&in_shell(&format!("stripe trace {of_statistics}"), &folder)), "", &mut trace);
    assert!(trace.remove("program"));
    assert_documented("stripe.trace/1", &trace, &[]);
    let commits = "git init -q . && git config user.name A && git config user.email a@example.com && git config commit.gpgsign false && echo 1 >f && git add f && git commit -qm one && echo 2 >f && git commit -qam two";
    in_shell(&format!("mkdir repository && cd repository && {commits}"), &folder);
    let search =
        "cd repository && stripe changes --good HEAD~1 --bad HEAD --test 'grep -q 1 f' --format json -q";
    let mut changes = BTreeSet::new();
    keys(&parse(&in_shell(search, &folder)), "", &mut changes);
    for holder in ["difference", "tests", "tests.unresolved"] {
        assert!(changes.remove(holder), "{holder}");
    }
    assert_documented("stripe.changes/1", &changes, &[]);
}

#[test]
fn every_key_of_a_study_has_its_row() {
    let folder = workshop("documents-study");
    let fault = "samples/study/faults.toml --fault triangle-degenerate --techniques slice,ochiai";
    in_shell(&format!("stripe study run {fault} --out out -q"), &folder);
    let read = |file: &str| {
        let text = fs::read_to_string(folder.join("out").join(file)).expect("a document");
        serde_json::from_str::<Value>(&text).expect("JSON")
    };
    let (mut item, mut spectra) = (BTreeSet::new(), BTreeSet::new());
    keys(&read("items/triangle-degenerate/slice.json"), "", &mut item);
    assert!(item.remove("cost"));
    for place in ["first", "mean", "exam", "wasted_effort", "reciprocal_rank"] {
        assert!(item.remove(&format!("metrics.{place}")), "{place}");
    }
    assert_documented("stripe.study.item/1", &item, &[]);
    keys(&read("runs/triangle-degenerate/spectra.json")["document"], "", &mut spectra);
    assert_documented("stripe.study.spectra/1", &spectra, &[]);
}

/// The anchor of a heading, as forges make it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.collect::<String>().to_lowercase().replace(' ', "-")
}

#[test]
fn links_between_documents_lead_somewhere() {
    let mut seen = 0;
    for document in documents() {
        let page = read(&document);
        for link in all(r"\]\(([^)\s]+)\)", &page).into_iter().filter(|link| !link.starts_with("https://")) {
            let (file, place) = link.split_once('#').unwrap_or((link, ""));
            let folder = Path::new(&document).parent().expect("a folder");
            let target = if file.is_empty() { PathBuf::from(&document) } else { folder.join(file) };
            assert!(root().join(&target).exists(), "{document}: {link}");
            let is_there = || {
                let page = read(target.to_str().expect("UTF-8"));
                page.lines()
                    .any(|line| line.starts_with('#') && anchor(line.trim_start_matches('#')) == place)
            };
            assert!(place.is_empty() || is_there(), "{document}: {link}");
            seen += 1;
        }
    }
    assert!(seen > 20, "{seen} links");
}

/// A name alone is that of a file somewhere below the folder that was named before it.
#[test]
fn the_architecture_names_files_that_are_there() {
    let document = read("ARCHITECTURE.md");
    let named: Vec<&str> = all(r"`([a-z_0-9/]+(?:\.rs|\.md|/))`", &document).into_iter().collect();
    assert!(named.len() > 50, "{named:?}");
    let everything = ["src", "dd", "study", "tracer", "tests", "fuzz", "samples"]
        .map(|folder| files(&root().join(folder)));
    let everything: Vec<PathBuf> = everything.into_iter().flatten().collect();
    for name in named {
        let is_there = root().join(name).exists() || everything.iter().any(|file| file.ends_with(name));
        assert!(is_there, "ARCHITECTURE.md names {name}, which is not there");
    }
}

/// All folders and files below a folder, but for what is built there.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("readable").path());
    let entries = entries.filter(|entry| !entry.ends_with("target"));
    let below = |entry: PathBuf| {
        if entry.is_dir() { [vec![entry.clone()], files(&entry)].concat() } else { vec![entry] }
    };
    entries.flat_map(below).collect()
}

#[test]
fn the_tests_that_the_threat_model_names_are_there() {
    let page = read("docs/protection.md");
    let named = all(r"`(tests/[a-z_]+\.rs)`", &page);
    assert!(named.len() > 8, "{named:?}");
    let missing: Vec<_> = named.iter().filter(|test| !root().join(test).exists()).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn the_readme_is_a_page_and_names_the_least_version_of_rust() {
    let readme = read("README.md");
    let manifest = read("Cargo.toml");
    let version = all("rust-version = \"([0-9.]+)\"", &manifest);
    let version = version.first().expect("a version");
    for document in [&readme, &read("CONTRIBUTING.md")] {
        assert!(document.contains(&format!("Rust {version} or later")), "Rust {version}");
    }
    let words = readme.split_whitespace().count();
    assert!(words <= 1300, "{words} words: the manual is in docs/");
}
