//! Manifests: what is wrong in them is told with its line, and the same keys stand in all formats.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use super::{assert_status, study};
use crate::support::tiny::assert_says;
use crate::support::{root, scratch, text};

const BROKEN: &str = r#"techniques = ["ochiai", "ochia"]
[defaults]
program = "{build}/prog"
build = 'cc -g -O0 -o "$STRIPE_BUILD/prog" ok.c'
[[fault]]
name = "good"
faulty = ["ok.c:3"]
input = "fails.in"
reference = "right.out"
[[fault]]
name = "unknown-key"
faulty = ["ok.c:3"]
inptu = "fails.in"
reference = "right.out"
[[fault]]
name = "missing-file"
faulty = ["ok.c:3"]
reference = "/home/somebody/right.out"
[[fault]]
name = "good"
faulty = ["ok.c:3"]
reference = "right.out"
[[fault]]
name = "no-lines"
reference = "right.out"
[[fault]]
name = "no-build"
build = "echo no compiler here >&2; exit 3"
faulty = ["ok.c:3"]
reference = "right.out"
[[fault]]
name = "passes"
faulty = ["ok.c:4"]
input = "passes.in"
reference = "right.out"
"#;

/// A folder with a manifest of mistakes.
pub fn broken(name: &str) -> PathBuf {
    let folder = scratch(name);
    let source = "#include <stdio.h>\nint main(void) {\n  int n = getchar() == 'x' ? 2 : 1;\n  printf(\"%d\\n\", n);\n}\n";
    for (file, content) in [
        ("faults.toml", BROKEN),
        ("ok.c", source),
        ("fails.in", "x"),
        ("passes.in", "y"),
        ("right.out", "1\n"),
    ] {
        fs::write(folder.join(file), content).expect("written");
    }
    folder
}

#[test]
fn mistakes_are_told_with_their_lines_and_remedies_and_the_rest_goes_on() {
    let folder = broken("study-broken");
    let output = study(&["run", "faults.toml", "--out", "out"], &folder);
    assert_status(&output, 7);
    let told = text(&output.stderr);
    assert_says(
        &told,
        &[
            "faults.toml:1: there is no technique `ochia`: take slice",
            "faults.toml:13: the key `inptu` is not known: did you mean `input`?",
            "faults.toml:18: `reference`: the file /home/somebody/right.out is not there: it may be a path of another machine",
            "faults.toml:19: the name `good` is that of the fault on line 5: rename one",
            "faults.toml:23: the fault has no `faulty` lines: name them",
            "3 results made, 0 were there, 2 failed; 5 mistakes in the manifest",
        ],
    );
    let table = study(&["table", "out"], &folder);
    assert_status(&table, 7);
    assert_says(&text(&table.stdout), &["| ochiai | 1 | 2 | 1 |"]);
    assert_says(
        &text(&table.stderr),
        &[
            "no-build, ochiai: the build fails (exit status 3: no compiler here): mend `build`",
            "passes, ochiai: the failing run passes: its output is that of `reference`",
        ],
    );
    let check = study(&["check", "faults.toml"], &folder);
    assert_status(&check, 7);
    assert_says(
        &text(&check.stdout),
        &["??  good", "no test passes", "??  no-build", "the failing run passes"],
    );
    // What has failed is done again on request.
    fs::write(folder.join("faults.toml"), BROKEN.replace("exit 3", "cc -g -o \"$STRIPE_BUILD/prog\" ok.c"))
        .expect("written");
    fs::write(folder.join("passes.in"), "x").expect("written");
    let again = study(&["run", "faults.toml", "--out", "out", "--retry"], &folder);
    assert_says(&text(&again.stderr), &["2 results made, 1 were there, 1 failed"]);
}

#[test]
fn csv_and_json_lines_have_the_same_keys() {
    let folder = broken("study-formats");
    let csv = "name,program,build,faulty,input,reference,expect_timeout\n\
               one,{build}/prog,\"cc -g -O0 -o \"\"$STRIPE_BUILD/prog\"\" ok.c\",ok.c:3;ok.c:4,fails.in,right.out,false\n\
               two,{build}/prog,,ok.c:3,fails.in,right.out,perhaps\n";
    let json = r#"{"name": "one", "program": "{build}/prog", "build": "cc -g -O0 -o \"$STRIPE_BUILD/prog\" ok.c", "faulty": ["ok.c:3", "ok.c:4"], "input": "fails.in", "reference": "right.out"}
{"name": "two"
"#;
    for (file, content, mistake) in [
        ("faults.csv", csv, "faults.csv:3: `expect_timeout` has to be true or false"),
        ("faults.jsonl", json, "faults.jsonl:2: EOF while parsing an object"),
    ] {
        fs::write(folder.join(file), content).expect("written");
        let out = format!("out-{file}");
        let words = ["run", file, "--out", &out, "--techniques", "ochiai,jaccard"];
        let output = study(&words, &folder);
        assert_status(&output, 7);
        assert_says(&text(&output.stderr), &[mistake, "2 results made, 0 were there, 0 failed; 1 mistakes"]);
    }
}

#[test]
fn controls_and_budgets_make_a_matrix_and_a_fault_leaves_techniques_out() {
    let folder = broken("study-matrix");
    let fault = r#"
[[fault]]
name = "NAME"
program = "{build}/prog"
build = 'cc -g -O0 -o "$STRIPE_BUILD/prog" ok.c'
faulty = ["ok.c:3"]
input = "fails.in"
reference = "right.out"
files = ["ok.c"]
"#;
    let matrix = "techniques = [\"slice+ochiai\", \"dynamic\"]\ncontrols = [\"both\", \"trace\"]\nbudgets = [\"1m\", \"1-tests\"]\n";
    let text_of = matrix.to_owned()
        + &fault.replace("NAME", "one")
        + &fault.replace("NAME", "two")
        + "without = [\"dynamic\", \"slice-trace\"]\n";
    fs::write(folder.join("faults.toml"), text_of).expect("written");
    assert_status(&study(&["run", "faults.toml", "--out", "out", "-q"], &folder), 0);
    let status = study(&["status", "out"], &folder);
    assert_status(&status, 0);
    assert_says(
        &text(&status.stdout),
        &[
            "slice:60s+ochiai               2 done    0 cut    0 failed     0 to do",
            "slice:1-tests+ochiai           0 done    2 cut    0 failed     0 to do",
            "slice-trace:60s+ochiai         1 done",
            "slice-trace:1-tests+ochiai     0 done    1 cut",
            "dynamic                        1 done",
            "7 of 7 results of 2 faults are there",
        ],
    );
    let run = fs::read_to_string(folder.join("out/runs/one/slice-trace:60s.json")).expect("a run");
    assert_says(&run, &["\"--max-time\",\n    \"60s\"", "\"--control\",\n    \"trace\""]);
}

#[test]
fn wrong_times_budgets_and_controls_are_told_with_their_lines() {
    let folder = broken("study-wrong-values");
    let manifest = "techniques = [\"slice:soon\"]\ncontrols = [\"free\"]\nbudgets = [\"10\"]\n[[fault]]\nname = \"one\"\n\
                    program = \"prog\"\nfaulty = [\"ok.c:3\"]\nreference = \"right.out\"\ntimeout = \"2 days\"\n\
                    files = [\"none.txt\"]\nwithout = [\"slices\"]\n";
    fs::write(folder.join("faults.toml"), manifest).expect("written");
    let check = study(&["check", "faults.toml"], &folder);
    assert_status(&check, 7);
    assert_says(
        &text(&check.stdout),
        &[
            "faults.toml:1: `soon` is no budget: write a time, such as 10s, or tests, such as 200-tests",
            "faults.toml:2: there is no control `free`: take both, program, trace",
            "faults.toml:3: `10` is no budget",
            "faults.toml:9: `timeout` is `2 days`: ",
            "faults.toml:10: `files`: the file none.txt is not there: paths begin where the manifest lies",
            "faults.toml:11: there is no technique `slices`: take slice,",
        ],
    );
}

/// The manifest as JSON, by Python.
fn as_json(toml: &std::path::Path) -> String {
    let program = "import json, sys, tomllib; print(json.dumps(tomllib.load(open(sys.argv[1], 'rb'))))";
    let output = Command::new("python3").args(["-c", program]).arg(toml).output().expect("python3");
    assert!(output.status.success(), "{}", text(&output.stderr));
    text(&output.stdout)
}

#[test]
fn the_schema_has_the_keys_that_manifests_have() {
    let folder = broken("study-schema");
    let schema = root().join("docs/faults.schema.json");
    let content: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(&schema).expect("a file")).expect("JSON");
    let keys = |of: &serde_json::Value| -> Vec<String> {
        let mut keys: Vec<String> = of["properties"].as_object().expect("keys").keys().cloned().collect();
        keys.sort();
        keys
    };
    // A key that is far from all others is told with the list of them.
    for (manifest, of) in [
        ("unheard_of_key = 1\n", &content),
        ("[[fault]]\nname = \"f\"\nunheard_of_key = 1\n", &content["$defs"]["keys"]),
        ("[[fault]]\nname = \"f\"\ntests = [{ unheard_of_key = 1 }]\n", &content["$defs"]["test"]),
    ] {
        fs::write(folder.join("keys.toml"), manifest).expect("written");
        let told = text(&study(&["check", "keys.toml"], &folder).stdout);
        let list = told.split_once("the keys are ").expect("the keys").1.lines().next().expect("a line");
        let mut known: Vec<String> = list.split(", ").map(str::to_owned).collect();
        known.sort();
        assert_eq!(keys(of), known);
    }
    for (manifest, is_valid) in
        [(root().join("samples/study/faults.toml"), true), (folder.join("faults.toml"), false)]
    {
        let file = folder.join("manifest.json");
        fs::write(&file, as_json(&manifest)).expect("written");
        let mut validator = Command::new("python3");
        validator.args(["-W", "ignore", "-m", "jsonschema", "-i"]).arg(&file).arg(&schema);
        let output = validator.output().expect("python3");
        assert_eq!(output.status.success(), is_valid, "{}", text(&output.stderr));
    }
}
