//! The arguments of execve(2) in one piece: the program's path, its arguments and the environments among which a run
//! chooses.
//!
//! A process that has just been forked must not allocate. It maps this piece, which any run may have of its own,
//! and finds there the lists of pointers that the kernel wants, once the address of the piece is added to them.

use std::collections::HashMap;
use std::ffi::CString;
use std::os::fd::RawFd;

use nix::errno::Errno;

use super::ProcessError;
use super::sealed::Sealed;

/// The size of a pointer, of which the piece first has one for each text, and a null after each list.
const WORD: usize = size_of::<u64>();

/// The program's path, its arguments and some environments, in a file that nobody can change.
pub(super) struct Texts(Sealed);

/// The arguments with one of the environments, mapped.
pub(super) struct MappedTexts {
    pub(super) program: *const libc::c_char,
    pub(super) arguments: *const *const libc::c_char,
    pub(super) environment: *const *const libc::c_char,
}

impl Texts {
    pub(super) fn new(
        program: &CString,
        arguments: &[CString],
        environments: &[Vec<CString>],
    ) -> Result<Texts, ProcessError> {
        let environments = environments.iter().map(Vec::as_slice);
        let lists: Vec<&[CString]> = std::iter::once(arguments).chain(environments).collect();
        Ok(Texts(Sealed::holding(&laid_out(program, &lists))?))
    }

    pub(super) fn length(&self) -> u64 {
        self.0.length()
    }

    /// The file, to be handed to a process that maps it.
    pub(super) fn file(&self) -> &std::fs::File {
        self.0.file()
    }
}

/// Lays out the pointers, each the place of a text in this piece, with a null after each list; and then the texts.
fn laid_out<'t>(program: &'t CString, lists: &[&'t [CString]]) -> Vec<u8> {
    let words = 1 + lists.iter().map(|list| list.len() + 1).sum::<usize>();
    let (mut pointers, mut texts) = (Vec::with_capacity(words * WORD), Vec::new());
    // Environments share most of their variables, and the file may have to be short: `ulimit -f`.
    let mut places = HashMap::new();
    let mut lay_out = |text: Option<&'t CString>| {
        let place = text.map_or(0, |text| {
            *places.entry(text).or_insert_with(|| {
                let place = words * WORD + texts.len();
                texts.extend(text.as_bytes_with_nul());
                place
            })
        });
        pointers.extend((place as u64).to_ne_bytes());
    };
    lay_out(Some(program));
    for list in lists {
        list.iter().map(Some).chain([None]).for_each(&mut lay_out);
    }
    pointers.append(&mut texts);
    pointers
}

impl MappedTexts {
    /// Maps a piece of this length, for good: the program that takes the place of this process ends that.
    ///
    /// # Safety
    /// `file` holds [`Texts`] of this length, with an environment of this number.
    pub(super) unsafe fn map(file: RawFd, length: u64, environment: u32) -> nix::Result<MappedTexts> {
        let (access, flags) = (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE);
        // SAFETY: a new mapping, at an address that the kernel chooses.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), length as usize, access, flags, file, 0) };
        if start == libc::MAP_FAILED {
            return Err(Errno::last());
        }
        let words = start.cast::<u64>();
        // SAFETY: the piece begins with a place, and with lists of them that end with zero.
        unsafe {
            *words += start as u64;
            let arguments = words.add(1);
            let mut list = resolve(arguments, start as u64);
            for _ in 0..environment {
                list = resolve(list, start as u64);
            }
            resolve(list, start as u64);
            Ok(MappedTexts {
                program: *words as *const libc::c_char,
                arguments: arguments.cast(),
                environment: list.cast(),
            })
        }
    }
}

/// Makes pointers of the places in a list; returns where the next one begins.
///
/// # Safety
/// It is a list of places that ends with zero.
unsafe fn resolve(mut word: *mut u64, start: u64) -> *mut u64 {
    // SAFETY: as the caller says.
    unsafe {
        while *word != 0 {
            *word += start;
            word = word.add(1);
        }
        word.add(1)
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::CStr;
    use std::os::fd::AsRawFd;

    use super::*;

    fn listed(mut list: *const *const libc::c_char) -> Vec<String> {
        let mut texts = Vec::new();
        // SAFETY: a list of texts that ends with null.
        unsafe {
            while !(*list).is_null() {
                texts.push(CStr::from_ptr(*list).to_str().expect("a text").to_owned());
                list = list.add(1);
            }
        }
        texts
    }

    #[test]
    fn what_is_mapped_is_what_was_laid_out_empty_texts_and_lists_included() {
        let texts = |all: &[&str]| -> Vec<CString> {
            all.iter().map(|text| CString::new(*text).expect("a text")).collect()
        };
        let environments: [&[&str]; 3] = [&["X="], &[], &["A=1", "B=2"]];
        for arguments in [&[][..], &["", "a b", ""], &["p"]] {
            let laid_out = Texts::new(&c"/bin/p".into(), &texts(arguments), &environments.map(texts));
            let laid_out = laid_out.expect("memory");
            for (number, environment) in (0..).zip(environments) {
                // SAFETY: the file is one of these.
                let mapped =
                    unsafe { MappedTexts::map(laid_out.file().as_raw_fd(), laid_out.length(), number) };
                let mapped = mapped.expect("memory");
                // SAFETY: a text that was mapped for good.
                assert_eq!(unsafe { CStr::from_ptr(mapped.program) }, c"/bin/p");
                assert_eq!(listed(mapped.arguments), arguments);
                assert_eq!(listed(mapped.environment), environment);
            }
        }
    }
}
