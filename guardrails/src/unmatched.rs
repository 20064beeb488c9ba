//! Parts of a guardrail that fit no object of a state. A misspelt name switches a guardrail off without a word.

use attache_engine::admission::finding::{Code, Finding};
use attache_engine::model::hint::nearest;
use attache_engine::model::ids::{GroupKind, ObjectKey};
use attache_engine::state::snapshot::Snapshot;

use crate::exception::Exception;
use crate::file::GatewayMatch;
use crate::guardrail::Guardrail;

/// The findings on Gateways and exceptions of a guardrail that fit nothing. It is a warning if the name of an object that
/// exists is close, and a notice otherwise: the state may be a part of the cluster.
pub(crate) fn unmatched(snapshot: &Snapshot, guardrail: &Guardrail) -> Vec<Finding> {
    let key = guardrail.key();
    let finding = |field: String, (why, is_near): (String, bool)| {
        let mut finding = Finding::new(Code::Guardrail, &key, why).about(field.clone());
        finding.warn();
        finding.notice = !is_near;
        finding.at(field)
    };
    let gateways = guardrail.matcher.gateways().iter().enumerate();
    let gateways = gateways.filter_map(|(i, wanted)| {
        let why = no_gateway(snapshot, wanted)?;
        Some(finding(format!("spec.match.gateways[{i}]"), why))
    });
    let exceptions = guardrail.exceptions.iter().enumerate();
    let exceptions = exceptions.filter_map(|(i, exception)| {
        let why = no_target(snapshot, guardrail, exception)?;
        Some(finding(format!("spec.except[{i}].target"), why))
    });
    gateways.chain(exceptions).collect()
}

/// Why no Gateway of the state fits, and whether one is nearly named so. `None` if one does, or if the state has none at all.
fn no_gateway(snapshot: &Snapshot, wanted: &GatewayMatch) -> Option<(String, bool)> {
    let kind = GroupKind::gateway_api("Gateway");
    let mut all: Vec<&ObjectKey> = snapshot.objects(&kind).map(|object| &object.key).collect();
    all.sort();
    if all.is_empty() || all.iter().any(|key| wanted.fits(snapshot, key)) {
        return None;
    }
    let namespaces: Vec<&str> = all.iter().map(|key| &*key.namespace).collect();
    if let Some(namespace) = &wanted.namespace
        && !namespaces.contains(&namespace.as_str())
    {
        let near = nearest(namespace, &namespaces);
        return Some(and_whether_near(
            format!("namespace {namespace} has no Gateway"),
            near,
        ));
    }
    let Some(name) = &wanted.name else {
        return Some(("no Gateway fits it now".to_owned(), false));
    };
    let inside = all.iter().filter(|key| {
        let namespace = wanted.namespace.as_deref();
        namespace.is_none_or(|namespace| *key.namespace == *namespace)
    });
    let names: Vec<&str> = inside.map(|key| &*key.name).collect();
    if names.contains(&name.as_str()) {
        return Some((
            format!("Gateway {name} has another class or other labels"),
            true,
        ));
    }
    let gateway = match &wanted.namespace {
        Some(namespace) => format!("{namespace}/{name}"),
        None => name.clone(),
    };
    Some(and_whether_near(
        format!("there is no Gateway {gateway}"),
        nearest(name, &names),
    ))
}

/// Why an exception names no object of the state. `None` if it does, or if the state has no objects in its namespace.
fn no_target(
    snapshot: &Snapshot,
    guardrail: &Guardrail,
    exception: &Exception,
) -> Option<(String, bool)> {
    let kinds = match exception.kind() {
        Some(kind) => std::slice::from_ref(kind),
        None => &guardrail.matcher.kinds,
    };
    let objects = kinds.iter().flat_map(|kind| snapshot.objects(kind));
    let inside = objects.filter(|object| *object.key.namespace == *exception.namespace);
    let mut names: Vec<&str> = inside.map(|object| &*object.key.name).collect();
    names.sort_unstable();
    if names.is_empty() || names.contains(&exception.name.as_str()) {
        return None;
    }
    let kind = match kinds {
        [one] => &*one.kind,
        _ => "target",
    };
    let (namespace, name) = (&exception.namespace, &exception.name);
    Some(and_whether_near(
        format!("there is no {kind} {namespace}/{name}"),
        nearest(name, &names),
    ))
}

/// A reason, and whether a name is close.
fn and_whether_near(why: String, near: Option<&str>) -> (String, bool) {
    (with_near(why, near), near.is_some())
}

/// A reason, with the name that was probably meant.
pub(crate) fn with_near(why: String, near: Option<&str>) -> String {
    match near {
        Some(near) => format!("{why}; did you mean {near:?}?"),
        None => why,
    }
}
