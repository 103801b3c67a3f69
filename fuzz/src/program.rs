//! Load an executable with its debug information, and ask it for all that it knows.

use std::fs::{self, Permissions};
use std::hint::black_box;
use std::os::unix::fs::PermissionsExt;

use tracer::program::{DetourCounts, Granularity, LeaderId, LoadError, Program, Scope};

use crate::{places, subject};

/// Loads `input` as an executable, every function of which is in scope.
///
/// # Panics
/// If the code of this project panics while it reads. A panic of a library is not one: damaged debug
/// information may confuse it, and the loader is there to catch this.
pub fn run(input: &[u8]) {
    places::remember();
    let path = subject::folder().join("mutant");
    subject::write_anew(&path, input);
    fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("it is ours");
    let scope = Scope::new(&["*"]).expect("a pattern");
    match Program::load(&path, &[], &scope, Granularity::Statement) {
        Ok(program) => inquire(&program),
        Err(error) => {
            let told = error.to_string();
            assert_eq!(told.lines().count(), 1, "{told}");
            if let LoadError::Confusing { .. } = error {
                let place = places::last();
                assert!(place.contains("/registry/"), "{place}: {told}");
            }
        }
    }
}

fn inquire(program: &Program) {
    let leaders = (0..program.leaders().len() as u32).map(LeaderId);
    for leader in leaders {
        black_box(program.place(leader).to_string());
        black_box(program.function_of(leader));
    }
    black_box(DetourCounts::of(program));
}
