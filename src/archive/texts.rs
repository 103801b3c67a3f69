//! Turn what need not be UTF-8 into what a document can hold, and back.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use super::documents::Text;

pub(super) fn text(text: &OsStr) -> Text {
    match text.to_str() {
        Some(text) => Text::Text(text.to_owned()),
        None => Text::Bytes(text.as_bytes().to_vec()),
    }
}

pub(super) fn texts(texts: &[OsString]) -> Vec<Text> {
    texts.iter().map(|one| text(one)).collect()
}

pub(super) fn os_string(text: Text) -> OsString {
    match text {
        Text::Text(text) => text.into(),
        Text::Bytes(bytes) => OsString::from_vec(bytes),
    }
}

pub(super) fn os_strings(texts: Vec<Text>) -> Vec<OsString> {
    texts.into_iter().map(os_string).collect()
}

pub(super) fn path(text: Text) -> PathBuf {
    os_string(text).into()
}
