//! See `stripe_fuzz::expectation`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    stripe_fuzz::measured("expectation", || stripe_fuzz::expectation::run(input));
});
