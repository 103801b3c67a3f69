//! Make inputs to begin with: sound ones, so that damage has something to damage.

use std::fs;
use std::io;
use std::path::Path;
use std::process::Command;

use tracer::trace_file::write;

use crate::expectation::SEPARATOR;
use crate::{subject, trace_file};

/// Compilers with their options, each for another shape of ELF or DWARF.
const BUILDS: [(&str, &str, &[&str]); 10] = [
    ("gcc-2", "gcc", &["-gdwarf-2", "-gstrict-dwarf"]),
    ("gcc-3", "gcc", &["-gdwarf-3", "-gstrict-dwarf"]),
    ("gcc-4", "gcc", &["-gdwarf-4"]),
    ("gcc-5", "gcc", &["-gdwarf-5"]),
    ("gcc-5-64", "gcc", &["-gdwarf-5", "-gdwarf64"]),
    ("gcc-o2", "gcc", &["-gdwarf-5", "-O2", "-fno-inline-small-functions", "-freorder-blocks-and-partition"]),
    ("gcc-zlib", "gcc", &["-gdwarf-5", "-gz=zlib"]),
    ("clang-4", "clang", &["-gdwarf-4", "-ffunction-sections"]),
    ("clang-5", "clang", &["-gdwarf-5"]),
    ("clang-lines", "clang", &["-gline-tables-only"]),
];

/// Executables of some kilobytes each, with their names.
///
/// # Panics
/// If the compilers are missing.
pub fn programs() -> Vec<(&'static str, Vec<u8>)> {
    let path = subject::folder().join("seed");
    let built = |&(name, compiler, options): &(&'static str, &str, &[&str])| {
        subject::compile(compiler, options, &path);
        (name, fs::read(&path).expect("it was compiled"))
    };
    let mut programs: Vec<_> = BUILDS.iter().map(built).collect();
    subject::compile("gcc", &["-gdwarf-4"], &path);
    for (name, change) in [
        ("gcc-zstd", "--compress-debug-sections=zstd"),
        ("gcc-gnu-zlib", "--compress-debug-sections=zlib-gnu"),
    ] {
        let changed = path.with_extension(name);
        let done = Command::new("objcopy").arg(change).arg(&path).arg(&changed).status();
        assert!(done.expect("objcopy is installed").success());
        programs.push((name, fs::read(&changed).expect("it was written")));
    }
    programs
}

/// Trace files.
pub fn traces() -> Vec<Vec<u8>> {
    let subject = subject::subject();
    let mut whole = Vec::new();
    write(&mut whole, &subject.program, &subject.identity, &subject.trace).expect("memory can be written");
    // What stands between the checksums: how many events there are, and the events.
    let head = whole.len() - trace_file::sealed(&[]).len();
    let events: Vec<u8> = (0..=u8::try_from(head.min(200)).unwrap_or(0)).map(|byte| byte % 30).collect();
    vec![whole, [&[0, 9, 4, 0][..], &events].concat(), vec![0, 3, 4, 0, 4, 2, 4, 2]]
}

/// Documents and journals of kept runs.
pub fn kept_runs() -> Vec<Vec<u8>> {
    let documents = [include_str!("run.json"), include_str!("result.json")];
    let journals = [
        "Ppd",
        "Wno output\nPpd\nEab\nTv0123456789abcdef\0\nO\0\x03outr\0\0\0r\0\n\
         Tv1123456789abcdef\0\0\nS0123456789abcdef\x01\x02\x03\x04",
    ];
    documents.into_iter().chain(journals).map(|text| text.as_bytes().to_vec()).collect()
}

/// Command lines, a word a line.
pub fn command_lines() -> Vec<Vec<u8>> {
    let lines = [
        "run ./prog --stdin in --expect-match sum=1\\n(a|b) --control trace -j 2 --max-tests 10 -- 0 5",
        "run ./prog --env A=b --clear-env --cwd . --pty --scope *.c --granularity line --timeout 1.5s --engine jump",
        "run ./prog --expect-output o --expect-stderr e --expect-exit 1 --expect-signal SEGV --reject-match x",
        "run ./prog --only-lines ^a --check true --reference r --criterion a=b --each-line --algorithm ddmin",
        "run ./prog --poison off --max-time 5m --format json --emit html=h --force -q -v --out d --no-save",
        "replay ./prog --omit 1-2,5 --keep 7 --color always",
        "trace ./prog --format compact",
        "reduce 3 --max-time 1h",
        "report latest --format text",
        "completions bash",
        "doctor ./prog -v",
        "demo d --html",
        "help run",
        "--version",
    ];
    lines.iter().map(|line| line.replace(' ', "\n").into_bytes()).collect()
}

/// Expected texts, outputs and expressions.
pub fn expectations() -> Vec<Vec<u8>> {
    let parts = |parts: [&[u8]; 3]| parts.join(SEPARATOR);
    vec![
        parts([b"a\nsum = 15\nmul = 0\n", b"a\nsum = 14\nmul = 0", b"^sum"]),
        parts([b"", b"\0\xff\r\n", b"(?i)[a-z]+\\d{2,9}|x*$"]),
        parts([b"\xf0\x9f\xa6\x80 crab\n", b"\xf0\x9f\xa6 crab\t\n\n", b"\\b\\w+\\b"]),
    ]
}

/// Grammars, each with a text that it derives.
pub fn grammars() -> Vec<Vec<u8>> {
    let parts = |parts: [&[u8]; 2]| parts.join(SEPARATOR);
    vec![
        parts([include_bytes!("../../samples/grammars/expressions.bnf"), b"1 + (2 * -3.5) / 4"]),
        parts([
            b"list = '[', [ item, { ',', item } ], ']'; (* x *) item = list | word; word = 'a'..'z';",
            b"[a,[b],[]]",
        ]),
        parts([b"s ::= s s | [^a-f\\n\\u{20ac}]? | #x41 // x\nt : [\\x30-9]+ (s | t)*", b"xAx9"]),
        parts([b"a = b a? 'x'* ; b = a | ; ", b"xx"]),
    ]
}

/// Writes the seeds of a target into a folder.
///
/// # Errors
/// If there is no such target, or the folder cannot be written.
pub fn write_all(target: &str, folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    for (number, seed) in of(target)?.into_iter().enumerate() {
        fs::write(folder.join(format!("seed-{number}")), seed)?;
    }
    Ok(())
}

/// The seeds of a target.
///
/// # Errors
/// If there is no such target.
pub fn of(target: &str) -> io::Result<Vec<Vec<u8>>> {
    Ok(match target {
        "program" => programs().into_iter().map(|(_, program)| program).collect(),
        "trace_file" => traces(),
        "kept_run" => kept_runs(),
        "command_line" => command_lines(),
        "expectation" => expectations(),
        "grammar" => grammars(),
        other => return Err(io::Error::other(format!("there is no target {other}"))),
    })
}
