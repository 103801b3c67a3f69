//! See `stripe_fuzz::program`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    stripe_fuzz::measured("program", || stripe_fuzz::program::run(input));
});
