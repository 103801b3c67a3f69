//! `stripe simplify --keep-path`: the same statements lead to the failure.

mod support;

use std::fs;

use serde_json::Value;
use support::simplifying::{document, folder, left, simplify};
use support::tiny::{assert_says, message, tiny};
use support::{Program, text};

/// Fails with the same message for a text without a name as for one whose number is too large. Numbers stand behind names.
const TWO_WAYS: &str = "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\nint main(int argc, char **argv) {\n    \
    static char t[100];\n    FILE *f = argc > 1 ? fopen(argv[1], \"r\") : stdin;\n    int bad = 0;\n    \
    t[fread(t, 1, 99, f)] = 0;\n    char *p = strchr(t, '=');\n    if (p == 0)\n        bad = 1;\n    else if (atoi(p + 1) > 9)\n        \
    bad = 2;\n    if (bad) {\n        fprintf(stderr, \"error: bad line\\n\");\n        return 1;\n    }\n    return 0;\n}\n";

fn found(program: &Program, words: &[&str]) -> Value {
    let name = program.path.display().to_string();
    document(&program.directory, &[&[&name[..]], words].concat(), 0)
}

#[test]
fn with_the_path_kept_the_failure_is_not_mistaken_for_another_one() {
    let program = tiny("two-ways", TWO_WAYS);
    fs::write(program.directory.join("in.txt"), "width = 12 or so").expect("written");
    // Without, a single character will do: there is no name at all.
    let anything = ["--stdin", "in.txt", "--reject-match", "x", "--expect-exit", "1"];
    let slipped =
        simplify(&program.directory, &[&[program.path.to_str().expect("a path")], &anything[..]].concat());
    assert_eq!(slipped.status.code(), Some(6), "{}", text(&slipped.stderr));
    for words in
        [&["--keep-path", "--stdin", "in.txt"][..], &["--keep-path", "--file", "in.txt", "--", "in.txt"]]
    {
        let kept = found(&program, words);
        assert_eq!(left(&kept), "=10", "{words:?}");
        assert_says(
            kept["criterion"].as_str().expect("a text"),
            &["exit status 1", "by the same statements"],
        );
    }
}

#[test]
fn what_has_no_statements_has_no_path() {
    let here = folder("no-path", &[("prog", "#!/bin/sh\necho error >&2; exit 1\n"), ("in.txt", "text")]);
    let refused = simplify(&here, &["./prog", "--stdin", "in.txt", "--keep-path"]);
    assert_says(&message(&refused, 1), &["script"]);
    let alone = simplify(&here, &["--file", "in.txt", "--check", "true", "--keep-path"]);
    assert_says(&message(&alone, 2), &["--keep-path", "the check alone"]);
}
