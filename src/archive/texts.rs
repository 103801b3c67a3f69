//! Convert texts that need not be UTF-8 into what a document can hold, and back.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A text of a document that need not be UTF-8.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum TextDocument {
    Text(String),
    Bytes(Vec<u8>),
}

pub(super) fn text(text: &OsStr) -> TextDocument {
    match text.to_str() {
        Some(text) => TextDocument::Text(text.to_owned()),
        None => TextDocument::Bytes(text.as_bytes().to_vec()),
    }
}

pub(super) fn texts(texts: &[OsString]) -> Vec<TextDocument> {
    texts.iter().map(|one| text(one)).collect()
}

pub(super) fn os_string(text: TextDocument) -> OsString {
    match text {
        TextDocument::Text(text) => text.into(),
        TextDocument::Bytes(bytes) => OsString::from_vec(bytes),
    }
}

pub(super) fn os_strings(texts: Vec<TextDocument>) -> Vec<OsString> {
    texts.into_iter().map(os_string).collect()
}

pub(super) fn path(text: TextDocument) -> PathBuf {
    os_string(text).into()
}
