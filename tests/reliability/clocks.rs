//! Deadlines do not follow the time of day: nobody here can turn the clock of the machine, so the source is read.

use std::fs;
use std::path::{Path, PathBuf};

/// What reads the time of day.
const WALL: [&str; 3] = ["SystemTime::now", "Timestamp::now", "Zoned::now"];
/// Which parts may: certificates and their checks, metrics and traces, what is shown to people.
const MAY: [&str; 5] = [
    "src/cli/",
    "src/http/tls",
    "src/metrics",
    "src/serve.rs",
    "src/telemetry",
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
