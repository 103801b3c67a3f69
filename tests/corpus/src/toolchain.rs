//! Choose the compiler and its flags.

use std::env;
use std::process::Command;

use anyhow::{Context, Result};

use crate::compile::output_of;

/// A C compiler and how it is called. Every program is compiled at -O0 with -g; [`Toolchain::flags`] come
/// behind these two.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Toolchain {
    /// The compiler's name or path: `cc`.
    pub compiler: String,
    /// How the program finds the C library.
    pub linking: Linking,
    /// Further flags, for compiling and linking alike: `-gdwarf-4`, `-no-pie`.
    pub flags: Vec<String>,
}

/// How a program finds the C library.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Linking {
    /// The loader brings it at run time, which takes about 90,000 instructions before `main`.
    #[default]
    Dynamic,
    /// It is part of the executable, and `main` comes after about 10,000 instructions, more with a large
    /// environment.
    Static,
}

impl Default for Toolchain {
    /// The compiler in the environment variable `CC`, else `cc`, and dynamic linking.
    fn default() -> Self {
        let compiler = env::var("CC").ok().filter(|name| !name.is_empty()).unwrap_or_else(|| "cc".to_owned());
        Toolchain { compiler, linking: Linking::Dynamic, flags: Vec::new() }
    }
}

impl Toolchain {
    /// The default compiler with static linking.
    pub fn linking_statically() -> Self {
        Toolchain { linking: Linking::Static, ..Toolchain::default() }
    }

    /// What the compiler says about its version.
    pub(crate) fn version(&self) -> Result<Vec<u8>> {
        output_of(Command::new(&self.compiler).arg("--version"))
            .context("no C compiler: install one, or name it in the environment variable CC")
    }

    /// A command of this compiler with the flags that all compilations share.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.compiler);
        command.args(["-O0", "-g", "-w"]).args(&self.flags);
        command
    }

    /// The flags that only linking takes.
    pub(crate) fn linking_flags(&self) -> &'static [&'static str] {
        match self.linking {
            Linking::Dynamic => &[],
            Linking::Static => &["-static"],
        }
    }
}
