//! Programs that were compiled with a sanitizer, or optimised, or by a compiler of its own kind.

mod support;

use std::fs;
use std::process::Command;

use serde_json::Value;
use support::tiny::{assert_says, message};
use support::{Fixture, GCC, Program, sample, scratch, stripe, text};

/// Ends normally, and loses what it has allocated.
const LEAK: &str = "#include <stdio.h>\n#include <stdlib.h>\nint main(void) { int *p = malloc(sizeof *p);\n\
                    \x20   int unused = 4;\n    *p = 3;\n    unused = unused + *p;\n\
                    \x20   printf(\"result %d\\n\", *p);\n    p = 0;\n    return 0;\n}\n";

/// Decides by a variable that was never set.
const UNSET: &str = "#include <stdio.h>\nint pick(int n) { int r;\n    int k = n * 2;\n    if (n > 3) r = k;\n\
                     \x20   return r;\n}\nint main(void) { int unused = 3;\n    unused++;\n\
                     \x20   if (pick(2) > 10) puts(\"big\");\n    return 0;\n}\n";

/// Compiles `source` as `program.c`.
fn built(name: &str, compiler: &str, options: &[&str], source: &str) -> Program {
    let folder = scratch(name);
    fs::write(folder.join("program.c"), source).expect("a source");
    let mut command = Command::new(compiler);
    command.args(["-g", "-w", "-o", "program", "program.c"]).args(options).current_dir(&folder);
    let output = command.output().expect("a compiler");
    assert!(output.status.success(), "{compiler} {options:?}: {}", text(&output.stderr));
    Program {
        path: folder.join("program"),
        directory: folder,
        stdin: "/dev/null".into(),
        arguments: Vec::new(),
    }
}

fn doctor(program: &Program, status: i32) -> String {
    let output = stripe().arg("doctor").arg(&program.path).output().expect("started");
    assert_eq!(output.status.code(), Some(status), "{}", text(&output.stderr));
    text(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn needed_lines(slice: &Value) -> Vec<u64> {
    let lines = slice["lines"].as_array().expect("lines").iter();
    lines.filter(|line| line["needed"] != 0).map(|line| line["line"].as_u64().expect("a line")).collect()
}

fn warnings(slice: &Value) -> Vec<String> {
    let all = slice["warnings"].as_array().expect("warnings").iter();
    all.map(|warning| warning.as_str().expect("words").to_owned()).collect()
}

#[test]
fn a_program_that_would_search_for_leaks_runs_as_without_and_is_told_so_once() {
    for (name, compiler, flag) in [
        ("asan-gcc", "gcc", "-fsanitize=address"),
        ("asan-clang", "clang", "-fsanitize=address"),
        ("lsan-gcc", "gcc", "-fsanitize=leak"),
    ] {
        let program = built(name, compiler, &[flag], LEAK);
        let slice = program.slice(&["-j1", "--no-save"], 0);
        assert_eq!(slice["criterion"], "the same standard output", "{name}");
        let lines = needed_lines(&slice);
        assert!(lines.contains(&3) && lines.contains(&5) && lines.contains(&7), "{name}: {lines:?}");
        assert!(!lines.contains(&4) && !lines.contains(&6), "{name}: {lines:?}");
        let told = warnings(&slice).into_iter().filter(|told| told.contains("search for leaks")).count();
        assert_eq!(told, 1, "{name}: {slice}");
    }
}

#[test]
fn what_the_user_asks_of_a_sanitizer_is_kept_and_leaks_are_not_looked_for_all_the_same() {
    let source = "#include <stdio.h>\n#include <stdlib.h>\nint main(void) {\n\
                  \x20   puts(getenv(\"ASAN_OPTIONS\"));\n    puts(getenv(\"LSAN_OPTIONS\"));\n}\n";
    let program = built("asan-options", "gcc", &["-fsanitize=address"], source);
    let options = ["--env", "ASAN_OPTIONS=symbolize=0:detect_leaks=1", "--env", "LSAN_OPTIONS=", "--no-save"];
    let expected = "symbolize=0:detect_leaks=1:detect_leaks=0\ndetect_leaks=0\n";
    let file = program.directory.join("expected");
    fs::write(&file, expected).expect("written");
    let criterion = ["--expect-output", file.to_str().expect("UTF-8")];
    program.slice(&[&options[..], &criterion].concat(), 0);
    let plain = built("no-options", "gcc", &[], &source.replace("puts(getenv", "printf(\"%p\", getenv"));
    let slice = plain.slice(&["--expect-match", r"^\(nil\)\(nil\)$", "--no-save", "--clear-env"], 0);
    let is_about_leaks = |told: &String| told.contains("leaks");
    assert!(
        !warnings(&slice).iter().any(is_about_leaks),
        "a program without a sanitizer is left alone: {slice}"
    );
}

#[test]
fn a_report_of_memory_sanitizer_or_thread_sanitizer_is_found_by_both_engines() {
    let program = built("msan", "clang", &["-fsanitize=memory"], UNSET);
    let slices = ["breakpoint", "jump"].map(|engine| {
        let slice = program.slice(&["-j1", "--no-save", "--engine", engine], 0);
        let criterion = slice["criterion"].as_str().expect("words");
        assert_says(criterion, &["MemorySanitizer: use-of-uninitialized-value"]);
        needed_lines(&slice)
    });
    assert_eq!(slices[0], slices[1]);
    assert!(slices[0].contains(&2) && !slices[0].contains(&8), "{slices:?}");
    for compiler in ["gcc", "clang"] {
        let program = built(&format!("tsan-{compiler}"), compiler, &["-fsanitize=thread"], LEAK);
        let slice = program.slice(&["-j1", "--no-save", "--engine", "jump"], 0);
        let lines = needed_lines(&slice);
        assert!(lines.contains(&5) && lines.contains(&7) && !lines.contains(&6), "{compiler}: {lines:?}");
    }
}

#[test]
fn doctor_tells_what_holds_for_a_sanitizer() {
    let told = |compiler: &str, flag: &str| {
        doctor(&built(&format!("doctor-{compiler}{flag}"), compiler, &[flag], LEAK), 0)
    };
    for compiler in ["gcc", "clang"] {
        let address = told(compiler, "-fsanitize=address");
        assert_says(&address, &["compiled with AddressSanitizer", "leaks are not looked for", "symbolize=0"]);
        assert!(!address.contains("UndefinedBehavior"), "{address}");
        assert_says(&told(compiler, "-fsanitize=undefined"), &["with UndefinedBehaviorSanitizer"]);
        assert_says(&told(compiler, "-fsanitize=thread"), &["with ThreadSanitizer"]);
    }
    assert_says(&told("gcc", "-fsanitize=leak"), &["with LeakSanitizer", "-> compile without it"]);
    assert_says(&told("clang", "-fsanitize=memory"), &["with MemorySanitizer"]);
    let both = told("gcc", "-fsanitize=address,undefined");
    assert_says(&both, &["with AddressSanitizer", "with UndefinedBehaviorSanitizer"]);
    assert!(!told("gcc", "-O0").contains("Sanitizer"));
}

#[test]
fn optimisation_is_seen_where_the_compiler_does_not_write_down_its_options() {
    for compiler in ["gcc", "clang"] {
        for level in ["-O1", "-O2", "-Os"] {
            let told = doctor(&built(&format!("{compiler}{level}"), compiler, &[level], LEAK), 0);
            assert_says(&told, &["fair compiled with", "few statements have code"]);
        }
        let told = doctor(&built(&format!("{compiler}-O0"), compiler, &["-O0"], LEAK), 0);
        assert_says(&told, &["no sign of optimisation"]);
    }
    let source = scratch("optimised-rust");
    fs::write(
        source.join("p.rs"),
        "fn main() {\n    let n = std::env::args().count();\n    println!(\"{n}\");\n}\n",
    )
    .expect("written");
    for (level, sign) in [("0", "no sign of optimisation"), ("2", "compiled with optimisation")] {
        let mut rustc = Command::new("rustc");
        rustc.args(["-g", "-C", &format!("opt-level={level}"), "-o", level, "p.rs"]).current_dir(&source);
        assert!(rustc.status().expect("rustc").success());
        let output = stripe().arg("doctor").arg(source.join(level)).output().expect("started");
        assert_says(&text(&output.stdout), &[sign]);
    }
}

#[test]
fn what_musl_runs_before_main_is_not_the_user_s() {
    for options in [&["-O0"][..], &["-O0", "-static"]] {
        let program = built(&format!("musl{}", options.len()), "musl-gcc", options, LEAK);
        let told = doctor(&program, 0);
        assert_says(&told, &["no sign of optimisation", "in program.c"]);
        assert!(!told.contains("crt"), "{told}");
        assert_eq!(program.events(&[])[0]["function"], "main");
        let slice = program.slice(&["-j1", "--no-save"], 0);
        assert!(warnings(&slice).is_empty(), "{slice}");
    }
}

#[test]
fn a_go_program_is_refused_by_doctor_as_by_run() {
    let original = sample(GCC, "");
    let folder = scratch("go");
    let path = folder.join("go");
    let mut objcopy = Command::new("objcopy");
    objcopy.arg("--add-section").arg(format!(".gopclntab={}", original.stdin.display()));
    assert!(objcopy.arg(&original.path).arg(&path).status().expect("objcopy").success());
    let program = Program { path, directory: folder, ..original };
    assert_says(&doctor(&program, 1), &["BAD", "is a Go program", "starts threads"]);
    assert_says(&message(&program.stripe("run", &[]), 1), &["go: is a Go program", "no remedy"]);
}

#[test]
fn the_advice_against_threads_says_that_a_pool_of_one_is_no_remedy() {
    let told = doctor(&Fixture::named("thread").build(GCC), 0);
    assert_says(&told, &["RAYON_NUM_THREADS=1 starts a thread all the same", "current_thread for tokio"]);
}
