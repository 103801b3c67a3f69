//! The tracer: record and replay, the two verbs of this crate.
//!
//! A [`Tracer`] is one worker's place for runs of one program: it holds what all runs share, such as
//! the sandbox, the standard input and the addresses of the breakpoints. Runs of a tracer follow one
//! after the other; several tracers may work side by side, each on its own thread from start to end,
//! because ptrace ties a program to the thread that started it.

use std::time::Duration;

use crate::dependence::{Dependences, Interpretation, ValueQuestion};
use crate::endless::{Cutoff, endless};
use crate::engine::{
    Assignment, Conditions, Guide, Investigation, Method, Placement, Recorder, Replayer, Unable, follow,
    watch,
};
use crate::invocation::{Invocation, Replacement};
use crate::jump::Jump;
use crate::not_ended::NotEnded;
use crate::observation::Observation;
use crate::process::{Attachments, Containment, Output, ProcessError};
use crate::program::variables::Variables;
use crate::program::{LeaderId, LoadError, Program};
use crate::record_error::{ObserveError, RecordError};
use crate::run::{Recording, Run};
use crate::schedule::{Control, Schedule};
use crate::stage::{Course, Stage, Start};
use crate::termination::{Cut, Termination};
use crate::trace::{BrokenTrace, EventId, Trace};

/// A recording that may take no longer, in processor time, is repeated if that was not enough to show a loop.
const SHORT_RECORDING: Duration = Duration::from_secs(10);

/// Whether a run is taken to end by itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Expected {
    End,
    NoEnd,
}

/// The preferred engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Preference {
    /// By jumps where that is possible, or else by breakpoints.
    #[default]
    Auto,
    /// By jumps to an agent inside of the program.
    Jump,
    /// By breakpoints, with a stop at each event.
    Breakpoint,
}

/// The engine by which programs are run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Engine {
    /// By jumps to an agent inside of the program.
    Jump,
    /// By breakpoints; the reason why, if jumps would have been preferred.
    Breakpoint(Option<String>),
}

/// A request for the dependences of a run: what to find out, and at what cost.
#[derive(Clone, Copy, Debug)]
pub struct DependenceRequest<'q> {
    /// The questions for values.
    pub questions: &'q [ValueQuestion],
    /// The largest number of instructions that are executed one by one.
    pub instructions: u64,
    /// The largest number of bytes of memory for who has written what.
    pub memory: u64,
    /// Whether decisions count that could have written what is read, had they gone another way.
    pub asks_for_potential: bool,
    /// The choice of the processor or the tracer to execute the instructions.
    pub interpretation: Interpretation,
}

/// A tracer: one worker's place for runs of a program.
pub struct Tracer<'p> {
    stage: Stage<'p>,
    placement: Placement,
    agent: Agent,
    preference: Preference,
    checkpoint_distance: u32,
    /// The variables of the debug information, once they were needed.
    variables: Option<Box<Variables>>,
}

/// The state of the agent: whether programs get it.
enum Agent {
    /// Not used; the reason, if it should be.
    Out(Option<String>),
    /// Not tried yet.
    Untried,
    /// Used.
    In(Box<Jump>),
}

impl<'p> Tracer<'p> {
    /// Prepares for runs of `program` by `invocation`.
    ///
    /// # Errors
    /// If the machine refuses files, threads or processes.
    pub fn new(
        program: &'p Program,
        invocation: &Invocation,
        preference: Preference,
    ) -> Result<Tracer<'p>, ProcessError> {
        let agent = match preference {
            Preference::Breakpoint => Agent::Out(None),
            Preference::Auto | Preference::Jump => Agent::Untried,
        };
        let stage = Stage::new(program, invocation)?;
        let checkpoint_distance = Tracer::CHECKPOINT_DISTANCE;
        let placement = Placement::default();
        Ok(Tracer { stage, placement, agent, preference, checkpoint_distance, variables: None })
    }

    /// The cost of making a checkpoint, in events: about as many cost the same.
    pub const CHECKPOINT_DISTANCE: u32 = 1 << 14;

    /// By jumps, a replay that agrees with earlier ones up to some event may begin at a checkpoint, a
    /// process that is held there. Makes one wherever it saves so many events; without this, where it
    /// saves [`Tracer::CHECKPOINT_DISTANCE`]. Replays end the same, whatever it is.
    pub fn with_checkpoint_distance(self, events: u32) -> Tracer<'p> {
        Tracer { checkpoint_distance: events, ..self }
    }

    /// Runs find these files instead of those that are there.
    pub fn with_files(mut self, files: &[Replacement]) -> Tracer<'p> {
        self.stage.files = files.to_vec();
        self
    }

    /// The level of containment of the runs.
    pub fn containment(&self) -> Containment {
        self.stage.containment()
    }

    /// The engine by which runs are made. Before the first one that is only an intention.
    pub fn engine(&self) -> Engine {
        match &self.agent {
            Agent::Out(reason) => Engine::Breakpoint(reason.clone()),
            Agent::Untried | Agent::In(_) => Engine::Jump,
        }
    }

    /// Runs the program and records its events.
    ///
    /// # Errors
    /// If the run cannot be recorded, or must not be because it could not be replayed.
    pub fn record(&mut self, conditions: &Conditions) -> Result<Recording, RecordError> {
        self.record_as(Expected::End, conditions)
    }

    /// Runs a program that never ends and records its events up to the second turn of the loop in which it goes round,
    /// or to the statement that does not end. If it ends nevertheless, records all. Where a short time shows no loop,
    /// as it may be on a busy machine, the program is run again with ten times as much.
    ///
    /// # Errors
    /// As of [`Tracer::record`], or if there is no loop to be seen before the run has to be ended.
    pub fn record_endless(&mut self, conditions: &Conditions) -> Result<Recording, RecordError> {
        let recorded = self.record_as(Expected::NoEnd, conditions);
        let is_short = conditions.limits.cpu <= SHORT_RECORDING;
        if is_short && matches!(recorded, Err(RecordError::NoLoop { cut, .. }) if cut.is_time()) {
            let limits = conditions.limits.with_time(10);
            return self.record_as(Expected::NoEnd, &Conditions { limits, ..conditions.clone() });
        }
        recorded
    }

    fn record_as(&mut self, expected: Expected, conditions: &Conditions) -> Result<Recording, RecordError> {
        if let Some(jump) =
            self.agent.get(&self.stage, conditions, self.preference, self.checkpoint_distance)?
        {
            match jump.record(&mut self.stage, conditions) {
                // The program may not get along with what lies in its memory.
                Ok((run, recorder)) if recorder.len() == 0 && self.may_go_without(&run) => {
                    let reason = "with the agent inside it reaches none of its statements";
                    self.agent.dismiss(Unable::Unfit(reason.into()), self.preference)?;
                }
                Ok((run, recorder)) => return recording(self.stage.program, run, recorder, expected),
                Err(unable) => self.agent.dismiss(unable, self.preference)?,
            }
        }
        self.record_outside(Method::Breakpoint, conditions, expected)
    }

    /// Whether a run that ended by itself may be made again without the agent.
    fn may_go_without(&self, run: &Run) -> bool {
        self.preference == Preference::Auto && !matches!(run.termination, Termination::Cut(_))
    }

    /// Runs the program and records its events, instruction by instruction: slow, and needs no trick.
    ///
    /// # Errors
    /// As of [`Tracer::record`].
    pub fn record_by_steps(&mut self, conditions: &Conditions) -> Result<Recording, RecordError> {
        self.record_outside(Method::SingleStep, conditions, Expected::End)
    }

    /// Runs the program along `trace`, and omits what `schedule` leaves out.
    ///
    /// # Errors
    /// If the machine refuses; whatever the program does is a [`Run`].
    pub fn replay(
        &mut self,
        trace: &Trace,
        schedule: &Schedule,
        conditions: &Conditions,
    ) -> Result<Run, ProcessError> {
        if let Some(name) = &conditions.asked {
            return self.replay_to_value(trace, schedule, name, conditions);
        }
        if let Some(jump) =
            self.agent.get(&self.stage, conditions, self.preference, self.checkpoint_distance)?
        {
            match jump.replay(&mut self.stage, trace, schedule, conditions) {
                Ok(run) => return Ok(run),
                Err(unable) => self.agent.dismiss(unable, self.preference)?,
            }
        }
        let kept = schedule.bytes();
        let mut replayer = Replayer::new(self.stage.program, trace, schedule.control(), &kept);
        let (start, output) = self.start(conditions)?;
        self.run_outside(start, output, conditions, Method::Breakpoint, &mut replayer)
    }

    /// Runs the program along `trace` to where its last event begins, and reads the value of a variable there. By
    /// breakpoints, because the program has to be there to be asked.
    fn replay_to_value(
        &mut self,
        trace: &Trace,
        schedule: &Schedule,
        name: &str,
        conditions: &Conditions,
    ) -> Result<Run, ProcessError> {
        let path = self.stage.program.executable().path.clone();
        let variables = self.take_variables().map_err(|_| ProcessError::Changed { path })?;
        let kept = schedule.bytes();
        let replayer = Replayer::new(self.stage.program, trace, schedule.control(), &kept);
        let mut replayer = replayer.that_stops_at_last();
        let (mut start, output) = self.start(conditions)?;
        let course = Course { conditions, placement: &mut self.placement, method: Method::Breakpoint };
        let mut value = None;
        let run = self.stage.run_by(&mut start, course, |execution| {
            let termination = execution.run(Method::Breakpoint, &mut replayer)?;
            let last = trace.events().next_back().filter(|_| termination == Termination::Reached);
            let Some(last) = last else { return Ok(termination) };
            let (found, termination) = execution.ask(&variables, trace.leader(last), name);
            value = found;
            Ok(termination)
        })?;
        self.variables = Some(variables);
        let run = self.stage.finish(start, output, run, &conditions.limits)?;
        Ok(Run { value, ..run })
    }

    /// Takes the variables of the debug information out; whoever has used them puts them back.
    fn take_variables(&mut self) -> Result<Box<Variables>, LoadError> {
        match self.variables.take() {
            Some(known) => Ok(known),
            None => Variables::load(self.stage.program).map(Box::new),
        }
    }

    /// Runs the program along `trace`, as [`Tracer::replay`] does with all the control that `schedule` asks for,
    /// and looks at what the events of `wanted` read and write.
    ///
    /// The variables that the program's debug information names are named. By breakpoints, whatever else is
    /// preferred: some ten microseconds for each event up to the last that is wanted, and for each instruction
    /// of those.
    ///
    /// # Errors
    /// If the machine refuses, or the program's file cannot be read any more; whatever the program does is
    /// an [`Observation`].
    pub fn observe(
        &mut self,
        trace: &Trace,
        schedule: &Schedule,
        wanted: &[EventId],
        conditions: &Conditions,
    ) -> Result<Observation, ObserveError> {
        let variables = self.take_variables()?;
        let kept = schedule.bytes();
        let mut replayer = Replayer::new(self.stage.program, trace, schedule.control(), &kept);
        let (mut start, output) = self.start(conditions)?;
        let assignment = Assignment::new(self.stage.program, trace, &variables, wanted);
        let course = Course { conditions, placement: &mut self.placement, method: Method::Breakpoint };
        let mut observation = Observation::default();
        let run = self.stage.run_by(&mut start, course, |execution| {
            let (seen, ended) = watch(execution, &mut replayer, assignment)?;
            observation = seen;
            Ok(ended.unwrap_or(Termination::Cut(Cut::Interrupted)))
        })?;
        self.variables = Some(variables);
        self.stage.finish(start, output, run, &conditions.limits)?;
        Ok(observation)
    }

    /// Runs the program along `trace`, as [`Tracer::replay`] does with all of it, and finds out who has written what
    /// each event reads.
    ///
    /// Instruction by instruction, whatever else is preferred: some microseconds for each, those of libraries
    /// included.
    ///
    /// # Errors
    /// If the machine refuses, or the program's file cannot be read any more; whatever the program does is in
    /// the [`Run`], and [`Dependences::incomplete`] says if it was not followed to its end.
    pub fn dependences(
        &mut self,
        trace: &Trace,
        wanted: &DependenceRequest<'_>,
        conditions: &Conditions,
    ) -> Result<(Dependences, Run), ObserveError> {
        let variables = self.take_variables()?;
        let everything = Schedule::everything(trace, Control::Program);
        let kept = everything.bytes();
        let mut replayer = Replayer::new(self.stage.program, trace, Control::Program, &kept);
        let (mut start, output) = self.start(conditions)?;
        let investigation = Investigation {
            program: self.stage.program,
            trace,
            variables: &variables,
            questions: wanted.questions,
            instructions: wanted.instructions,
            memory: wanted.memory,
            asks_for_potential: wanted.asks_for_potential,
            interpretation: wanted.interpretation,
        };
        let course = Course { conditions, placement: &mut self.placement, method: Method::SingleStep };
        let mut found = Dependences::default();
        let run = self.stage.run_by(&mut start, course, |execution| {
            let (seen, ended) = follow(execution, &mut replayer, investigation)?;
            found = seen;
            Ok(ended.unwrap_or(Termination::Cut(Cut::Interrupted)))
        })?;
        self.variables = Some(variables);
        let run = self.stage.finish(start, output, run, &conditions.limits)?;
        Ok((found, run))
    }

    /// Makes the next replay under such conditions start the program, and not a copy of one that has been
    /// started before.
    pub fn start_anew(&mut self, conditions: &Conditions) {
        if let Agent::In(jump) = &mut self.agent {
            jump.start_anew(conditions);
        }
    }

    fn record_outside(
        &mut self,
        method: Method<'_>,
        conditions: &Conditions,
        expected: Expected,
    ) -> Result<Recording, RecordError> {
        let program = self.stage.program;
        let mut recorder = Recorder::new(program, &conditions.limits);
        let (mut start, output) = self.start(conditions)?;
        if let Some(address) = self.placement.changed_text(&start.tracee) {
            return Err(RecordError::ChangedText(address.to_string()));
        }
        start.tracee.stop_at_exit();
        let run = self.run_outside(start, output, conditions, method, &mut recorder)?;
        recording(program, run, recorder, expected)
    }

    fn start(&mut self, conditions: &Conditions) -> Result<(Start, Output), ProcessError> {
        self.stage.clear()?;
        let (start, output) = self.stage.start(conditions, Attachments::default())?;
        self.placement.start(self.stage.program, &start.tracee);
        Ok((start, output))
    }

    fn run_outside(
        &mut self,
        mut start: Start,
        output: Output,
        conditions: &Conditions,
        method: Method<'_>,
        guide: &mut dyn Guide,
    ) -> Result<Run, ProcessError> {
        let course = Course { conditions, placement: &mut self.placement, method };
        let run = self.stage.run(&mut start, course, guide)?;
        self.stage.finish(start, output, run, &conditions.limits)
    }
}

impl Agent {
    /// The agent, made at the first use; `None` if programs do without.
    fn get(
        &mut self,
        stage: &Stage<'_>,
        conditions: &Conditions,
        preference: Preference,
        checkpoint_distance: u32,
    ) -> Result<Option<&mut Jump>, ProcessError> {
        if let Agent::Untried = self {
            match Jump::new(stage, conditions, checkpoint_distance) {
                Ok(jump) => *self = Agent::In(Box::new(jump)),
                Err(unable) => self.dismiss(unable, preference)?,
            }
        }
        Ok(match self {
            Agent::In(jump) => Some(jump),
            Agent::Out(_) | Agent::Untried => None,
        })
    }

    /// Gives the agent up: from now on programs do without.
    fn dismiss(&mut self, unable: Unable, preference: Preference) -> Result<(), ProcessError> {
        match unable {
            Unable::Process(error) => Err(error),
            Unable::Unfit(reason) if preference == Preference::Jump => Err(ProcessError::Agent { reason }),
            Unable::Unfit(reason) => {
                *self = Agent::Out(Some(reason));
                Ok(())
            }
        }
    }
}

/// The recording of a run, unless the run cannot be used.
fn recording(
    program: &Program,
    mut run: Run,
    recorder: Recorder<'_>,
    expected: Expected,
) -> Result<Recording, RecordError> {
    let (silence, since_first) = (recorder.silence(), recorder.since_first());
    if let Some(cut) = recorder.excess() {
        run.termination = Termination::Cut(cut);
    }
    let place =
        |leader: LeaderId| format!("{} in {}", program.place(leader), program.function_of(leader).name);
    let trace = recorder.finish().map_err(|broken| match broken {
        BrokenTrace::NotEntered(leader) => RecordError::StackSwitch(place(leader)),
        BrokenTrace::TooLong => RecordError::TooLong,
    })?;
    if let Termination::Cut(cut) = run.termination {
        return Err(match cut {
            Cut::Thread(statement) => {
                let call = program.executable().thread_starter().unwrap_or("clone");
                let place = statement.map(|statement| program.place_of(statement).to_string());
                RecordError::Thread { call, place }
            }
            Cut::ChangedText(address) => RecordError::ChangedText(address.to_string()),
            cut if cut.is_for_endless() && !trace.is_empty() => {
                let account = NotEnded::new(program, &trace, cut);
                if expected == Expected::End {
                    return Err(RecordError::NotEnded(account));
                }
                let cutoff = Cutoff { cut, silence, wall: run.usage.wall, since_first };
                let trace = endless(trace, cutoff).ok_or(RecordError::NoLoop { cut, account })?;
                run.termination = Termination::Endless(cut);
                return Ok(Recording { run, trace });
            }
            cut => RecordError::Cut(cut),
        });
    }
    match trace.is_empty() {
        false => Ok(Recording { run, trace }),
        true => Err(RecordError::NothingTraced),
    }
}
