//! What changed runs cost, as `stripe locate` makes them.

use std::fs;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use stripe::baseline::recording_limits;
use stripe::locate::{Candidate, Granule, ValueChoice, candidates};
use stripe::subject::Recorded;
use tracer::intervention::Alterations;
use tracer::invocation::Limits;
use tracer::plain::Runner;
use tracer::poison::Poison;
use tracer::termination::Termination;
use tracer::{Preference, Tracer};

use super::{Bench, Start, Subject, Table, batch, by_turns, conditions, per};

/// One changed run of the sample against one test of a reduction; and whole sets of changes.
pub(super) fn interventions(table: &mut Table) {
    on_the_sample(table);
    let oniguruma = Subject::corpus("oniguruma-greedy");
    let (events, _) = recorded(&oniguruma);
    table.section("changed runs, on all processors", "the time that they may take");
    let (seconds, made) = located(&oniguruma, 1000);
    let note = format!("{made} changes in {seconds:.2} s");
    table.ratio(&format!("{events} events, 1,000 changes"), seconds / 2.0, Some(1.0), &note);
    let lua = Subject::corpus("lua-median");
    let (events, statements) = recorded(&lua);
    let (seconds, made) = located(&lua, statements);
    let note = format!("{made} changes in {seconds:.1} s");
    let what = format!("Lua, {} thousand events, all statements", events / 1000);
    table.ratio(&what, seconds / 60.0, Some(1.0), &note);
}

fn on_the_sample(table: &mut Table) {
    const ROUNDS: usize = 41;
    let sample = Subject::sample();
    let jumping = Bench::by(&sample, Preference::Jump);
    let invocation = sample.invocation();
    let limits = Limits { cpu: Duration::from_millis(20), ..recording_limits() };
    let mut runner = Runner::new(&sample.program, &invocation).expect("a sandbox");
    let mut run = |change: &Candidate| {
        let changes = [change.intervention];
        let run = runner.run_changed(&invocation, &Alterations::of(&changes), &limits, &Arc::default());
        run.expect("a run")
    };
    let mut all = changes_of_statements(&sample);
    // What does not end costs the limit.
    all.retain(|change| matches!(run(change).termination, Termination::Exited(_)));
    let count = all.len();
    let mut next = all.iter().cycle();
    let [tested, changed, started] = by_turns(
        ROUNDS,
        [
            &mut || batch(count, || jumping.replay(Poison::Negative)),
            &mut || batch(count, || run(next.next().expect("there are some"))),
            &mut || batch(count, || sample.start(Start::Spawn)),
        ],
    );
    table.section("one changed run of the sample", "one test of it by jumps");
    table.ratio("a change of a statement", changed / tested, Some(1.5), &per("test", changed, tested));
    table.ratio("the same, against vfork + exec", changed / started, None, &format!("{count} changes"));
}

fn changes_of_statements(subject: &Subject) -> Vec<Candidate> {
    let mut tracer =
        Tracer::new(&subject.program, &subject.invocation(), Preference::Auto).expect("a tracer");
    let recording = tracer.record(&conditions(Poison::Off)).expect("a recording");
    let recorded = Recorded { program: &subject.program, trace: &recording.trace };
    let mut all = candidates(recorded, ValueChoice::None);
    all.retain(|change| change.granule == Granule::Statement);
    all
}

/// The number of events of a run, and of changes of its statements.
fn recorded(subject: &Subject) -> (usize, usize) {
    let mut tracer =
        Tracer::new(&subject.program, &subject.invocation(), Preference::Auto).expect("a tracer");
    let events = tracer.record(&conditions(Poison::Off)).expect("a recording").trace.len();
    (events, changes_of_statements(subject).len())
}

/// The seconds that `stripe locate` takes for so many changes, and how many it has made.
fn located(subject: &Subject, most: usize) -> (f64, u64) {
    let reference = subject.folder.join("reference");
    fs::write(&reference, "something else\n").expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_stripe"));
    command.arg("locate").arg(&subject.path).arg("--stdin").arg(&subject.stdin).arg("--reference");
    command.arg(&reference).args(["--max-tests", &most.to_string(), "--clear-env", "--format", "json", "-q"]);
    command.args(["--no-save", "--"]).args(&subject.arguments).current_dir(&subject.folder);
    let output = command.output().expect("stripe can be started");
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a document");
    (found["seconds"].as_f64().expect("a time"), found["runs"]["total"].as_u64().expect("a count"))
}
