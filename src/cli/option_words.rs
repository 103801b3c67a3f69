//! Write options as the words of a command line that means the same.

use std::ffi::OsString;
use std::time::Duration;

use super::limit_options::LimitOptions;
use super::outcome_options::OutcomeOptions;
use super::shell::option;
use super::world_options::WorldOptions;

/// The options for the expected outcome of a run that shows the failure, but for its signal, as words.
pub(super) fn outcome(outcome: &OutcomeOptions) -> Vec<OsString> {
    let mut words = Vec::new();
    let files = [("--expect-output", &outcome.expect_output), ("--expect-stderr", &outcome.expect_stderr)];
    words.extend(files.iter().flat_map(|(name, file)| file.iter().flat_map(|file| option(name, file))));
    let expressions = [
        ("--expect-match", &outcome.expect_match),
        ("--reject-match", &outcome.reject_match),
        ("--expect-stderr-match", &outcome.expect_stderr_match),
        ("--reject-stderr-match", &outcome.reject_stderr_match),
    ];
    for (name, expressions) in expressions {
        words.extend(expressions.iter().flat_map(|expression| option(name, expression.as_str())));
    }
    words.extend(outcome.expect_exit.iter().flat_map(|status| option("--expect-exit", status.to_string())));
    words.extend(outcome.check.iter().flat_map(|check| option("--check", check)));
    words
}

/// The world, but for the standard input, the environment and the folder.
pub(super) fn world(world: &WorldOptions) -> Vec<OsString> {
    let flags = [
        (world.pty, "--pty"),
        (world.real_time, "--real-time"),
        (world.real_random, "--real-random"),
        (world.no_sandbox, "--no-sandbox"),
    ];
    let mut words = given(&flags);
    words.extend(world.timeout.iter().flat_map(|time| option("--timeout", milliseconds(*time))));
    words.extend(world.allow.iter().flat_map(|_| option("--allow", "network")));
    words.extend(world.allow_write.iter().flat_map(|folder| option("--allow-write", folder)));
    words
}

/// Variables of the environment.
pub(super) fn environment(variables: &[(OsString, OsString)]) -> Vec<OsString> {
    let word = |(name, value): &(OsString, OsString)| {
        let mut pair = name.clone();
        pair.push("=");
        pair.push(value);
        option("--env", &pair)
    };
    variables.iter().flat_map(word).collect()
}

/// The options for the limits of a search, as words.
pub(super) fn limits(limits: &LimitOptions) -> Vec<OsString> {
    let mut words = Vec::new();
    words.extend(limits.max_tests.iter().flat_map(|most| option("--max-tests", most.to_string())));
    words.extend(limits.max_time.iter().flat_map(|time| option("--max-time", milliseconds(*time))));
    words.extend(limits.jobs.iter().flat_map(|jobs| option("--jobs", jobs.to_string())));
    words
}

/// The flags that are given.
pub(super) fn given(flags: &[(bool, &str)]) -> Vec<OsString> {
    flags.iter().filter(|(is_given, _)| *is_given).map(|(_, flag)| flag.into()).collect()
}

fn milliseconds(time: Duration) -> String {
    format!("{}ms", time.as_secs_f64() * 1000.0)
}
