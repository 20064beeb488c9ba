//! Effective policies as text: one block for paths with the same result.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{nearby, settings};
use crate::answer::description::TargetDescription;
use crate::answer::effective::EffectiveOnPaths;
use crate::answer::{KindName, Named};
use crate::cli::render::phrases;
use crate::cli::render::style::{Style, Tone};
use crate::cli::render::text::{paragraph, side_by_side};

/// The limit of blocks in one description; the others are counted.
const MOST_BLOCKS: usize = 20;

/// The limit of groups of paths without a policy that are shown for each kind.
const MOST_OPEN: usize = 5;

/// The results under one title.
pub(super) struct Part<'a> {
    about: &'a TargetDescription,
    title: &'static str,
    all: &'a [EffectiveOnPaths],
    /// Whether the results belong to other objects, so that each block names them.
    elsewhere: bool,
}

impl<'a> Part<'a> {
    /// The effective policies on the paths through the object.
    pub(super) fn at_object(about: &'a TargetDescription) -> Self {
        Self {
            about,
            title: "EFFECTIVE",
            all: &about.effective,
            elsewhere: false,
        }
    }

    /// The effective policies on the routes to the object.
    pub(super) fn on_routes(about: &'a TargetDescription) -> Self {
        Self {
            about,
            title: "ON ROUTES",
            all: &about.on_routes,
            elsewhere: true,
        }
    }

    pub(super) fn show(&self, style: Style) -> String {
        let mut groups: Vec<Vec<&EffectiveOnPaths>> = Vec::new();
        for effective in self.all {
            let same = |group: &&mut Vec<&EffectiveOnPaths>| {
                group.first().is_some_and(|first| is_same(first, effective))
            };
            match groups.iter_mut().find(same) {
                Some(group) => group.push(effective),
                None => groups.push(vec![effective]),
            }
        }
        let kind_of_group =
            |group: &[&EffectiveOnPaths]| group.first().map(|first| kind_of(first).clone());
        let mut open = self.without();
        let mut text = String::new();
        let mut shown = groups.iter().take(MOST_BLOCKS).peekable();
        while let Some(group) = shown.next() {
            text.push_str(&self.block(group, style));
            let kind = kind_of_group(group);
            if shown.peek().is_none_or(|next| kind_of_group(next) != kind) {
                let same_kind = open.extract_if(.., |group| kind_of_group(group) == kind);
                let of_kind: Vec<Vec<&EffectiveOnPaths>> = same_kind.collect();
                text.push_str(&self.open_paths(&of_kind, style));
            }
        }
        if groups.len() > MOST_BLOCKS {
            let more = groups.len() - MOST_BLOCKS;
            let _ = writeln!(
                text,
                "\nand {more} more results on other paths: describe a route, or use -o json"
            );
        }
        text
    }

    /// The paths on which no policy of a kind applies, by kind and then in as few groups as name them exactly: the paths
    /// of a group have the same listeners or the same targets.
    fn without(&self) -> Vec<Vec<&'a EffectiveOnPaths>> {
        let mut groups: Vec<Vec<&EffectiveOnPaths>> = Vec::new();
        let without_policies = if self.elsewhere {
            &[][..]
        } else {
            &self.about.without
        };
        for on_paths in without_policies {
            let fits = |group: &&mut Vec<&EffectiveOnPaths>| {
                let all = |same: fn(&EffectiveOnPaths, &EffectiveOnPaths) -> bool| {
                    group.iter().all(|other| same(other, on_paths))
                };
                let alike = |a: &EffectiveOnPaths, b: &EffectiveOnPaths| {
                    (kind_of(a), a.incomplete, &a.requests_from)
                        == (kind_of(b), b.incomplete, &b.requests_from)
                };
                all(alike)
                    && (all(|a, b| a.listeners == b.listeners)
                        || all(|a, b| a.targets == b.targets))
            };
            match groups.iter_mut().find(fits) {
                Some(group) => group.push(on_paths),
                None => groups.push(vec![on_paths]),
            }
        }
        groups
    }

    /// Says of the paths without a policy of a kind that there is none, so that nobody takes them for protected.
    fn open_paths(&self, groups: &[Vec<&EffectiveOnPaths>], style: Style) -> String {
        let mut text = String::new();
        for group in groups.iter().take(MOST_OPEN) {
            let Some(first) = group.first() else {
                continue;
            };
            let kind = &kind_of(first).0.kind;
            text.push_str(&self.title(group, "the rest", style));
            let line = format!("nothing: no {kind} applies there");
            text.push_str(&paragraph(style, Tone::Warning, "  ", &line, "    "));
        }
        if let Some(more @ 1..) = groups.len().checked_sub(MOST_OPEN) {
            let paths = phrases::count(more, "more group", "more groups");
            let line = format!("and on {paths} of paths: use -o json");
            text.push_str(&paragraph(style, Tone::Warning, "  ", &line, "    "));
        }
        text
    }

    fn block(&self, group: &[&EffectiveOnPaths], style: Style) -> String {
        let Some(first) = group.first() else {
            return String::new();
        };
        let title = self.title(group, "the whole", style);
        let kind = &kind_of(first).0.kind;
        let line = if is_passed_by(first) {
            format!("nothing: {kind} does not apply there")
        } else if first.effective.spec.is_some() && first.effective.sources.is_empty() {
            format!("nothing: no {kind} applies there")
        } else {
            return title + &settings(self.about, &first.effective, style);
        };
        title + &paragraph(style, Tone::Warning, "  ", &line, "    ")
    }

    /// The title of a block; `object_words` is the word for the described object itself.
    fn title(&self, group: &[&EffectiveOnPaths], object_words: &str, style: Style) -> String {
        let Some(first) = group.first() else {
            return String::new();
        };
        let title = format!("{} {}", self.title, kind_of(first).0.kind);
        let place = format!("({})", self.scope(group, object_words));
        let pieces = [(Some(Tone::Heading), title), (Some(Tone::Faint), place)];
        format!("\n{}", side_by_side(style, &pieces, "  ", "    "))
    }

    /// The paths of its kind that have this result, in words.
    fn scope(&self, group: &[&EffectiveOnPaths], object_words: &str) -> String {
        let kind = group.first().map(|first| &first.effective.policy_kind);
        let without: &[EffectiveOnPaths] = if self.elsewhere {
            &[]
        } else {
            &self.about.without
        };
        let all: Vec<&EffectiveOnPaths> = self
            .all
            .iter()
            .chain(without)
            .filter(|e| Some(&e.effective.policy_kind) == kind)
            .collect();
        let mut parts = Vec::new();
        let names = |named_on: fn(&EffectiveOnPaths) -> &Vec<Named>, always: bool| {
            let mine: BTreeSet<&Named> = group.iter().flat_map(|e| named_on(e)).collect();
            let every: BTreeSet<&Named> = all.iter().flat_map(|e| named_on(e)).collect();
            let name = |place: &&Named| {
                if place.0 == self.about.object.0 && place.0.section.is_none() {
                    object_words.to_owned()
                } else {
                    nearby(self.about, place)
                }
            };
            let names_in_group: Vec<String> = mine.iter().map(name).collect();
            (always || mine != every).then_some(names_in_group)
        };
        // Paths that begin below a listener have no listener to show.
        let mine: BTreeSet<&Named> = group.iter().flat_map(|e| &e.listeners).collect();
        let mut attached = self.about.attached_to.iter();
        let is_all = self.elsewhere || attached.all(|parent| mine.contains(parent));
        let listeners = names(|e| &e.listeners, !is_all).unwrap_or_default();
        // A Service is its own entry point for requests of the mesh.
        let (in_mesh, listeners): (Vec<String>, Vec<String>) = listeners
            .into_iter()
            .partition(|name| *name == object_words);
        if !listeners.is_empty() {
            parts.push(format!("through {}", phrases::list(listeners)));
        }
        if !in_mesh.is_empty() {
            parts.push("as called in the mesh".to_owned());
        }
        parts.extend(names(|e| &e.targets, self.elsewhere).map(phrases::list));
        if let Some(first) = group.first() {
            if !first.requests_from.is_empty() {
                let from = phrases::list(first.requests_from.clone());
                parts.push(format!("requests from namespace {from}"));
            }
            if first.not_attached && !is_passed_by(first) {
                parts.push("not attached to a Gateway".to_owned());
            }
            if first.incomplete {
                parts.push("leads to no existing backend".to_owned());
            }
        }
        if parts.is_empty() && group.len() == all.len() {
            parts.push("all paths".to_owned());
        } else if parts.is_empty() {
            let paths = group.iter().map(|e| e.paths).sum();
            parts.push(phrases::count(paths, "path", "paths"));
        }
        parts.join("; ")
    }
}

/// Whether the controllers of the kind do not follow the listeners at which the paths begin.
fn is_passed_by(on_paths: &EffectiveOnPaths) -> bool {
    let mut listeners = on_paths.listeners.iter();
    let at_listeners = !listeners.all(|at| at.0.object.gk.is_core("Service"));
    on_paths.not_attached && at_listeners
}

fn kind_of(result: &EffectiveOnPaths) -> &KindName {
    &result.effective.policy_kind
}

/// Whether two results are equal, on whatever paths.
fn is_same(one: &EffectiveOnPaths, other: &EffectiveOnPaths) -> bool {
    let (a, b) = (&one.effective, &other.effective);
    (&a.policy_kind, &a.spec) == (&b.policy_kind, &b.spec)
        && (&a.sources, &a.merged_of) == (&b.sources, &b.merged_of)
        && (one.not_attached, one.incomplete) == (other.not_attached, other.incomplete)
        && one.requests_from == other.requests_from
}
