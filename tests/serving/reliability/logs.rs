//! Reviews go on without a writable log or any other place to write.

use std::path::PathBuf;

use super::process::{Process, Setup, ask, signal};

/// Every write fails as on a full disk, and standard output is closed.
#[tokio::test]
async fn a_full_disk_stops_no_review() {
    let mut process = Process::start(&Setup {
        log: Some(PathBuf::from("/dev/full")),
        level: "debug",
        ..Setup::default()
    });
    process.ready().await;
    let mut client = process.connect().await;
    for _ in 0..50 {
        ask(&mut client).await;
    }
    let metrics = process.get("/metrics").await.body;
    assert!(metrics.contains("attache_panics_total 0\n"), "{metrics}");
    signal("TERM", process.pid().to_string());
    let status = process.ended().await;
    assert_eq!(status.code(), Some(0), "{status}");
}

/// A write to a file would kill the process (SIGXFSZ); pipes, sockets and devices are exempt.
#[tokio::test]
async fn nothing_is_written_to_any_file() {
    let directory = tempfile::TempDir::new().unwrap();
    let within = format!(
        "cd {} && ulimit -f 0 && exec \"$0\" \"$@\"",
        directory.path().display()
    );
    let mut process = Process::start(&Setup {
        by: ["sh", "-c", &within].map(str::to_owned).to_vec(),
        log: Some(PathBuf::from("/dev/null")),
        level: "trace",
        ..Setup::default()
    });
    process.ready().await;
    let mut client = process.connect().await;
    for _ in 0..50 {
        ask(&mut client).await;
    }
    assert_eq!(process.get("/metrics").await.status, 200);
    signal("TERM", process.pid().to_string());
    let status = process.ended().await;
    assert_eq!(status.code(), Some(0), "{status}");
    let left = std::fs::read_dir(directory.path()).unwrap().count();
    assert_eq!(left, 0, "files where it ran");
}
