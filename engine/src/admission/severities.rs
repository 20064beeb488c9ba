//! The action for each code: refuse the request, warn the user, or nothing (docs/reference/findings.md).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::admission::disclosure::Subject;
use crate::admission::finding::{Code, Finding, Severity};
use crate::admission::verdict::Verdict;
use crate::kinds::schema::by_name;
use crate::model::ids::GroupKind;
use crate::model::selector::{Labels, Selector};

/// The group of all callers that are not people: tools that apply a whole repository at once, in an order of their
/// own.
const SERVICE_ACCOUNTS: &str = "system:serviceaccounts";

/// The effect of a finding on the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Refuse the request, if the finding is certain and new.
    Deny,
    /// Warn the user.
    Warn,
    /// Report nothing.
    Off,
}

/// Actions by code.
pub type Actions = BTreeMap<Code, Action>;

/// The action for each code, and its overrides.
#[derive(Clone, Debug)]
pub struct Severities {
    codes: Actions,
    overrides: Vec<Override>,
}

/// Other actions for some requests. If several overrides match a request and name a code, the first one counts.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Override {
    /// The requests that it applies to; all if absent.
    #[serde(default)]
    pub when: SubjectMatcher,
    /// The actions for these requests, by code.
    #[schemars(schema_with = "by_name::<Code, Action>")]
    pub findings: Actions,
}

/// Conditions on a request, all of which must hold. Names may end in `*`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SubjectMatcher {
    /// `true` for dry runs only, `false` for other requests only.
    pub dry_run: Option<bool>,
    /// Objects in one of these namespaces.
    pub namespaces: Option<Vec<String>>,
    /// Objects in namespaces with these labels.
    #[schemars(with = "Option<serde_json::Value>")]
    pub namespace_selector: Option<Selector>,
    /// Requests of one of these users.
    pub users: Option<Vec<String>>,
    /// Requests of members of one of these groups.
    pub groups: Option<Vec<String>>,
    /// Requests of one of these field managers.
    pub field_managers: Option<Vec<String>>,
    /// Objects of one of these kinds.
    pub kinds: Option<Vec<GroupKind>>,
}

/// The user of a request, and the circumstances that overrides match.
#[derive(Clone, Debug)]
pub struct Requester<'a> {
    /// Whether the request is a dry run.
    pub dry_run: bool,
    /// The namespace of the object; empty for cluster-scoped ones.
    pub namespace: &'a str,
    /// The labels of the namespace, if it is known.
    pub namespace_labels: Option<&'a Labels>,
    /// The user, if the request names one.
    pub subject: Option<&'a Subject>,
    /// The field manager; empty if there is none.
    pub field_manager: String,
    /// The kind of the object.
    pub gk: GroupKind,
}

// === impl Severities ===

impl Severities {
    /// The actions of the configuration. The override for service accounts comes last: they get a warning if a
    /// section does not exist yet.
    pub fn new(codes: Actions, mut overrides: Vec<Override>) -> Self {
        overrides.push(Override {
            when: SubjectMatcher {
                groups: Some(vec![SERVICE_ACCOUNTS.to_owned()]),
                ..SubjectMatcher::default()
            },
            findings: Actions::from([(Code::SectionUnknown, Action::Warn)]),
        });
        Self { codes, overrides }
    }

    /// The verdict with the severities that apply to this request. `requester` is called only if an override may match.
    #[must_use]
    pub fn judge<'a>(
        &self,
        mut verdict: Verdict,
        requester: impl FnOnce() -> Requester<'a>,
    ) -> Verdict {
        let is_in_verdict =
            |code: &Code| verdict.findings.iter().any(|finding| finding.code == *code);
        let named = |entry: &&Override| entry.findings.keys().any(is_in_verdict);
        let mut met: Vec<&Override> = self.overrides.iter().filter(named).collect();
        if !met.is_empty() {
            let requester = requester();
            met.retain(|entry| entry.when.holds(&requester));
        }
        let action = |code: &Code| {
            let mut overrides = met.iter().filter_map(|entry| entry.findings.get(code));
            let action = overrides.next().or_else(|| self.codes.get(code)).copied();
            action.or_else(|| code.is_off().then_some(Action::Off))
        };
        let findings = std::mem::take(&mut verdict.findings);
        let judged = findings
            .into_iter()
            .filter_map(|finding| match action(&finding.code) {
                Some(Action::Off) => None,
                Some(Action::Warn) => Some(Finding {
                    severity: Severity::Warn,
                    ..finding
                }),
                Some(Action::Deny) if finding.may_refuse => Some(Finding {
                    severity: Severity::Deny,
                    ..finding
                }),
                _ => Some(finding),
            });
        verdict.findings = judged.collect();
        verdict.findings.sort();
        verdict
    }
}

impl Default for Severities {
    fn default() -> Self {
        Self::new(Actions::new(), Vec::new())
    }
}

// === impl SubjectMatcher ===

impl SubjectMatcher {
    fn holds(&self, requester: &Requester<'_>) -> bool {
        let user = requester.subject.map_or("", |subject| &subject.user);
        let in_group = |names: &Vec<String>| {
            let groups = requester.subject.map(|subject| &subject.groups);
            groups
                .into_iter()
                .flatten()
                .any(|group| is_one_of(names, group))
        };
        let is_kind = |kind: &GroupKind| {
            fits(&kind.group, &requester.gk.group) && fits(&kind.kind, &requester.gk.kind)
        };
        self.dry_run
            .is_none_or(|wanted| wanted == requester.dry_run)
            && holds(self.namespaces.as_ref(), |names| {
                is_one_of(names, requester.namespace)
            })
            && holds(self.namespace_selector.as_ref(), |selector| {
                requester
                    .namespace_labels
                    .is_some_and(|labels| selector.selects(labels))
            })
            && holds(self.users.as_ref(), |names| is_one_of(names, user))
            && holds(self.groups.as_ref(), in_group)
            && holds(self.field_managers.as_ref(), |names| {
                is_one_of(names, &requester.field_manager)
            })
            && holds(self.kinds.as_ref(), |kinds| kinds.iter().any(is_kind))
    }
}

fn holds<T>(condition: Option<&T>, is_so: impl FnOnce(&T) -> bool) -> bool {
    condition.is_none_or(is_so)
}

/// Whether a name matches one of these patterns, which may end in `*`.
pub(crate) fn is_one_of(names: &[String], name: &str) -> bool {
    names.iter().any(|known| fits(known, name))
}

/// Whether a name equals a pattern, or has its prefix if the pattern ends in `*`.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => pattern == name,
    }
}
