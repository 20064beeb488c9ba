//! The part of a path group that concerns one place.

use super::Setting;
use super::yaml::yaml;
use crate::answer::graph::id;
use crate::engine::effective::PathGroup;
use crate::engine::kinds::profile::{Class, Profile};
use crate::engine::merge::EffectivePolicy;
use crate::engine::model::ids::Place;
use crate::engine::model::level::Level;
use crate::engine::model::wording::{field, shortened};

/// The limit of characters per value; a longer one is cut.
const MAX_VALUE_CHARACTERS: usize = 400;

/// The path groups that contain a node. For a direct kind, a section without its own policies has the group of the
/// whole object.
pub(super) fn relevant<'a>(
    profile: &Profile,
    groups: &'a [PathGroup],
    place: &Place,
    is_upper: bool,
) -> Vec<&'a PathGroup> {
    if profile.class.value == Class::Direct {
        let ends_at = |place: &Place| {
            let mut groups = groups.iter();
            groups.find(|group| group.paths.targets().any(|target| target == place))
        };
        let ends_at_object = || ends_at(&place.object.whole());
        return ends_at(place).or_else(ends_at_object).into_iter().collect();
    }
    let attachments = |group: &&PathGroup| {
        if is_upper {
            let mut steps = group
                .paths
                .ancestors
                .iter()
                .flat_map(|ancestor_path| &ancestor_path.steps);
            steps.any(|step| step.place == *place)
        } else {
            let mut steps = group
                .paths
                .routes
                .iter()
                .flat_map(|route_path| &route_path.steps);
            steps.any(|step| step.place == *place)
        }
    };
    groups.iter().filter(attachments).collect()
}

/// The level of a place on the paths of a group; else the level of its object.
pub(super) fn level(group: &PathGroup, place: &Place) -> Option<Level> {
    let step_at_place = group.paths.steps().find(|step| step.place == *place);
    step_at_place.map(|step| step.level).or_else(|| {
        let position = group.position(&place.object);
        position.map(|position| position.level)
    })
}

/// The first path of a group that contains a place. For a place above the routes, only the part down to it.
pub(super) fn path(group: &PathGroup, place: &Place, is_upper: bool) -> Vec<String> {
    let mut ancestor_paths = group.paths.ancestors.iter();
    let path_with_place =
        ancestor_paths.find(|path| path.steps.iter().any(|step| step.place == *place));
    match path_with_place.filter(|_| is_upper) {
        None => group.path().iter().map(ToString::to_string).collect(),
        Some(ancestor_path) => {
            let places = ancestor_path.steps.iter().map(|step| &step.place);
            let last = places.clone().position(|other| other == place).unwrap_or(0);
            places.take(last + 1).map(ToString::to_string).collect()
        }
    }
}

/// The settings with their sources. `None` if only the kind's controller knows them.
pub(super) fn settings(effective: &EffectivePolicy) -> Option<Vec<Setting>> {
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
        from: id::node_id(&leaf.policy.whole(), false),
    });
    Some(settings.collect())
}

fn cut(text: &str) -> String {
    shortened(text, MAX_VALUE_CHARACTERS).into_owned()
}
