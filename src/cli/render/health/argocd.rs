//! Health checks for Argo CD: scripts in Lua 5.1. Argo CD loads only the base, table, package and os libraries for them.

use std::fmt::Write as _;
use std::sync::Arc;

use super::{LeftOut, head, indented};
use crate::answer::health::{Conditions, HealthRule};
use crate::engine::model::ids::GroupKind;

/// The part that all scripts share; the facts of the kind come before it.
const SCRIPT: &str = include_str!("policy.lua");
/// The kinds for which Argo CD has a check of its own, as `group/Kind`; `*` for all kinds of a group.
const BUNDLED: &str = include_str!("argocd-bundled.txt");

/// Said of a policy without a status.
const UNREPORTED: &str = "no controller has reported on it yet: see whether its target exists";
/// Said of such a policy if its kind has a status only in some cases.
const UNREPORTED_AND_FINE: &str =
    "no controller reports on it; this kind has a status only in some cases";

/// The place that the scripts are written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// The `ConfigMap` argocd-cm, for `kubectl apply --server-side`.
    Configmap,
    /// Values of the Helm chart argo-cd.
    Helm,
    /// The resource `ArgoCD` of the Argo CD operator.
    Operator,
}

/// Whether Argo CD has a check of its own for the kind.
pub(crate) fn is_bundled(gk: &GroupKind) -> bool {
    let lines = BUNDLED.lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| line.split_once('/'))
        .any(|(group, kind)| *gk.group == *group && (kind == "*" || *gk.kind == *kind))
}

/// The checks of these rules.
pub(crate) fn checks(
    rules: &[HealthRule],
    left_out: &[LeftOut],
    format: Format,
    namespace: &str,
) -> String {
    let mut text = head("Health checks for policies in Argo CD.", left_out);
    match format {
        Format::Configmap => {
            let _ = write!(
                text,
                "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: argocd-cm\n  namespace: {namespace}\n  \
                 labels:\n    app.kubernetes.io/name: argocd-cm\n    app.kubernetes.io/part-of: argocd\ndata:"
            );
        }
        Format::Helm => text.push_str("configs:\n  cm:"),
        Format::Operator => {
            let _ = write!(
                text,
                "apiVersion: argoproj.io/v1beta1\nkind: ArgoCD\nmetadata:\n  name: argocd\n  namespace: {namespace}\nspec:\n  \
                 resourceHealthChecks:"
            );
        }
    }
    if rules.is_empty() {
        text.push_str(match format {
            Format::Operator => " []\n",
            _ => " {}\n",
        });
        return text;
    }
    text.push('\n');
    for rule in rules {
        let (group, kind) = (&rule.gk.group, &rule.gk.kind);
        let script = script(rule);
        let _ = match format {
            Format::Configmap => write!(text, "{}{}", key(&rule.gk, 2), indented(&script, 4)),
            Format::Helm => write!(text, "{}{}", key(&rule.gk, 4), indented(&script, 6)),
            Format::Operator => write!(
                text,
                "  - group: {group}\n    kind: {kind}\n    check: |\n{}",
                indented(&script, 6)
            ),
        };
    }
    text
}

fn key(gk: &GroupKind, indent: usize) -> String {
    let indent = " ".repeat(indent);
    format!(
        "{indent}resource.customizations.health.{}_{}: |\n",
        gk.group, gk.kind
    )
}

/// The script for one kind: its facts, then the part that all kinds share.
fn script(rule: &HealthRule) -> String {
    let entries = match rule.place {
        Conditions::Entries(list) => quoted(list),
        Conditions::Whole => "nil".to_owned(),
    };
    let idle = rule.idle.iter().map(|idle| {
        let (kind, reason) = (quoted(&idle.r#type), quoted(&idle.reason));
        let message = quoted(&idle.message);
        let is_message = if idle.message_is_prefix {
            let length = idle.message.len();
            format!("string.sub(message or \"\", 1, {length}) == {message}")
        } else {
            format!("message == {message}")
        };
        format!("(name == {kind} and reason == {reason} and {is_message})")
    });
    let idle: Vec<String> = idle.collect();
    let idle = if idle.is_empty() {
        "false".to_owned()
    } else {
        idle.join(" or ")
    };
    let (health, message) = if rule.may_be_empty {
        ("Healthy", UNREPORTED_AND_FINE)
    } else {
        ("Progressing", UNREPORTED)
    };
    format!(
        "local entries = {entries}\nlocal controllers = {}\nlocal positive = {}\n\
         local unreported = {{status = {}, message = {}}}\n\
         local function is_idle(name, reason, message)\n  return {idle}\nend\n{SCRIPT}",
        set(&rule.controllers),
        set(&rule.positive),
        quoted(health),
        quoted(message),
    )
}

/// A table whose keys are the members of a set.
fn set<'a>(members: impl IntoIterator<Item = &'a Arc<str>>) -> String {
    let members = members.into_iter();
    let members = members.map(|member| format!("[{}] = true", quoted(member)));
    format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
}

/// A string of Lua 5.1. It has decimal escapes for bytes, and others only for a few characters.
fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => {
                quoted.push('\\');
                quoted.push(char::from(byte));
            }
            b' '..=b'~' => quoted.push(char::from(byte)),
            _ => {
                let _ = write!(quoted, "\\{byte:03}");
            }
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::{SCRIPT, quoted};
    use crate::answer::health::CONDITION_NAMES;

    #[test]
    fn the_script_has_the_names_that_the_engine_knows() {
        let words = [
            CONDITION_NAMES.resolved,
            CONDITION_NAMES.conflicted,
            CONDITION_NAMES.overridden,
            CONDITION_NAMES.merged,
        ];
        for word in words.iter().chain(CONDITION_NAMES.waiting) {
            assert!(SCRIPT.contains(&quoted(word)), "{word}");
        }
    }

    #[test]
    fn a_string_cannot_end_itself() {
        assert_eq!(quoted("a\"b\\c\nd"), r#""a\"b\\c\010d""#);
        assert_eq!(quoted("ü"), r#""\195\188""#);
    }
}
