//! Find the further changes that the messages of a failed build ask for.
//!
//! Source: ESEC/FSE 1999, section 8: the failure resolution loop. "After a failing construction, scan the error messages
//! for identifiers, add all changes that reference these identifiers, and try again."

use std::collections::BTreeSet;
use std::os::unix::ffi::OsStrExt;
use std::sync::LazyLock;

use dd::Configuration;
use regex::bytes::Regex;

use super::difference::ChangeSet;
use super::space::texts;
use super::text::words;

/// The largest number of names that are taken from the messages of a build.
const MOST_NAMES: usize = 60;

/// The forms in which gcc, clang, rustc, javac, linkers and Python write names: quotes of all kinds, and a
/// few phrases.
static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    let quoted = r"(?:[`'\x22]|\xe2\x80\x98|\xe2\x80\x9c)([A-Za-z_][A-Za-z0-9_:.]*)(?:\([^)'`]*\))?(?:[`'\x22]|\xe2\x80\x99|\xe2\x80\x9d)";
    let phrases = r"symbol:\s+\w+\s+(\w+)|error: ([\w./-]+\.\w+): No such file|undefined: (\w+)|unknown type name (\w+)";
    Regex::new(&format!("(?-u){quoted}|{phrases}")).expect("an expression")
});

/// The names in the messages of a failed build, in order; of the user's expression those of its
/// groups, or all that it matches.
pub(super) fn names(messages: &[u8], pattern: Option<&Regex>) -> Vec<Vec<u8>> {
    let (mut seen, mut names) = (BTreeSet::new(), Vec::new());
    let mut add = |text: &[u8]| {
        let parts = text.split(|byte| b":.".contains(byte)).map(<[u8]>::to_vec);
        for name in std::iter::once(text.to_vec()).chain(parts) {
            if name.len() > 1 && names.len() < MOST_NAMES && seen.insert(name.clone()) {
                names.push(name);
            }
        }
    };
    for expression in [Some(&*NAMED), pattern].into_iter().flatten() {
        for found in expression.captures_iter(messages) {
            let groups: Vec<&[u8]> = found.iter().skip(1).flatten().map(|group| group.as_bytes()).collect();
            match groups.is_empty() {
                true => add(&found[0]),
                false => groups.into_iter().for_each(&mut add),
            }
        }
    }
    names
}

/// The changes that mention one of these names, or change a file of that name, and are not applied.
pub(super) fn mentioning(set: &ChangeSet, names: &[Vec<u8>], applied: &Configuration) -> Vec<usize> {
    let mentions = |number: &usize| {
        set.changes[*number].edits.iter().any(|(file, edit)| {
            let path = &set.files[*file].path;
            let called = [path.file_name(), path.file_stem(), Some(path.as_os_str())];
            let is_called = |name: &Vec<u8>| called.iter().flatten().any(|part| part.as_bytes() == &name[..]);
            let found: BTreeSet<&[u8]> = texts(set, *file, edit).into_iter().flat_map(words).collect();
            names.iter().any(|name| found.contains(&name[..]) || is_called(name))
        })
    };
    (0..set.changes.len()).filter(|&number| !applied.contains(number)).filter(mentions).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(messages: &str, pattern: Option<&str>) -> Vec<String> {
        let pattern = pattern.map(|pattern| Regex::new(pattern).expect("an expression"));
        let names = names(messages.as_bytes(), pattern.as_ref());
        names.into_iter().map(|name| String::from_utf8(name).expect("a name")).collect()
    }

    #[test]
    fn names_are_found_in_the_messages_of_compilers_linkers_and_interpreters() {
        assert_eq!(found("a.c:3:5: error: implicit declaration of function ‘area’", None), ["area"]);
        assert_eq!(found("a.c:1: error: 'struct box' has no member named 'depth'", None), ["depth"]);
        assert_eq!(found("ld: a.o: undefined reference to `volume'", None), ["volume"]);
        assert_eq!(found("error[E0425]: cannot find function `area` in this scope", None), ["area"]);
        assert_eq!(found("  symbol:   method area(int)", None), ["area"]);
        assert_eq!(
            found("ImportError: cannot import name 'area' from 'pkg.shapes'", None),
            ["area", "pkg.shapes", "pkg", "shapes"]
        );
        assert_eq!(
            found("a.c:1:10: fatal error: area.h: No such file or directory", None),
            ["area.h", "area"]
        );
        assert_eq!(found("E42 <area>", Some("<(.*)>")), ["area"]);
        assert_eq!(found("all is well", None), [""; 0]);
    }
}
