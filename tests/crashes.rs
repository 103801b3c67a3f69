//! A crash is the same only with the same instruction, address and calls, whichever engine has led to it; and
//! it is told in the words of the source.

mod support;

use std::fs;
use std::hash::Hasher;
use std::process::Output;

use serde_json::{Value, json};
use siphasher::sip128::{Hasher128, SipHasher13};
use support::engine::{conditions, invocation, load};
use support::random::Random;
use support::tiny::{assert_says, tiny};
use support::{Fixture, GCC, Program, how_many, scratch, stripe, text};
use tracer::address::FileAddress;
use tracer::program::Granularity;
use tracer::schedule::{Control, Omission};
use tracer::termination::{BadAddress, CodePlace, Crash, Termination};
use tracer::{Preference, Tracer};

/// The crash that a program records by one engine, in its own words.
fn recorded(program: &Program, preference: Preference) -> Crash {
    let loaded = load(&program.path, Granularity::Statement);
    let start = invocation(&program.path, &program.directory, &[], Vec::new());
    let mut tracer = Tracer::new(&loaded, &start, preference).expect("a tracer");
    match tracer.record(&conditions()).expect("a recording").run.termination {
        Termination::Crashed(crash) => crash,
        other => panic!("{}: {other:?}", program.path.display()),
    }
}

/// The crash that both engines record.
fn crash_of(program: &Program) -> Crash {
    let [jump, breakpoint] =
        [Preference::Jump, Preference::Breakpoint].map(|engine| recorded(program, engine));
    assert_eq!(jump, breakpoint, "{}", program.path.display());
    jump
}

/// A program of these lines, which come after a few declarations.
fn program(name: &str, lines: &str) -> Program {
    let head = "#define _GNU_SOURCE\n#include <setjmp.h>\n#include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>\n\
                #include <string.h>\n#include <sys/mman.h>\n#include <unistd.h>\n";
    tiny(name, &format!("{head}{lines}"))
}

fn needed_lines(slice: &Value) -> Vec<u64> {
    let lines = slice["lines"].as_array().expect("lines").iter();
    lines.filter(|line| line["needed"] != 0).filter_map(|line| line["line"].as_u64()).collect()
}

const TABLE: &str = "struct row { int key, pad[9]; int value; };\n\
    struct table { int size; struct row **rows; };\n\
    int get(struct table *t, int i) { return t->rows[i]->value; }\n\
    int main(void) { struct table *t = NULL;\n\
        struct row **rows = calloc(4, sizeof *rows);\n\
        struct table real = {4, NULL};\n\
        t = &real;\n\
        t->rows = rows;\n\
        printf(\"%d\\n\", get(t, 2));\n\
        return 0; }\n";

#[test]
fn a_null_row_is_not_taken_for_a_null_table() {
    let slice = program("table", TABLE).slice(&["-j1"], 0);
    // calloc, `t = &real` and `t->rows = rows`: without them the table is NULL, or its list of rows.
    let needed = needed_lines(&slice);
    for line in [13, 15, 16] {
        assert!(needed.contains(&line), "line {line}: {needed:?}");
    }
}

#[test]
fn a_crash_is_told_in_the_words_of_the_source() {
    let slice = program("words", TABLE).slice(&["-j1"], 0);
    let criterion = slice["criterion"].as_str().expect("words");
    let told = "SIGSEGV at words.c:11 in get (null pointer: address 0x28), called at words.c:17 in main: it reads \
                t->rows[2]->value, and t->rows[2] is NULL";
    assert_says(criterion, &[told]);
    let written = program(
        "written",
        "struct s { int a, b; };\nint main(void) { struct s *p = malloc(8);\n    p = 0;\n    p->b = 3;\n    return 0; }\n",
    );
    let slice = written.slice(&["-j1"], 0);
    assert_says(slice["criterion"].as_str().expect("words"), &["it writes p->b, and p is NULL"]);
}

#[test]
fn the_same_function_at_another_call_is_another_crash() {
    let source = "int value(int *p) { return *p; }\n\
        int main(void) { int x = 1;\n\
            int *p = NULL;\n\
            p = &x;\n\
            int first = value(p);\n\
            p = NULL;\n\
            int second = value(p);\n\
            return first + second; }\n";
    let slice = program("calls", source).slice(&["-j1"], 0);
    let needed = needed_lines(&slice);
    // Without `p = &x` the first call would crash in the same instruction.
    assert!(needed.contains(&14), "{needed:?}");
}

#[test]
fn a_library_call_of_the_same_statement_is_told_from_another() {
    let first = program(
        "first",
        "int main(void) { char *a = NULL, *b = \"b\";\n    return strlen(a) + strlen(b); }\n",
    );
    let second = program(
        "second",
        "int main(void) { char *a = \"a\", *b = NULL;\n    return strlen(a) + strlen(b); }\n",
    );
    let [first, second] = [&first, &second].map(crash_of);
    assert_eq!(
        (first.signal, &first.instruction, first.address),
        (second.signal, &second.instruction, second.address)
    );
    assert!(matches!(first.instruction, CodePlace::Library(_)), "{first:?}");
    assert!(
        first.back.is_some() && second.back.is_some() && first.back != second.back,
        "{first:?} {second:?}"
    );
}

#[test]
fn an_argument_of_a_library_function_is_told_from_the_other() {
    let program = program(
        "compare",
        "int main(void) { char *a = NULL, *b = NULL;\n    a = \"a\";\n    int c = strcmp(a, b);\n    return c; }\n",
    );
    let slice = program.slice(&["-j1"], 0);
    assert_says(slice["criterion"].as_str().expect("words"), &["SIGSEGV at compare.c:11 in main (within"]);
    assert!(needed_lines(&slice).contains(&10), "{slice}");
}

#[test]
fn a_null_string_is_the_same_crash_whatever_was_done_with_other_strings() {
    let program = program(
        "strings",
        "int main(void) { char text[64];\n    size_t n = strlen(\"abc\");\n    memset(text, 'x', 33);\n    char *p = NULL;\n    n += strlen(p);\n    return n; }\n",
    );
    let slice = program.slice(&["-j1"], 0);
    assert_eq!(needed_lines(&slice), [12], "{slice}");
}

/// Whether a crash is what it should be.
type IsExpected = fn(&Crash) -> bool;

/// Ways to crash: a name, the code, and what is expected of the crash.
fn ways() -> Vec<(&'static str, &'static str, IsExpected)> {
    vec![
        ("null", "int main(void) { int *p = NULL;\n    return *p; }\n", |crash| {
            crash.address == BadAddress::FirstPage(0)
        }),
        ("call_null", "int main(void) { void (*f)(void) = NULL;\n    f();\n    return 0; }\n", |crash| {
            crash.instruction == CodePlace::Astray && crash.back.is_some()
        }),
        ("read_only", "int main(void) { char *s = \"abc\";\n    s[1] = 'x';\n    return 0; }\n", |crash| {
            matches!(crash.address, BadAddress::Mapped(_))
        }),
        ("wild", "int main(void) { int *p = (int *)0x123456789000;\n    return *p; }\n", |crash| {
            crash.address == BadAddress::Unmapped
        }),
        (
            "not_canonical",
            "int main(void) { int *p = (int *)0x1234567890abcdef;\n    return *p; }\n",
            |crash| crash.address == BadAddress::NotCanonical,
        ),
        (
            "call_not_canonical",
            "int main(void) { void (*f)(void) = (void *)0x1234567890abcdef;\n    f();\n    return 0; }\n",
            |crash| crash.signal == 11,
        ),
        ("division", "int main(void) { int a = 1, b = 0;\n    return a / b; }\n", |crash| {
            crash.signal == 8 && matches!(crash.instruction, CodePlace::Program(_))
        }),
        ("abort", "int main(void) { int a = 1;\n    abort();\n    return a; }\n", |crash| {
            crash.signal == 6 && matches!(crash.instruction, CodePlace::Library(_)) && crash.back.is_some()
        }),
        ("raise", "int main(void) { int a = 1;\n    raise(SIGTERM);\n    return a; }\n", |crash| {
            crash.signal == 15 && crash.back.is_some()
        }),
        ("kill", "int main(void) { int a = 1;\n    kill(getpid(), SIGSEGV);\n    return a; }\n", |crash| {
            crash.signal == 11 && crash.address == BadAddress::None && crash.back.is_some()
        }),
        ("illegal", "int main(void) { int a = 1;\n    __asm__(\"ud2\");\n    return a; }\n", |crash| {
            crash.signal == 4 && matches!(crash.instruction, CodePlace::Program(_))
        }),
        ("trap", "int main(void) { int a = 1;\n    __asm__(\"int3\");\n    return a; }\n", |crash| {
            crash.signal == 5 && matches!(crash.instruction, CodePlace::Program(_))
        }),
        ("forbidden", "int main(void) { int a = 1;\n    __asm__(\"hlt\");\n    return a; }\n", |crash| {
            crash.address == BadAddress::Forbidden
        }),
        (
            "guard",
            "int main(void) { char *p = mmap(0, 8192, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);\n    return p[5000]; }\n",
            |crash| crash.address == BadAddress::Unmapped,
        ),
        (
            "past_the_file",
            "int main(void) { char *p = mmap(0, 4096, PROT_READ, MAP_PRIVATE, memfd_create(\"m\", 0), 0);\n    return p[5]; }\n",
            |crash| crash.signal == 7 && matches!(crash.address, BadAddress::Mapped(_)),
        ),
        (
            "stack_code",
            "int main(void) { unsigned char code[16] = {0xc3};\n    ((void (*)(void))code)();\n    return 0; }\n",
            |crash| crash.instruction == CodePlace::Astray && matches!(crash.address, BadAddress::Mapped(_)),
        ),
        (
            "made",
            "int main(void) { unsigned char *code = mmap(0, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);\n    code[0] = 0x0f; code[1] = 0x0b;\n    ((void (*)(void))code)();\n    return 0; }\n",
            |crash| matches!(crash.instruction, CodePlace::Made(_)),
        ),
        (
            "overflow",
            "int deep(int n) { int a[100]; a[0] = n;\n    return n ? deep(n + 1) + a[0] : 0; }\nint main(void) { return deep(1); }\n",
            |crash| crash.signal == 11 && crash.address == BadAddress::Unmapped && crash.calls.len() > 1000,
        ),
        (
            "handler",
            "void handle(int s) { int *p = NULL; *p = s; }\nint main(void) { signal(SIGUSR1, handle);\n    raise(SIGUSR1);\n    return 0; }\n",
            |crash| crash.address == BadAddress::FirstPage(0) && crash.back.is_none(),
        ),
    ]
}

#[test]
fn engines_agree_on_every_way_to_crash() {
    for (name, source, is_expected) in ways() {
        let crash = crash_of(&program(name, source));
        assert!(is_expected(&crash), "{name}: {crash:?}");
    }
}

#[test]
fn a_signal_that_comes_from_elsewhere_has_no_instruction() {
    let source = "int main(void) { volatile int a = 1;\n    if (fork() == 0) { usleep(50000); kill(getppid(), SIGTERM); _exit(0); }\n    for (;;) a++;\n    return a; }\n";
    let crash = recorded(&program("elsewhere", source), Preference::Breakpoint);
    assert_eq!((crash.signal, &crash.instruction, crash.back), (15, &CodePlace::Any, None), "{crash:?}");
}

#[test]
fn engines_agree_on_the_crashes_of_partial_executions() {
    let fixtures =
        ["crash_null", "crash_index", "crash_division", "crash_assert", "linked_list", "function_pointers"];
    for name in fixtures {
        agree_partially(&Fixture::named(name).build(GCC), how_many(60, 400));
    }
    let mut random = Random::new("crashes");
    for number in 0..how_many(4, 40) {
        let source = random_program(&mut random);
        agree_partially(&program(&format!("random{number}"), &source), how_many(40, 200));
    }
}

/// A program of pointers, some of them NULL, that lead to each other.
fn random_program(random: &mut Random) -> String {
    let mut source = String::from(
        "struct n { int v; struct n *a, *b; };\nstatic struct n nodes[8];\nstatic int sum;\n\
         int look(struct n *p, int d) { if (d > 0) { sum += look(p->a, d - 1); }\n    return p->b->v; }\n\
         int main(void) { struct n *p = NULL, *q = NULL;\n    char text[16] = \"\";\n",
    );
    for _ in 0..12 {
        let (one, other) = (random.below(8), random.below(8));
        source += &match random.below(6) {
            0 => format!("    nodes[{one}].a = &nodes[{other}];\n"),
            1 => format!("    nodes[{one}].b = &nodes[{other}];\n"),
            2 => format!("    p = &nodes[{one}];\n"),
            3 => format!("    q = nodes[{one}].a ? nodes[{one}].a : &nodes[{other}];\n"),
            4 => format!("    nodes[{one}].v = {other};\n"),
            _ => format!("    memcpy(text, \"abcdefgh\", {other});\n"),
        };
    }
    source + "    sum += look(p, 2) + q->b->v + strlen(text);\n    return sum / (sum - sum); }\n"
}

/// Replays with both engines the same parts of the run, and finds them ended the same way.
fn agree_partially(program: &Program, count: u64) {
    let loaded = load(&program.path, Granularity::Statement);
    let start = invocation(&program.path, &program.directory, &[], Vec::new());
    let new = |preference| Tracer::new(&loaded, &start, preference).expect("a tracer");
    let (mut jump, mut breakpoint) = (new(Preference::Jump), new(Preference::Breakpoint));
    let recording = breakpoint.record(&conditions()).expect("a recording");
    let mut random = Random::new(&program.path.to_string_lossy());
    for round in 0..count {
        let control = if round % 2 == 0 { Control::Program } else { Control::Trace };
        let omission = Omission::new(&loaded, &recording.trace, control);
        let kept: Vec<bool> = (0..recording.trace.len()).map(|_| random.below(8) > round % 8).collect();
        let schedule = omission.schedule(|event| kept[event.0 as usize]);
        let [one, other] = [&mut jump, &mut breakpoint].map(|tracer| {
            let run = tracer.replay(&recording.trace, &schedule, &conditions()).expect("a replay");
            run.termination
        });
        assert_eq!(one, other, "{}, round {round}", program.path.display());
    }
}

#[test]
fn a_crash_that_needs_nothing_is_shown_with_its_values() {
    let source = "static int *p;\nint main(void) { int x = 1;\n    return *p + x; }\n";
    let output = program("at_once", source).stripe("run", &["-j1"]);
    assert_eq!(output.status.code(), Some(6), "{}", text(&output.stderr));
    let told = text(&output.stdout);
    assert_says(
        &told,
        &["at_once.c: main", "return *p + x;", "What the last execution did before the crash"],
    );
    assert_says(&told.replace("\n  ", " "), &["the crash needs nothing but that the run gets there"]);
    assert_says(&text(&output.stderr), &["the crash comes whatever is left out"]);
    assert!(!text(&output.stderr).contains("ask for more"));
}

#[test]
fn a_crash_that_loses_output_hints_at_the_terminal_and_with_one_it_does_not() {
    let source =
        "int main(void) { int *p = NULL;\n    printf(\"0123456789\\n\");\n    p = p + 1;\n    return *p; }\n";
    let program = program("lost", source);
    let warnings = |options: &[&str]| program.slice(options, 0)["warnings"].to_string();
    assert_says(&warnings(&["-j1"]), &["lost 11 bytes of output", "--pty"]);
    assert!(!warnings(&["-j1", "--pty"]).contains("--pty"));
    let flushed = self::program("flushed", &source.replace("    p =", "    fflush(stdout);\n    p ="));
    assert!(!flushed.slice(&["-j1"], 0)["warnings"].to_string().contains("--pty"));
}

#[test]
fn two_crashes_at_one_place_are_told_apart_in_words() {
    let slice = program("apart", TABLE).slice(&["-j1"], 0);
    let by_products = slice["by_products"].to_string();
    assert_says(&by_products, &["at another instruction"]);
    assert!(!by_products.contains("SIGSEGV instead of SIGSEGV"));
}

#[test]
fn an_inlined_function_is_named_with_the_one_into_which_it_was_put() {
    let source = "struct s { int a, b; };\n\
        static inline __attribute__((always_inline)) int get(struct s *p) { return p->b; }\n\
        int main(void) { struct s *p = malloc(8);\n    p = NULL;\n    int x = get(p);\n    return x; }\n";
    let slice = program("inlined", source).slice(&["-j1"], 0);
    assert_says(slice["criterion"].as_str().expect("words"), &["at inlined.c:10 in get, inlined into main"]);
}

fn about(program: &Program, words: &[&str]) -> Output {
    stripe().args(words).current_dir(&program.directory).output().expect("stripe can be started")
}

/// The checksum of a document.
fn check_of(content: &Value) -> String {
    let mut hasher = SipHasher13::new();
    hasher.write(content.to_string().as_bytes());
    format!("{:032x}", hasher.finish128().as_u128())
}

#[test]
fn a_crash_is_kept_as_it_was_and_one_of_an_older_stripe_is_refused_with_the_remedy() {
    let mut table = program("kept_table", TABLE);
    table.directory = scratch("kept-table");
    let whole = table.slice(&["-j1"], 0);
    let again = about(&table, &["report", "--format", "json"]);
    let again: Value = serde_json::from_slice(&again.stdout).expect("JSON");
    assert_eq!(again["criterion"], whole["criterion"]);
    assert!(about(&table, &["reduce", "-q"]).status.success());
    // As an older one wrote it; the checksum stands for the content.
    let path = table.directory.join(".stripe/latest/run.json");
    let mut document: Value = serde_json::from_slice(&fs::read(&path).expect("a run")).expect("JSON");
    let old =
        json!({"crashed": {"signal": 11, "address": "null_page", "statement": [0, 3, 5], "calls": [0]}});
    document["content"]["recorded"]["end"] = old;
    document["check"] = json!(check_of(&document["content"]));
    fs::write(&path, document.to_string()).expect("written");
    let refused = about(&table, &["report"]);
    assert_eq!(refused.status.code(), Some(1), "{}", text(&refused.stdout));
    assert_says(&text(&refused.stderr), &["did not tell which instruction crashed", "run the command again"]);
    assert!(about(&table, &["runs"]).status.success());
}

#[test]
fn the_address_of_the_instruction_is_that_of_the_file() {
    let crash = crash_of(&program("address", "int main(void) { int *p = NULL;\n    return *p; }\n"));
    let CodePlace::Program(place) = crash.instruction else { panic!("{crash:?}") };
    // A small program's own code lies in its first pages.
    assert!(place.address > FileAddress(0x1000) && place.address < FileAddress(0x3000), "{place:?}");
}
