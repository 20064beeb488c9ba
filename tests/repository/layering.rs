//! Checks which module may import which, and what the engine may use. Reads the source as text.
//!
//! The rule in one line: `main -> cli -> serve -> { cache, http } -> metrics -> engine`, and the engine is pure. The
//! engine is a package of its own, `attache-engine`, whose folders are listed in [`FOLDERS`]. A new module of the package
//! `attache` needs a line in [`LAYERS`].

mod checker;
mod circles;
pub(crate) mod source;

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use source::{Named, module_of, names, tokens, without_text};

/// Each module of the crate, and the modules it may import besides itself.
const LAYERS: &[(&str, &[&str])] = &[
    ("main", &["cli"]),
    (
        "cli",
        &[
            "serve",
            "ui",
            "cache",
            "http",
            "config",
            "telemetry",
            "metrics",
            "certificates",
            "registration",
            "answer",
            "reading",
            "today",
            "engine",
        ],
    ),
    (
        "serve",
        &[
            "ui",
            "cache",
            "http",
            "lease",
            "status_writer",
            "config",
            "telemetry",
            "metrics",
            "certificates",
            "registration",
            "answer",
            "background",
            "engine",
        ],
    ),
    (
        "background",
        &["cache", "lease", "answer", "metrics", "today", "engine"],
    ),
    ("status_writer", &["cache", "lease", "metrics", "engine"]),
    ("lease", &["cache"]),
    (
        "cache",
        &[
            "metrics",
            "certificates",
            "registration",
            "reading",
            "today",
            "engine",
        ],
    ),
    (
        "http",
        &[
            "telemetry",
            "metrics",
            "certificates",
            "reading",
            "today",
            "engine",
        ],
    ),
    ("ui", &["today", "engine"]),
    ("certificates", &[]),
    ("registration", &["engine"]),
    ("answer", &["engine"]),
    ("config", &["reading", "engine"]),
    ("metrics", &["engine"]),
    ("telemetry", &["metrics", "reading"]),
    ("reading", &[]),
    ("today", &[]),
    ("engine", &[]),
];

/// The folders of the engine, the lowest first: each may import only those before it.
const FOLDERS: [&str; 11] = [
    "model",
    "kinds",
    "policy",
    "state",
    "topology",
    "attachment",
    "merge",
    "effective",
    "status",
    "routing",
    "admission",
];

/// The place where the engine goes upward nevertheless: a CRD is an object, and what is kept of it are the
/// facts that its schemas give about the kind.
const UPWARD: [(&str, &str); 1] = [("engine/src/model/object/crd.rs", "kinds")];

/// The modules without side effects.
const PURE: [&str; 3] = ["engine", "registration", "answer"];

/// Names that no file of these modules may use, including tests. The engine's Cargo.toml keeps other packages away from
/// it; the standard library is always there.
const IMPURE: &[&[&str]] = &[
    &["tokio"],
    &["tokio_rustls"],
    &["axum"],
    &["hyper"],
    &["hyper_util"],
    &["tower"],
    &["futures"],
    &["kube"],
    &["tracing"],
    &["std", "fs"],
    &["std", "net"],
    &["std", "env"],
    &["std", "process"],
    &["std", "thread"],
    &["std", "time", "SystemTime"],
    &["std", "time", "Instant"],
    &["thread_local"],
    &["std", "sync", "LazyLock"],
    &["jiff", "Timestamp", "now"],
    &["jiff", "Zoned", "now"],
];

const LONGEST_FILE: usize = 500;

#[test]
fn the_source_keeps_to_its_layers() {
    let files = sources();
    for root in ["src/lib.rs", "engine/src/lib.rs"] {
        assert!(files.iter().any(|(path, _)| path == root), "no {root}");
    }
    let mut report = String::new();
    for (path, text) in &files {
        for fault in faults(path, text) {
            writeln!(report, "  {fault}").unwrap();
        }
    }
    assert!(
        report.is_empty(),
        "LAYERS in tests/repository/layering.rs says which module may import which:\n{report}"
    );
}

/// `serde_json::Value` gives some keys a special meaning (engine/src/model/literal.rs), so foreign data is never parsed into
/// it.
#[test]
fn no_key_of_an_object_is_taken_for_a_mark() {
    let files = sources();
    let faults = files
        .iter()
        .flat_map(|(path, text)| read_as_values(path, text));
    let faults: Vec<String> = faults.collect();
    assert!(
        faults.is_empty(),
        "read it by engine::literal:\n{}",
        faults.join("\n")
    );
    let fault = "//! A file.\n#[derive(Deserialize)]\nstruct A {\n    b: Option<Value>,\n}\n";
    assert_eq!(
        read_as_values("src/a.rs", fault),
        ["src/a.rs:4: b: Option<Value>,"]
    );
    let fault = "//! A file.\nlet a = serde_json::from_str::<Value>(text);\n";
    assert_eq!(read_as_values("src/a.rs", fault).len(), 1);
}

/// Lines that parse a `Value`, except in tests.
fn read_as_values(path: &str, text: &str) -> Vec<String> {
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or(text);
    let mut found = Vec::new();
    let (mut derived, mut inside, mut literal) = (false, false, false);
    for (number, line) in (1..).zip(text.lines()) {
        let code = line.split("//").next().unwrap_or(line).trim();
        if line.starts_with("#[derive(") {
            derived = line.contains("Deserialize");
        }
        if derived && (line.contains("struct ") || line.contains("enum ")) {
            (inside, derived) = (true, false);
        }
        if line == "}" {
            inside = false;
        }
        literal |= code.contains("literal::");
        let is_field = inside && code.ends_with(',') && !code.contains('=');
        let reads = [
            "from_str::<Value>",
            "from_slice::<Value>",
            "from_value::<Value>",
        ];
        let is_value = |text: &str| {
            text.split(|c: char| !c.is_alphanumeric())
                .any(|w| w == "Value")
        };
        if is_field && !literal && is_value(code) || reads.iter().any(|read| code.contains(read)) {
            found.push(format!("{path}:{number}: {code}"));
        }
        if is_field {
            literal = false;
        }
    }
    found
}

/// The source of both packages: each file's path and text.
pub(crate) fn sources() -> Vec<(String, String)> {
    let mut files = Vec::new();
    for name in ["src", "engine/src"] {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
        collect(&root, name, &mut files);
    }
    files
}

fn collect(folder: &Path, name: &str, files: &mut Vec<(String, String)>) {
    let mut entries: Vec<_> = fs::read_dir(folder).unwrap().map(Result::unwrap).collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let path = entry.path();
        let name = format!("{name}/{}", entry.file_name().to_str().unwrap());
        if path.is_dir() {
            collect(&path, &name, files);
        } else if path.extension().is_some_and(|end| end == "rs") {
            files.push((name, fs::read_to_string(&path).unwrap()));
        }
    }
}

/// Why a file of the engine may not import this: it is in a higher folder. Tests may use everything.
fn upward(path: &str, own_module: &[String], named: &[String]) -> Option<String> {
    let [engine, own, ..] = own_module else {
        return None;
    };
    if engine != "engine" || path.ends_with("/tests.rs") || path.contains("/tests/") {
        return None;
    }
    let other = match named {
        [root, engine, other, ..] if root == "crate" && engine == "engine" => other,
        [root, other, ..] if root == "crate" => other,
        _ => return None,
    };
    let height = |name: &str| FOLDERS.iter().position(|folder| *folder == name);
    let Some(from) = height(own) else {
        return Some(format!("`{own}` has no place in FOLDERS"));
    };
    let is_upward = height(other).is_some_and(|to| to > from);
    (is_upward && !UPWARD.contains(&(path, other)))
        .then(|| format!("{own} is below {other} and must not import it"))
}

/// The faults of one file, each with file and line.
fn faults(path: &str, text: &str) -> Vec<String> {
    let mut faults = Vec::new();
    if !text.starts_with("//!") {
        faults.push(format!(
            "{path}:1: starts without `//!`: say in a line what the file is for"
        ));
    }
    let lines = text.lines().count();
    if lines > LONGEST_FILE {
        faults.push(format!(
            "{path}:{lines}: {lines} lines, more than {LONGEST_FILE}: split it"
        ));
    }
    let own_module = module_of(path);
    let layer = own_module.first().map_or("lib", String::as_str);
    let allowed = match LAYERS.iter().find(|(name, _)| *name == layer) {
        Some((_, allowed)) => *allowed,
        None if layer == "lib" => &[],
        None => {
            faults.push(format!(
                "{path}:1: module `{layer}` has no line in LAYERS of tests/repository/layering"
            ));
            return faults;
        }
    };
    for Named {
        line, path: named, ..
    } in names(&tokens(&without_text(text)), &own_module)
    {
        let shown = named.join("::");
        if let Some(fault) = upward(path, &own_module, &named) {
            faults.push(format!("{path}:{line}: {fault}: `{shown}`"));
        }
        // The engine is a package of its own: the compiler holds what it may import.
        if named[0] == "crate" && layer != "lib" && layer != "engine" {
            let Some(other) = named.get(1) else { continue };
            if other == "*" {
                faults.push(format!(
                    "{path}:{line}: `{shown}` imports the whole crate: name the module"
                ));
            } else if other != layer
                && LAYERS.iter().any(|(name, _)| name == other)
                && !allowed.contains(&other.as_str())
            {
                faults.push(format!(
                    "{path}:{line}: {layer} must not import {other}: `{shown}`"
                ));
            }
        }
        if PURE.contains(&layer) {
            let impure = named == ["async"]
                || named == ["static"]
                || IMPURE.iter().any(|banned| {
                    named.len() >= banned.len()
                        && named.iter().zip(*banned).all(|(name, bad)| name == bad)
                });
            if impure {
                faults.push(format!(
                    "{path}:{line}: the {layer} is pure and must not name `{shown}`"
                ));
            }
        }
    }
    faults
}
