//! Parts of a guardrail that fit no object of a state. A guardrail with a misspelt name never
//! applies, and nothing else reports it.

use std::collections::BTreeSet;

use attache_engine::admission::finding::{Code, Finding};
use attache_engine::model::hint::nearest;
use attache_engine::model::ids::{GroupKind, ObjectKey};
use attache_engine::model::object::{Node, Object};
use attache_engine::model::selector::{Labels, Selector};
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
    let namespaces = no_namespace(snapshot, guardrail);
    let namespaces = namespaces.map(|why| finding("spec.match.namespaceSelector".to_owned(), why));
    gateways.chain(namespaces).chain(exceptions).collect()
}

/// Why no Namespace of the state fits, and whether a label is nearly so. `None` if one does, or if the state has none at all.
fn no_namespace(snapshot: &Snapshot, guardrail: &Guardrail) -> Option<(String, bool)> {
    let selector = guardrail.matcher.namespaces()?;
    let namespaces = snapshot.objects(&GroupKind::core("Namespace"));
    let all: Vec<&Labels> = namespaces.map(|one| &one.meta.labels).collect();
    (!all.is_empty())
        .then(|| no_labels("Namespace", selector, &all))
        .flatten()
}

/// Why no object with these labels fits; `None` if one does.
fn no_labels(kind: &str, selector: &Selector, all: &[&Labels]) -> Option<(String, bool)> {
    if all.iter().any(|labels| selector.selects(labels)) {
        return None;
    }
    for (key, value) in selector.equal() {
        let keys: BTreeSet<&str> = all
            .iter()
            .flat_map(|labels| labels.keys().map(|key| &**key))
            .collect();
        if !keys.contains(&**key) {
            let why = format!("no {kind} has a label {key:?}");
            let keys: Vec<&str> = keys.into_iter().collect();
            return Some(and_whether_near(why, nearest(key, &keys)));
        }
        let values: BTreeSet<&str> = all
            .iter()
            .filter_map(|labels| labels.get(key).map(|value| &**value))
            .collect();
        if !values.contains(&**value) {
            let why = format!("no {kind} has the label {key}={value}");
            let values: Vec<&str> = values.into_iter().collect();
            return Some(and_whether_near(why, nearest(value, &values)));
        }
    }
    Some((format!("no {kind} has such labels"), false))
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
        return Some(no_class_or_labels(snapshot, wanted, &all));
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

/// Why no Gateway has the class and the labels.
fn no_class_or_labels(
    snapshot: &Snapshot,
    wanted: &GatewayMatch,
    all: &[&ObjectKey],
) -> (String, bool) {
    let gateways: Vec<&Object> = all
        .iter()
        .filter_map(|key| snapshot.get(key))
        .map(AsRef::as_ref)
        .collect();
    if let Some(class) = &wanted.class {
        let classes: BTreeSet<&str> = gateways
            .iter()
            .filter_map(|gateway| match &gateway.node {
                Node::Gateway { class, .. } => Some(&**class),
                _ => None,
            })
            .collect();
        if !classes.contains(class.as_str()) {
            let classes: Vec<&str> = classes.into_iter().collect();
            let why = format!("no Gateway has the class {class}");
            return and_whether_near(why, nearest(class, &classes));
        }
    }
    let labels: Vec<&Labels> = gateways.iter().map(|one| &one.meta.labels).collect();
    let selector = wanted.selector.as_ref();
    let unlabelled = selector.and_then(|selector| no_labels("Gateway", selector, &labels));
    unlabelled.unwrap_or_else(|| {
        (
            "no Gateway meets all conditions of this entry".to_owned(),
            false,
        )
    })
}

/// Why an exception names no object of the state. `None` if it does, or if the state has no objects in its namespace.
fn no_target(
    snapshot: &Snapshot,
    guardrail: &Guardrail,
    exception: &Exception,
) -> Option<(String, bool)> {
    if let Some(kind) = exception.kind()
        && !guardrail.matcher.kinds.contains(kind)
    {
        let why = format!(
            "the guardrail does not match {}, so the exception has no effect",
            kind.kind
        );
        return Some((why, true));
    }
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
