//! Locate a fault: record the failing run, make each change of it in a run of its own, and rank the lines.

use std::time::Instant;

use tracer::{Preference, Processors, Tracer};

use super::case::method;
use super::error::SessionError;
use super::interrupt::Interrupt;
use super::listener::Listener;
use super::locate_keeping::LocateKeeping;
use super::locate_suite::suite;
use super::locate_work::{FailingRun, LocateWork};
use super::located::{LocateRequest, Located};
use super::recording::establish;
use crate::archive::AttemptContent;
use crate::baseline::{Demands, PoisonChoice};

/// Locates the fault. Without a correct output the first failing test becomes the run under study.
///
/// # Errors
/// If the run is right, cannot be recorded, or the test setup is broken.
pub fn locate(
    request: &mut LocateRequest,
    interrupt: &Interrupt,
    listener: &dyn Listener,
) -> Result<Located, SessionError> {
    let started = Instant::now();
    let processors = Processors::available();
    processors.bind(0);
    let mut keeping = LocateKeeping::reserve(request, listener)?;
    let suite = suite(request, interrupt, listener)?;
    let target = &request.target;
    let mut tracer = Tracer::new(&target.program, &target.invocation, Preference::Auto)?;
    let demands =
        Demands { poison: PoisonChoice::Auto, only_lines: None, ending: request.ending, inner: None };
    let baseline = establish(target, &mut tracer, &demands, interrupt)?;
    let method = method(&tracer);
    drop(tracer);
    let (values, timeout) = (request.values, request.timeout);
    let failing = FailingRun { target, suite, baseline, values, timeout };
    let work = LocateWork::prepare(failing, request.effort, &processors, (interrupt, listener))?;
    keeping.record(request, &work.failing, method);
    keeping.set(&work.setting());
    let found = work.make(&AttemptContent::default(), keeping.journal(), started)?;
    keeping.conclude(&found);
    Ok(Located { kept_as: keeping.name(), ..found })
}
