//! Start workers on other machines and hand them the recorded run.

use std::io;
use std::path::{Path, PathBuf};
use std::thread::ScopedJoinHandle;

use tracer::start_thread;

use super::error::{Cause, SessionError};
use super::interrupt::Interrupt;
use super::keeping::lay_down;
use super::listener::Listener;
use super::recording::Recording;
use super::reopened::Reopened;
use crate::remote::link::{HandOverError, WorkerLink};
use crate::remote::parcel::Parcel;

/// The number of workers, and the command that starts them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkerLaunch {
    /// The number of workers.
    pub count: u16,
    /// The words before `stripe worker`, for the shell: `srun --exclusive -N1 -n1`. With `worker` as the last one they
    /// are the whole command. Empty: workers are processes of this machine.
    pub launcher: String,
    /// This program.
    pub program: PathBuf,
}

impl WorkerLaunch {
    /// The command of a worker, for the shell.
    pub fn command(&self) -> String {
        let launcher = self.launcher.trim();
        match launcher.split_whitespace().last() {
            Some("worker") => format!("exec {launcher}"),
            _ => format!(
                "exec {launcher} '{}' worker",
                self.program.display().to_string().replace('\'', r"'\''")
            ),
        }
    }

    /// Starts them; they wait for what they are handed.
    ///
    /// # Errors
    /// If there is no room for processes.
    pub fn start(&self) -> Result<Vec<WorkerLink>, SessionError> {
        let command = self.command();
        let links = (1..=usize::from(self.count)).map(|number| WorkerLink::start(number, &command));
        links.collect::<Result<_, _>>().map_err(|error| {
            let message =
                format!("starting a worker failed: {error}: free process slots, or take fewer --workers");
            SessionError::new(Cause::Failed, message)
        })
    }
}

/// Hands a recorded run to the workers, if there are any; hands back those that can make its tests.
///
/// # Errors
/// If none of them can.
pub fn hand_over(
    links: Vec<WorkerLink>,
    recording: &Recording<'_>,
    listener: &dyn Listener,
    interrupt: &Interrupt,
) -> Result<Vec<WorkerLink>, SessionError> {
    if links.is_empty() {
        return Ok(links);
    }
    let place = tempfile::tempdir().map_err(SessionError::of(Cause::Failed))?;
    let folder = lay_down(recording, &place.path().join("run"))?;
    let parcel = parcel(folder.path(), &recording.request.target.invocation.program)?;
    all(links, &parcel, listener, interrupt)
}

/// The same for a run that is kept.
///
/// # Errors
/// If none of them can.
pub fn hand_over_kept(
    links: Vec<WorkerLink>,
    reopened: &Reopened,
    listener: &dyn Listener,
    interrupt: &Interrupt,
) -> Result<Vec<WorkerLink>, SessionError> {
    if links.is_empty() {
        return Ok(links);
    }
    all(links, &parcel(reopened.folder.path(), &reopened.run.invocation.program)?, listener, interrupt)
}

fn parcel(folder: &Path, program: &Path) -> Result<Parcel, SessionError> {
    Parcel::of(folder, program).map_err(HandOverError::Files).map_err(SessionError::of(Cause::Failed))
}

fn all(
    mut links: Vec<WorkerLink>,
    parcel: &Parcel,
    listener: &dyn Listener,
    interrupt: &Interrupt,
) -> Result<Vec<WorkerLink>, SessionError> {
    listener.tell(&format!("stripe: handing the run to {} workers, as soon as they are there", links.len()));
    let hand_over = |link: &mut WorkerLink| link.hand_over(parcel, || interrupt.is_asked());
    let answers: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            links.iter_mut().map(|link| start_thread(scope, move || hand_over(link))).collect();
        let answer = |thread: io::Result<ScopedJoinHandle<'_, _>>| {
            thread.map_err(HandOverError::Files)?.join().expect("handing over does not panic")
        };
        threads.into_iter().map(answer).collect()
    });
    let mut trouble = None;
    for answer in &answers {
        match answer {
            Ok(_) => {}
            Err(HandOverError::Interrupted) => {
                return Err(interrupt.or(SessionError::new(Cause::Failed, "interrupted")));
            }
            Err(error) => {
                listener.tell(&format!("stripe: warning: {error}"));
                trouble = Some(error.to_string());
            }
        }
    }
    links.retain(|link| link.loss().is_none());
    match trouble {
        Some(trouble) if links.is_empty() => {
            let remedy = "mend that, or leave --workers out";
            Err(SessionError::new(Cause::Failed, format!("there is no worker: {trouble}; {remedy}")))
        }
        _ => {
            let ready = answers.iter().flatten();
            let mut levels: Vec<&str> = ready.map(String::as_str).collect();
            levels.sort_unstable();
            levels.dedup();
            listener.tell(&format!(
                "stripe: {} workers are ready, runs are {}",
                links.len(),
                levels.join(" or ")
            ));
            Ok(links)
        }
    }
}

/// Says which workers were lost on the way.
pub fn tell_losses(links: &[WorkerLink], listener: &dyn Listener) {
    for loss in links.iter().filter_map(WorkerLink::loss) {
        listener.tell(&format!("stripe: warning: {loss}; others have made its tests"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_launcher_stands_before_the_worker_or_is_the_whole_command() {
        let command = |launcher: &str| {
            let program = PathBuf::from("/opt/it's/stripe");
            WorkerLaunch { count: 1, launcher: launcher.into(), program }.command()
        };
        assert_eq!(command("srun -n1"), r"exec srun -n1 '/opt/it'\''s/stripe' worker");
        assert_eq!(command("ssh host stripe worker "), "exec ssh host stripe worker");
        assert_eq!(command(""), r"exec  '/opt/it'\''s/stripe' worker");
    }
}
