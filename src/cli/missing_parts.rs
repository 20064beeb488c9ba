//! Describes in a few lines what is missing from an answer about a cluster, so that nobody takes a partial answer for a
//! complete one.

use std::collections::BTreeMap;

use crate::answer::report::unknown_kinds;
use crate::cache::lists::{Missing, MissingPart};
use crate::engine::admission::verdict::escape;
use crate::engine::model::ids::{GroupKind, ObjectKey};
use crate::engine::state::snapshot::Snapshot;

/// The limit of kinds in one line.
const MAX_NAMED_KINDS: usize = 4;

/// One line for each reason that something is missing. `policies` are the policy kinds that were found.
pub(super) fn lines(missing: &[Missing], policies: &[GroupKind]) -> Vec<String> {
    let mut lines = Vec::new();
    let mut kinds: BTreeMap<String, Vec<&GroupKind>> = BTreeMap::new();
    let mut elsewhere: BTreeMap<(&str, String), Vec<&GroupKind>> = BTreeMap::new();
    for Missing { what, why } in missing {
        match what {
            MissingPart::Definitions(kinds) => lines.push(no_definitions(&why.to_string(), kinds)),
            MissingPart::Definition(name) => {
                lines.push(format!("incomplete: the CRD {name} cannot be used: {why}"));
            }
            MissingPart::GatewayApi => lines.push(no_gateway_api(policies)),
            MissingPart::Object(key) => {
                lines.push(format!("incomplete: {key} cannot be read: {why}"));
            }
            MissingPart::Kind(gk) => kinds.entry(why.to_string()).or_default().push(gk),
            MissingPart::Elsewhere(namespace, gk) => {
                let about = elsewhere.entry((namespace, why.to_string()));
                about.or_default().push(gk);
            }
        }
    }
    lines.extend(elsewhere.into_iter().map(|((namespace, why), kinds)| {
        let kinds = named(&kinds);
        format!(
            "incomplete: of {kinds} only those in namespace {namespace} are read: {why} list others"
        )
    }));
    lines.extend(
        kinds
            .into_iter()
            .map(|(why, kinds)| format!("incomplete: {} cannot be listed: {why}", named(&kinds))),
    );
    lines.iter().map(|line| escape(line)).collect()
}

fn no_definitions(why: &str, unexplained: &[GroupKind]) -> String {
    let left_out = match unexplained {
        [] => String::new(),
        kinds => format!(", not {}", named(&kinds.iter().collect::<Vec<_>>())),
    };
    format!(
        "incomplete: CRDs cannot be listed: {why}; only policy kinds that attache or its configuration knows are read{left_out}"
    )
}

fn no_gateway_api(policies: &[GroupKind]) -> String {
    let policies: Vec<&GroupKind> = policies.iter().collect();
    let kinds = match policies.as_slice() {
        [] => "no policy kinds either".to_owned(),
        policies => format!("only policy kinds: {}", named(policies)),
    };
    format!(
        "Gateway API is not installed in this cluster; there are {kinds}. Install its CRDs, or select another cluster with --context"
    )
}

/// Prints to standard error what is not known about the kinds of files.
pub(super) fn say_undefined<'a>(snapshot: &Snapshot, objects: impl Iterator<Item = &'a ObjectKey>) {
    for line in undefined(snapshot, objects) {
        eprintln!("attache: {line}");
    }
}

/// Lines about the kinds of objects of files: those that look like policy kinds and are not known, and policy kinds without a CRD.
pub(super) fn undefined<'a>(
    snapshot: &Snapshot,
    objects: impl Iterator<Item = &'a ObjectKey>,
) -> Vec<String> {
    let mut lines = unknown(snapshot, objects);
    let kinds: Vec<&GroupKind> = snapshot.undefined_kinds().collect();
    lines.extend(without_crd(&kinds));
    lines
}

/// One line for each kind that looks like a policy kind and is not known.
pub(super) fn unknown<'a>(
    snapshot: &Snapshot,
    objects: impl Iterator<Item = &'a ObjectKey>,
) -> Vec<String> {
    let unknown = unknown_kinds(snapshot, objects, "read");
    let lines = unknown.iter().map(|finding| escape(&finding.message));
    lines.collect()
}

/// The line about policy kinds without a CRD among the files.
pub(super) fn without_crd(kinds: &[&GroupKind]) -> Option<String> {
    let (its, used) = match kinds {
        [] => return None,
        [_] => ("its", "only its profile is used"),
        _ => ("their", "only their profiles are used"),
    };
    let kinds = named(kinds);
    Some(escape(&format!(
        "no CRD found for {kinds}: {its} fields are not checked, {used}"
    )))
}

/// Why an object could not be read. `None` if it simply does not exist.
pub(super) fn why_not(missing: &[Missing], key: &ObjectKey) -> Option<String> {
    let hides = |what: &MissingPart| match what {
        MissingPart::Object(object) => object == key,
        MissingPart::Kind(gk) => *gk == key.gk,
        MissingPart::Elsewhere(namespace, gk) => *gk == key.gk && *namespace != key.namespace,
        _ => false,
    };
    let mut hiding = missing.iter().filter(|missing| hides(&missing.what));
    let why = &hiding.next()?.why;
    Some(escape(&format!("{key} cannot be read: {why}")))
}

/// A few kinds, and the number of the others.
fn named(kinds: &[&GroupKind]) -> String {
    let mut names: Vec<String> = kinds
        .iter()
        .take(MAX_NAMED_KINDS)
        .map(ToString::to_string)
        .collect();
    match kinds.len().saturating_sub(MAX_NAMED_KINDS) {
        0 => {}
        1 => names.push("1 more kind".to_owned()),
        more => names.push(format!("{more} more kinds")),
    }
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} and {last}", rest.join(", ")),
        _ => names.concat(),
    }
}
