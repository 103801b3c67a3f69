//! Traces of real programs in files: unchanged, in at most a byte for each event.

mod support;

use std::time::Instant;

use corpus::Toolchain;
use support::engine::{in_two_threads, invocation, load, real_programs, record};
use support::{GCC, sample, scratch};
use tracer::program::{Granularity, Program};
use tracer::trace::Trace;
use tracer::trace_file::{Identity, read, write};
use tracer::{Preference, Tracer};

/// Writes the trace and reads it again; tells how many bytes an event takes, and how many nanoseconds to
/// write and to read.
fn round_trip(name: &str, program: &Program, trace: &Trace) -> (f64, f64, f64) {
    let file = scratch(&format!("trace-{name}")).join("trace");
    let identity = Identity::of(program).expect("the files of the program");
    let per_event = |quantity: f64| quantity / trace.len() as f64;
    let started = Instant::now();
    write(std::fs::File::create(&file).expect("a file"), program, &identity, trace).expect("written");
    let written = started.elapsed();
    let started = Instant::now();
    let again = read(&file, program, &identity).expect("a sound file");
    let read = started.elapsed();
    assert!(again == *trace, "{name}: another trace");
    let bytes = std::fs::metadata(&file).expect("there").len();
    std::fs::remove_file(file).expect("removed");
    (per_event(bytes as f64), per_event(written.as_nanos() as f64), per_event(read.as_nanos() as f64))
}

#[test]
fn traces_of_real_programs_come_back_unchanged_and_take_at_most_a_byte_an_event() {
    in_two_threads(&real_programs(1), |case| {
        let built = case.program.build(&Toolchain::default()).expect("a program");
        let program = load(&built.executable, Granularity::Statement);
        let start = invocation(&built.executable, &built.sources, case.arguments, case.stdin.into());
        let mut tracer = Tracer::new(&program, &start, Preference::Auto).expect("a tracer");
        let trace = record(&mut tracer, case.name).trace;
        let (bytes, written, read) = round_trip(case.name, &program, &trace);
        println!(
            "{:26} {:8} events, {bytes:.3} bytes, {written:.0} ns to write, {read:.0} ns to read each",
            case.name,
            trace.len()
        );
        assert!(bytes <= 1.0 || trace.len() < 1000, "{}: {bytes} bytes an event", case.name);
    });
}

#[test]
fn the_trace_of_the_sample_fits_into_a_few_bytes_and_no_other_program() {
    let trace_of = |granularity| {
        let subject = sample(GCC, "");
        let program = load(&subject.path, granularity);
        let input = std::fs::read(&subject.stdin).expect("an input");
        let start = invocation(&subject.path, &subject.directory, &[], input);
        let mut tracer = Tracer::new(&program, &start, Preference::Auto).expect("a tracer");
        let trace = record(&mut tracer, "sample").trace;
        drop(tracer);
        (program, trace)
    };
    let (program, trace) = trace_of(Granularity::Statement);
    let (bytes, ..) = round_trip("sample", &program, &trace);
    assert!(bytes * trace.len() as f64 <= 300.0, "{bytes}");
    let file = scratch("trace-of-sample").join("trace");
    let identity = Identity::of(&program).expect("the file of the program");
    write(std::fs::File::create(&file).expect("a file"), &program, &identity, &trace).expect("written");
    let (other, _) = trace_of(Granularity::Line);
    let other_identity = Identity::of(&other).expect("the file of the program");
    let told = read(&file, &other, &other_identity).expect_err("other statements").to_string();
    assert!(told.contains("belongs to another program") && told.contains("--granularity"), "{told}");
}
