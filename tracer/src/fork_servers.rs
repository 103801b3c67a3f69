//! Fork servers for changed runs: for each invocation a program that is held at its first statement, and that forks a
//! run where otherwise one would be started, which takes several times as long.
//!
//! What a fork does is what a start would do: nothing of the traced code has been executed yet where it is held. It
//! executes that code as it is; only where fresh frames are made undefined, functions begin with a jump to the agent.
//! Where a server cannot be had, runs are started.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::ops::Range;
use std::sync::Arc;

use agent::names::LeaderId;
use agent::poison::Poison;
use agent::session::AgentMode;

use crate::address::RuntimeAddress;

use crate::engine::{Conditions, Inside, Method, Placement, ReplayPosition, Server, Tape, Terms, Unable};
use crate::invocation::{Input, Invocation, Stdout};
use crate::process::{Attachments, ProcessError, Tracee, Written};
use crate::program::detour::{Arrivals, Patch};
use crate::program::{Leader, LeaderKind, Program};
use crate::schedule::{Control, Schedule};
use crate::stage::{Course, Stage};
use crate::termination::{Cut, Termination};
use crate::trace::Trace;

/// The largest number of invocations that have servers; each holds a process.
const MOST_INVOCATIONS: usize = 32;

/// The fork servers of one worker.
#[derive(Default)]
pub(crate) struct ForkServers {
    inside: Option<FrameAgent>,
    invocations: Vec<KnownInvocation>,
    /// Whether the agent cannot be used in this program.
    is_unfit: bool,
    #[cfg(test)]
    count: usize,
}

/// An invocation that was started before.
struct KnownInvocation {
    arguments: Vec<OsString>,
    environment: Vec<(OsString, OsString)>,
    stdin: Input,
    /// A server for each pattern of undefined values.
    servers: Vec<Server>,
}

/// The agent, as servers need it.
struct FrameAgent {
    inside: Inside,
    /// The program with jumps to the agent at the functions of which it makes frames undefined.
    jumping: Placement,
    /// These functions, by their entries.
    filled: Arc<HashSet<LeaderId>>,
    /// The code of the entries that executes elsewhere: where each begins and ends.
    moved: Vec<Range<u64>>,
}

/// A fork: a run that is stopped before its first statement.
pub(crate) struct Fork {
    pub(crate) tracee: Tracee,
    /// The invocation and its server, by their indices.
    server: (usize, usize),
}

impl ForkServers {
    /// Forks a run of the invocation. `None` if it has to be started: for the first time, because a server costs more
    /// than one start, or where there can be no server.
    pub(crate) fn fork(
        &mut self,
        stage: &mut Stage<'_>,
        placement: &Placement,
        invocation: &Invocation,
        conditions: &Conditions,
    ) -> Result<Option<Fork>, ProcessError> {
        if self.is_unfit || invocation.stdout == Stdout::Terminal {
            return Ok(None);
        }
        let Some(known) = self.invocations.iter().position(|known| known.is(invocation)) else {
            if self.invocations.len() < MOST_INVOCATIONS {
                self.invocations.push(KnownInvocation::new(invocation));
            }
            return Ok(None);
        };
        let Some(number) = self.server(known, stage, placement, (invocation, conditions))? else {
            return Ok(None);
        };
        let server = &mut self.invocations[known].servers[number];
        let schedule = Schedule::everything(&Trace::default(), Control::Trace);
        let (tracee, _) = server.fork(&schedule, conditions)?;
        #[cfg(test)]
        {
            self.count += 1;
        }
        Ok(Some(Fork { tracee, server: (known, number) }))
    }

    /// The server of a known invocation on these conditions, by its index; started if there is none.
    fn server(
        &mut self,
        known: usize,
        stage: &mut Stage<'_>,
        placement: &Placement,
        (invocation, conditions): (&Invocation, &Conditions),
    ) -> Result<Option<usize>, ProcessError> {
        let terms = Terms::new(conditions, u32::MAX);
        let servers = &mut self.invocations[known].servers;
        servers.retain_mut(Server::is_useful);
        if let Some(number) = servers.iter().position(|server| server.has(&terms)) {
            return Ok(Some(number));
        }
        stage.take_over(invocation)?;
        let server = match self.start(stage, placement, conditions) {
            Ok(Some(server)) => server,
            Ok(None) => return Ok(None),
            Err(Unable::Unfit(_)) => {
                self.is_unfit = true;
                return Ok(None);
            }
            Err(Unable::Process(error)) => return Err(error),
        };
        let servers = &mut self.invocations[known].servers;
        servers.push(server);
        Ok(Some(servers.len() - 1))
    }

    /// The functions whose fresh frames the agent makes undefined in forks, by their entries.
    pub(crate) fn filled(&self) -> Arc<HashSet<LeaderId>> {
        self.inside.as_ref().map(|agent| Arc::clone(&agent.filled)).unwrap_or_default()
    }

    /// Whether a fork executes the instruction at this place of the executable where it lies, so that it can be changed.
    pub(crate) fn executes(&self, address: RuntimeAddress) -> bool {
        let moved = |agent: &FrameAgent| agent.moved.iter().any(|code| code.contains(&address.0));
        !self.inside.as_ref().is_some_and(moved)
    }

    /// Starts the program, and holds it at its first statement; `None` if it has ended before.
    fn start(
        &mut self,
        stage: &Stage<'_>,
        placement: &Placement,
        conditions: &Conditions,
    ) -> Result<Option<Server>, Unable> {
        if placement.awaits_libraries() {
            return Err(Unable::Unfit("statements of shared libraries are traced".into()));
        }
        if self.inside.is_none() {
            self.inside = Some(FrameAgent::new(stage.program, placement)?);
        }
        self.inside.as_mut().expect("just made").start(stage, conditions)
    }

    /// Ends a fork that has been run, and takes its output; `None` if the run says nothing, because it has
    /// written to what the tracer keeps in its memory.
    pub(crate) fn finish(&mut self, mut fork: Fork) -> Result<Option<Written>, ProcessError> {
        fork.tracee.end();
        let (invocation, number) = fork.server;
        let server = &mut self.invocations[invocation].servers[number];
        let is_intact = server.is_intact();
        let written = server.take_output()?;
        Ok(Some(written).filter(|_| is_intact))
    }

    /// Has no more servers.
    #[cfg(test)]
    pub(crate) fn refuse(&mut self) {
        self.is_unfit = true;
    }

    /// The number of forks.
    #[cfg(test)]
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Ends all servers: what they see is no longer what a program would see that is started.
    pub(crate) fn clear(&mut self) {
        self.invocations.iter_mut().for_each(|known| known.servers.clear());
    }
}

impl FrameAgent {
    fn new(program: &Program, placement: &Placement) -> Result<FrameAgent, Unable> {
        let inside = Inside::new(program, placement.clone(), Arrivals::Asked)?;
        let numbered = program.leaders().iter().zip((0..).map(LeaderId));
        let entries = numbered.filter(|(leader, _)| leader.kind == LeaderKind::Entry);
        let entries: HashMap<LeaderId, &Leader> = entries.map(|(leader, entry)| (entry, leader)).collect();
        // Another detour than a jump needs a part of other code.
        let jumps = inside.detours.patches.iter();
        let jumps = jumps.filter(|patch| patch.leader.is_some_and(|leader| entries.contains_key(&leader)));
        let jumps: Vec<Patch> = jumps.cloned().collect();
        let mut jumping = placement.clone();
        jumping.patch(&jumps);
        let filled = Arc::new(jumps.iter().filter_map(|jump| jump.leader).collect());
        let code = |(&entry, leader): (&LeaderId, &&Leader)| {
            let start = placement.address(entry).0;
            start..start + u64::from(leader.movable).max(1)
        };
        let moved = entries.iter().map(code).collect();
        Ok(FrameAgent { inside, jumping, filled, moved })
    }

    /// Starts the program with the agent, and makes a server of it once it has come to its first statement.
    fn start(&mut self, stage: &Stage<'_>, conditions: &Conditions) -> Result<Option<Server>, Unable> {
        let FrameAgent { inside, jumping, .. } = self;
        inside.adopt(stage.program, conditions)?;
        let trace = Trace::default();
        let tape = Tape::new(&trace)?;
        let mut talk = inside.talk_to_server(&tape)?;
        talk.set_conditions(conditions);
        let files = inside.files(&talk, Some(&tape));
        let size = inside.size(&talk, Some(&tape));
        let (mut start, output) = stage.start(conditions, Attachments { files: &files, size })?;
        if inside.placement.changed_text(&start.tracee).is_some() {
            return Err(Unable::Unfit("its code in memory differs from the file".into()));
        }
        talk.set_stack(start.stack_base);
        inside.enter(stage.program, &mut start.tracee, &talk, Some(&tape))?;
        let Inside { placement, detours, .. } = inside;
        let mut position = ReplayPosition { talk: &talk, trace: &trace };
        let course = Course { conditions, placement, method: Method::Inside(detours) };
        let run = stage.run(&mut start, course, &mut position)?;
        match run.termination {
            Termination::Cut(Cut::Stopped) => {}
            // Only one that ends by itself shows that it will never get there.
            Termination::Cut(_) => return Ok(None),
            _ => return Err(Unable::Unfit("it does not reach its first statement".into())),
        }
        match conditions.poison {
            Poison::Off => jumping.disarm_all(&start.tracee),
            _ => jumping.arm_all(&start.tracee, None),
        }
        let terms = Terms::new(conditions, u32::MAX);
        Server::new(start.tracee, output, talk, (&trace, AgentMode::Free), terms).map(Some)
    }
}

impl KnownInvocation {
    fn new(invocation: &Invocation) -> KnownInvocation {
        let Invocation { arguments, environment, stdin, .. } = invocation.clone();
        KnownInvocation { arguments, environment, stdin, servers: Vec::new() }
    }

    fn is(&self, invocation: &Invocation) -> bool {
        self.arguments == invocation.arguments
            && self.environment == invocation.environment
            && self.stdin[..] == invocation.stdin[..]
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;
    use std::time::Duration;

    use super::*;
    use crate::address::FileAddress;
    use crate::intervention::{Alterations, Change, Intervention, NewValue, When};
    use crate::invocation::Limits;
    use crate::invocation::tests::limits;
    use crate::plain::Runner;
    use crate::program::{Granularity, ImageId, Scope};
    use crate::termination::ImagePlace;
    use crate::untouched::Untouched;

    /// Reads, opens, calls itself, leaves values undefined, and tells its numbers.
    const SOURCE: &str = r#"
#include <stdio.h>
#include <unistd.h>
static int depth(int n) { int local; if (n == 0) return local; return depth(n - 1) + 1; }
int main(void) {
    int sum = 0, a;
    while (scanf("%d", &a) == 1) { if (a > 2) sum += a; else sum -= 1; }
    char *fresh = __builtin_malloc(64);
    printf("%d %d %d %d\n", sum, depth(sum & 3), fresh[40], getpid());
    return sum > 5;
}
"#;

    #[test]
    fn a_fork_does_what_a_start_does_with_each_change_and_each_pattern() {
        let folder = tempfile::tempdir().expect("a folder");
        let (source, path) = (folder.path().join("a.c"), folder.path().join("a"));
        std::fs::write(&source, SOURCE).expect("written");
        let compiled = Command::new("cc").args(["-g", "-O0", "-o"]).args([&path, &source]).status();
        assert!(compiled.expect("a compiler").success());
        let program =
            Program::load(&path, &[], &Scope::default(), Granularity::Statement).expect("a program");
        let mut invocation = Invocation::new(path, folder.path().canonicalize().expect("there"));
        invocation.stdin = b"1 2 3 4 5".to_vec().into();
        let mut other = invocation.clone();
        other.stdin = b"7".to_vec().into();
        let limits =
            Limits { cpu: Duration::from_millis(100), tasks: 100, ..limits(Duration::from_secs(60)) };
        let mut forking = Runner::new(&program, &invocation).expect("a sandbox");
        let mut starting = Runner::new(&program, &invocation).expect("a sandbox");
        starting.start_all();
        let changes = changes(&program);
        assert!(changes.len() > 30, "{}", changes.len());
        let mut outputs = HashSet::new();
        for poison in [Poison::Off, Poison::Negative, Poison::Zero] {
            for (number, change) in changes.iter().enumerate() {
                let invocation = if number % 5 == 4 { &other } else { &invocation };
                let change = [*change];
                let alterations = Alterations { interventions: &change, poison, untouched: Untouched::NONE };
                let run = |runner: &mut Runner<'_>| {
                    let run = runner.run_changed(invocation, &alterations, &limits, &Arc::default());
                    let run = run.expect("a run");
                    (String::from_utf8_lossy(&run.stdout).into_owned(), format!("{:?}", run.termination))
                };
                let (forked, started) = (run(&mut forking), run(&mut starting));
                assert_eq!(forked, started, "{poison:?} {change:?}");
                outputs.insert(forked);
            }
        }
        assert!(outputs.len() > 20, "{}", outputs.len());
        assert!(forking.forked() > changes.len() && starting.forked() == 0);
    }

    /// Changes of all kinds at all statements.
    fn changes(program: &Program) -> Vec<Intervention> {
        let at = |address: FileAddress| ImagePlace { image: ImageId(0), address };
        let mut all = Vec::new();
        for (leader, number) in program.leaders().iter().zip((0..).map(LeaderId)) {
            if leader.kind.is_structural() {
                continue;
            }
            let mut add = |place, change| {
                for when in [When::Always, When::Execution(2)] {
                    all.push(Intervention { place, change, when });
                }
            };
            for jump in program.decisions(number) {
                add(at(jump), Change::Flip);
            }
            for store in program.stores(number) {
                add(at(store.address), Change::Write(store.kind, NewValue::Plus(1)));
            }
            if let Some(next) = program.behind(number) {
                add(at(leader.address), Change::Skip(at(program.leader(next).address)));
            }
        }
        all
    }
}
