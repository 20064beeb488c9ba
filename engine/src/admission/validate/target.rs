//! Rules on one target of a policy.

use super::reach::out_of_reach;
use super::{section, selected, suggestion};
use crate::admission::finding::{Code, Finding};
use crate::attachment::takes_core_group;
use crate::kinds::profile::{Allowed, CrossNamespace};
use crate::model::hint::{is_near, listed, one};
use crate::model::ids::{GroupKind, ObjectKey};
use crate::model::object::{CORE_KINDS, Object, gateway_kinds, is_core_kind, section_noun};
use crate::model::section::{has_none, is_ambiguous};
use crate::policy::{Fault, Policy, Spelling, TargetEntry, TargetRef, entries};
use crate::state::snapshot::Snapshot;

/// All findings on one entry.
pub(super) fn findings(
    snapshot: &Snapshot,
    policy: &Policy,
    entry: &TargetEntry<'_>,
    limit: usize,
) -> Vec<Finding> {
    let spelling = spelling(snapshot, policy, entry);
    let mut findings = Vec::new();
    match &entry.target {
        Err(fault) => {
            findings.extend(spelling);
            findings.extend(faulty(policy.key(), entry, fault));
        }
        Ok(target) => {
            let unread = unread_namespace(policy, entry);
            let unsupported = unsupported_kind(policy, entry, target);
            // Report one mistake once: whether the target exists does not matter if it cannot be a target, or if the
            // controllers look for it elsewhere.
            let refused = entry.is_misspelt || unsupported.as_ref().is_some_and(Finding::refuses);
            let explains_absence = unsupported.is_some() || unread.is_some();
            let about = about_target(snapshot, policy, entry, target, limit);
            let about = about.filter(|finding| {
                !(refused || explains_absence && finding.code == Code::TargetNotFound)
            });
            findings.extend(spelling);
            findings.extend(unserved_group(snapshot, policy, entry, target));
            if unsupported.is_none() && !entry.is_misspelt {
                findings.extend(not_of_core(snapshot, policy, entry));
            }
            findings.extend(unread);
            findings.extend(unsupported);
            findings.extend(
                about.or_else(|| selected::finding(snapshot, policy, entry, target, limit)),
            );
        }
    }
    if entry.both {
        let message = "the target has a name and a selector; keep one of them";
        findings.push(
            Finding::new(Code::TargetBothForms, policy.key(), message)
                .at(&entry.path)
                .about("name selector"),
        );
    }
    findings
}

/// The finding on a kind in a different case than it is served in, or on `core` for the empty
/// group. If it is known which kinds can be targets, the request is refused: controllers compare
/// exactly. Otherwise attache accepts the kind that was probably meant.
fn spelling(snapshot: &Snapshot, policy: &Policy, entry: &TargetEntry<'_>) -> Option<Finding> {
    let spelling = wrong_spelling(snapshot, policy, entry)?;
    let (field, written, right) = (spelling.field, &spelling.written, &spelling.right);
    if let Some((code, message)) = refused_spelling(snapshot, policy, entry) {
        let (field, about) = match code {
            Code::TargetMissingRef => ("group", "group".to_owned()),
            _ => (field, format!("{field} {written}")),
        };
        return Some(
            Finding::new(code, policy.key(), message)
                .at(format!("{}.{field}", entry.path))
                .about(about),
        );
    }
    let message = if written.is_empty() && right.is_empty() {
        let lacking = lacking(snapshot, entry).map(|why| format!(", and it {why}"));
        let lacking = lacking.unwrap_or_default();
        format!("no {field}, which attache takes for the core API (\"\"){lacking}")
    } else if written.is_empty() {
        format!("no {field}; attache assumes {right:?}")
    } else {
        format!("{written:?} is not the exact {field}; write {right:?}")
    };
    Some(
        Finding::new(Code::TargetSpelling, policy.key(), message)
            .at(format!("{}.{field}", entry.path))
            .about(format!("{field} {written}")),
    )
}

/// The spelling of an entry, if it is wrong for the controllers of its target.
fn wrong_spelling<'a>(
    snapshot: &Snapshot,
    policy: &Policy,
    entry: &'a TargetEntry<'_>,
) -> Option<&'a Spelling> {
    let spelling = entry.spelling.as_ref()?;
    let target = entry.target.as_ref();
    let is_taken = (spelling.field, &*spelling.written) == ("group", "core")
        && target.is_ok_and(|target| takes_core_group(snapshot, policy, target));
    (!is_taken).then_some(spelling)
}

/// Why no controller takes an entry as it is spelled: it has no group, or a kind or group in another spelling.
fn refused_spelling(
    snapshot: &Snapshot,
    policy: &Policy,
    entry: &TargetEntry<'_>,
) -> Option<(Code, String)> {
    let spelling = wrong_spelling(snapshot, policy, entry)?;
    let (field, written, right) = (spelling.field, &spelling.written, &spelling.right);
    if entry.guessed
        && entry.field.needs_group
        && let Ok(target) = &entry.target
    {
        let group = &*target.gk.group;
        let message = match lacking(snapshot, entry).filter(|_| group.is_empty()) {
            Some(_) => format!("the target has no group; write that of {}", target.gk.kind),
            None => format!("the target has no group; write {group:?}"),
        };
        return Some((Code::TargetMissingRef, message));
    }
    entry.is_misspelt.then(|| {
        let kind = &policy.profile.gk.kind;
        let message = format!(
            "{kind} cannot target {field} {}; write {right:?}",
            one(written)
        );
        (Code::TargetKindUnsupported, message)
    })
}

/// Why a policy is not attached to a target that is spelled as no controller takes it, in the words of the finding.
pub fn why_misspelt(snapshot: &Snapshot, policy: &Policy, target: &TargetRef) -> Option<String> {
    let spec = policy.spec();
    let entries = entries(&spec, &policy.profile);
    let mut of_target = entries.iter().filter(|entry| {
        let read = entry.target.as_ref();
        read.is_ok_and(|read| read == target)
    });
    of_target.find_map(|entry| Some(refused_spelling(snapshot, policy, entry)?.1))
}

/// A text for a target of the core group that the core API has no such kind:
/// `has no kind HTTPRoute; did you mean group "…"?`. `None` for other targets, and if the kind is
/// known.
fn lacking(snapshot: &Snapshot, entry: &TargetEntry<'_>) -> Option<String> {
    let gk = &entry.target.as_ref().ok()?.gk;
    let is_known = is_core_kind(&gk.kind) || snapshot.known_kinds().any(|known| known == gk);
    if !gk.group.is_empty() || is_known {
        return None;
    }
    let kind = &gk.kind;
    let mut others: Vec<GroupKind> = snapshot.known_kinds().cloned().collect();
    others.extend(gateway_kinds());
    others.retain(|other| !other.group.is_empty());
    others.sort();
    let same = others.iter().find(|other| other.kind == *kind);
    let near = || others.iter().find(|other| is_near(&other.kind, kind, 2));
    let core = || CORE_KINDS.iter().find(|core| is_near(core, kind, 2));
    let hint = match (same, core()) {
        (Some(same), _) => format!("; did you mean {:?}?", &*same.group),
        (None, Some(core)) => format!("; did you mean kind {core:?}?"),
        (None, None) => near().map_or_else(String::new, |near| {
            format!("; did you mean {} of {:?}?", near.kind, &*near.group)
        }),
    };
    Some(format!("has no kind {}{hint}", one(kind)))
}

/// The finding on an empty group with a kind that the core API does not have.
fn not_of_core(snapshot: &Snapshot, policy: &Policy, entry: &TargetEntry<'_>) -> Option<Finding> {
    // A group that is missing is reported as such.
    let lacking = lacking(snapshot, entry).filter(|_| !entry.guessed)?;
    let message = format!("the group is empty, which means the core API, and it {lacking}");
    Some(
        Finding::new(Code::TargetSpelling, policy.key(), message)
            .at(format!("{}.group", entry.path))
            .about("group \"\""),
    )
}

fn faulty(key: &ObjectKey, entry: &TargetEntry<'_>, fault: &Fault) -> Option<Finding> {
    let path = &entry.path;
    Some(match fault {
        // A finding about the form of the entry says it.
        Fault::NotText(_) => return None,
        Fault::NotAnObject(found) => {
            let message = format!("a target is an object with group, kind and name, not {found}");
            Finding::new(Code::TargetMissingRef, key, message)
                .at(path)
                .about(*found)
        }
        Fault::Missing(part) => {
            let message = format!("the target has no {part}");
            Finding::new(Code::TargetMissingRef, key, message)
                .at(format!("{path}.{part}"))
                .about(*part)
                .only_if(!entry.field.may_lack.contains(part))
        }
        Fault::Versioned(group) => {
            let without_version = group.split('/').next().unwrap_or_default();
            let message = format!(
                "{group:?} has a version in it; a group has none: write {without_version:?}"
            );
            Finding::new(Code::TargetGroupVersioned, key, message)
                .at(format!("{path}.group"))
                .about(group.as_str())
        }
    })
}

fn about_target(
    snapshot: &Snapshot,
    policy: &Policy,
    entry: &TargetEntry<'_>,
    target: &TargetRef,
    limit: usize,
) -> Option<Finding> {
    if let Some(section) = &entry.pruned_section {
        let what = format!(
            "the CRD of {} has no {} in spec.{}, so the API server removes it and the policy targets the whole {}",
            policy.profile.gk.kind,
            entry.field.section_member(),
            entry.field.path,
            target.gk.kind,
        );
        return Some(unsupported(policy, entry, section, &what, true));
    }
    if target.is_whole() && entry.field.needs_section {
        return Some(without_section(policy, entry, target));
    }
    if let Some(section) = &target.section {
        if entry.field.sections == Some(false) {
            let member = entry.field.section_member();
            let what = format!("{} takes no {member}", policy.profile.gk.kind);
            return Some(unsupported(policy, entry, section, &what, true));
        }
        if let Some(finding) = sectionless(policy, entry, target, section) {
            return Some(finding);
        }
    }
    let object = target.object(&policy.key().namespace)?;
    if let Some(finding) = out_of_reach(snapshot, policy, entry, target, &object) {
        return Some(finding);
    }
    let Some(target_object) = snapshot.get(&object) else {
        return not_found(snapshot, policy, entry, &object, limit);
    };
    let unknown = section::unknown(snapshot, policy, entry, target, target_object);
    unknown.or_else(|| ambiguous(policy, entry, target_object, target.section.as_deref()?))
}

/// The finding on a section of a kind without sections, or of one whose sections the policy kind does not support.
fn sectionless(
    policy: &Policy,
    entry: &TargetEntry<'_>,
    target: &TargetRef,
    section: &str,
) -> Option<Finding> {
    let gk = &target.gk;
    if has_none(gk) {
        return Some(unsupported(
            policy,
            entry,
            section,
            &format!("{gk} has no sections"),
            true,
        ));
    }
    let allow = policy.profile.allow.as_ref()?;
    (!policy.profile.takes_section_of(gk)).then(|| {
        let what = format!("{} takes no section of {gk}", policy.profile.gk.kind);
        unsupported(policy, entry, section, &what, allow.is_stated())
    })
}

fn unsupported(
    policy: &Policy,
    entry: &TargetEntry<'_>,
    section: &str,
    what: &str,
    sure: bool,
) -> Finding {
    let member = entry.field.section_member();
    let message = format!("{what}; remove {member} {section:?}");
    Finding::new(Code::SectionUnsupported, policy.key(), message)
        .at(format!("{}.{member}", entry.path))
        .about(section)
        .only_if(sure)
}

/// The finding on a target that does not exist. Only for kinds that are known and listed: a kind
/// that the API server does not serve is legal.
fn not_found(
    snapshot: &Snapshot,
    policy: &Policy,
    entry: &TargetEntry<'_>,
    object: &ObjectKey,
    limit: usize,
) -> Option<Finding> {
    snapshot.lacks(object).then(|| {
        let hint = suggestion::hint(snapshot, policy, entry, object, limit);
        let message = format!("{object} does not exist");
        Finding::new(Code::TargetNotFound, policy.key(), message)
            .hinting(hint)
            .at(&entry.path)
            .about(object.to_string())
            .depending_on_absence_of(object)
    })
}

/// The finding on a kind that cannot be a target, if the profile lists those that can or cannot.
fn unsupported_kind(
    policy: &Policy,
    entry: &TargetEntry<'_>,
    target: &TargetRef,
) -> Option<Finding> {
    let profile = &policy.profile;
    let refused = &profile.excluded_targets;
    let message = if refused.kinds.contains(&target.gk) {
        let (kind, wrong, suggestion) = (&profile.gk.kind, &target.gk, &refused.suggestion);
        format!("{kind} cannot target {wrong}; name {suggestion}")
    } else if profile.takes(entry.field, &target.gk, target.selects()) {
        return None;
    } else {
        let allow = profile.allow.as_ref()?.iter();
        let allow: Vec<&Allowed> = allow
            .filter(|allowed| allowed.is_taken(target.selects()))
            .collect();
        not_among(&allow, &profile.gk.kind, &target.gk)
    };
    let finding = Finding::new(Code::TargetKindUnsupported, policy.key(), message)
        .at(format!("{}.kind", entry.path))
        .about(target.gk.to_string())
        .only_if(entry.knows_kinds(profile, target));
    Some(finding)
}

/// The message that a kind is not among those that policies of a kind can target.
fn not_among(allow: &[&Allowed], kind: &str, wrong: &GroupKind) -> String {
    let kinds: Vec<String> = allow.iter().map(|a| a.gk.to_string()).collect();
    let named = &wrong.kind;
    let mut same_kind = allow.iter().filter(|a| a.gk.kind == *named);
    match same_kind.next() {
        // The group is missing, which means the core group.
        Some(meant) if wrong.group.is_empty() => format!(
            "{named} is not of the core group; write group {:?}",
            &*meant.gk.group
        ),
        _ => {
            let is_known = gateway_kinds().any(|known| known.kind == *named);
            let near = |a: &&&Allowed| !is_known && is_near(&a.gk.kind, named, 2);
            let meant = allow.iter().find(near);
            let meant = meant.map_or_else(String::new, |a| format!("; did you mean {}?", a.gk));
            // A kind that is none of the core API looks as if it had no group.
            let of_core = wrong.group.is_empty() && !is_core_kind(named);
            let of_core = if of_core {
                " of the core API (group \"\")"
            } else {
                ""
            };
            format!(
                "{kind} cannot target {wrong}{of_core}; supported targets: {}{meant}",
                listed(&kinds)
            )
        }
    }
}

/// The finding on a namespace that the kind or the field ignores, and that is not the policy's own.
fn unread_namespace(policy: &Policy, entry: &TargetEntry<'_>) -> Option<Finding> {
    let own = &policy.key().namespace;
    let unread = entry
        .unread
        .as_ref()
        .filter(|namespace| *namespace != own)?;
    let kind = &policy.profile.gk.kind;
    // A kind that ignores it may still define the field; a reference without that field rejects it.
    let refused = *policy.profile.cross_namespace != CrossNamespace::Ignored;
    let message = if refused {
        // Another field of the kind, such as a selector, may take a namespace.
        format!(
            "this field can only name objects in the namespace of the policy, {:?}; remove namespace {:?}, or move the policy there",
            &**own, &**unread
        )
    } else {
        format!(
            "{kind} looks for its target in its own namespace, not in {:?}",
            &**unread
        )
    };
    Some(
        Finding::new(Code::TargetNamespaceForbidden, policy.key(), message)
            .at(format!("{}.namespace", entry.path))
            .about(unread.to_string())
            .only_if(refused),
    )
}

/// The finding on a missing section, for kinds that need one.
fn without_section(policy: &Policy, entry: &TargetEntry<'_>, target: &TargetRef) -> Finding {
    let kind = &policy.profile.gk.kind;
    let noun = section_noun(&target.gk).unwrap_or("section");
    let member = entry.field.section_member();
    let message = format!("{kind} needs the {noun} of its target; set {member}");
    Finding::new(Code::TargetMissingRef, policy.key(), message)
        .at(format!("{}.{member}", entry.path))
        .about(member)
}

/// The finding on a group in which nothing is served, if a served group is close or has a kind of that name: a kind
/// that a controller made up is legal, and must not hide a typing error.
fn unserved_group(
    snapshot: &Snapshot,
    policy: &Policy,
    entry: &TargetEntry<'_>,
    target: &TargetRef,
) -> Option<Finding> {
    let (group, kind) = (&*target.gk.group, &*target.gk.kind);
    let mut served: Vec<&GroupKind> = snapshot.known_kinds().collect();
    served.sort();
    if served.is_empty() || served.iter().any(|known| *known.group == *group) {
        return None;
    }
    let close = served
        .iter()
        .find(|known| !known.group.is_empty() && is_near(&known.group, group, 2));
    let same_kind = served.iter().find(|known| *known.kind == *kind);
    let meant = close.or(same_kind)?;
    let remedy = if meant.group.is_empty() {
        "for a kind of the core API write group: \"\"".to_owned()
    } else {
        format!("did you mean {:?}?", &*meant.group)
    };
    let message = format!("attache knows no kind of group {}; {remedy}", one(group));
    Some(
        Finding::new(Code::TargetSpelling, policy.key(), message)
            .at(format!("{}.group", entry.path))
            .about(format!("group {}", one(group))),
    )
}

/// The finding on two sections with the same name: a policy on that name is attached to both.
fn ambiguous(
    policy: &Policy,
    entry: &TargetEntry<'_>,
    object: &Object,
    name: &str,
) -> Option<Finding> {
    is_ambiguous(object, name).then(|| {
        let noun = section_noun(&object.key.gk).unwrap_or("section");
        let message = format!(
            "{} has more than one {noun} {name:?}; rename one of them",
            object.key
        );
        Finding::new(Code::SectionAmbiguous, policy.key(), message)
            .at(format!("{}.{}", entry.path, entry.field.section_member()))
            .about(format!("{}#{name}", object.key))
    })
}
