"""Name the programs in which faults are planted: their sources in packages, and the inputs of their own tests."""

import ast
import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DRIVERS = ROOT / "tests" / "corpus" / "drivers"


@dataclass(frozen=True)
class Program:
    """A program: where its sources come from, how they are compiled, and which tests it has."""

    name: str
    driver: str
    # Folders of sources: package, path in it, where it is copied to.
    folders: tuple
    # What is compiled besides the driver, and gets faults.
    units: tuple
    flags: tuple
    # The inputs, from the folder of the first package: (arguments, standard input).
    inputs: callable


def packages():
    """The folder of each package that the corpus depends on."""
    command = ["cargo", "metadata", "--format-version", "1", "--locked"]
    answer = subprocess.run(command, cwd=ROOT, check=True, capture_output=True).stdout
    return {one["name"]: Path(one["manifest_path"]).parent for one in json.loads(answer)["packages"]}


def c_string(literal):
    """The bytes of a C string literal that holds nothing but what Python writes alike; else None."""
    try:
        return ast.literal_eval("b" + literal)
    except (SyntaxError, ValueError):
        return None


LITERAL = r'"(?:[^"\\\n]|\\.)*"'


def oniguruma_inputs(package):
    """Each check of the package's test_utf8.c: an expression and the text that is searched."""
    text = (package / "oniguruma/test/test_utf8.c").read_text(errors="replace")
    for pattern, searched in re.findall(rf"\b(?:x2|x3|n)\(({LITERAL}), *({LITERAL})", text):
        pattern, searched = c_string(pattern), c_string(searched)
        if pattern and searched is not None and b"\0" not in pattern + searched and b"\n" not in pattern:
            yield [pattern.decode("utf-8", "surrogateescape")], searched + b"\n"


def expat_inputs(package):
    """Each document of the package's runtests.c."""
    text = (package / "expat/tests/runtests.c").read_bytes().decode("latin-1")
    for literals in re.findall(rf"\btext\s*(?:\[\])?\s*=\s*((?:{LITERAL}\s*)+);", text):
        parts = [c_string(one) for one in re.findall(LITERAL, literals)]
        if all(part is not None for part in parts):
            yield [], b"".join(parts)


def json_inputs(package):
    """The parts of the package's own JSON files that have 20 to 200 bytes."""

    def parts(value):
        text = json.dumps(value).encode()
        if 20 <= len(text) <= 200:
            yield [], text
        inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
        for one in inner:
            yield from parts(one)

    for file in ("src/grammar.json", "src/node-types.json", "tree-sitter.json"):
        yield from parts(json.loads((package / file).read_text()))


def bzip2_inputs(package):
    """The paragraphs of the package's documentation that have at most 300 bytes."""
    for file in ("README", "CHANGES", "LICENSE", "words0", "words3"):
        for paragraph in (package / "bzip2-1.0.8" / file).read_bytes().split(b"\n\n"):
            if 20 <= len(paragraph) <= 300:
                yield [], paragraph + b"\n"


ONIGURUMA = (
    "regcomp regexec regparse regenc st unicode utf8 ascii onig_init regerror regext regsyntax regtrav regversion "
    "unicode_fold1_key unicode_fold2_key unicode_fold3_key unicode_unfold_key"
)
PROGRAMS = (
    Program(
        "oniguruma",
        "oniguruma",
        (("onig_sys", "oniguruma/src", "oniguruma"),),
        tuple(f"oniguruma/{unit}.c" for unit in ONIGURUMA.split()),
        ("-I.", "-Ioniguruma"),
        oniguruma_inputs,
    ),
    Program(
        "expat",
        "expat",
        (("expat-sys", "expat/lib", "expat"),),
        ("expat/xmlparse.c", "expat/xmlrole.c", "expat/xmltok.c"),
        ("-I.", "-Iexpat", "-DHAVE_EXPAT_CONFIG_H"),
        expat_inputs,
    ),
    Program(
        "tree-sitter",
        "tree-sitter",
        (
            ("tree-sitter-json", "src", "json"),
            ("tree-sitter-json", "src/tree_sitter", "json/tree_sitter"),
            ("tree-sitter", "src", "tree-sitter"),
            ("tree-sitter", "src/portable", "tree-sitter/portable"),
            ("tree-sitter", "src/unicode", "tree-sitter/unicode"),
            ("tree-sitter", "include/tree_sitter", "include/tree_sitter"),
        ),
        tuple(
            f"tree-sitter/{unit}.c"
            for unit in (
                "alloc get_changed_ranges language lexer node parser point query stack subtree tree tree_cursor "
                "wasm_store"
            ).split()
        )
        + ("json/parser.c",),
        ("-Iinclude", "-Itree-sitter", "-Ijson", "-D_DEFAULT_SOURCE"),
        json_inputs,
    ),
    Program(
        "bzip2",
        "bzip2",
        (("bzip2-sys", "bzip2-1.0.8", "bzip2"),),
        tuple(
            f"bzip2/{unit}.c"
            for unit in "blocksort bzlib compress crctable decompress huffman randtable".split()
        ),
        ("-Ibzip2", "-DBZ_NO_STDIO"),
        bzip2_inputs,
    ),
)
