//! `stripe study submit`: hand the parts of a study to a scheduler. stripe has none of its own.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use study::folder::ResultsFolder;

use super::super::exit::{Exit, Failure};
use super::super::files::{self, Overwriting, Readers};
use super::super::terminal::tell;
use super::options::{StudySubmitOptions, SubmitEngine};
use super::run::read;

/// The parts of a study, as commands.
struct Parts {
    /// `stripe study run MANIFEST --out DIR`, for the shell, without the part.
    command: String,
    count: u16,
    out: PathBuf,
}

/// Submits the parts, or prints how.
pub(super) fn submit(options: &StudySubmitOptions) -> Result<Exit, Failure> {
    let (manifest, read) = read(&options.manifest)?;
    read.mistakes.iter().for_each(|mistake| tell(&mistake.to_string()));
    let out = match options.dry_run {
        true => std::path::absolute(&options.out)?,
        false => ResultsFolder::at(&options.out)?.path().to_owned(),
    };
    let program = std::env::current_exe()?;
    let words = [quoted(&program), "study run".into(), quoted(&manifest), "--out".into(), quoted(&out)];
    let command = format!("{} --quiet -j {}", words.join(" "), options.jobs);
    let parts = Parts { command, count: options.nodes, out };
    match options.engine {
        SubmitEngine::Slurm => slurm(&parts, options),
        SubmitEngine::Parallel => parallel(&parts, options),
        SubmitEngine::Local => local(&parts, options),
    }
}

/// A path, quoted for the shell.
fn quoted(path: &Path) -> String {
    let text = path.to_string_lossy();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,:@%".contains(c);
    if text.chars().all(is_plain) { text.into_owned() } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// Submits an array of Slurm jobs. A job that a node has lost is started again, and goes on where it was.
fn slurm(parts: &Parts, options: &StudySubmitOptions) -> Result<Exit, Failure> {
    let Parts { command, count, out } = parts;
    let script = format!(
        "#!/bin/sh\n#SBATCH --job-name=stripe-study\n#SBATCH --array=1-{count}\n#SBATCH --requeue\n#SBATCH --open-mode=append\n\
         #SBATCH --cpus-per-task={}\n#SBATCH --output={}/slurm-%A_%a.log\n\
         {command} --shard \"$SLURM_ARRAY_TASK_ID/{count}\"\n\
         # 7: something was left out, which the results tell; for the scheduler the job is done.\n\
         status=$?; [ $status -eq 7 ] && exit 0; exit $status\n",
        options.jobs,
        out.display(),
    );
    let file = out.join("submit.sbatch");
    let call = format!("sbatch {}", quoted(&file));
    if options.dry_run {
        return print(&format!("# {}\n{script}\n{call}\n", file.display()));
    }
    write(&file, &script)?;
    carry_out(
        Command::new("sbatch").arg(&file),
        "sbatch",
        "install Slurm's client, or take --engine parallel or local",
    )
}

/// Starts GNU parallel, which runs a part on each free slot.
fn parallel(parts: &Parts, options: &StudySubmitOptions) -> Result<Exit, Failure> {
    let Parts { command, count, .. } = parts;
    let mut words =
        vec!["--jobs".to_owned(), if options.sshlogin.is_some() { "1" } else { "100%" }.to_owned()];
    words.extend(options.sshlogin.iter().flat_map(|list| ["--sshlogin".to_owned(), list.clone()]));
    words.push(format!("{command} --shard {{}}/{count}"));
    words.push(":::".into());
    words.extend((1..=*count).map(|number| number.to_string()));
    if options.dry_run {
        let shown: Vec<String> = words.iter().map(|word| quoted(Path::new(word))).collect();
        return print(&format!("parallel {}\n", shown.join(" ")));
    }
    let remedy = "install GNU parallel, or take --engine local";
    carry_out(Command::new("parallel").args(&words), "parallel", remedy)
}

/// Starts a process for each part, all on this machine.
fn local(parts: &Parts, options: &StudySubmitOptions) -> Result<Exit, Failure> {
    let Parts { command, count, .. } = parts;
    let commands: Vec<String> =
        (1..=*count).map(|number| format!("{command} --shard {number}/{count}")).collect();
    if options.dry_run {
        return print(&(commands.join("\n") + "\n"));
    }
    let start = |command: &String| {
        Command::new("/bin/sh").args(["-c", &format!("exec {command}")]).stdin(Stdio::null()).spawn()
    };
    let children = commands.iter().map(start).collect::<Result<Vec<_>, _>>()?;
    let mut exit = Exit::Done;
    for mut child in children {
        match child.wait()?.code() {
            Some(0) => {}
            Some(7) if exit == Exit::Done => exit = Exit::LeftOut,
            Some(7) => {}
            _ => exit = Exit::Failed,
        }
    }
    Ok(exit)
}

fn print(text: &str) -> Result<Exit, Failure> {
    super::super::print(text.as_bytes())
}

fn write(file: &Path, script: &str) -> Result<(), Failure> {
    let written = files::write(file, script.as_bytes(), Overwriting::Allowed, Readers::Anybody)
        .and_then(|()| fs::set_permissions(file, fs::Permissions::from_mode(0o755)));
    written.map_err(|error| Failure::new(Exit::Failed, format!("{}: {error}; make room", file.display())))
}

fn carry_out(command: &mut Command, name: &str, remedy: &str) -> Result<Exit, Failure> {
    let status = command.status().map_err(|error| {
        Failure::new(
            Exit::Failed,
            format!("{name}: {error}; {remedy}, or see what would be done with --dry-run"),
        )
    })?;
    match status.code() {
        Some(0) => Ok(Exit::Done),
        _ => Err(Failure::new(
            Exit::Failed,
            format!("{name} has failed ({status}); what it said stands above"),
        )),
    }
}
