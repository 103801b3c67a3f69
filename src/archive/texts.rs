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

pub(super) fn bytes_text(bytes: &[u8]) -> TextDocument {
    match str::from_utf8(bytes) {
        Ok(text) => TextDocument::Text(text.to_owned()),
        Err(_) => TextDocument::Bytes(bytes.to_vec()),
    }
}

pub(super) fn bytes(text: TextDocument) -> Vec<u8> {
    match text {
        TextDocument::Text(text) => text.into_bytes(),
        TextDocument::Bytes(bytes) => bytes,
    }
}

pub(super) fn text(text: &OsStr) -> TextDocument {
    bytes_text(text.as_bytes())
}

pub(super) fn texts(texts: &[OsString]) -> Vec<TextDocument> {
    texts.iter().map(|one| text(one)).collect()
}

pub(super) fn os_string(text: TextDocument) -> OsString {
    OsString::from_vec(bytes(text))
}

pub(super) fn os_strings(texts: Vec<TextDocument>) -> Vec<OsString> {
    texts.into_iter().map(os_string).collect()
}

pub(super) fn path(text: TextDocument) -> PathBuf {
    os_string(text).into()
}
