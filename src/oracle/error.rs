//! Say why a criterion cannot be applied, or a run cannot be judged.

/// An error of an oracle: it cannot be built from the criterion, or it cannot judge a run.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages are the documentation of the fields")]
pub enum OracleError {
    #[error(
        "the recorded run does not show the failure: its output equals the one given with --reference; check the \
         input, the arguments and that file"
    )]
    EqualsReference,
    #[error(
        "{printed}, and line {number} of the output given with --reference, {line}, is missing: omissions cannot explain \
         what is missing; say with --expect-output or --check what shows the failure, or ask `stripe locate`, which \
         changes decisions and so can explain it"
    )]
    LineMissing { printed: &'static str, number: usize, line: String },
    #[error(
        "the recorded run has no line of output that matches {expression}: take the expression from its output, which \
         is {lines}"
    )]
    NoLine { expression: String, lines: String },
    #[error(
        "the {what} of the recorded run does not match `{expression}` with any byte: take the expression from what it \
         prints"
    )]
    NoMatch { expression: String, what: &'static str },
    #[error(
        "{0} is about nothing that has a place in the run, so that nothing leads there: ask for what the run prints \
         (--expect-match, --only-lines, --reference), for its crash (--expect-signal), a value (--value) or a decision \
         (--decision)"
    )]
    NoPlace(&'static str),
    #[error("the recorded run does not crash: ask for what it prints, with --expect-match or --only-lines")]
    NoCrash,
    #[error(
        "all that the recorded run prints is right, and line {number} of the output given with --reference, {line}, is \
         missing: nobody has printed it; ask with --decision for the decision that has led past it"
    )]
    NobodyPrinted { number: usize, line: String },
    #[error("the recorded run has no line {number} of output: take the number from its output")]
    NoSuchLine { number: usize },
    #[error(
        "the run gives no answer at {0}: no variable of this name has a place in memory where that begins; take a name that \
         is in scope there, such as sum, p->next or list[2]; optimised code may keep it in a register"
    )]
    NoAnswer(String),
    #[error(
        "the check `{command}` failed: {reason}; let it exit with 0 (reproduced), 1 (not) or 125 (unresolved)"
    )]
    Check { command: String, reason: String },
}
