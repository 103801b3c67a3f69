//! Executables and debug information of all kinds, sound and damaged: the same slice, or a message.

mod support;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant, SystemTime};

use serde_json::Value;
use support::tiny::{assert_says, message, tiny};
use support::{CLANG, GCC};
use support::{Program, root, sample, scratch, text};

/// What all slices of this file are about.
const QUESTION: [&str; 4] = ["--expect-match", r"sum = 15\nmul = 0\n", "--control", "trace"];

/// Compiles the sample in a folder of its own: `CC OPTIONS -o prog sum-mul.c`.
fn compiled(name: &str, compiler: &str, options: &[&str]) -> Program {
    let folder = scratch(name);
    fs::create_dir(folder.join("run")).expect("a folder");
    fs::copy(root().join("samples/sum-mul/sum-mul.c"), folder.join("sum-mul.c")).expect("copied");
    do_in(&folder, compiler, &[&["-g", "-O0", "-w"], options, &["-o", "prog", "sum-mul.c"]].concat());
    let stdin = root().join("samples/sum-mul/input.txt");
    Program { path: folder.join("prog"), directory: folder.join("run"), stdin, arguments: Vec::new() }
}

fn do_in(folder: &Path, program: &str, arguments: &[&str]) {
    let done = Command::new(program).args(arguments).current_dir(folder).output();
    let done = done.unwrap_or_else(|error| panic!("{program}: {error}"));
    assert!(done.status.success(), "{program} {arguments:?}: {}", text(&done.stderr));
}

fn folder(program: &Program) -> &Path {
    program.path.parent().expect("a folder")
}

/// The needed executions by line and occurrence.
fn needed(slice: &Value) -> Vec<(u64, u64)> {
    let number = |value: &Value| value.as_u64().expect("a number");
    let events = slice["slice"].as_array().expect("events");
    events.iter().map(|event| (number(&event["line"]), number(&event["occurrence"]))).collect()
}

/// The slice of Figure 6, which every build of the sample has.
fn assert_figure_6(program: &Program, case: &str) {
    let slice = program.slice(&QUESTION, 0);
    let figure = needed(&sample(GCC, "").slice(&QUESTION, 0));
    assert_eq!(figure.len(), 15);
    assert_eq!(needed(&slice), figure, "{case}");
}

// Kinds of debug information.

#[test]
fn line_tables_alone_are_enough() {
    assert_figure_6(&compiled("g1", "gcc", &["-g1"]), "gcc -g1");
    assert_figure_6(&compiled("lines", "clang", &["-gline-tables-only"]), "clang -gline-tables-only");
}

#[test]
fn every_version_of_dwarf_gives_the_same_slice() {
    for compiler in [GCC.cc, CLANG.cc] {
        for version in ["-gdwarf-2", "-gdwarf-3", "-gdwarf-4", "-gdwarf-5"] {
            for more in [&["-gstrict-dwarf"][..], &[]] {
                let options = [&[version], more].concat();
                assert_figure_6(&compiled("dwarf", compiler, &options), &format!("{compiler} {options:?}"));
            }
        }
    }
    assert_figure_6(&compiled("dwarf64", "gcc", &["-gdwarf64"]), "gcc -gdwarf64");
}

#[test]
fn split_dwarf_is_read_from_its_files_from_beside_the_program_and_from_a_package() {
    for (compiler, version) in [("gcc", "-gdwarf-4"), ("gcc", "-gdwarf-5"), ("clang", "-gdwarf-5")] {
        let program = compiled("split", compiler, &["-gsplit-dwarf", version]);
        let case = format!("{compiler} {version}");
        assert_figure_6(&program, &case);
        let written = only_file(folder(&program), "dwo");
        fs::create_dir(folder(&program).join("bin")).expect("a folder");
        let moved = Program { path: folder(&program).join("bin/prog"), ..program.clone() };
        fs::rename(&program.path, &moved.path).expect("moved");
        fs::rename(&written, moved.path.with_file_name(written.file_name().expect("a name"))).expect("moved");
        assert_figure_6(&moved, &format!("{case}, beside"));
        // That of the binutils knows the older form only.
        let packer = if version == "-gdwarf-4" { "dwp" } else { "llvm-dwp" };
        do_in(folder(&moved), packer, &["-o", "prog.dwp", name_of(&only_file(folder(&moved), "dwo"))]);
        fs::remove_file(only_file(folder(&moved), "dwo")).expect("removed");
        assert_figure_6(&moved, &format!("{case}, package"));
    }
}

#[test]
fn a_missing_file_of_split_dwarf_is_named() {
    let program = compiled("split-missing", "gcc", &["-gsplit-dwarf"]);
    let file = only_file(folder(&program), "dwo");
    fs::remove_file(&file).expect("removed");
    for verb in ["run", "trace", "replay"] {
        let told = message(&program.stripe(verb, &[]), 1);
        assert_says(&told, &["prog: ", name_of(&file), "not there", "-gsplit-dwarf", "--scope"]);
    }
    // The symbol table knows the functions, too, if the user says which are meant.
    let slice = program.slice(&[&QUESTION[..], &["--scope", "*.c"]].concat(), 0);
    assert_eq!(needed(&slice).len(), 15);
}

#[test]
fn a_file_of_split_dwarf_from_another_compilation_is_refused() {
    let program = compiled("split-other", "gcc", &["-gsplit-dwarf"]);
    let other = compiled("split-stale", "gcc", &["-gsplit-dwarf", "-DOTHER", "-O1"]);
    fs::copy(only_file(folder(&other), "dwo"), only_file(folder(&program), "dwo")).expect("copied");
    let told = message(&program.stripe("run", &[]), 1);
    assert_says(&told, &[".dwo belongs to another compilation", "compile it again"]);
}

fn only_file(folder: &Path, extension: &str) -> PathBuf {
    let entries = fs::read_dir(folder).expect("readable").map(|entry| entry.expect("readable").path());
    let mut files = entries.filter(|file| file.extension() == Some(OsStr::new(extension)));
    let file = files.next().unwrap_or_else(|| panic!("a .{extension}"));
    assert_eq!(files.next(), None);
    file
}

fn name_of(file: &Path) -> &str {
    file.file_name().and_then(OsStr::to_str).expect("a name")
}

/// Takes the debug information of a program away into `prog.debug`, to which a debug link leads.
fn separate(program: &Program) -> PathBuf {
    let folder = folder(program);
    do_in(folder, "objcopy", &["--only-keep-debug", "prog", "prog.debug"]);
    do_in(folder, "objcopy", &["--strip-debug", "--add-gnu-debuglink=prog.debug", "prog"]);
    folder.join("prog.debug")
}

#[test]
fn a_separate_debug_file_is_found_by_its_link_and_named_if_it_is_missing() {
    let program = compiled("separate", "gcc", &[]);
    let debug = separate(&program);
    assert_figure_6(&program, "beside");
    fs::create_dir(folder(&program).join(".debug")).expect("a folder");
    fs::rename(&debug, folder(&program).join(".debug/prog.debug")).expect("moved");
    assert_figure_6(&program, "in .debug");
    fs::remove_dir_all(folder(&program).join(".debug")).expect("removed");
    assert_says(
        &message(&program.stripe("run", &[]), 1),
        &["prog: ", "prog.debug, which is not there", "-g -O0"],
    );
}

#[test]
fn a_debug_file_of_another_build_is_as_good_as_none() {
    for id in ["-Wl,--build-id", "-Wl,--build-id=none"] {
        let program = compiled("other-build", "gcc", &[id]);
        let debug = separate(&program);
        let other = compiled("yet-another-build", "gcc", &[id, "-DOTHER", "-O1"]);
        fs::rename(separate(&other), debug).expect("replaced");
        let told = message(&program.stripe("run", &[]), 1);
        assert_says(&told, &["prog.debug", "of another build"]);
    }
}

#[test]
fn a_separate_debug_file_is_found_by_its_build_id() {
    let program = compiled("build-id", "gcc", &["-Wl,--build-id"]);
    let debug = separate(&program);
    let id = program.slice(&QUESTION, 0)["program"]["build_id"].as_str().expect("a build id").to_owned();
    // /usr/lib/debug is where it is looked for; in a mount namespace nobody else sees what is put there.
    let script = "mount -t tmpfs none /usr/lib/debug && mkdir -p /usr/lib/debug/.build-id/$1 && \
                  mv \"$3\" /usr/lib/debug/.build-id/$1/$2.debug && exec \"$4\" doctor \"$5\"";
    let output = Command::new("unshare")
        .args(["-rm", "bash", "-c", script, "bash", &id[..2], &id[2..]])
        .args([&debug, Path::new(env!("CARGO_BIN_EXE_stripe")), &program.path])
        .output()
        .expect("unshare is there");
    assert_says(&text(&output.stdout), &["x86-64, with a line table", "13 statements"]);
}

#[test]
fn compressed_debug_information_is_read() {
    for kind in ["zlib", "zlib-gnu", "zstd"] {
        assert_figure_6(&compressed(kind), kind);
    }
}

fn compressed(kind: &str) -> Program {
    let program = compiled(&format!("compressed-{kind}"), "gcc", &["-gdwarf-4"]);
    do_in(folder(&program), "objcopy", &[&format!("--compress-debug-sections={kind}"), "prog"]);
    program
}

#[test]
fn a_compressed_section_that_claims_two_gigabytes_is_refused_at_once() {
    const CLAIM: u64 = 2 << 30;
    for kind in ["zlib", "zlib-gnu", "zstd"] {
        let program = compressed(kind);
        let mut bytes = fs::read(&program.path).expect("readable");
        let at = claims(&bytes, kind);
        assert!(!at.is_empty(), "{kind}: nothing is compressed");
        for at in at {
            let claim = if kind == "zlib-gnu" { CLAIM.to_be_bytes() } else { CLAIM.to_le_bytes() };
            bytes[at..at + 8].copy_from_slice(&claim);
        }
        fs::write(&program.path, bytes).expect("writable");
        let started = Instant::now();
        let told = message(&limited(&program, 512 << 10), 1);
        assert_says(&told, &["prog: its section .", "debug_", "2147483648 bytes", "not believable"]);
        assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    }
}

/// `stripe run` with so many kilobytes of address space, and a second of processor time.
fn limited(program: &Program, memory: u64) -> std::process::Output {
    let script = format!("ulimit -v {memory}; ulimit -t 1; exec \"$0\" run \"$1\"");
    Command::new("bash")
        .args(["-c", &script, env!("CARGO_BIN_EXE_stripe")])
        .arg(&program.path)
        .current_dir(&program.directory)
        .output()
        .expect("a shell")
}

/// Where compressed sections say how large they are: after `ZLIB` in the old form, in an `Elf64_Chdr` (type,
/// zero, size, alignment) in front of the first bytes of zlib or zstd in the other.
fn claims(bytes: &[u8], kind: &str) -> Vec<usize> {
    let (before, kind_number): (&[u8], u32) = match kind {
        "zlib-gnu" => {
            let found = bytes.windows(4).enumerate().filter(|(_, window)| window == b"ZLIB");
            return found.map(|(at, _)| at + 4).collect();
        }
        "zlib" => (&[0x78], 1),
        _ => (&[0x28, 0xb5, 0x2f, 0xfd], 2),
    };
    let head = [kind_number.to_le_bytes(), [0; 4]].concat();
    let starts = bytes.windows(24 + before.len()).enumerate();
    let found = starts.filter(|(_, window)| window.starts_with(&head) && window.ends_with(before));
    found.map(|(at, _)| at + 8).collect()
}

// Odd line tables.

/// The sample as assembly, its `.loc` directives made into labels: the line number of each, in order.
fn labelled(folder: &Path) -> (String, Vec<u32>) {
    fs::copy(root().join("samples/sum-mul/sum-mul.c"), folder.join("sum-mul.c")).expect("copied");
    do_in(folder, "gcc", &["-g", "-gdwarf-4", "-O0", "-w", "-S", "-o", "plain.s", "sum-mul.c"]);
    let mut rows = Vec::new();
    let mut kept = Vec::new();
    let assembly = fs::read_to_string(folder.join("plain.s")).expect("readable");
    for line in assembly.lines().filter(|line| !line.contains(".debug_line,") && *line != ".Ldebug_line0:") {
        if let Some(location) = line.trim().strip_prefix(".loc ") {
            kept.push(format!(".Lrow{}:", rows.len()));
            rows.push(location.split(' ').nth(1).and_then(|line| line.parse().ok()).expect("a line"));
        } else if !line.trim().starts_with(".file") {
            kept.push(line.to_owned());
        }
    }
    (kept.join("\n"), rows)
}

/// What a line table holds besides the rows of the compiler.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Odd {
    Nothing,
    /// Rows that begin no statement, of another line.
    NoStatements,
    /// Rows that go back to the first address, of another line.
    Backwards,
    /// A sequence that ends before it has a row.
    EmptySequence,
    /// Rows of line 0 where the same address has one of the compiler's before.
    LineZero,
}

/// The line table in DWARF 2, row by row.
fn table(rows: &[u32], odd: Odd) -> String {
    let mut table = String::from(
        "\n.section .debug_line,\"\",@progbits\n.Ldebug_line0:\n.long .Lend-.Lbegin\n.Lbegin:\n.value 2\n\
         .long .Lcode-.Lheader\n.Lheader:\n.byte 1,1,0xfb,14,13,0,1,1,1,1,0,0,0,1,0,0,1\n.byte 0\n\
         .asciz \"sum-mul.c\"\n.byte 0,0,0,0\n.Lcode:\n",
    );
    let (set, copy, end) =
        (|label: &str| format!(".byte 0,9,2\n.quad {label}\n"), ".byte 1\n", ".byte 0,1,1\n");
    if odd == Odd::EmptySequence {
        table += &format!("{}{end}", set(".Lrow0"));
    }
    let mut line = 1;
    for (number, &row) in rows.iter().enumerate() {
        let here = format!(".Lrow{number}");
        table += &format!("{}.byte 3\n.sleb128 {}\n{copy}", set(&here), i64::from(row) - line);
        line = row.into();
        table += &match odd {
            Odd::NoStatements => format!(".byte 6,3\n.sleb128 900\n{copy}.byte 6,3\n.sleb128 -900\n"),
            Odd::Backwards if number > 0 => {
                format!("{}.byte 3\n.sleb128 900\n{copy}.byte 3\n.sleb128 -900\n", set(".Lrow0"))
            }
            _ => String::new(),
        };
    }
    table += &format!("{}{end}", set(".Letext0"));
    if odd == Odd::LineZero {
        // A sequence of its own, of addresses that are nobody's.
        table += &format!("{}.byte 3\n.sleb128 -1\n{copy}.byte 2\n.uleb128 1\n{end}", set("0"));
    }
    table + ".Lend:\n"
}

#[test]
fn rows_that_say_nothing_are_ignored() {
    let folder = scratch("odd-rows");
    fs::create_dir(folder.join("run")).expect("a folder");
    let (assembly, rows) = labelled(&folder);
    for odd in [Odd::Nothing, Odd::Backwards, Odd::EmptySequence, Odd::LineZero, Odd::NoStatements] {
        fs::write(folder.join("odd.s"), assembly.clone() + &table(&rows, odd)).expect("written");
        do_in(&folder, "gcc", &["-o", "prog", "odd.s"]);
        let stdin = root().join("samples/sum-mul/input.txt");
        let program = Program {
            path: folder.join("prog"),
            directory: folder.join("run"),
            stdin,
            arguments: Vec::new(),
        };
        let slice = program.slice(&QUESTION, 0);
        let lines: Vec<u64> = needed(&slice).iter().map(|&(line, _)| line).collect();
        assert!(lines.iter().all(|&line| line < 20), "{odd:?}: {lines:?}");
        assert_eq!(lines.len(), 15, "{odd:?}: {lines:?}");
    }
}

// Sources.

#[test]
fn a_source_that_is_missing_or_newer_is_told_and_not_shown() {
    let program = compiled("sources", "gcc", &[]);
    let source = folder(&program).join("sum-mul.c");
    let report = || {
        let output = program.stripe("run", &[&QUESTION[..], &["-q"]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let whole = report();
    assert_says(&whole, &["sum = sum + a"]);
    assert!(!whole.contains("warning"), "{whole}");
    let later = SystemTime::now() + Duration::from_secs(3600);
    File::options().write(true).open(&source).expect("there").set_modified(later).expect("ours");
    let newer = report();
    assert_says(&newer, &["warning: sum-mul.c is newer than the program", "15 of 34"]);
    assert!(!newer.contains("sum = sum + a"), "{newer}");
    fs::remove_file(&source).expect("removed");
    let missing = report();
    assert_says(&missing, &["warning: sum-mul.c cannot be read", "15 of 34"]);
}

// Kinds of code.

#[test]
fn optimised_code_works_and_what_goes_wrong_is_counted() {
    for options in ["-O1", "-O2", "-O3"] {
        for build in [GCC, CLANG] {
            let slice = sample(build, options).slice(&["--expect-match", "sum = 15"], 0);
            let tests = &slice["tests"];
            let count = |key: &str| tests[key].as_u64().expect("a number");
            assert_eq!(
                count("total"),
                count("reproduced") + count("not_reproduced") + count("unresolved"),
                "{options}"
            );
            let warned = slice["warnings"].to_string().contains("few statements have code of their own");
            assert!(warned, "{options}: {slice}");
        }
    }
}

#[test]
fn every_kind_of_executable_gives_the_same_slice() {
    let kinds: [(&str, &[&str]); 5] = [
        ("gcc", &["-pie", "-fPIE"]),
        ("gcc", &["-no-pie"]),
        ("gcc", &["-static"]),
        ("gcc", &["-static-pie"]),
        ("musl-gcc", &["-static"]),
    ];
    for (compiler, options) in kinds {
        assert_figure_6(&compiled("kinds", compiler, options), &format!("{compiler} {options:?}"));
    }
}

#[test]
fn a_program_whose_code_was_changed_before_it_begins_is_refused() {
    // The constructor of a library, which is not traced, stands for the stub that unpacks a program.
    let library = "#include <sys/mman.h>\nextern char victim[];\n__attribute__((constructor)) void unpack(void) {\n\
                   char *page = (char *)((unsigned long)victim & ~4095ul);\n\
                   mprotect(page, 8192, PROT_READ | PROT_WRITE | PROT_EXEC);\nvictim[4] = 0x90;\n}\n";
    let program = tiny(
        "unpacked",
        "int puts(const char *);\nint victim(void) { return 1;\n}\nint main(void) { puts(\"x\");\nreturn 0;\n}\n",
    );
    let folder = folder(&program);
    fs::write(folder.join("unpack.c"), library).expect("written");
    do_in(folder, "gcc", &["-shared", "-fPIC", "-w", "-o", "libunpack.so", "unpack.c"]);
    let link = ["-g", "-O0", "-w", "-rdynamic", "-no-pie", "-o", "unpacked", "unpacked.c"];
    let with = ["-L.", "-Wl,--no-as-needed", "-lunpack", "-Wl,-rpath,$ORIGIN"];
    do_in(folder, "gcc", &[&link[..], &with].concat());
    let told = message(&program.stripe("run", &[]), 1);
    assert_says(&told, &["code in memory differs from the file", "packed or changes itself", "original"]);
}
