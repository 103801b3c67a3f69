//! Simplify inputs as a user does, and look at what is left.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::Value;

use super::{scratch, stripe, text};

/// A folder with some files; those that begin with `#!` can be started.
pub fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
    let folder = scratch(name);
    for (file, content) in files {
        let path = folder.join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(&path, content).expect("written");
        if content.starts_with("#!") {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("changed");
        }
    }
    folder
}

pub fn simplify(folder: &Path, words: &[&str]) -> Output {
    let mut command = stripe();
    command.arg("simplify").args(words).current_dir(folder).stdin(Stdio::null());
    command.output().expect("stripe starts")
}

/// The result as a document, of a command that ends with this status.
pub fn document(folder: &Path, words: &[&str], status: i32) -> Value {
    let output = simplify(folder, &[&["--format", "json", "-q"], words].concat());
    assert_eq!(output.status.code(), Some(status), "{words:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("a document")
}

/// What is left of the only part.
pub fn left(document: &Value) -> &str {
    let parts = document["parts"].as_array().expect("parts");
    assert_eq!(parts.len(), 1, "{parts:?}");
    parts[0]["text"].as_str().expect("a text")
}
