//! A running `attache ui` and a browser that shows its page.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;

use serde_json::{Value, json};
use tempfile::TempDir;
use testing::eventually::eventually;

use testing::browser::Browser;

/// A Gateway estate with policies in every state, and two guardrails, one of them broken.
pub(super) const ESTATE: [&str; 2] = ["tests/commands/estate", "tests/browser/live/guardrails"];

pub(super) struct Live {
    browser: Browser,
    server: Child,
    /// The page without the token.
    origin: String,
    folder: TempDir,
}

impl Live {
    /// The page of a copy of these directories. `None` if there is no browser.
    pub(super) fn of(directories: &[&str]) -> Option<Self> {
        let folder = TempDir::new().unwrap();
        for directory in directories {
            let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join(directory);
            for file in fs::read_dir(&directory).unwrap() {
                let file = file.unwrap();
                fs::copy(file.path(), folder.path().join(file.file_name())).unwrap();
            }
        }
        Self::start(folder)
    }

    /// The page of these manifests.
    pub(super) fn of_manifests(text: &str) -> Option<Self> {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("manifests.yaml"), text).unwrap();
        Self::start(folder)
    }

    fn start(folder: TempDir) -> Option<Self> {
        let browser = Browser::start()?;
        let mut server = Command::new(env!("CARGO_BIN_EXE_attache"))
            .args(["ui", "--no-open", "--address", "127.0.0.1:0", "--from"])
            .arg(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(server.stdout.take().unwrap()).lines();
        let url = lines
            .find_map(|line| {
                let line = line.unwrap();
                let start = line.find("http://")?;
                Some(line[start..].split_whitespace().next()?.to_owned())
            })
            .expect("attache ui prints the address of its page");
        thread::spawn(move || lines.for_each(drop));
        browser.post("url", &json!({ "url": url }));
        let (origin, _) = url.split_once('?').expect("the address has a token");
        let live = Self {
            browser,
            server,
            origin: origin.to_owned(),
            folder,
        };
        eventually("the page is live", || live.has(".live.live"));
        Some(live)
    }

    /// Goes to a page by its address, as with a link that somebody sent.
    pub(super) fn open(&self, hash: &str) {
        self.run(&format!("location.hash = {}", json!(hash)));
    }

    /// Loads the page anew at an address, and waits until it has a heading, a form or a map.
    pub(super) fn load(&self, hash: &str) {
        self.browser.post("url", &json!({"url": "about:blank"}));
        self.browser
            .post("url", &json!({"url": format!("{}{hash}", self.origin)}));
        eventually("the page is drawn", || self.has("#main > *"));
    }

    /// A file of the directory that the page shows.
    pub(super) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Replaces a text in a file of the directory.
    pub(super) fn edit(&self, name: &str, from: &str, to: &str) {
        let text = fs::read_to_string(self.file(name)).unwrap();
        assert!(text.contains(from), "{name} has no {from}");
        fs::write(self.file(name), text.replacen(from, to, 1)).unwrap();
    }

    /// Light or dark, as the system wants it.
    pub(super) fn scheme(&self, scheme: &str) {
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.devtools("Emulation.setEmulatedMedia", &features);
    }

    /// Replaces the text of a field.
    pub(super) fn fill(&self, selector: &str, text: &str) {
        eventually("the field is there", || self.has(selector));
        let (selector, text) = (json!(selector), json!(text));
        self.run(&format!(
            "const field = document.querySelector({selector}); field.value = {text}; \
             field.dispatchEvent(new Event('input', {{ bubbles: true }}));"
        ));
    }

    /// `Ok` if the page contains these words.
    pub(super) fn says(&self, words: &str) -> Result<(), String> {
        let text = self.text("main");
        if text.contains(words) {
            Ok(())
        } else {
            Err(format!("no “{words}” in: {text}"))
        }
    }

    /// Waits until the page contains these words.
    pub(super) fn shows(&self, words: &str) {
        eventually("the page shows it", || self.says(words));
    }

    /// Waits until a script gives this value. An element that is not there yet is waited for.
    pub(super) fn becomes(&self, what: &str, script: &str, value: &Value) {
        let script =
            format!("try {{ {script} }} catch (error) {{ return `not yet: ${{error}}`; }}");
        eventually(what, || {
            let now = self.run(&script);
            (now == *value).then_some(()).ok_or_else(|| now.to_string())
        });
    }

    /// Stops the server.
    pub(super) fn stop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }

    /// Checks that the browser loaded only from the server and logged nothing.
    pub(super) fn is_quiet(&self) {
        assert_eq!(self.browser.log("browser"), Vec::<Value>::new());
        for entry in self.browser.log("performance") {
            let message: Value = serde_json::from_str(entry["message"].as_str().unwrap()).unwrap();
            let params = &message["message"]["params"];
            let is_ours = params["documentURL"]
                .as_str()
                .is_some_and(|url| url.starts_with("http"));
            if is_ours && message["message"]["method"] == "Network.requestWillBeSent" {
                let url = params["request"]["url"].as_str().unwrap();
                let is_own = [self.origin.as_str(), "blob:", "data:"]
                    .iter()
                    .any(|start| url.starts_with(start));
                assert!(is_own, "{url}");
            }
        }
    }
}

impl Deref for Live {
    type Target = Browser;

    fn deref(&self) -> &Browser {
        &self.browser
    }
}

impl Drop for Live {
    fn drop(&mut self) {
        self.stop();
    }
}
