//! The surroundings in which a run was recorded: the machine and the libraries.
//!
//! Libraries choose their functions by the processor, and another version of one takes another way: on
//! another machine the same program need not go the recorded way.

use std::fs;
use std::path::{Path, PathBuf};

use crate::run::Run;
use crate::trace_file::content;

/// The surroundings of a run: what it depends on besides the program and its input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Surroundings {
    /// The model of the processor, as the kernel names it; empty if it does not.
    pub processor: String,
    /// The files whose code the program had in memory.
    pub objects: Vec<Object>,
}

/// A file of code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// The path of the file.
    pub path: PathBuf,
    /// The size of the file in bytes.
    pub size: u64,
    /// The hash of its content.
    pub hash: u128,
}

impl Surroundings {
    /// The surroundings of a run that has been recorded on this machine just now. What cannot be read is left out.
    pub fn of(run: &Run) -> Surroundings {
        let objects = run.objects.iter().filter_map(|path| Object::at(path)).collect();
        Surroundings { processor: processor(), objects }
    }

    /// The difference of today's surroundings from these, in words; `None` if there is none.
    pub fn difference(&self) -> Option<String> {
        let processor = processor();
        if self.processor != processor {
            return Some(format!("the processor is `{processor}` instead of `{}`", self.processor));
        }
        self.objects.iter().find_map(|then| {
            let path = then.path.display();
            match Object::at(&then.path) {
                None => Some(format!("{path} cannot be read any more")),
                Some(now) => (now != *then).then(|| format!("{path} has another content")),
            }
        })
    }
}

impl Object {
    fn at(path: &Path) -> Option<Object> {
        let (size, hash) = content(path).ok()?;
        Some(Object { path: path.to_owned(), size, hash })
    }
}

/// The model of the processor.
fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = text.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    model.map_or_else(String::new, |(_, model)| model.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_has_changed_is_named() {
        let path = std::env::temp_dir().join(format!("stripe-object-{}", std::process::id()));
        fs::write(&path, "one").expect("room");
        let object = Object::at(&path).expect("just written");
        let then = Surroundings { processor: processor(), objects: vec![object] };
        assert_eq!(then.difference(), None);
        fs::write(&path, "two").expect("room");
        let told = then.difference().expect("a difference");
        assert!(told.starts_with(&path.display().to_string()) && told.ends_with("another content"), "{told}");
        fs::remove_file(&path).expect("still there");
        assert!(then.difference().is_some_and(|told| told.ends_with("cannot be read any more")));
    }

    #[test]
    fn another_processor_is_named() {
        let then = Surroundings { processor: "an abacus".into(), objects: Vec::new() };
        assert!(then.difference().is_some_and(|told| told.ends_with("instead of `an abacus`")));
    }
}
