//! The text of `attache describe`.

use std::collections::BTreeSet;

use jiff::Timestamp;

use super::kinds::details;
use super::phrases;
use super::policies::{Form, lines};
use super::style::{Style, Tone};
use super::table::{Cell, Table};
use super::text::{paragraph, side_by_side};
use super::values::{FormattedValue, shown};
use crate::answer::Named;
use crate::answer::description::{
    Description, KindDescription, PolicyOnObject, TargetDescription, WorkloadDescription,
};
use crate::answer::effective::EffectiveSettings;
use crate::answer::policies::Policies;
use crate::answer::problems::ProblemSubject;
use crate::answer::state::PolicyState;
use crate::engine::admission::validate::is_target_kind;
use crate::engine::model::object::section_noun;
use crate::engine::model::wording;

mod by_route;
mod effective;
mod policy;
mod verdict;

use effective::Part;

/// The descriptions, one after the other; with `only`, just their problems.
pub(crate) fn show(
    descriptions: &[Description],
    style: Style,
    now: Timestamp,
    only: bool,
) -> String {
    let one = |description: &Description| match description {
        Description::Target(about) if only && !verdict::has_problems(about) => None,
        Description::Target(about) => Some(target(about, style, only)),
        Description::Policy(about) => Some(policy::show(about, style)),
        Description::Workload(about) => Some(workload(about, style, only)),
        Description::Kind(about) => Some(kind(about, style, now)),
    };
    let texts: Vec<String> = descriptions.iter().filter_map(one).collect();
    if texts.is_empty() && !descriptions.is_empty() {
        return style.paint(Tone::Good, "No problems") + "\n";
    }
    texts.join("\n\n")
}

/// Every fact of a kind, then its policies.
fn kind(about: &KindDescription, style: Style, now: Timestamp) -> String {
    let mut text = details(&about.policy_kind, style);
    let form = Form {
        style,
        namespaces: true,
        wide: false,
        headings: true,
    };
    let listed = Policies::new(about.policies.clone());
    if listed.policies.is_empty() {
        text.push_str("\nThere are no policies of this kind.\n");
    } else {
        text.push('\n');
        text.push_str(&lines(&listed, &form, now));
    }
    text
}

fn target(about: &TargetDescription, style: Style, only: bool) -> String {
    let mut text = heading(about, style);
    if let Some(overview) = &about.overview {
        text.push_str(&verdict::line(about, overview, only, style));
        text.push_str(&verdict::broken_policies(overview, only, style));
        text.push_str(&verdict::broken_routes(overview, only, style));
        if !only {
            text.push_str(&verdict::listeners(overview, style));
        }
    }
    let shown = |policy_state: &&PolicyOnObject| !only || verdict::is_wrong(policy_state);
    let policies: Vec<&PolicyOnObject> = about.policies.iter().filter(shown).collect();
    if only && policies.is_empty() {
        return text;
    }
    if about.policies.is_empty() {
        text.push_str(&no_policy(about, style));
    } else {
        let mut table = Table::new(&["POLICY", "", "FROM", "STATE", "STRATEGY", "REASON"])
            .sentences(&["REASON"])
            .dropping(&["STRATEGY"]);
        for policy_state in policies {
            let policy = &policy_state.policy.0.object;
            let [state, reason] = phrases::state(
                &policy_state.policy,
                policy_state.state,
                &policy_state.by,
                policy_state.reason.as_deref(),
            );
            table.row([
                (&*policy.gk.kind).into(),
                policy.path().into(),
                phrases::seen_from(&about.object, &policy_state.target).into(),
                state,
                policy_state
                    .written_strategy
                    .as_deref()
                    .unwrap_or("-")
                    .into(),
                reason,
            ]);
        }
        text.push('\n');
        text.push_str(&table.show(style, ""));
        if let Some(unread) = unread(about) {
            let line = format!("{unread}, and may apply, too");
            text.push('\n');
            text.push_str(&paragraph(style, Tone::Warning, "", &line, "  "));
        }
    }
    if only {
        return text;
    }
    let on_backends = about.backends.iter().flat_map(|backend| &backend.policies);
    let caveats = about.policies.iter().chain(on_backends);
    let caveats = caveats.map(|policy_state| (&policy_state.policy, &policy_state.caveats));
    text.push_str(&phrases::caveats(caveats, style, ""));
    if about.overview.is_some() {
        text.push_str(&by_route::show(about, style));
    } else {
        text.push_str(&Part::at_object(about).show(style));
    }
    text.push_str(&Part::on_routes(about).show(style));
    text.push_str(&backends(about, style));
    text
}

/// The sentence that no policy applies, as far as the policies could be read.
fn no_policy(about: &TargetDescription, style: Style) -> String {
    let sentence = if about.overview.is_some() {
        "No policy targets it"
    } else {
        "No policy applies to it"
    };
    let more = if about.overview.is_some() || about.on_routes.is_empty() {
        "."
    } else {
        "; in force on routes to it:"
    };
    let kind = &about.object.0.object.gk;
    let is_apart = about.used_by.is_empty() && about.attached_to.is_empty();
    // Otherwise the reader takes the sentence for a statement about a policy.
    let unknown = if !is_target_kind(kind) && !kind.group.is_empty() && is_apart {
        format!(
            "attache knows no policy kind {kind}; if it is one, attache does not know what it does.\n"
        )
    } else {
        String::new()
    };
    match unread(about) {
        None => format!("\n{sentence}{more}\n{unknown}"),
        Some(unread) => {
            let line =
                format!("{sentence}, as far as attache could read the state: {unread}{more}");
            format!("\n{}", paragraph(style, Tone::Warning, "", &line, "  "))
        }
    }
}

/// `1 policy was not read (SecurityPolicy infra/big)`. `None` if all policies were read.
fn unread(about: &TargetDescription) -> Option<String> {
    let names = about.unread.iter().map(|policy| {
        let kind = &policy.0.object.gk.kind;
        format!("{kind} {}", phrases::path(policy))
    });
    let names: BTreeSet<String> = names.collect();
    let verb = match names.len() {
        0 => return None,
        1 => "1 policy was".to_owned(),
        n => format!("{n} policies were"),
    };
    Some(format!("{verb} not read ({})", wording::first(&names)))
}

/// The policies on the backends of a route.
fn backends(about: &TargetDescription, style: Style) -> String {
    let mut table =
        Table::new(&["BACKEND", "POLICY", "", "STATE", "REASON"]).sentences(&["REASON"]);
    for backend in &about.backends {
        for policy_state in &backend.policies {
            let policy = &policy_state.policy.0.object;
            let [state, reason] = phrases::state(
                &policy_state.policy,
                policy_state.state,
                &policy_state.by,
                policy_state.reason.as_deref(),
            );
            table.row([
                policy_state.target.0.to_string().into(),
                (&*policy.gk.kind).into(),
                policy.path().into(),
                state,
                reason,
            ]);
        }
    }
    if table.is_empty() {
        return String::new();
    }
    format!("\n{}", table.show(style, ""))
}

/// The object, its hostnames, and its parents.
fn heading(about: &TargetDescription, style: Style) -> String {
    let mut parts = vec![(Some(Tone::Heading), about.object.0.to_string())];
    let mut part = |text: String| parts.push((Some(Tone::Faint), text));
    if about.not_looked_up {
        part("not looked up: policies may target it".to_owned());
    }
    if let Some(overview) = &about.overview {
        if let Some(class) = &overview.class {
            part(format!("class {class}"));
        }
        if let Some(controller) = &overview.controller {
            part(format!("controller {controller}"));
        }
        if !overview.gateways.is_empty() {
            part(phrases::count(
                overview.gateways.len(),
                "Gateway",
                "Gateways",
            ));
        }
        if !overview.listeners.is_empty() {
            part(phrases::count(
                overview.listeners.len(),
                "listener",
                "listeners",
            ));
        }
        part(phrases::count(overview.routes.len(), "route", "routes"));
    }
    if !about.hostnames.is_empty() {
        part(format!("hosts {}", phrases::list(about.hostnames.clone())));
    }
    if !about.attached_to.is_empty() {
        part(format!("attached to {}", owners(&about.attached_to)));
    }
    if !about.used_by.is_empty() {
        let names = about.used_by.iter().map(|route| route.0.to_string());
        part(format!("used by {}", phrases::list(names)));
    }
    let reasoned = |parent: &&Named| {
        let mut problems = about.problems.iter();
        !problems.any(|p| p.what == ProblemSubject::Parent && p.object.0.object == parent.0.object)
    };
    let unexplained: Vec<&Named> = about.not_attached_to.iter().filter(reasoned).collect();
    if !unexplained.is_empty() {
        let names = unexplained.into_iter().map(phrases::path);
        part(format!("not attached to {}", phrases::list(names)));
    }
    let mut text = side_by_side(style, &parts, "   ", "  ");
    for problem in &about.problems {
        let problem_text = verdict::problem_text(problem);
        text.push_str(&paragraph(
            style,
            Tone::Warning,
            "  ",
            &problem_text,
            "    ",
        ));
    }
    text
}

/// `infra/edge (http, https), infra/extra (tls)`.
fn owners(places: &[Named]) -> String {
    let owners: BTreeSet<_> = places.iter().map(|place| &place.0.object).collect();
    let each = owners.into_iter().map(|owner| {
        let own = places.iter().filter(|place| place.0.object == *owner);
        let sections = own.filter_map(|place| place.0.section.clone());
        let sections = phrases::list(sections.map(|name| name.to_string()));
        match sections.as_str() {
            "" => owner.path(),
            _ => format!("{} ({sections})", owner.path()),
        }
    });
    phrases::list(each)
}

fn workload(about: &WorkloadDescription, style: Style, only: bool) -> String {
    let mut pieces = vec![(Some(Tone::Heading), about.object.0.to_string())];
    if about.services.is_empty() {
        let mut text = side_by_side(style, &pieces, "   ", "  ");
        text.push_str(&selected_by(about, style));
        text.push_str("\nNo Service selects it, so no policy applies to it through a Service.\n");
        return text;
    }
    let names = about
        .services
        .iter()
        .map(|service| phrases::path(&service.object));
    let through = format!("through Service {}", phrases::list(names));
    pieces.push((Some(Tone::Faint), through));
    let mut text = side_by_side(style, &pieces, "   ", "  ");
    text.push_str(&selected_by(about, style));
    for object in about.services.iter().chain(&about.routes) {
        text.push_str("\n\n");
        text.push_str(&target(object, style, only));
    }
    text
}

/// A line about the policies whose selectors select the Pods of a workload.
fn selected_by(about: &WorkloadDescription, style: Style) -> String {
    if about.selected_by.is_empty() {
        return String::new();
    }
    let names = about.selected_by.iter().map(|policy| policy.0.to_string());
    let line = format!(
        "Its Pods are selected by {}: attache does not follow what policies set for Pods",
        phrases::list(names)
    );
    let text = paragraph(style, Tone::Warning, "", &line, "  ");
    format!("\n{}", text.trim_end())
}

/// The settings of one result, each with its source.
pub(crate) fn settings(
    about: &TargetDescription,
    effective: &EffectiveSettings,
    style: Style,
) -> String {
    let Some(spec) = &effective.spec else {
        let names = effective.merged_of.iter().map(phrases::path);
        let names: Vec<String> = names.collect();
        let line = format!(
            "only its controller knows how these merge: {}",
            names.join(", ")
        );
        return paragraph(style, Tone::Warning, "  ", &line, "    ");
    };
    let by: Vec<(&String, &Named)> = effective.sources.iter().collect();
    if let [(pointer, empty)] = *by
        && pointer.is_empty()
    {
        let mut policies = about.policies.iter();
        let policy = policies.find(|one| one.policy == *empty);
        let path = phrases::path(empty);
        let line = match policy.map(|one| &one.state) {
            Some(PolicyState::Rejected) => {
                format!("nothing: {path} is not in force and still replaces policies above it")
            }
            Some(_) => format!("nothing: {path} has no settings"),
            // A policy on a route to the object.
            None => format!("nothing: no setting of {path} is in force"),
        };
        return paragraph(style, Tone::Warning, "  ", &line, "    ");
    }
    let mut table = Table::new(&[]);
    for (pointer, source) in &effective.sources {
        let value = spec
            .pointer(pointer)
            .filter(|_| !effective.removed.contains(pointer));
        let value = value.map(|value| shown(value, style));
        let cell = match &value {
            Some(value) => value.cell(),
            None if effective.removed.contains(pointer) => Cell::toned("removed", Tone::Warning),
            None => Cell::from("-"),
        };
        let mut policies = about.policies.iter();
        let is_unsure =
            policies.any(|one| one.policy == *source && one.state == PolicyState::Unknown);
        let from = if source.0.object == about.object.0.object {
            format!("this {} itself", source.0.object.gk.kind)
        } else if is_unsure {
            format!("{}, whose effect is not known", phrases::path(source))
        } else {
            phrases::path(source)
        };
        table.row([
            phrases::field(pointer).into(),
            cell,
            Cell::toned(from, Tone::Faint),
        ]);
        table.below(value.into_iter().flat_map(FormattedValue::below));
    }
    table.show(style, "  ")
}

/// A place; a section of the described object without the object's name.
fn nearby(about: &TargetDescription, place: &Named) -> String {
    let noun = section_noun(&place.0.object.gk);
    match (&place.0.section, noun) {
        (Some(section), Some(noun)) if place.0.object == about.object.0.object => {
            format!("{noun} {section}")
        }
        (None, _) if place.0.object == about.object.0.object => "the whole".to_owned(),
        _ => place.0.to_string(),
    }
}
