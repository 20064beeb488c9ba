//! `attache describe` for people.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use jiff::Timestamp;

use super::kinds::details;
use super::policies::{Form, lines};
use super::style::{Style, Tone};
use super::table::{Cell, Table};
use super::words;
use crate::answer::Named;
use crate::answer::description::{Description, OfKind, OfTarget, OfWorkload};
use crate::answer::effective::Effective;
use crate::answer::policies::Policies;
use crate::answer::problems::What;
use crate::engine::object::section_noun;

mod effective;
mod policy;

use effective::Part;

/// Shows descriptions, one after the other.
pub(crate) fn show(descriptions: &[Description], style: Style, now: Timestamp) -> String {
    let one = |description: &Description| match description {
        Description::Target(about) => target(about, style),
        Description::Policy(about) => policy::show(about, style),
        Description::Workload(about) => workload(about, style),
        Description::Kind(about) => kind(about, style, now),
    };
    let texts: Vec<String> = descriptions.iter().map(one).collect();
    texts.join("\n\n")
}

/// Every fact of a kind, then its policies.
fn kind(about: &OfKind, style: Style, now: Timestamp) -> String {
    let mut text = details(&about.policy_kind);
    let form = Form {
        style,
        namespaces: true,
        wide: false,
        headings: true,
    };
    let listed = Policies::of(about.policies.clone());
    if listed.policies.is_empty() {
        text.push_str("\nThere are no policies of it.\n");
    } else {
        text.push('\n');
        text.push_str(&lines(&listed, &form, now));
    }
    text
}

fn target(about: &OfTarget, style: Style) -> String {
    let mut text = heading(about, style);
    if about.policies.is_empty() && about.on_routes.is_empty() {
        text.push_str("\nNo policy acts on it.\n");
    } else if about.policies.is_empty() {
        text.push_str("\nNo policy acts on it; in force on routes to it:\n");
    } else {
        let mut table = Table::new(&["POLICY", "", "FROM", "STATE", "STRATEGY"]);
        for standing in &about.policies {
            let policy = &standing.policy.0.object;
            let state = words::state(standing.state, &standing.by, standing.reason.as_deref());
            table.row([
                policy.gk.kind.to_string().into(),
                policy.path().into(),
                words::seen_from(&about.object, &standing.target).into(),
                Cell::toned(state, words::tone(standing.state)),
                standing.strategy.clone().unwrap_or_default().into(),
            ]);
        }
        text.push('\n');
        text.push_str(&table.show(style, ""));
    }
    let caveats = about.policies.iter();
    let caveats = caveats.map(|standing| (&standing.policy, &standing.caveats));
    text.push_str(&words::caveats(caveats, style, ""));
    text.push_str(&Part::here(about).show(style));
    text.push_str(&Part::on_routes(about).show(style));
    text.push_str(&backends(about, style));
    text
}

/// The policies on the backends of a route.
fn backends(about: &OfTarget, style: Style) -> String {
    let mut table = Table::new(&["BACKEND", "POLICY", "", "STATE"]);
    for backend in &about.backends {
        for standing in &backend.policies {
            let policy = &standing.policy.0.object;
            let state = words::state(standing.state, &standing.by, standing.reason.as_deref());
            table.row([
                standing.target.0.to_string().into(),
                policy.gk.kind.to_string().into(),
                policy.path().into(),
                Cell::toned(state, words::tone(standing.state)),
            ]);
        }
    }
    if table.is_empty() {
        return String::new();
    }
    format!("\n{}", table.show(style, ""))
}

/// The object, its hosts, and where requests come in.
fn heading(about: &OfTarget, style: Style) -> String {
    let mut parts = vec![style.paint(Tone::Heading, &about.object.0.to_string())];
    let mut part = |text: String| parts.push(style.paint(Tone::Faint, &text));
    if about.not_looked_up {
        part("not looked up: policies may name it".to_owned());
    }
    if !about.hostnames.is_empty() {
        part(format!("hosts {}", words::list(about.hostnames.clone())));
    }
    if !about.attached_to.is_empty() {
        part(format!("attached to {}", owners(&about.attached_to)));
    }
    if !about.used_by.is_empty() {
        let names = about.used_by.iter().map(|route| route.0.to_string());
        part(format!("used by {}", words::list(names)));
    }
    let reasoned = |parent: &&Named| {
        let mut problems = about.problems.iter();
        !problems.any(|p| p.what == What::Parent && p.object.0.object == parent.0.object)
    };
    let unexplained: Vec<&Named> = about.not_attached_to.iter().filter(reasoned).collect();
    if !unexplained.is_empty() {
        let names = unexplained.into_iter().map(words::path);
        part(format!("not attached to {}", words::list(names)));
    }
    let mut text = parts.join("   ") + "\n";
    for problem in &about.problems {
        let reason = &problem.reason;
        let said = match problem.what {
            What::Parent => format!("not attached to {}: {reason}", words::path(&problem.object)),
            What::Backend => format!("no requests to {}: {reason}", problem.object.0),
            What::Listener => reason.clone(),
            What::Route => format!("no request takes it: {reason}"),
        };
        text.push_str(&style.paint(Tone::Warning, &format!("  {said}")));
        text.push('\n');
    }
    text
}

/// `infra/edge (http, https), infra/extra (tls)`.
fn owners(places: &[Named]) -> String {
    let owners: BTreeSet<_> = places.iter().map(|place| &place.0.object).collect();
    let each = owners.into_iter().map(|owner| {
        let own = places.iter().filter(|place| place.0.object == *owner);
        let sections = own.filter_map(|place| place.0.section.clone());
        let sections = words::list(sections.map(|name| name.to_string()));
        match sections.as_str() {
            "" => owner.path(),
            _ => format!("{} ({sections})", owner.path()),
        }
    });
    words::list(each)
}

fn workload(about: &OfWorkload, style: Style) -> String {
    let mut text = style.paint(Tone::Heading, &about.object.0.to_string());
    if about.services.is_empty() {
        text.push_str("\n\nNo Service selects it, so no policy reaches it through one.\n");
        return text;
    }
    let names = about
        .services
        .iter()
        .map(|service| words::path(&service.object));
    let through = format!("through Service {}", words::list(names));
    let _ = writeln!(text, "   {}", style.paint(Tone::Faint, &through));
    for object in about.services.iter().chain(&about.routes) {
        text.push_str("\n\n");
        text.push_str(&target(object, style));
    }
    text
}

/// The values of one result, each with its source.
pub(crate) fn settings(about: &OfTarget, effective: &Effective, style: Style) -> String {
    let Some(spec) = &effective.spec else {
        let names = effective.merged_of.iter().map(words::path);
        let names: Vec<String> = names.collect();
        let line = format!(
            "only its controller knows how these merge: {}",
            names.join(", ")
        );
        return format!("  {}\n", style.paint(Tone::Warning, &line));
    };
    let by: Vec<(&String, &Named)> = effective.sources.iter().collect();
    if let [(pointer, empty)] = *by
        && pointer.is_empty()
    {
        let line = format!("nothing: {} has no settings", words::path(empty));
        return format!("  {}\n", style.paint(Tone::Warning, &line));
    }
    let mut table = Table::new(&[]);
    for (pointer, source) in &effective.sources {
        let value = match spec.pointer(pointer) {
            _ if effective.removed.contains(pointer) => Cell::toned("removed", Tone::Warning),
            Some(value) => words::value(value).into(),
            None => Cell::from("-"),
        };
        let from = if source.0.object == about.object.0.object {
            format!("this {} itself", source.0.object.gk.kind)
        } else {
            words::path(source)
        };
        table.row([
            words::field(pointer).into(),
            value,
            Cell::toned(from, Tone::Faint),
        ]);
    }
    table.show(style, "  ")
}

/// A place by its section alone where it is one of the object's own.
fn nearby(about: &OfTarget, place: &Named) -> String {
    let noun = section_noun(&place.0.object.gk);
    match (&place.0.section, noun) {
        (Some(section), Some(noun)) if place.0.object == about.object.0.object => {
            format!("{noun} {section}")
        }
        (None, _) if place.0.object == about.object.0.object => "the whole".to_owned(),
        _ => place.0.to_string(),
    }
}
