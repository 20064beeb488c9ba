//! Checks the table in `reading.yaml` against attache. `tests/cluster/reading.rs` checks it against the real kubectl.

use std::fs;

use attache::cache::directory::Links;
use attache::cache::repository::unbuilt;

use testing::reading::{bytes, cases};

#[test]
fn files_are_read_as_kubectl_reads_them_or_a_word_says_so() {
    let mut wrong = Vec::new();
    // The extension of the file does not matter.
    for ending in ["yaml", "json"] {
        for case in cases() {
            let dir = tempfile::tempdir().unwrap();
            let file = dir.path().join(format!("a.{ending}"));
            fs::write(&file, bytes(&case.file)).unwrap();
            let found = unbuilt(std::slice::from_ref(&file), Links::Within);
            let name = |json: &str| {
                let object: serde_json::Value = serde_json::from_str(json).unwrap();
                object["metadata"]["name"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned()
            };
            let objects = found.objects.iter();
            let objects: Vec<String> = objects
                .map(|object| format!("{}/{}", object.gk.kind, name(object.json.get())))
                .collect();
            let expected = case.attache.as_ref().unwrap_or(&case.kubectl);
            let output: Vec<&str> = found.problems.iter().map(|p| &*p.message).collect();
            // Or the file is listed as not a manifest.
            let skipped = found.skipped.iter().map(|skipped| skipped.what.to_string());
            let text = output.join("\n") + &skipped.collect::<String>();
            let what = format!("{} (.{ending}): {objects:?}, said {text:?}", case.name);
            if objects != *expected {
                wrong.push(format!("{what}: not {expected:?}"));
            }
            // If kubectl fails, attache says why.
            if (case.refused || case.word.is_some()) && text.is_empty() {
                wrong.push(format!("{what}: nothing is said"));
            }
            if !case.refused && case.word.is_none() && !text.is_empty() {
                wrong.push(format!("{what}: kubectl says nothing"));
            }
            if case.word.as_ref().is_some_and(|word| !text.contains(word)) {
                wrong.push(format!("{what}: not {:?}", case.word));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
