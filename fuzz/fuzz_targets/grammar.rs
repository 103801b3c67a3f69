//! See `stripe_fuzz::grammar`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    stripe_fuzz::measured("grammar", || stripe_fuzz::grammar::run(input));
});
