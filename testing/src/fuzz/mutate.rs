//! Derives inputs from other inputs: JSON is mutated as a tree, other text by lines, and either sometimes as bytes.

use super::json::{Json, quoted};
use super::rng::Rng;

/// Unusual values, as JSON.
const VALUES: [&str; 34] = [
    "null",
    "true",
    "0",
    "-1",
    "1",
    "80",
    "443",
    "65535",
    "65536",
    "4294967296",
    "9223372036854775808",
    "18446744073709551617",
    "1e400",
    "-0.0",
    "1E+2",
    "0.1",
    "[]",
    "{}",
    "[{}]",
    "[null]",
    "{\"\":null}",
    "\"\"",
    "\" \"",
    "\"\\u0000\"",
    "\"a\\nb\"",
    "\"\\u001b[31m\"",
    "\"\\ud800\"",
    "\"\\u202egnp\"",
    "\"\\u200b\"",
    "\"é\"",
    "\"🦀\"",
    "\"*\"",
    "\"*.\"",
    "\"%s\"",
];

/// Names that occur in the objects of the tests.
const NAMES: [&str; 62] = [
    "edge",
    "http",
    "https",
    "infra",
    "shop",
    "cart",
    "retries",
    "ns",
    "g",
    "r",
    "rule-1",
    "rule-0",
    "rule-18446744073709551616",
    "rule-2",
    "80",
    "65536",
    "core",
    "Gateway",
    "gateway",
    "GatewayClass",
    "HTTPRoute",
    "GRPCRoute",
    "ListenerSet",
    "Service",
    "Namespace",
    "ReferenceGrant",
    "Secret",
    "gateway.networking.k8s.io",
    "gateway.networking.k8s.io/v1",
    "policies.example.com",
    "policies.example.com/v1beta1",
    "v1",
    "All",
    "Same",
    "Selector",
    "None",
    "HTTP",
    "TLS",
    "In",
    "NotIn",
    "Exists",
    "DoesNotExist",
    "CREATE",
    "UPDATE",
    "DELETE",
    "CONNECT",
    "AtomicDefaults",
    "AtomicOverrides",
    "PatchDefaults",
    "PatchOverrides",
    "atomic",
    "patch",
    "merge",
    "Direct",
    "inherited",
    "true",
    "*.example.com",
    "shop.example.com",
    "2026-01-01T00:00:00Z",
    "0000-00-00T00:00:00Z",
    "attache.dev/pending",
    "attache.dev/projected",
];

/// Fields that attache reads.
const FIELDS: [&str; 66] = [
    "apiVersion",
    "kind",
    "metadata",
    "spec",
    "status",
    "name",
    "namespace",
    "labels",
    "annotations",
    "creationTimestamp",
    "deletionTimestamp",
    "generateName",
    "generation",
    "managedFields",
    "targetRef",
    "targetRefs",
    "targetSelectors",
    "group",
    "sectionName",
    "selector",
    "matchLabels",
    "matchExpressions",
    "key",
    "operator",
    "values",
    "defaults",
    "overrides",
    "strategy",
    "mergeStrategy",
    "mergeType",
    "parentRefs",
    "parentRef",
    "backendRefs",
    "rules",
    "hostnames",
    "hostname",
    "listeners",
    "allowedRoutes",
    "allowedListeners",
    "namespaces",
    "from",
    "to",
    "kinds",
    "ports",
    "port",
    "protocol",
    "gatewayClassName",
    "controllerName",
    "versions",
    "schema",
    "openAPIV3Schema",
    "properties",
    "items",
    "enum",
    "maxItems",
    "required",
    "x-kubernetes-validations",
    "x-kubernetes-list-map-keys",
    "rule",
    "uid",
    "operation",
    "object",
    "oldObject",
    "userInfo",
    "dryRun",
    "subResource",
];

/// Mutates an input, to at most `most` bytes.
pub fn mutate(data: &[u8], rng: &mut Rng, most: usize) -> Vec<u8> {
    let text = std::str::from_utf8(data).ok();
    let tree = text.and_then(Json::parse);
    let mut out = match (tree, text) {
        (Some(mut tree), _) if !rng.one_in(16) => {
            for _ in 0..=rng.below(4) {
                change(&mut tree, rng);
            }
            let mut out = String::new();
            tree.write(&mut out);
            out.into_bytes()
        }
        (None, Some(text)) if !rng.one_in(8) => lines(text, rng).into_bytes(),
        _ => bytes(data, rng),
    };
    // Truncated JSON is hardly JSON any more, so keep the original.
    if out.len() > most {
        out = data.to_vec();
        out.truncate(most);
    }
    out
}

fn change(tree: &mut Json, rng: &mut Rng) {
    let count = tree.count();
    let donor = tree.at(rng.below(count)).cloned();
    let Some(at) = tree.at(rng.below(count)) else {
        return;
    };
    match rng.below(12) {
        0 => *at = Json::Text(rng.pick(&VALUES).to_owned()),
        1 => *at = Json::string(rng.pick(&NAMES)),
        2 => *at = donor.unwrap_or_else(|| Json::Text("null".to_owned())),
        3 => *at = Json::List(vec![at.clone(); 1 + rng.below(3)]),
        4 => *at = Json::Map(vec![(quoted(rng.pick(&FIELDS)), at.clone())]),
        5 => deepen(at, rng),
        6 => *at = Json::Text(long(rng)),
        _ => inside(at, donor, rng),
    }
}

/// Changes a text, or the fields or items of a value.
fn inside(at: &mut Json, donor: Option<Json>, rng: &mut Rng) {
    let new = match rng.below(3) {
        0 => Json::Text(rng.pick(&VALUES).to_owned()),
        1 => Json::string(rng.pick(&NAMES)),
        _ => donor.unwrap_or_else(|| Json::List(Vec::new())),
    };
    match at {
        Json::Text(text) => *text = word(text, rng),
        Json::List(items) => {
            let i = rng.below(items.len());
            match rng.below(5) {
                0 if !items.is_empty() => drop(items.remove(i)),
                1 if !items.is_empty() => items.insert(i, items[i].clone()),
                2 if !items.is_empty() => {
                    let many = vec![items[i].clone(); rng.below(40)];
                    items.extend(many);
                }
                3 => items.reverse(),
                _ => items.insert(i, new),
            }
        }
        Json::Map(fields) => {
            let i = rng.below(fields.len());
            match rng.below(5) {
                0 if !fields.is_empty() => drop(fields.remove(i)),
                // Duplicate the key.
                1 if !fields.is_empty() => fields.push(fields[i].clone()),
                2 if !fields.is_empty() => fields[i].0 = quoted(rng.pick(&FIELDS)),
                3 if !fields.is_empty() => fields[i].1 = new,
                _ => fields.insert(i, (quoted(rng.pick(&FIELDS)), new)),
            }
        }
    }
}

fn word(text: &str, rng: &mut Rng) -> String {
    let Ok(serde_json::Value::String(mut plain)) = serde_json::from_str(text) else {
        return rng.pick(&VALUES).to_owned();
    };
    match rng.below(7) {
        0 => plain.push_str(rng.pick(&["\u{1b}[0m", "\n", "\u{202e}", "\0", "/v1", "x", "🦀"])),
        1 => drop(plain.pop()),
        2 => plain = plain.to_uppercase(),
        3 => plain = plain.to_lowercase(),
        4 => plain = plain.repeat(1 + rng.below(8)),
        5 => plain.insert_str(0, rng.pick(&["*", "*.", ".", " ", "-", "x"])),
        _ => plain = plain.chars().rev().collect(),
    }
    quoted(&plain)
}

fn deepen(at: &mut Json, rng: &mut Rng) {
    let depth = rng.pick(&[3, 30, 121, 128, 200]);
    let mut inner = String::new();
    at.write(&mut inner);
    *at = Json::Text(if rng.one_in(2) {
        format!("{}{inner}{}", "[".repeat(depth), "]".repeat(depth))
    } else {
        format!("{}{inner}{}", "{\"a\":".repeat(depth), "}".repeat(depth))
    });
}

fn long(rng: &mut Rng) -> String {
    let unit = rng.pick(&["a", "\\u0001", "é", "a.", "x-", "\\\""]);
    quoted("").replace('"', "") + &format!("\"{}\"", unit.repeat(64 + rng.below(400)))
}

fn lines(text: &str, rng: &mut Rng) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    if lines.is_empty() {
        lines.push(String::new());
    }
    for _ in 0..=rng.below(3) {
        let (i, j) = (rng.below(lines.len()), rng.below(lines.len()));
        match rng.below(9) {
            0 if lines.len() > 1 => drop(lines.remove(i)),
            1 => lines.insert(i, lines[j].clone()),
            2 => lines.swap(i, j),
            3 => lines[i].insert_str(0, "  "),
            4 => {
                let space = lines[i].len() - lines[i].trim_start().len();
                lines[i].drain(..space);
            }
            5 => {
                let key = lines[i].split(':').next().unwrap_or_default().to_owned();
                lines[i] = format!("{key}: {}", rng.pick(&VALUES));
            }
            6 => {
                let key = lines[i].split(':').next().unwrap_or_default().to_owned();
                lines[i] = format!("{key}: {}", rng.pick(&NAMES));
            }
            7 => {
                let space = lines[i].len() - lines[i].trim_start().len();
                lines[i] = format!("{}{}: x", " ".repeat(space), rng.pick(&FIELDS));
            }
            _ => {
                let odd = [
                    "---",
                    "...",
                    "&a x",
                    "*a",
                    "<<: *a",
                    "? [a]",
                    "!!binary x",
                    "- - -",
                    "|",
                    "#",
                    "\t- x",
                ];
                lines.insert(i, rng.pick(&odd).to_owned());
            }
        }
    }
    let mut text = lines.join("\n");
    text.push('\n');
    text
}

fn bytes(data: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut data = data.to_vec();
    for _ in 0..=rng.below(3) {
        let (i, j) = (rng.below(data.len()), rng.below(data.len()));
        match rng.below(6) {
            0 => data.truncate(i),
            1 if !data.is_empty() => data[i] ^= 1 << rng.below(8),
            2 if !data.is_empty() => drop(data.remove(i)),
            3 => drop(data.splice(i..i, [0xff, 0xfe])),
            4 => {
                let part = data[i.min(j)..i.max(j)].to_vec();
                drop(data.splice(i..i, part));
            }
            _ => data.insert(i, rng.pick(b"{}[]\",:\\\0\n*.-0")),
        }
    }
    data
}
