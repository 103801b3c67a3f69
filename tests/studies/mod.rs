//! What the tests of studies share, and those of manifests and of other recorders.

#![allow(unreachable_pub, reason = "the test binary is a crate, and this a part of it")]

mod gcov;
pub mod manifests;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::support::{root, scratch, stripe, text};

/// A copy of the sample study.
pub fn sample(name: &str) -> PathBuf {
    let folder = scratch(name);
    let copied = Command::new("cp").arg("-r").arg(root().join("samples/study")).arg(&folder).status();
    assert!(copied.expect("cp starts").success());
    folder.join("study")
}

/// Runs `stripe study`.
pub fn study(words: &[&str], folder: &Path) -> Output {
    let mut command = stripe();
    command.arg("study").args(words).current_dir(folder).stdin(Stdio::null());
    command.output().expect("stripe starts")
}

pub fn assert_status(output: &Output, status: i32) {
    assert_eq!(output.status.code(), Some(status), "{}{}", text(&output.stdout), text(&output.stderr));
}
