//! Compile the programs of `tests/hostile`, and run others where the kernel refuses calls.

use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use super::{Program, root, scratch, stripe};

/// The path of a program of `tests/hostile`, or of the library there.
pub fn compiled(name: &str) -> PathBuf {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| {
        let folder = scratch("hostile-programs");
        for (name, options) in [
            ("attack", &[][..]),
            ("doors", &[]),
            ("faults", &[]),
            ("held", &[]),
            ("kinds", &[]),
            ("leak", &[]),
            ("races", &[]),
            ("witness", &[]),
            ("hardened", &[]),
            ("unsteady", &["-shared", "-fPIC"]),
        ] {
            let source = root().join("tests/hostile").join(name).with_extension("c");
            let mut compiler = Command::new("gcc");
            compiler.args(["-g", "-O0", "-w"]).args(options).arg("-o").arg(folder.join(name)).arg(source);
            compiler.arg("-lpthread");
            assert!(compiler.status().expect("a compiler").success());
        }
        folder
    });
    folder.join(name)
}

/// `stripe run` on a program where these calls are refused, as `hardened.c` says.
pub fn run_without(refused: &str, program: &Program, options: &[&str]) -> Command {
    let mut command = Command::new(compiled("hardened"));
    command.arg(refused).arg(stripe().get_program()).arg("run").arg(&program.path);
    command.arg("--stdin").arg(&program.stdin).args(["--no-save", "-q"]).args(options);
    command.current_dir(&program.directory);
    command
}
