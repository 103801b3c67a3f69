//! Where the machine gives too little, there is a message or a right result, and never a panic.

mod support;

use std::path::Path;
use std::process::{Command, Output, Stdio};

use support::{GCC, Program, sample, stripe, text};

/// `stripe run` on the sample by a shell that has set limits.
fn limited(program: &Program, limits: &str) -> Output {
    let script = format!("{limits}; exec \"$0\" run \"$1\" --stdin \"$2\" --no-save -q -j2");
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(script).arg(stripe().get_program()).arg(&program.path).arg(&program.stdin);
    shell.current_dir(&program.directory).stdin(Stdio::null()).output().expect("a shell")
}

/// A right result, or a message that says more than what has failed.
fn assert_told(what: &str, output: &Output) {
    let (said, status) = (text(&output.stderr), output.status.code());
    match status {
        Some(0) => assert!(text(&output.stdout).contains("1-minimal"), "{what}: {}", text(&output.stdout)),
        Some(1) => assert!(said.starts_with("stripe: ") && said.lines().count() == 1, "{what}: {said}"),
        // Not even the loader could start stripe.
        Some(127) if said.contains("error while loading shared libraries") => {}
        _ => panic!("{what}: {status:?}: {said}"),
    }
    assert!(!said.contains("panicked") && !said.contains("internal error"), "{what}: {said}");
}

#[test]
fn few_descriptors_are_told_of() {
    let program = sample(GCC, "");
    for count in [3, 6, 8, 10, 12, 14, 16, 20, 24, 32, 48, 64, 128, 256] {
        assert_told(&format!("{count} descriptors"), &limited(&program, &format!("ulimit -n {count}")));
    }
    assert_eq!(limited(&program, "ulimit -n 256").status.code(), Some(0));
}

#[test]
fn little_memory_is_told_of() {
    let program = sample(GCC, "");
    for megabytes in [128, 192, 256, 384, 512, 1024] {
        let limits = format!("ulimit -v {}", megabytes << 10);
        assert_told(&format!("{megabytes} MiB"), &limited(&program, &limits));
    }
}

#[test]
fn a_refused_process_is_told_of() {
    let program = sample(GCC, "");
    let mut limits = "ulimit -u 0".to_owned();
    // The limit does not hold for root.
    if nix::unistd::Uid::effective().is_root() {
        limits =
            "exec setpriv --reuid=65534 --regid=65534 --clear-groups prlimit --nproc=0 \"$0\" run \"$1\" \
                  --stdin \"$2\" --no-save -q -j2"
                .into();
    }
    let output = limited(&program, &limits);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert_told("no processes", &output);
}

#[test]
fn no_directory_for_temporary_files_is_told_of_only_where_it_is_needed() {
    let program = sample(GCC, "");
    let output = limited(&program, "export TMPDIR=/nowhere");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert!(!Path::new("/nowhere").exists());
}
