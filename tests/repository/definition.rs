//! `manifests/guardrails/crd.yaml` is the definition that is made from the types which read guardrails.
//! `ATTACHE_BLESS=1` writes it.

use std::fs;
use std::path::Path;

use serde_json::Value;

const HEAD: &str =
    "# The kind Guardrail. Made from the types that read it: `attache schema guardrail-crd`.\n";

#[test]
fn the_definition_of_guardrails_is_up_to_date() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("manifests/guardrails/crd.yaml");
    let made = attache_guardrails::definition();
    if std::env::var_os("ATTACHE_BLESS").is_some() {
        let text = serde_saphyr::to_string(&made).unwrap();
        fs::write(&file, format!("{HEAD}{text}")).unwrap();
    }
    let text = fs::read_to_string(&file).unwrap();
    let written: Value = serde_saphyr::from_str(&text).unwrap();
    assert_eq!(written, made, "run the test with ATTACHE_BLESS=1");
}
