//! Effective policies as text: one block for paths with the same result.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::{nearby, settings};
use crate::answer::Named;
use crate::answer::description::OfTarget;
use crate::answer::effective::OnPaths;
use crate::cli::render::phrases;
use crate::cli::render::style::{Style, Tone};
use crate::cli::render::text::beside;

/// The limit of blocks in one description; the others are counted.
const MOST_BLOCKS: usize = 20;

/// The results under one title.
pub(super) struct Part<'a> {
    about: &'a OfTarget,
    title: &'static str,
    all: &'a [OnPaths],
    /// Whether the results belong to other objects, so that each block names them.
    elsewhere: bool,
}

impl<'a> Part<'a> {
    /// The effective policies on the paths through the object.
    pub(super) fn here(about: &'a OfTarget) -> Self {
        Self {
            about,
            title: "EFFECTIVE",
            all: &about.effective,
            elsewhere: false,
        }
    }

    /// The effective policies on the routes to the object.
    pub(super) fn on_routes(about: &'a OfTarget) -> Self {
        Self {
            about,
            title: "ON ROUTES",
            all: &about.on_routes,
            elsewhere: true,
        }
    }

    pub(super) fn show(&self, style: Style) -> String {
        let mut groups: Vec<Vec<&OnPaths>> = Vec::new();
        for effective in self.all {
            let same = |group: &&mut Vec<&OnPaths>| {
                group.first().is_some_and(|first| is_same(first, effective))
            };
            match groups.iter_mut().find(same) {
                Some(group) => group.push(effective),
                None => groups.push(vec![effective]),
            }
        }
        let mut text = String::new();
        for group in groups.iter().take(MOST_BLOCKS) {
            text.push_str(&self.block(group, style));
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

    fn block(&self, group: &[&OnPaths], style: Style) -> String {
        let Some(first) = group.first() else {
            return String::new();
        };
        let kind = &first.effective.policy_kind.0;
        let title = format!("{} {}", self.title, kind.kind);
        let place = format!("({})", self.scope(group));
        let pieces = [(Some(Tone::Heading), title), (Some(Tone::Faint), place)];
        let title = beside(style, &pieces, "  ", "    ");
        let settings = settings(self.about, &first.effective, style);
        format!("\n{title}{settings}")
    }

    /// The paths of its kind that have this result, in words.
    fn scope(&self, group: &[&OnPaths]) -> String {
        let kind = group.first().map(|first| &first.effective.policy_kind);
        let without: &[OnPaths] = if self.elsewhere {
            &[]
        } else {
            &self.about.without
        };
        let all: Vec<&OnPaths> = self
            .all
            .iter()
            .chain(without)
            .filter(|e| Some(&e.effective.policy_kind) == kind)
            .collect();
        let mut parts = Vec::new();
        let names = |of: fn(&OnPaths) -> &Vec<Named>, always: bool| {
            let mine: BTreeSet<&Named> = group.iter().flat_map(|e| of(e)).collect();
            let every: BTreeSet<&Named> = all.iter().flat_map(|e| of(e)).collect();
            let here: Vec<String> = mine.iter().map(|place| nearby(self.about, place)).collect();
            (always || mine != every).then_some(here)
        };
        // Paths that begin below a listener have no listener to show.
        let mine: BTreeSet<&Named> = group.iter().flat_map(|e| &e.listeners).collect();
        let mut ways = self.about.attached_to.iter();
        let is_all = self.elsewhere || ways.all(|way| mine.contains(way));
        let listeners = names(|e| &e.listeners, !is_all).filter(|names| !names.is_empty());
        parts.extend(listeners.map(|names| format!("through {}", phrases::list(names))));
        parts.extend(names(|e| &e.targets, self.elsewhere).map(phrases::list));
        if let Some(first) = group.first() {
            if !first.requests_from.is_empty() {
                let from = phrases::list(first.requests_from.clone());
                parts.push(format!("requests from namespace {from}"));
            }
            let mut listeners = first.listeners.iter();
            let at_listeners = !listeners.all(|at| at.0.object.gk.is_core("Service"));
            if first.not_attached && at_listeners {
                let kind = &first.effective.policy_kind.0.kind;
                parts.push(format!("{kind} does not apply there"));
            } else if first.not_attached {
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

/// Whether two results are equal, on whatever paths.
fn is_same(one: &OnPaths, other: &OnPaths) -> bool {
    let (a, b) = (&one.effective, &other.effective);
    (&a.policy_kind, &a.spec) == (&b.policy_kind, &b.spec)
        && (&a.sources, &a.merged_of) == (&b.sources, &b.merged_of)
        && (one.not_attached, one.incomplete) == (other.not_attached, other.incomplete)
        && one.requests_from == other.requests_from
}
