//! Each target for some seconds: seeds, and seeds that are damaged at random.
//!
//! `fuzz/run` looks longer, and where it matters.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use stripe_fuzz::{TARGETS, measured, seeds, subject};

/// How long each target is tried.
const TIME: Duration = Duration::from_secs(2);

/// No input may take more memory than this; so all together must not.
const MOST_MEMORY: u64 = 1 << 30;

/// The seed of a target, with some of its bytes changed, taken away or repeated.
fn mutant(seed: &[u8], random: &mut fastrand::Rng) -> Vec<u8> {
    const ODD: [&[u8]; 8] = [
        &[0],
        &[0xff],
        &[0x7f],
        &[0x80],
        &[0xff, 0xff, 0xff, 0x7f],
        &[0xff; 8],
        &[0, 0, 0, 0x80, 0, 0, 0, 0],
        &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1],
    ];
    let mut bytes = seed.to_vec();
    for _ in 0..random.usize(1..5) {
        let at = random.usize(0..=bytes.len());
        let end = bytes.len().min(at + random.usize(0..16));
        match random.u8(0..6) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let piece = bytes[at..end].to_vec();
                let to = random.usize(0..=bytes.len());
                bytes.splice(to..to, piece);
            }
            3 => bytes[at..end].iter_mut().for_each(|byte| *byte = random.u8(..)),
            4 if at < bytes.len() => bytes[at] ^= 1 << random.u8(0..8),
            _ => {
                let odd = ODD[random.usize(0..ODD.len())];
                let end = bytes.len().min(at + odd.len());
                bytes.splice(at..end, odd.iter().copied());
            }
        }
    }
    bytes
}

/// The most memory that this process has had, in bytes.
fn peak_memory() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("a process");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a high-water mark");
    1024 * peak.trim().trim_end_matches(" kB").parse::<u64>().expect("a number")
}

#[test]
fn no_damaged_seed_makes_a_target_panic_or_take_more_than_it_may() {
    for (name, target) in TARGETS {
        let seeds = seeds::of(name).expect("seeds");
        for seed in &seeds {
            measured(name, || target(seed));
        }
        let mut random = fastrand::Rng::with_seed(7);
        let (started, mut count) = (Instant::now(), 0);
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        fs::create_dir_all(folder).expect("a folder");
        let kept = folder.join(format!("mutant-{name}"));
        while started.elapsed() < TIME {
            let mutant = mutant(&seeds[random.usize(0..seeds.len())], &mut random);
            // What fails can be tried again: `cargo test` shows it with its target.
            subject::write_anew(&kept, &mutant);
            measured(name, || target(&mutant));
            count += 1;
        }
        let _ = fs::remove_file(&kept);
        assert!(count > 10, "{name}: {count} mutants");
        assert!(peak_memory() < MOST_MEMORY, "{name}: {} bytes", peak_memory());
    }
}

#[test]
fn a_program_that_ends_at_any_byte_is_refused_or_read() {
    for (name, program) in seeds::programs() {
        // Every byte of the first and every seventh of the others: the headers are alike.
        let step = if name == "gcc-5" { 1 } else { 7 };
        for length in (0..program.len()).step_by(step) {
            measured(name, || stripe_fuzz::program::run(&program[..length]));
        }
    }
}

#[test]
fn seeds_are_what_they_are_meant_to_be() {
    use std::os::unix::fs::PermissionsExt;
    use stripe_fuzz::{kept_run, trace_file};
    use tracer::program::{Granularity, Program, Scope};
    let path = subject::folder().join("sound");
    for (name, program) in seeds::programs() {
        fs::write(&path, program).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("ours");
        let scope = Scope::new(&["*"]).expect("a pattern");
        let program = Program::load(&path, &[], &scope, Granularity::Statement);
        assert!(program.expect(name).leaders().len() > 5, "{name}");
    }
    let subject = subject::subject();
    let read =
        |bytes: &[u8]| tracer::trace_file::read_from(bytes, &path, &subject.program, &subject.identity);
    assert_eq!(read(&seeds::traces()[0]).expect("a sound trace").len(), subject.trace.len());
    let told = read(&trace_file::sealed(&[0, 1, 0])).expect_err("no trace").to_string();
    assert!(told.contains("do not form a trace"), "the checksums are sound: {told}");
    let document = kept_run::sealed("stripe.run/2", &seeds::kept_runs()[0]).expect("JSON");
    assert!(kept_run::opens(&document));
    assert!(kept_run::tests(&seeds::kept_runs()[3]) > 0);
}
