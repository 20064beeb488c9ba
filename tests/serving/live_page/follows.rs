//! The page follows the files.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::Value;
use testing::eventually::becomes;
use testing::page::Page;

use super::copy;

/// A change is seen in this time.
const SEEN: Duration = Duration::from_secs(1);

#[tokio::test]
async fn a_changed_file_is_seen_within_a_second_and_is_in_the_history() {
    let (_folder, state) = copy();
    let page = Page::of(&state);
    let mut events = page.events().await;
    assert_eq!(events.next().await, 1, "the first event comes at once");
    assert_eq!(page.data("history").await["entries"], Value::Array(vec![]));
    let policies = state.join("50-policies.yaml");
    let text = fs::read_to_string(&policies).unwrap();
    let changed = text.replace("retries: 3", "retries: 7");
    assert_ne!(text, changed);
    let before = page.data("policies").await;
    fs::write(&policies, changed).unwrap();
    let since = Instant::now();
    assert_eq!(events.next().await, 2);
    // The machine of the test may be busy; a fast one must be fast.
    assert!(since.elapsed() < 10 * SEEN, "{:?}", since.elapsed());
    let history = page.data("history").await;
    let [entry] = &history["entries"].as_array().unwrap()[..] else {
        panic!("{history:#}")
    };
    assert_eq!(entry["generation"], 2);
    assert_eq!(
        entry["objects"],
        serde_json::json!([{"object": "RetryPolicy.policies.example.com/infra/edge-retries", "change": "updated"}])
    );
    let in_force = entry["inForce"].as_array().unwrap();
    assert!(
        in_force
            .iter()
            .any(|change| change["after"]["retries"] == 7),
        "{entry:#}"
    );
    assert!(
        page.get("/api/object?name=retrypolicy/infra/edge-retries")
            .await
            .body
            .contains("retries: 7")
    );
    // The list of policies does not show settings.
    assert_eq!(page.data("policies").await, before);
    fs::remove_file(&policies).unwrap();
    assert_eq!(events.next().await, 3);
    let policies = page.data("policies").await;
    assert_eq!(policies["policies"], Value::Array(vec![]), "{policies:#}");
    let history = page.data("history").await;
    let deleted = history["entries"][0]["objects"].as_array().unwrap();
    assert_eq!(deleted.len(), 4, "{history:#}");
    assert!(deleted.iter().all(|object| object["change"] == "deleted"));
}

#[tokio::test]
async fn a_state_that_cannot_be_read_leaves_the_last_one_and_says_so() {
    let (_folder, state) = copy();
    let page = Page::of(&state);
    let mut events = page.events().await;
    events.next().await;
    let config = state.join("attache.yaml");
    let good = fs::read_to_string(&config).unwrap();
    let before = page.data("policies").await;
    fs::write(
        &config,
        "apiVersion: attache.dev/v1\nkind: Configuration\nprofles: []\n",
    )
    .unwrap();
    events.next().await;
    let shown = page.data("state").await;
    let problems = shown["problems"].to_string();
    assert!(problems.contains("profles"), "{problems}");
    assert_eq!(page.data("policies").await, before);
    fs::write(&config, good).unwrap();
    problems_are_over(&page).await;
    fs::write(state.join("90-broken.yaml"), "kind: [\n").unwrap();
    becomes("the broken file is named", async || {
        let shown = page.data("state").await;
        let problems = shown["problems"].to_string();
        problems
            .contains("90-broken.yaml")
            .then_some(())
            .ok_or(problems)
    })
    .await;
}

/// The API server still has the objects of a file that somebody is just typing into.
#[tokio::test]
async fn a_file_that_is_no_yaml_any_more_keeps_its_objects() {
    let (_folder, state) = copy();
    let page = Page::of(&state);
    let mut events = page.events().await;
    events.next().await;
    let before = page.data("policies").await;
    let policies = state.join("50-policies.yaml");
    let good = fs::read_to_string(&policies).unwrap();
    fs::write(&policies, format!("kind: [\n{good}")).unwrap();
    events.next().await;
    let problems = page.data("state").await["problems"].to_string();
    assert!(problems.contains("50-policies.yaml"), "{problems}");
    assert!(
        problems.contains("what is shown is the state before"),
        "{problems}"
    );
    assert_eq!(page.data("policies").await, before);
    assert_eq!(page.data("history").await["entries"], Value::Array(vec![]));
    fs::write(&policies, good).unwrap();
    problems_are_over(&page).await;
    assert_eq!(page.data("history").await["entries"], Value::Array(vec![]));
}

async fn problems_are_over(page: &Page) {
    becomes("the problem is over", async || {
        let shown = page.data("state").await;
        let is_over = shown["problems"] == Value::Array(vec![]);
        is_over.then_some(()).ok_or_else(|| shown.to_string())
    })
    .await;
}
