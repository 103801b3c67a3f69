//! Offer commands for further questions about a failure that the correct output shows.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command, CommandFactory};

use super::exit::Failure;
use super::options::CommandLine;
use super::shell;
use super::target_options::TargetOptions;
use crate::session::listener::Listener;
use crate::session::recording::Recording;
use crate::session::{Cause, SessionError};

/// The further commands for a command line.
pub(super) struct Offers {
    /// The command that asks which change makes the output right.
    locate: String,
    /// The command that asks what only the wrong lines need, if that is not asked already.
    each_line: Option<String>,
}

impl Offers {
    /// The offers for the command line of this process; `None` unless it is a `run` with the correct output.
    pub(super) fn own() -> Option<Offers> {
        Offers::of(std::env::args_os().collect())
    }

    fn of(words: Vec<OsString>) -> Option<Offers> {
        let run = &run_of(words)?;
        let reference = run.get_raw("reference")?.next()?;
        let command = |verb: &str, more: &[&str]| {
            let correct = shell::option("--reference", reference).into_iter();
            shell::stripe(typed(run, verb, correct.chain(more.iter().map(OsString::from)).collect()))
        };
        let is_single = !run.get_flag("each_line") && !run.contains_id("criterion");
        let each_line = is_single.then(|| command("run", &["--each-line"]));
        Some(Offers { locate: command("locate", &[]), each_line })
    }

    /// Prints, after a result, how to go on.
    pub(super) fn tell(&self, recording: &Recording<'_>, listener: &dyn Listener) {
        let printed = recording.baseline.recording.run.stdout.split(|byte| *byte == b'\n');
        let printed = printed.filter(|line| !line.is_empty()).count();
        let is_line = !recording
            .questions
            .iter()
            .any(|one| one.oracle.asks_for_crash() || one.oracle.asks_for_report());
        if let Some(command) =
            self.each_line.as_ref().filter(|_| is_line && (2..=MOST_LINES).contains(&printed))
        {
            listener.tell(&format!("stripe: what only wrong lines need, and no right one: {command}"));
        }
        let is_wrong = self.each_line.is_some() || recording.questions.iter().any(|one| one.is_wrong);
        let what = match is_wrong {
            true => "which change makes the output right",
            false => "no line is wrong; which change brings what is missing",
        };
        listener.tell(&format!("stripe: {what}: {}", self.locate));
    }
}

/// The largest number of lines that are asked about one by one.
const MOST_LINES: usize = 100;

/// Converts an error into a failure, with the command that goes on where output is missing.
pub(super) fn failure(error: SessionError) -> Failure {
    let is_missing = error.cause == Cause::OutputMissing;
    let mut failure = Failure::from(error);
    if let Some(offers) = Offers::own().filter(|_| is_missing) {
        failure.message += &format!(": {}", offers.locate);
    }
    failure
}

/// The command that asks a further question about the run of this command line, which is without the name of this
/// program; `None` unless it is a `run`. `input` is the program's standard input, if it came through a pipe.
pub(super) fn asking(line: &[OsString], input: Option<&Path>, option: &str, value: &str) -> Option<String> {
    let run = run_of(std::iter::once("stripe".into()).chain(line.iter().cloned()).collect())?;
    let piped = input.filter(|_| run.get_raw("stdin").is_none());
    let piped = piped.map(|input| shell::option("--stdin", input)).unwrap_or_default();
    let more = piped.into_iter().chain(shell::option(option, value)).collect();
    Some(shell::stripe(typed(&run, "run", more)))
}

/// The arguments that a command line gives to `run`.
fn run_of(words: Vec<OsString>) -> Option<ArgMatches> {
    let mut matches = CommandLine::command().try_get_matches_from(words).ok()?;
    matches.remove_subcommand().filter(|(name, _)| name == "run").map(|(_, run)| run)
}

/// The words of another command with the options about the program and the world that were given, and `more` options.
fn typed(given: &ArgMatches, verb: &str, more: Vec<OsString>) -> Vec<OsString> {
    let target = TargetOptions::augment_args(Command::new("target"));
    let values = |arg: &Arg| -> Vec<OsString> {
        let name = arg.get_id().as_str();
        match given.value_source(name) {
            Some(ValueSource::CommandLine) => {
                given.get_raw(name).into_iter().flatten().map(OsStr::to_owned).collect()
            }
            _ => Vec::new(),
        }
    };
    let (mut words, mut behind) = (vec![verb.into()], Vec::new());
    for arg in target.get_arguments() {
        match (arg.get_long(), arg.is_last_set()) {
            (Some(long), _) => {
                words.extend(values(arg).into_iter().flat_map(|value| option(arg, long, value)))
            }
            (None, true) => behind = values(arg),
            (None, false) => words.extend(values(arg)),
        }
    }
    words.extend(more);
    if !behind.is_empty() {
        words.push("--".into());
    }
    words.extend(behind);
    words
}

/// The words of an option, as it is typed.
fn option(arg: &Arg, long: &str, value: OsString) -> Vec<OsString> {
    let name = format!("--{long}");
    if arg.get_action().takes_values() { shell::option(&name, value) } else { vec![name.into()] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offers(line: &str) -> Option<Offers> {
        Offers::of(line.split(' ').map(OsString::from).collect())
    }

    #[test]
    fn an_offer_has_the_program_its_world_and_the_correct_output_and_nothing_else() {
        let line = "stripe run -q --stdin in --env A=1 --env=B=2 --clear-env ./p --reference good --max-tests 5 \
                    --format json --only-lines x -- -x y";
        let offered = offers(line).expect("offers");
        let end = "./p --stdin in --env A=1 --env B=2 --clear-env --reference good";
        assert_eq!(offered.locate, format!("stripe locate {end} -- -x y"));
        assert_eq!(offered.each_line, Some(format!("stripe run {end} --each-line -- -x y")));
        let dashes = offers("stripe run ./p --stdin=-in --reference=-good").expect("offers");
        assert_eq!(dashes.locate, "stripe locate ./p --stdin=-in --reference=-good");
    }

    #[test]
    fn a_further_question_has_the_program_and_its_world_and_what_was_piped_in() {
        let line = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        let asked =
            |text, input: Option<&str>| asking(&line(text), input.map(Path::new), "--value", "a[1]@7#2");
        let typed = "run ./p --stdin in --expect-exit 1 -q -- -x";
        let expected = "stripe run ./p --stdin in --value 'a[1]@7#2' -- -x";
        assert_eq!(asked(typed, Some("kept")).as_deref(), Some(expected));
        let piped = "stripe run ./p --stdin kept --value 'a[1]@7#2'";
        assert_eq!(asked("run ./p --decision 7#1", Some("kept")).as_deref(), Some(piped));
        assert_eq!(asked("demo", None), None);
    }

    #[test]
    fn what_is_asked_already_is_not_offered_nor_anything_without_the_correct_output() {
        assert_eq!(offers("stripe run ./p --each-line --reference good").expect("offers").each_line, None);
        assert_eq!(
            offers("stripe run ./p --criterion a=b --reference good").expect("offers").each_line,
            None
        );
        assert!(offers("stripe run ./p").is_none());
        assert!(offers("stripe replay ./p --reference good").is_none());
    }
}
