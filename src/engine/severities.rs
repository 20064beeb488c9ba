//! What each code does to a request: refuse it, tell the user, or nothing (design section 4).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::disclosure::Subject;
use super::finding::{Code, Finding, Severity};
use super::ids::GroupKind;
use super::profile::file::Match;
use super::schema::by_name;
use super::selector::{Labels, Selector};
use super::verdict::Verdict;

/// Everybody who is no person: tools that apply a repository do so at once, in an order of their own.
const SERVICE_ACCOUNTS: &str = "system:serviceaccounts";

/// What a finding of a code does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// The request is refused, where the finding is sure and new.
    Deny,
    /// The user is told.
    Warn,
    /// Nothing is said.
    Off,
}

/// Actions by code.
pub type Actions = BTreeMap<Code, Action>;

/// What each code does, and for whom it does otherwise.
#[derive(Clone, Debug)]
pub struct Severities {
    codes: Actions,
    overrides: Vec<Override>,
}

/// Other actions for some requests. Of all overrides that a request meets and that name a code, the
/// first counts.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Override {
    /// Which requests; all where nothing is said.
    #[serde(default)]
    pub when: When,
    /// What the codes do for them.
    #[schemars(schema_with = "by_name::<Code, Action>")]
    pub findings: Actions,
}

/// Which requests: all that is said must hold. Names may end in `*`.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct When {
    /// Dry runs, or all others.
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
    pub kinds: Option<Vec<Match>>,
}

/// Who asks, and for what.
#[derive(Clone, Debug)]
pub struct Asker<'a> {
    /// Whether nothing will be stored.
    pub dry_run: bool,
    /// The namespace of the object; empty for cluster-scoped ones.
    pub namespace: &'a str,
    /// Its labels, where it is known.
    pub namespace_labels: Option<&'a Labels>,
    /// The user, where the request says who it is.
    pub subject: Option<&'a Subject>,
    /// The field manager; empty where there is none.
    pub field_manager: String,
    /// The kind of the object.
    pub gk: GroupKind,
}

// === impl Severities ===

impl Severities {
    /// Actions of the configuration. The override for service accounts comes last: theirs is a
    /// warning where a section is not there yet (design 9, ruling 1).
    pub fn new(codes: Actions, mut overrides: Vec<Override>) -> Self {
        overrides.push(Override {
            when: When {
                groups: Some(vec![SERVICE_ACCOUNTS.to_owned()]),
                ..When::default()
            },
            findings: Actions::from([(Code::SectionUnknown, Action::Warn)]),
        });
        Self { codes, overrides }
    }

    /// The verdict with the severities that this request gets. Who asks is only looked up where it counts.
    #[must_use]
    pub fn judge<'a>(&self, mut verdict: Verdict, asker: impl FnOnce() -> Asker<'a>) -> Verdict {
        let found = |code: &Code| verdict.findings.iter().any(|found| found.code == *code);
        let named = |entry: &&Override| entry.findings.keys().any(found);
        let mut met: Vec<&Override> = self.overrides.iter().filter(named).collect();
        if !met.is_empty() {
            let asker = asker();
            met.retain(|entry| entry.when.holds(&asker));
        }
        let action = |code: &Code| {
            let mut found = met.iter().filter_map(|entry| entry.findings.get(code));
            let said = found.next().or_else(|| self.codes.get(code)).copied();
            said.or_else(|| code.is_off().then_some(Action::Off))
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

// === impl When ===

impl When {
    fn holds(&self, asker: &Asker<'_>) -> bool {
        let user = asker.subject.map_or("", |subject| &subject.user);
        let in_group = |names: &Vec<String>| {
            let groups = asker.subject.map(|subject| &subject.groups);
            groups
                .into_iter()
                .flatten()
                .any(|group| is_one_of(names, group))
        };
        let is_kind =
            |kind: &Match| fits(&kind.group, &asker.gk.group) && fits(&kind.kind, &asker.gk.kind);
        self.dry_run.is_none_or(|wanted| wanted == asker.dry_run)
            && holds(self.namespaces.as_ref(), |names| {
                is_one_of(names, asker.namespace)
            })
            && holds(self.namespace_selector.as_ref(), |selector| {
                asker
                    .namespace_labels
                    .is_some_and(|labels| selector.selects(labels))
            })
            && holds(self.users.as_ref(), |names| is_one_of(names, user))
            && holds(self.groups.as_ref(), in_group)
            && holds(self.field_managers.as_ref(), |names| {
                is_one_of(names, &asker.field_manager)
            })
            && holds(self.kinds.as_ref(), |kinds| kinds.iter().any(is_kind))
    }
}

fn holds<T>(said: Option<&T>, is_so: impl FnOnce(&T) -> bool) -> bool {
    said.is_none_or(is_so)
}

/// Whether a name is among names that may end in `*`.
pub(super) fn is_one_of(names: &[String], name: &str) -> bool {
    names.iter().any(|known| fits(known, name))
}

/// Equal, or of the same beginning where the pattern ends in `*`.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => pattern == name,
    }
}
