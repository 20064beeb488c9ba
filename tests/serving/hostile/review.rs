//! Attempts at the webhook: one server for all, with the quickstart as state.

use serde_json::Value;
use serde_json::value::RawValue;

use super::attempt::{Attempt, Review};
use super::generate::{expanded, is_hidden};
use testing::serving::{Serving, quickstart};

/// The memory limit of the server in MiB, after all attempts.
const MEMORY: u64 = 256;

/// Runs the attempts in order and reports what they violate.
pub(crate) async fn run(attempts: impl Iterator<Item = &Attempt>) -> Vec<String> {
    let mut server = Serving::start(|_, mut command| {
        command.arg("--from").arg(quickstart());
        command
    });
    server.ready().await;
    let mut client = server.connect().await;
    let mut failed = Vec::new();
    for (number, attempt) in attempts.enumerate() {
        let uid = format!("uid-{number}");
        let review = attempt.review.as_ref().unwrap();
        let body = body(review, &uid);
        let answer = client.post(&review.path, body.as_bytes()).await;
        if let Err(why) = judged(attempt, &uid, answer.status, &answer.body) {
            failed.push(format!(
                "{}: {why}\n--- {}\n{}",
                attempt.name, answer.status, answer.body
            ));
        }
    }
    assert!(server.child.try_wait().unwrap().is_none(), "it has ended");
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.pid())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let peak: u64 = peak
        .unwrap()
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .unwrap();
    assert!(peak >> 10 <= MEMORY, "it took {} MiB", peak >> 10);
    assert!(!server.log().contains("panic"), "{}", server.log());
    failed
}

fn judged(attempt: &Attempt, uid: &str, status: u16, body: &str) -> Result<(), String> {
    if status != 200 {
        return Err("no answer".to_owned());
    }
    let answer: Value = serde_json::from_str(body).map_err(|error| error.to_string())?;
    let response = &answer["response"];
    if response["uid"] != uid {
        return Err(format!("another uid than {uid}"));
    }
    let allowed = attempt.holds.allowed;
    if allowed.is_some() && response["allowed"].as_bool() != allowed {
        return Err(format!("allowed is not {allowed:?}"));
    }
    let mut output: Vec<&str> = Vec::new();
    let warnings = response["warnings"].as_array().into_iter().flatten();
    output.extend(warnings.filter_map(Value::as_str));
    output.extend(response["status"]["message"].as_str());
    let text = output.join("\n");
    if let Some(c) = text.chars().find(|c| is_hidden(*c)) {
        return Err(format!("it says {}", c.escape_unicode()));
    }
    let holds = &attempt.holds;
    if let Some(missing) = holds.says.iter().find(|wanted| !text.contains(*wanted)) {
        return Err(format!("it does not say {missing:?}"));
    }
    match holds.never.iter().find(|never| text.contains(*never)) {
        Some(never) => Err(format!("it says {never:?}")),
        None => Ok(()),
    }
}

/// The request as the API server sends it, with the objects unchanged.
fn body(review: &Review, uid: &str) -> String {
    let object = expanded(&review.object);
    let identity = Identity::of(&object);
    let (operation, old) = match &review.old {
        Some(old) => ("UPDATE", expanded(old)),
        None => ("CREATE", "null".to_owned()),
    };
    let Identity {
        group,
        version,
        kind,
        name,
        namespace,
    } = identity;
    format!(
        r#"{{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{{"uid":"{uid}",
        "kind":{{"group":"{group}","version":"{version}","kind":"{kind}"}},
        "resource":{{"group":"{group}","version":"{version}","resource":"x"}},
        "name":{name},"namespace":"{namespace}","operation":"{operation}",
        "userInfo":{{"username":"jane","groups":["system:authenticated"]}},
        "object":{object},"oldObject":{old},"dryRun":false}}}}"#
    )
}

struct Identity {
    group: String,
    version: String,
    kind: String,
    name: String,
    namespace: String,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head<'a> {
    api_version: String,
    kind: String,
    #[serde(borrow)]
    metadata: Meta<'a>,
}

#[derive(serde::Deserialize)]
struct Meta<'a> {
    #[serde(borrow)]
    name: &'a RawValue,
    #[serde(default)]
    namespace: String,
}

// === impl Identity ===

impl Identity {
    fn of(object: &str) -> Self {
        let head: Head<'_> =
            serde_json::from_str(object).unwrap_or_else(|e| panic!("{e}: {object:.300}"));
        let (group, version) = head
            .api_version
            .split_once('/')
            .unwrap_or(("", &head.api_version));
        Self {
            group: group.to_owned(),
            version: version.to_owned(),
            kind: head.kind,
            name: head.metadata.name.get().to_owned(),
            namespace: head.metadata.namespace,
        }
    }
}
