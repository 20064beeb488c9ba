//! `attache kinds`: policy kinds, what is known of each, and where each fact came from.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Arc;

use clap::ValueEnum;
use serde_json::{Value, json};

use super::Failure;
use super::state::{Definitions, State};
use crate::engine::ids::GroupKind;
use crate::engine::object::Crd;
use crate::engine::profile::{Fact, Profile, ProfileRules, Source};

/// Arguments of `attache kinds`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// One kind with every fact: `AuthPolicy`, or `AuthPolicy.kuadrant.io` where there are several.
    #[arg(value_name = "KIND[.GROUP]")]
    kind: Option<String>,
    #[command(flatten)]
    state: State,
    /// Also the kinds that attache knows and that are not there.
    #[arg(long)]
    all: bool,
    /// How to print.
    #[arg(short, long, value_name = "FORMAT", default_value = "text")]
    output: Output,
}

/// Output formats.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum Output {
    Text,
    Json,
}

/// A kind with its definition, where there is one.
struct Known {
    profile: Profile,
    crd: Option<Arc<Crd>>,
}

/// Runs the command.
///
/// # Errors
/// When there is no such directory or cluster, the configuration is wrong, or the kind is not known.
pub fn run(args: &Args) -> Result<(), Failure> {
    let Definitions { rules, crds, used } = args.state.definitions()?;
    let mut kinds = known(&rules, crds, &used, args.all || args.kind.is_some());
    if let Some(wanted) = &args.kind {
        kinds.retain(|gk, _| is_named(gk, wanted));
        if kinds.is_empty() {
            return Err(format!("{wanted} is not a policy kind that is known here").into());
        }
    }
    let text = match args.output {
        Output::Json => format!("{:#}\n", as_json(&kinds)),
        Output::Text if args.kind.is_some() => kinds.values().map(details).collect(),
        Output::Text => table(&kinds),
    };
    std::io::stdout().write_all(text.as_bytes())?;
    Ok(())
}

/// The policy kinds: those with a definition, those in use, and with `all` those of the profiles.
fn known(
    rules: &ProfileRules,
    crds: Vec<Arc<Crd>>,
    used: &[GroupKind],
    all: bool,
) -> BTreeMap<GroupKind, Known> {
    let mut found = BTreeMap::new();
    for crd in crds {
        if let Some(profile) = rules.profile(&crd.gk, Some(&crd)) {
            let crd = Some(crd);
            found.insert(profile.gk.clone(), Known { profile, crd });
        }
    }
    let more = rules.kinds().filter(|_| all).chain(used);
    for gk in more {
        if let (false, Some(profile)) = (found.contains_key(gk), rules.profile(gk, None)) {
            found.insert(gk.clone(), Known { profile, crd: None });
        }
    }
    found
}

/// Whether a kind is called so: by kind, or by kind and group; without case.
fn is_named(gk: &GroupKind, wanted: &str) -> bool {
    let (kind, group) = wanted.split_once('.').unwrap_or((wanted, ""));
    gk.kind.eq_ignore_ascii_case(kind) && (group.is_empty() || gk.group.eq_ignore_ascii_case(group))
}

fn table(kinds: &BTreeMap<GroupKind, Known>) -> String {
    let row = |known: &Known| {
        let profile = &known.profile;
        let allow = profile.allow.as_ref();
        let targets = allow.map_or_else(
            || "any".to_owned(),
            |allow| names(allow.iter().map(|a| &a.gk)),
        );
        let targets_from = allow.map_or(Source::Default, |allow| allow.from);
        let strategies = Fact {
            value: profile.strategy_names().join(", "),
            from: profile.strategies.from.min(profile.unset.from),
        };
        [
            full_name(&profile.gk),
            said(&word(&json!(profile.class.value)), profile.class.from),
            said(&strategies.value, strategies.from),
            said(&targets, targets_from),
        ]
    };
    let head = ["KIND", "CLASS", "STRATEGIES", "TARGETS"].map(str::to_owned);
    let rows: Vec<[String; 4]> = std::iter::once(head)
        .chain(kinds.values().map(row))
        .collect();
    let width = |column: usize| {
        rows.iter()
            .filter_map(|row| row.get(column))
            .map(|cell| cell.chars().count())
            .max()
    };
    let widths: Vec<usize> = (0..3).filter_map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (i, cell) in row.iter().enumerate() {
            let width = widths.get(i).copied().unwrap_or(0);
            let _ = write!(line, "{cell:width$}   ");
        }
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

fn details(known: &Known) -> String {
    let mut text = format!("{}{}\n", full_name(&known.profile.gk), about(known));
    for fact in known.profile.facts() {
        let _ = writeln!(
            text,
            "  {:24} {:8} {}",
            fact.name,
            word(&json!(fact.from)),
            word(&fact.value)
        );
    }
    text
}

/// Versions and scope, where there is a definition.
fn about(known: &Known) -> String {
    match &known.crd {
        Some(crd) => format!(" ({}; {})", crd.served.join(", "), scope(crd)),
        None => " (no definition here)".to_owned(),
    }
}

fn as_json(kinds: &BTreeMap<GroupKind, Known>) -> Value {
    let kind = |known: &Known| {
        let profile = &known.profile;
        let crd = known.crd.as_ref();
        let facts = profile.facts().into_iter();
        let facts: serde_json::Map<String, Value> = facts
            .map(|fact| (fact.name.to_owned(), json!(fact)))
            .collect();
        let allow = profile.allow.as_ref().map(|allow| &allow.value);
        let targets = allow.map(|allow| {
            let kinds = allow
                .iter()
                .map(|a| json!({"group": a.gk.group, "kind": a.gk.kind}));
            kinds.collect::<Vec<Value>>()
        });
        json!({
            "group": profile.gk.group,
            "kind": profile.gk.kind,
            "versions": crd.map(|crd| crd.served.clone()).unwrap_or_default(),
            "scope": crd.map(|crd| scope(crd)),
            "class": profile.class.value,
            "strategies": profile.strategy_names(),
            "targets": targets,
            "facts": facts,
        })
    };
    let kinds: Vec<Value> = kinds.values().map(kind).collect();
    json!({"apiVersion": "attache.dev/v1", "kind": "Kinds", "kinds": kinds})
}

fn scope(crd: &Crd) -> &'static str {
    if crd.namespaced {
        "Namespaced"
    } else {
        "Cluster"
    }
}

fn full_name(gk: &GroupKind) -> String {
    format!("{}.{}", gk.kind, gk.group)
}

fn names<'a>(kinds: impl Iterator<Item = &'a GroupKind>) -> String {
    let names: Vec<String> = kinds.map(ToString::to_string).collect();
    names.join(", ")
}

fn said(text: &str, from: Source) -> String {
    format!("{text} ({})", word(&json!(from)))
}

/// A value as a person reads it and writes it into a configuration: nothing as a dash, kinds of
/// Gateway API and core by their names, no quotes.
fn word(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) if text.is_empty() => "\"\"".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => "-".to_owned(),
        Value::Array(items) => items.iter().map(word).collect::<Vec<_>>().join(", "),
        Value::Object(map) if map.is_empty() => "-".to_owned(),
        Value::Object(map) => {
            let parts = map.iter().map(|(key, value)| match value {
                Value::Array(_) => format!("{key}: [{}]", word(value)),
                _ => format!("{key}: {}", word(value)),
            });
            format!("{{{}}}", parts.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}
