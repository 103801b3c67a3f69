//! Recognise interpreters: stripe cannot see the statements of the scripts that they execute.

use std::path::Path;

/// The beginnings of their names; versions may follow, as in `python3.12`.
const NAMES: [&str; 16] = [
    "python", "pypy", "perl", "ruby", "node", "deno", "bun", "java", "php", "Rscript", "bash", "dash", "zsh",
    "sh", "guile", "tclsh",
];

/// True if a program of this name is an interpreter.
pub(super) fn is_interpreter(program: &Path) -> bool {
    let name = program.file_name().unwrap_or_default().to_string_lossy();
    let is_version = |rest: &str| rest.chars().all(|c| c.is_ascii_digit() || ".-".contains(c));
    NAMES.iter().any(|known| name.strip_prefix(known).is_some_and(is_version))
}

/// The message for a user who names an interpreter.
pub(super) fn explanation(program: &Path) -> String {
    format!(
        "{0}: is an interpreter, and stripe sees statements of native programs only (C, C++, Rust, Fortran, ...), not \
         those of the script that {0} executes: take a debugger of that language; or name the native program that the \
         script starts. {1}",
        program.display(),
        reducible(program)
    )
}

/// Advice for a program that cannot be traced: any that can be started can be simplified.
pub(super) fn reducible(program: &Path) -> String {
    format!("What the script is given can be reduced: stripe simplify {} -- ARGUMENTS", program.display())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interpreter_is_known_by_its_name_whatever_its_version() {
        for name in ["python3", "/usr/bin/python3.12", "perl5.36", "sh", "node"] {
            assert!(is_interpreter(Path::new(name)), "{name}");
        }
        for name in ["pythonic", "./shift", "nodes", "show", ""] {
            assert!(!is_interpreter(Path::new(name)), "{name}");
        }
    }
}
