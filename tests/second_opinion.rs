//! valgrind is a second opinion on dependences of data: who has written last what is read, in its trace of memory.

mod support;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write;
use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::Value;
use support::engine::in_two_threads;
use support::random::Random;
use support::tiny::tiny;
use support::{Program, how_many, text};

/// A line and which of its executions.
type Execution = (u32, u32);

/// The program with its code where its file says, so that addresses are those of the file.
fn at_fixed_addresses(name: &str, source: &str) -> Program {
    let program = tiny(name, source);
    let fixed = program.path.with_extension("fixed");
    let compiled = Command::new("gcc")
        .args(["-g", "-O0", "-no-pie", "-w", "-o"])
        .arg(&fixed)
        .arg(program.path.with_extension("c").file_name().expect("a name"))
        .current_dir(program.path.parent().expect("a folder"))
        .output()
        .expect("gcc can be started");
    assert!(compiled.status.success(), "{}", text(&compiled.stderr));
    Program { path: fixed, ..program }
}

/// The addresses of main.
fn main_of(program: &Program) -> std::ops::Range<u64> {
    let symbols = Command::new("nm").arg("-S").arg(&program.path).output().expect("nm can be started");
    let symbols = text(&symbols.stdout);
    let line = symbols.lines().find(|line| line.ends_with(" T main")).expect("main");
    let number = |word: &str| u64::from_str_radix(word, 16).expect("a number");
    let words: Vec<&str> = line.split(' ').collect();
    number(words[0])..number(words[0]) + number(words[1])
}

/// The lines of these addresses.
fn lines(program: &Program, addresses: &BTreeSet<u64>) -> HashMap<u64, u32> {
    let mut process = Command::new("addr2line")
        .arg("-e")
        .arg(&program.path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("addr2line can be started");
    let asked: String = addresses.iter().fold(String::new(), |mut asked, address| {
        let _ = writeln!(asked, "{address:x}");
        asked
    });
    process.stdin.take().expect("a pipe").write_all(asked.as_bytes()).expect("written");
    let told = text(&process.wait_with_output().expect("an answer").stdout);
    let line = |told: &str| {
        let number = told.rsplit(':').next().expect("a line").split(' ').next().expect("a number");
        number.parse().unwrap_or_else(|_| panic!("{told}"))
    };
    addresses.iter().copied().zip(told.lines().map(line)).collect()
}

/// Which executions of lines of main read what others have written, by the trace of all memory accesses.
fn by_valgrind(program: &Program) -> BTreeSet<(Execution, Execution)> {
    let log = program.path.with_extension("log");
    let output = Command::new("valgrind")
        .args(["--tool=lackey", "--trace-mem=yes"])
        .arg(format!("--log-file={}", log.display()))
        .arg(&program.path)
        .output()
        .expect("valgrind can be started");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let log = std::fs::read_to_string(log).expect("a log");
    // `I  00401106,1`, ` L 1fff,4`, ` S 1fff,4`, ` M 1fff,4`.
    let accesses: Vec<(char, u64, u64)> = (log.lines())
        .filter_map(|line| {
            let (address, size) = line.get(3..)?.split_once(',')?;
            let kind = line.trim_start().chars().next().filter(|kind| "ILSM".contains(*kind))?;
            Some((kind, u64::from_str_radix(address.trim(), 16).ok()?, size.parse().ok()?))
        })
        .collect();
    let main = main_of(program);
    let inside = accesses.iter().filter(|(kind, at, _)| *kind == 'I' && main.contains(at));
    let lines = lines(program, &inside.map(|&(_, at, _)| at).collect());
    let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
    let mut writers: HashMap<u64, Execution> = HashMap::new();
    let (mut found, mut current, mut is_inside) = (BTreeSet::new(), (0, 0), false);
    for (kind, address, size) in accesses {
        if kind == 'I' {
            is_inside = main.contains(&address);
            if let Some(&line) = lines.get(&address).filter(|&&line| is_inside && line != current.0) {
                let count = counts.entry(line).or_default();
                *count += 1;
                current = (line, *count);
            }
            continue;
        }
        for byte in (address..address + size).filter(|_| is_inside) {
            if let Some(&writer) = writers.get(&byte).filter(|&&writer| kind != 'S' && writer != current) {
                found.insert((current, writer));
            }
            if kind != 'L' {
                writers.insert(byte, current);
            }
        }
    }
    found
}

/// The same by `stripe slice`, as far as the slice of all output goes; and the executions in it.
fn by_stripe(program: &Program) -> (BTreeSet<(Execution, Execution)>, BTreeSet<Execution>) {
    let output =
        program.stripe("slice", &["--kind", "data", "--granularity", "line", "--format", "json", "-q"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let slice: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let number = |value: &Value, key: &str| value[key].as_u64().expect("a number") as u32;
    let list = |key: &str| slice[key].as_array().expect("a list").clone();
    let places: BTreeMap<u32, Execution> = (list("slice").iter())
        .map(|event| (number(event, "event"), (number(event, "line"), number(event, "occurrence"))))
        .collect();
    let edge = |found: &Value| (places[&number(found, "from")], places[&number(found, "to")]);
    (list("dependences").iter().map(edge).collect(), places.values().copied().collect())
}

/// Statements on arrays, structures and pointers, one on a line.
fn program(random: &mut Random) -> String {
    let mut source = String::from(
        "#include <stdio.h>\nstruct pair { unsigned one, two; unsigned char small[4]; };\nunsigned list[8] = {1, 2, 3, 4, 5, 6, 7, 8};\n\
         int main(void) {\n  struct pair here = {1, 2}, there = {3, 4};\n  struct pair *p = &here;\n  unsigned *q = list;\n  unsigned i = 0;\n",
    );
    let statement = |random: &mut Random| {
        let [a, b] = [(); 2].map(|()| random.below(8));
        match random.below(9) {
            0 => format!("list[{a}] = list[{b}] + *q;"),
            1 => format!("q = &list[{a}];"),
            2 => "p = &there;".to_owned(),
            3 => format!("p->one += list[{a}];"),
            4 => "*q = p->two ^ here.one;".to_owned(),
            5 => format!("p->small[{}] = list[{b}];", a % 4),
            6 => "here = there;".to_owned(),
            7 => format!("there.two = here.small[{}] + list[(i + {b}) % 8];", a % 4),
            _ => format!("list[(i + {a}) % 8] += p->two;"),
        }
    };
    for _ in 0..4 + random.below(6) {
        let _ = writeln!(source, "  {}", statement(random));
    }
    let _ = writeln!(source, "  while (i < {}) {{", 2 + random.below(3));
    for _ in 0..2 + random.below(4) {
        let _ = writeln!(source, "    {}", statement(random));
    }
    source += "    i = i + 1;\n  }\n  printf(\"%u %u\\n\", here.one ^ there.two, list[0] + list[3] + list[5] + *q);\n  return 0; }\n";
    source
}

#[test]
fn who_has_written_what_is_read_is_the_same_by_valgrind() {
    let seeds: Vec<u64> = (0..how_many(2, 60)).collect();
    in_two_threads(&seeds, |seed| {
        let name = format!("second-opinion-{seed}");
        let source = program(&mut Random::new(&name));
        let program = at_fixed_addresses(&name, &source);
        let (found, reached) = by_stripe(&program);
        let expected: BTreeSet<(Execution, Execution)> =
            by_valgrind(&program).into_iter().filter(|(from, _)| reached.contains(from)).collect();
        assert!(!expected.is_empty(), "{source}");
        assert_eq!(found, expected, "{source}");
    });
}
