//! Compile the agent, the code that the tracer maps into programs.
//!
//! Twice the compiler alone, because Cargo cannot build for another environment on the way: the crate
//! `agent` without the standard library, and with it `agent/inside.rs`, linked to a piece of code that
//! runs wherever it is put.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    // As the build script of the crate `agent` tells: where it is unpacked, if it is not from this repository.
    let agent = PathBuf::from(std::env::var_os("DEP_STRIPE_AGENT_SOURCES").expect("Cargo sets it"));
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("Cargo sets it"));
    println!("cargo::rerun-if-changed={}", agent.join("src").display());
    println!("cargo::rerun-if-changed={}", agent.join("inside.rs").display());
    let rules = out.join("libagent.rlib");
    compile(&["--crate-name=agent", "--crate-type=rlib"], &agent.join("src/lib.rs"), &rules);
    let rules = format!("--extern=agent={}", rules.display());
    let link =
        ["-nostdlib", "-nostartfiles", "-static-pie", "-Wl,--gc-sections,-e,arrive,--no-dynamic-linker"];
    let link = link.map(|argument| format!("-Clink-arg={argument}"));
    let mut options = vec!["--crate-name=inside", "--crate-type=bin", "-Clto=fat", &rules];
    options.extend(link.iter().map(String::as_str));
    compile(&options, &agent.join("inside.rs"), &out.join("agent"));
}

fn compile(options: &[&str], source: &Path, output: &Path) {
    // Nothing is shared between the two sides that these options could make different: all shared
    // types have the layout of C.
    const COMMON: [&str; 8] = [
        "--edition=2024",
        "-Copt-level=3",
        "-Cpanic=abort",
        "-Ccodegen-units=1",
        "-Crelocation-model=pic",
        "-Cforce-frame-pointers=no",
        "-Cno-vectorize-loops",
        "-Cno-vectorize-slp",
    ];
    let mut compiler = Command::new(std::env::var_os("RUSTC").expect("Cargo sets it"));
    let target = std::env::var("TARGET").expect("Cargo sets it");
    compiler.arg(source).args(COMMON).args(["--target", &target]).args(options).arg("-o").arg(output);
    let status = compiler.status().unwrap_or_else(|error| panic!("{compiler:?}: {error}"));
    assert!(status.success(), "{compiler:?}: {status}");
}
