//! Collects the findings on objects of a state, or on manifests applied on top of one, and sets their severities.

use std::collections::BTreeSet;
use std::fmt;

use attache_guardrails::{Guardrails, current_findings, earlier_findings};
use jiff::civil::Date;

use super::unknown::unknown_kinds;
use super::{joined, order};
use crate::answer::change_set::GuardedChanges;
use crate::engine::admission::evidence::Evidence;
use crate::engine::admission::finding::{Code, Finding, Severity};
use crate::engine::admission::review::{findings_on_changes, inspect};
use crate::engine::admission::severities::{Requester, Severities};
use crate::engine::admission::validate::form;
use crate::engine::admission::verdict::Verdict;
use crate::engine::effective::Resolver;
use crate::engine::model::ids::{GroupKind, ObjectKey};
use crate::engine::routing::RouteVersions;
use crate::engine::state::snapshot::{Snapshot, namespace_key};

/// The objects to check; one change if there is a state before.
#[derive(Clone, Copy, Debug)]
pub struct Case<'a> {
    /// The state without the objects, if there is one.
    pub before: Option<&'a Snapshot>,
    /// The state with the objects.
    pub after: &'a Snapshot,
    /// The objects.
    pub objects: &'a BTreeSet<ObjectKey>,
    /// Both versions of the routes that the change updates.
    pub route_versions: &'a RouteVersions,
    /// Objects from files without a creation time.
    pub undated: &'a BTreeSet<ObjectKey>,
    /// Whether an API server has not validated them yet; if so, its own validation errors are added.
    pub unvalidated: bool,
    /// The configured severities of the codes.
    pub severities: &'a Severities,
    /// The guardrails.
    pub guardrails: &'a Guardrails,
    /// The current date, for exceptions with an end.
    pub today: Date,
}

/// Checks objects one after the other. Keeps its resolvers, so that each place is resolved once.
pub struct Judge<'a> {
    case: Case<'a>,
    resolver_after: Resolver<'a>,
    resolver_before: Option<Resolver<'a>>,
    guards: [attache_guardrails::Judge<'a>; 2],
}

/// A finding about a file that holds no object.
pub fn of_file(code: Code, message: impl Into<String>) -> Finding {
    Finding::new(
        code,
        &ObjectKey::new(GroupKind::core(""), "", ""),
        message.into(),
    )
}

// === impl Case ===

impl<'a> Case<'a> {
    /// A judge with empty caches.
    pub fn judge(self) -> Judge<'a> {
        Judge {
            case: self,
            resolver_after: Resolver::new(self.after),
            resolver_before: self.before.map(Resolver::new),
            guards: [(); 2]
                .map(|()| attache_guardrails::Judge::of_current_state(self.guardrails.functions())),
        }
    }

    /// The findings on the change as a whole, and on the kinds that could not be checked.
    pub fn together(&self) -> Vec<Finding> {
        let mut findings = unknown_kinds(self.after, self.objects.iter(), "checked");
        findings.extend(self.guardrails.own_findings(self.after, self.today));
        if let Some(before) = self.before {
            let of_changes = findings_on_changes(before, self.after, self.objects).into_iter();
            findings.extend(of_changes.filter(|finding| !self.has_own_finding(finding)));
            let change = GuardedChanges {
                guardrails: self.guardrails,
                states: [before, self.after],
                objects: self.objects.iter().collect(),
                route_versions: self.route_versions,
                reported_before: Some(self.objects),
                only_new: false,
                today: self.today,
            };
            findings.extend(change.broken());
            findings.extend(change.around_guardrails());
        }
        findings.extend(order::decides(&findings, self.after, self.undated));
        findings
            .into_iter()
            .filter_map(|finding| self.weighed(finding))
            .collect()
    }

    /// Whether the object that a finding on a change is about has the same finding itself, because it is judged too.
    fn has_own_finding(&self, finding: &Finding) -> bool {
        let mut mentioned = finding.mentions.iter();
        finding.code == Code::Rejected && mentioned.any(|policy| self.objects.contains(policy))
    }

    /// A finding with its configured severity. `None` if its code is off.
    pub fn weighed(&self, finding: Finding) -> Option<Finding> {
        let key = finding.object.clone();
        self.judged(&key, vec![finding]).pop()
    }

    fn judged(&self, key: &ObjectKey, findings: Vec<Finding>) -> Vec<Finding> {
        let namespace = if key.gk.is_core("Namespace") {
            &key.name
        } else {
            &key.namespace
        };
        let there = self.after.get(&namespace_key(namespace));
        let verdict = Verdict::new(findings, &Evidence::Authoritative);
        let judged = self.severities.judge(verdict, || Requester {
            dry_run: false,
            namespace,
            namespace_labels: there.map(|there| &there.meta.labels),
            subject: None,
            field_manager: String::new(),
            gk: key.gk.clone(),
        });
        judged.findings
    }
}

// === impl Judge ===

impl fmt::Debug for Judge<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Judge")
            .field("case", &self.case)
            .finish_non_exhaustive()
    }
}

impl Judge<'_> {
    /// The findings on one object.
    ///
    /// A fault that the object already had before the change is a warning. Old and new are each judged in
    /// their own state, because the change may be to an object that this one refers to: if the change renames a
    /// listener under a policy, the fault is new although the policy is the same.
    pub fn object(&mut self, key: &ObjectKey) -> Vec<Finding> {
        let case = self.case;
        let [now, earlier] = &mut self.guards;
        let guardrails = case.guardrails;
        let mut findings = all(&mut self.resolver_after, key, case.unvalidated);
        let results = now.of_target(&mut self.resolver_after, guardrails, key, case.today);
        findings.extend(match self.resolver_before.as_mut() {
            Some(resolver) => {
                let existed = resolver.snapshot().get(key).is_some();
                let before =
                    existed.then(|| earlier.of_target(resolver, guardrails, key, case.today));
                earlier_findings(key, &before.unwrap_or_default(), &results)
            }
            None => current_findings(key, &results),
        });
        findings.extend(guardrails.annotated(case.after, key, case.today));
        let is_policy = case.after.policy(key).is_some();
        let is_old = case.before.is_some_and(|before| before.get(key).is_some());
        findings.retain(|finding| match finding.code {
            // The policy itself has this finding.
            Code::Overridden if !is_policy => {
                let mut mentioned = finding.mentions.iter();
                !mentioned.all(|policy| case.objects.contains(policy))
            }
            // For an existing object, `combined` reports these for the whole change.
            Code::Affects | Code::ProtectionLost => !is_old,
            _ => true,
        });
        if case.before.is_none() {
            findings.iter_mut().for_each(without_a_change);
        }
        // From all findings, also of codes that are off: the order decides whether or not they are reported.
        findings.extend(order::decides(&findings, case.after, case.undated));
        let mut findings = case.judged(key, findings);
        let refuses = |finding: &Finding| finding.severity == Severity::Deny;
        if let Some(resolver_before) = self.resolver_before.as_mut().filter(|_| is_old)
            && findings.iter().any(refuses)
        {
            let mut findings_before = all(resolver_before, key, case.unvalidated);
            findings_before.extend(guardrails.annotated(
                resolver_before.snapshot(),
                key,
                case.today,
            ));
            for finding in findings.iter_mut().filter(|finding| refuses(finding)) {
                let known = |f: &Finding| f.code == finding.code && f.subject == finding.subject;
                if findings_before.iter().any(known) {
                    finding.warn();
                }
            }
            findings.sort();
        }
        joined::together(findings, is_policy)
    }
}

/// Says of a current state that a protection is missing: without a change, nothing is lost.
fn without_a_change(finding: &mut Finding) {
    if finding.code != Code::ProtectionLost {
        return;
    }
    // Names have no spaces, so the first match is the verb.
    for (lost, missing) in [
        (" loses the ", " is without the "),
        (" lose the ", " are without the "),
        (" keeps only part of ", " has only part of "),
        (" keep only part of ", " have only part of "),
    ] {
        finding.message = finding.message.replacen(lost, missing, 1);
    }
}

fn all(resolver: &mut Resolver<'_>, key: &ObjectKey, unvalidated: bool) -> Vec<Finding> {
    let mut findings = inspect(resolver, key);
    let policy = resolver.snapshot().policy(key).filter(|_| unvalidated);
    let form = policy.map(|policy| form(policy)).unwrap_or_default();
    // A name of the wrong type counts as missing too; the first finding is enough.
    findings.retain(|finding| {
        let missing = finding.code == Code::TargetMissingRef;
        let mut form = form.iter().filter(|f| f.code != Code::FieldInvalid);
        !(missing && form.any(|f| f.field == finding.field))
    });
    // Unknown fields of a target are reported by the rules on targets.
    findings.retain(|finding| {
        let unknown = finding.code == Code::FieldUnknown;
        !(unknown && form.iter().any(|f| f.field == finding.field))
    });
    findings.extend(form);
    // An error by the CRD is left out if another finding is on the same field, or refuses a field
    // above or below it.
    let of_others = findings.iter().filter(|f| f.code != Code::FieldInvalid);
    let field = |finding: &Finding| finding.field.as_ref().map(|path| path.0.clone());
    let of_others: Vec<(String, bool)> = of_others
        .filter_map(|f| Some((field(f)?, f.severity == Severity::Deny)))
        .collect();
    findings.retain(|finding| {
        let field = field(finding).unwrap_or_default();
        let covers = |(other, refuses): &(String, bool)| {
            *other == field || (*refuses && (is_within(other, &field) || is_within(&field, other)))
        };
        finding.code != Code::FieldInvalid || !of_others.iter().any(covers)
    });
    findings
}

/// Whether a field is below another one.
fn is_within(field: &str, outer: &str) -> bool {
    let suffix = field.strip_prefix(outer);
    !outer.is_empty() && suffix.is_some_and(|suffix| suffix.starts_with(['.', '[']))
}
