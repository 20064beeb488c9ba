//! The part of a path group that concerns one place.

use super::Setting;
use super::yaml::yaml;
use crate::answer::graph::id;
use crate::engine::effective::Group;
use crate::engine::ids::Place;
use crate::engine::level::Level;
use crate::engine::merge::Effective;
use crate::engine::profile::{Class, Profile};
use crate::engine::words::{field, shortened};

/// The limit of characters per value; a longer one is cut.
const LONGEST: usize = 400;

/// The path groups that contain a node. For a direct kind, a section without its own policies has the group of the
/// whole object.
pub(super) fn relevant<'a>(
    profile: &Profile,
    groups: &'a [Group],
    place: &Place,
    is_upper: bool,
) -> Vec<&'a Group> {
    if profile.class.value == Class::Direct {
        let ends_at = |place: &Place| {
            let mut groups = groups.iter();
            groups.find(|group| group.ends.targets().any(|target| target == place))
        };
        let whole = || ends_at(&place.object.whole());
        return ends_at(place).or_else(whole).into_iter().collect();
    }
    let stands = |group: &&Group| {
        if is_upper {
            let mut steps = group.ends.uppers.iter().flat_map(|upper| &upper.steps);
            steps.any(|step| step.place == *place)
        } else {
            let mut steps = group.ends.lowers.iter().flat_map(|lower| &lower.steps);
            steps.any(|step| step.place == *place)
        }
    };
    groups.iter().filter(stands).collect()
}

/// The level of a place on the paths of a group; else the level of its object.
pub(super) fn level(group: &Group, place: &Place) -> Option<Level> {
    let here = group.ends.steps().find(|step| step.place == *place);
    here.map(|step| step.level)
        .or_else(|| group.level(&place.object))
}

/// The first path of a group that contains a place. For a place above the routes, only the part down to it.
pub(super) fn path(group: &Group, place: &Place, is_upper: bool) -> Vec<String> {
    let mut uppers = group.ends.uppers.iter();
    let way = uppers.find(|upper| upper.steps.iter().any(|step| step.place == *place));
    match way.filter(|_| is_upper) {
        None => group.path().iter().map(ToString::to_string).collect(),
        Some(upper) => {
            let places = upper.steps.iter().map(|step| &step.place);
            let last = places.clone().position(|other| other == place).unwrap_or(0);
            places.take(last + 1).map(ToString::to_string).collect()
        }
    }
}

/// The settings with their sources. `None` if only the kind's controller knows them.
pub(super) fn settings(effective: &Effective) -> Option<Vec<Setting>> {
    if effective.is_opaque() {
        return None;
    }
    let leaves = effective.leaves().into_iter();
    let settings = leaves.map(|(path, leaf)| Setting {
        field: field(&path),
        value: (!leaf.value.is_null()).then(|| match &leaf.value.value() {
            serde_json::Value::String(text) => cut(text),
            value => cut(yaml(value).trim_end()),
        }),
        from: id::of(&leaf.policy.whole(), false),
    });
    Some(settings.collect())
}

fn cut(text: &str) -> String {
    shortened(text, LONGEST).into_owned()
}
