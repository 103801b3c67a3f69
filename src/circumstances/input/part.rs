//! Name the input of a program, part by part: its standard input, files, arguments, variables.

use std::ffi::OsString;
use std::fmt;
use std::hash::Hasher;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

use siphasher::sip128::{Hasher128, SipHasher13};
use tracer::OpenFile;
use tracer::invocation::Replacement;
use tracer::invocation::{Input, Invocation};
use tracer::run::Run;

use crate::syntax::Language;

/// The name of a part of the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartName {
    /// The standard input.
    Stdin,
    /// A file that the program may read, as the user names it.
    File(PathBuf),
    /// An argument, by number; the program's own name is number 0.
    Argument(usize),
    /// A variable of the environment.
    Variable(OsString),
}

impl fmt::Display for PartName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PartName::Stdin => formatter.write_str("standard input"),
            PartName::File(path) => write!(formatter, "{}", path.display()),
            PartName::Argument(number) => write!(formatter, "argument {number}"),
            PartName::Variable(name) => write!(formatter, "variable {}", name.display()),
        }
    }
}

/// A part of the input.
#[derive(Clone, Debug)]
pub struct InputPart {
    /// The name.
    pub name: PartName,
    /// The path of a file, absolute and without symbolic links.
    pub path: Option<PathBuf>,
    /// The content; `None` if the part is left out as a whole.
    pub content: Option<Input>,
    /// True if the part can be left out as a whole. Any other can still be reduced to the least content.
    pub is_optional: bool,
    /// The least content: nothing, or what a grammar demands.
    pub least: Input,
    /// The language it is written in, if its name or its content tells.
    pub language: Option<Language>,
    /// The number of bytes that the program has read of it, from the beginning on, if that is known.
    pub read: Option<usize>,
}

impl InputPart {
    /// Creates a part that is no file.
    pub fn new(name: PartName, content: Input, is_optional: bool) -> InputPart {
        InputPart {
            name,
            path: None,
            content: Some(content),
            is_optional,
            least: Input::default(),
            language: None,
            read: None,
        }
    }

    /// The length in bytes.
    pub fn len(&self) -> usize {
        self.content.as_ref().map_or(0, |content| content.len())
    }

    /// True if nothing of it is left.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Notes how far a run has read it that was given all of it.
    fn note_read(&mut self, run: &Run) {
        let is_it = |file: &&OpenFile| match self.name {
            PartName::Stdin => file.descriptor == 0,
            PartName::File(_) => Some(&file.path) == self.path.as_ref(),
            PartName::Argument(_) | PartName::Variable(_) => false,
        };
        // One description that stands at the beginning may belong to a mapping, or be shared with another process.
        let positions = run.open_files.iter().filter(is_it).map(|file| file.position as usize);
        self.read = positions.max().filter(|&position| 0 < position && position < self.len());
    }

    /// Returns the part left out, or with its least content.
    pub(super) fn emptied(&self) -> InputPart {
        let content = if self.is_optional { None } else { Some(self.least.clone()) };
        InputPart { content, ..self.clone() }
    }
}

/// The input of a program, as far as it is simplified.
#[derive(Clone, Debug)]
pub struct Given {
    /// The parts; the order has no meaning for the program.
    pub parts: Vec<InputPart>,
}

impl Given {
    /// Returns the input with another content of the part of this number.
    pub(super) fn with_content(&self, number: usize, content: Vec<u8>) -> Given {
        let mut given = self.clone();
        given.parts[number].content = Some(content.into());
        given
    }

    /// Notes how far a run has read the parts that was given all of them.
    pub fn note_read(&mut self, run: &Run) {
        self.parts.iter_mut().for_each(|part| part.note_read(run));
    }

    /// A hash of the contents, to tell inputs with the same parts apart.
    pub fn fingerprint(&self) -> u128 {
        let mut hasher = SipHasher13::new();
        for part in &self.parts {
            hasher.write_u8(u8::from(part.content.is_some()));
            hasher.write_usize(part.len());
            hasher.write(part.content.as_deref().unwrap_or_default());
        }
        hasher.finish128().as_u128()
    }

    /// The length in bytes, in all.
    pub fn len(&self) -> usize {
        self.parts.iter().map(InputPart::len).sum()
    }

    /// True if nothing of it is left.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Applies the input to an invocation; returns that with the files that the program finds.
    pub fn apply(&self, base: &Invocation) -> (Invocation, Vec<Replacement>) {
        let mut invocation = base.clone();
        let mut files = Vec::new();
        let mut arguments: Vec<Option<OsString>> = base.arguments.iter().cloned().map(Some).collect();
        for part in &self.parts {
            let text = || Some(OsString::from_vec(part.content.as_ref()?.to_vec()));
            match &part.name {
                PartName::Stdin => invocation.stdin = part.content.clone().unwrap_or_default(),
                PartName::File(_) => files.extend(
                    part.path.clone().map(|path| Replacement { path, content: part.content.clone() }),
                ),
                PartName::Argument(number) => arguments[*number] = text(),
                PartName::Variable(name) => match text() {
                    Some(value) => {
                        let variable = invocation.environment.iter_mut().find(|(known, _)| known == name);
                        variable.into_iter().for_each(|(_, known)| known.clone_from(&value));
                    }
                    None => invocation.environment.retain(|(known, _)| known != name),
                },
            }
        }
        invocation.arguments = arguments.into_iter().flatten().collect();
        (invocation, files)
    }
}

/// The arguments of an invocation as parts.
pub fn arguments(invocation: &Invocation) -> impl Iterator<Item = InputPart> {
    let numbered = invocation.arguments.iter().enumerate().skip(1);
    numbered.map(|(number, text)| {
        InputPart::new(PartName::Argument(number), text.as_bytes().to_vec().into(), true)
    })
}

/// The variables of an invocation as parts.
pub fn variables(invocation: &Invocation) -> impl Iterator<Item = InputPart> {
    invocation.environment.iter().map(|(name, value)| {
        InputPart::new(PartName::Variable(name.clone()), value.as_bytes().to_vec().into(), true)
    })
}
