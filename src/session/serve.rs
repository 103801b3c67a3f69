//! Be a worker: take a recorded run, and make its tests for a search that goes on elsewhere.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use tracer::Tracer;
use tracer::schedule::Schedule;

use super::case::Case;
use super::error::{Cause, SessionError};
use super::interrupt::Interrupt;
use super::questions::NamedCriterion;
use super::reopened::Reopened;
use crate::archive::RunFolder;
use crate::circumstances::PhaseId;
use crate::circumstances::events::{self, EventTest, EventTestSetup, Universe};
use crate::printed::Outputs;
use crate::remote::link::BEAT;
use crate::remote::messages::{
    AskDocument, EvidenceDocument, HandedFile, TellDocument, configuration, decoded,
};
use crate::remote::store::{Store, lay_out};
use dd::{Cancellation, Outcome, Test};

/// The channel for replies to the asking session; another thread sends a sign of life from time to time.
struct Replies<W>(Arc<Mutex<W>>);

/// The test that is made now, for whoever is told that nobody wants it any more.
#[derive(Clone, Default)]
struct Current {
    /// All tests up to this one are cancelled.
    cancelled: Arc<AtomicU64>,
    test: Arc<Mutex<(u64, Cancellation)>>,
}

/// A test that is asked for.
struct WantedTest {
    id: u64,
    criterion: Option<String>,
    phase: PhaseId,
    of: usize,
    chosen: String,
}

/// Replies until there are no more questions.
///
/// # Errors
/// If there is no room for threads, or for what is handed over.
pub fn serve<W: Write + Send + 'static>(
    input: impl Read + Send + 'static,
    output: W,
    words: fn(&tracer::Containment) -> String,
) -> Result<(), SessionError> {
    let failed = SessionError::of::<std::io::Error>(Cause::Failed);
    let (current, output) = (Current::default(), Arc::new(Mutex::new(output)));
    let asked = listen(input, current.clone()).map_err(&failed)?;
    let replies = Replies(Arc::clone(&output));
    thread::Builder::new().name("beat".into()).spawn(move || beat(&Replies(output))).map_err(&failed)?;
    let Some(files) = begin(&asked, &replies)? else { return Ok(()) };
    let place = tempfile::tempdir().map_err(&failed)?;
    let refused = |error: SessionError| replies.tell(&TellDocument::Refused { why: error.message });
    let reopened = match open(&files, place.path().join("run")) {
        Ok(reopened) => reopened,
        Err(error) => {
            refused(error);
            return Ok(());
        }
    };
    let worker = TestMaker { reopened: &reopened, asked: &asked, replies: &replies, current: &current };
    match worker.ready() {
        Ok((mut tracer, containment)) => {
            replies.tell(&TellDocument::Ready { containment: words(&containment) });
            worker.make_all(&mut tracer);
        }
        Err(error) => refused(error),
    }
    Ok(())
}

impl<W: Write> Replies<W> {
    /// Nobody can be told that the other side is gone; the questions end as well.
    fn tell(&self, document: &TellDocument) {
        let mut output = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let _ = output.write_all(document.line().as_bytes()).and_then(|()| output.flush());
    }
}

fn beat<W: Write>(replies: &Replies<W>) {
    loop {
        thread::sleep(BEAT);
        replies.tell(&TellDocument::Alive);
    }
}

/// Reads on a thread, so that a test can be cancelled while it is made. At the end it is cancelled, too.
fn listen(input: impl Read + Send + 'static, current: Current) -> std::io::Result<Receiver<AskDocument>> {
    let (ask, asked) = channel();
    let read = move || {
        for line in BufReader::new(input).lines() {
            let Some(document) = line.ok().and_then(|line| AskDocument::parse(&line)) else { break };
            match document {
                AskDocument::Cancel { id } => current.cancel_up_to(id),
                document => drop(ask.send(document)),
            }
        }
        current.cancel_up_to(u64::MAX);
    };
    thread::Builder::new().name("questions".into()).spawn(read)?;
    Ok(asked)
}

impl Current {
    fn cancel_up_to(&self, id: u64) {
        self.cancelled.fetch_max(id, Ordering::SeqCst);
        let test = self.test.lock().unwrap_or_else(PoisonError::into_inner);
        if test.0 <= id {
            test.1.flag().store(true, Ordering::Relaxed);
        }
    }

    /// True once there are no more questions: then the current test is cancelled, whoever waits for it.
    fn is_over(&self) -> bool {
        self.cancelled.load(Ordering::SeqCst) == u64::MAX
    }

    fn begin(&self, id: u64) -> Cancellation {
        let cancellation = Cancellation::default();
        *self.test.lock().unwrap_or_else(PoisonError::into_inner) = (id, cancellation.clone());
        if self.cancelled.load(Ordering::SeqCst) >= id {
            cancellation.flag().store(true, Ordering::Relaxed);
        }
        cancellation
    }
}

/// Takes what is handed over; `None` if the other side is gone, or is another stripe.
fn begin<W: Write>(
    asked: &Receiver<AskDocument>,
    replies: &Replies<W>,
) -> Result<Option<Vec<(HandedFile, PathBuf)>>, SessionError> {
    let refuse = |why: String| {
        replies.tell(&TellDocument::Refused { why });
        Ok(None)
    };
    let failed = |error: std::io::Error| format!("what is handed over cannot be kept: {error}: make room");
    let files = match asked.recv() {
        Ok(AskDocument::Begin { version, files }) if version == env!("CARGO_PKG_VERSION") => files,
        Ok(AskDocument::Begin { version, .. }) => {
            let here = env!("CARGO_PKG_VERSION");
            return refuse(format!(
                "it is stripe {here}, and the search is made by {version}: install the same"
            ));
        }
        _ => return Ok(None),
    };
    let mut store = match Store::of_user() {
        Ok(store) => store,
        Err(error) => return refuse(failed(error)),
    };
    let missing = files.iter().filter(|file| store.find(file).is_none());
    replies.tell(&TellDocument::Wanted { hashes: missing.map(|file| file.hash.clone()).collect() });
    loop {
        match asked.recv() {
            Ok(AskDocument::File { hash, data, last }) => {
                let taken = decoded(&data)
                    .ok_or_else(|| std::io::Error::other("a part of a file is no base64"))
                    .and_then(|part| store.take(&hash, &part, last));
                if let Err(error) = taken {
                    return refuse(failed(error));
                }
            }
            Ok(AskDocument::Open) => break,
            _ => return Ok(None),
        }
    }
    let found = files.into_iter().map(|file| store.find(&file).map(|path| (file, path)));
    match found.collect::<Option<Vec<_>>>() {
        Some(found) => Ok(Some(found)),
        None => refuse("a file that was handed over is gone: start the search again".into()),
    }
}

/// Loads the run, where everything is as it was recorded.
fn open(files: &[(HandedFile, PathBuf)], place: PathBuf) -> Result<Reopened, SessionError> {
    let failed = SessionError::of::<std::io::Error>(Cause::Failed);
    std::fs::create_dir(&place).map_err(&failed)?;
    lay_out(files, &place).map_err(&failed)?;
    let program = files.iter().find(|(file, _)| file.name.is_empty()).map(|(_, path)| path.as_path());
    let reopened = Reopened::of(RunFolder::at(&place), program, &Interrupt::default())?;
    let directory = &reopened.run.invocation.directory;
    if !directory.is_dir() {
        let message = format!("the working directory {} is not there: mount it", directory.display());
        return Err(SessionError::new(Cause::Failed, message));
    }
    match reopened.run.surroundings.difference() {
        None => Ok(reopened),
        Some(how) => {
            let message = format!("{how}: take machines of one kind");
            Err(SessionError::new(Cause::Failed, message))
        }
    }
}

/// Makes tests of a recorded run.
struct TestMaker<'m, W> {
    reopened: &'m Reopened,
    asked: &'m Receiver<AskDocument>,
    replies: &'m Replies<W>,
    current: &'m Current,
}

impl<'m, W: Write> TestMaker<'m, W> {
    /// Replays the whole run: it has to show the failure here as well, for each question.
    fn ready(&self) -> Result<(Tracer<'m>, tracer::Containment), SessionError> {
        let Reopened { target, run, questions, .. } = self.reopened;
        let mut tracer = Tracer::new(&target.program, &target.invocation, run.search.preference)?;
        let subject = self.reopened.subject();
        let trace = subject.recorded().trace;
        for question in questions {
            let runs = AtomicU64::new(0);
            let case = Case { subject, question, memo: None, guess: None };
            let setup = case.setup(&runs);
            for rule in subject.plan.control.rules().take(1) {
                let universe = Universe::new(&target.program, trace, rule);
                let mut test = EventTest::new(&setup, &universe, &mut tracer);
                let (_, shown) = test.examine(&Schedule::everything(trace, rule))?;
                if shown.outcome != Outcome::Fail {
                    let message =
                        format!("a full replay of the recorded run does not show the failure: {}", shown.why);
                    return Err(SessionError::new(Cause::Failed, message));
                }
            }
        }
        let containment = tracer.containment();
        Ok((tracer, containment))
    }

    fn next(&self) -> Option<WantedTest> {
        match self.asked.recv() {
            Ok(AskDocument::Test { id, criterion, phase, of, chosen }) => {
                let phase = PhaseId(u8::try_from(phase).unwrap_or_default());
                Some(WantedTest { id, criterion, phase, of, chosen })
            }
            _ => None,
        }
    }

    fn broken(&self, id: u64, why: impl ToString) {
        self.replies.tell(&TellDocument::Broken { id, why: why.to_string() });
    }

    /// Makes tests until no more are asked for: those of a phase of a question one after the other.
    fn make_all(&self, tracer: &mut Tracer<'_>) {
        let mut next = self.next();
        while let Some(wanted) = next.take() {
            let questions = &self.reopened.questions;
            let Some(question) = questions.iter().find(|question| question.name == wanted.criterion) else {
                return self.broken(wanted.id, "the worker does not know this criterion");
            };
            next = self.make_phase(wanted, question, tracer);
        }
    }

    /// Hands back the first test that is none of this phase of this question.
    fn make_phase(
        &self,
        first: WantedTest,
        question: &NamedCriterion,
        tracer: &mut Tracer<'_>,
    ) -> Option<WantedTest> {
        let subject = self.reopened.subject();
        let (runs, phase) = (AtomicU64::new(0), first.phase);
        let recorded = subject.recorded();
        let universe = Universe::new(recorded.program, recorded.trace, events::rule(phase));
        let case = Case { subject, question, memo: None, guess: None };
        let outputs = Outputs::new(&subject.baseline.recording.run);
        let setup = EventTestSetup { outputs: Some(&outputs), ..case.setup(&runs) };
        let mut test = EventTest::new(&setup, &universe, tracer);
        let mut wanted = first;
        loop {
            self.make(&wanted, &mut test, &runs);
            let next = self.next()?;
            if next.phase != phase || next.criterion != question.name {
                return Some(next);
            }
            wanted = next;
        }
    }

    fn make(&self, wanted: &WantedTest, test: &mut EventTest<'_, '_, '_>, runs: &AtomicU64) {
        let id = wanted.id;
        let Some(configuration) =
            configuration(&wanted.chosen, wanted.of).filter(|_| wanted.of == test.circumstances())
        else {
            return self.broken(id, "the worker counts other circumstances than the search");
        };
        let (before, cancellation) = (runs.load(Ordering::Relaxed), self.current.begin(id));
        let tested = test.test(&configuration, &cancellation);
        // The run was ended because the search is gone, or may have been: its outcome is none.
        if self.current.is_over() {
            return;
        }
        match tested {
            Ok((_, shown)) => {
                let runs = runs.load(Ordering::Relaxed) - before;
                self.replies.tell(&TellDocument::Tested { id, shown: EvidenceDocument::of(&shown), runs });
            }
            Err(error) => self.broken(id, error),
        }
    }
}
