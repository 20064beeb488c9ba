//! The page of a state in a browser, and user actions on it.

use std::ops::Deref;
use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};
use tempfile::TempDir;

use testing::browser::Browser;

/// Keys by their `WebDriver` names.
pub(crate) const TAB: &str = "\u{e004}";
pub(crate) const ENTER: &str = "\u{e007}";
pub(crate) const ESCAPE: &str = "\u{e00c}";
pub(crate) const LEFT: &str = "\u{e012}";

pub(crate) struct Page {
    browser: Browser,
    url: String,
    _folder: TempDir,
}

/// The manifests of a Gateway with many routes in many namespaces, some with their own policies.
pub(crate) fn many(namespaces: usize, routes: usize) -> String {
    let mut text = String::from(MANY);
    for i in 0..namespaces {
        for j in 0..routes {
            let (name, team) = (format!("route-{j}"), format!("team-{i}"));
            let route = ROUTE.replace("NAME", &name).replace("TEAM", &team);
            text.push_str(&route);
            if j == 0 {
                text.push_str(&POLICY.replace("NAME", &name).replace("TEAM", &team));
            }
        }
    }
    text
}

const MANY: &str = "
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: example}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: infra}
spec:
  gatewayClassName: example
  listeners:
  - {name: https, protocol: HTTPS, port: 443, hostname: '*.example.com', tls: {certificateRefs: [{name: edge}]}, allowedRoutes: {namespaces: {from: All}}}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata: {name: edge-traffic, namespace: infra}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: Gateway, name: edge}]
  retry: {numRetries: 2}
";
const ROUTE: &str = "---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: NAME, namespace: TEAM}
spec:
  hostnames: [NAME.example.com]
  parentRefs: [{name: edge, namespace: infra}]
  rules:
  - name: api
    matches: [{path: {type: Exact, value: /api}, method: GET}]
    backendRefs: [{name: NAME, port: 80}]
---
apiVersion: v1
kind: Service
metadata: {name: NAME, namespace: TEAM}
spec: {ports: [{port: 80}]}
";
const POLICY: &str = "---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: BackendTrafficPolicy
metadata: {name: own-traffic, namespace: TEAM}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: NAME}]
  timeout: {http: {requestTimeout: 3s}}
";

impl Page {
    /// Opens the page of a state, which is a directory or manifests. `None` if there is no browser.
    pub(crate) fn of(state: &str) -> Option<Self> {
        let browser = Browser::start()?;
        let folder = TempDir::new().unwrap();
        let manifests = folder.path().join("manifests.yaml");
        let state = if state.contains('\n') {
            std::fs::write(&manifests, state).unwrap();
            manifests.to_str().unwrap()
        } else {
            state
        };
        let ran = Command::new(env!("CARGO_BIN_EXE_attache"))
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .args(["graph", "-o", "html", "--from", state])
            .output()
            .unwrap();
        assert!(
            ran.status.success(),
            "{}",
            String::from_utf8_lossy(&ran.stderr)
        );
        let file: PathBuf = folder.path().join("graph.html");
        std::fs::write(&file, ran.stdout).unwrap();
        let url = format!("file://{}", file.display());
        browser.post("url", &json!({ "url": url }));
        Some(Self {
            browser,
            url,
            _folder: folder,
        })
    }

    /// Follows a link within the page.
    pub(crate) fn follow(&self, link: &str) {
        self.browser.post(
            "execute/sync",
            &json!({"script": "location.hash = arguments[0]", "args": [link]}),
        );
    }

    /// The names of the visible boxes, without those in closed namespaces.
    pub(crate) fn drawn(&self) -> Vec<String> {
        let names = self.run(
            "return [...document.querySelectorAll('#view .part:not(.section-row)')].map((e) => e.getAttribute('aria-label')).sort()",
        );
        let names = names.as_array().unwrap().iter();
        names
            .map(|name| name.as_str().unwrap().to_owned())
            .collect()
    }

    /// Turns the wheel above the centre of the picture.
    pub(crate) fn wheel(&self, by: i32) {
        let canvas = self.canvas();
        let scroll = json!([{"type": "scroll", "origin": canvas, "x": 0, "y": 0, "deltaX": 0, "deltaY": by}]);
        self.act(&json!({"type": "wheel", "id": "wheel", "actions": scroll}));
    }

    /// Drags the picture at an empty place.
    pub(crate) fn drag(&self, x: i32, y: i32) {
        let moves = json!([
            {"type": "pointerMove", "origin": self.canvas(), "x": 0, "y": 200},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerMove", "origin": "pointer", "x": x, "y": y},
            {"type": "pointerUp", "button": 0},
        ]);
        self.act(&json!({"type": "pointer", "id": "mouse", "actions": moves}));
    }

    fn canvas(&self) -> Value {
        self.browser.post(
            "element",
            &json!({"using": "css selector", "value": "#canvas"}),
        )
    }

    /// The position and scale in the picture's `transform`.
    pub(crate) fn view(&self) -> (f64, f64, f64) {
        let transform =
            self.run("return document.querySelector('#view').getAttribute('transform')");
        let numbers = transform
            .as_str()
            .unwrap()
            .split(|c: char| !"-.0123456789e".contains(c));
        let numbers: Vec<f64> = numbers.filter_map(|n| n.parse().ok()).collect();
        (numbers[0], numbers[1], numbers[2])
    }

    /// `Ok` if the picture has this scale.
    pub(crate) fn zoomed(&self, scale: f64) -> Result<(), String> {
        let (_, _, now) = self.view();
        if (now / scale - 1.0).abs() < 0.01 {
            Ok(())
        } else {
            Err(format!("{now}"))
        }
    }

    /// `Ok` if the panel is open and contains these words, ignoring white space.
    pub(crate) fn says(&self, words: &str) -> Result<(), String> {
        let text = self.run("const panel = document.querySelector('#panel'); return panel.hidden ? '' : panel.innerText");
        let text: Vec<&str> = text.as_str().unwrap().split_whitespace().collect();
        let text = text.join(" ");
        if text.contains(words) {
            Ok(())
        } else {
            Err(text)
        }
    }

    pub(crate) fn text(&self, selector: &str) -> String {
        let script = format!("return document.querySelector('{selector}').textContent");
        self.run(&script).as_str().unwrap().to_owned()
    }

    pub(crate) fn text_is(&self, selector: &str, text: &str) -> Result<(), String> {
        let now = self.text(selector);
        if now == text { Ok(()) } else { Err(now) }
    }

    /// Checks that the browser loaded only the file itself and logged nothing.
    pub(crate) fn is_quiet(&self) {
        assert_eq!(self.browser.log("browser"), Vec::<Value>::new());
        self.is_loaded_from_itself();
    }

    /// Checks that the browser loaded only the file itself and data that it created.
    pub(crate) fn is_loaded_from_itself(&self) {
        let mut asked = 0;
        for entry in self.browser.log("performance") {
            let message: Value = serde_json::from_str(entry["message"].as_str().unwrap()).unwrap();
            let params = &message["message"]["params"];
            // The browser's own start page loads its own resources.
            let is_ours = params["documentURL"] == self.url;
            let is_made = |url: &Value| url.as_str().is_some_and(|url| url.starts_with("blob:"));
            let is_request = message["message"]["method"] == "Network.requestWillBeSent";
            if is_ours && is_request && !is_made(&params["request"]["url"]) {
                assert_eq!(params["request"]["url"], self.url);
                asked += 1;
            }
        }
        assert_eq!(asked, 1, "the file itself is asked for");
    }
}

impl Deref for Page {
    type Target = Browser;

    fn deref(&self) -> &Browser {
        &self.browser
    }
}
