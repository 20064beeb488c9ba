//! The settings and policies that provide a protection in an effective policy, and for which
//! requests.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::Value;

use super::ProtectionSource;
use super::contributions::Contributions;
use crate::kinds::profile::{ObjectWeakness, Profile, Protection, SpecPath, WeaknessResult};
use crate::merge::EffectivePolicy;
use crate::model::ids::ObjectKey;
use crate::model::json_text::JsonText;
use crate::model::setting_path::{SettingPath, is_under};
use crate::policy::{InForce, Policy, Setting, StanzaRef};
use crate::state::snapshot::Snapshot;
use crate::topology::GatewayClientCertificates;

/// The requests for which a protection holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Coverage {
    /// For none.
    NoRequests,
    /// For some: others pass without it.
    SomeRequests,
    /// For all.
    AllRequests,
}

/// The sources of a protection, and the requests for which it holds.
pub(super) struct Provided {
    /// For which requests.
    pub(super) coverage: Coverage,
    /// The policies, and their settings if these are known.
    pub(super) sources: Vec<ProtectionSource>,
    /// Why it does not hold for all requests, as sentences for users.
    pub(super) weaknesses: BTreeSet<Arc<str>>,
    /// The contributions, to find out which of them a change removes.
    pub(super) contributions: Contributions,
    /// Whether a policy that is an alternative to others lets every request pass.
    pub(super) lets_all_pass: bool,
}

/// The protection by one of several policies that are in force side by side.
struct ProvidedByPolicy {
    provided: Provided,
    /// Whether its settings let every request pass.
    lets_all_pass: bool,
    /// Whether any other such policy may let a request pass, too.
    is_alternative: bool,
}

/// A weakness of settings that applies to them.
struct AppliedWeakness<'a> {
    settings: &'a [SpecPath],
    result: WeaknessResult,
    text: Option<&'a Arc<str>>,
}

/// Finds out how settings provide one protection.
#[derive(Clone, Copy)]
struct ProtectionReader<'a> {
    snapshot: &'a Snapshot,
    profile: &'a Profile,
    protection: &'a Protection,
}

// === impl Provided ===

impl Provided {
    pub(super) fn none() -> Self {
        Self {
            coverage: Coverage::NoRequests,
            sources: Vec::new(),
            weaknesses: BTreeSet::new(),
            contributions: Contributions::default(),
            lets_all_pass: false,
        }
    }

    /// The protection that an effective policy provides.
    pub(super) fn from_effective(
        snapshot: &Snapshot,
        profile: &Profile,
        protection: &Protection,
        effective: &EffectivePolicy,
    ) -> Self {
        let reader = ProtectionReader {
            snapshot,
            profile,
            protection,
        };
        if effective.is_opaque() {
            // Only the controller knows the result, so the settings of each policy count.
            let policies = effective.policies().into_iter();
            let policies = policies.filter_map(|key| snapshot.policy(&key));
            let mut parts = Vec::new();
            for policy in policies {
                parts.extend(policy.stanzas().map(StanzaRef::as_in_force));
            }
            let mut provided = reader.together(parts.into_iter());
            provided
                .sources
                .iter_mut()
                .for_each(|source| source.1 = None);
            provided.sources.dedup();
            provided.contributions = Contributions::default();
            return provided;
        }
        let apart = effective.apart();
        let parts = apart.iter().map(InForce::from_tree);
        reader.together(parts.chain(effective.of_filters()))
    }

    /// The protection that a policy provides by itself.
    pub(super) fn from_policy(
        snapshot: &Snapshot,
        protection: &Protection,
        policy: &Policy,
    ) -> Self {
        let reader = ProtectionReader {
            snapshot,
            profile: &policy.profile,
            protection,
        };
        reader.together(policy.stanzas().map(StanzaRef::as_in_force))
    }

    /// Whether policies decide about requests: they protect some, or let some pass.
    pub(super) fn is_decided_by_policies(&self) -> bool {
        self.coverage > Coverage::NoRequests || !self.weaknesses.is_empty()
    }

    /// This protection, or that of the Gateway itself if no policy protects requests or lets them
    /// pass.
    pub(super) fn or_gateway(self, own: Option<&GatewayClientCertificates>) -> Self {
        match own {
            Some(own) if !self.is_decided_by_policies() => own.provided(),
            _ => self,
        }
    }

    /// The protection by all of these: the largest extent. Weaknesses of those with less do not
    /// count.
    fn sum(each: Vec<Self>) -> Self {
        let extent = each.iter().map(|provided| provided.coverage).max();
        let mut sum = Self {
            coverage: extent.unwrap_or(Coverage::NoRequests),
            ..Self::none()
        };
        for provided in each {
            if provided.coverage == sum.coverage {
                sum.weaknesses.extend(provided.weaknesses);
            }
            sum.sources.extend(provided.sources);
            sum.contributions.add(provided.contributions);
        }
        sum
    }
}

// === impl ProtectionReader ===

impl<'a> ProtectionReader<'a> {
    /// The protection by policies together. If one of several alternatives lets every request pass,
    /// the other alternatives protect nothing.
    fn together<'b>(self, parts: impl Iterator<Item = InForce<'b>>) -> Provided {
        let parts: Vec<ProvidedByPolicy> = parts.map(|part| self.of_one(part)).collect();
        let mut alternatives = parts.iter().filter(|part| part.is_alternative);
        let is_open = alternatives.any(|part| part.lets_all_pass);
        let mut each = Vec::new();
        for mut part in parts {
            if is_open && part.is_alternative {
                part.provided.coverage = Coverage::NoRequests;
                part.provided.sources.clear();
            }
            if is_open && !part.lets_all_pass {
                part.provided.weaknesses.clear();
            }
            let sources = &part.provided.sources;
            let contributions =
                Contributions::from_sources(self.protection, sources, part.is_alternative);
            part.provided.contributions = contributions;
            each.push(part.provided);
        }
        Provided {
            lets_all_pass: is_open,
            ..Provided::sum(each)
        }
    }

    fn of_one(self, part: InForce<'_>) -> ProvidedByPolicy {
        let leaves = part.leaves();
        let weaknesses = self.weaknesses(part, &leaves);
        let mut provided = Provided::none();
        for (path, setting) in &leaves {
            let extent = self.extent_of(path, &setting.value, &weaknesses);
            provided.coverage = provided.coverage.max(extent);
            if extent > Coverage::NoRequests {
                let known = Some((path.clone(), setting.value.clone()));
                provided.sources.push((setting.policy.clone(), known));
            }
        }
        let has = |result| weaknesses.iter().any(|weakness| weakness.result == result);
        let is_alternative = self.profile.alternatives.as_ref().is_some_and(|which| {
            !has(WeaknessResult::NotApplied) && which.when.all_in_lazy(|| part.json())
        });
        let texts = weaknesses.iter().filter_map(|weak| weak.text.cloned());
        provided.weaknesses = texts.collect();
        ProvidedByPolicy {
            provided,
            lets_all_pass: has(WeaknessResult::AllPass),
            is_alternative,
        }
    }

    /// The weaknesses of these settings, of those that concern the protection.
    fn weaknesses(
        self,
        part: InForce<'_>,
        leaves: &[(SettingPath, &Setting)],
    ) -> Vec<AppliedWeakness<'a>> {
        let mut json: Option<Value> = None;
        let meets = |setting: &SpecPath| {
            let mut fields = self.protection.settings.iter();
            fields.any(|path| path.starts_with(setting) || setting.starts_with(path))
        };
        let all = self.profile.weakened_by.iter();
        let apply = all.filter(|weakness| {
            let mut leaves = leaves.iter();
            let concerned = |(path, setting): &(SettingPath, &Setting)| {
                let mut settings = weakness.settings.iter();
                let object = self.snapshot.get(&setting.policy);
                settings.any(|field| is_under(path, field))
                    && weakness
                        .condition()
                        .holds_for(object.map(|object| &object.meta))
            };
            weakness.settings.iter().any(meets)
                && leaves.any(concerned)
                && weakness
                    .condition()
                    .holds_in_lazy(|| &*json.get_or_insert_with(|| part.json()))
        });
        let apply = apply.map(|weakness| AppliedWeakness {
            settings: &weakness.settings,
            result: weakness.result,
            text: weakness.text.as_ref(),
        });
        let mut applying: Vec<AppliedWeakness<'_>> = apply.collect();
        let mut references = self.profile.references.iter();
        if references.all(|reference| reference.weakened_by.is_empty()) {
            return applying;
        }
        let policies: BTreeSet<&ObjectKey> = leaves.iter().map(|(_, leaf)| &leaf.policy).collect();
        let policies = policies.into_iter();
        for policy in policies.filter_map(|key| self.snapshot.policy(key)) {
            let of_policy = |setting: &SpecPath| {
                let mut leaves = leaves.iter();
                leaves.any(|(path, leaf)| leaf.policy == *policy.key() && is_under(path, setting))
            };
            let concerned = |weakness: &ObjectWeakness| {
                let mut settings = weakness.settings.iter();
                settings.any(|setting| meets(setting) && of_policy(setting))
            };
            let by_objects = policy.weakened_by_objects(self.snapshot, concerned);
            applying.extend(by_objects.into_iter().map(|weakness| AppliedWeakness {
                settings: &weakness.settings,
                result: weakness.result,
                text: Some(&weakness.text),
            }));
        }
        applying
    }

    /// For which requests a setting provides the protection.
    fn extent_of(
        self,
        path: &SettingPath,
        value: &JsonText,
        weak: &[AppliedWeakness<'_>],
    ) -> Coverage {
        let under = |setting: &SpecPath| is_under(path, setting);
        let is = |setting: &SpecPath| is_under(path, setting) && path.len() == setting.len();
        let counts_if_empty = || self.profile.protects_if_empty.iter().any(is);
        let sets_nothing = value.is_null() || (value.is_empty_list() && !counts_if_empty());
        let provides = self.protection.settings.iter().any(under);
        if sets_nothing || !provides || self.profile.switched_off_by.iter().any(under) {
            return Coverage::NoRequests;
        }
        let applicable = weak.iter().filter(|weak| weak.settings.iter().any(under));
        let least = applicable.map(|weak| match weak.result {
            WeaknessResult::SomePass => Coverage::SomeRequests,
            WeaknessResult::AllPass | WeaknessResult::NotApplied => Coverage::NoRequests,
        });
        least.min().unwrap_or(Coverage::AllRequests)
    }
}
