//! The recorded scenarios.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::Deserialize;
use serde_json::Value;

/// One file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Recording {
    pub(crate) project: String,
    /// The recorded release.
    pub(crate) release: String,
    /// Objects of every scenario.
    pub(crate) common: Vec<Value>,
    pub(crate) scenarios: Vec<Scenario>,
}

/// A state, and the controller's answers.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Scenario {
    pub(crate) name: String,
    #[serde(default)]
    #[allow(dead_code, reason = "for who reads the file")]
    pub(crate) about: String,
    pub(crate) state: Vec<Value>,
    /// `Kind/namespace/name` to ancestor to conditions. Policies that the controller ignored are missing.
    #[serde(default)]
    pub(crate) policies: Conditions,
    /// The same for routes and their parents.
    #[serde(default)]
    pub(crate) routes: Conditions,
    /// Conditions of listeners and `ListenerSets` that are not simply accepted.
    #[serde(default)]
    #[allow(dead_code, reason = "for who reads the file")]
    pub(crate) listeners: Option<BTreeMap<String, String>>,
    /// `listener`, or `listener route#rule`, to the settings in force there.
    #[serde(default)]
    pub(crate) in_force: Option<BTreeMap<String, BTreeMap<String, Value>>>,
}

pub(crate) type Conditions = Option<BTreeMap<String, BTreeMap<String, String>>>;

/// The status and reason of a condition in `Accepted Overridden Ready=False/Pending`.
pub(crate) fn condition<'a>(all: &'a str, name: &'a str) -> Option<(&'a str, &'a str)> {
    all.split(' ').find_map(|one| {
        let (found, rest) = one.split_once('=').unwrap_or((one, "True"));
        let (status, reason) = rest.split_once('/').unwrap_or((rest, found));
        (found == name).then_some((status, reason))
    })
}

/// The recordings of a project, by file name.
pub(crate) fn read_all(dir: &Path) -> Vec<Recording> {
    let files = fs::read_dir(dir).unwrap().map(|file| file.unwrap().path());
    let is_recording = |path: &std::path::PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name != "settings.yaml" && name != "disagreements.yaml"
    };
    let mut files: Vec<_> = files.filter(is_recording).collect();
    files.sort();
    let read = |path: &std::path::PathBuf| {
        let text = fs::read_to_string(path).unwrap();
        serde_saphyr::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    };
    let mut all: Vec<Recording> = files.iter().map(read).collect();
    for scenario in all
        .iter_mut()
        .flat_map(|recording| &mut recording.scenarios)
    {
        let places = scenario.in_force.take().unwrap_or_default();
        let named = places.into_iter().flat_map(|(place, settings)| {
            let names = rule_names(&place, &scenario.state).into_iter();
            names.map(move |name| (name, settings.clone()))
        });
        scenario.in_force = Some(named.collect());
    }
    all
}

/// The rules at a place. If all rules of a route are equal, the place names the route, and each rule has its settings.
fn rule_names(place: &str, state: &[Value]) -> Vec<String> {
    let Some((_, route)) = place.split_once(' ') else {
        return vec![place.to_owned()];
    };
    if route.contains(['#', '[']) {
        return vec![rule_name(place)];
    }
    let is_it = |object: &&Value| {
        let meta = &object["metadata"];
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (kind, namespace) = (text(&object["kind"]), text(&meta["namespace"]));
        format!("{kind}/{namespace}/{}", text(&meta["name"])) == route
    };
    let found = state.iter().find(is_it).unwrap();
    let rules = found["spec"]["rules"]
        .as_array()
        .unwrap()
        .iter()
        .enumerate();
    let names = rules.map(|(i, rule)| match rule["name"].as_str() {
        Some(name) => format!("{place}#{name}"),
        None => rule_name(&format!("{place}[{i}]")),
    });
    names.collect()
}

/// The recording numbers unnamed rules, `[0]`; attache calls that one `rule-1`.
fn rule_name(place: &str) -> String {
    let Some((route, index)) = place
        .strip_suffix(']')
        .and_then(|place| place.split_once('['))
    else {
        return place.to_owned();
    };
    format!("{route}#rule-{}", index.parse::<usize>().unwrap() + 1)
}
