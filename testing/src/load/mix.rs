//! The calls: writes of routes, policies and Gateways as in a busy cluster, to both webhooks.

use std::sync::Arc;

use bytes::Bytes;
use serde_json::{Value, json};

use super::objects;
use super::review::{UID, review, with};

/// Different calls of each sort.
const EACH: usize = 16;

/// One sort of call, serialized except for its uid.
pub struct Call {
    pub path: &'static str,
    front: Vec<u8>,
    back: Vec<u8>,
    /// Whether it must be allowed. Otherwise the result depends on a live read.
    must_pass: bool,
}

pub type Mix = Arc<Vec<Call>>;

impl Call {
    fn new(path: &'static str, must_pass: bool, review: &Value) -> Self {
        let text = review.to_string();
        let (front, back) = text.split_once(UID).unwrap();
        Self {
            path,
            front: front.as_bytes().to_vec(),
            back: back.as_bytes().to_vec(),
            must_pass,
        }
    }

    pub fn body(&self, n: usize) -> Bytes {
        Bytes::from([&self.front, uid(n).as_bytes(), &self.back].concat())
    }

    /// Why the answer to call `n` is wrong, if it is.
    pub fn wrong(&self, n: usize, body: &[u8]) -> Option<&'static str> {
        let has = |text: &[u8]| body.windows(text.len()).any(|part| part == text);
        if !has(uid(n).as_bytes()) {
            return Some("the uid is of another call");
        }
        let passes = has(br#""allowed":true"#);
        (self.must_pass && !passes).then_some("refused what is right")
    }
}

fn uid(n: usize) -> String {
    format!("00000000-0000-0000-0000-{n:012}")
}

/// A mix of reviews: 12 of 20 are of routes, 6 of policies and 2 of Gateways; 8 go to the mutating
/// webhook. The policies with an unknown section need a live read; half of them are dry runs.
pub fn mixed(routes: usize, policies: usize) -> Mix {
    let mut mix = Vec::new();
    for n in 0..EACH {
        let i = n * 37;
        let route = objects::route(i % routes);
        let before = with(&route, "/metadata/labels", json!({"app": "before"}));
        let after = with(&route, "/spec/parentRefs/0/name", json!("g0"));
        let policy = objects::policy(i % policies, routes);
        let changed = with(&policy, "/spec/retries", json!(7));
        let fresh = with(&policy, "/metadata/name", json!("fresh"));
        let gateway = objects::gateway(i % routes.div_ceil(100));
        let renamed = with(&gateway, "/spec/listeners/1/name", json!("tls"));
        for path in ["/validate?timeout=10s", "/mutate?timeout=10s"] {
            let mut add = |times: usize, review: Value| {
                for _ in 0..times {
                    mix.push(Call::new(path, true, &review));
                }
            };
            add(2, review("CREATE", false, Some(&route), None));
            add(2, review("UPDATE", false, Some(&after), Some(&before)));
            add(1, review("CREATE", true, Some(&route), None));
            add(1, review("CREATE", false, Some(&fresh), None));
            add(1, review("UPDATE", false, Some(&changed), Some(&policy)));
            add(1, review("UPDATE", false, Some(&renamed), Some(&gateway)));
        }
        let path = "/validate?timeout=10s";
        let mut add = |review: Value| mix.push(Call::new(path, true, &review));
        add(review("DELETE", false, None, Some(&route)));
        add(review("DELETE", true, None, Some(&route)));
        add(review("DELETE", false, None, Some(&policy)));
        let missing = review("CREATE", n % 2 == 0, Some(&nowhere(n, routes)), None);
        mix.push(Call::new(path, false, &missing));
    }
    Arc::new(mix)
}

/// Policies on unknown listeners, each of which needs a live read.
pub fn unsure(routes: usize, path: &'static str) -> Mix {
    let calls = (0..EACH * 4).map(|n| {
        let review = review("CREATE", false, Some(&nowhere(n, routes)), None);
        Call::new(path, false, &review)
    });
    Arc::new(calls.collect())
}

fn nowhere(n: usize, routes: usize) -> Value {
    // Every third policy targets a Gateway.
    let policy = objects::policy(n * 3, routes);
    with(&policy, "/spec/targetRef/sectionName", json!("htpp"))
}
