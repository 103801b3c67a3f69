//! Warn about source files that are not what was compiled.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::SystemTime;

use tracer::program::Program;

use crate::subject::LONGEST_SOURCE;

/// The doubts about the sources of the traced functions; one sentence for each file.
pub(super) fn doubts(program: &Program) -> Vec<String> {
    let compiled = modified(&program.executable().path);
    let files: BTreeSet<_> = program.leaders().iter().map(|leader| leader.statement.file).collect();
    let doubt = |file| {
        let file = program.file(file);
        match (modified(&file.path), &compiled) {
            (None, _) => {
                Some(format!("{} cannot be read: its lines are shown without their text", file.shown))
            }
            (Some(source), Some(compiled)) if source > *compiled => Some(format!(
                "{} is newer than the program: its lines are shown without their text; compile the program again",
                file.shown
            )),
            _ if length(&file.path) > LONGEST_SOURCE => Some(format!(
                "{} has more than {} MiB: its lines are shown without their text; split it",
                file.shown,
                LONGEST_SOURCE >> 20
            )),
            _ => None,
        }
    };
    files.into_iter().filter_map(doubt).collect()
}

fn length(path: &Path) -> u64 {
    fs::metadata(path).map_or(0, |metadata| metadata.len())
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).and_then(|metadata| metadata.modified()).ok()
}
