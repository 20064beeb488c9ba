//! References in the settings of a policy that cannot be resolved.

use serde_json::Value;

use crate::attachment::by_controller::{is_external_name, rejected_at};
use crate::attachment::rejection::is_reported_accepted;
use crate::attachment::senders::SendersOfBackends;
use crate::kinds::profile::{Reference, SpecPath, collect};
use crate::model::ids::ObjectKey;
use crate::model::literal;
use crate::model::object::{Node, Port, PortProtocol};
use crate::model::wording::plural;
use crate::policy::{Policy, named_object};
use crate::state::grants::granted;
use crate::state::snapshot::{Snapshot, namespace_key};

/// A reference of a policy that cannot be resolved.
#[derive(Clone, Debug)]
pub(crate) struct Unresolved<'a> {
    /// The facts about the field.
    pub field: &'a Reference,
    /// Why, in words.
    pub why: String,
    /// Whether requests that the policy is for get an error.
    pub requests_fail: bool,
    /// The setting that the controllers leave out, if they apply the others.
    pub left_out: Option<&'a [String]>,
}

// === impl Policy ===

impl Policy {
    /// The first reference in its settings that cannot be resolved, one for which the policy is rejected as a whole before the
    /// others: no `ReferenceGrant` allows it, or its object, a field or a port of the object does not exist. A reference counts only if
    /// the state has other objects of the kind in the namespace, or if the change deletes the
    /// object: manifests may lack objects that others deploy. Without a grant, the object is not
    /// looked up.
    pub(crate) fn unresolved<'a>(&'a self, snapshot: &Snapshot) -> Option<Unresolved<'a>> {
        let all = self.references.iter().filter_map(|named| {
            let (field, to) = (self.profile.references.get(named.field)?, &named.object);
            if field.if_missing.is_none() || !may_be_known_missing(snapshot, to) {
                return None;
            }
            let path = field.path.join(".");
            let why = if let Some(why) = unusable(snapshot, self.key(), field.grant, to) {
                format!("{path} names {why}")
            } else if let Some(has) = field
                .has
                .as_ref()
                .filter(|has| lacks_field(snapshot, to, has))
            {
                format!("{path} names {to}, which has no {}", has.join("."))
            } else if field.no_external_names && is_external_name(snapshot, to) {
                format!("{path} names {to} of type ExternalName")
            } else if field.port && lacks_port(snapshot, to, named.port) {
                match named.port {
                    Some(port) => {
                        format!("{path} names port {port} of {to}, which has no such TCP port")
                    }
                    None => format!("{path} names {to} without a port"),
                }
            } else if let Some(why) = unusable_service(snapshot, to, &field.services) {
                format!("{path} names {to}, whose {why}")
            } else {
                return None;
            };
            let fails_open = self.reference_fails_open(field, to);
            let left_out = field.left_out.as_deref().filter(|_| fails_open);
            Some(Unresolved {
                field,
                why,
                requests_fail: field.requests_fail && !fails_open,
                left_out: left_out.filter(|path| self.without_setting(path).is_some()),
            })
        });
        let mut first = None;
        for unresolved in all {
            if unresolved.left_out.is_none() {
                return Some(unresolved);
            }
            first = first.or(Some(unresolved));
        }
        first
    }

    /// Whether requests get an error because controllers reject its settings, because these name an object that cannot be used, or
    /// because its controllers report that it is invalid.
    ///
    /// The report that they accept it goes before that, unless the change under review brings the rejection about.
    pub fn requests_fail(&self, snapshot: &Snapshot) -> bool {
        let seen = || {
            let seen = snapshot.observed_by_controllers()?;
            Some((seen.policy(self.key())?, seen))
        };
        self.should_fail_requests(snapshot)
            && (!is_reported_accepted(snapshot, self)
                || seen().is_some_and(|(policy, seen)| !policy.should_fail_requests(seen)))
    }

    fn should_fail_requests(&self, snapshot: &Snapshot) -> bool {
        let rejected = || {
            let senders = SendersOfBackends::default();
            let mut targets = self.targets.iter();
            targets.find_map(|target| {
                if let Some(object) = target.object(&self.key().namespace) {
                    let mut rejected = rejected_at(snapshot, &senders, self, &object).into_iter();
                    let of_all = rejected.find(|(_, requests)| requests.is_empty());
                    return of_all.map(|(rejected, _)| rejected);
                }
                let mut all = self.rejected_on(&target.gk);
                all.find(|rejected| rejected.controllers.is_empty())
            })
        };
        // A rejection for the settings as written precedes the reports of controllers.
        if let Some(rejected) = rejected() {
            return rejected.requests_fail;
        }
        let unresolved = self.unresolved(snapshot);
        let reported = || self.reported_invalid(snapshot);
        unresolved.is_some_and(|unresolved| unresolved.requests_fail)
            || reported().is_some_and(|reported| reported.requests_fail)
    }

    /// Whether requests pass although an object that a field names cannot be used. Of a list, the items that name it decide.
    fn reference_fails_open(&self, field: &Reference, to: &ObjectKey) -> bool {
        let Some(path) = &field.fail_open else {
            return false;
        };
        let is_item = |part: &String| *part == "*";
        let items = path
            .iter()
            .position(is_item)
            .map(|at| path.split_at(at + 1));
        let of_items = items.and_then(|(list, setting)| {
            let named = field.path.strip_prefix(list)?;
            Some((list, setting, named))
        });
        let Some((list, setting, named)) = of_items else {
            return self.fails_open([path]);
        };
        if !self.may_write(path) {
            return false;
        }
        let spec = self.spec();
        let default = (&*field.group, &*field.kind);
        let own = &self.key().namespace;
        let mut items = Vec::new();
        for body in self.profile.bodies(&spec) {
            collect(body, list, &mut items);
        }
        let names_it = |item: &&&Value| {
            let mut values = Vec::new();
            collect(item, named, &mut values);
            let mut values = values.into_iter().flat_map(|value| match value {
                Value::Array(references) => references.as_slice(),
                one => std::slice::from_ref(one),
            });
            values.any(|value| named_object(value, default, own).as_ref() == Some(to))
        };
        let opens = |item: &&Value| {
            let mut values = Vec::new();
            collect(item, setting, &mut values);
            values.into_iter().any(lets_pass)
        };
        let mut naming = items.iter().filter(names_it).peekable();
        naming.peek().is_some() && naming.all(opens)
    }

    /// Whether the text of its spec may have a setting, so that it needs to be read.
    fn may_write(&self, path: &[String]) -> bool {
        let text = self.object.spec.as_deref().unwrap_or_default();
        // Keys may be written with escapes.
        text.contains('\\') || path.last().is_some_and(|key| text.contains(key.as_str()))
    }

    /// Whether one of these settings is `true` or `FailOpen`, with which it lets requests pass instead of an error.
    pub(super) fn fails_open<'p>(&self, paths: impl IntoIterator<Item = &'p SpecPath>) -> bool {
        let paths: Vec<&SpecPath> = paths.into_iter().collect();
        if paths.is_empty() {
            return false;
        }
        if !paths.iter().any(|path| self.may_write(path)) {
            return false;
        }
        // As written: a rejected policy may have no settings where it is in force.
        let spec = self.spec();
        self.profile.bodies(&spec).any(|settings| {
            paths.iter().any(|path| {
                let mut values = Vec::new();
                collect(settings, path, &mut values);
                values.into_iter().any(lets_pass)
            })
        })
    }
}

/// Whether the value of a setting lets requests pass instead of an error.
fn lets_pass(value: &Value) -> bool {
    *value == true || *value == "FailOpen"
}

/// Whether an object certainly lacks a field. An object whose spec is unknown or empty may have it.
fn lacks_field(snapshot: &Snapshot, object: &ObjectKey, field: &[String]) -> bool {
    known_spec(snapshot, object).is_some_and(|spec| {
        let mut values = Vec::new();
        collect(&spec, field, &mut values);
        values.into_iter().all(Value::is_null)
    })
}

/// The spec of an object, unless it is unknown or empty.
pub(super) fn known_spec(snapshot: &Snapshot, object: &ObjectKey) -> Option<Value> {
    let spec = snapshot.get(object)?.spec.as_deref()?;
    let spec = literal::from_str(spec).ok()?;
    let has_fields = spec.as_object().is_some_and(|fields| !fields.is_empty());
    has_fields.then_some(spec)
}

/// Whether the absence of an object counts: the state has other objects of the kind in its namespace, or the change deletes it.
fn may_be_known_missing(snapshot: &Snapshot, object: &ObjectKey) -> bool {
    let namespace = namespace_key(&object.namespace);
    snapshot.is_hypothetical(object) || snapshot.naming_of(&namespace, &object.gk).next().is_some()
}

/// Why an object cannot be used that another one names, with its name. Without a grant, the object is not looked up.
fn unusable(
    snapshot: &Snapshot,
    from: &ObjectKey,
    needs_grant: bool,
    to: &ObjectKey,
) -> Option<String> {
    if needs_grant && !granted(snapshot, &from.gk, &from.namespace, to) {
        return Some(format!(
            "{to}, and no ReferenceGrant in namespace {} covers {} of namespace {}",
            to.namespace,
            plural(&from.gk.kind),
            from.namespace,
        ));
    }
    let is_missing = snapshot.lacks(to);
    is_missing.then(|| format!("{to}, which does not exist"))
}

/// Why one of the Services that an object names in these fields of its spec cannot be used.
fn unusable_service(
    snapshot: &Snapshot,
    object: &ObjectKey,
    fields: &[SpecPath],
) -> Option<String> {
    let services = services_named_by(snapshot, object, fields).into_iter();
    let mut known = services.filter(|(_, service)| may_be_known_missing(snapshot, service));
    known.find_map(|(field, service)| {
        let why = unusable(snapshot, object, true, &service)?;
        // The path to the field in the other object would make the sentence too long for a warning.
        let field = field.last().map_or("spec", String::as_str);
        Some(format!("{field} names {why}"))
    })
}

/// The Services that an object names in these fields of its spec, each with its field.
pub(super) fn services_named_by<'f>(
    snapshot: &Snapshot,
    object: &ObjectKey,
    fields: &'f [SpecPath],
) -> Vec<(&'f SpecPath, ObjectKey)> {
    if fields.is_empty() {
        return Vec::new();
    }
    let Some(spec) = known_spec(snapshot, object) else {
        return Vec::new();
    };
    let services = fields.iter().flat_map(|field| {
        let mut values = Vec::new();
        collect(&spec, field, &mut values);
        let named = values.into_iter();
        let named = named.filter_map(|one| named_object(one, ("", "Service"), &object.namespace));
        let services = named.filter(|named| named.gk.is_core("Service"));
        services
            .map(move |service| (field, service))
            .collect::<Vec<_>>()
    });
    services.collect()
}

/// Whether a Service has no TCP port of this number.
fn lacks_port(snapshot: &Snapshot, service: &ObjectKey, number: Option<u16>) -> bool {
    let node = snapshot.get(service).map(|object| &object.node);
    let Some(Node::Service { ports, .. }) = node else {
        return false;
    };
    let is_meant = |port: &Port| Some(port.number) == number && port.protocol == PortProtocol::Tcp;
    !ports.iter().any(is_meant)
}
