//! The text of `attache impact`: a summary line, then the changes, equal ones together.

use std::collections::{BTreeMap, BTreeSet};

use super::kind_names::Kinds;
use super::style::{Style, Tone};
use super::table::{Cell, Table};
use super::text::paragraph;
use crate::answer::impact::{
    Failing, Impact, LostProtection, ObjectWithoutEffect, TargetChange, Traffic,
};
use crate::answer::named::Named;
use crate::engine::model::ids::ObjectKey;
use crate::engine::model::wording;

mod group;
mod markdown;

pub(super) use group::{group_text, groups};
pub(crate) use markdown::markdown;
pub(super) use markdown::protection as markdown_of_protection;

/// The limit of items before "and N more".
const MAX_ITEMS: usize = 10;

/// The whole answer. `arguments` make `attache check` judge the same change, for the closing line.
pub(crate) fn text(impact: &Impact, arguments: &[String], style: Style) -> String {
    let kinds = kinds(impact);
    let mut text = departures(impact, &kinds, style);
    text.push_str(&traffic(&impact.traffic, &kinds, style));
    text.push_str(&lost_protection(&impact.lost_protection, &kinds, style));
    text.push_str(&line(style, Tone::Heading, &headline(impact, &kinds)));
    // If a whole Namespace is deleted, only the changes to remaining objects are of interest.
    let is_whole = impact.deleted_with > 0;
    for group in groups(&impact.changes) {
        if is_whole && group.is_gone() {
            continue;
        }
        text.push('\n');
        text.push_str(&group_text(&group, &kinds, style));
    }
    if !impact.guardrails.is_empty() {
        text.push_str("\nGuardrails:\n");
        let lines = guardrails(impact, &kinds);
        text.push_str(&few(style, Tone::Warning, lines, ""));
    }
    let is_told = !impact.traffic.is_empty() && impact.idle.len() == 1;
    if !impact.orphaned.is_empty() {
        text.push_str("\nThese lose their only target:\n");
        let orphaned = impact.orphaned.iter().map(|policy| kinds.place(&policy.0));
        text.push_str(&few(style, Tone::Warning, orphaned, ""));
    }
    if said_above(impact).is_none() && !impact.idle.is_empty() && !is_told {
        text.push_str("\nThese change nothing:\n");
        let idle = impact.idle.iter();
        let idle = idle.map(|idle| format!("{}: {}", kinds.place(&idle.object.0), idle.reason));
        text.push_str(&few(style, Tone::Faint, idle, ""));
    }
    if !impact.applied.is_empty() {
        let arguments = arguments.join(" ");
        let closing = format!("To check the manifests themselves: attache check {arguments}");
        text.push('\n');
        text.push_str(&line(style, Tone::Faint, &closing));
    }
    text
}

/// The findings of the webhook on the guardrails in the change, one line each.
fn guardrails(impact: &Impact, kinds: &Kinds) -> impl ExactSizeIterator<Item = String> {
    impact.guardrails.iter().map(|finding| {
        let object = finding.object.as_ref().map(|object| kinds.place(&object.0));
        let object = object.unwrap_or_default();
        match finding.field.as_deref() {
            Some(field) => format!("{object}: {field}: {}", finding.message),
            None => format!("{object}: {}", finding.message),
        }
    })
}

/// Lists everything that the API server would refuse or drop in the manifests.
fn departures(impact: &Impact, kinds: &Kinds, style: Style) -> String {
    if impact.findings.is_empty() {
        return String::new();
    }
    let mut text = line(style, Tone::Heading, "The API server would refuse or drop");
    let findings = impact.findings.iter().map(|finding| {
        let object = finding.object.as_ref().map(|object| kinds.place(&object.0));
        let field = finding.field.as_deref().unwrap_or_default();
        let (code, message) = (finding.code.as_str(), &finding.message);
        format!("{code}: {}: {field}: {message}", object.unwrap_or_default())
    });
    text.push_str(&few(style, Tone::Warning, findings, ""));
    text.push('\n');
    text
}

/// Lost protections come first: those that requests had and no longer have.
pub(super) fn lost_protection(lost: &[LostProtection], kinds: &Kinds, style: Style) -> String {
    if lost.is_empty() {
        return String::new();
    }
    let headings = ["ON", "NEW PATH", "WITHOUT", "WAS SET BY", "SETTINGS"];
    let mut table = Table::new(&headings).sentences(&["NEW PATH", "SETTINGS"]);
    for lost in lost {
        let from = lost.from.iter().map(|policy| kinds.place(&policy.0));
        let from: Vec<String> = from.collect();
        table.row([
            kinds.place(&lost.object.0).into(),
            opened(lost, kinds).into(),
            Cell::toned(lost.what(), Tone::Bad),
            from.join(", ").into(),
            lost.settings.join(", ").into(),
        ]);
    }
    let title = line(style, Tone::Bad, "Protection lost");
    // Many losses share a sentence.
    let sentences = |tone, all: BTreeSet<&String>| -> String {
        let all = all.into_iter();
        all.map(|sentence| paragraph(style, tone, "  ", sentence, "    "))
            .collect()
    };
    let reasons = lost.iter().flat_map(|lost| &lost.reasons).collect();
    let reasons = sentences(Tone::Warning, reasons);
    let remedies = lost
        .iter()
        .filter_map(|lost| lost.remedy.as_ref())
        .collect();
    let remedies = sentences(Tone::Heading, remedies);
    format!("{title}{}{reasons}{remedies}\n", table.show(style, "  "))
}

/// The new paths on which an object is without a protection: `through Gateway infra/edge#http`.
fn opened(lost: &LostProtection, kinds: &Kinds) -> String {
    let entries = lost.opened.iter().map(|entry| kinds.place(&entry.0));
    let entries: BTreeSet<String> = entries.collect();
    if entries.is_empty() {
        return String::new();
    }
    format!("through {}", wording::first(&entries))
}

/// The changes to requests. Empty if there are none.
pub(super) fn traffic(traffic: &Traffic, kinds: &Kinds, style: Style) -> String {
    if traffic.is_empty() {
        return String::new();
    }
    let lines = lost_traffic(traffic, kinds);
    let mut text = line(style, Tone::Bad, "Traffic");
    text.push_str(&few(style, Tone::Warning, lines.into_iter(), ""));
    text.push('\n');
    text
}

/// The first few texts as paragraphs, then the number of the others.
pub(super) fn few(
    style: Style,
    tone: Tone,
    mut all: impl ExactSizeIterator<Item = String>,
    hint: &str,
) -> String {
    let mut text = String::new();
    for what in all.by_ref().take(MAX_ITEMS) {
        text.push_str(&paragraph(style, tone, "  ", &what, "    "));
    }
    if all.len() > 0 {
        let more = format!("and {} more{hint}", all.len());
        text.push_str(&paragraph(style, tone, "  ", &more, "    "));
    }
    text
}

/// The changes to requests, one line each, most important first.
pub(super) fn lost_traffic(traffic: &Traffic, kinds: &Kinds) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let detached: BTreeSet<ObjectKey> = traffic
        .detached
        .iter()
        .map(|route| route.0.object.clone())
        .collect();
    match detached.first() {
        None => {}
        Some(route) if detached.len() == 1 => {
            let route = kinds.object(route);
            lines.push(format!(
                "{route} loses its only listener: no request reaches it"
            ));
        }
        Some(_) => {
            let routes = wording::counted(&detached);
            lines.push(format!(
                "{routes} lose their only listener: no request reaches them"
            ));
        }
    }
    for reduced in &traffic.reduced {
        let listeners = reduced.listeners.iter().map(|l| kinds.place(&l.0));
        let listeners: BTreeSet<String> = listeners.collect();
        let route = kinds.place(&reduced.route.0);
        let listeners = wording::first(&listeners);
        lines.push(format!(
            "{route} no longer gets requests through {listeners}"
        ));
    }
    for moved in &traffic.moved {
        let routes: BTreeSet<ObjectKey> = moved.routes.iter().map(|r| r.0.object.clone()).collect();
        let listener = kinds.place(&moved.listener.0);
        let (routes, change) = (count(&routes, kinds), &moved.change);
        lines.push(format!("{listener} takes requests to {routes} {change}"));
    }
    for unserved in &traffic.unserved {
        let (gateway, class) = (
            kinds.place(&unserved.gateway.0),
            kinds.place(&unserved.class.0),
        );
        lines.push(format!(
            "no controller serves {gateway} any more: {class} does not exist"
        ));
    }
    let in_words = |failing: &Failing| {
        let objects = failing.objects.iter().map(|one| one.0.object.clone());
        let objects = count(&objects.collect(), kinds);
        (objects, kinds.place(&failing.policy.0))
    };
    lines.extend(traffic.failing.iter().map(|failing| {
        let (objects, policy) = in_words(failing);
        format!("requests to {objects} fail: {policy} is rejected")
    }));
    lines.extend(traffic.answered.iter().map(|answered| {
        let (objects, policy) = in_words(answered);
        format!(
            "requests to {objects} no longer fail: they failed because {policy} was rejected; the settings below are in force for them afterwards"
        )
    }));
    lines.extend(gained(traffic, kinds));
    lines.extend(rerouted(traffic, kinds));
    for cut in &traffic.backends {
        let (route, backend) = (kinds.place(&cut.route.0), kinds.place(&cut.backend.0));
        lines.push(format!(
            "{route} no longer reaches {backend}: {}",
            cut.reason
        ));
    }
    lines
}

/// The requests that another rule takes, and how many were not compared.
fn rerouted(traffic: &Traffic, kinds: &Kinds) -> Vec<String> {
    let lines = traffic.rerouted.iter().map(|rerouted| {
        let requests: BTreeSet<String> = rerouted.requests.iter().cloned().collect();
        let (to, from) = (kinds.place(&rerouted.to.0), kinds.place(&rerouted.from.0));
        format!("{to} takes {} from {from}", wording::first(&requests))
    });
    let not_taken = traffic.not_taken.iter().map(|not_taken| {
        let requests: BTreeSet<String> = not_taken.requests.iter().cloned().collect();
        let rule = kinds.place(&not_taken.rule.0);
        let requests = wording::first(&requests);
        // The whole route stands for the rules of a route that is deleted.
        if not_taken.rule.0.section.is_none() {
            return format!("{rule} is gone, and no other route takes its requests for {requests}");
        }
        format!("{rule} no longer gets requests for {requests}, and no other rule takes them")
    });
    let mut lines: Vec<String> = lines.chain(not_taken).collect();
    if traffic.not_compared > 0 {
        lines.push(format!(
            "the requests of {} more matches of routes were not compared",
            traffic.not_compared
        ));
    }
    lines
}

/// Routes that gain the same listeners, together.
fn gained(traffic: &Traffic, kinds: &Kinds) -> Vec<String> {
    let mut by_listeners: BTreeMap<BTreeSet<String>, BTreeSet<ObjectKey>> = BTreeMap::new();
    for gained in &traffic.gained {
        let listeners = gained.listeners.iter().map(|l| kinds.place(&l.0));
        let routes = by_listeners.entry(listeners.collect()).or_default();
        routes.insert(gained.route.0.object.clone());
    }
    let lines = by_listeners.iter().map(|(listeners, routes)| {
        let is_one = routes.len() == 1;
        let (routes, listeners) = (count(routes, kinds), wording::first(listeners));
        let verb = if is_one { "gets" } else { "get" };
        format!("{routes} {verb} requests through {listeners} after this change")
    });
    lines.collect()
}

pub(super) fn line(style: Style, tone: Tone, text: &str) -> String {
    paragraph(style, tone, "", text, "  ")
}

/// `Deleting RetryPolicy infra/edge-retries changes 12 HTTPRoutes in 3 namespaces.`
fn headline(impact: &Impact, kinds: &Kinds) -> String {
    let subject = subject(impact, kinds);
    let is_whole = impact.deleted_with > 0;
    let objects_with = |what: TargetChange| -> BTreeSet<ObjectKey> {
        let changes = impact.changes.iter().filter(|change| change.change == what);
        let changes = changes.filter(|change| !(is_whole && change.is_gone));
        changes
            .map(|change| change.object.0.object.clone())
            .collect()
    };
    if let Some(idle) = said_above(impact) {
        let what = if idle.is_known {
            "nothing"
        } else {
            "nothing that is known"
        };
        return format!("{subject} changes {what}: {}.", idle.reason);
    }
    let changed = objects_with(TargetChange::Changed);
    // An object that changes on some paths counts as changed, even if it gains or loses others.
    let (mut added, mut removed) = (
        objects_with(TargetChange::Added),
        objects_with(TargetChange::Removed),
    );
    added.retain(|object| !changed.contains(object));
    removed.retain(|object| !changed.contains(object));
    let is_more = !impact.traffic.is_empty() || !impact.lost_protection.is_empty();
    let what = match (changed.len(), added.len(), removed.len()) {
        (0, 0, 0) if is_more || !impact.orphaned.is_empty() => "no effective policy".to_owned(),
        (0, 0, 0) => "nothing".to_owned(),
        (0, _, 0) => "no existing effective policy".to_owned(),
        (0, ..) => "no other object".to_owned(),
        _ => count(&changed, kinds),
    };
    let mut text = match (is_whole, &*what) {
        (false, _) => format!("{subject} changes {what}"),
        (true, "nothing") => format!("{subject}. Nothing else changes"),
        (true, "no effective policy") => format!("{subject}. No other effective policy changes"),
        (true, _) => format!("{subject}. That changes {what}"),
    };
    for (word, objects) in [
        ("adds policies to", added),
        ("removes policies from", removed),
    ] {
        if !objects.is_empty() {
            text = format!("{text}; {word} {}", count(&objects, kinds));
        }
    }
    if impact.changes.is_empty() && !impact.lost_protection.is_empty() {
        text.push_str("; requests lose protection all the same");
    }
    format!("{text}.")
}

/// `12 HTTPRoutes in 3 namespaces`; a single object by its name.
pub(super) fn count(objects: &BTreeSet<ObjectKey>, kinds: &Kinds) -> String {
    match objects.first() {
        Some(object) if objects.len() == 1 => kinds.object(object),
        _ => wording::count(objects),
    }
}

/// Why the only object of a change changes nothing; shown in the headline.
fn said_above(impact: &Impact) -> Option<&ObjectWithoutEffect> {
    let touched = impact.applied.len() + impact.deleted.len() + impact.deleted_with;
    match impact.idle.as_slice() {
        [idle] if touched == 1 && impact.is_without_effect() => Some(idle),
        _ => None,
    }
}

/// `Applying 2 objects`, `Deleting Namespace shop deletes 12 objects with it (3 attached routes)`.
fn subject(impact: &Impact, kinds: &Kinds) -> String {
    let things = |all: &[Named]| match all {
        [one] => kinds.place(&one.0),
        many => objects(many.len()),
    };
    let mut parts = Vec::new();
    if !impact.applied.is_empty() {
        parts.push(format!("Applying {}", things(&impact.applied)));
    }
    if !impact.deleted.is_empty() || parts.is_empty() {
        let verb = if parts.is_empty() {
            "Deleting"
        } else {
            "deleting"
        };
        parts.push(format!("{verb} {}", things(&impact.deleted)));
    }
    let mut text = parts.join(" and ");
    if impact.deleted_with > 0 {
        let them = if impact.deleted.len() == 1 {
            "it"
        } else {
            "them"
        };
        text = format!(
            "{text} deletes {} with {them}",
            objects(impact.deleted_with)
        );
        if impact.deleted_routes > 0 {
            let noun = if impact.deleted_routes == 1 {
                "route"
            } else {
                "routes"
            };
            text = format!("{text} ({} attached {noun})", impact.deleted_routes);
        }
    }
    text
}

fn objects(count: usize) -> String {
    format!("{count} object{}", if count == 1 { "" } else { "s" })
}

fn kinds(impact: &Impact) -> Kinds {
    let changes = &impact.changes;
    let idle = impact.idle.iter().map(|idle| &idle.object);
    let named = impact.applied.iter().chain(&impact.deleted).chain(idle);
    let named = named.chain(changes.iter().flat_map(|change| &change.path));
    let named = named
        .chain(named_in(&impact.traffic))
        .chain(&impact.orphaned);
    let of_policies = changes.iter().map(|change| &change.policy_kind.0);
    Kinds::among(named.map(|named| &named.0.object.gk).chain(of_policies))
}

/// The objects that changes to requests name.
pub(super) fn named_in(traffic: &Traffic) -> impl Iterator<Item = &Named> {
    let routes = traffic.detached.iter();
    let routes = routes.chain(traffic.reduced.iter().map(|reduced| &reduced.route));
    let routes = routes.chain(traffic.gained.iter().map(|gained| &gained.route));
    let routes = routes.chain(traffic.moved.iter().flat_map(|moved| &moved.routes));
    let cut = traffic.backends.iter();
    let failing = traffic.failing.iter().chain(&traffic.answered);
    let failing = failing.flat_map(|one| one.objects.iter().chain([&one.policy]));
    let unserved = traffic.unserved.iter();
    let gateways = unserved.flat_map(|unserved| [&unserved.gateway, &unserved.class]);
    routes
        .chain(cut.flat_map(|cut| [&cut.route, &cut.backend]))
        .chain(gateways)
        .chain(failing)
}
