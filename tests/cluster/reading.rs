//! Checks the table in `tests/hostile/reading.yaml` against the real kubectl. `kubectl label --local` needs no API
//! server.

use std::fs;

use serde_json::Value;

use crate::harness::Cluster;
use testing::reading;

#[test]
fn kubectl_reads_files_as_the_table_says() {
    let Some(cluster) = Cluster::shared() else {
        return;
    };
    let kubectl = cluster.kubectl();
    let mut wrong = Vec::new();
    for (number, case) in reading::cases().into_iter().enumerate() {
        let file = cluster.dir().join(format!("reading-{number}.yaml"));
        fs::write(&file, reading::bytes(&case.file)).expect("a writable folder");
        let file = file.to_str().expect("a path in UTF-8");
        let output = kubectl.run(["label", "--local", "-f", file, "read=yes", "-o", "json"]);
        let objects: Vec<String> = serde_json::Deserializer::from_str(&output.out)
            .into_iter::<Value>()
            .map_while(Result::ok)
            .flat_map(|object| match object["items"].as_array() {
                Some(items) => items.clone(),
                None => vec![object],
            })
            .map(|object| {
                let name = object["metadata"]["name"].as_str().unwrap_or_default();
                format!("{}/{name}", object["kind"].as_str().unwrap_or_default())
            })
            .collect();
        // A file without objects is an error of the command, not of the file.
        let refused = output.code != 0 && !output.err.contains("no objects passed to");
        if objects != case.kubectl || refused != case.refused {
            wrong.push(format!("{}: {objects:?}: {output}", case.name));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
