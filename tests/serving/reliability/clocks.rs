//! Deadlines do not depend on the time of day: one test changes it under a process, another reads the sources.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use testing::clock::faketime;

use super::process::{Process, Setup, ask};

/// Functions that read the time of day.
const WALL: [&str; 4] = [
    "SystemTime::now",
    "UNIX_EPOCH.elapsed",
    "Timestamp::now",
    "Zoned::now",
];
/// Files that may: certificates and their checks, metrics, output for users.
const MAY: [&str; 10] = [
    // The date on which suppressions and exceptions end.
    "src/today.rs",
    // The time at which a condition changed.
    "src/cache/guardrail_status.rs",
    "src/cli/",
    // Times in objects, for users to read. A Lease counts as expired once it has not changed for some time, whatever they say.
    "src/lease.rs",
    "src/background/reports/writer.rs",
    "src/status_writer/write.rs",
    "src/cache/own_certificates.rs",
    "src/http/tls",
    "src/metrics",
    "src/serve.rs",
];

fn sources(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|e| e == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn the_time_of_day_decides_over_no_deadline() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    sources(&root.join("src"), &mut files);
    assert!(files.len() > 100);
    let mut wrong = Vec::new();
    for file in files {
        let name = file
            .strip_prefix(root)
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        let text = fs::read_to_string(&file).unwrap();
        let reads = WALL.iter().any(|wall| text.contains(wall));
        if reads && !MAY.iter().any(|part| name.starts_with(part)) {
            wrong.push(name);
        }
    }
    assert!(wrong.is_empty(), "read the time of day: {wrong:?}");
}

/// Eleven years forward and back: answers and their timing stay the same.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_time_of_day_is_turned() {
    let Some(library) = faketime("the_time_of_day_is_turned") else {
        return;
    };
    let folder = TempDir::new().unwrap();
    let clock = folder.path().join("clock");
    let turn = |by: &str| fs::write(&clock, by).unwrap();
    turn("+0");
    let variables = [
        format!("LD_PRELOAD={}", library.display()),
        format!("FAKETIME_TIMESTAMP_FILE={}", clock.display()),
        "FAKETIME_NO_CACHE=1".to_owned(),
        // As in reality, only the time of day jumps.
        "FAKETIME_DONT_FAKE_MONOTONIC=1".to_owned(),
    ];
    let env = std::iter::once("env".to_owned());
    let mut process = Process::start(&Setup {
        by: env.chain(variables).collect(),
        ..Setup::default()
    });
    process.ready().await;
    let mut kept = process.connect().await;
    ask(&mut kept).await;
    for (by, output) in [
        ("+4000d", "it ended at"),
        ("-4000d", "it begins to count at"),
        ("+0", "[+]certificate ok"),
    ] {
        turn(by);
        // The certificate check notices the change; the certificate is still served.
        process.until("/readyz?verbose", 200, output).await;
        ask(&mut kept).await;
        ask(&mut process.connect().await).await;
    }
    assert!(process.runs());
}
