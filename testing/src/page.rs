//! `attache ui` as a separate process, and a client of it.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::http::request::Builder;
use hyper::{HeaderMap, Request, Response};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::client::LONG;
use crate::program;

/// A page that is served; killed at the end of the test.
pub struct Page {
    child: Option<Child>,
    /// The beginning of its paths: the empty text, or `/ui`.
    prefix: &'static str,
    /// The URL that it has printed.
    pub url: String,
    pub address: SocketAddr,
    pub token: String,
}

/// An answer.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: String,
}

/// A stream of events.
pub struct Events {
    body: Incoming,
    read: String,
}

// === impl Page ===

impl Page {
    /// Opens the page of a directory.
    pub fn of(directory: &Path) -> Self {
        Self::open(
            Command::new(program())
                .arg("ui")
                .arg("--from")
                .arg(directory),
        )
    }

    /// Starts a command `attache ui` and waits for its URL.
    pub fn open(command: &mut Command) -> Self {
        let mut child = command
            .arg("--no-open")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut url = String::new();
        let mut stdout = BufReader::new(child.stdout.take().unwrap());
        stdout.read_line(&mut url).unwrap();
        let url = url.trim().to_owned();
        let (address, token) = url
            .strip_prefix("http://")
            .and_then(|after_scheme| after_scheme.split_once("/?token="))
            .unwrap_or_else(|| panic!("no URL: {url:?}"));
        Self {
            child: Some(child),
            prefix: "",
            address: address.parse().unwrap(),
            token: token.to_owned(),
            url,
        }
    }

    /// The page of `attache serve --ui`, for the user with a token.
    pub fn in_cluster(admin: SocketAddr, token: &str) -> Self {
        Self {
            child: None,
            prefix: "/ui",
            url: format!("http://{admin}/ui/"),
            address: admin,
            token: token.to_owned(),
        }
    }

    /// A request with the right `Host` and without a token.
    pub fn request(&self, method: &str, path: &str) -> Builder {
        Request::builder()
            .method(method)
            .uri(path)
            .header("host", self.address.to_string())
    }

    /// A request of the user as an ingress forwards it, which has another host.
    pub fn by_ingress(&self, method: &str, path: &str) -> Builder {
        Request::builder()
            .method(method)
            .uri(path)
            .header("host", "attache.example.com")
            .header("x-forwarded-host", "attache.example.com")
            .header("x-forwarded-proto", "https")
            .header("authorization", format!("Bearer {}", self.token))
    }

    /// A request of the user.
    pub fn own(&self, method: &str, path: &str) -> Builder {
        self.request(method, path)
            .header("authorization", format!("Bearer {}", self.token))
    }

    /// Sends a request.
    pub async fn send(&self, request: Builder, body: impl Into<Bytes>) -> Answer {
        let answer = self.begin(request, body.into()).await;
        let (head, body) = answer.into_parts();
        let body = timeout(LONG, body.collect()).await.expect("an answer");
        let body = body.expect("a whole answer").to_bytes();
        Answer {
            status: head.status.as_u16(),
            headers: head.headers,
            body: String::from_utf8_lossy(&body).into_owned(),
        }
    }

    /// GET as the user.
    pub async fn get(&self, path: &str) -> Answer {
        self.send(self.own("GET", path), "").await
    }

    /// The data of a path below `api/`, which must be there.
    pub async fn data(&self, path: &str) -> Value {
        let answer = self.get(&format!("{}/api/{path}", self.prefix)).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.json()
    }

    /// Listens to the events.
    pub async fn events(&self) -> Events {
        let path = format!("{}/api/events", self.prefix);
        let answer = self.begin(self.own("GET", &path), Bytes::new()).await;
        assert_eq!(answer.status(), 200);
        Events {
            body: answer.into_body(),
            read: String::new(),
        }
    }

    async fn begin(&self, request: Builder, body: Bytes) -> Response<Incoming> {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        let request = request.body(Full::new(body)).unwrap();
        let answer = timeout(LONG, sender.send_request(request)).await;
        answer.expect("an answer").expect("an answer in HTTP")
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        if let Some(child) = &mut self.child {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

// === impl Answer ===

impl Answer {
    pub fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name);
        value.map_or("", |value| value.to_str().unwrap())
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.body))
    }

    /// The text of the error in an answer.
    pub fn error(&self) -> String {
        assert_eq!(self.header("content-type"), "application/json");
        self.json()["error"].as_str().expect("an error").to_owned()
    }
}

// === impl Events ===

impl Events {
    /// The generation of the next event.
    pub async fn next(&mut self) -> u64 {
        self.within(LONG).await.expect("an event")
    }

    /// The same. `None` if none comes in this time.
    pub async fn within(&mut self, time: Duration) -> Option<u64> {
        timeout(time, async {
            loop {
                if let Some((event, unread)) = self.read.split_once("\n\n") {
                    let data = event.lines().find_map(|line| line.strip_prefix("data: "));
                    let data: Option<Value> =
                        data.map(|data| serde_json::from_str(data).expect("JSON"));
                    self.read = String::from(unread);
                    if let Some(data) = data {
                        return data["generation"].as_u64().expect("a generation");
                    }
                    continue;
                }
                let frame = self.body.frame().await.expect("the stream goes on");
                if let Ok(data) = frame.expect("a frame").into_data() {
                    self.read.push_str(&String::from_utf8_lossy(&data));
                }
            }
        })
        .await
        .ok()
    }
}
