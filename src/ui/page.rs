//! The files of the page, which are part of the program.

use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};

/// A file of the page.
struct File {
    path: &'static str,
    kind: &'static str,
    bytes: &'static [u8],
}

const HTML: &str = "text/html; charset=utf-8";

const SCRIPT: &str = "text/javascript; charset=utf-8";
const STYLE: &str = "text/css; charset=utf-8";

/// The files that the build of `ui/` writes. The empty path is the page itself.
const FILES: [File; 3] = [
    File {
        path: "",
        kind: HTML,
        bytes: include_bytes!("../../ui/dist/index.html"),
    },
    File {
        path: "app.js",
        kind: SCRIPT,
        bytes: include_bytes!("../../ui/dist/app.js"),
    },
    File {
        path: "app.css",
        kind: STYLE,
        bytes: include_bytes!("../../ui/dist/app.css"),
    },
];

/// A file of the page, by its path below that of the page.
pub(super) fn file(path: &str) -> Option<Response> {
    let path = if path == "index.html" { "" } else { path };
    let file = FILES.iter().find(|file| file.path == path)?;
    Some(([(CONTENT_TYPE, file.kind)], file.bytes).into_response())
}
