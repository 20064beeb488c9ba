//! Settings that the filters of a rule replace.

use std::sync::Arc;

use super::{EffectivePolicy, Merged};
use crate::kinds::profile::{Direction, Profile, ReplacingFilter, Strategy};
use crate::model::ids::ObjectKey;
use crate::model::json_text::JsonText;
use crate::policy::InForce;
use crate::policy::Setting;
use crate::policy::tree::Tree;

// === impl EffectivePolicy ===

impl EffectivePolicy {
    /// The effective policy on a rule with a filter that controllers use in place of a setting. The route is the source of its value.
    /// If no policy sets it, the filter is in force, and not part of the effective policy.
    pub(crate) fn replaced_by(
        mut self,
        profile: &Profile,
        filter: &ReplacingFilter,
        value: &JsonText,
        route: &ObjectKey,
    ) -> Self {
        let setting = of_filter(value, route);
        let trees = match &mut self.result {
            Some(Merged::Settings(tree)) => std::slice::from_mut(tree),
            Some(Merged::SideBySide(trees)) => trees.as_mut_slice(),
            Some(Merged::Opaque(_)) | None => &mut [],
        };
        let mut is_part = false;
        for tree in trees {
            if meets_filters(profile, tree) && tree.at(&filter.setting).is_some() {
                is_part = true;
                if !stays(tree, filter) {
                    Arc::make_mut(tree).copy_from(&setting, &filter.setting);
                }
            }
        }
        if !is_part {
            let mut filters = match self.filters.take() {
                Some(filters) => (*filters).clone(),
                None => Tree::empty(),
            };
            filters.copy_from(&setting, &filter.setting);
            self.filters = Some(Arc::new(filters));
        }
        self
    }

    /// The settings of filters of the rule that no policy sets.
    pub(crate) fn of_filters(&self) -> Option<InForce<'_>> {
        self.filters.as_ref().map(InForce::from_tree)
    }
}

/// Whether policies act at the moment of a request at which filters act, and so may be replaced by them.
fn meets_filters(profile: &Profile, tree: &Tree) -> bool {
    let by = profile.merging.partition_by.as_ref();
    by.is_none_or(|by| match tree.at(&by.field) {
        Some(Tree::Leaf(setting)) => setting.value.value().as_str() == Some(&*by.default),
        _ => true,
    })
}

/// Whether a setting stays in force, because a policy overrides it.
fn stays(tree: &Tree, filter: &ReplacingFilter) -> bool {
    let overrides = |setting: &Setting| {
        matches!(
            setting.strategy,
            Some(Strategy::Merge(Direction::Overrides, _))
        )
    };
    let mut has_override = false;
    if let Some(setting) = tree.at(&filter.setting) {
        setting.each(&mut |leaf| has_override |= overrides(leaf));
    }
    filter.unless_override && has_override
}

/// The value of a filter, as a setting of its route.
fn of_filter(value: &JsonText, route: &ObjectKey) -> Tree {
    let setting = |value: JsonText| Setting {
        value,
        policy: route.clone(),
        strategy: None,
        is_controller_default: false,
    };
    if value.is_empty_object() {
        return Tree::Leaf(setting(value.clone()));
    }
    Tree::read(value.value(), None, &|value| setting(value.into()))
}
