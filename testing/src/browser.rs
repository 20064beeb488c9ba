//! A browser behind its driver: the part of the `WebDriver` protocol that the tests need.

use std::env;
use std::io::{BufRead as _, BufReader, Read as _, Write as _, stderr};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::eventually::eventually;

/// The timeout of a request to a busy browser on a slow machine.
const PATIENCE: Duration = Duration::from_mins(2);
/// Headless, and without requests to its vendor.
const ARGUMENTS: [&str; 9] = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1300,800",
];

/// A headless browser. It ends when this is dropped.
#[derive(Debug)]
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    profile: TempDir,
}

impl Browser {
    /// Starts a browser. `None` if the machine has none.
    pub fn start() -> Option<Self> {
        let chromium = ["chromium", "chromium-browser", "google-chrome"]
            .into_iter()
            .find_map(program_path);
        let (Some(chromium), Some(program)) = (chromium, program_path("chromedriver")) else {
            let required = env::var("ATTACHE_REQUIRE_BROWSER").is_ok_and(|value| value == "1");
            assert!(
                !required,
                "neither chromium nor chromedriver may be missing"
            );
            say_skipped();
            return None;
        };
        let profile = TempDir::new().unwrap();
        let mut driver = Command::new(program)
            .arg("--port=0")
            .env("HOME", profile.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let port = lines
            .find_map(|line| {
                let line = line.unwrap();
                let (_, port) = line.split_once("started successfully on port ")?;
                port.trim_end_matches('.').parse().ok()
            })
            .expect("the driver says its port");
        // The driver's output must be read, or it blocks.
        thread::spawn(move || lines.for_each(drop));
        let mut browser = Self {
            driver,
            port,
            session: String::new(),
            profile,
        };
        let data = format!("--user-data-dir={}", browser.profile.path().display());
        let arguments: Vec<&str> = ARGUMENTS.into_iter().chain([data.as_str()]).collect();
        let wanted = json!({"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"args": arguments, "binary": chromium},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
        }}});
        let session = browser.send("POST", "/session", &wanted);
        session["sessionId"]
            .as_str()
            .unwrap()
            .clone_into(&mut browser.session);
        Some(browser)
    }

    /// Sends a command to the session.
    pub fn post(&self, path: &str, body: &Value) -> Value {
        self.send("POST", &format!("/session/{}/{path}", self.session), body)
    }

    /// Runs a script in the page and returns its result.
    pub fn run(&self, script: &str) -> Value {
        self.post("execute/sync", &json!({"script": script, "args": []}))
    }

    /// Runs a script that calls its last argument when it is done.
    pub fn run_later(&self, script: &str) -> Value {
        self.post("execute/async", &json!({"script": script, "args": []}))
    }

    pub fn devtools(&self, command: &str, params: &Value) {
        let body = json!({"cmd": command, "params": params});
        self.post("goog/cdp/execute", &body);
    }

    pub fn click(&self, selector: &str) {
        let element = self.element(selector);
        self.post(&format!("element/{element}/click"), &json!({}));
    }

    /// Types into an element.
    pub fn keys(&self, selector: &str, keys: &str) {
        let element = self.element(selector);
        self.post(&format!("element/{element}/value"), &json!({"text": keys}));
    }

    /// Presses keys one after another, wherever the focus is.
    pub fn press(&self, keys: &[&str]) {
        let actions: Vec<Value> = keys
            .iter()
            .flat_map(|key| {
                [
                    json!({"type": "keyDown", "value": key}),
                    json!({"type": "keyUp", "value": key}),
                ]
            })
            .collect();
        self.act(&json!({"type": "key", "id": "keys", "actions": actions}));
    }

    /// Performs the actions of one input device.
    pub fn act(&self, source: &Value) {
        self.post("actions", &json!({"actions": [source]}));
    }

    /// `Ok` if the page has an element.
    pub fn has(&self, selector: &str) -> Result<(), String> {
        let script = format!(
            "return document.querySelector({}) !== null",
            json!(selector)
        );
        let is_there = self.run(&script) == json!(true);
        is_there
            .then_some(())
            .ok_or_else(|| format!("no {selector} in: {}", self.text("body")))
    }

    /// The text of an element, with single spaces.
    pub fn text(&self, selector: &str) -> String {
        let script = format!(
            "return document.querySelector({})?.innerText ?? ''",
            json!(selector)
        );
        let text = self.run(&script);
        let words: Vec<&str> = text.as_str().unwrap().split_whitespace().collect();
        words.join(" ")
    }

    fn element(&self, selector: &str) -> String {
        eventually("the element is there", || self.has(selector));
        let query = json!({"using": "css selector", "value": selector});
        let answer = self.post("element", &query);
        let (_, id) = answer.as_object().unwrap().iter().next().unwrap();
        id.as_str().unwrap().to_owned()
    }

    /// The log entries since the last call.
    pub fn log(&self, kind: &str) -> Vec<Value> {
        let entries = self.post("se/log", &json!({ "type": kind }));
        entries.as_array().unwrap().clone()
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> Value {
        let answer = self
            .answer(method, path, body)
            .unwrap_or_else(|e| panic!("{path}: {e}"));
        assert!(answer["value"].get("error").is_none(), "{path}: {answer:#}");
        answer["value"].clone()
    }

    fn answer(&self, method: &str, path: &str, body: &Value) -> std::io::Result<Value> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let body = body.to_string();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            self.port,
            body.len()
        )?;
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().unwrap();
            } else if line.trim().is_empty() {
                break;
            }
        }
        let mut answer = vec![0; length];
        reader.read_exact(&mut answer)?;
        Ok(serde_json::from_slice(&answer)?)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            // Ends the session, whatever the result of the test, which closes the browser.
            let _ = self.answer("DELETE", &format!("/session/{}", self.session), &json!({}));
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

fn program_path(program: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let mut places = env::split_paths(&path).map(|folder| folder.join(program));
    places.find(|place| place.is_file())
}

/// Writes to stderr directly, since the test runner would capture other output.
fn say_skipped() {
    let test = thread::current().name().unwrap_or("a test").to_owned();
    let why = "no Chromium with its driver, so there is no browser to test in";
    let _ = writeln!(stderr(), "SKIPPED: {test}: {why}");
}
