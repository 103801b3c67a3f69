//! The borders between the modules hold: no cycles, each outside world behind one door, one name for one type.
//!
//! Reads the sources as tokens, so that comments and texts do not count, and leaves out what is compiled
//! for tests only. Each rule is a function from sources to complaints. One test applies it to the
//! sources of this project; another shows on a small bad example that it can complain.
//!
//! What is looked at are names as they are written: paths, imports, calls, macros, methods. A name that
//! comes out of a macro of another crate is not seen.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

// The rules.

#[test]
fn the_modules_of_the_product_form_no_cycle() {
    assert_none(cycles(&package("src")));
}

#[test]
fn the_modules_of_delta_debugging_form_no_cycle() {
    assert_none(cycles(&package("dd/src")));
}

#[test]
fn the_modules_of_studies_form_no_cycle() {
    assert_none(cycles(&package("study/src")));
}

#[test]
fn the_modules_of_the_tracer_form_no_cycle() {
    assert_none(cycles(&package("tracer/src")));
}

#[test]
fn the_modules_of_the_rules_form_no_cycle() {
    assert_none(cycles(&package("tracer/agent/src")));
}

#[test]
fn files_form_no_cycle() {
    for folder in PACKAGES {
        assert_none(cycles_of_files(&package(folder)));
    }
}

#[test]
fn no_two_public_types_of_a_package_have_the_same_name() {
    for folder in PACKAGES {
        assert_none(names_of_several(&package(folder)));
    }
}

#[test]
fn the_core_of_delta_debugging_knows_nothing_of_the_world() {
    assert_none(worldly_core(&package("dd/src")));
}

#[test]
fn only_the_process_module_talks_to_the_operating_system() {
    assert_none(system_outside_its_door(&everything()));
}

#[test]
fn the_product_forbids_unsafe_code() {
    assert_none(unsafe_allowed(&package("src")));
    assert_none(unsafe_allowed(&package("dd/src")));
    assert_none(unsafe_allowed(&package("study/src")));
    assert_none(unsafe_allowed(&package("tracer/agent/src")));
}

#[test]
fn only_the_program_module_reads_elf_dwarf_and_machine_code() {
    assert_none(readers_outside_their_door(&everything()));
}

#[test]
fn reports_open_no_file_but_those_of_the_source_text() {
    assert_none(files_in_reports(&package("src")));
}

#[test]
fn only_reports_the_archive_and_studies_define_documents() {
    assert_none(documents_elsewhere(&everything()));
}

#[test]
fn only_the_command_line_prints_and_only_in_functions_for_it() {
    assert_none(printing(&everything()));
}

#[test]
fn every_exception_is_still_needed() {
    assert_none(stale_exceptions(&everything()));
}

/// What belongs behind `tracer/src/process` and is outside today: file, name, reason.
const EXCEPTIONS: [(&str, &str, &str); 1] =
    [("tracer/src/termination.rs", "nix::sys::signal::Signal", "only the names of signals, no call")];

/// The crates and keywords of the door to the operating system.
const SYSTEM: [&str; 5] = ["nix", "libc", "landlock", "seccompiler", "unsafe"];

/// The crates that read executables.
const READERS: [&str; 7] =
    ["addr2line", "gimli", "object", "capstone", "iced_x86", "cpp_demangle", "rustc_demangle"];

/// The parts of the standard library by which a module reaches the world.
const WORLD: [&str; 7] =
    ["std::env", "std::fs", "std::net", "std::os", "std::process", "std::time", "core::time"];

/// What a pool of workers needs besides: threads, and the error of one that cannot be started.
const THREADS: [&str; 2] = ["std::io", "std::thread"];

/// Macros that print.
const PRINTERS: [&str; 5] = ["print", "println", "eprint", "eprintln", "dbg"];

/// The functions that may hold standard output or standard error: to print, or to ask what it is.
const PRINTING_FUNCTIONS: [(&str, &str); 10] = [
    ("src/cli/mod.rs", "main"),
    ("src/cli/mod.rs", "print_by"),
    ("src/cli/terminal.rs", "say"),
    ("src/cli/replay.rs", "tell"),
    ("src/cli/terminal.rs", "clipped"),
    ("src/cli/terminal.rs", "is_watched"),
    ("src/cli/terminal.rs", "style"),
    ("src/cli/terminal.rs", "width"),
    ("src/cli/trace.rs", "trace"),
    ("src/cli/worker.rs", "worker"),
];

/// Methods of paths that ask the file system.
const ASKING_METHODS: [&str; 8] =
    ["canonicalize", "exists", "is_dir", "is_file", "metadata", "read_dir", "read_link", "try_exists"];

/// A cycle among the top-level modules, if there is one.
fn cycles(sources: &[Source]) -> Vec<String> {
    let graph = uses(sources);
    let cycle = graph.keys().find_map(|start| cycle_through(&graph, start));
    cycle.map(|cycle| format!("a cycle of modules: {}", cycle.join(" -> "))).into_iter().collect()
}

/// Which crates the core may use is for its manifest to say; the standard library holds the world, too.
fn worldly_core(sources: &[Source]) -> Vec<String> {
    complaints(sources.iter(), |source, mention| {
        if mention.kind == Kind::Macro && PRINTERS.contains(&mention.last()) {
            return Some("dd prints nothing".into());
        }
        let has_threads = source.file == "dd/src/pool.rs";
        let worldly = WORLD.iter().any(|part| mention.reaches(part))
            || !has_threads && THREADS.iter().any(|part| mention.reaches(part));
        worldly.then(|| "dd knows numbers and a tester, and nothing of the world".into())
    })
}

fn system_outside_its_door(sources: &[Source]) -> Vec<String> {
    let outside = sources.iter().filter(|source| !source.file.starts_with("tracer/src/process/"));
    complaints(outside, |source, mention| {
        let excepted = EXCEPTIONS.iter().any(|(file, name, _)| source.file == *file && mention.is_in(name));
        (SYSTEM.iter().any(|name| mention.reaches(name)) && !excepted)
            .then(|| "only tracer/src/process talks to the operating system".into())
    })
}

fn stale_exceptions(sources: &[Source]) -> Vec<String> {
    let used = |(file, name, _): &&(&str, &str, &str)| {
        let mut sources = sources.iter().filter(|source| source.file == *file);
        sources.any(|source| source.mentions.iter().any(|mention| mention.is_in(name)))
    };
    let stale = EXCEPTIONS.iter().filter(|exception| !used(exception));
    stale.map(|(file, name, _)| format!("{file} no longer uses {name}: remove the exception")).collect()
}

fn unsafe_allowed(sources: &[Source]) -> Vec<String> {
    let roots = sources.iter().filter(|source| source.module.is_empty());
    let careless = roots.filter(|source| !source.attributes.contains("forbid(unsafe_code)"));
    careless.map(|source| format!("{} lacks #![forbid(unsafe_code)]", source.file)).collect()
}

fn readers_outside_their_door(sources: &[Source]) -> Vec<String> {
    let outside = sources.iter().filter(|source| !source.file.starts_with("tracer/src/program/"));
    complaints(outside, |_, mention| {
        READERS
            .iter()
            .any(|name| mention.reaches(name))
            .then(|| "only tracer/src/program reads ELF, DWARF and machine code".into())
    })
}

fn files_in_reports(sources: &[Source]) -> Vec<String> {
    let reports =
        sources.iter().filter(|source| source.is_in("report") && source.file != "src/report/source.rs");
    complaints(reports, |_, mention| {
        let asks = mention.kind == Kind::Method && ASKING_METHODS.contains(&mention.last());
        let opens =
            ["std::fs", "std::os", "std::process", "tempfile"].iter().any(|part| mention.reaches(part));
        (asks || opens).then(|| "only report/source.rs touches the file system".into())
    })
}

/// A format that others rely on must not change because a type of the program does.
fn documents_elsewhere(sources: &[Source]) -> Vec<String> {
    let has_documents = |source: &Source| {
        ["report", "archive", "remote"].iter().any(|room| source.is_in(room))
            || source.file.starts_with("study/src/")
    };
    let elsewhere = sources.iter().filter(|source| !has_documents(source));
    complaints(elsewhere, |_, mention| {
        let defines = ["serde", "serde_json"].iter().any(|name| mention.reaches(name));
        defines.then(|| {
            "only report, archive, remote and the package of studies define documents, with types of their own"
                .into()
        })
    })
}

fn printing(sources: &[Source]) -> Vec<String> {
    complaints(sources.iter(), |source, mention| {
        if mention.kind == Kind::Macro && PRINTERS.contains(&mention.last()) {
            return Some("these macros panic where nobody reads: use cli::print, or write and decide".into());
        }
        let stream = ["stdout", "stderr"].contains(&mention.last());
        let handle = match mention.kind {
            Kind::Call => stream,
            Kind::Name => stream && mention.path.iter().rev().nth(1).is_some_and(|before| before == "io"),
            Kind::Import | Kind::Macro | Kind::Method => false,
        };
        let allowed = PRINTING_FUNCTIONS
            .iter()
            .any(|(file, function)| source.file == *file && mention.function == *function);
        (handle && !allowed).then(|| "only the command line prints, in the functions listed here".into())
    })
}

/// What a rule has to say about the mentions of some sources.
fn complaints<'a>(
    sources: impl Iterator<Item = &'a Source>,
    rule: impl Fn(&Source, &Mention) -> Option<String>,
) -> Vec<String> {
    let mut complaints = Vec::new();
    for source in sources {
        for mention in &source.mentions {
            if let Some(complaint) = rule(source, mention) {
                let name = mention.path.join("::");
                complaints.push(format!("{}:{}: {name}: {complaint}", source.file, mention.line));
            }
        }
    }
    complaints
}

fn assert_none(complaints: Vec<String>) {
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}

// The graph of modules.

/// For each top-level module, the others that it names.
fn uses(sources: &[Source]) -> BTreeMap<String, BTreeSet<String>> {
    let modules: BTreeSet<String> = sources.iter().filter_map(|s| s.module.first().cloned()).collect();
    let exports = exports(sources, &modules);
    let mut graph: BTreeMap<String, BTreeSet<String>> =
        modules.iter().map(|module| (module.clone(), BTreeSet::new())).collect();
    for source in sources {
        let Some(user) = source.module.first() else { continue };
        let used = graph.get_mut(user).expect("all modules are there");
        for place in source.mentions.iter().filter_map(|mention| source.resolve(mention)) {
            match place.first() {
                Some(name) if modules.contains(name) => used.extend([name.clone()]),
                Some(name) if exports.contains_key(name) => used.extend([exports[name].clone()]),
                // The whole crate, or a name of its root that is no module's: may be any of them.
                _ => used.extend(modules.iter().cloned()),
            }
        }
        used.remove(user);
    }
    graph
}

/// The names that the root of the crate takes from its modules, with the module.
fn exports(sources: &[Source], modules: &BTreeSet<String>) -> BTreeMap<String, String> {
    let root = sources.iter().filter(|source| source.module.is_empty());
    let imports = root.flat_map(|source| &source.mentions).filter(|mention| mention.kind == Kind::Import);
    imports
        .filter_map(|import| {
            let module = import.path.iter().find(|name| !["crate", "self"].contains(&name.as_str()))?;
            modules.contains(module).then(|| (import.last().to_owned(), module.clone()))
        })
        .collect()
}

/// A way from `start` back to it.
fn cycle_through(graph: &BTreeMap<String, BTreeSet<String>>, start: &str) -> Option<Vec<String>> {
    let mut open = vec![vec![start.to_owned()]];
    let mut seen = BTreeSet::new();
    while let Some(way) = open.pop() {
        for next in &graph[way.last().expect("a way has a beginning")] {
            let longer = [way.clone(), vec![next.clone()]].concat();
            if next == start {
                return Some(longer);
            }
            if seen.insert(next) {
                open.push(longer);
            }
        }
    }
    None
}

// The graph of files.

/// For each file, the others whose names it uses. A name that a file only passes on is its origin's; to declare
/// a module, or to pass on a name, is no use.
fn uses_of_files(sources: &[Source]) -> BTreeMap<String, BTreeSet<String>> {
    let files: BTreeMap<&[String], &Source> =
        sources.iter().map(|source| (&source.module[..], source)).collect();
    let is_passed_on = |source: &Source, mention: &Mention| {
        source.passed_on.iter().any(|(_, passed)| passed.line == mention.line && passed.path == mention.path)
    };
    let used = |source: &Source| {
        let mentions = source.mentions.iter().filter(|mention| !is_passed_on(source, mention));
        let places = mentions.filter_map(|mention| source.resolve(mention));
        let origins = places.filter_map(|place| origin(&files, &place, 0));
        origins.filter(|file| *file != source.file).collect()
    };
    sources.iter().map(|source| (source.file.clone(), used(source))).collect()
}

/// The file that defines what is at this place.
fn origin(files: &BTreeMap<&[String], &Source>, place: &[String], depth: usize) -> Option<String> {
    let known = (0..=place.len()).rev().find(|&length| files.contains_key(&place[..length]))?;
    let file = files[&place[..known]];
    let passed = place.get(known).and_then(|name| {
        let (_, mention) = file.passed_on.iter().find(|(passed, _)| passed == name)?;
        // Within a file, a path may begin with the name of a module below it.
        let own = || [&file.module[..], &mention.path].concat();
        let place = file.resolve(mention).unwrap_or_else(own);
        (depth < 8).then(|| origin(files, &place, depth + 1)).flatten()
    });
    passed.or(Some(file.file.clone()))
}

/// A cycle of files for each file that is on one.
fn cycles_of_files(sources: &[Source]) -> Vec<String> {
    let graph = uses_of_files(sources);
    let mut on_known = BTreeSet::new();
    let mut found = Vec::new();
    for start in graph.keys() {
        if on_known.contains(start) {
            continue;
        }
        if let Some(cycle) = cycle_through(&graph, start) {
            found.push(format!("a cycle of files: {}", cycle.join(" -> ")));
            on_known.extend(cycle);
        }
    }
    found
}

/// A name that two types have, both of which others can see.
fn names_of_several(sources: &[Source]) -> Vec<String> {
    let mut files: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for source in sources {
        source.public_types.iter().for_each(|name| files.entry(name).or_default().push(&source.file));
    }
    let several = files.into_iter().filter(|(_, files)| files.len() > 1);
    several.map(|(name, files)| format!("{name} is a type in {}", files.join(" and in "))).collect()
}

// The sources.

/// A file without what is compiled for tests only.
struct Source {
    file: String,
    /// The module that the file is; empty for the root of a crate.
    module: Vec<String>,
    mentions: Vec<Mention>,
    /// The attributes of the whole file, without spaces.
    attributes: BTreeSet<String>,
    /// The modules that it declares for tests only.
    test_modules: Vec<String>,
    /// The names that it takes from elsewhere and passes on, with their paths.
    passed_on: Vec<(String, Mention)>,
    /// The types that it defines for others, whoever they are.
    public_types: Vec<String>,
}

/// A name that a file mentions.
#[derive(Clone, Debug)]
struct Mention {
    path: Vec<String>,
    kind: Kind,
    /// The modules inside of the file that it stands in.
    inner: Vec<String>,
    /// The innermost function that it stands in; empty outside of all.
    function: String,
    line: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A leaf of a `use`, or an `extern crate`.
    Import,
    /// A function that is called by its path.
    Call,
    Macro,
    /// A method that is called.
    Method,
    /// Any other path of two names or more; and `unsafe`.
    Name,
}

impl Source {
    fn new(file: &str, module: &[&str], text: &str) -> Source {
        let tokens: TokenStream = text.parse().unwrap_or_else(|error| panic!("{file}: {error}"));
        let mut source = Source {
            file: file.into(),
            module: module.iter().map(|&name| name.into()).collect(),
            mentions: Vec::new(),
            attributes: BTreeSet::new(),
            test_modules: Vec::new(),
            passed_on: Vec::new(),
            public_types: Vec::new(),
        };
        Scanner { source: &mut source, inner: Vec::new(), function: String::new(), is_passed_on: false }
            .scan(tokens);
        source
    }

    fn is_in(&self, module: &str) -> bool {
        self.module.first().is_some_and(|name| name == module)
    }

    /// The place in the crate that a mention is about; `None` if it does not say so by `crate`, `self`
    /// or `super`.
    fn resolve(&self, mention: &Mention) -> Option<Vec<String>> {
        let first = mention.path.first()?.as_str();
        if matches!(mention.kind, Kind::Method) || !["crate", "self", "super"].contains(&first) {
            return None;
        }
        let mut place = [&self.module[..], &mention.inner].concat();
        for name in &mention.path {
            match name.as_str() {
                "crate" | "$crate" => place.clear(),
                "self" => {}
                "super" => drop(place.pop()),
                "*" => break,
                name => place.push(name.into()),
            }
        }
        Some(place)
    }
}

impl Mention {
    fn last(&self) -> &str {
        self.path.last().map_or("", String::as_str)
    }

    /// Whether this is `name`, or something in it.
    fn is_in(&self, name: &str) -> bool {
        let name: Vec<&str> = name.split("::").collect();
        self.kind != Kind::Method
            && self.path.len() >= name.len()
            && self.path.iter().zip(&name).all(|(a, b)| a == b)
    }

    /// Whether this is `name`, something in it, or an import of what holds it.
    fn reaches(&self, name: &str) -> bool {
        let name: Vec<&str> = name.split("::").collect();
        let path: Vec<&str> = self.path.iter().map(String::as_str).filter(|part| *part != "*").collect();
        let common = path.iter().zip(&name).take_while(|(one, other)| one == other).count();
        let holds = self.kind == Kind::Import && common == path.len();
        self.kind != Kind::Method && common > 0 && (common == name.len() || holds)
    }
}

/// The folders of the packages.
const PACKAGES: [&str; 5] = ["src", "dd/src", "study/src", "tracer/src", "tracer/agent/src"];

fn everything() -> Vec<Source> {
    PACKAGES.into_iter().flat_map(package).collect()
}

/// The files of a package, without those that are compiled for tests only.
fn package(folder: &str) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut sources = Vec::new();
    read_folder(&root.join(folder), folder, &mut Vec::new(), &mut sources);
    assert!(sources.len() > 5, "{folder} has hardly any sources");
    let tests: Vec<Vec<String>> = sources
        .iter()
        .flat_map(|source| {
            source.test_modules.iter().map(|test| [&source.module[..], std::slice::from_ref(test)].concat())
        })
        .collect();
    sources.retain(|source| !tests.iter().any(|test| source.module.starts_with(test)));
    sources
}

fn read_folder(folder: &Path, shown: &str, module: &mut Vec<String>, sources: &mut Vec<Source>) {
    for entry in fs::read_dir(folder).unwrap_or_else(|error| panic!("{shown}: {error}")) {
        let path = entry.expect("a folder that can be read").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let shown = format!("{shown}/{name}");
        if path.is_dir() {
            module.push(name);
            read_folder(&path, &shown, module, sources);
            module.pop();
        } else if let Some(stem) = name.strip_suffix(".rs") {
            let is_own = matches!(stem, "mod") || module.is_empty() && matches!(stem, "lib" | "main");
            let mut of_file: Vec<&str> = module.iter().map(String::as_str).collect();
            of_file.extend((!is_own).then_some(stem));
            let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{shown}: {error}"));
            sources.push(Source::new(&shown, &of_file, &text));
        }
    }
}

// The scanner.

/// The words that define a type.
const DEFINERS: [&str; 5] = ["struct", "enum", "trait", "type", "union"];

/// Whether these tokens end with `pub`, for whomever.
fn is_public(before: &[TokenTree]) -> bool {
    let before = match before {
        [rest @ .., TokenTree::Group(group)] if group.delimiter() == Delimiter::Parenthesis => rest,
        all => all,
    };
    is_ident(before.last(), "pub")
}

/// Collects the mentions of a file.
struct Scanner<'a> {
    source: &'a mut Source,
    inner: Vec<String>,
    function: String,
    /// Within an import that others see as well.
    is_passed_on: bool,
}

impl Scanner<'_> {
    fn scan(&mut self, tokens: TokenStream) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut at = 0;
        let mut body_of: Option<String> = None;
        while at < tokens.len() {
            match &tokens[at] {
                TokenTree::Punct(punct) if punct.as_char() == '#' => at = self.attribute(&tokens, at),
                TokenTree::Punct(punct) => {
                    if punct.as_char() == ';' {
                        body_of = None;
                    }
                    at += 1;
                }
                TokenTree::Ident(word) if word == "use" => {
                    self.is_passed_on = is_public(&tokens[..at]);
                    at = self.import(&tokens, at + 1);
                    self.is_passed_on = false;
                }
                TokenTree::Ident(word) if DEFINERS.iter().any(|definer| word == definer) => {
                    if let (Some(name), true) = (ident(tokens.get(at + 1)), is_public(&tokens[..at])) {
                        self.source.public_types.push(name);
                    }
                    at += 1;
                }
                TokenTree::Ident(word) if word == "extern" && is_ident(tokens.get(at + 1), "crate") => {
                    at = self.import(&tokens, at + 2);
                }
                TokenTree::Ident(word) if word == "unsafe" => {
                    self.mention(vec!["unsafe".into()], Kind::Name, &tokens[at]);
                    at += 1;
                }
                TokenTree::Ident(word) if word == "fn" => {
                    if let Some(name) = ident(tokens.get(at + 1)) {
                        body_of = Some(name);
                        at += 1;
                    }
                    at += 1;
                }
                TokenTree::Ident(word) if word == "mod" => at = self.module(&tokens, at),
                TokenTree::Ident(_) => at = self.path(&tokens, at),
                TokenTree::Group(group) => {
                    let is_body = group.delimiter() == Delimiter::Brace;
                    let function = if is_body { body_of.take() } else { None };
                    let outer = function.map(|function| std::mem::replace(&mut self.function, function));
                    self.scan(group.stream());
                    if let Some(outer) = outer {
                        self.function = outer;
                    }
                    at += 1;
                }
                TokenTree::Literal(_) => at += 1,
            }
        }
    }

    /// Takes the attribute at `at`, and with `#[cfg(test)]` the item after it; returns what follows.
    fn attribute(&mut self, tokens: &[TokenTree], at: usize) -> usize {
        let is_of_file = is_punct(tokens.get(at + 1), '!');
        let at = at + 1 + usize::from(is_of_file);
        let Some(TokenTree::Group(group)) = tokens.get(at) else { return at };
        let text = without_spaces(group);
        if is_of_file && self.inner.is_empty() && self.function.is_empty() {
            self.source.attributes.insert(text.clone());
        }
        if text == "cfg(test)" && !is_of_file {
            return self.skip_item(tokens, at + 1);
        }
        self.scan(group.stream());
        at + 1
    }

    /// Passes over the item that begins at `at`.
    fn skip_item(&mut self, tokens: &[TokenTree], mut at: usize) -> usize {
        let mut is_import = false;
        while let Some(token) = tokens.get(at) {
            at += 1;
            match token {
                TokenTree::Ident(word) if word == "use" => is_import = true,
                TokenTree::Ident(word) if word == "mod" => {
                    if let (Some(name), true) = (ident(tokens.get(at)), is_punct(tokens.get(at + 1), ';')) {
                        self.source.test_modules.push(name);
                    }
                }
                TokenTree::Punct(punct) if punct.as_char() == ';' => return at,
                TokenTree::Group(group) if group.delimiter() == Delimiter::Brace && !is_import => return at,
                _ => {}
            }
        }
        at
    }

    /// Takes `mod name { .. }` at `at`, or passes over the word.
    fn module(&mut self, tokens: &[TokenTree], at: usize) -> usize {
        match (ident(tokens.get(at + 1)), tokens.get(at + 2)) {
            (Some(name), Some(TokenTree::Group(group))) if group.delimiter() == Delimiter::Brace => {
                self.inner.push(name);
                self.scan(group.stream());
                self.inner.pop();
                at + 3
            }
            (Some(_), _) => at + 2,
            (None, _) => at + 1,
        }
    }

    /// Takes the tree of a `use` that begins at `at`, up to its semicolon.
    fn import(&mut self, tokens: &[TokenTree], at: usize) -> usize {
        let length = tokens[at..].iter().take_while(|&token| !is_punct(Some(token), ';')).count();
        self.tree(&tokens[at..at + length], &[]);
        at + length + 1
    }

    /// Mentions each leaf of a tree of imports.
    fn tree(&mut self, tokens: &[TokenTree], prefix: &[String]) {
        for branch in tokens.split(|token| is_punct(Some(token), ',')) {
            let mut path = prefix.to_vec();
            let mut divided = false;
            let alias = branch.iter().position(|token| is_ident(Some(token), "as"));
            let alias = alias.and_then(|at| ident(branch.get(at + 1)));
            for token in branch {
                match token {
                    TokenTree::Ident(word) if word == "as" => break,
                    TokenTree::Ident(word) if word == "self" && !path.is_empty() => {}
                    TokenTree::Ident(word) => path.push(word.to_string()),
                    TokenTree::Punct(punct) if punct.as_char() == '*' => path.push("*".into()),
                    TokenTree::Group(group) => {
                        let inside: Vec<TokenTree> = group.stream().into_iter().collect();
                        self.tree(&inside, &path);
                        divided = true;
                    }
                    _ => {}
                }
            }
            if let (Some(token), false) = (branch.first(), divided) {
                self.mention(path, Kind::Import, token);
                if self.is_passed_on && self.inner.is_empty() {
                    let mention = self.source.mentions.pop().expect("the last one");
                    let name = alias.unwrap_or_else(|| mention.last().to_owned());
                    self.source.passed_on.push((name, mention.clone()));
                    self.source.mentions.push(mention);
                }
            }
        }
    }

    /// Takes the path that begins at `at`.
    fn path(&mut self, tokens: &[TokenTree], at: usize) -> usize {
        let mut path = vec![ident(tokens.get(at)).expect("a path begins with a name")];
        let mut end = at + 1;
        while is_punct(tokens.get(end), ':') && is_punct(tokens.get(end + 1), ':') {
            let Some(name) = ident(tokens.get(end + 2)) else { break };
            path.push(name);
            end += 3;
        }
        let behind_dot = at > 0 && is_punct(tokens.get(at - 1), '.');
        let follows = |place: usize, delimiter: Delimiter| matches!(tokens.get(place), Some(TokenTree::Group(group)) if group.delimiter() == delimiter);
        let is_macro =
            is_punct(tokens.get(end), '!') && matches!(tokens.get(end + 1), Some(TokenTree::Group(_)));
        let kind = if is_macro {
            Kind::Macro
        } else if behind_dot {
            Kind::Method
        } else if follows(end, Delimiter::Parenthesis) {
            Kind::Call
        } else {
            Kind::Name
        };
        if kind != Kind::Name || path.len() > 1 {
            self.mention(path, kind, &tokens[at]);
        }
        end
    }

    fn mention(&mut self, path: Vec<String>, kind: Kind, token: &TokenTree) {
        self.source.mentions.push(Mention {
            path,
            kind,
            inner: self.inner.clone(),
            function: self.function.clone(),
            line: token.span().start().line,
        });
    }
}

fn ident(token: Option<&TokenTree>) -> Option<String> {
    match token {
        Some(TokenTree::Ident(word)) => Some(word.to_string()),
        _ => None,
    }
}

fn is_ident(token: Option<&TokenTree>, word: &str) -> bool {
    matches!(token, Some(TokenTree::Ident(other)) if other == word)
}

fn is_punct(token: Option<&TokenTree>, character: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == character)
}

fn without_spaces(group: &Group) -> String {
    group.stream().to_string().replace(char::is_whitespace, "")
}

// The rules can complain, and the scanner sees what it should.

fn source(file: &str, text: &str) -> Source {
    let path = file.trim_start_matches("tracer/").trim_start_matches("src/").trim_end_matches(".rs");
    let module: Vec<&str> = path.split('/').filter(|name| !["mod", "lib", "main"].contains(name)).collect();
    Source::new(file, &module, text)
}

/// The one complaint that there is.
#[track_caller]
fn only(complaints: &[String]) -> &str {
    let [complaint] = complaints else { panic!("not one complaint: {complaints:#?}") };
    complaint
}

#[test]
fn a_cycle_is_shown_as_a_way_around_it() {
    let mut sources = vec![
        source("src/slice.rs", "use crate::{dd::Outcome, report::{self, Style as S}};"),
        source("src/report/text.rs", "fn f() { let _ = format!(\"{}\", super::super::cli::exit()); }"),
        source("src/cli/mod.rs", "mod inner { type T = super::super::slice::T; }"),
        source("src/dd/mod.rs", "use std::fmt;"),
    ];
    assert_eq!(only(&cycles(&sources)), "a cycle of modules: cli -> slice -> report -> cli");
    sources[2] = source("src/cli/mod.rs", "mod inner { type T = super::super::dd::T; }");
    assert_none(cycles(&sources));
    // The whole crate may be anything.
    sources.push(source("src/dd/stop.rs", "use crate::*;"));
    assert_eq!(only(&cycles(&sources)), "a cycle of modules: cli -> dd -> cli");
}

#[test]
fn a_name_that_the_root_passes_on_belongs_to_its_module() {
    let sources = [
        source(
            "src/lib.rs",
            "mod engine; mod process; pub use engine::{Method, Conditions}; pub use process::Sandbox;",
        ),
        source("src/process/mod.rs", "use crate::Method;"),
        source("src/engine/mod.rs", "fn f(tracee: &crate::process::Tracee) {}"),
    ];
    assert_eq!(only(&cycles(&sources)), "a cycle of modules: engine -> process -> engine");
}

#[test]
fn a_cycle_of_files_is_shown_through_names_that_are_passed_on() {
    let mut sources = vec![
        source("src/a/mod.rs", "mod b; mod c; pub use b::{B, X as Y}; pub use c::C;"),
        source("src/a/b.rs", "use super::C; struct B; struct X;"),
        source("src/a/c.rs", "use crate::a::Y;"),
    ];
    assert_eq!(only(&cycles_of_files(&sources)), "a cycle of files: src/a/b.rs -> src/a/c.rs -> src/a/b.rs");
    sources[2] = source("src/a/c.rs", "use crate::d::D;");
    assert_none(cycles_of_files(&sources));
}

#[test]
fn two_types_of_one_name_are_found() {
    let one = source("src/a.rs", "pub struct Place; enum Own {} pub(super) type Short = u8;");
    let other = source("src/b.rs", "pub(crate) enum Place {} enum Own {} trait Short {}");
    assert_eq!(only(&names_of_several(&[one, other])), "Place is a type in src/a.rs and in src/b.rs");
}

#[test]
fn a_core_that_reaches_out_is_found_out() {
    for bad in [
        "use std::{cell::Cell, fs};",
        "use std::io as quiet;",
        "use std::*;",
        "use std as world;",
        "fn f() { std::thread::sleep(std::iter::empty().sum()); }",
        "fn f() -> std::time::Instant { todo!() }",
        "fn f() { println!(\"found\"); }",
    ] {
        assert!(!worldly_core(&[source("dd/src/algorithms/sweep.rs", bad)]).is_empty(), "{bad}");
    }
    let good = "use std::collections::HashMap; use fixedbitset::FixedBitSet; use super::outcome::Outcome;";
    assert_none(worldly_core(&[source("dd/src/algorithms/sweep.rs", good)]));
    assert_none(worldly_core(&[source("dd/src/pool.rs", "use std::thread::Scope;")]));
    assert!(!worldly_core(&[source("dd/src/pool.rs", "use std::fs;")]).is_empty());
}

#[test]
fn a_second_door_to_the_operating_system_is_found() {
    let complain = |file: &str, text: &str| system_outside_its_door(&[source(file, text)]);
    let call = "fn f() {\n    unsafe { libc::fork() };\n}";
    let found = complain("tracer/src/engine/mod.rs", call);
    let rule = "only tracer/src/process talks to the operating system";
    assert_eq!(
        found,
        ["unsafe", "libc::fork"].map(|name| format!("tracer/src/engine/mod.rs:2: {name}: {rule}"))
    );
    assert_none(complain("tracer/src/process/tracee.rs", call));
    only(&complain("src/cli/run.rs", "use nix::sys::{ptrace};"));
    // An exception is for one name in one file.
    assert_none(complain("tracer/src/termination.rs", "use nix::sys::signal::Signal;"));
    only(&complain("tracer/src/trace.rs", "use nix::sys::signal::Signal;"));
    only(&complain("tracer/src/termination.rs", "use nix;"));
    assert_eq!(stale_exceptions(&[]).len(), EXCEPTIONS.len());
}

#[test]
fn a_root_that_allows_unsafe_code_is_found() {
    let roots = [
        source("src/lib.rs", "#![forbid(unsafe_code)]\npub mod dd;"),
        source("src/main.rs", "// #![forbid(unsafe_code)]\nfn main() {}"),
    ];
    assert_eq!(only(&unsafe_allowed(&roots)), "src/main.rs lacks #![forbid(unsafe_code)]");
}

#[test]
fn a_second_reader_of_executables_is_found() {
    let text = "enum Error { Damaged(object::Error) }";
    only(&readers_outside_their_door(&[source("tracer/src/trace.rs", text)]));
    only(&readers_outside_their_door(&[source("src/slice.rs", "use iced_x86::Decoder;")]));
    assert_none(readers_outside_their_door(&[source("tracer/src/program/error.rs", text)]));
    let word = "fn f(object: &Object) { object.read(); object::<u8>(); }";
    assert_none(readers_outside_their_door(&[source("tracer/src/trace.rs", word)]));
}

#[test]
fn a_report_that_opens_files_is_found() {
    for bad in [
        "fn f(p: &Path) -> bool { p.exists() }",
        "fn f() { std::fs::read(\"x\"); }",
        "use std::{io, fs::File};",
    ] {
        only(&files_in_reports(&[source("src/report/text.rs", bad)]));
        assert_none(files_in_reports(&[source("src/report/source.rs", bad)]));
    }
    assert_none(files_in_reports(&[source("src/report/trace.rs", "use std::io::{self, Write};")]));
}

#[test]
fn a_document_elsewhere_is_found() {
    let text = "use serde::{Deserialize, Serialize};";
    assert_eq!(documents_elsewhere(&[source("src/slice.rs", text)]).len(), 2);
    only(&documents_elsewhere(&[source("src/cli/run.rs", "fn f() { serde_json::to_vec(&1); }")]));
    assert_none(documents_elsewhere(&[source("src/archive/documents.rs", text)]));
}

#[test]
fn a_module_that_prints_is_found() {
    let bad = "fn f() { eprintln!(\"so\"); }";
    only(&printing(&[source("src/cli/run.rs", bad)]));
    only(&printing(&[source("tracer/src/engine/mod.rs", bad)]));
    let handle = "use std::io::{stdout}; fn say() { stdout().lock(); }";
    only(&printing(&[source("src/cli/run.rs", handle)]));
    only(&printing(&[source("src/report/text.rs", "fn f() { let get = std::io::stderr; }")]));
    assert_none(printing(&[source("src/cli/terminal.rs", handle)]));
    assert_none(printing(&[source(
        "src/oracle/check.rs",
        "fn f() { command.stdout(Stdio::null()); run.stdout.len(); }",
    )]));
}

#[test]
fn comments_texts_and_tests_do_not_count() {
    let text = "//! crate::cli\n/* libc::fork() */ const T: &str = \"std::fs::read\";\n\
                #[cfg(test)] use std::{fs, io};\n#[cfg(test)] mod sample;\n\
                #[cfg(test)]\n#[allow(dead_code)]\nmod tests { use std::fs; fn f() { println!(); } }\nuse std::fmt;";
    let source = source("src/report/text.rs", text);
    let names: Vec<String> = source.mentions.iter().map(|mention| mention.path.join("::")).collect();
    assert_eq!(names, ["std::fmt"]);
    assert_eq!(source.test_modules, ["sample"]);
}

#[test]
fn names_in_macros_attributes_and_nested_functions_count() {
    let text = "#[arg(value_parser = crate::cli::number)] struct S;\n\
                fn outer() { fn inner() { write!(f, \"{}\", io::stdout()); } crate::a::<u8>::b(); }";
    let source = source("src/report/text.rs", text);
    let mentions: Vec<String> = source
        .mentions
        .iter()
        .map(|mention| format!("{:?} {} in {}", mention.kind, mention.path.join("::"), mention.function))
        .collect();
    let expected = [
        "Call arg in ",
        "Name crate::cli::number in ",
        "Macro write in inner",
        "Call io::stdout in inner",
        "Name crate::a in outer",
    ];
    assert!(expected.iter().all(|expected| mentions.iter().any(|m| m == expected)), "{mentions:#?}");
}
