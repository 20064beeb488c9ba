//! Tests of the checker: it finds faults and accepts what is allowed.

use super::{LONGEST_FILE, faults};

#[test]
fn a_fault_is_found_and_its_line_named() {
    for (path, source, fault) in [
        (
            "engine/src/admission/review.rs",
            "\nuse tokio::sync::Mutex;",
            "engine/src/admission/review.rs:3: the engine is pure and must not name `tokio::sync::Mutex`",
        ),
        (
            "engine/src/admission/review.rs",
            "use std::{\n    collections::BTreeMap,\n    time::{Duration, Instant as Then},\n};",
            "engine/src/admission/review.rs:4: the engine is pure and must not name `std::time::Instant`",
        ),
        (
            "engine/src/state/snapshot.rs",
            "fn f() -> u8 { std::fs::read(p).len() }",
            "engine/src/state/snapshot.rs:2: the engine is pure and must not name `std::fs::read`",
        ),
        (
            "engine/src/state/snapshot.rs",
            "pub async fn f() {}",
            "engine/src/state/snapshot.rs:2: the engine is pure and must not name `async`",
        ),
        (
            "engine/src/state/snapshot.rs",
            "fn f() -> &'static str { static A: &str = \"\"; A }",
            "engine/src/state/snapshot.rs:2: the engine is pure and must not name `static`",
        ),
        (
            "engine/src/state/snapshot.rs",
            "use std::sync::{Arc, LazyLock};",
            "engine/src/state/snapshot.rs:2: the engine is pure and must not name `std::sync::LazyLock`",
        ),
        (
            "engine/src/state/snapshot.rs",
            "thread_local! {}",
            "engine/src/state/snapshot.rs:2: the engine is pure and must not name `thread_local`",
        ),
        (
            "engine/src/policy/targets.rs",
            "use crate::{model::ids, state::snapshot::Snapshot};",
            "engine/src/policy/targets.rs:2: policy is below state and must not import it: `crate::state::snapshot::Snapshot`",
        ),
        (
            "engine/src/policy/targets.rs",
            "use super::super::merge::Effective;",
            "engine/src/policy/targets.rs:2: policy is below merge and must not import it: `crate::engine::merge::Effective`",
        ),
        (
            "engine/src/words/noun.rs",
            "use crate::model::ids;",
            "engine/src/words/noun.rs:2: `words` has no place in FOLDERS: `crate::model::ids`",
        ),
        (
            "engine/src/state/snapshot.rs",
            "use kube;",
            "engine/src/state/snapshot.rs:2: the engine is pure and must not name `kube`",
        ),
        (
            "src/cache/watch.rs",
            "use crate::http::admission;",
            "src/cache/watch.rs:2: cache must not import http: `crate::http::admission`",
        ),
        (
            "src/http/admin.rs",
            "use super::super::cache::Writer;",
            "src/http/admin.rs:2: http must not import cache: `crate::cache::Writer`",
        ),
        (
            "src/http.rs",
            "mod tests {\n    use super::super::serve;\n}",
            "src/http.rs:3: http must not import serve: `crate::serve`",
        ),
        (
            "src/metrics.rs",
            "use super::*;",
            "src/metrics.rs:2: `crate::*` imports the whole crate: name the module",
        ),
        (
            "src/main.rs",
            "fn main() { attache::serve::run() }",
            "src/main.rs:2: main must not import serve: `crate::serve::run`",
        ),
        (
            "src/helpers.rs",
            "",
            "src/helpers.rs:1: module `helpers` has no line in LAYERS of tests/repository/layering",
        ),
    ] {
        let text = format!("//! A file.\n{source}\n");
        assert_eq!(faults(path, &text), [fault], "{source}");
    }
}

#[test]
fn length_and_header_are_held() {
    let long = format!("//! A file.\n{}", "\n".repeat(LONGEST_FILE));
    assert_eq!(
        faults("src/config.rs", &long),
        ["src/config.rs:501: 501 lines, more than 500: split it"]
    );
    assert_eq!(
        faults("src/config.rs", "use std::fs;\n"),
        ["src/config.rs:1: starts without `//!`: say in a line what the file is for"]
    );
}

#[test]
fn allowed_imports_pass() {
    for (path, source) in [
        (
            "engine/src/admission/review.rs",
            "// tokio::spawn, crate::http",
        ),
        (
            "engine/src/admission/review.rs",
            "/* std::fs /* nested */ async */ fn f() {}",
        ),
        (
            "engine/src/admission/review.rs",
            r##"const T: &str = r#"use "tokio"::net;"#; const U: &str = "\"async";"##,
        ),
        (
            "engine/src/admission/review.rs",
            "fn f<'a>(x: &'a str) -> char { '\"' } // \"",
        ),
        ("engine/src/admission/review.rs", "use std::time::Duration;"),
        (
            "engine/src/merge.rs",
            "use crate::policy::tree::Tree; use crate::attachment::Attachment; use self::level::upward;",
        ),
        (
            "engine/src/admission/review.rs",
            "fn f<T: 'static>(cell: &std::sync::OnceLock<T>) -> &'static str;",
        ),
        ("engine/src/admission/review.rs", "let kube = kubes.len();"),
        (
            "engine/src/model/ids.rs",
            "mod tests {\n    use super::*;\n    use super::super::merge;\n}",
        ),
        (
            "src/cache/watch.rs",
            "use crate::engine::state::snapshot; use kube::Api; use super::kinds;",
        ),
        ("src/serve.rs", "use crate::{cache, http, config, engine};"),
        ("src/lib.rs", "pub mod engine; pub mod http;"),
        ("src/main.rs", "fn main() { attache::cli::run() }"),
    ] {
        let text = format!("//! A file.\n{source}\n");
        assert_eq!(faults(path, &text), [""; 0], "{path}: {source}");
    }
}
