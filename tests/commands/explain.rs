//! `attache explain`: sessions as pages, each with its state in the directory of the same name. `TRYCMD=overwrite`
//! writes the actual output into the pages.

mod hostile;
mod properties;
mod states;

use attache::answer::explanation::{Explanation, at_gateways};
use attache::answer::{json, schema};
use attache::engine::routing::{Matching, Request};
use serde_json::Value;

use states::{CASES, loaded};

#[test]
fn sessions_of_explain() {
    trycmd::TestCases::new().case("tests/commands/explain/*.md");
}

#[test]
fn answers_are_of_their_schema_and_the_same_every_time() {
    let schema = schema::<Explanation>();
    let validator = jsonschema::validator_for(&schema).unwrap();
    for case in CASES {
        let loaded = loaded(case);
        let matching = Matching::new(&loaded.snapshot, &loaded.objects);
        for (host, path, port) in [
            ("shop.example.com", "/cart", None),
            ("grpc.example.com", "/shop.Cart/Add", None),
            ("odd.example.com", "/v1/x", None),
            ("blog.example.com", "/", Some(80)),
            ("nothing.example.org", "/", Some(5432)),
        ] {
            let request = Request {
                host: Some(host.to_owned()),
                path: path.to_owned(),
                port,
                ..Request::default()
            };
            let output = json(&at_gateways(&matching, &request, |_| true)).unwrap();
            let again = json(&at_gateways(&matching, &request, |_| true)).unwrap();
            assert_eq!(output, again, "{case} {host}{path}");
            let value: Value = serde_json::from_str(&output).unwrap();
            let faults: Vec<String> = validator
                .iter_errors(&value)
                .map(|e| e.to_string())
                .collect();
            assert!(faults.is_empty(), "{case} {host}{path}: {faults:?}");
        }
    }
}
