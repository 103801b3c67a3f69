//! See `stripe_fuzz::trace_file`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    stripe_fuzz::measured("trace_file", || stripe_fuzz::trace_file::run(input));
});
