//! Build faults, and work on them in processes of their own.

use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use study::documents::{WORK, WorkDocument};
use study::evaluation::printed;
use study::folder::FaultClaim;
use study::manifest::{StudyFault, StudyTest};
use study::technique::Work;
use tracer::Processors;

use super::super::exit::Failure;
use super::super::values::duration;
use super::child::{self, Finished};
use super::words::BuiltFault;
use crate::session::interrupt::Interrupt;

/// The limit of time of a search without a budget of its own.
const USUAL_TIME: &str = "10m";
/// The longest time of a recording, before the process that makes it counts as hung.
const RECORDING_TIME: Duration = Duration::from_secs(300);

/// The runner of a study: builds faults, and has techniques run on them, in processes of their own.
pub(super) struct StudyRunner<'r> {
    pub(super) manifest: &'r Path,
    pub(super) interrupt: &'r Interrupt,
    pub(super) machine: String,
}

impl<'r> StudyRunner<'r> {
    pub(super) fn new(manifest: &'r Path, interrupt: &'r Interrupt) -> StudyRunner<'r> {
        StudyRunner { manifest, interrupt, machine: machine() }
    }

    /// Builds a fault in a folder, which is claimed if others may build there.
    pub(super) fn build<'f>(
        &'f self,
        fault: &'f StudyFault,
        folder: &'f Path,
        claim: Option<&FaultClaim>,
    ) -> Result<Result<BuiltFault<'f>, String>, Failure> {
        if let Some(build) = &fault.build {
            let ended = child::shell(build, &fault.directory, folder, claim, self.interrupt)?;
            if ended.status != Some(0) {
                let how = match ended.status {
                    Some(status) => format!("exit status {status}"),
                    None => "it was ended".into(),
                };
                return Ok(Err(format!("the build fails ({how}: {}): mend `build`", ended.message)));
            }
        }
        let built = BuiltFault { fault, manifest: self.manifest, folder };
        let program = built.program();
        Ok(match program.is_file() {
            true => Ok(built),
            false => Err(format!(
                "the program {} is not there: correct `program`, or let `build` make it",
                program.display()
            )),
        })
    }

    /// Does one work on the failing run. `None` if the user has ended it.
    pub(super) fn work(
        &self,
        built: BuiltFault<'_>,
        work: Work,
        key: &str,
        run: &StudyTest,
    ) -> Result<Option<WorkDocument>, Failure> {
        let mut fault = built.fault.clone();
        fault.max_time.get_or_insert_with(|| USUAL_TIME.to_owned());
        let command = BuiltFault { fault: &fault, ..built }.command(work, run);
        let document = WorkDocument {
            schema: WORK.into(),
            version: env!("CARGO_PKG_VERSION").into(),
            fault: fault.name.clone(),
            work: work.name(),
            key: key.into(),
            machine: self.machine.clone(),
            status: "failed".into(),
            ..WorkDocument::default()
        };
        let command = match command {
            Ok(command) => command,
            Err(why) => return Ok(Some(WorkDocument { why: Some(why), ..document })),
        };
        let ended = child::stripe(&command, &fault.directory, bound(&fault), self.interrupt)?;
        let words = ["stripe".to_owned()].into_iter().chain(command).collect();
        Ok(self.finished(ended, WorkDocument { command: words, ..document }))
    }

    /// The result of a process. An interrupted search is no result: it is made again.
    fn finished(&self, ended: Finished, document: WorkDocument) -> Option<WorkDocument> {
        if self.interrupt.is_asked() {
            return None;
        }
        let (status, found) = printed(&ended.stdout).unzip();
        if status.as_deref() == Some("interrupted") {
            return None;
        }
        let why = match (&ended, &status) {
            (Finished { is_hung: true, .. }, _) => Some("it was ended because it took too long".to_owned()),
            (Finished { status: None, .. }, _) => Some("a signal has ended it".to_owned()),
            (_, Some(status)) if status == "complete" => None,
            _ => Some(ended.message.clone()).filter(|why| !why.is_empty()),
        };
        let is_whole = !ended.is_hung && ended.status.is_some();
        Some(WorkDocument {
            status: status.filter(|_| is_whole).unwrap_or_else(|| "failed".into()),
            why,
            seconds: (ended.elapsed.as_secs_f64() * 1000.0).round() / 1000.0,
            memory_kib: ended.memory_kib,
            document: found.filter(|_| is_whole),
            ..document
        })
    }
}

/// The time after which a process counts as hung: a search ends by itself before.
fn bound(fault: &StudyFault) -> Duration {
    let search = fault.max_time.as_deref().and_then(|time| duration(time).ok()).unwrap_or(child::BUILD_TIME);
    let tests = u32::try_from(fault.tests.len()).unwrap_or(u32::MAX).saturating_add(1);
    let recordings = RECORDING_TIME.saturating_add(Duration::from_secs(10).saturating_mul(tests));
    search.saturating_mul(2).saturating_add(recordings)
}

/// The names of the processor and of the kernel.
pub(super) fn machine() -> String {
    let of = |file: &str| fs::read_to_string(file).unwrap_or_default();
    let cpuinfo = of("/proc/cpuinfo");
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("unknown processor", |(_, model)| model);
    format!("{model}, Linux {}", of("/proc/sys/kernel/osrelease").trim())
}

/// Calls `work` with each number up to `count`, several at the same time, each worker on a processor of its own. The
/// first error ends it.
pub(super) fn side_by_side<E: Send>(
    count: usize,
    jobs: Option<u16>,
    work: impl Fn(usize) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let processors = Processors::available();
    let jobs = jobs.map_or(processors.count(), usize::from).min(count.max(1));
    let next = AtomicUsize::new(0);
    let first_error = Mutex::new(None);
    let worker = |number: usize| {
        // Processes inherit the binding: each of them then believes to have one processor.
        processors.bind(number);
        loop {
            let taken = next.fetch_add(1, Ordering::Relaxed);
            if taken >= count {
                return;
            }
            if let Err(error) = work(taken) {
                next.store(count, Ordering::Relaxed);
                first_error.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).get_or_insert(error);
            }
        }
    };
    thread::scope(|scope| {
        let worker = &worker;
        (0..jobs).for_each(|number| drop(scope.spawn(move || worker(number))));
    });
    let error = first_error.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    error.map_or(Ok(()), Err)
}
