//! A headless Chromium, spoken to over its debugging pipe.

use serde_json::{Value, json};
use std::{
    collections::VecDeque,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

/// A browser with one page.
pub struct Browser {
    process: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
    session: Option<String>,
    n_sent: u64,
    /// What the page complained about, and what it asked of others.
    complaints: Vec<String>,
    events: VecDeque<Value>,
    _profile: tempfile::TempDir,
}

impl Browser {
    /// Starts it with an empty page.
    pub fn start() -> Self {
        let profile = tempfile::tempdir().expect("temporary folder");
        // It reads commands from descriptor 3 and answers on 4.
        let mut process = Command::new("sh")
            .args(["-c", "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1", "sh"])
            .args(["chromium-headless-shell", "--remote-debugging-pipe", "--disable-gpu"])
            // It is shown nothing but our own page, and refuses to start as root otherwise.
            .arg("--no-sandbox")
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let commands = process.stdin.take().expect("piped");
        let answers = BufReader::new(process.stdout.take().expect("piped"));
        let mut browser = Self {
            process,
            commands,
            answers,
            session: None,
            n_sent: 0,
            complaints: Vec::new(),
            events: VecDeque::new(),
            _profile: profile,
        };
        let target = browser.ask("Target.createTarget", json!({"url": "about:blank"}));
        let attach = json!({"targetId": target["targetId"], "flatten": true});
        let session = browser.ask("Target.attachToTarget", attach);
        browser.session = session["sessionId"].as_str().map(String::from);
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.ask(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Opens a file and waits until it is loaded.
    pub fn open(&mut self, file: &Path) {
        let url = format!("file://{}", file.canonicalize().expect("the page exists").display());
        self.ask("Page.navigate", json!({"url": url}));
        loop {
            let event = self.events.pop_front().unwrap_or_else(|| self.read());
            if event["method"] == "Page.loadEventFired" {
                break;
            }
        }
    }

    /// The value of an expression in the page.
    pub fn value(&mut self, expression: &str) -> Value {
        let answer = self.ask("Runtime.evaluate", json!({"expression": expression, "returnByValue": true}));
        assert!(answer.get("exceptionDetails").is_none(), "`{expression}`: {answer}");
        answer["result"]["value"].clone()
    }

    /// Errors and warnings of the page so far, and everything but itself that it asked for.
    pub fn complaints(&mut self) -> Vec<String> {
        // An answer comes behind everything that was to be said before.
        self.value("0");
        std::mem::take(&mut self.complaints)
    }

    fn ask(&mut self, method: &str, parameters: Value) -> Value {
        self.n_sent += 1;
        let mut command = json!({"id": self.n_sent, "method": method, "params": parameters});
        if let Some(session) = &self.session {
            command["sessionId"] = json!(session);
        }
        let sent = self.commands.write_all(format!("{command}\0").as_bytes());
        sent.unwrap_or_else(|error| {
            panic!("no browser answers: {error}\n\nhint: `scripts/setup` installs chromium-headless-shell")
        });
        loop {
            let message = self.read();
            if message["id"] == self.n_sent {
                assert!(message.get("error").is_none(), "{method}: {message}");
                return message["result"].clone();
            }
            self.events.push_back(message);
        }
    }

    fn read(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.answers.read_until(0, &mut bytes).expect("the browser's pipe can be read");
        assert_eq!(
            bytes.pop(),
            Some(0),
            "the browser ended\n\nhint: `scripts/setup` installs chromium-headless-shell"
        );
        let message: Value = serde_json::from_slice(&bytes).expect("the browser speaks JSON");
        let parameters = &message["params"];
        match message["method"].as_str() {
            Some("Runtime.exceptionThrown" | "Runtime.consoleAPICalled" | "Log.entryAdded") => {
                self.complaints.push(parameters.to_string());
            }
            Some("Network.requestWillBeSent") if parameters["type"] != "Document" => {
                self.complaints.push(format!("it asks for {}", parameters["request"]["url"]));
            }
            Some("Page.javascriptDialogOpening") => self.complaints.push("it opens a dialog".into()),
            _ => {}
        }
        message
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
