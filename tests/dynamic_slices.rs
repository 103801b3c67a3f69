//! `stripe slice`: dynamic slices are those that one finds by hand, dependences are those of an interpreter, and a
//! run of nothing but its slice shows the failure.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use serde_json::Value;
use support::engine::in_two_threads;
use support::random::Random;
use support::tiny::{assert_says, message, tiny};
use support::{Fixture, GCC, Program, how_many, root, sample, text};

/// The dynamic slice as JSON.
fn sliced(program: &Program, options: &[&str]) -> Value {
    let output = program.stripe("slice", &[options, &["--format", "json", "-q"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}: {}", program.path.display(), text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().unwrap_or_else(|| panic!("{key}: {value}"))
}

fn number(value: &Value, key: &str) -> u32 {
    value[key].as_u64().unwrap_or_else(|| panic!("{key}: {value}")) as u32
}

/// The executions of a slice: `8#2 11#1-3`, lines in order.
fn executions(slice: &Value) -> String {
    let mut lines: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for event in list(slice, "slice").iter().filter(|event| !event["occurrence"].is_null()) {
        lines.entry(number(event, "line")).or_default().push(number(event, "occurrence"));
    }
    let mut told = Vec::new();
    for (line, numbers) in lines {
        for stretch in numbers.chunk_by(|one, next| one + 1 == *next) {
            let (first, last) = (stretch[0], stretch[stretch.len() - 1]);
            told.push(match first == last {
                true => format!("{line}#{first}"),
                false => format!("{line}#{first}-{last}"),
            });
        }
    }
    told.join(" ")
}

fn slice_of(program: &Program, options: &[&str]) -> String {
    executions(&sliced(program, options))
}

#[test]
fn the_slices_of_the_papers_sample_are_those_that_one_finds_by_hand() {
    let program = sample(GCC, "");
    let of = |kind, criterion: &[&str]| slice_of(&program, &[&["--kind", kind], criterion].concat());
    let (sum, product) = (["--expect-match", "sum = 15"], ["--expect-match", "mul = 0"]);
    assert_eq!(of("data", &sum), "6#1 8#2 11#1-6 13#1-5 15#1");
    assert_eq!(of("data", &product), "7#1 8#2 12#1-6 13#1-5 16#1");
    assert_eq!(of("full", &sum), "6#1 8#2 9#2 10#1-6 11#1-6 13#1-5 15#1");
    assert_eq!(of("full", &product), "7#1 8#2 9#2 10#1-6 12#1-6 13#1-5 16#1");
    // All that is printed: the prompts too, and not that the loop ends, nor what is returned.
    let all = "6#1 7#1 8#1-2 9#1-2 10#1-6 11#1-6 12#1-6 13#1-5 15#1 16#1";
    assert_eq!(of("full", &[]), all);
    assert_eq!(of("full", &["--value", "sum@11#3"]), "6#1 8#2 9#2 10#1-2 11#1-2 13#1");
    assert_eq!(of("data", &["--value", "sum@11#3"]), "6#1 8#2 11#1-2 13#1");
    assert_eq!(of("full", &["--decision", "10#4"]), "8#2 9#2 10#1-4 13#1-3");
    assert_eq!(of("data", &["--forward", "7#1"]), "7#1 12#1-6 16#1");
}

#[test]
fn dependences_have_kinds_and_names() {
    let program = sample(GCC, "");
    let slice = sliced(&program, &["--value", "sum@11#2"]);
    let place = |event: u32| {
        let found =
            list(&slice, "slice").iter().find(|found| number(found, "event") == event).expect("there");
        format!("{}#{}", found["line"], found["occurrence"])
    };
    let told = list(&slice, "dependences").iter().map(|found| {
        let (from, to) = (place(number(found, "from")), place(number(found, "to")));
        let word = |key: &str| found[key].as_str().expect("a word").to_owned();
        format!("{from} {to} {} {}", word("kind"), word("name")).trim_end().to_owned()
    });
    let expected = [
        "9#2 8#2 data stdin",
        "10#1 8#2 data a",
        "10#1 9#2 data b",
        "11#1 6#1 data sum",
        "11#1 8#2 data a",
        "11#1 10#1 control",
    ];
    assert_eq!(told.collect::<Vec<_>>(), expected);
    assert_eq!((&slice["schema"], &slice["kind"]), (&"stripe.dynamic/1".into(), &"full".into()));
    assert_says(slice["criterion"].as_str().unwrap(), &["the value of sum when 11#2 begins, 0"]);
}

/// A program of the manual.
fn of_manual(name: &str) -> Program {
    let source = std::fs::read_to_string(root().join(format!("samples/slices/{name}.c"))).expect("a sample");
    tiny(&format!("slices-{name}"), &source)
}

#[test]
fn lists_recursion_and_pointers_are_followed() {
    let only = |program: &Program, line| slice_of(program, &["--only-lines", line]);
    let list = of_manual("list");
    assert_eq!(only(&list, "length"), "17#1 18#1-6 20#1-3 26#1");
    assert_eq!(only(&list, "last"), "8#1-3 9#3 11#1-3 16#1 18#1-6 19#1-3 24#1");
    assert_eq!(only(&list, "sum"), "8#1-3 9#1-3 10#2-3 11#1-3 16#1 17#2 18#1-6 19#1-3 22#1-6 23#1-3 25#1");
    let recursion = of_manual("recursion");
    // What the calls need is what their callers had read before.
    assert_eq!(only(&recursion, "calls"), "7#1-4 8#1-3 10#1-3 18#1 20#1");
    assert_eq!(slice_of(&recursion, &["--value", "half@11#2"]), "8#1-4 9#1 10#1-3 11#1 13#1 18#1");
    assert_eq!(only(&recursion, "result"), "8#1-4 9#1 10#1-3 11#1-3 12#1 13#1-2 18#1 19#1");
    let pointers = of_manual("pointers");
    assert_eq!(only(&pointers, "bob"), "8#2 9#2 12#1 15#1");
    assert_eq!(only(&pointers, "copy"), "8#1 9#1 10#1 13#1 14#1 16#1");
    // Where the pointer leads counts as well.
    assert_eq!(slice_of(&pointers, &["--value", "to->balance@12#1"]), "8#2 9#2");
    assert_eq!(slice_of(&pointers, &["--value", "from->balance@12#1"]), "8#1 9#1 11#1");
}

const LIBRARY: &str = "#include <stdio.h>
#include <stdlib.h>
#include <string.h>
struct pair { int a, b; };
static int compare(const void *x, const void *y) {
  return *(const int *)x - *(const int *)y;
}
int main(void) {
  struct pair p = {1, 2}, q;
  q = p;
  p.a = 7;
  printf(\"pair %d\\n\", q.a + q.b);
  char text[32];
  strcpy(text, \"ab\");
  char near[8] = \"zz\";
  strcat(text, \"cd\");
  char *copy = strdup(text);
  near[0] = 'y';
  printf(\"text %s %zu\\n\", copy, strlen(copy));
  free(copy);
  double x = 1.5;
  double y = 2.5;
  printf(\"product %g\\n\", x * y);
  printf(\"factor %g\\n\", y);
  FILE *f = fopen(\"kept.txt\", \"w\");
  fprintf(f, \"%d\\n\", q.b);
  fclose(f);
  f = fopen(\"kept.txt\", \"r\");
  int back = -1;
  fscanf(f, \"%d\", &back);
  printf(\"back %d\\n\", back);
  int list[3] = {3, 1, 2};
  int other[3] = {0};
  memcpy(other, list, sizeof list);
  list[0] = 8;
  qsort(other, 3, sizeof(int), compare);
  printf(\"least %d %s\\n\", other[0], near);
  return 0;
}
";

#[test]
fn what_libraries_and_the_kernel_do_is_followed_and_their_books_are_not() {
    let program = tiny("slices-library", LIBRARY);
    let only = |line| slice_of(&program, &["--only-lines", line]);
    assert_eq!(only("pair"), "9#1 10#1 12#1");
    assert_eq!(only("text"), "14#1 16#1 17#1 19#1");
    assert_eq!(only("product"), "21#1 22#1 23#1");
    assert_eq!(only("factor"), "22#1 24#1");
    assert_eq!(only("back"), "9#1 10#1 25#1 26#1 27#1 28#1 30#1 31#1");
    assert_eq!(only("least"), "6#1-3 15#1 18#1 32#1 34#1 36#1 37#1");
}

#[test]
fn a_crash_depends_on_what_the_crashing_execution_has_read() {
    let source = "#include <stdio.h>\nint table[4];\nint main(void) {\n  long stride = 1;\n  int other = 3;\n  \
                  stride = 1000000000;\n  printf(\"%d\\n\", other);\n  table[2 * stride] = 1;\n  return 0; }\n";
    let program = tiny("slices-crash", source);
    assert_eq!(slice_of(&program, &["--expect-signal", "SEGV"]), "6#1 8#1");
}

/// A program of random statements, whose dependences an interpreter of its own knows.
struct Subject {
    lines: Vec<String>,
    memory: BTreeMap<String, (u32, Option<Execution>)>,
    counts: BTreeMap<usize, u32>,
    dependences: BTreeSet<(Execution, Execution, String)>,
}

/// A line and which of its executions.
type Execution = (usize, u32);

const VARIABLES: u64 = 5;
const ELEMENTS: u32 = 4;

/// A statement with its line.
enum Statement {
    /// `vT = vA + vB * C;`
    Sum(u64, u64, u64, u32, usize),
    /// `list[vT % 4] = vA;`
    Put(u64, u64, usize),
    /// `vT = list[vA % 4];`
    Get(u64, u64, usize),
    /// `p = &vA;`, then `vT = *p + 1;` and `*p = vB;`
    Aim(u64, usize),
    Follow(u64, usize),
    Set(u64, usize),
    /// `vT = mix(vA, vB);`
    Call(u64, u64, u64, usize),
    /// `if (vA % 2)`
    If(u64, usize, Vec<Statement>),
    /// `for (i = 0; i < C; i++)`
    For(usize, u32, usize, Vec<Statement>),
}

const HEAD: &str = "#include <stdio.h>
unsigned mix(unsigned x, unsigned y) {
  unsigned r = x * 3 + y;
  return r ^ 5;
}
int main(void) {
";

impl Subject {
    fn new() -> Subject {
        let lines = HEAD.lines().map(str::to_owned).collect();
        let (memory, counts) = (BTreeMap::new(), BTreeMap::new());
        Subject { lines, memory, counts, dependences: BTreeSet::new() }
    }

    fn line(&mut self, text: String) -> usize {
        self.lines.push(text);
        self.lines.len()
    }

    fn block(&mut self, random: &mut Random, depth: usize, most: u64) -> Vec<Statement> {
        (0..1 + random.below(most)).map(|_| self.statement(random, depth)).collect()
    }

    fn statement(&mut self, random: &mut Random, depth: usize) -> Statement {
        let [t, a, b] = [(); 3].map(|()| random.below(VARIABLES));
        let c = 1 + random.below(5) as u32;
        match random.below(if depth < 3 { 10 } else { 8 }) {
            0 | 1 => Statement::Sum(t, a, b, c, self.line(format!("v{t} = v{a} + v{b} * {c};"))),
            2 => Statement::Put(t, a, self.line(format!("list[v{t} % 4] = v{a};"))),
            3 => Statement::Get(t, a, self.line(format!("v{t} = list[v{a} % 4];"))),
            4 => Statement::Aim(a, self.line(format!("p = &v{a};"))),
            5 => Statement::Follow(t, self.line(format!("v{t} = *p + 1;"))),
            6 => Statement::Set(b, self.line(format!("*p = v{b};"))),
            7 => Statement::Call(t, a, b, self.line(format!("v{t} = mix(v{a}, v{b});"))),
            8 => {
                let line = self.line(format!("if (v{a} % 2) {{"));
                let inner = self.block(random, depth + 1, 3);
                self.line("}".into());
                Statement::If(a, line, inner)
            }
            _ => {
                let line = self.line(format!("for (i{depth} = 0; i{depth} < {c}; i{depth}++) {{"));
                let inner = self.block(random, depth + 1, 4);
                self.line("}".into());
                Statement::For(depth, c, line, inner)
            }
        }
    }

    /// A line is executed.
    fn at(&mut self, line: usize) -> Execution {
        let count = self.counts.entry(line).or_default();
        *count += 1;
        (line, *count)
    }

    fn read(&mut self, reader: Execution, cell: &str, name: &str) -> u32 {
        let (value, writer) = self.memory.get(cell).cloned().unwrap_or_default();
        if let Some(writer) = writer.filter(|&writer| writer != reader) {
            self.dependences.insert((reader, writer, name.to_owned()));
        }
        value
    }

    fn variable(&mut self, reader: Execution, number: u64) -> u32 {
        let name = format!("v{number}");
        self.read(reader, &name, &name)
    }

    fn write(&mut self, writer: Execution, cell: &str, value: u32) {
        self.memory.insert(cell.to_owned(), (value, Some(writer)));
    }

    /// What the pointer leads to.
    fn target(&mut self, reader: Execution) -> String {
        format!("v{}", self.read(reader, "p", "p"))
    }

    fn run(&mut self, statements: &[Statement]) {
        for statement in statements {
            match *statement {
                Statement::Sum(t, a, b, c, line) => {
                    let at = self.at(line);
                    let value = self.variable(at, a).wrapping_add(self.variable(at, b).wrapping_mul(c));
                    self.write(at, &format!("v{t}"), value);
                }
                Statement::Put(t, a, line) => {
                    let at = self.at(line);
                    let (value, index) = (self.variable(at, a), self.variable(at, t) % ELEMENTS);
                    self.write(at, &format!("list[{index}]"), value);
                }
                Statement::Get(t, a, line) => {
                    let at = self.at(line);
                    let element = format!("list[{}]", self.variable(at, a) % ELEMENTS);
                    let value = self.read(at, &element, &element);
                    self.write(at, &format!("v{t}"), value);
                }
                Statement::Aim(a, line) => {
                    let at = self.at(line);
                    self.write(at, "p", a as u32);
                }
                Statement::Follow(t, line) => {
                    let at = self.at(line);
                    let target = self.target(at);
                    let value = self.read(at, &target, &target).wrapping_add(1);
                    self.write(at, &format!("v{t}"), value);
                }
                Statement::Set(b, line) => {
                    let at = self.at(line);
                    let (value, target) = (self.variable(at, b), self.target(at));
                    self.write(at, &target, value);
                }
                Statement::Call(t, a, b, line) => self.call(t, a, b, line),
                Statement::If(a, line, ref inner) => {
                    let at = self.at(line);
                    if self.variable(at, a) % 2 == 1 {
                        self.run(inner);
                    }
                }
                Statement::For(depth, rounds, line, ref inner) => {
                    let counter = format!("i{depth}");
                    let at = self.at(line);
                    self.write(at, &counter, 0);
                    loop {
                        let at = self.at(line);
                        if self.read(at, &counter, &counter) >= rounds {
                            break;
                        }
                        self.run(inner);
                        let at = self.at(line);
                        let value = self.read(at, &counter, &counter) + 1;
                        self.write(at, &counter, value);
                    }
                }
            }
        }
    }

    fn call(&mut self, t: u64, a: u64, b: u64, line: usize) {
        let at = self.at(line);
        let (x, y) = (self.variable(at, a), self.variable(at, b));
        self.write(at, "x", x);
        self.write(at, "y", y);
        let first = self.at(3);
        let value = self.read(first, "x", "x").wrapping_mul(3).wrapping_add(self.read(first, "y", "y"));
        self.write(first, "r", value);
        let second = self.at(4);
        let value = self.read(second, "r", "r") ^ 5;
        self.dependences.insert((at, second, "mix()".to_owned()));
        self.write(at, &format!("v{t}"), value);
    }

    /// Writes the program, and finds its dependences and what it prints.
    fn make(random: &mut Random) -> (Subject, u32) {
        let mut subject = Subject::new();
        for number in 0..VARIABLES {
            let line = subject.line(format!("unsigned v{number} = {};", number + 2));
            let at = subject.at(line);
            subject.write(at, &format!("v{number}"), number as u32 + 2);
        }
        let line = subject.line("unsigned list[4] = {9, 8, 7, 6};".to_owned());
        let at = subject.at(line);
        (0..ELEMENTS).for_each(|element| subject.write(at, &format!("list[{element}]"), 9 - element));
        let line = subject.line("unsigned *p = &v0;".to_owned());
        let at = subject.at(line);
        subject.write(at, "p", 0);
        subject.line("unsigned i0, i1, i2;".to_owned());
        let statements: Vec<Statement> = (0..3).flat_map(|_| subject.block(random, 0, 6)).collect();
        subject.run(&statements);
        let line = subject.line("printf(\"%u\\n\", v0);".to_owned());
        let at = subject.at(line);
        let printed = subject.variable(at, 0);
        subject.line("return 0; }".to_owned());
        (subject, printed)
    }

    /// The dependences that lead to what is printed.
    fn expected(&self) -> BTreeSet<(Execution, Execution, String)> {
        let line = self.lines.len() - 1;
        let mut reached = BTreeSet::from([(line, 1)]);
        loop {
            let of = self.dependences.iter().filter(|(from, ..)| reached.contains(from));
            let more: BTreeSet<Execution> = of.map(|&(_, to, _)| to).chain([(line, 1)]).collect();
            let before = reached.len();
            reached.extend(more);
            if reached.len() == before {
                break;
            }
        }
        self.dependences.iter().filter(|(from, ..)| reached.contains(from)).cloned().collect()
    }
}

#[test]
fn dependences_of_random_programs_are_those_of_an_interpreter() {
    let seeds: Vec<u64> = (0..how_many(8, 200)).collect();
    in_two_threads(&seeds, |seed| {
        let name = format!("slices-random-{seed}");
        let (subject, printed) = Subject::make(&mut Random::new(&name));
        let source = subject.lines.iter().fold(String::new(), |mut source, line| {
            let _ = writeln!(source, "{line}");
            source
        });
        let program = tiny(&name, &source);
        let printed = regex_of(printed);
        let slice = sliced(&program, &["--kind", "data", "--expect-match", &printed]);
        let events: BTreeMap<u32, Execution> = list(&slice, "slice")
            .iter()
            .map(|event| {
                let occurrence = number(event, "occurrence");
                (number(event, "event"), (number(event, "line") as usize, occurrence))
            })
            .collect();
        let found: BTreeSet<(Execution, Execution, String)> = list(&slice, "dependences")
            .iter()
            .map(|found| {
                let name = found["name"].as_str().expect("a name");
                // What a pointer leads to is called by its variable, or by the pointer.
                let (from, to) = (events[&number(found, "from")], events[&number(found, "to")]);
                (from, to, name.to_owned())
            })
            .collect();
        assert_eq!(found, subject.expected(), "{source}");
    });
}

fn regex_of(printed: u32) -> String {
    format!("^{printed}$")
}

/// Fixtures whose slice, executed alone, does not show the failure: with the reason.
const NOT_BY_THEMSELVES: [(&str, &str); 5] = [
    ("asks_time", "the program is told another time where it asks less often"),
    ("endless_", "never ends"),
    ("fork_child", "a process of its own prints"),
    ("leftover_child", "a process of its own is left behind"),
    ("memory_exhausted", "the books of the allocator make no dependence"),
];

#[test]
fn a_run_of_nothing_but_its_slice_shows_the_failure() {
    let fits = |fixture: &Fixture| {
        let is_excepted = NOT_BY_THEMSELVES.iter().any(|(name, _)| fixture.name.starts_with(name));
        fixture.directive("refused").is_none() && !is_excepted
    };
    let quick = |fixture: &Fixture| {
        let is_c = fixture.source.extension().is_some_and(|extension| extension == "c");
        is_c && !["big_frame", "deep_recursion", "stack_overflow"].contains(&fixture.name.as_str())
    };
    let of = how_many(6, 1) as usize;
    let all: Vec<Fixture> = Fixture::all().into_iter().filter(fits).collect();
    let chosen: Vec<Fixture> =
        all.into_iter().filter(|fixture| of == 1 || quick(fixture)).step_by(of).collect();
    assert!(chosen.len() >= 8, "{}", chosen.len());
    in_two_threads(&chosen, |fixture| {
        let program = fixture.build(GCC);
        let slice = sliced(&program, &[]);
        let events: Vec<String> =
            list(&slice, "slice").iter().map(|event| event["event"].to_string()).collect();
        let replay = program.stripe("replay", &["--control", "trace", "--keep", &events.join(",")]);
        let told = text(&replay.stderr);
        assert_eq!(replay.status.code(), Some(0), "{}: {told}", fixture.name);
        assert!(told.contains("reproduced"), "{}: {told}", fixture.name);
    });
}

#[test]
fn what_is_needed_is_in_the_dynamic_slice() {
    let names =
        ["factorial", "linked_list", "poison_stack", "switch_table", "struct_return", "qsort_callback"];
    in_two_threads(&names, |name| {
        let program = Fixture::named(name).build(GCC);
        let dynamic = sliced(&program, &[]);
        let dynamic: BTreeSet<u32> =
            list(&dynamic, "slice").iter().map(|event| number(event, "event")).collect();
        let critical = program.slice(&["--no-save"], 0);
        let critical = list(&critical, "slice").iter().map(|event| number(event, "event"));
        let holes: Vec<u32> = critical.filter(|event| !dynamic.contains(event)).collect();
        assert!(holes.is_empty(), "{name}: {holes:?}");
    });
}

#[test]
fn the_three_slices_stand_in_one_listing() {
    let program = sample(GCC, "");
    let options = ["--expect-match", "mul = 0", "--compare", "--no-save", "-q"];
    let output = program.stripe("run", &options);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let told = text(&output.stdout);
    let parts = [
        "Three slices of this run",
        "  7      mul = 1;                                1       0  ◌",
        " 12          mul = mul * a;                      6       1  ●◌◌◌◌◌",
        "34 statement executions in all; the failure depends on 21 of them",
        "it needs 5 (critical",
        "In the dynamic slice, and the failure was there without:\n  7#1 (test ",
    ];
    assert_says(&told, &parts);
    // Here an earlier assignment of the same value has taken the place of a later one.
    let sort = Fixture::named("bubble_sort").build(GCC);
    let told = text(&sort.stripe("run", &["--compare", "--no-save", "-q"]).stdout);
    assert_says(
        &told,
        &[
            "1 of them outside of the dynamic slice",
            "Needed, and no dependence leads there.",
            "14#1: without it, ",
        ],
    );
}

#[test]
fn what_cannot_be_sliced_is_told_with_a_remedy() {
    let program = sample(GCC, "");
    let refused =
        |options: &[&str], status| message(&program.stripe("slice", &[options, &["-q"]].concat()), status);
    assert_says(
        &refused(&["--max-instructions", "2000"], 1),
        &["too long to be followed", "of 36", "raise --max-instructions"],
    );
    assert_says(&refused(&["--expect-match", "sum = 16"], 3), &["does not match `sum = 16`"]);
    assert_says(&refused(&["--expect-exit", "0"], 3), &["--expect-exit is about nothing", "--value"]);
    assert_says(&refused(&["--expect-signal", "SEGV"], 3), &["does not crash"]);
    assert_says(&refused(&["--value", "nix@11#3"], 2), &["no variable `nix`", "11#3"]);
    assert_says(&refused(&["--value", "sum"], 2), &["sum@13#3"]);
    assert_says(&refused(&["--value", "sum@sum-mul.c:11"], 2), &["executed 6 times"]);
    assert_says(&refused(&["--decision", "11#2"], 2), &["11#2 decides nothing"]);
    assert_says(&refused(&["--decision", "10#1", "--expect-match", "sum"], 2), &["a criterion by itself"]);
    let child = Fixture::named("fork_child").build(GCC);
    let told = message(&child.stripe("slice", &["-q"]), 1);
    assert_says(&told, &["who has printed what is not known", "a process that the program has started"]);
}
