//! `stripe doctor`: say whether this machine can trace, and whether a program can be traced; and what
//! to do where not.

use std::path::Path;

use tracer::program::{Granularity, LeaderKind, Program, Scope};
use tracer::{Containment, Sandbox};

use super::exit::{Exit, Failure};
use super::options::DoctorOptions;
use super::target::executable;

/// How a finding weighs.
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

/// Does it. Exit status 1 if something must be mended first.
pub(super) fn doctor(options: DoctorOptions) -> Result<Exit, Failure> {
    let mut text = String::from("This machine:\n");
    let mut findings = machine();
    text += &listed(&findings);
    if let Some(program) = &options.program {
        let scope = Scope::new(&options.scope).map_err(Failure::of(Exit::Usage))?;
        let about = program_findings(&executable(program)?, &scope);
        text += &format!("\n{}:\n{}", program.display(), listed(&about));
        findings.extend(about);
    }
    super::print(text.as_bytes())?;
    let sick = findings.iter().any(|finding| finding.weight == Weight::Bad);
    Ok(if sick { Exit::Failed } else { Exit::Done })
}

fn listed(findings: &[Finding]) -> String {
    let row = |finding: &Finding| {
        let mark = match finding.weight {
            Weight::Good => "ok  ",
            Weight::Fair => "fair",
            Weight::Bad => "BAD ",
        };
        let remedy = if finding.remedy.is_empty() {
            String::new()
        } else {
            format!("\n        -> {}", finding.remedy)
        };
        format!("  {mark}  {}{remedy}\n", finding.what)
    };
    findings.iter().map(row).collect()
}

fn machine() -> Vec<Finding> {
    let sandbox = Sandbox::new(&std::env::current_dir().unwrap_or_else(|_| "/".into()));
    vec![
        match tracer::probe() {
            Ok(()) => Finding::good("programs can be traced (ptrace)"),
            Err(error) => Finding::bad("programs cannot be traced", format!("{error}")),
        },
        match sandbox.containment() {
            Containment::Overlay => Finding::good("replays change no file (namespaces and overlays)"),
            Containment::None(reason) => Finding::fair(
                format!("replays are not contained: {reason}"),
                "allow user namespaces (sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns=0), \
                 or trace only programs whose partial runs can do no harm",
            ),
        },
        if sandbox.contains_signals() {
            Finding::good("replays signal no other process (Landlock)")
        } else {
            Finding::fair(
                "replays may signal other processes of yours",
                "use Linux 6.12 or later with Landlock",
            )
        },
    ]
}

fn program_findings(path: &Path, scope: &Scope) -> Vec<Finding> {
    let program = match Program::load(path, &[], scope, Granularity::default()) {
        Ok(program) => program,
        Err(error) => return vec![Finding::bad("cannot be traced", error.to_string())],
    };
    let image = program.executable();
    let statements = program.leaders().iter().filter(|leader| leader.kind == LeaderKind::Statement).count();
    let mut findings = vec![
        Finding::good("x86-64, with a line table"),
        Finding::good(format!(
            "{} functions with {statements} statements are in scope",
            program.functions().len()
        )),
        Finding::good(if image.is_dynamic { "dynamically linked" } else { "statically linked" }),
    ];
    findings.push(match crate::baseline::optimisation(&program) {
        None => Finding::good("no sign of optimisation"),
        Some(option) => Finding::fair(
            format!("compiled with {option}: few statements have code of their own"),
            "compile with -O0",
        ),
    });
    let threads =
        ["pthread_create", "thrd_create"].iter().find(|name| image.imports.iter().any(|i| i == *name));
    findings.push(match threads {
        None => Finding::good("imports no function that starts threads"),
        Some(name) => Finding::fair(
            format!("imports {name}: a run that starts a thread is refused"),
            "choose input or options for which it stays on one thread",
        ),
    });
    if let causes @ [_, ..] = &crate::oracle::usual_causes(&image.imports)[..] {
        findings.push(Finding::fair(
            format!("imports {}: runs may differ", causes.join(", ")),
            "make them constant, or compare only what does not depend on them, with --only-lines",
        ));
    }
    findings
}
