//! Who may know: a warning must not become an oracle (design 3.4; rulings 17 and 27).

use std::collections::{BTreeMap, BTreeSet};

use super::finding::{Code, Finding};
use super::ids::ObjectKey;
use super::verdict::Verdict;

/// The user of a request, with everything that an authorizer may look at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Subject {
    /// Name.
    pub user: String,
    /// UID.
    pub uid: String,
    /// Groups, in the order of the request.
    pub groups: Vec<String>,
    /// What the authenticator added.
    pub extra: BTreeMap<String, Vec<String>>,
}

/// The policies that a verdict tells of; sorted. Whether the user may `get` each is asked outside.
pub fn told_of(verdict: &Verdict) -> Vec<ObjectKey> {
    let policies: BTreeSet<&ObjectKey> =
        verdict.findings.iter().flat_map(|f| &f.tells_of).collect();
    policies.into_iter().cloned().collect()
}

/// The verdict for a user who may not read `hidden`, about an object in `namespace`.
///
/// Policies of the same namespace keep their name and lose their settings. All others become one
/// line together: how many there are would be told otherwise.
#[must_use]
pub fn conceal(mut verdict: Verdict, namespace: &str, hidden: &BTreeSet<ObjectKey>) -> Verdict {
    let mut generic = BTreeSet::new();
    let mut shown = Vec::new();
    for mut finding in std::mem::take(&mut verdict.findings) {
        let mut concealed = finding
            .tells_of
            .iter()
            .filter(|p| hidden.contains(*p))
            .peekable();
        if concealed.peek().is_some() {
            // A cluster-scoped policy is of nobody's own namespace.
            let own = |p: &ObjectKey| !p.namespace.is_empty() && *p.namespace == *namespace;
            if !concealed.all(own) {
                generic.insert((finding.code, finding.severity, finding.object));
                continue;
            }
            finding.settings.clear();
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
        Code::AffectedBy => "a policy that you may not read acts on this object",
        Code::EffectiveChange => "policies that you may not read act otherwise after this change",
        _ => "a policy that you may not read takes part in this",
    }
}

#[cfg(test)]
mod tests {
    use super::{conceal, told_of};
    use crate::engine::finding::{Code, Finding};
    use crate::engine::ids::{GroupKind, ObjectKey};
    use crate::engine::review::Evidence;
    use crate::engine::verdict::Verdict;

    fn policy(namespace: &str, name: &str) -> ObjectKey {
        ObjectKey::new(GroupKind::new("p.example.com", "Color"), namespace, name)
    }

    fn verdict(policies: &[&ObjectKey]) -> Verdict {
        let route = ObjectKey::new(GroupKind::gateway_api("HTTPRoute"), "shop", "cart");
        let told = policies.iter().map(|policy| {
            let mut finding = Finding::new(Code::AffectedBy, &route, policy.to_string());
            finding.settings = vec!["color=blue".to_owned()];
            finding.tells_of.insert((*policy).clone());
            finding
        });
        Verdict::new(told.collect(), &Evidence::Authoritative)
    }

    #[test]
    fn names_of_the_own_namespace_stay_and_settings_go() {
        let own = policy("shop", "a");
        let told = verdict(&[&own]);
        assert_eq!(told_of(&told), std::slice::from_ref(&own));
        let told = conceal(told, "shop", &[own].into());
        assert_eq!(told.warnings(), ["affected-by: Color.p.example.com shop/a"]);
    }

    #[test]
    fn hidden_policies_of_others_are_one_line_and_not_counted() {
        let (a, b, mine) = (policy("x", "a"), policy("y", "b"), policy("shop", "c"));
        let cluster = policy("", "d");
        let told = verdict(&[&a, &b, &mine, &cluster]);
        let told = conceal(told, "shop", &[a, b, cluster].into());
        assert_eq!(
            told.warnings(),
            [
                "affected-by: Color.p.example.com shop/c sets color=blue",
                "affected-by: a policy that you may not read acts on this object",
            ]
        );
    }

    #[test]
    fn what_the_user_may_read_is_shown() {
        let told = verdict(&[&policy("x", "a")]);
        assert_eq!(conceal(told.clone(), "shop", &[].into()), told);
    }
}
