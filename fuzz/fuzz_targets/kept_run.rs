//! See `stripe_fuzz::kept_run`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    stripe_fuzz::measured("kept_run", || stripe_fuzz::kept_run::run(input));
});
