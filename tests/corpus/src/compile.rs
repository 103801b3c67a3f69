//! Run the compiler: sources to objects, two at a time, and objects to an executable.

use std::fs;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context, Result, bail};

use crate::program::Built;
use crate::toolchain::Toolchain;

/// What turns the sources in a build folder into an executable.
pub(crate) struct Compilation<'a> {
    pub(crate) toolchain: &'a Toolchain,
    /// The flags of the preprocessor.
    pub(crate) preprocessor: &'a [&'a str],
    /// Where the sources are, and the executable is to be.
    pub(crate) built: Built,
    /// Where both are going to be in the end: debugging information names this place.
    pub(crate) destination: Built,
}

impl Compilation<'_> {
    /// Compiles the units, which are named relative to the folder of the sources, and links them.
    ///
    /// # Errors
    /// If the compiler cannot be run, or refuses a unit: with its messages.
    pub(crate) fn run(&self, units: &[String]) -> Result<()> {
        self.compile(units)?;
        self.link(units)?;
        for unit in units {
            let object = self.built.sources.join(object(unit));
            fs::remove_file(&object).with_context(|| format!("cannot remove {}", object.display()))?;
        }
        Ok(())
    }

    fn compile(&self, units: &[String]) -> Result<()> {
        let next = AtomicUsize::new(0);
        let work = || -> Result<()> {
            while let Some(unit) = units.get(next.fetch_add(1, Ordering::Relaxed)) {
                self.compile_unit(unit)?;
            }
            Ok(())
        };
        thread::scope(|scope| {
            let other = scope.spawn(work);
            let mine = work();
            other.join().expect("a compiling thread does not panic").and(mine)
        })
    }

    fn compile_unit(&self, unit: &str) -> Result<()> {
        let (here, there) = (self.built.sources.display(), self.destination.sources.display());
        let mut command = self.command();
        command.arg(format!("-fdebug-prefix-map={here}={there}")).args(self.preprocessor);
        command.args(["-c", unit, "-o", &object(unit)]);
        output_of(&mut command).with_context(|| format!("cannot compile {unit}"))?;
        Ok(())
    }

    fn link(&self, units: &[String]) -> Result<()> {
        let mut command = self.command();
        command.args(self.toolchain.linking_flags()).args(units.iter().map(|unit| object(unit)));
        command.arg("-o").arg(&self.built.executable).arg("-lm");
        output_of(&mut command).context("cannot link")?;
        Ok(())
    }

    fn command(&self) -> Command {
        let mut command = self.toolchain.command();
        command.current_dir(&self.built.sources);
        command
    }
}

/// The object file that belongs to a unit.
fn object(unit: &str) -> String {
    format!("{unit}.o")
}

/// Runs a command without input and hands back its standard output.
///
/// # Errors
/// If it cannot be run, or fails: with what it wrote to standard error.
pub(crate) fn output_of(command: &mut Command) -> Result<Vec<u8>> {
    let program = command.get_program().to_string_lossy().into_owned();
    let output = command.stdin(Stdio::null()).output().with_context(|| format!("cannot run {program}"))?;
    if !output.status.success() {
        bail!("{program} ended with {}:\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    Ok(output.stdout)
}
