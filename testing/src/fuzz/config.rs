//! Parses a configuration, and answers reviews with it.

use std::sync::LazyLock;

use attache::config::{Configuration, Text};
use attache::engine::admission::evidence::Evidence;
use attache::engine::state::snapshot::{Change, Snapshot};
use attache::http::admission::respond;
use attache::http::call::Endpoint;

use super::review_state::ReviewState;
use super::{files, review};
use crate::answers;

/// Some requests of the cases; each input answers all of these.
static BODIES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let all = review::seeds();
    all.iter().step_by(all.len() / 6).cloned().collect()
});

/// Parses a configuration and answers requests with it.
pub fn run(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else {
        return;
    };
    let text = Text {
        path: "attache.yaml".into(),
        text: text.to_owned(),
    };
    let configuration = match Configuration::from_text(Some(&text)) {
        Ok(configuration) => configuration,
        Err(why) => {
            let why = why.to_string();
            assert!(
                why.contains("attache.yaml") && why.len() < 4_096 + 2 * input.len(),
                "{why}"
            );
            return;
        }
    };
    let review_settings = configuration.review_settings();
    let rules = configuration.rules(crate::builtin());
    let snapshot = ReviewState::get()
        .listed
        .apply(Change::Rules(rules.clone()));
    let nothing = Snapshot::new(rules);
    for body in BODIES.iter() {
        for (endpoint, snapshot) in [
            (Endpoint::Validate, &snapshot),
            (Endpoint::Mutate, &snapshot),
            (Endpoint::Validate, &nothing),
        ] {
            let ask = |body: &[u8]| {
                respond(
                    snapshot,
                    &review_settings,
                    &Evidence::Authoritative,
                    endpoint,
                    body,
                )
                .expect("a review is answered")
            };
            answers::settled(body, &ask(body), endpoint == Endpoint::Mutate, ask);
        }
    }
}

/// The configurations in cases and documentation.
pub fn seeds() -> Vec<Vec<u8>> {
    let mut paths = files::find("tests", &|path| path.ends_with("attache.yaml"));
    paths.extend(files::find("examples", &|path| {
        path.ends_with("attache.yaml")
    }));
    let mut texts: Vec<String> = paths.iter().map(|path| files::text(path)).collect();
    for path in files::find("docs", &|path| {
        path.extension().is_some_and(|end| end == "md")
    }) {
        let text = files::text(&path);
        let blocks = text
            .split("```yaml\n")
            .skip(1)
            .filter_map(|after_fence| after_fence.split("```").next());
        texts.extend(
            blocks
                .filter(|block| block.starts_with("apiVersion: attache"))
                .map(str::to_owned),
        );
    }
    let builtin = files::find("engine/src/kinds/profile/builtin", &|path| {
        path.extension().is_some_and(|end| end == "yaml")
    });
    let head = "apiVersion: attache.dev/v1\nkind: Configuration\n";
    texts.extend(
        builtin
            .iter()
            .map(|path| format!("{head}{}", files::text(path))),
    );
    // As JSON too, for mutation as a tree.
    let trees: Vec<String> = texts
        .iter()
        .filter_map(|text| serde_saphyr::from_str::<serde_json::Value>(text).ok())
        .map(|value| value.to_string())
        .collect();
    texts.extend(trees);
    texts.sort();
    texts.dedup();
    texts.into_iter().map(String::into_bytes).collect()
}
