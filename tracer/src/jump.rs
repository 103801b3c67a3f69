//! The engine by jumps: record and replay by an agent inside of the program.
//!
//! A recording runs the program once, while a thread takes the arrivals that the agent writes down. For
//! replays the program is started once for each pattern of undefined values, and held at its first
//! leader; each replay is a child that this process forks.

use std::ops::ControlFlow::{self, Break, Continue};
use std::time::Instant;

use agent::poison::Poison;
use agent::session::{AgentMode, End};

use crate::engine::{
    Conditions, Drain, Inside, Method, Placement, Recorder, ReplayPosition, Server, Tape, Terms, Unable,
};
use crate::invocation::Stdout;
use crate::process::{Attachments, ProcessError, Processors, start_thread};
use crate::program::detour::Arrivals;
use crate::run::Run;
use crate::schedule::Schedule;
use crate::stage::{Course, Stage, Start};
use crate::termination::{Cut, Termination};
use crate::trace::Trace;

/// The agent for the runs of one worker.
pub(crate) struct Jump {
    placement: Placement,
    /// The agent for recordings, with undefined values left alone and with others; and for replays.
    recorder: Option<Inside>,
    poisoning_recorder: Option<Inside>,
    replayer: Option<Inside>,
    /// The servers that do the replays of the latest recorded run.
    latest: Option<RunServers>,
    /// The number of events that a checkpoint has to save.
    distance: u32,
}

/// The servers of one recorded run.
struct RunServers {
    tape: Tape,
    servers: Vec<Server>,
}

impl Jump {
    /// Makes the agent ready for the program. It is started for that, to see where it lies in memory.
    ///
    /// Replays make a checkpoint where it saves `distance` events.
    pub(crate) fn new(stage: &Stage<'_>, conditions: &Conditions, distance: u32) -> Result<Jump, Unable> {
        if stage.stdout() == Stdout::Terminal {
            return Err(Unable::Unfit("each run has a terminal of its own".into()));
        }
        let (start, _output) = stage.start(conditions, Attachments::default())?;
        let mut placement = Placement::default();
        placement.start(stage.program, &start.tracee);
        if placement.awaits_libraries() {
            return Err(Unable::Unfit("statements of shared libraries are traced".into()));
        }
        if placement.changed_text(&start.tracee).is_some() {
            return Err(Unable::Unfit("its code in memory differs from the file".into()));
        }
        Ok(Jump {
            placement,
            recorder: None,
            poisoning_recorder: None,
            replayer: None,
            latest: None,
            distance,
        })
    }

    /// Runs the program and records its events.
    pub(crate) fn record<'p>(
        &mut self,
        stage: &mut Stage<'p>,
        conditions: &Conditions,
    ) -> Result<(Run, Recorder<'p>), Unable> {
        stage.clear()?;
        // Fresh frames are made undefined by the agent, which then has to be asked at each arrival.
        let (inside, arrivals, duty) = match conditions.poison {
            Poison::Off => (&mut self.recorder, Arrivals::TakenDown, AgentMode::Assist),
            _ => (&mut self.poisoning_recorder, Arrivals::Asked, AgentMode::Record),
        };
        let inside = made(inside, stage, &self.placement, arrivals)?;
        inside.adopt(stage.program, conditions)?;
        let mut talk = inside.talk_to_recorder(duty)?;
        talk.set_conditions(conditions);
        let files = inside.files(&talk, None);
        let size = inside.size(&talk, None);
        let (mut start, output) = stage.start(conditions, Attachments { files: &files, size })?;
        talk.set_stack(start.stack_base);
        inside.enter(stage.program, &mut start.tracee, &talk, None)?;
        start.tracee.stop_at_exit();
        let drain = Drain::new(stage.program, &talk, &conditions.limits, stage.attendance());
        let run = std::thread::scope(|scope| {
            let winding = start_thread(scope, || {
                // The thread works while the program runs: on another processor, if there is one.
                Processors::available().release();
                drain.drain();
            });
            winding.map_err(|source| ProcessError::System { what: "starting a thread", source })?;
            let run = stage.run(&mut start, course(inside, conditions), &mut &drain);
            drain.end();
            run
        });
        let recorder = drain.finish();
        let mut run = stage.finish(start, output, run?, &conditions.limits)?;
        run.arrivals = recorder.len() as u64;
        run.usage.memory = run.usage.memory.saturating_sub(size);
        Ok((run, recorder))
    }

    /// Gives up the process that does replays under such conditions.
    pub(crate) fn start_anew(&mut self, conditions: &Conditions) {
        let terms = Terms::new(conditions, self.distance);
        self.latest.iter_mut().for_each(|latest| latest.servers.retain(|server| !server.has(&terms)));
    }

    /// Runs the program along `trace`, and omits what `schedule` leaves out.
    pub(crate) fn replay(
        &mut self,
        stage: &mut Stage<'_>,
        trace: &Trace,
        schedule: &Schedule,
        conditions: &Conditions,
    ) -> Result<Run, Unable> {
        let mut current = self.latest.take().filter(|latest| latest.tape.trace.is(trace));
        if stage.clear()? {
            current.iter_mut().for_each(|latest| latest.servers.clear());
        }
        let inside = made(&mut self.replayer, stage, &self.placement, Arrivals::Expected)?;
        if inside.adopt(stage.program, conditions)? {
            current.iter_mut().for_each(|latest| latest.servers.clear());
        }
        let latest = self.latest.insert(match current {
            Some(latest) => latest,
            None => RunServers { tape: Tape::new(trace)?, servers: Vec::new() },
        });
        let terms = Terms::new(conditions, self.distance);
        let server = match latest.server(stage, inside, conditions, terms)? {
            Continue(server) => server,
            Break(run) => return Ok(run),
        };
        let time = Instant::now();
        let (mut tracee, taken_over) = server.fork(schedule, conditions)?;
        let mut run = loop {
            let mut start = Start { tracee, stack_base: 0, time };
            let mut onlooker = ReplayPosition { talk: server.talk(), trace };
            let run = stage.run(&mut start, course(inside, conditions), &mut onlooker)?;
            if !server.holds(&run.termination) {
                start.tracee.end();
                break run;
            }
            tracee = server.go_on_from(start.tracee, schedule, conditions)?;
        };
        if server.is_intact() {
            let (pace, end) = server.talk().result();
            (run.arrivals, run.redirections) = (pace.arrivals, pace.redirections);
            if let (Termination::Exited(_), Some(end)) = (&run.termination, end) {
                run.termination = account(end)?;
            }
        } else {
            run.termination = Termination::Cut(Cut::Overwrote);
        }
        (run.usage.wall, run.usage.taken_over) = (time.elapsed(), taken_over);
        (run.stdout, run.stderr) = server.take_output()?;
        stage.measure(&mut run, &conditions.limits);
        Ok(run)
    }
}

/// The agent, made at the first use.
fn made<'i>(
    inside: &'i mut Option<Inside>,
    stage: &Stage<'_>,
    placement: &Placement,
    arrivals: Arrivals,
) -> Result<&'i mut Inside, Unable> {
    if inside.is_none() {
        *inside = Some(Inside::new(stage.program, placement.clone(), arrivals)?);
    }
    Ok(inside.as_mut().expect("just made"))
}

impl RunServers {
    /// The server for tests under these conditions, or the run if it had to be ended on its way there.
    fn server(
        &mut self,
        stage: &Stage<'_>,
        inside: &mut Inside,
        conditions: &Conditions,
        terms: Terms,
    ) -> Result<ControlFlow<Run, &mut Server>, Unable> {
        self.servers.retain_mut(Server::is_useful);
        if !self.servers.iter().any(|server| server.has(&terms)) {
            match self.start_server(stage, inside, conditions, terms)? {
                Continue(server) => self.servers.push(server),
                Break(run) => return Ok(Break(run)),
            }
        }
        Ok(Continue(self.servers.iter_mut().find(|server| server.has(&terms)).expect("just hired")))
    }

    /// Starts the program, and lets it run up to its first leader; returns the run if it had to be ended before.
    fn start_server(
        &self,
        stage: &Stage<'_>,
        inside: &mut Inside,
        conditions: &Conditions,
        terms: Terms,
    ) -> Result<ControlFlow<Run, Server>, Unable> {
        let mut talk = inside.talk_to_server(&self.tape)?;
        talk.set_conditions(conditions);
        let files = inside.files(&talk, Some(&self.tape));
        let size = inside.size(&talk, Some(&self.tape));
        let (mut start, output) = stage.start(conditions, Attachments { files: &files, size })?;
        talk.set_stack(start.stack_base);
        inside.enter(stage.program, &mut start.tracee, &talk, Some(&self.tape))?;
        let mut onlooker = ReplayPosition { talk: &talk, trace: &self.tape.trace };
        let run = stage.run(&mut start, course(inside, conditions), &mut onlooker)?;
        match run.termination {
            Termination::Cut(Cut::Stopped) => {
                let work = (&self.tape.trace, AgentMode::Replay);
                Server::new(start.tracee, output, talk, work, terms).map(Continue)
            }
            Termination::Cut(_) => Ok(Break(stage.finish(start, output, run, &conditions.limits)?)),
            _ => Err(Unable::Unfit("it does not reach its first statement".into())),
        }
    }
}

fn course<'c>(inside: &'c mut Inside, conditions: &'c Conditions) -> Course<'c> {
    let Inside { placement, detours, .. } = inside;
    Course { conditions, placement, method: Method::Inside(detours) }
}

/// The termination of a run that the agent has ended.
fn account(end: End) -> Result<Termination, Unable> {
    match end {
        End::Left(deviation) => Ok(Termination::Left(deviation)),
        End::Enough => Ok(Termination::Cut(Cut::Arrivals)),
        End::LoopsOn => Ok(Termination::Endless(Cut::Arrivals)),
        End::TooDeep => Err(Unable::Unfit("too many calls are open at the same time".into())),
        // A process that ends with this was no server.
        End::Serving => Ok(Termination::Cut(Cut::Overwrote)),
    }
}
