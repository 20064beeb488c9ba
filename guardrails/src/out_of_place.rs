//! Kinds of targets on which nothing of the policy kind of a guardrail can ever be in force.

use attache_engine::admission::finding::{Code, Finding};
use attache_engine::kinds::profile::Profile;
use attache_engine::model::hint::listed;
use attache_engine::model::ids::GroupKind;
use attache_engine::model::level::Level;
use attache_engine::state::snapshot::Snapshot;

use crate::guardrail::Guardrail;

/// The findings on kinds of targets at which the paths of the policy kind do not arrive.
pub(crate) fn out_of_place(snapshot: &Snapshot, guardrail: &Guardrail) -> Vec<Finding> {
    let kind = guardrail.policy_kind.as_ref();
    let Some(profile) = kind.and_then(|kind| snapshot.profile(kind)) else {
        return Vec::new();
    };
    let matched = guardrail.matcher.kinds.iter().enumerate();
    let findings = matched.filter_map(|(i, target)| {
        let why = why(profile, target)?;
        let mut finding = Finding::new(Code::Guardrail, &guardrail.key(), why)
            .at(format!("spec.match.kinds[{i}]"))
            .about(target.to_string());
        finding.warn();
        Some(finding)
    });
    findings.collect()
}

fn why(profile: &Profile, target: &GroupKind) -> Option<String> {
    let (policy, target_kind) = (&profile.gk.kind, &target.kind);
    if !profile.inherits() {
        // Its targets are not all known.
        let known = profile.allow.as_ref().map(|allow| &allow.value)?;
        if known.is_empty() || profile.takes_kind(target) {
            return None;
        }
        let kinds: Vec<String> = known.iter().map(|one| one.gk.kind.to_string()).collect();
        return Some(format!(
            "{policy} acts on its targets alone, and {target_kind} is none of them: match {}",
            listed(&kinds)
        ));
    }
    let end = profile.end();
    let is_below = Level::of_kind(target).is_some_and(|level| level > end);
    is_below.then(|| {
        let (where_it_acts, remedy) = if end.is_upper() {
            ("listeners", "match Gateway or ListenerSet")
        } else {
            ("routes", "match kinds of routes")
        };
        format!("{policy} acts on {where_it_acts}, not on {target_kind}: {remedy}, or leave out policyKind to judge all kinds together")
    })
}
