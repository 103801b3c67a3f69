//! See `stripe_fuzz::command_line`.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| {
    stripe_fuzz::measured("command_line", || stripe_fuzz::command_line::run(input));
});
