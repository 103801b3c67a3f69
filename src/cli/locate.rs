//! `stripe locate`: where does one change of the failing run make its output right?

use super::bounds::bounds;
use super::choices::ColorChoice;
use super::exit::{Exit, Failure};
use super::locate_options::LocateOptions;
use super::progress::Voice;
use super::reading;
use super::simplify_options::InputFormat;
use super::status::Board;
use super::target::Loaded;
use super::terminal;
use crate::baseline::Ending;
use crate::locate::Correct;
use crate::oracle::{Check, Criterion};
use crate::report::located;
use crate::session::interrupt::Interrupt;
use crate::session::locate::LocateRequest;
use crate::subject::Recorded;

/// Locates.
pub(super) fn locate(options: LocateOptions, color: ColorChoice) -> Result<Exit, Failure> {
    let interrupt = Interrupt::default();
    let request = request(&options, &interrupt)?;
    let board = Board::new("recording the run");
    let voice = Voice::new(options.loudness(), terminal::style(color), &interrupt, &board);
    let found = crate::session::locate::locate(&request, &interrupt, &voice)?;
    let recorded = Recorded { program: &request.target.program, trace: &found.baseline.recording.trace };
    let text = match options.format {
        InputFormat::Text => located::text(recorded, &found, options.full, terminal::style(color)),
        InputFormat::Json => located::json(recorded, &found),
    };
    super::print(text.as_bytes())?;
    Ok(Exit::of(found.status, interrupt.signal()))
}

fn request(options: &LocateOptions, interrupt: &Interrupt) -> Result<LocateRequest, Failure> {
    let correct = match (&options.reference, &options.check) {
        (Some(file), _) => Correct::Output(reading::file("--reference", file)?),
        (None, Some(command)) => Correct::Check(Check::new(command.clone()).until(interrupt.flag())),
        (None, None) => {
            return Err(Failure::new(
                Exit::Usage,
                "say what would be right: --reference FILE or --check CMD",
            ));
        }
    };
    let Loaded { mut target, withheld } = Loaded::new(&options.target, interrupt)?;
    let endless = options.expect_timeout.then(String::new);
    target.conditions.limits = bounds(&options.target, &Criterion { endless, ..Criterion::default() });
    if !options.quiet {
        withheld.mention();
    }
    Ok(LocateRequest {
        target,
        correct,
        ending: if options.expect_timeout { Ending::Never } else { Ending::Itself },
        max_tests: options.max_tests,
        max_time: options.max_time,
        jobs: options.jobs,
        timeout: options.target.world.timeout,
    })
}
