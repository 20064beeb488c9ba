//! Limits what a user learns about policies, so that warnings cannot be used to probe for policies
//! that the user may not read.

use std::collections::{BTreeMap, BTreeSet};

use schemars::JsonSchema;
use serde::Deserialize;

use crate::admission::finding::{Code, Finding, Settings};
use crate::admission::verdict::Verdict;
use crate::model::ids::{GroupKind, ObjectKey};

/// The part of a policy that a user may learn about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Disclosed {
    /// Only its existence.
    Existence,
    /// Its name, too.
    Name,
    /// Its settings, too.
    #[default]
    Settings,
}

/// The disclosure level for the policies of a kind.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Disclosure {
    /// The policy kind.
    #[serde(rename = "match")]
    pub matches: GroupKind,
    /// The most that any user learns about these policies.
    pub level: Disclosed,
}

/// The highest disclosure level by policy kind; other kinds are unrestricted.
#[derive(Clone, Debug, Default)]
pub struct DisclosureLevels(BTreeMap<GroupKind, Disclosed>);

/// The user of a request, with all attributes that an authorizer may use.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Subject {
    /// Name.
    pub user: String,
    /// UID.
    pub uid: String,
    /// Groups, in the order of the request.
    pub groups: Vec<String>,
    /// Extra attributes from the authenticator.
    pub extra: BTreeMap<String, Vec<String>>,
}

/// The policies that a verdict mentions, and the objects in its hints; sorted. The caller checks whether the user may
/// `get` each of them.
pub fn policies_named(verdict: &Verdict) -> Vec<ObjectKey> {
    let named = verdict.findings.iter().flat_map(|finding| {
        let hinted = finding.hint.iter().flat_map(|hint| &hint.mentioned);
        finding.mentions.iter().chain(hinted)
    });
    let objects: BTreeSet<&ObjectKey> = named.collect();
    objects.into_iter().cloned().collect()
}

// === impl DisclosureLevels ===

impl DisclosureLevels {
    /// The levels of a configuration; the first entry for a kind counts.
    pub fn new(disclosure: &[Disclosure]) -> Self {
        let levels = disclosure.iter().rev();
        Self(levels.map(|d| (d.matches.clone(), d.level)).collect())
    }

    /// Whether there are no restrictions.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether no user may learn the settings of the policies of a kind.
    pub fn restricts(&self, gk: &GroupKind) -> bool {
        self.0
            .get(gk)
            .is_some_and(|level| *level < Disclosed::Settings)
    }

    fn level_of(&self, policy: &ObjectKey) -> Disclosed {
        self.0.get(&policy.gk).copied().unwrap_or_default()
    }
}

/// The verdict for a user who may not read `hidden`, about an object in `namespace`.
///
/// Policies of the same namespace keep their name and lose their settings. All others are combined into one line,
/// which does not disclose their number. Hints about hidden objects are removed. `levels` apply to every user.
#[must_use]
pub fn conceal(
    mut verdict: Verdict,
    namespace: &str,
    hidden: &BTreeSet<ObjectKey>,
    levels: &DisclosureLevels,
) -> Verdict {
    // A cluster-scoped policy does not belong to the user's own namespace.
    let own = |p: &ObjectKey| !p.namespace.is_empty() && *p.namespace == *namespace;
    let level = |policy: &ObjectKey| {
        let may = match (hidden.contains(policy), own(policy)) {
            (false, _) => Disclosed::Settings,
            (true, true) => Disclosed::Name,
            (true, false) => Disclosed::Existence,
        };
        may.min(levels.level_of(policy))
    };
    let mut generic = BTreeSet::new();
    let mut shown = Vec::new();
    for mut finding in std::mem::take(&mut verdict.findings) {
        match finding.mentions.iter().map(level).min().unwrap_or_default() {
            Disclosed::Existence => {
                generic.insert((finding.code, finding.severity, finding.object));
                continue;
            }
            Disclosed::Name => finding.settings = Settings::default(),
            Disclosed::Settings => {}
        }
        let hint = finding.hint.as_ref();
        let is_hidden = |object: &ObjectKey| {
            hidden.contains(object) || levels.level_of(object) != Disclosed::Settings
        };
        if hint.is_some_and(|hint| hint.mentioned.iter().any(is_hidden)) {
            finding.leave_out_hint();
        }
        shown.push(finding);
    }
    shown.extend(generic.into_iter().map(|(code, severity, object)| Finding {
        severity,
        ..Finding::new(code, &object, generic_line(code))
    }));
    shown.sort();
    verdict.findings = shown;
    verdict
}

fn generic_line(code: Code) -> &'static str {
    match code {
        Code::AffectedBy => "a policy that you may not read applies to this object",
        Code::ProtectionLost => {
            "this removes a protection that a policy which you may not read provides"
        }
        Code::EffectiveChange => "this changes the effect of policies that you may not read",
        _ => "a policy that you may not read is involved",
    }
}

#[cfg(test)]
mod tests {
    use super::{Disclosed, Disclosure, DisclosureLevels, conceal, policies_named};
    use crate::admission::evidence::Evidence;
    use crate::admission::finding::{Code, Finding, Hint};
    use crate::admission::verdict::Verdict;
    use crate::model::ids::{GroupKind, ObjectKey};

    fn policy(namespace: &str, name: &str) -> ObjectKey {
        ObjectKey::new(GroupKind::new("p.example.com", "Color"), namespace, name)
    }

    fn verdict(policies: &[&ObjectKey]) -> Verdict {
        let route = ObjectKey::new(GroupKind::gateway_api("HTTPRoute"), "shop", "cart");
        let findings = policies.iter().map(|policy| {
            let mut finding = Finding::new(Code::AffectedBy, &route, policy.to_string());
            finding.settings = vec!["color=blue".to_owned()].into();
            finding.mentions.insert((*policy).clone());
            finding
        });
        Verdict::new(findings.collect(), &Evidence::Authoritative)
    }

    #[test]
    fn names_of_the_own_namespace_stay_and_settings_go() {
        let own = policy("shop", "a");
        let full = verdict(&[&own]);
        assert_eq!(policies_named(&full), std::slice::from_ref(&own));
        let concealed = conceal(full, "shop", &[own].into(), &DisclosureLevels::default());
        assert_eq!(
            concealed.warnings(),
            ["affected-by: Color.p.example.com shop/a"]
        );
    }

    #[test]
    fn hidden_policies_of_others_are_one_line_and_not_counted() {
        let (a, b, mine) = (policy("x", "a"), policy("y", "b"), policy("shop", "c"));
        let cluster = policy("", "d");
        let full = verdict(&[&a, &b, &mine, &cluster]);
        let concealed = conceal(
            full,
            "shop",
            &[a, b, cluster].into(),
            &DisclosureLevels::default(),
        );
        assert_eq!(
            concealed.warnings(),
            [
                "affected-by: Color.p.example.com shop/c sets color=blue",
                "affected-by: a policy that you may not read applies to this object",
            ]
        );
    }

    #[test]
    fn readable_policies_are_shown() {
        let full = verdict(&[&policy("x", "a")]);
        let shown = conceal(
            full.clone(),
            "shop",
            &[].into(),
            &DisclosureLevels::default(),
        );
        assert_eq!(shown, full);
    }

    #[test]
    fn hints_of_what_is_hidden_are_left_out() {
        let gateway =
            |namespace| ObjectKey::new(GroupKind::gateway_api("Gateway"), namespace, "edge");
        let elsewhere = gateway("infra");
        let hint = Hint {
            text: "; there is one in namespace \"infra\"".to_owned(),
            mentioned: [elsewhere.clone()].into(),
        };
        let finding = Finding::new(
            Code::TargetNotFound,
            &policy("shop", "a"),
            "Gateway shop/edge does not exist",
        );
        let full = Verdict::new(vec![finding.hinting(hint)], &Evidence::Authoritative);
        assert_eq!(policies_named(&full), std::slice::from_ref(&elsewhere));
        let line = "target-not-found: Gateway shop/edge does not exist";
        let readable = conceal(
            full.clone(),
            "shop",
            &[].into(),
            &DisclosureLevels::default(),
        );
        assert_eq!(
            readable.warnings(),
            [format!("{line}; there is one in namespace \"infra\"")]
        );
        let concealed = conceal(
            full,
            "shop",
            &[elsewhere].into(),
            &DisclosureLevels::default(),
        );
        assert_eq!(concealed.warnings(), [line]);
        // Nothing is left of it.
        assert_eq!(policies_named(&concealed), []);
    }

    #[test]
    fn a_level_holds_for_everybody() {
        let full = verdict(&[&policy("x", "a"), &policy("shop", "b")]);
        let at = |level| {
            let text = format!("match: {{group: p.example.com, kind: Color}}\nlevel: {level}");
            let disclosure: Disclosure = serde_saphyr::from_str(&text).unwrap();
            conceal(
                full.clone(),
                "shop",
                &[].into(),
                &DisclosureLevels::new(&[disclosure]),
            )
            .warnings()
        };
        let names = [
            "affected-by: Color.p.example.com shop/b",
            "affected-by: Color.p.example.com x/a",
        ];
        assert_eq!(at("name"), names);
        assert_eq!(
            at("existence"),
            ["affected-by: a policy that you may not read applies to this object"]
        );
        assert_eq!(at("settings"), full.warnings());
        assert!(Disclosed::Existence < Disclosed::Name && Disclosed::Name < Disclosed::Settings);
    }
}
