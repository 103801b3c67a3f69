//! Hash everything that the outcomes of versions depend on, so that a search resumes after those that it has kept.

use std::fmt::Write;
use std::hash::Hasher;
use std::os::unix::ffi::OsStrExt;

use siphasher::sip128::{Hasher128, SipHasher13};

use super::change_request::{ChangesRequest, Judgement};
use super::outcomes::{hash_expected, hash_file, hash_start, words};
use super::versions::Versions;
use crate::circumstances::change::Tree;
use crate::circumstances::input::Given;

/// A number that stands for all that outcomes depend on, as far as stripe knows: both versions, how they are built and
/// tested, and the files outside of them that the commands name.
pub(super) fn question(request: &ChangesRequest, versions: &Versions) -> u128 {
    let ChangesRequest { build, test, judgement, repeat, is_always_clean, .. } = request;
    let ChangesRequest { timeout, build_timeout, .. } = request;
    let mut hasher = SipHasher13::new();
    let mut text = String::from(env!("CARGO_PKG_VERSION"));
    for tree in [&versions.good, &versions.bad] {
        hash_tree(&mut hasher, tree);
    }
    for invocation in build.iter().chain([test]) {
        hash_start(&mut hasher, &mut text, invocation);
        // Other paths are those of the version.
        let named = invocation.arguments.iter().flat_map(|word| words(word.to_str()));
        for file in named.filter(|file| file.is_absolute()) {
            hash_file(&mut hasher, file, &Given { parts: Vec::new() });
        }
    }
    if let Judgement::Program(criterion) = judgement {
        for criterion in criterion.iter() {
            let _ = write!(text, "{criterion:?}");
            hash_expected(&mut hasher, criterion);
        }
    }
    let below = &versions.below;
    let _ = write!(text, "{below:?}{repeat}{is_always_clean}{timeout:?}{build_timeout:?}");
    hasher.write(text.as_bytes());
    hasher.finish128().as_u128()
}

fn hash_tree(hasher: &mut SipHasher13, tree: &Tree) {
    for (path, entry) in &tree.entries {
        hasher.write(path.as_os_str().as_bytes());
        hasher.write_u8(0);
        hasher.write_u8(entry.mode as u8);
        hasher.write_u128(entry.content.key());
    }
    hasher.write_u8(0);
}
