//! Values that the chart refuses, and what it says.

use serde::Deserialize;

use super::run::{chart, has_helm, helm, read, root};

/// A row of refusals.yaml.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Refusal {
    /// As for `helm --set`.
    set: String,
    says: String,
}

#[test]
fn wrong_values_are_refused_by_name() {
    if !has_helm() {
        return;
    }
    let table = read(&root().join("tests/repository/chart/refusals.yaml"));
    let table: Vec<Refusal> = serde_saphyr::from_str(&table).unwrap();
    assert!(table.len() > 10);
    let chart = chart();
    for row in table {
        let args = [
            "template",
            "attache",
            chart.to_str().unwrap(),
            "--set",
            &row.set,
        ];
        let output = helm(&args);
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success(), "{} is taken", row.set);
        assert!(text.contains(&row.says), "{}: {text}", row.set);
    }
}
