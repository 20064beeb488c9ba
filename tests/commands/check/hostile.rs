//! Hostile or accidental directories: every check ends, reports the fault, checks the rest, and stays within its
//! memory.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;
use testing::run::Ended;

use super::{check, json, measured, with_code};

/// The memory limit of any check in these tests. Memory must not grow with hostile input; a file of 64 MiB is read
/// whole.
const MOST_MIB: u64 = 400;

/// Its target has a version in the group; other files must not hide that.
const FAULT: &str = "apiVersion: gateway.networking.k8s.io/v1
kind: BackendTLSPolicy
metadata: {name: fault, namespace: shop}
spec:
  targetRefs:
  - {group: gateway.networking.k8s.io/v1, kind: Gateway, name: edge}
";

/// A directory with the fault and with what `fill` adds.
fn directory(fill: impl FnOnce(&TempDir)) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("fault.yaml"), FAULT).unwrap();
    fill(&dir);
    dir
}

fn with_file(name: &str, content: impl AsRef<[u8]>) -> TempDir {
    directory(|dir| fs::write(dir.path().join(name), content).unwrap())
}

/// Checks a directory and requires the fault to be found. Returns the unreadable files.
fn unreadable(dir: &TempDir) -> Vec<String> {
    let report = report(&measured(dir.path(), &[".", "-o", "json"]));
    let fault = with_code(&report, "target-group-versioned");
    assert!(
        fault.iter().any(|finding| finding["file"] == "fault.yaml"),
        "{report:#}"
    );
    let found = with_code(&report, "unreadable").into_iter();
    found.map(line).collect()
}

/// The report of a check that could run within its memory.
fn report(ended: &Ended) -> Value {
    let output = &ended.output;
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{errors}");
    assert!(ended.peak < MOST_MIB, "{} MiB", ended.peak);
    json(output)
}

fn line(finding: &Value) -> String {
    let number = |field: &str| finding[field].as_u64();
    let mut text = finding["file"].as_str().unwrap().to_owned();
    for number in ["line", "column"].iter().filter_map(|field| number(field)) {
        write!(text, ":{number}").unwrap();
    }
    let severity = finding["severity"].as_str().unwrap();
    format!(
        "{text}: {severity}: {}",
        finding["message"].as_str().unwrap()
    )
}

#[test]
fn links_that_lead_back() {
    let dir = directory(|dir| {
        let inner = dir.path().join("inner");
        fs::create_dir(&inner).unwrap();
        symlink(dir.path(), inner.join("back")).unwrap();
        symlink("../inner", inner.join("itself")).unwrap();
        symlink("loop.yaml", dir.path().join("loop.yaml")).unwrap();
        symlink("nowhere.yaml", dir.path().join("lost.yaml")).unwrap();
    });
    let found = unreadable(&dir);
    assert_eq!(found.len(), 2, "{found:#?}");
    assert!(
        found[0].starts_with("loop.yaml: deny: cannot be read: "),
        "{found:#?}"
    );
    assert!(
        found[1].starts_with("lost.yaml: deny: cannot be read: "),
        "{found:#?}"
    );
}

#[test]
fn a_file_of_a_gigabyte() {
    let dir = directory(|dir| {
        let file = File::create(dir.path().join("big.yaml")).unwrap();
        file.set_len(1 << 30).unwrap();
    });
    assert_eq!(unreadable(&dir), ["big.yaml: deny: larger than 64 MiB"]);
}

#[test]
fn binary_files() {
    let dir = with_file("image.yaml", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\xff\xfe");
    assert_eq!(
        unreadable(&dir),
        ["image.yaml: deny: it is not text: byte 1 (line 1) is not UTF-8"]
    );
    let dir = with_file("zeros.yaml", vec![0; 1 << 20]);
    let found = unreadable(&dir);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].starts_with("zeros.yaml:1"), "{found:#?}");
}

#[test]
fn text_that_is_not_utf8() {
    let dir = with_file("latin.yaml", b"# one\nname: K\xf6ln\n");
    assert_eq!(
        unreadable(&dir),
        ["latin.yaml: deny: it is not text: byte 14 (line 2) is not UTF-8"]
    );
}

#[test]
fn a_hundred_thousand_documents_in_one_file() {
    let mut text = String::new();
    for i in 0..100_000 {
        write!(
            text,
            "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{i}}}\n"
        )
        .unwrap();
    }
    text.push_str("---\nkind: [\n---\n");
    text.push_str(&FAULT.replace("fault", "last"));
    let dir = with_file("many.yaml", text);
    let report = report(&measured(dir.path(), &[".", "-o", "json"]));
    assert_eq!(report["summary"]["objects"], 100_002);
    let found: Vec<String> = with_code(&report, "unreadable")
        .into_iter()
        .map(line)
        .collect();
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].starts_with("many.yaml:400002:"), "{found:#?}");
    let last = with_code(&report, "target-group-versioned");
    let lines: Vec<_> = last
        .iter()
        .map(|finding| finding["line"].as_u64())
        .collect();
    assert_eq!(lines, [Some(6), Some(400_009)]);
}

#[test]
fn anchors_that_explode() {
    let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
    for i in 1..12 {
        let last = format!("*a{}", i - 1);
        writeln!(text, "a{i}: &a{i} [{}]", vec![last; 9].join(", ")).unwrap();
    }
    let found = unreadable(&with_file("bomb.yaml", text));
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].starts_with("bomb.yaml:"), "{found:#?}");
}

#[test]
fn duplicate_keys_are_reported() {
    let text = "apiVersion: v1\nkind: Service\nmetadata: {name: a}\nspec: {}\nspec: {}\n";
    let found = unreadable(&with_file("twice.yaml", text));
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(found[0].starts_with("twice.yaml:5:1: deny: "), "{found:#?}");
}

#[test]
fn windows_line_ends() {
    let text = format!("# first\n---\n{FAULT}").replace('\n', "\r\n");
    let dir = with_file("windows.yaml", text);
    let report = report(&measured(dir.path(), &["windows.yaml", "-o", "json"]));
    let found = with_code(&report, "target-group-versioned");
    assert_eq!(
        (&found[0]["line"], &found[0]["column"]),
        (&8.into(), &6.into())
    );
    let text = check(dir.path(), &["windows.yaml"]).stdout;
    assert!(!text.contains(&b'\r'));
}

#[test]
fn lists_in_lists() {
    let item = FAULT.replace('\n', "\n      ").replace("fault", "deep");
    let text = format!(
        "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: List\n  items:\n    - {item}\n"
    );
    // As in kubectl, which refuses them.
    let why = "a list in a list, which kubectl refuses: take its items out of it";
    let found = unreadable(&with_file("lists.yaml", text));
    assert_eq!(found, [format!("lists.yaml:1: deny: {why}")]);
    let open = "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [";
    let text = format!("{}{}", open.repeat(30), "]}".repeat(30));
    let found = unreadable(&with_file("deep.json", text));
    assert_eq!(found, [format!("deep.json:1: deny: {why}")]);
}

#[test]
fn deep_nesting() {
    let mut maps = String::new();
    for depth in 0..1000 {
        writeln!(maps, "{}a:", " ".repeat(depth)).unwrap();
    }
    let brackets = "[".repeat(100_000);
    for (name, text) in [
        ("flow.yaml", &brackets),
        ("maps.yaml", &maps),
        ("deep.json", &brackets),
    ] {
        let found = unreadable(&with_file(name, text));
        assert_eq!(found.len(), 1, "{name}: {found:#?}");
        assert!(found[0].starts_with(name), "{found:#?}");
    }
}

#[test]
fn files_without_anything() {
    let dir = with_file("empty.yaml", "");
    fs::write(dir.path().join("comments.yaml"), "# one\n---\n# two\n").unwrap();
    fs::write(dir.path().join("empty.json"), "").unwrap();
    assert_eq!(unreadable(&dir), Vec::<String>::new());
}

/// Reading a pipe would block until a process writes to it.
#[test]
fn pipes_are_skipped_and_reported() {
    let dir = directory(|dir| {
        let made = Command::new("mkfifo")
            .arg(dir.path().join("pipe.yaml"))
            .status();
        assert!(made.unwrap().success());
    });
    assert_eq!(
        unreadable(&dir),
        ["pipe.yaml: warn: it is a pipe, a socket or a device, and not read unless it is named"]
    );
}

/// Not even root can read the start of its own memory.
#[test]
fn files_that_cannot_be_read() {
    let dir = directory(|dir| {
        symlink("/proc/self/mem", dir.path().join("mem.yaml")).unwrap();
    });
    // The link leads out of the directory.
    let why = "a link that leads out of the directory is not followed; --follow-links does";
    assert_eq!(unreadable(&dir), [format!("mem.yaml: warn: {why}")]);
    let report = report(&measured(
        dir.path(),
        &[".", "--follow-links", "-o", "json"],
    ));
    let found: Vec<String> = with_code(&report, "unreadable")
        .into_iter()
        .map(line)
        .collect();
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(
        found[0].starts_with("mem.yaml: deny: cannot be read: "),
        "{found:#?}"
    );
}

#[test]
fn files_of_others_are_counted() {
    let dir = with_file("docker-compose.yaml", "services: {web: {image: x}}\n");
    assert_eq!(unreadable(&dir), Vec::<String>::new());
    let report = report(&measured(dir.path(), &[".", "-o", "json"]));
    assert_eq!(report["skipped"][0]["file"], "docker-compose.yaml");
    assert_eq!(report["skipped"][0]["reason"], "a Compose file");
}
