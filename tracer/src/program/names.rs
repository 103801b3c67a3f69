//! Demangling: names of symbols as their source languages write them.
//!
//! A mangled name may say in a few bytes that a type occurs in itself twice, thirty times over; written out,
//! it would fill the memory. A name that gets too long to be read stays as it is.

use std::fmt::{self, Write};

use cpp_demangle::{DemangleOptions, Symbol};

/// The size of the longest name, in bytes. Those of large C++ programs have ten thousand.
const LONGEST: usize = 64 << 10;

/// Demangles a symbol of C++ or Rust. Any other symbol is a name already: the `f` of a C program is not the `float`
/// that a mangled type of this name would be.
pub(super) fn demangle(symbol: &str) -> String {
    let is_mangled = symbol.starts_with("_Z") || symbol.starts_with("_R");
    let name = is_mangled.then(|| rust(symbol).or_else(|| cpp(symbol))).flatten();
    name.unwrap_or_else(|| symbol.to_owned())
}

fn rust(symbol: &str) -> Option<String> {
    let demangled = rustc_demangle::try_demangle(symbol).ok()?;
    let mut name = Bounded::default();
    write!(name, "{demangled:#}").ok()?;
    Some(name.0)
}

fn cpp(symbol: &str) -> Option<String> {
    let mut name = Bounded::default();
    Symbol::new(symbol).ok()?.structured_demangle(&mut name, &DemangleOptions::default()).ok()?;
    Some(name.0)
}

/// A text of bounded length: an error ends what writes it when it gets too long.
#[derive(Default)]
struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > LONGEST {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_their_languages() {
        assert_eq!(demangle("_ZN1A5twiceEv"), "A::twice()");
        assert_eq!(
            demangle("_ZN4core3fmt5Write9write_fmt17h0123456789abcdefE"),
            "core::fmt::Write::write_fmt"
        );
        assert_eq!(demangle("_RNvCs1234_7mycrate3foo"), "mycrate::foo");
        assert_eq!(demangle("f"), "f");
        assert_eq!(demangle("_Znonsense"), "_Znonsense");
    }

    /// A mangled type of nested pairs: each pair consists of two of the one before.
    fn doubled(times: usize) -> String {
        let digits = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
        let pairs = digits[..times].iter().map(|&digit| format!("S_IS{0}_S{0}_E", digit as char));
        format!("_Z1fSt4pairIiiE{}", pairs.collect::<String>())
    }

    #[test]
    fn a_name_that_doubles_itself_thirty_times_stays_as_it_is() {
        assert!(demangle(&doubled(2)).starts_with("f(std::pair<int, int>, std::pair<std::pair<int, int>"));
        assert_eq!(demangle(&doubled(30)), doubled(30));
    }
}
