//! `stripe run`: record a failing run and reduce it to its critical slice.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use tracer::invocation::Limits;
use tracer::{Containment, Engine, Preference, Processors, Tracer};

use super::emissions;
use super::exit::{Exit, Failure};
use super::interrupt::Interrupt;
use super::options::{
    AlgorithmChoice, ColorChoice, ControlChoice, EngineChoice, OutputOptions, PoisonOption, RunOptions,
    SearchOptions,
};
use super::progress::Progress;
use super::rendering::Found;
use super::shell;
use super::target::{Target, criterion};
use super::terminal;
use super::values::Emission;
use crate::baseline::{Baseline, BaselineError, Demands, PoisonChoice, not_reproduced};
use crate::circumstances::Laboratory;
use crate::dd::{Algorithm, Outcome};
use crate::history::History;
use crate::investigation::{Finding, Means, Obstacle, Plan, investigate};
use crate::oracle::{Criterion, Oracle};
use crate::report::Style;
use crate::slice::{Control, CriticalSlice, Question, Recorded, Status};

/// Does it.
pub(super) fn run(options: RunOptions, color: ColorChoice) -> Result<Exit, Failure> {
    search(options, color, &shell::own_command_line(), deliver)
}

/// Makes the search that `command_line` asks for, and hands what it has found to `deliver`.
pub(super) fn search(
    options: RunOptions,
    color: ColorChoice,
    command_line: &str,
    deliver: impl FnOnce(Found<'_>, &OutputOptions, Style) -> Result<(), Failure>,
) -> Result<Exit, Failure> {
    let started = Instant::now();
    let preference = preference(options.target.engine)?;
    emissions::check(&options.output, &options.target.program)?;
    let interrupt = Interrupt::default();
    let criterion = criterion(options.oracle)?;
    let target = Target::new(&options.target, &interrupt)?;
    let processors = Processors::available();
    let mut tracers = tracers(&target, preference, &options.search, &processors)?;
    processors.bind(0);
    let demands = demands(options.search.poison, &criterion);
    let baseline = establish(&target, &mut tracers[0], &demands, &interrupt)?;
    let recorded = Recorded { program: &target.program, trace: &baseline.recording.trace };
    let run = &baseline.recording.run;
    let oracle = criterion.oracle(run).map_err(Failure::of(Exit::NotReproduced))?;
    require_failure(&oracle, &baseline, recorded)
        .map_err(|failure| interrupt.or(failure.exit, failure.message))?;

    let runs = AtomicU64::new(0);
    let limits = limits(&baseline, options.target.timeout);
    let laboratory =
        Laboratory { recorded, oracle: &oracle, patterns: &baseline.patterns, limits, runs: &runs };
    let plan = plan(&options.search);
    let style = terminal::style(color);
    let mut progress = Progress::new(&options.output, style, interrupt.clone(), options.search.max_time);
    let means = Means { tracers: &mut tracers, processors: &processors };
    let mut history = History::default();
    let found = investigate(&laboratory, plan, means, &mut history.beside(&mut progress));
    progress.finish();

    let (finding, exit) = conclude(found, &interrupt)?;
    let question = question(&target, &oracle, plan, tracers[0].engine());
    let mut warnings = warnings(&target, &tracers[0], &oracle, &finding);
    warnings.splice(0..0, baseline.warnings.iter().cloned());
    let slice = CriticalSlice {
        question,
        status: finding.status,
        recorded: recorded.trace.len(),
        omittable: finding.omittable,
        needed: finding.needed,
        tests: finding.tests,
        runs: runs.load(Ordering::Relaxed),
        elapsed: started.elapsed(),
        warnings,
    };
    let found = Found { recorded, slice: &slice, history: &history, command_line };
    deliver(found, &options.output, style)?;
    if exit == Exit::Trivial {
        return Err(Failure::new(exit, TRIVIAL));
    }
    Ok(exit)
}

const TRIVIAL: &str = "the failure shows even if nothing is executed, so that every execution seems needless: ask for \
                       more, for example with --expect-output or --expect-match";

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

fn tracers<'p>(
    target: &'p Target,
    preference: Preference,
    search: &SearchOptions,
    processors: &Processors,
) -> Result<Vec<Tracer<'p>>, Failure> {
    let jobs = search.jobs.map_or(processors.count(), usize::from);
    let tracers = (0..jobs).map(|_| Tracer::new(&target.program, &target.invocation, preference));
    Ok(tracers.collect::<Result<_, _>>()?)
}

/// What recordings must agree in.
pub(super) fn demands(poison: PoisonOption, criterion: &Criterion) -> Demands {
    let poison = match poison {
        PoisonOption::Auto => PoisonChoice::Auto,
        PoisonOption::Off => PoisonChoice::Off,
    };
    Demands { poison, only_lines: criterion.only_lines.clone() }
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
            let message = not_reproduced(&evidence.why, oracle.unmet_text(run), recorded, run);
            Err(Failure::new(Exit::NotReproduced, message))
        }
    }
}

/// What a replay may use up.
pub(super) fn limits(baseline: &Baseline, timeout: Option<std::time::Duration>) -> Limits {
    let limits = baseline.limits();
    match timeout {
        Some(timeout) => Limits { cpu: timeout, wall: timeout, ..limits },
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
        max_tests: search.max_tests,
    }
}

fn conclude(found: Result<Finding, Obstacle>, interrupt: &Interrupt) -> Result<(Finding, Exit), Failure> {
    match found {
        Ok(mut finding) => {
            let exit = match (finding.status, interrupt.signal()) {
                (Status::Minimal, _) => Exit::Done,
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
        Err(Obstacle::Trivial(finding)) => Ok((finding, Exit::Trivial)),
        Err(Obstacle::NotReplayable(evidence)) => Err(interrupt.or(
            Exit::Flaky,
            format!(
                "the recorded run shows the failure, but a full replay of it does not: {}; the program, or what \
                 judges it, depends on more than its input: make that constant",
                evidence.why
            ),
        )),
        Err(Obstacle::Broken(error)) => Err(interrupt.or(Exit::Failed, error)),
    }
}

fn question(target: &Target, oracle: &Oracle, plan: Plan, engine: Engine) -> Question {
    Question {
        command: target.command.clone(),
        criterion: oracle.describe(),
        control: plan.control,
        granularity: target.granularity,
        algorithm: plan.algorithm,
        engine,
    }
}

/// What weakens the answer, besides what the baseline knows.
fn warnings(target: &Target, tracer: &Tracer<'_>, oracle: &Oracle, finding: &Finding) -> Vec<String> {
    let mut warnings = Vec::new();
    if let Containment::None(reason) = tracer.containment() {
        warnings.push(format!(
            "replays were not contained ({reason}): they could change files in {}",
            target.invocation.directory.display()
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
        Status::Budget => warnings.push("a budget ended the search; raise --max-tests or --max-time".into()),
        Status::Interrupted => warnings.push("the search was interrupted".into()),
    }
    warnings
}

/// Prints the result and writes it to files; a fault of one does not keep it from the others.
pub(super) fn deliver(found: Found<'_>, output: &OutputOptions, style: Style) -> Result<(), Failure> {
    let text = found.render(output.format.into(), style);
    let printed = super::print(text.as_bytes()).map(drop);
    let plain = Style { color: false, ..style };
    let write = |Emission { kind, file }: &Emission| {
        emissions::write(file, found.render(*kind, plain).as_bytes(), output)
    };
    let written: Vec<_> = output.emit.iter().map(write).collect();
    std::iter::once(printed).chain(written).collect()
}
