"""Build programs of the C libraries that crates bundle, for benches that run them.

What the crates of `tests/corpus` bundle, and some more. A program is a library and a driver, which reads standard input.
"""

import json
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CORPUS = ROOT / "tests" / "corpus"

# Of each program: what is copied from which package, what is compiled, and the flags for it.
PROGRAMS = {
    "lua": ([("lua-src", "lua-5.4.9", "lua")], ["lua/*.c"],
            ["-Ilua", "-DLUA_USE_POSIX", "-Dluai_makeseed(L)=0x5eed"]),
    "sqlite": ([("libsqlite3-sys", "sqlite3", "sqlite")], ["sqlite/sqlite3.c"],
               ["-Isqlite", "-D_GNU_SOURCE", "-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION", "-DSQLITE_TEMP_STORE=3"]),
    "quickjs": ([("rquickjs-sys", "quickjs", "quickjs")],
                ["quickjs/quickjs.c", "quickjs/libregexp.c", "quickjs/libunicode.c", "quickjs/dtoa.c"],
                ["-Iquickjs", "-D_GNU_SOURCE"]),
    "expat": ([("expat-sys", "expat/lib", "expat")], ["expat/xmlparse.c", "expat/xmlrole.c", "expat/xmltok.c"],
              ["-I.", "-Iexpat", "-DHAVE_EXPAT_CONFIG_H"]),
    "tree-sitter": ([("tree-sitter", "src", "tree-sitter"), ("tree-sitter", "include/tree_sitter", "include/tree_sitter"),
                     ("tree-sitter-json", "src", "json")], ["tree-sitter/lib.c", "json/parser.c"],
                    ["-Iinclude", "-Ijson", "-D_DEFAULT_SOURCE"]),
    "zlib": ([("libz-sys", "src/zlib", "zlib")],
             [f"zlib/{unit}.c" for unit in
              ["adler32", "crc32", "deflate", "inffast", "inflate", "inftrees", "trees", "zutil"]], ["-Izlib"]),
    "hoedown": ([("hoedown", "libhoedown/src", "hoedown")], ["hoedown/*.c"], ["-Ihoedown"]),
    "libyaml": ([("libyaml-sys", "libyaml/src", "yaml"), ("libyaml-sys", "libyaml/include", "yaml")], ["yaml/*.c"],
                ["-Iyaml", '-DYAML_VERSION_STRING="0"', "-DYAML_VERSION_MAJOR=0", "-DYAML_VERSION_MINOR=0",
                 "-DYAML_VERSION_PATCH=0"]),
    "oniguruma": ([("onig_sys", "oniguruma/src", "oniguruma")],
                  [f"oniguruma/{unit}.c" for unit in
                   ["ascii", "onig_init", "regcomp", "regenc", "regerror", "regexec", "regext", "regparse", "regsyntax",
                    "regtrav", "regversion", "st", "unicode", "unicode_fold1_key", "unicode_fold2_key",
                    "unicode_fold3_key", "unicode_unfold_key", "utf8"]],
                  ["-I.", "-Ioniguruma"]),
}

# Crates that the corpus does not have. They are fetched for the C sources that they bundle, and never built.
FURTHER = ["hoedown = \"=6.0.0\"", "libyaml-sys = \"=0.1.0\""]

# How the names of inputs end.
ENDINGS = {"lua": "lua", "sqlite": "sql", "quickjs": "js", "expat": "xml", "tree-sitter": "json", "zlib": "bin", "hoedown": "md",
           "libyaml": "yaml", "oniguruma": "txt"}

# The buffers of the drivers are as small as the tests of the corpus need them.
ROOM = [("1 << 14", "1 << 21"), ("1 << 16", "1 << 21")]


def packages(folder):
    """The folders of the crates, by name."""
    further = folder / "crates"
    (further / "src").mkdir(parents=True, exist_ok=True)
    (further / "src" / "lib.rs").write_text("")
    manifest = "[package]\nname = \"further\"\nedition = \"2021\"\n[workspace]\n[dependencies]\n"
    (further / "Cargo.toml").write_text(manifest + "\n".join(FURTHER) + "\n")
    found = {}
    for place, lock in [(further, []), (CORPUS, ["--locked"])]:
        command = ["cargo", "metadata", "--format-version", "1", *lock]
        answer = subprocess.run(command, cwd=place, check=True, stdout=subprocess.PIPE).stdout
        found |= {one["name"]: Path(one["manifest_path"]).parent for one in json.loads(answer)["packages"]}
    return found


def drivers(program):
    """The files beside the sources of a program: its main function, and what its build would configure."""
    own = ROOT / "benches" / "drivers" / f"{program}.c"
    shared = CORPUS / "drivers" / program
    files = {file.name: file for file in shared.iterdir()} if shared.exists() else {}
    return files | ({"main.c": own} if own.exists() else {})


def build(folder, program, crates, change=None, flags=("-g", "-O1")):
    """Compiles a program, with the changed line, if any; returns the executable."""
    sources = folder / "sources"
    folders, units, preprocessor = PROGRAMS[program]
    for package, path, copy in folders:
        shutil.copytree(crates[package] / path, sources / copy, dirs_exist_ok=True)
    for name, file in drivers(program).items():
        text = file.read_text()
        for old, new in ROOM:
            text = text.replace(old, new)
        (sources / name).write_text(text)
    if change:
        file, old, new = change
        text = (sources / file).read_text()
        if text.count(old) != 1:
            sys.exit(f"{file}: the line to change is there {text.count(old)} times, not once: {old}")
        (sources / file).write_text("#include <stdlib.h>\n" + text.replace(old, new))
    names = [str(name.relative_to(sources)) for unit in units for name in sorted(sources.glob(unit))]
    executable = folder / "program"
    subprocess.run(["cc", *flags, "-w", *preprocessor, "main.c", *names, "-lm", "-o", executable], cwd=sources, check=True)
    return executable
