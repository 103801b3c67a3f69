//! `stripe reduce`: go on with a search that was ended early.

use std::time::Instant;

use tracer::Processors;

use super::budget::Budget;
use super::choices::{ColorChoice, LevelChoice};
use super::emissions;
use super::exit::{Exit, Failure};
use super::findings::Findings;
use super::interrupt::Interrupt;
use super::keeping::{self, Keeping, past};
use super::options::ReduceOptions;
use super::progress::Progress;
use super::questions::Inquiry;
use super::reopened::Reopened;
use super::run::tracers;
use super::search::{Answer, Case, Crew, Past};
use super::status::{Answers, Board, askers};
use super::terminal;
use crate::archive::ArchiveError;
use crate::circumstances::RunMemo;
use crate::report::words;
use crate::slice::{Level, Status};

/// Does it.
pub(super) fn reduce(options: ReduceOptions, color: ColorChoice) -> Result<Exit, Failure> {
    let started = Instant::now();
    let interrupt = Interrupt::default();
    let reopened = Reopened::open(options.run.as_deref(), &interrupt)?;
    let program = &reopened.target.program.executable().path;
    emissions::check(&options.output, program, reopened.has_several())?;
    reopened.require_same_surroundings()?;
    interrupt.listen()?;
    let processors = Processors::available();
    let jobs = options.limits.jobs.or(reopened.run.search.jobs);
    let mut tracers = tracers(&reopened.target, reopened.run.search.preference, jobs, &processors)?;
    processors.bind(0);
    let board = Board::new("finding the way again");
    let answers = Answers::begin(board.clone(), askers(&options.output))?;
    let (interrupt, processors) = (&interrupt, &processors);
    let crew = Crew { tracers: &mut tracers, processors, interrupt, board: &board, started };
    let keeping = Keeping::of(reopened.folder.clone(), options.output.quiet);
    let mut continuation =
        Continuation { options: &options, color, reopened: &reopened, keeping: &keeping, crew };
    let mut findings = continuation.all()?;
    let tracer = &mut continuation.crew.tracers[0];
    findings.look(&reopened.subject(), tracer, &options.output, &keeping);
    drop(answers);
    findings.deliver(reopened.subject(), &options.output, terminal::style(color))?;
    keeping.mention(findings.exit());
    findings.done(reopened.subject())
}

/// The searches that go on.
struct Continuation<'c, 'p> {
    options: &'c ReduceOptions,
    color: ColorChoice,
    reopened: &'c Reopened,
    keeping: &'c Keeping,
    crew: Crew<'c, 'p>,
}

impl Continuation<'_, '_> {
    /// The results of the searches that had ended, and of the others, which go on.
    fn all(&mut self) -> Result<Findings, Failure> {
        let memo = RunMemo::default();
        let mut findings = Findings::of(self.reopened.command_line(), self.keeping.name());
        let questions = &self.reopened.questions;
        let finished = questions.iter().map(|question| self.finished(question));
        let finished = finished.collect::<Result<Vec<_>, _>>()?;
        let is_finished = finished.iter().all(Option::is_some);
        let claim = (!is_finished).then(|| self.reopened.folder.claim()).transpose();
        let _claim = claim.map_err(keeping::failure)?;
        let mut budget = self.budget(finished.iter().filter(|finished| finished.is_none()).count());
        for (question, finished) in questions.iter().zip(finished) {
            let (answer, exit) = match finished {
                Some(answer) => (answer, Exit::Done),
                None if findings.are_interrupted() => continue,
                None => self.go_on(question, &memo, &mut budget)?,
            };
            findings.add(question, answer, exit);
        }
        Ok(findings)
    }

    /// The result of a search that had nothing left to do.
    fn finished(&self, question: &Inquiry) -> Result<Option<Answer>, Failure> {
        let result = self.reopened.result(question, self.options.output.tells_history())?;
        let is_finished = |answer: &Answer| {
            answer.slice.status == Status::Minimal && answer.slice.level == Level::Execution
        };
        let finished = result.filter(is_finished);
        if finished.is_some() {
            self.keeping.tell(&format!("stripe: {} is finished; this is its result", self.name(question)));
        }
        Ok(finished)
    }

    /// What so many searches may spend.
    fn budget(&self, searches: usize) -> Budget {
        let (limits, kept) = (&self.options.limits, &self.reopened.run.search);
        Budget::new(limits.max_tests.or(kept.max_tests), limits.max_time.or(kept.max_time), searches)
    }

    fn go_on(
        &mut self,
        question: &Inquiry,
        memo: &RunMemo,
        budget: &mut Budget,
    ) -> Result<(Answer, Exit), Failure> {
        let past = self.past(question)?;
        let known = past.memory.tests();
        let behind = words::count(known, "test");
        self.keeping.tell(&format!("stripe: going on with {} behind {behind}", self.name(question)));
        let share = budget.share();
        let mut subject = self.reopened.subject();
        subject.plan.max_tests = share.tests.map(|more| known.saturating_add(more));
        let style = terminal::style(self.color);
        let progress = Progress::new(&self.options.output, style, self.crew.interrupt, self.crew.board);
        let progress = progress.about(question.name.as_deref()).within(share.time).after(known);
        let progress = progress.to(LevelChoice::Execution);
        let memo = (self.reopened.questions.len() > 1).then_some(memo);
        let found = Case { subject, question, memo }.search(&mut self.crew, past, progress, self.keeping)?;
        budget.spend(found.0.slice.tests.total.saturating_sub(known));
        Ok(found)
    }

    /// What the search has found so far, with the journal in which it goes on.
    fn past(&self, question: &Inquiry) -> Result<Past, Failure> {
        let Reopened { folder, run, .. } = self.reopened;
        let part = question.name.as_deref();
        let (journal, content) = folder.resume_journal(run, part).map_err(keeping::failure)?;
        let ended = self.reopened.result(question, false)?;
        let ended_with_groups = ended.is_some_and(|answer| answer.slice.status == Status::Minimal);
        let best = content.phases.first().filter(|phase| phase.is_understood).map(|phase| phase.best.clone());
        folder.reopen(part).map_err(keeping::failure)?;
        if content.is_damaged {
            let (path, what) = (journal.path().to_path_buf(), "what is behind the damage is lost".into());
            self.keeping.warn(&ArchiveError::Damaged { path, what }.to_string());
        }
        let mut past = Past { journal: Some(journal), ..past(&run.version, content) };
        // A search that has ended with groups had another end before it: its way does not lead further.
        if let (true, Some(first)) = (ended_with_groups, past.memory.phases.first_mut()) {
            first.start = best;
        }
        Ok(past)
    }

    fn name(&self, question: &Inquiry) -> String {
        let run = self.reopened.folder.name();
        question.name.as_ref().map_or_else(|| format!("run {run}"), |name| format!("{name} of run {run}"))
    }
}
