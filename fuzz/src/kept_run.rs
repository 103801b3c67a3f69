//! Open a kept run: its documents and its journal.

use std::fs;
use std::hash::Hasher;
use std::hint::black_box;
use std::path::PathBuf;

use serde_json::{Value, json};
use siphasher::sip::SipHasher13;
use siphasher::sip128::{Hasher128, SipHasher13 as SipHasher128};
use stripe::archive::{Archive, ArchiveError, JournalContent};

use crate::subject;

/// So many circumstances are there.
const UNIVERSE: usize = 1000;

/// Takes `input` for the journal of a run, and for its documents `run.json` and `result.json`; once as it
/// is, and once with sound checksums.
///
/// # Panics
/// If opening does, or if a message has more than one line.
pub fn run(input: &[u8]) {
    write("journal", input);
    read_journal();
    black_box(tests(input));
    for format in ["stripe.run/2", "stripe.result/1"] {
        let sealed = sealed(format, input);
        for document in [Some(input.to_vec()), sealed].into_iter().flatten() {
            write("result.json", &document);
            black_box(opens(&document));
        }
    }
}

/// Whether a folder with this document as `run.json` is a run.
pub fn opens(document: &[u8]) -> bool {
    write("run.json", document);
    ["input", "output", "errors"].into_iter().for_each(|name| write(name, b""));
    let run = judge(Archive::of(&subject::folder()).find(Some(&folder())));
    let run = run.expect("the folder is there");
    black_box(judge(run.entry()));
    black_box(judge(run.progress(None, UNIVERSE)));
    judge(run.load()).is_some()
}

/// How many tests there are in the journal whose records are the lines of `input`.
pub fn tests(input: &[u8]) -> usize {
    write("journal", &framed(input));
    read_journal().unwrap_or(0)
}

fn read_journal() -> Option<usize> {
    judge(JournalContent::read(&folder().join("journal"), UNIVERSE).map(|content| content.tests()))
}

fn folder() -> PathBuf {
    subject::folder().join("kept")
}

fn write(name: &str, content: &[u8]) {
    fs::create_dir_all(folder()).expect("a folder");
    subject::write_anew(&folder().join(name), content);
}

fn judge<T>(result: Result<T, ArchiveError>) -> Option<T> {
    match result {
        Ok(value) => Some(value),
        Err(error) => {
            let told = error.to_string();
            assert!(told.lines().count() == 1, "{told}");
            None
        }
    }
}

/// A journal whose records are the lines of `input`, each with its length and checksum.
pub fn framed(input: &[u8]) -> Vec<u8> {
    let mut journal = b"stripe journal 2\n".to_vec();
    for content in input.split(|&byte| byte == b'\n') {
        let place = journal.len() as u64;
        let mut length = content.len();
        while length >= 0x80 {
            journal.push(length as u8 | 0x80);
            length >>= 7;
        }
        journal.push(length as u8);
        journal.extend(content);
        let mut hasher = SipHasher13::new_with_keys(place, 0);
        hasher.write(content);
        journal.extend((hasher.finish() as u32).to_le_bytes());
    }
    journal
}

/// A document with this content, if it is one at all.
pub fn sealed(format: &str, content: &[u8]) -> Option<Vec<u8>> {
    let content: Value = serde_json::from_slice(content).ok()?;
    let mut hasher = SipHasher128::new();
    hasher.write(content.to_string().as_bytes());
    let check = format!("{:032x}", hasher.finish128().as_u128());
    serde_json::to_vec(&json!({ "format": format, "check": check, "content": content })).ok()
}
