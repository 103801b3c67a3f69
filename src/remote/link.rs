//! Be a worker, as the search sees it: start it, ask it, hear what it says, notice that it is gone.

use std::fmt;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::messages::{AskDocument, TellDocument};
use super::parcel::Parcel;

/// The interval at which a worker sends its sign of life.
pub const BEAT: Duration = Duration::from_secs(3);
/// The timeout after which a silent worker counts as lost, with its machine or with the connection to it. No verdict
/// depends on it: another worker makes the test.
const SILENCE: Duration = Duration::from_secs(120);
/// The interval at which a waiting thread checks whether the answer is still wanted.
const GLANCE: Duration = Duration::from_millis(50);
/// The time that a worker has to end after it was told to.
const FAREWELL: Duration = Duration::from_secs(1);

/// A worker.
pub struct WorkerLink {
    number: usize,
    process: Child,
    /// Lines for it; `None` once it is to end.
    asked: Option<Sender<String>>,
    told: Receiver<TellDocument>,
    /// The last line that it, or its launcher, has said that is no answer.
    said: Arc<Mutex<String>>,
    last_id: u64,
    loss: Option<WorkerLoss>,
}

/// The loss of a worker, with its reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("worker {number} is lost: {why}")]
pub struct WorkerLoss {
    /// The number of the worker, from 1.
    pub number: usize,
    /// The reason, in words.
    pub why: String,
}

/// Why a worker cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum HandOverError {
    /// It is gone.
    #[error(transparent)]
    Lost(#[from] WorkerLoss),
    /// It says why it cannot.
    #[error("worker {0} is refused: {1}")]
    Refused(usize, String),
    /// A file that is to be handed to it cannot be read.
    #[error("what workers are handed cannot be read: {0}; try again")]
    Files(#[from] io::Error),
    /// The user does not want to wait any more.
    #[error("interrupted")]
    Interrupted,
}

impl WorkerLink {
    /// Has the shell start a worker.
    ///
    /// # Errors
    /// If there is no room for a process.
    pub fn start(number: usize, command: &str) -> io::Result<WorkerLink> {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", command]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Ctrl-C on the terminal is for the search, which then tells its workers.
        let mut process = shell.process_group(0).spawn()?;
        let said = Arc::new(Mutex::new(String::new()));
        let (asked, lines) = channel::<String>();
        let (tell, told) = channel();
        if let Some(stdin) = process.stdin.take() {
            // On a thread, so that nobody waits for a worker that does not read.
            on_thread(number, move || write_lines(stdin, &lines))?;
        }
        if let Some(stdout) = process.stdout.take() {
            let said = Arc::clone(&said);
            let hear = move |line: &str| match TellDocument::parse(line) {
                // Nobody listens any more: nobody wants to know.
                Some(document) => drop(tell.send(document)),
                None => note(&said, line),
            };
            on_thread(number, move || each_line(stdout, hear))?;
        }
        if let Some(stderr) = process.stderr.take() {
            let said = Arc::clone(&said);
            on_thread(number, move || each_line(stderr, |line| note(&said, line)))?;
        }
        Ok(WorkerLink { number, process, asked: Some(asked), told, said, last_id: 0, loss: None })
    }

    /// Its number, from 1.
    pub fn number(&self) -> usize {
        self.number
    }

    /// The loss of the worker, if it is lost.
    pub fn loss(&self) -> Option<&WorkerLoss> {
        self.loss.as_ref()
    }

    /// Ends it, and remembers why.
    pub fn give_up(&mut self, why: impl Into<String>) -> WorkerLoss {
        let loss = WorkerLoss { number: self.number, why: why.into() };
        self.loss.get_or_insert(loss).clone()
    }

    /// A number for its next test.
    pub fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// Asks it something.
    ///
    /// # Errors
    /// If it is gone.
    pub fn ask(&mut self, document: &AskDocument) -> Result<(), WorkerLoss> {
        if let Some(loss) = &self.loss {
            return Err(loss.clone());
        }
        let is_sent = self.asked.as_ref().is_some_and(|asked| asked.send(document.line()).is_ok());
        if is_sent { Ok(()) } else { Err(self.ended()) }
    }

    /// Waits for the worker's next message; `None` once `is_over` says so.
    ///
    /// # Errors
    /// If it is gone, or says nothing for too long.
    pub fn hear(&mut self, is_over: impl Fn() -> bool) -> Result<Option<TellDocument>, WorkerLoss> {
        self.hear_within(Some(SILENCE), is_over)
    }

    fn hear_within(
        &mut self,
        silence: Option<Duration>,
        is_over: impl Fn() -> bool,
    ) -> Result<Option<TellDocument>, WorkerLoss> {
        let mut heard = Instant::now();
        loop {
            match self.told.recv_timeout(GLANCE) {
                Ok(TellDocument::Alive) => heard = Instant::now(),
                Ok(told) => return Ok(Some(told)),
                Err(RecvTimeoutError::Disconnected) => return Err(self.ended()),
                Err(RecvTimeoutError::Timeout) if is_over() => return Ok(None),
                Err(RecvTimeoutError::Timeout) if silence.is_some_and(|most| heard.elapsed() > most) => {
                    return Err(self.give_up(format!("it has said nothing for {} s", SILENCE.as_secs())));
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }

    fn ended(&mut self) -> WorkerLoss {
        let status = self.process.try_wait().ok().flatten();
        let how = status
            .map_or_else(|| "it has closed its output".into(), |status| format!("it has ended ({status})"));
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner).clone();
        self.give_up(if said.is_empty() { how } else { format!("{how}: {said}") })
    }

    /// Hands the run over; tells how well the worker's runs are contained. Until a launcher has found room for it, a
    /// worker may take any time to begin.
    ///
    /// # Errors
    /// If it is gone, or refuses.
    pub fn hand_over(
        &mut self,
        parcel: &Parcel,
        is_over: impl Fn() -> bool,
    ) -> Result<String, HandOverError> {
        let version = env!("CARGO_PKG_VERSION").into();
        self.ask(&AskDocument::Begin { version, files: parcel.files() })?;
        let wanted = match self.hear_within(None, &is_over)? {
            Some(TellDocument::Wanted { hashes }) => hashes,
            other => return Err(self.refusal(other)),
        };
        parcel.send(&wanted, |part| self.ask(part).map_err(HandOverError::from))?;
        self.ask(&AskDocument::Open)?;
        match self.hear(is_over)? {
            Some(TellDocument::Ready { containment }) => Ok(containment),
            other => Err(self.refusal(other)),
        }
    }

    fn refusal(&mut self, told: Option<TellDocument>) -> HandOverError {
        let why = match told {
            None => return HandOverError::Interrupted,
            Some(TellDocument::Refused { why }) => why,
            Some(_) => "it does not answer what it is asked; is it stripe?".into(),
        };
        self.give_up(&*why);
        HandOverError::Refused(self.number, why)
    }
}

impl Drop for WorkerLink {
    /// Its input ends, and with that the worker. One that does not notice is killed.
    fn drop(&mut self) {
        self.asked = None;
        let until = Instant::now() + FAREWELL;
        while Instant::now() < until {
            if !matches!(self.process.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(Duration::from_millis(5));
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl fmt::Debug for WorkerLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WorkerLink")
            .field("number", &self.number)
            .field("loss", &self.loss)
            .finish_non_exhaustive()
    }
}

fn on_thread(worker: usize, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(format!("worker {worker}")).spawn(work).map(drop)
}

fn write_lines(mut to: impl Write, lines: &Receiver<String>) {
    while let Ok(line) = lines.recv() {
        if to.write_all(line.as_bytes()).and_then(|()| to.flush()).is_err() {
            return;
        }
    }
}

fn each_line(from: impl io::Read, mut each: impl FnMut(&str)) {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    while from.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
        each(String::from_utf8_lossy(&line).trim_end());
        line.clear();
    }
}

fn note(said: &Mutex<String>, line: &str) {
    if !line.trim().is_empty() {
        *said.lock().unwrap_or_else(PoisonError::into_inner) = line.to_owned();
    }
}
