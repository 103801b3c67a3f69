//! Look at a page with headless Chromium, by the Chrome DevTools Protocol through a pipe.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// Nothing of the browser's own is to reach the network, the machine's screen or a profile.
const FLAGS: [&str; 11] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
];

/// How long it may take to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// A browser with one page.
pub struct Browser {
    process: Child,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    session: Option<String>,
    number: u64,
    profile: PathBuf,
    /// Errors and warnings of the console, and exceptions.
    pub complaints: Vec<String>,
}

impl Browser {
    /// Starts it with a fresh profile.
    pub fn start() -> Browser {
        let profile = super::scratch(&format!("browser-{:?}", std::thread::current().id()));
        // Chromium reads requests from descriptor 3 and answers on 4.
        let mut command = Command::new("sh");
        command.args(["-c", "exec \"$@\" 3<&0 4>&1 0</dev/null 1>&2", "sh", "chromium"]).args(FLAGS);
        command.arg(format!("--user-data-dir={}", profile.display()));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut process = command.spawn().expect("chromium can be started");
        let requests = process.stdin.take().expect("a pipe");
        let answers = BufReader::new(process.stdout.take().expect("a pipe"));
        let complaints = Vec::new();
        let mut browser =
            Browser { process, requests, answers, session: None, number: 0, profile, complaints };
        let target = browser.request("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let attached = browser.request("Target.attachToTarget", attach);
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page.enable", "Runtime.enable", "Log.enable"] {
            browser.request(domain, json!({}));
        }
        browser
    }

    /// Opens a file in a window of this width; `scheme` is `light` or `dark`.
    pub fn open(&mut self, file: &Path, width: u32, scheme: &str) {
        let size = json!({ "width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false });
        self.request("Emulation.setDeviceMetricsOverride", size);
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.request("Emulation.setEmulatedMedia", json!({ "features": features }));
        self.request("Page.navigate", json!({ "url": format!("file://{}", file.display()) }));
        self.wait_for(|message| message["method"] == "Page.loadEventFired");
    }

    /// Shows the page as it would be printed.
    pub fn show_on_paper(&mut self) {
        self.request("Emulation.setEmulatedMedia", json!({ "media": "print" }));
    }

    /// The value of an expression on the page.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let options = json!({ "expression": expression, "returnByValue": true });
        let answer = self.request("Runtime.evaluate", options);
        assert!(answer.get("exceptionDetails").is_none(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Presses and releases a key, such as `Tab` or `ArrowRight`.
    pub fn press(&mut self, key: &str) {
        let code = match key {
            "Tab" => 9,
            "Enter" => 13,
            " " => 32,
            "ArrowLeft" => 37,
            "ArrowUp" => 38,
            "ArrowRight" => 39,
            "ArrowDown" => 40,
            _ => panic!("no code for {key}"),
        };
        for kind in ["keyDown", "keyUp"] {
            let event = json!({ "type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code });
            self.request("Input.dispatchKeyEvent", event);
        }
    }

    /// Writes a picture of the whole page.
    pub fn picture(&mut self, file: &Path) {
        let options = json!({ "format": "png", "captureBeyondViewport": true });
        let answer = self.request("Page.captureScreenshot", options);
        let picture = decoded(answer["data"].as_str().expect("a picture"));
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        fs::write(file, picture).expect("written");
    }

    /// The page as a screen reader gets it.
    pub fn accessibility(&mut self) -> Vec<Value> {
        let tree = self.request("Accessibility.getFullAXTree", json!({}));
        tree["nodes"].as_array().expect("nodes").clone()
    }

    /// The page as PDF.
    pub fn printed(&mut self) -> Vec<u8> {
        let answer = self.request("Page.printToPDF", json!({ "printBackground": true }));
        decoded(answer["data"].as_str().expect("a document"))
    }

    fn request(&mut self, method: &str, parameters: Value) -> Value {
        self.number += 1;
        let mut request = json!({ "id": self.number, "method": method, "params": parameters });
        if let Some(session) = &self.session {
            request["sessionId"] = json!(session);
        }
        write!(self.requests, "{request}\0").expect("the browser reads");
        let number = self.number;
        let answer = self.wait_for(|message| message["id"] == number);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    fn wait_for(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            let mut bytes = Vec::new();
            self.answers.read_until(0, &mut bytes).expect("the browser answers");
            assert_eq!(bytes.pop(), Some(0), "the browser has ended");
            let message: Value = serde_json::from_slice(&bytes).expect("JSON");
            self.listen(&message);
            if is_it(&message) {
                return message;
            }
        }
    }

    fn listen(&mut self, message: &Value) {
        let is_complaint = match message["method"].as_str() {
            Some("Runtime.exceptionThrown" | "Log.entryAdded") => true,
            Some("Runtime.consoleAPICalled") => message["params"]["type"] != "log",
            _ => false,
        };
        if is_complaint {
            self.complaints.push(message["params"].to_string());
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // Only who ends by himself removes what he has in /tmp.
        let _ = write!(self.requests, "{}\0", json!({ "id": 0, "method": "Browser.close" }));
        let asked = Instant::now();
        while asked.elapsed() < PATIENCE && matches!(self.process.try_wait(), Ok(None)) {
            sleep(Duration::from_millis(10));
        }
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.profile);
    }
}

/// The bytes of a text in base64.
fn decoded(text: &str) -> Vec<u8> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |byte: u8| DIGITS.iter().position(|&digit| digit == byte);
    let digits: Vec<usize> = text.bytes().filter_map(digit).collect();
    let bytes = digits.chunks(4).flat_map(|four| {
        let bits = four.iter().fold(0, |bits, digit| bits << 6 | digit) << (6 * (4 - four.len()));
        (0..four.len() - 1).map(move |byte| (bits >> (16 - 8 * byte)) as u8)
    });
    bytes.collect()
}
