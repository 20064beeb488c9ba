//! Kinds of targets on which no policy of a guardrail's kind can ever be in force.

use attache_engine::admission::finding::{Code, Finding};
use attache_engine::kinds::profile::{ApplicableTo, Profile};
use attache_engine::model::ids::GroupKind;
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
    let out = profile.out_of_place(target)?;
    let all_kinds = "or leave out policyKind to judge all kinds together";
    let remedy = match out.instead {
        ApplicableTo::Targets(kinds) => format!("match {kinds}"),
        ApplicableTo::Listeners => format!("match Gateway or ListenerSet, {all_kinds}"),
        ApplicableTo::Routes => format!("match kinds of routes, {all_kinds}"),
    };
    Some(format!("{}: {remedy}", out.why))
}
