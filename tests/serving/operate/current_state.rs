//! Gauges of the findings that the cluster has now: without a review, and only while a finding holds.

use std::fs;

use super::process::{Process, Setup};

/// Two policies whose target does not exist. One of them suppresses the finding.
const FAULTY: &str = "apiVersion: policies.example.com/v1
kind: RetryPolicy
metadata: {namespace: blog, name: lost}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: nowhere}
  retries: 3
---
apiVersion: policies.example.com/v1
kind: RetryPolicy
metadata:
  namespace: blog
  name: meant
  annotations: {attache.dev/ignore: \"target-not-found: the Gateway comes later\"}
spec:
  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: nowhere}
  retries: 3
";
const FINDING: &str =
    r#"attache_standing_findings{code="target-not-found",namespace="blog",severity="warn"} "#;

#[tokio::test]
async fn a_finding_is_counted_without_a_review_as_long_as_it_stands() {
    let server = Process::start(&Setup {
        files: &[("60-faulty.yaml", FAULTY)],
        ..Setup::default()
    });
    server.says("/metrics", &format!("{FINDING}1\n")).await;
    let policies = |state: &str, count: u32| {
        format!(
            "attache_policies{{kind=\"RetryPolicy.policies.example.com\",state=\"{state}\"}} {count}\n"
        )
    };
    let page = server.get("/metrics").await.body;
    for line in [policies("TargetNotFound", 2), policies("Invalid", 0)] {
        assert!(page.contains(&line), "{line}{page}");
    }
    assert!(
        !page.contains("attache_findings_total{code=\"target-not-found\",severity=\"warn\"} 1")
    );

    fs::remove_file(server.file("state/60-faulty.yaml")).unwrap();
    server
        .says("/metrics", &policies("TargetNotFound", 0))
        .await;
    let page = server.get("/metrics").await.body;
    assert!(!page.contains(FINDING), "{page}");
}
