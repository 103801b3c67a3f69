//! `stripe run`: record a failing run and reduce it to its critical slice.

use std::time::Instant;

use tracer::invocation::{Limits, Stdout};
use tracer::{Preference, Processors, Tracer};

use super::bounds::{bounds, ending};
use super::budget::Budget;
use super::choices::{AlgorithmChoice, ColorChoice, ControlChoice, EngineChoice, PoisonOption};
use super::emissions;
use super::exit::{Exit, Failure};
use super::findings::Findings;
use super::interrupt::Interrupt;
use super::keeping::{Asked, Keeping};
use super::options::{OutputOptions, RunOptions, SearchOptions};
use super::permissions::openings;
use super::progress::Progress;
use super::questions::{Inquiry, parts, questions};
use super::rendering;
use super::search::{Case, Crew, Past, Subject};
use super::shell;
use super::sources;
use super::status::{Answers, Board, askers};
use super::target::{Target, criterion, unseen_leaks};
use super::terminal;
use crate::baseline::{Baseline, BaselineError, Demands, PoisonChoice, not_reproduced};
use crate::circumstances::RunMemo;
use crate::investigation::{Finding, Obstacle, Plan};
use crate::oracle::{Criterion, Oracle};
use crate::report::Style;
use crate::slice::{Control, Evidence, Manner, Question, Recorded, Status};
use dd::{Algorithm, Outcome};

/// Does it.
pub(super) fn run(options: RunOptions, color: ColorChoice) -> Result<Exit, Failure> {
    search(options, color, shell::own_command_line(), Findings::deliver)
}

/// Makes the search that `command_line` asks for, and hands what it has found to `deliver`.
pub(super) fn search(
    options: RunOptions,
    color: ColorChoice,
    command_line: String,
    deliver: impl FnOnce(&Findings, Subject<'_>, &OutputOptions, Style) -> Result<(), Failure>,
) -> Result<Exit, Failure> {
    let started = Instant::now();
    let preference = preference(options.target.engine)?;
    emissions::check(&options.output, &options.target.program, options.several.are_asked())?;
    let interrupt = Interrupt::default();
    options.search.total_time.map(|time| interrupt.ask_after(time)).transpose()?;
    let mut criterion = criterion(&options.oracle, &interrupt)?;
    let mut target = Target::new(&options.target, &interrupt)?;
    target.conditions.limits = bounds(&options.target, &criterion);
    if !options.output.quiet {
        target.mention_withheld();
    }
    let board = Board::new("recording the run");
    let answers = Answers::begin(board.clone(), askers(&options.output))?;
    let processors = Processors::available();
    let mut tracers = tracers(&target, preference, options.search.jobs, &processors)?;
    processors.bind(0);
    let keep = &options.keep;
    let mut keeping = Keeping::reserve(keep, &options.target.program, options.output.quiet)?;
    let demands = demands(options.search.poison, &criterion);
    let baseline = establish(&target, &mut tracers[0], &demands, &interrupt)?;
    let recorded = Recorded { program: &target.program, trace: &baseline.recording.trace };
    criterion.locate(recorded);
    let run = &baseline.recording.run;
    let parts = parts(&options.several, run)?;
    let questions = questions(&criterion, &parts, run, &target.program)?;
    for question in &questions {
        require_failure(&question.oracle, &baseline, recorded)
            .map_err(|failure| interrupt.or(failure.exit, failure.message))?;
    }
    let (manner, plan) = (manner(&tracers[0]), plan(&options.search));
    let limits = limits(&baseline, options.target.timeout);
    let subject = Subject { target: &target, baseline: &baseline, manner: &manner, plan, limits };
    rendering::check(subject, &options.output)?;
    let (options, questions) = (&options, &questions[..]);
    keeping.record(&Asked { options, preference, criterion: &criterion, parts, questions }, &subject);
    let mut crew = Crew {
        tracers: &mut tracers,
        processors: &processors,
        interrupt: &interrupt,
        board: &board,
        started,
    };
    let searches = Searches { subject, questions, options, style: terminal::style(color) };
    let findings = Findings::of(command_line, keeping.name());
    let mut findings = searches.all(&mut crew, &mut keeping, findings)?;
    findings.look(&subject, &mut crew.tracers[0], &options.output, &keeping);
    drop(answers);
    // The terminal may have another size by now.
    deliver(&findings, subject, &options.output, terminal::style(color))?;
    keeping.mention(findings.exit());
    findings.done(subject)
}

/// What is asked about a recorded run.
struct Searches<'s> {
    subject: Subject<'s>,
    questions: &'s [Inquiry],
    options: &'s RunOptions,
    style: Style,
}

impl Searches<'_> {
    /// Searches for one answer after the other, until the user asks for the end.
    fn all(
        &self,
        crew: &mut Crew<'_, '_>,
        keeping: &mut Keeping,
        mut findings: Findings,
    ) -> Result<Findings, Failure> {
        let memo = RunMemo::default();
        let search = &self.options.search;
        let mut budget = Budget::new(search.max_tests, search.max_time, self.questions.len());
        for question in self.questions {
            if findings.are_interrupted() || !findings.are_none() && crew.interrupt.is_asked() {
                break;
            }
            let name = question.name.as_deref();
            let past = Past { journal: keeping.journal(name), ..Past::default() };
            let share = budget.share();
            let progress = Progress::new(&self.options.output, self.style, crew.interrupt, crew.board);
            let progress = progress.about(name).within(share.time).to(search.level);
            let memo = (self.questions.len() > 1).then_some(&memo);
            let mut subject = self.subject;
            subject.plan.max_tests = share.tests;
            let case = Case { subject, question, memo };
            let (answer, exit) = case.search(crew, past, progress, keeping)?;
            budget.spend(answer.slice.tests.total);
            findings.add(question, answer, exit);
        }
        Ok(findings)
    }
}

/// How programs are to be run; only recording works by single steps.
pub(super) fn preference(engine: EngineChoice) -> Result<Preference, Failure> {
    match engine {
        EngineChoice::Auto => Ok(Preference::Auto),
        EngineChoice::Jump => Ok(Preference::Jump),
        EngineChoice::Breakpoint => Ok(Preference::Breakpoint),
        EngineChoice::Step => Err(Failure::new(
            Exit::Usage,
            "--engine step only records: use it with `stripe trace`, or take jump or breakpoint",
        )),
    }
}

pub(super) fn tracers<'p>(
    target: &'p Target,
    preference: Preference,
    jobs: Option<u16>,
    processors: &Processors,
) -> Result<Vec<Tracer<'p>>, Failure> {
    let jobs = jobs.map_or(processors.count(), usize::from);
    let tracers = (0..jobs).map(|_| Tracer::new(&target.program, &target.invocation, preference));
    Ok(tracers.collect::<Result<_, _>>()?)
}

/// What recordings must agree in.
pub(super) fn demands(poison: PoisonOption, criterion: &Criterion) -> Demands {
    let poison = match poison {
        PoisonOption::Auto => PoisonChoice::Auto,
        PoisonOption::Off => PoisonChoice::Off,
    };
    Demands { poison, only_lines: criterion.only_lines.clone(), ending: ending(criterion) }
}

/// Records the run; what must not be reduced ends here.
pub(super) fn establish(
    target: &Target,
    tracer: &mut Tracer<'_>,
    demands: &Demands,
    interrupt: &Interrupt,
) -> Result<Baseline, Failure> {
    Baseline::establish(&target.program, tracer, &target.conditions, demands).map_err(|error| {
        let exit = match error {
            BaselineError::Flaky(_) => Exit::Flaky,
            BaselineError::Record(_) => Exit::Failed,
        };
        interrupt.or(exit, error)
    })
}

fn require_failure(oracle: &Oracle, baseline: &Baseline, recorded: Recorded<'_>) -> Result<(), Failure> {
    let run = &baseline.recording.run;
    let evidence = oracle.judge(run, recorded)?;
    match evidence.outcome {
        Outcome::Fail => Ok(()),
        _ => {
            let hint = oracle.hint(run).map_or_else(String::new, |hint| format!(" ({hint})"));
            let why = evidence.why + &hint;
            let message = not_reproduced(&why, oracle.unmet_text(run), recorded, run);
            Err(Failure::new(Exit::NotReproduced, message))
        }
    }
}

/// What a replay may use up.
pub(super) fn limits(baseline: &Baseline, timeout: Option<std::time::Duration>) -> Limits {
    let limits = baseline.limits();
    match timeout.filter(|_| baseline.recording.trace.endless().is_none()) {
        Some(timeout) => Limits { cpu: timeout, wall: timeout, idle: timeout, ..limits },
        None => limits,
    }
}

fn plan(search: &SearchOptions) -> Plan {
    Plan {
        control: match search.control {
            ControlChoice::Both => Control::Both,
            ControlChoice::Program => Control::Program,
            ControlChoice::Trace => Control::Trace,
        },
        algorithm: match search.algorithm {
            AlgorithmChoice::Sweep => Algorithm::Sweep,
            AlgorithmChoice::Ddmin => Algorithm::Ddmin,
        },
        max_tests: None,
    }
}

pub(super) fn conclude(
    found: Result<Finding, Obstacle>,
    interrupt: &Interrupt,
) -> Result<(Finding, Exit), Failure> {
    let flaky = |what: &str, evidence: &Evidence| {
        let remedy = "give it more time with --timeout if that is what it lacks, otherwise the program, or what \
                      judges it, depends on more than its input: make that constant";
        Err(interrupt.or(Exit::Flaky, format!("{what}: {}; {remedy}", evidence.why)))
    };
    match found {
        Ok(mut finding) => {
            let exit = match (finding.status, interrupt.signal()) {
                (Status::Minimal, _) => Exit::Done,
                (Status::Unconfirmed, _) => Exit::Flaky,
                (_, Some(signal)) => {
                    finding.status = Status::Interrupted;
                    Exit::Interrupted(signal)
                }
                (_, None) => {
                    finding.status = Status::Budget;
                    Exit::Budget
                }
            };
            Ok((finding, exit))
        }
        Err(Obstacle::Trivial(finding)) => Ok((*finding, Exit::Trivial)),
        Err(Obstacle::NotReplayable(evidence)) => {
            flaky("the recorded run shows the failure, but a full replay of it does not", &evidence)
        }
        Err(Obstacle::NotRepeatable(evidence)) => {
            flaky("what was found shows the failure, but the next replay of it does not", &evidence)
        }
        Err(Obstacle::Broken(error)) => Err(interrupt.or(Exit::Failed, error)),
    }
}

/// How a tracer runs programs.
pub(super) fn manner(tracer: &Tracer<'_>) -> Manner {
    Manner { engine: tracer.engine(), containment: tracer.containment() }
}

pub(super) fn question(target: &Target, oracle: &Oracle, plan: Plan, manner: Manner) -> Question {
    Question {
        command: target.command.clone(),
        criterion: oracle.describe(),
        control: plan.control,
        granularity: target.granularity,
        algorithm: plan.algorithm,
        manner,
    }
}

/// What weakens the answer, besides what the baseline knows.
pub(super) fn warnings(
    target: &Target,
    baseline: &Baseline,
    oracle: &Oracle,
    finding: &Finding,
) -> Vec<String> {
    let mut warnings = sources::doubts(&target.program);
    warnings.extend(unseen_leaks(&target.program));
    warnings.extend(openings(&target.invocation.permissions));
    let denied = baseline.recording.run.denied.iter();
    warnings.extend(denied.map(|action| {
        format!("the program tried to {action}; that was denied in the recorded run and in all others")
    }));
    let unwritten = baseline.recording.run.unwritten;
    if unwritten > 0 && target.invocation.stdout == Stdout::File {
        warnings.push(format!(
            "the crash has lost {unwritten} bytes of output that the C library had not written yet; with --pty it writes \
             each line at once"
        ));
    }
    if !oracle.is_strict() {
        warnings.push(
            "the criterion is weak: it asks for nothing that a run must print; --expect-output or --expect-match ask for more"
                .into(),
        );
    }
    match finding.status {
        Status::Minimal => {}
        Status::Unconfirmed => warnings.extend(finding.unconfirmed.iter().map(unconfirmed)),
        Status::Budget => {
            warnings.push("a budget ended the search; raise --max-tests, --max-time or --total-time".into())
        }
        Status::Interrupted => warnings.push("the search was interrupted".into()),
    }
    warnings
}

/// The search was led astray: by something that passes from run to run, or by time.
fn unconfirmed(seen: &Evidence) -> String {
    format!(
        "the result was replayed once more from the beginning, and the failure was not reproduced: {}",
        seen.why
    )
}
