//! Hash everything that the outcomes of a simplification's tests depend on, and resume after those that are kept.

use std::fmt::Write;
use std::fs;
use std::hash::Hasher;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use dd::{Configuration, Counts, Level, Observer, Outcome};
use siphasher::sip128::{Hasher128, SipHasher13};
use tracer::invocation::Invocation;

use super::listener::SearchWatcher;
use super::simplify_request::SimplifyRequest;
use super::watcher::Watcher;
use crate::circumstances::input::Given;
use crate::circumstances::{PhaseTitle, Status};
use crate::oracle::{Criterion, Evidence};

/// The size in bytes above which a file is not read to check that it is still the same.
const LONGEST_READ: u64 = 64 << 20;

/// A number that stands for all that the outcomes of tests depend on, as far as stripe knows.
pub(super) fn question(request: &SimplifyRequest) -> u128 {
    let SimplifyRequest { invocation, other, judges, given, criterion, method, timeout, .. } = request;
    let mut hasher = SipHasher13::new();
    let mut text = String::from(env!("CARGO_PKG_VERSION"));
    for invocation in std::iter::once(invocation).chain(other) {
        hash_start(&mut hasher, &mut text, invocation);
        let Invocation { program, arguments, directory, .. } = invocation;
        // Their behaviour depends on what is in them.
        let named = arguments.iter().flat_map(|word| words(word.to_str()));
        for file in std::iter::once(program.as_path()).chain(named) {
            hash_file(&mut hasher, &directory.join(file), given);
        }
    }
    let names: Vec<_> = given.parts.iter().map(|part| (&part.name, &part.path, part.is_optional)).collect();
    let _ = write!(text, "{names:?}{judges}{criterion:?}{method:?}{timeout:?}{}", request.path.is_some());
    if let Some(criterion) = criterion {
        hash_expected(&mut hasher, criterion);
        for file in words(criterion.check.as_ref().map(|check| check.command())) {
            hash_file(&mut hasher, &invocation.directory.join(file), given);
        }
    }
    hasher.write(&given.fingerprint().to_le_bytes());
    hasher.write(text.as_bytes());
    hasher.finish128().as_u128()
}

/// Hashes how a program is started; what can be told in words goes to `text`.
pub(super) fn hash_start(hasher: &mut SipHasher13, text: &mut String, invocation: &Invocation) {
    let Invocation { program, arguments, environment, directory, stdin, stdout, permissions, constancy } =
        invocation;
    let start = (program, arguments, environment, directory, stdout, permissions, constancy);
    let _ = write!(text, "{start:?}");
    hasher.write(stdin);
}

/// Hashes the outputs that a criterion expects.
pub(super) fn hash_expected(hasher: &mut SipHasher13, criterion: &Criterion) {
    for expected in [&criterion.output, &criterion.stderr].into_iter().flatten() {
        hasher.write(expected);
    }
}

/// Hashes the content of a file, or of a long one its time of change. Pipes and devices have no end, and what is
/// simplified differs from test to test.
pub(super) fn hash_file(hasher: &mut SipHasher13, path: &Path, given: &Given) {
    let is_simplified = |path: PathBuf| given.parts.iter().any(|part| part.path.as_ref() == Some(&path));
    match fs::metadata(path) {
        Ok(data) if !data.is_file() || path.canonicalize().is_ok_and(is_simplified) => {}
        Ok(data) if data.len() > LONGEST_READ => {
            let state = (data.len(), data.ino(), data.mtime(), data.mtime_nsec());
            hasher.write(format!("{state:?}").as_bytes());
        }
        Ok(_) => hasher.write(&fs::read(path).unwrap_or_default()),
        Err(_) => {}
    }
}

/// The words of a text, each of which may name a file.
pub(super) fn words(text: Option<&str>) -> impl Iterator<Item = &Path> {
    text.unwrap_or_default().split_whitespace().map(Path::new)
}

/// Ends a search that goes on after so many further tests.
pub(super) struct OfFurther<'w> {
    pub(super) inner: Box<dyn SearchWatcher + 'w>,
    pub(super) fresh: &'w AtomicU64,
    /// The largest number of further tests; `None`: any number.
    pub(super) most: Option<u64>,
}

impl OfFurther<'_> {
    fn is_over(&self) -> bool {
        self.most.is_some_and(|most| self.fresh.load(Ordering::Relaxed) >= most)
    }
}

impl Observer<Evidence> for OfFurther<'_> {
    fn tested(&mut self, tested: &Configuration, outcome: Outcome, evidence: &Evidence, counts: Counts) {
        self.inner.tested(tested, outcome, evidence, counts);
    }

    fn improved(&mut self, smaller: &Configuration) {
        self.inner.improved(smaller);
    }

    fn goes_finer(&mut self, level: Level, tests: u64) -> bool {
        self.inner.goes_finer(level, tests)
    }

    fn should_stop(&mut self) -> bool {
        self.is_over() || self.inner.should_stop()
    }
}

impl Watcher for OfFurther<'_> {
    fn begins(&mut self, phase: &PhaseTitle, start: &Configuration) {
        self.inner.begins(phase, start);
    }

    fn reason(&self) -> Status {
        if self.is_over() { Status::Budget } else { self.inner.reason() }
    }
}

impl SearchWatcher for OfFurther<'_> {
    fn ends(&mut self) {
        self.inner.ends();
    }
}
