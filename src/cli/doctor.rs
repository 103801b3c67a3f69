//! `stripe doctor`: say whether this machine can trace, and whether a program can be traced; and what
//! to do where not.

use std::path::Path;

use tracer::program::{DetourCounts, Granularity, LeaderKind, LoadError, Program, Sanitizer, Scope};
use tracer::{Containment, ONE_THREAD, Processors};

use super::choices::ColorChoice;
use super::exit::{Exit, Failure};
use super::memory;
use super::options::DoctorOptions;
use super::target::executable;
use super::terminal;
use crate::report::{self, printable, words};
use crate::syntax::Language;

/// The size of a statement execution in a trace, in bytes.
const STATEMENT: u64 = 12;

/// The number of files that are named.
const FILES: usize = 5;

/// The weight of a finding.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Weight {
    Good,
    /// It works, but not as well as it could.
    Fair,
    Bad,
}

struct Finding {
    weight: Weight,
    what: String,
    remedy: String,
}

impl Finding {
    fn good(what: impl Into<String>) -> Finding {
        Finding { weight: Weight::Good, what: what.into(), remedy: String::new() }
    }

    fn fair(what: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding { weight: Weight::Fair, what: what.into(), remedy: remedy.into() }
    }

    fn bad(what: impl Into<String>, remedy: impl Into<String>) -> Finding {
        Finding { weight: Weight::Bad, what: what.into(), remedy: remedy.into() }
    }
}

/// Reports the findings about this machine, and about a program. Exit status 1 if something must be mended first.
pub(super) fn doctor(options: DoctorOptions, color: ColorChoice) -> Result<Exit, Failure> {
    let width = terminal::style(color).width;
    let mut text = String::from("This machine:\n");
    let mut findings = machine();
    text += &listed(&findings, width);
    if let Some(program) = &options.program {
        let scope = Scope::new(&options.scope).map_err(Failure::of(Exit::Usage))?;
        let about = program_findings(&executable(program)?, &scope, options.verbose);
        text += &format!("\n{}:\n{}", shown(program), listed(&about, width));
        findings.extend(about);
    }
    let sick = findings.iter().any(|finding| finding.weight == Weight::Bad);
    text += &match &options.program {
        _ if sick => "\nFirst mend what is marked BAD.\n".to_owned(),
        None => "\nReady. Look at a program with `stripe doctor ./prog`, or try `stripe demo`.\n".to_owned(),
        Some(program) => format!("\nReady: stripe run {}\n", shown(program)),
    };
    super::print(text.as_bytes())?;
    Ok(if sick { Exit::Failed } else { Exit::Done })
}

fn shown(program: &Path) -> String {
    printable(&program.to_string_lossy())
}

fn listed(findings: &[Finding], width: usize) -> String {
    let row = |finding: &Finding| {
        let mark = match finding.weight {
            Weight::Good => "ok  ",
            Weight::Fair => "fair",
            Weight::Bad => "BAD ",
        };
        let remedy = if finding.remedy.is_empty() {
            String::new()
        } else {
            wrapped("\n        -> ", &finding.remedy, width)
        };
        wrapped(&format!("  {mark}  "), &finding.what, width) + &remedy + "\n"
    };
    findings.iter().map(row).collect()
}

/// A text after `lead`; its further lines begin where the first one does.
fn wrapped(lead: &str, text: &str, width: usize) -> String {
    let room = lead.trim_start_matches('\n').len();
    let lines = report::wrap(&printable(text), width.saturating_sub(room));
    lead.to_owned() + &lines.replace('\n', &format!("\n{}", " ".repeat(room)))
}

fn machine() -> Vec<Finding> {
    let here = std::env::current_dir().unwrap_or_else(|_| "/".into());
    let processors = Processors::available().count() as u64;
    let level = match tracer::probe(&here) {
        Ok(level) => level,
        Err(error) => return vec![Finding::bad("programs cannot be traced", error.to_string())],
    };
    vec![
        Finding::good(format!(
            "programs can be traced (ptrace), by default {} at a time",
            words::count(processors, "test")
        )),
        Finding::good(format!(
            "recordings and searches take at most {} MB of memory, unless --memory says otherwise: some {} million \
             statements",
            memory::most(None) >> 20,
            memory::for_trace(None) / STATEMENT / 1_000_000
        )),
        match level {
            Containment::Full => Finding::good("runs are contained fully (namespaces, seccomp)"),
            Containment::Basic(reason) => Finding::fair(
                format!(
                    "runs are contained at the basic level (Landlock, seccomp), because of namespaces: {reason}"
                ),
                "allow user namespaces (sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns=0)",
            ),
            Containment::None => Finding::bad("runs are not contained", "allow user namespaces"),
        },
        languages(),
    ]
}

/// The finding on the languages of which `stripe simplify` knows the syntax.
fn languages() -> Finding {
    let (known, others): (Vec<Language>, Vec<Language>) =
        Language::ALL.into_iter().partition(|language| language.is_built_in());
    let named =
        |languages: &[Language]| languages.iter().map(|one| one.name()).collect::<Vec<_>>().join(", ");
    let what = match known.is_empty() {
        true => "inputs are simplified without syntax trees".to_owned(),
        false => format!("inputs are simplified by syntax trees of {}", named(&known)),
    };
    match others.is_empty() {
        true => Finding::good(what),
        false => Finding::good(format!(
            "{what}; a build with --features all-languages knows {} as well",
            named(&others)
        )),
    }
}

fn program_findings(path: &Path, scope: &Scope, verbose: bool) -> Vec<Finding> {
    let program = match Program::load(path, &[], scope, Granularity::default()) {
        Ok(program) => program,
        Err(error) => return vec![refusal(&error)],
    };
    let image = program.executable();
    let mut findings = vec![Finding::good("x86-64, with a line table"), Finding::good(in_scope(&program))];
    findings.push(match crate::baseline::optimisation(&program) {
        None => Finding::good("no sign of optimisation"),
        Some(option) => Finding::fair(
            format!("compiled with {option}: few statements have code of their own"),
            "compile with -O0",
        ),
    });
    findings.extend(image.sanitizers.iter().map(|&sanitizer| sanitized(sanitizer)));
    if verbose {
        findings.push(Finding::good(detours(&program)));
    }
    if !image.is_dynamic {
        findings.push(Finding::good(
            "statically linked: a run will tell whether it starts threads or depends on the time",
        ));
        return findings;
    }
    findings.push(Finding::good("dynamically linked"));
    findings.push(match image.thread_starter() {
        None => Finding::good("calls no function that starts threads"),
        Some(name) => Finding::fair(
            format!("uses {name}: a run that starts a thread is refused"),
            format!("choose input or options for which it starts none; {ONE_THREAD}"),
        ),
    });
    if let causes @ [_, ..] = &crate::oracle::open_causes(&image.imports)[..] {
        findings.push(Finding::fair(
            format!("calls {}: runs may differ", causes.join(", ")),
            "make what depends on them constant, or leave it out of the comparison with --only-lines",
        ));
    }
    findings
}

/// The finding about a program that was compiled with a sanitizer.
fn sanitized(sanitizer: Sanitizer) -> Finding {
    let name = sanitizer.name();
    match sanitizer {
        Sanitizer::Address => Finding::fair(
            format!(
                "compiled with {name}: what it reports is part of the failure; leaks are not looked for, which does not \
                 work in a traced program"
            ),
            "if tests are slow, set ASAN_OPTIONS=symbolize=0: a report then takes some milliseconds instead of a tenth of a second",
        ),
        Sanitizer::Leak => Finding::fair(
            format!(
                "compiled with {name}: leaks are not looked for, which does not work in a traced program"
            ),
            "compile without it",
        ),
        Sanitizer::Memory | Sanitizer::Thread | Sanitizer::UndefinedBehaviour => {
            Finding::good(format!("compiled with {name}: what it reports is part of the failure"))
        }
    }
}

/// The finding that a program cannot be traced, with the reason.
fn refusal(error: &LoadError) -> Finding {
    let remedy = error.remedy().unwrap_or("give a program that can be read and executed");
    Finding::bad(error.refused(), remedy)
}

/// The numbers of detours, by which control comes from the leaders, where statements begin, to the tracer.
fn detours(program: &Program) -> String {
    let DetourCounts { jumps, short_jumps, breakpoints } = DetourCounts::of(program);
    format!(
        "{} where events begin: {}, {}, {}",
        words::count((jumps + short_jumps + breakpoints) as u64, "place"),
        words::count(jumps as u64, "jump"),
        words::count(short_jumps as u64, "short jump"),
        words::count(breakpoints as u64, "breakpoint"),
    )
}

/// The statements that would be traced: their number, and their files.
fn in_scope(program: &Program) -> String {
    let mut statements = 0;
    let mut files: Vec<&str> = Vec::new();
    for leader in program.leaders() {
        statements += u64::from(leader.kind == LeaderKind::Statement);
        let file = &program.file(leader.statement.file).shown[..];
        if !files.contains(&file) {
            files.push(file);
        }
    }
    let further = files.len().saturating_sub(FILES);
    files.truncate(FILES);
    let files = files.join(", ");
    let further = if further > 0 {
        format!(" and {}", words::count(further as u64, "further file"))
    } else {
        String::new()
    };
    format!(
        "in scope: {} with {}, in {files}{further}",
        words::count(program.functions().len() as u64, "function"),
        words::count(statements, "statement"),
    )
}
