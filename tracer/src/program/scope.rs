//! The scope: which functions are traced; the user's own, unless told otherwise.
//!
//! By default a function is the user's own if its file lies under the directory where it was
//! compiled, or beside the primary source file of its unit (build systems compile outside of the
//! source tree), and is neither a system header nor a dependency.

use std::path::Path;

use globset::{GlobBuilder, GlobMatcher};

use super::File;
use super::lines::UnitOrigin;

/// A function as the patterns of `--scope` see it.
#[derive(Clone, Copy)]
pub(super) struct Candidate<'a> {
    pub(super) function: &'a str,
    pub(super) file: &'a File,
    pub(super) home: &'a UnitOrigin,
}

/// The scope: the functions and libraries that the user wants traced.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    included: Vec<GlobMatcher>,
    excluded: Vec<GlobMatcher>,
    libraries: Vec<GlobMatcher>,
}

/// A pattern of `--scope` that is no glob.
#[derive(Debug, thiserror::Error)]
#[error("`{pattern}` is no valid pattern: {reason}; `*`, `?`, `[..]` and `{{a,b}}` are special")]
pub struct InvalidPattern {
    pattern: String,
    reason: String,
}

impl Scope {
    /// Reads patterns, each the glob of a file, a function or a shared library (a pattern with
    /// `.so` in it); a leading `!` excludes.
    ///
    /// With a pattern for files or functions, what matches one of them is traced; without, the
    /// user's own functions are. A pattern for libraries adds these.
    pub fn new<S: AsRef<str>>(patterns: &[S]) -> Result<Scope, InvalidPattern> {
        let mut scope = Scope::default();
        for pattern in patterns {
            let pattern = pattern.as_ref();
            let (list, glob) = match pattern.strip_prefix('!') {
                Some(rest) => (&mut scope.excluded, rest),
                None if pattern.contains(".so") => (&mut scope.libraries, pattern),
                None => (&mut scope.included, pattern),
            };
            let glob = GlobBuilder::new(glob.trim_start_matches("./")).literal_separator(false).build();
            let glob = glob.map_err(|error| InvalidPattern {
                pattern: pattern.to_owned(),
                reason: error.kind().to_string(),
            })?;
            list.push(glob.compile_matcher());
        }
        Ok(scope)
    }

    /// Whether a pattern says which files or functions are traced.
    pub(super) fn names_what_is_traced(&self) -> bool {
        !self.included.is_empty()
    }

    /// Whether a pattern names a shared library at all.
    pub fn names_libraries(&self) -> bool {
        !self.libraries.is_empty()
    }

    /// Whether the shared library at `path` is named.
    pub fn includes_library(&self, path: &Path) -> bool {
        matches_path(&self.libraries, path)
    }

    pub(super) fn includes(&self, candidate: Candidate<'_>) -> bool {
        let named = |globs: &[GlobMatcher]| {
            matches_path(globs, &candidate.file.path)
                || matches_path(globs, Path::new(&candidate.file.shown))
                || globs.iter().any(|glob| function_names(candidate.function).any(|name| glob.is_match(name)))
        };
        let wanted = if self.included.is_empty() { is_own(candidate) } else { named(&self.included) };
        wanted && !named(&self.excluded)
    }
}

fn matches_path(globs: &[GlobMatcher], path: &Path) -> bool {
    let name = path.file_name().map(Path::new);
    globs.iter().any(|glob| glob.is_match(path) || name.is_some_and(|name| glob.is_match(name)))
}

/// The names to which a function answers: `ns::f(int)` to its whole name, to `ns::f` and to `f`.
fn function_names(function: &str) -> impl Iterator<Item = &str> {
    let bare = function.split('(').next().unwrap_or(function);
    let last = bare.rsplit("::").next().unwrap_or(bare);
    [function, bare, last].into_iter()
}

fn is_own(candidate: Candidate<'_>) -> bool {
    let path = &candidate.file.path;
    let home = candidate.home;
    let near = path.starts_with(&home.directory) || path.starts_with(&home.sources);
    let text = path.to_string_lossy();
    // A project of the user's may lie below /usr, as in many containers; its headers do not.
    let system = path.starts_with("/usr") && !home.directory.starts_with("/usr");
    let header = path.starts_with("/usr/include") || path.starts_with("/usr/lib");
    let dependency = path.starts_with("/rustc")
        || path.starts_with("/rust/deps")
        || text.contains("/.cargo/registry/")
        || text.contains("/rustlib/src/");
    near && !system && !header && !dependency && !is_start_up(candidate)
}

/// Whether it is what the C library runs before and after `main`: musl compiles that with debug information,
/// in folders of these names.
fn is_start_up(candidate: Candidate<'_>) -> bool {
    const FUNCTIONS: [&str; 5] = ["_start", "_start_c", "_dlstart_c", "_init", "_fini"];
    let mut folders = candidate.file.path.components().map(|part| part.as_os_str());
    FUNCTIONS.contains(&candidate.function) && folders.any(|folder| folder == "crt" || folder == "ldso")
}
