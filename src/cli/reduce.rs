//! `stripe reduce`: go on with a search that was ended early.

use std::time::Instant;

use tracer::Processors;

use super::emissions;
use super::exit::{Exit, Failure};
use super::interrupt::Interrupt;
use super::keeping::{self, Keeping, past};
use super::options::{ColorChoice, ReduceOptions};
use super::progress::{Progress, say};
use super::reopened::Reopened;
use super::run::{deliver, done, tracers};
use super::search::{Case, Crew, Past};
use super::terminal;
use crate::archive::ArchiveError;
use crate::report::words;
use crate::slice::Status;

/// Does it.
pub(super) fn reduce(options: ReduceOptions, color: ColorChoice) -> Result<Exit, Failure> {
    let started = Instant::now();
    let interrupt = Interrupt::default();
    let reopened = Reopened::open(options.run.as_deref(), &interrupt)?;
    emissions::check(&options.output, &reopened.target.program.executable().path)?;
    let style = terminal::style(color);
    let case = reopened.case();
    if let Some(slice) = reopened.result(&case)?.filter(|slice| slice.status == Status::Minimal) {
        if !options.output.quiet {
            say(&format!("stripe: run {} is finished; this is its result\n", reopened.folder.name()));
        }
        return deliver(case.recorded(), &slice, &options.output, style).map(|()| Exit::Done);
    }
    let limits = &options.limits;
    let kept = &reopened.run.search;
    interrupt.listen()?;
    let processors = Processors::available();
    let mut tracers = tracers(&reopened.target, limits.jobs.or(kept.jobs), &processors)?;
    processors.bind(0);
    let past = reopened.go_on()?;
    let known = past.memory.tests();
    if !options.output.quiet {
        say(&format!(
            "stripe: going on with run {} behind {}\n",
            reopened.folder.name(),
            words::count(known, "test")
        ));
    }
    let mut plan = case.plan;
    plan.max_tests = limits.max_tests.or(kept.max_tests).map(|more| known.saturating_add(more));
    let case = Case { plan, ..case };
    let max_time = limits.max_time.or(kept.max_time);
    let progress = Progress::new(&options.output, style, interrupt.clone(), max_time);
    let keeping = Keeping::of(reopened.folder.clone(), options.output.quiet);
    let mut crew = Crew { tracers: &mut tracers, processors: &processors, interrupt: &interrupt, started };
    let (slice, exit) = case.search(&mut crew, past, &mut progress.after(known), &keeping)?;
    keeping.conclude(None, &slice);
    deliver(case.recorded(), &slice, &options.output, style)?;
    keeping.mention(slice.status);
    done(exit)
}

impl Reopened {
    /// What the search has found so far, with the journal in which it goes on.
    fn go_on(&self) -> Result<Past, Failure> {
        let resumed = self.folder.resume_journal(&self.run, None);
        let (journal, content) = resumed.map_err(keeping::failure)?;
        self.folder.reopen(None).map_err(keeping::failure)?;
        if content.is_damaged {
            let path = journal.path().to_path_buf();
            say(&format!(
                "stripe: warning: {}\n",
                ArchiveError::Damaged { path, what: "what is behind the damage is lost".into() }
            ));
        }
        Ok(Past { journal: Some(journal), ..past(&self.run, content) })
    }
}
