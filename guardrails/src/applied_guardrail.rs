//! Findings on a guardrail object when it is applied: its mistakes, and how many targets break it
//! now.

use std::borrow::Cow;
use std::collections::BTreeSet;

use attache_engine::admission::finding::{Code, Finding, Severity};
use attache_engine::admission::request::{Operation, Request};
use attache_engine::effective::Resolver;
use attache_engine::model::hint::nearest;
use attache_engine::model::ids::ObjectKey;
use attache_engine::model::wording;
use attache_engine::state::snapshot::Snapshot;
use jiff::civil::Date;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::fulfilment::{Fulfilment, targets};
use crate::guardrail::{Guardrail, is_guardrail};
use crate::guardrails::Guardrails;
use crate::judge::Judge;
use crate::shape::hint;
use crate::value_type::NameOf;

/// The part of a guardrail object that is compiled.
#[derive(Deserialize)]
struct Written<'a> {
    #[serde(borrow)]
    spec: Option<&'a RawValue>,
}

/// The findings on a request that writes a guardrail object; none on other requests.
pub(crate) fn on_rule(
    in_use: &Guardrails,
    snapshot: &Snapshot,
    request: &Request<'_>,
    today: Date,
) -> Vec<Finding> {
    let is_write = matches!(request.operation, Operation::Create | Operation::Update);
    if !is_guardrail(&request.gk) || !is_write || !request.subresource.is_empty() {
        return Vec::new();
    }
    let key = request.key();
    let refused = |field: &str, why: String| {
        let mut finding = Finding::new(Code::Guardrail, &key, why).at(field);
        finding.severity = Severity::Deny;
        finding
    };
    let spec = |object: Option<&RawValue>| {
        let written: Written<'_> = serde_json::from_str(object?.get()).ok()?;
        written.spec.map(|spec| spec.get().to_owned())
    };
    let Some(text) = spec(request.object) else {
        return vec![refused("spec", "a guardrail needs a spec".to_owned())];
    };
    if spec(request.old).is_some_and(|old| old == text) {
        return Vec::new();
    }
    let guardrail = match Guardrail::read(request.name, &text) {
        Ok(guardrail) => guardrail,
        Err(error) => return vec![refused(&error.field, error.why)],
    };
    let Ok(one) = Guardrails::new(vec![guardrail]) else {
        return Vec::new();
    };
    let mut findings = one.own_findings(snapshot, today);
    findings.extend(in_use.replaced_by(request.name));
    for finding in &mut findings {
        // The author is there to read it.
        finding.notice = false;
    }
    findings.extend(annotated_already(snapshot, &one, &key, today));
    findings.extend(now(snapshot, &one, &key, today));
    findings
}

/// The finding on exceptions in annotations that were there before the guardrail, or before it let users write them: nobody was
/// asked who wrote them.
fn annotated_already(
    snapshot: &Snapshot,
    one: &Guardrails,
    key: &ObjectKey,
    today: Date,
) -> Option<Finding> {
    let guardrail = one.iter().next()?;
    let excepted = targets(snapshot, guardrail).into_iter().filter(|target| {
        let mut exceptions = guardrail.annotated(snapshot, target);
        exceptions.any(|exception| !exception.is_over(today))
    });
    let excepted: BTreeSet<ObjectKey> = excepted.collect();
    let verb = match excepted.len() {
        0 => return None,
        1 => "target has an exception",
        _ => "targets have exceptions",
    };
    let named = wording::named(&excepted);
    let why = format!(
        "{} {verb} in an annotation already, and attache does not know who wrote it: {named}",
        excepted.len()
    );
    let mut finding = Finding::new(Code::Guardrail, key, why).about("exceptBy");
    finding.warn();
    Some(finding.at("spec.exceptBy"))
}

/// The findings on names in expressions that do not exist: protections, kinds, and fields that the
/// CRD of the policy kind does not have.
pub(crate) fn unknown_names(snapshot: &Snapshot, guardrail: &Guardrail) -> Vec<Finding> {
    let mut findings = unknown_fields(snapshot, guardrail);
    findings.extend(unknown_texts(snapshot, guardrail));
    findings
}

/// The findings on names of protections and kinds that there are not: a comparison with one never holds, or always.
fn unknown_texts(snapshot: &Snapshot, guardrail: &Guardrail) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (field, expression) in guardrail.expressions() {
        for (of, name) in expression.names() {
            let known = known_names(snapshot, guardrail, of);
            let known: Vec<&str> = known.iter().map(|name| &**name).collect();
            if known.is_empty() || known.contains(&name) {
                continue;
            }
            let what = match of {
                NameOf::Protection => format!("there is no protection {name:?}"),
                NameOf::TargetKind => format!("the guardrail matches no kind {name:?}"),
                NameOf::PolicyKind => format!("no policy is of a kind {name:?}"),
                NameOf::KindAndGroup => format!("effective has no kind {name:?}"),
            };
            let remedy = match (of, nearest(name, &known)) {
                (NameOf::PolicyKind, None) => "attache kinds lists them".to_owned(),
                (NameOf::KindAndGroup, None) => with_group(name, &known),
                _ => hint(name, &known),
            };
            let mut finding = Finding::new(
                Code::Guardrail,
                &guardrail.key(),
                format!("{what}; {remedy}"),
            )
            .at(field.clone())
            .about(name.to_owned());
            finding.warn();
            findings.push(finding);
        }
    }
    findings
}

/// The remedy for a kind that is no key of `effective`: the same kind with its group.
fn with_group(kind: &str, known: &[&str]) -> String {
    let is_it = |one: &&&str| one.split_once('.').is_some_and(|(name, _)| name == kind);
    match known.iter().find(is_it) {
        Some(one) => format!("write {one:?}, with its group"),
        None => "attache kinds lists them; write the group too, as in \"Kind.group\"".to_owned(),
    }
}

/// The names that there are.
fn known_names<'a>(
    snapshot: &'a Snapshot,
    guardrail: &'a Guardrail,
    of: NameOf,
) -> BTreeSet<Cow<'a, str>> {
    let kinds = || match &guardrail.policy_kind {
        Some(kind) => vec![kind],
        None => snapshot.policy_kinds().collect(),
    };
    match of {
        NameOf::Protection => {
            let profiles = kinds()
                .into_iter()
                .filter_map(|kind| snapshot.profile(kind));
            let known = profiles.flat_map(|profile| profile.protects.iter());
            known
                .map(|protection| Cow::Borrowed(&*protection.name))
                .collect()
        }
        NameOf::TargetKind => {
            let kinds = guardrail.matcher.kinds.iter();
            kinds.map(|kind| Cow::Borrowed(&*kind.kind)).collect()
        }
        NameOf::PolicyKind => {
            let kinds = kinds().into_iter();
            kinds.map(|kind| Cow::Borrowed(&*kind.kind)).collect()
        }
        NameOf::KindAndGroup => {
            let kinds = kinds().into_iter();
            kinds.map(|kind| Cow::Owned(kind.qualified())).collect()
        }
    }
}

/// The findings on fields that expressions read and the CRD of the policy kind does not have.
fn unknown_fields(snapshot: &Snapshot, guardrail: &Guardrail) -> Vec<Finding> {
    let Some(kind) = &guardrail.policy_kind else {
        return Vec::new();
    };
    let Some(schema) = snapshot
        .profile(kind)
        .and_then(|profile| profile.schemas.last())
    else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for (field, expression) in guardrail.expressions() {
        for path in expression.reads() {
            let Some(unknown) = schema.spec.unknown_on(path) else {
                continue;
            };
            let name = unknown.path.rsplit('.').next().unwrap_or_default();
            // Settings may be below a field of the spec, such as `default`.
            let is_top = path.first().is_some_and(|first| first == name);
            if is_top && schema.spec.has_below(name) {
                continue;
            }
            let known: Vec<&str> = unknown.known.iter().map(|name| &**name).collect();
            let remedy = hint(name, &known);
            let message = format!("{} has no field {}; {remedy}", kind.kind, unknown.path);
            let mut finding = Finding::new(Code::Guardrail, &guardrail.key(), message)
                .at(field.clone())
                .about(unknown.path);
            finding.warn();
            findings.push(finding);
        }
    }
    // A longer path has the same first unknown field.
    findings.sort();
    findings.dedup();
    findings
}

/// The number of targets that break a guardrail in this state, and the number for which it cannot be judged.
fn now(snapshot: &Snapshot, one: &Guardrails, key: &ObjectKey, today: Date) -> Vec<Finding> {
    let Some(guardrail) = one.iter().next() else {
        return Vec::new();
    };
    let warning = |why: String, about: &str| {
        let mut finding = Finding::new(Code::Guardrail, key, why).about(about);
        finding.warn();
        finding
    };
    let mut resolver = Resolver::bounded(snapshot);
    let mut judge = Judge::of_current_state(one.functions()).bounded();
    let (mut broken, mut unknown) = (BTreeSet::new(), BTreeSet::new());
    let mut reason = None;
    let mut judged = 0_usize;
    for target in targets(snapshot, guardrail) {
        for (_, fulfilment) in judge.of_target(&mut resolver, one, &target, today) {
            judged += 1;
            let Fulfilment::Broken(faults) = fulfilment else {
                continue;
            };
            if faults.iter().any(|fault| !fault.is_error) {
                broken.insert(target.clone());
            } else {
                unknown.insert(target.clone());
                let mut messages = faults.into_iter().map(|fault| fault.message);
                reason = reason.or_else(|| messages.next());
            }
        }
        if resolver.is_spent() || judge.is_spent() {
            return vec![Finding::too_much(
                key,
                "the targets that break it now",
                "attache guardrails",
            )];
        }
    }
    if judged == 0 {
        let why = "no request reaches a target of this guardrail now, so it has nothing to judge";
        return vec![warning(why.to_owned(), "now")];
    }
    let mut findings = Vec::new();
    if !broken.is_empty() {
        let (number, named) = (broken.len(), wording::named(&broken));
        let why = format!("{number} of {judged} targets break it now: {named}");
        findings.push(warning(why, "now"));
    }
    if let Some(reason) = reason {
        let (number, named) = (unknown.len(), wording::named(&unknown));
        let why =
            format!("it cannot be judged for {number} of {judged} targets now: {named}: {reason}");
        findings.push(warning(why, "unknown now"));
    }
    findings
}
