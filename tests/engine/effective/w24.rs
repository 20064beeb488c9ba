//! W24: the tables of GEP-713 of 2023 on defaults, overrides and values of a route, every cell.
//!
//! Each cell is run with the route in the Gateway's namespace and outside it. A cell that says "first created wins
//! otherwise first alphabetically" is two cases: one by age and one by name.

use attache::config::Configuration;
use attache::engine::effective::Resolver;
use attache::engine::model::ids::GroupKind;
use attache::engine::state::snapshot::Snapshot;
use serde_json::{Value, json};

use super::state;
use testing::cases::{documents, root};

/// Both stanzas as in GEP-713 of 2021, with one field of routes that policies control.
fn profile() -> Configuration {
    let profile = json!({
        "match": {"group": "networking.example.io", "kind": "RetryOnPolicy"},
        "class": "inherited",
        "targets": {"refs": [{"path": "spec.targetRef"}]},
        "merge": {"gepVersion": "of-2021", "stanzas": true},
        "controls": [{
            "setting": "retryOn",
            "target": {"group": "gateway.networking.k8s.io", "kind": "HTTPRoute"},
            "field": "spec.retryOn",
        }],
    });
    serde_json::from_value(json!({
        "apiVersion": "attache.dev/v1",
        "kind": "Configuration",
        "profiles": [profile],
    }))
    .unwrap()
}

/// A policy of a cell, from the words of the table: `Gateway override A`.
#[derive(Clone, Debug)]
struct Named<'a> {
    level: &'a str,
    stanza: &'a str,
    name: &'a str,
    created: &'a str,
}

impl<'a> Named<'a> {
    /// `None` for the words `None`, `No default` and `No override`.
    fn read(words: &'a str, name: &'a str) -> Option<Self> {
        let mut words = words.split(' ');
        let level = words.next().filter(|w| !["None", "No"].contains(w))?;
        Some(Self {
            level,
            stanza: words.next().unwrap(),
            name,
            created: "2021-07-15T01:02:03Z",
        })
    }

    fn object(&self, route_namespace: &str) -> Value {
        let gateway_api = "gateway.networking.k8s.io";
        let (namespace, target) = match self.level {
            "Namespace" => (
                "appns",
                json!({"group": "", "kind": "Namespace", "name": "appns"}),
            ),
            "Gateway" => (
                "appns",
                json!({"group": gateway_api, "kind": "Gateway", "name": "gateway"}),
            ),
            "HTTPRoute" => (
                route_namespace,
                json!({"group": gateway_api, "kind": "HTTPRoute", "name": "route"}),
            ),
            other => panic!("level {other}"),
        };
        let mut spec = json!({"targetRef": target});
        spec[format!("{}s", self.stanza)] = json!({"retryOn": [self.name]});
        json!({
            "apiVersion": "networking.example.io/v1alpha1",
            "kind": "RetryOnPolicy",
            "metadata": {"namespace": namespace, "name": self.name, "creationTimestamp": self.created},
            "spec": spec,
        })
    }
}

fn snapshot(policies: &[Named<'_>], route_namespace: &str, own: Option<&Value>) -> Snapshot {
    let meta = |namespace: &str, name: &str| json!({"namespace": namespace, "name": name});
    let mut route =
        json!({"parentRefs": [{"namespace": "appns", "name": "gateway"}], "rules": [{}]});
    if let Some(own) = own {
        route["retryOn"] = own.clone();
    }
    let api = "gateway.networking.k8s.io/v1";
    let mut documents = vec![
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "appns"}}),
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": route_namespace}}),
        json!({"apiVersion": api, "kind": "Gateway", "metadata": meta("appns", "gateway"), "spec": {
            "gatewayClassName": "c",
            "listeners": [{"name": "http", "port": 80, "protocol": "HTTP",
                "allowedRoutes": {"namespaces": {"from": "All"}}}],
        }}),
        json!({"apiVersion": api, "kind": "HTTPRoute", "metadata": meta(route_namespace, "route"),
            "spec": route}),
    ];
    documents.extend(policies.iter().map(|policy| policy.object(route_namespace)));
    state::build(&profile(), documents.iter())
}

/// The value of `retryOn` that is in force for the route.
fn in_force(policies: &[Named<'_>], route_namespace: &str, own: Option<&Value>) -> Value {
    let snapshot = snapshot(policies, route_namespace, own);
    let route = state::key(&format!("HTTPRoute {route_namespace}/route"));
    let kind = GroupKind::new("networking.example.io", "RetryOnPolicy");
    let groups = Resolver::new(&snapshot).paths_through(&route, &kind);
    let [group] = groups.as_slice() else {
        panic!("{} groups of paths for one path", groups.len());
    };
    if group.stack.is_empty() {
        // Without a policy the route keeps its own value.
        return own.cloned().unwrap_or_else(|| json!([]));
    }
    let (spec, _) = group.effective.spec().unwrap();
    spec.get("retryOn").cloned().unwrap_or_else(|| json!([]))
}

/// The two policies with ages and names set, and the winner: the older, else the first by name.
fn rivals<'a>(a: &Named<'a>, b: &Named<'a>) -> [(Vec<Named<'a>>, &'a str); 4] {
    let with = |p: &Named<'a>, name, created| Named {
        name,
        created,
        ..p.clone()
    };
    let (early, late) = ("2021-07-15T01:02:03Z", "2021-07-15T01:02:04Z");
    [
        (vec![with(a, "z", early), with(b, "y", late)], "z"),
        (vec![with(a, "y", late), with(b, "z", early)], "z"),
        (vec![with(a, "y", early), with(b, "z", early)], "y"),
        (vec![with(a, "z", early), with(b, "y", early)], "y"),
    ]
}

/// The expected value of a cell, for the policies of its column and row.
fn expected(cell: &str, own: &Value, column: Option<&Named<'_>>, row: Option<&Named<'_>>) -> Value {
    match cell {
        "Empty list" => return json!([]),
        "Value in HTTPRoute" => return own.clone(),
        _ => {}
    }
    let cell = cell.strip_suffix(" Policy").unwrap_or(cell);
    let sets = |policy: &&&Named<'_>, letter: &str| {
        let words = format!("{} {}", policy.level, policy.stanza);
        cell == words || cell == format!("{words} {letter}")
    };
    let named = column
        .as_ref()
        .filter(|p| sets(p, "A"))
        .or_else(|| row.as_ref().filter(|p| sets(p, "B")));
    json!([named.unwrap_or_else(|| panic!("no {cell:?} here")).name])
}

#[test]
fn every_cell_of_the_six_tables_holds() {
    let tables = documents(&root("effective").join("w24.yaml")).remove(0);
    let mut assertions = 0;
    let mut wrong = Vec::new();
    for table in tables.as_array().unwrap() {
        let own = json!(["500"]);
        let values: Vec<Option<Value>> = if table["value"] == true {
            vec![Some(own.clone())]
        } else {
            vec![None, Some(json!([]))]
        };
        let columns = table["columns"].as_array().unwrap();
        for (row_words, cells) in table["rows"].as_object().unwrap() {
            for (column_words, cell) in columns.iter().zip(cells.as_array().unwrap()) {
                let column = Named::read(column_words.as_str().unwrap(), "a");
                let row = Named::read(row_words, "b");
                let cell = cell.as_str().unwrap();
                // The cases of one cell: policies and the expected value.
                let cases: Vec<Vec<(Vec<Named<'_>>, Value)>> = if cell.contains("first created") {
                    let [a, b, c, d] = rivals(column.as_ref().unwrap(), row.as_ref().unwrap())
                        .map(|(policies, winner)| (policies, json!([winner])));
                    vec![vec![a, b], vec![c, d]]
                } else {
                    let must = expected(cell, &own, column.as_ref(), row.as_ref());
                    vec![vec![(column.into_iter().chain(row).collect(), must)]]
                };
                for namespace in ["appns", "elsewhere"] {
                    for case in &cases {
                        assertions += 1;
                        for (policies, must) in case {
                            for own in &values {
                                let is = in_force(policies, namespace, own.as_ref());
                                if is != *must {
                                    let title = &table["title"];
                                    wrong.push(format!(
                                        "{title}, {column_words} over {row_words:?}, route in \
                                         {namespace}, own {own:?}: {is}, not {must}, with {policies:?}"
                                    ));
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(assertions, 105 * 2);
}
