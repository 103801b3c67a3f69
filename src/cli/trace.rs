//! `stripe trace`: record a run and print its events.

use std::io::{self, BufWriter, Write};

use tracer::{Preference, Processors, Tracer};

use super::choices::{ColorChoice, EngineChoice, TraceFormat};
use super::exit::{Exit, Failure};
use super::options::TraceOptions;
use super::run::preference;
use super::target::Loaded;
use super::terminal;
use crate::report;
use crate::session::interrupt::Interrupt;
use crate::session::{Cause, SessionError};
use crate::subject::Recorded;

/// Records a run and prints its events.
pub(super) fn trace(options: TraceOptions, color: ColorChoice) -> Result<Exit, Failure> {
    let interrupt = Interrupt::default();
    let Loaded { target, withheld } = Loaded::new(&options.target, &interrupt)?;
    withheld.mention();
    let engine = options.target.engine;
    let by_steps = matches!(engine, EngineChoice::Step);
    let preference = if by_steps { Preference::Breakpoint } else { preference(engine)? };
    Processors::available().bind(0);
    let mut tracer = Tracer::new(&target.program, &target.invocation, preference)?;
    let recording = match by_steps {
        true => tracer.record_by_steps(&target.conditions),
        false => tracer.record(&target.conditions),
    };
    let recording = recording.map_err(|error| interrupt.or(SessionError::new(Cause::Failed, error)))?;
    let recorded = Recorded { program: &target.program, trace: &recording.trace };
    let mut out = BufWriter::new(io::stdout().lock());
    let style = terminal::style(color);
    let written = match options.format {
        TraceFormat::Text => report::trace::text(recorded, style, &mut out),
        TraceFormat::Compact => report::trace::compact(recorded, style, &mut out),
        TraceFormat::Json => report::json::trace(recorded, &target.command, &mut out),
    };
    super::tolerate_closed(written.and_then(|()| out.flush()))
}
