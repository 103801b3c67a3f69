//! `stripe slice --kind relevant`: decisions count that would have written what is read, had they gone another way.

mod support;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use support::engine::in_two_threads;
use support::random::Random;
use support::tiny::{assert_says, tiny};
use support::{GCC, Program, how_many, sample, text};

type Execution = (u64, u64);

fn sliced(program: &Program, options: &[&str]) -> Value {
    let output = program.stripe("slice", &[options, &["--format", "json", "-q"]].concat());
    assert_eq!(output.status.code(), Some(0), "{}: {}", program.path.display(), text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

/// The executions by the numbers of their events; entries and ends of functions have none.
fn executions(slice: &Value) -> BTreeMap<u64, Execution> {
    let number = |event: &Value, key: &str| event[key].as_u64().unwrap_or(0);
    let events = slice["slice"].as_array().expect("a slice").iter();
    let told =
        events.map(|event| (number(event, "event"), (number(event, "line"), number(event, "occurrence"))));
    told.collect()
}

fn dependences<'s>(
    slice: &'s Value,
    kind: &'s str,
) -> impl Iterator<Item = (Execution, Execution, String)> + 's {
    let place = executions(slice);
    let all = slice["dependences"].as_array().expect("dependences").iter();
    all.filter(move |found| found["kind"] == kind).map(move |found| {
        let place = |key: &str| place[&found[key].as_u64().expect("a number")];
        (place("from"), place("to"), found["name"].as_str().expect("a name").to_owned())
    })
}

/// The lines that only the relevant slice has.
fn more(program: &Program, options: &[&str]) -> Vec<u64> {
    let of = |kind| executions(&sliced(program, &[options, &["--kind", kind]].concat()));
    let (full, relevant) = (of("full"), of("relevant"));
    assert!(full.keys().all(|event| relevant.contains_key(event)), "{options:?}");
    let more: BTreeSet<u64> =
        relevant.iter().filter(|(event, _)| !full.contains_key(event)).map(|(_, (line, _))| *line).collect();
    more.into_iter().collect()
}

const WAYS: &str = "#include <stdio.h>
int limit = 3;
int table[4];
static void raise(void) {
  limit = 4;
}
int main(void) {
  int x = 1;
  int c = 0;
  int d = 0;
  int *p = &x;
  if (c)
    x = 2;
  printf(\"simple %d\\n\", x);
  x = 5;
  if (d)
    *p = 7;
  printf(\"through %d\\n\", x);
  if (c == 8)
    raise();
  printf(\"called %d\\n\", limit);
  for (int i = 0; i < 4; i++)
    if (i == d + 7)
      table[i] = 1;
  printf(\"element %d\\n\", table[2]);
  int y;
  if (c)
    y = 1;
  else
    y = 2;
  printf(\"both %d\\n\", y);
  if (d == 3)
    scanf(\"%d\", &y);
  printf(\"read %d\\n\", y);
  return 0;
}
";

#[test]
fn what_was_not_executed_can_be_the_fault() {
    let program = tiny("relevant-ways", WAYS);
    let more = |line| more(&program, &["--only-lines", line]);
    assert_eq!(more("simple"), [9, 12], "the assignment that was left out, and why");
    assert_eq!(more("through"), [10, 16], "the pointer leads to x, and the decision asks d");
    assert_eq!(more("called"), [9, 19], "in a function that was not called");
    assert_eq!(more("element"), [10, 22, 23], "an element of an array");
    assert_eq!(more("both"), [] as [u64; 0], "the decision has led to what was written");
    assert_eq!(more("read"), [10, 32], "by a library that is given the address");
}

#[test]
fn what_is_potential_has_a_kind_and_a_name() {
    let program = tiny("relevant-ways", WAYS);
    let slice = sliced(&program, &["--only-lines", "simple", "--kind", "relevant"]);
    let told: Vec<_> = dependences(&slice, "potential").collect();
    assert_eq!(told, [((14, 1), (12, 1), "x".to_owned())]);
    assert_eq!(slice["kind"], "relevant");
    let output = program.stripe("slice", &["--only-lines", "simple", "--kind", "relevant", "-q"]);
    assert_says(&text(&output.stdout), &["and potential ones"]);
    let dot =
        program.stripe("slice", &["--only-lines", "simple", "--kind", "relevant", "-q", "--format", "dot"]);
    assert_says(&text(&dot.stdout), &["style=dotted, label=\"x\""]);
    // The other way: what would have been different?
    let forward = sliced(&program, &["--forward", "12#1", "--kind", "relevant"]);
    assert!(executions(&forward).values().any(|&execution| execution == (14, 1)));
}

#[test]
fn the_end_of_a_loop_is_relevant_for_what_the_loop_computes() {
    let program = sample(GCC, "");
    assert_eq!(
        more(&program, &["--expect-match", "sum = 15"]),
        [10, 13],
        "another round would have added more"
    );
}

const UNKNOWN: &str = "#include <stdio.h>
#include <stdlib.h>
static void set(int *where) {
  *where = 3;
}
int main(int argc, char **argv) {
  int *heap = malloc(sizeof *heap);
  *heap = 1;
  if (argc > 1)
    set(heap);
  printf(\"%d\\n\", *heap);
  return 0;
}
";

#[test]
fn what_is_not_known_of_the_other_way_is_told() {
    let warnings = |slice: &Value| slice["warnings"].to_string();
    let program = tiny("relevant-unknown", UNKNOWN);
    let slice = sliced(&program, &["--kind", "relevant"]);
    assert_says(&warnings(&slice), &["had they gone another way, is not known", "the slice may lack them"]);
    let full = sliced(&program, &["--kind", "full"]);
    assert!(!warnings(&full).contains("another way"), "{}", full["warnings"]);
    let known = sliced(&tiny("relevant-ways", WAYS), &["--kind", "relevant"]);
    assert!(!warnings(&known).contains("another way"), "{}", known["warnings"]);
}

/// A program of random statements, and what an interpreter of its own knows of the decisions that could have written what
/// is read.
#[derive(Default)]
struct Subject {
    lines: Vec<String>,
    counts: BTreeMap<u64, u64>,
    /// The value of each variable, and when it was written.
    memory: BTreeMap<String, (u32, u64)>,
    /// When each decision was made, and what the other way could have written.
    decisions: Vec<(u64, Execution, BTreeSet<String>)>,
    now: u64,
    potential: BTreeSet<(Execution, Execution, String)>,
}

enum Statement {
    /// `vT = vA + vB;`
    Sum(u64, u64, u64, u64),
    /// `if (vA % 3 == C) { } else { }`
    If(u64, u32, u64, Vec<Statement>, Vec<Statement>),
    /// `for (i = 0; i < C; i++) { }`
    For(usize, u32, u64, Vec<Statement>),
}

const VARIABLES: u64 = 5;

/// What a block could write, whatever way it goes.
fn written(block: &[Statement]) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    for statement in block {
        match statement {
            Statement::Sum(to, ..) => all.extend([format!("v{to}")]),
            Statement::If(_, _, _, yes, no) => all.extend(written(yes).into_iter().chain(written(no))),
            Statement::For(depth, _, _, inner) => {
                all.extend(written(inner).into_iter().chain([format!("i{depth}")]))
            }
        }
    }
    all
}

impl Subject {
    fn line(&mut self, text: String) -> u64 {
        self.lines.push(text);
        self.lines.len() as u64
    }

    fn block(&mut self, random: &mut Random, depth: usize) -> Vec<Statement> {
        (0..1 + random.below(3)).map(|_| self.statement(random, depth)).collect()
    }

    fn statement(&mut self, random: &mut Random, depth: usize) -> Statement {
        let [t, a, b] = [(); 3].map(|()| random.below(VARIABLES));
        match random.below(if depth < 3 { 6 } else { 3 }) {
            0..=2 => Statement::Sum(t, a, b, self.line(format!("v{t} = v{a} + v{b};"))),
            3 | 4 => {
                let c = random.below(3) as u32;
                let line = self.line(format!("if (v{a} % 3 == {c}) {{"));
                let yes = self.block(random, depth + 1);
                let no = if random.below(2) == 0 {
                    self.line("} else {".into());
                    self.block(random, depth + 1)
                } else {
                    Vec::new()
                };
                self.line("}".into());
                Statement::If(a, c, line, yes, no)
            }
            _ => {
                // A compiler leaves out a loop of no rounds.
                let c = 1 + random.below(3) as u32;
                let line = self.line(format!("for (i{depth} = 0; i{depth} < {c}; i{depth}++) {{"));
                let inner = self.block(random, depth + 1);
                self.line("}".into());
                Statement::For(depth, c, line, inner)
            }
        }
    }

    fn at(&mut self, line: u64) -> Execution {
        self.now += 1;
        let count = self.counts.entry(line).or_default();
        *count += 1;
        (line, *count)
    }

    fn read(&mut self, reader: Execution, name: &str) -> u32 {
        let (value, since) = self.memory.get(name).copied().unwrap_or_default();
        for (when, decision, others) in &self.decisions {
            if *when > since && *decision != reader && others.contains(name) {
                self.potential.insert((reader, *decision, name.to_owned()));
            }
        }
        value
    }

    fn write(&mut self, name: String, value: u32) {
        self.memory.insert(name, (value, self.now));
    }

    fn decide(&mut self, decision: Execution, others: BTreeSet<String>) {
        self.decisions.push((self.now, decision, others));
    }

    fn run(&mut self, block: &[Statement]) {
        for statement in block {
            match statement {
                Statement::Sum(t, a, b, line) => {
                    let at = self.at(*line);
                    let value = self.read(at, &format!("v{a}")).wrapping_add(self.read(at, &format!("v{b}")));
                    self.write(format!("v{t}"), value);
                }
                Statement::If(a, c, line, yes, no) => {
                    let at = self.at(*line);
                    let (taken, other) =
                        if self.read(at, &format!("v{a}")) % 3 == *c { (yes, no) } else { (no, yes) };
                    self.decide(at, written(other));
                    self.run(taken);
                }
                Statement::For(depth, rounds, line, inner) => {
                    let counter = format!("i{depth}");
                    self.at(*line);
                    self.write(counter.clone(), 0);
                    loop {
                        let at = self.at(*line);
                        if self.read(at, &counter) >= *rounds {
                            let round = written(inner).into_iter().chain([counter]).collect();
                            self.decide(at, round);
                            break;
                        }
                        self.decide(at, BTreeSet::new());
                        self.run(inner);
                        let at = self.at(*line);
                        let value = self.read(at, &counter) + 1;
                        self.write(counter.clone(), value);
                    }
                }
            }
        }
    }

    fn make(random: &mut Random) -> Subject {
        let mut subject = Subject::default();
        for line in ["#include <stdio.h>", "int main(void) {"] {
            subject.line(line.into());
        }
        for number in 0..VARIABLES {
            let line = subject.line(format!("unsigned v{number} = {};", number + 2));
            subject.at(line);
            subject.write(format!("v{number}"), number as u32 + 2);
        }
        subject.line("unsigned i0, i1, i2;".into());
        let block: Vec<Statement> = (0..3).flat_map(|_| subject.block(random, 0)).collect();
        subject.run(&block);
        let line = subject.line("printf(\"%u %u\\n\", v0, v1);".into());
        let at = subject.at(line);
        for name in ["v0", "v1"] {
            subject.read(at, name);
        }
        subject.line("return 0; }".into());
        subject
    }
}

#[test]
fn potential_dependences_of_random_programs_are_those_of_an_interpreter() {
    let seeds: Vec<u64> = (0..how_many(8, 200)).collect();
    in_two_threads(&seeds, |seed| {
        let name = format!("relevant-random-{seed}");
        let subject = Subject::make(&mut Random::new(&name));
        let source = subject.lines.join("\n") + "\n";
        let program = tiny(&name, &source);
        let slice = |kind| sliced(&program, &["--kind", kind]);
        let (full, relevant) = (slice("full"), slice("relevant"));
        let (fewer, more) = (executions(&full), executions(&relevant));
        assert!(
            fewer.keys().all(|event| more.contains_key(event)),
            "the dynamic slice is in the relevant one\n{source}"
        );
        let reached: BTreeSet<Execution> = more.into_values().collect();
        let expected = subject.potential.iter().filter(|(from, ..)| reached.contains(from)).cloned();
        let found: BTreeSet<_> = dependences(&relevant, "potential").collect();
        assert_eq!(found, expected.collect(), "{source}");
    });
}
