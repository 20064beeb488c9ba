//! The settings of a policy under one strategy: counted when the policy is read, parsed when a review first needs
//! them.

use std::sync::{Arc, OnceLock};

use serde_json::{Map, Value};

use super::settings::{drop_empty_lists, settings_of, take};
use super::tree::{Lists, MergeUnit, Setting, Tree, leaves_in};
use super::{Policy, Stanza, StanzaPlace};
use crate::kinds::profile::{Direction, Op, Profile, Strategy};
use crate::model::ids::ObjectKey;
use crate::model::setting_path::SettingPath;

/// One stanza of a policy.
#[derive(Clone, Debug)]
pub struct PolicyStanza {
    stanza: Stanza,
    /// The number of settings; one with a long path counts several times. A stanza that counts without settings has
    /// one.
    leaves: usize,
    /// Whether it sets nothing.
    is_empty: bool,
    /// Whether it has none of the settings without which a policy counts as empty (`merge.nonEmptyIf`).
    lacks_required: bool,
    /// Parsed on first use; most stanzas are never needed.
    tree: OnceLock<Arc<Tree>>,
}

/// A stanza with its policy.
#[derive(Clone, Copy, Debug)]
pub struct StanzaRef<'a> {
    policy: &'a Policy,
    stanza: &'a PolicyStanza,
}

/// The stanzas of a policy, with their sizes; stanzas without settings that do not count are left out.
pub(crate) fn read_stanzas(
    key: &ObjectKey,
    spec: &Value,
    profile: &Profile,
    stanzas: &[Stanza],
) -> Box<[PolicyStanza]> {
    let pieces = stanzas.iter().map(|stanza| {
        let settings = || settings_of(spec, stanza.place, profile);
        let merging = &profile.merging;
        let fields = &*merging.non_empty_if;
        let counts = |name: &String| fields.contains(name);
        let counts_empty = merging.counts_empty(stanza.strategy);
        let leaves = leaves_in(settings(), &lists(profile, key));
        PolicyStanza {
            stanza: *stanza,
            leaves: leaves.max(usize::from(counts_empty)),
            is_empty: leaves == 0,
            lacks_required: !fields.is_empty() && !settings().any(|(name, _)| counts(name)),
            tree: OnceLock::new(),
        }
    });
    pieces.filter(|piece| piece.leaves > 0).collect()
}

fn lists<'a>(profile: &'a Profile, policy: &'a ObjectKey) -> Lists<'a> {
    Lists {
        keys: &profile.merging.list_keys,
        combined: &profile.merging.combined_lists,
        adding_up: &profile.merging.append_lists,
        by_policy: &profile.merging.lists_by_policy,
        policy,
    }
}

// === impl PolicyStanza ===

impl PolicyStanza {
    /// A stanza that replaces others as a whole and sets nothing.
    pub(crate) fn nothing(policy: &ObjectKey) -> Self {
        Self::nothing_under(policy, Strategy::Merge(Direction::Defaults, Op::Atomic))
    }

    /// A stanza that sets nothing and takes the place of this one, if this one replaces others as a whole.
    pub(crate) fn emptied(&self, policy: &ObjectKey) -> Option<Self> {
        let strategy = self.stanza.strategy;
        strategy
            .is_whole()
            .then(|| Self::nothing_under(policy, strategy))
    }

    fn nothing_under(policy: &ObjectKey, strategy: Strategy) -> Self {
        let setting = Setting {
            value: (&Value::Object(Map::new())).into(),
            policy: policy.clone(),
            strategy: Some(strategy),
            is_controller_default: false,
        };
        Self {
            stanza: Stanza {
                strategy,
                place: StanzaPlace::Spec,
            },
            leaves: 1,
            is_empty: true,
            lacks_required: false,
            tree: OnceLock::from(Arc::new(Tree::Leaf(setting))),
        }
    }

    /// The number of settings; one with a long path counts several times.
    pub(crate) fn leaves(&self) -> usize {
        self.leaves
    }

    /// Whether it sets nothing, and counts nevertheless.
    pub(crate) fn is_empty(&self) -> bool {
        self.is_empty
    }

    /// Whether it has none of the settings without which a policy counts as empty: an atomic default above it stays in
    /// force, and alone it does nothing.
    pub(crate) fn lacks_required(&self) -> bool {
        self.lacks_required
    }

    /// Pairs it with its policy.
    pub(crate) fn with_policy<'a>(&'a self, policy: &'a Policy) -> StanzaRef<'a> {
        StanzaRef {
            policy,
            stanza: self,
        }
    }
}

// === impl StanzaRef ===

impl<'a> StanzaRef<'a> {
    /// The policy that the settings belong to.
    pub(crate) fn policy(self) -> &'a Policy {
        self.policy
    }

    /// Whether both are the same stanza of one policy.
    pub(crate) fn is(self, other: Self) -> bool {
        let place = |part: Self| (part.stanza.stanza.place, part.policy.variant());
        place(self) == place(other) && self.policy.key() == other.policy.key()
    }

    /// The strategy of the settings.
    pub(crate) fn strategy(self) -> Strategy {
        self.stanza.stanza.strategy
    }

    /// The number of settings; one with a long path counts several times.
    pub(crate) fn leaves(self) -> usize {
        self.stanza.leaves
    }

    /// Whether it has none of the settings without which a policy counts as empty.
    pub(crate) fn lacks_required(self) -> bool {
        self.stanza.lacks_required
    }

    /// Whether it is in force either as a whole or not at all.
    pub(crate) fn is_whole(self) -> bool {
        self.strategy().is_whole()
    }

    /// Whether it wins over more specific policies.
    pub(crate) fn is_override(self) -> bool {
        matches!(self.strategy(), Strategy::Merge(Direction::Overrides, _))
    }

    /// Whether more specific policies win over it.
    pub(crate) fn is_default(self) -> bool {
        matches!(self.strategy(), Strategy::Merge(Direction::Defaults, _))
    }

    /// The settings. Parses all stanzas of the policy at once.
    pub(crate) fn tree(self) -> &'a Arc<Tree> {
        if self.stanza.tree.get().is_none() {
            self.policy.read_from(self.policy.spec());
        }
        let none = || Arc::new(self.read(&mut Value::Null));
        self.stanza.tree.get_or_init(none)
    }

    /// Parses the settings, unless already done, and removes them from the spec of the policy.
    pub(crate) fn take_from(self, spec: &mut Value) {
        let read = || Arc::new(self.read(spec));
        self.stanza.tree.get_or_init(read);
    }

    fn read(self, spec: &mut Value) -> Tree {
        let Self {
            policy,
            stanza: piece,
        } = self;
        let setting = |value: &Value| Setting {
            value: value.into(),
            policy: policy.key().clone(),
            strategy: Some(piece.stanza.strategy),
            is_controller_default: false,
        };
        let mut settings = take(spec, piece.stanza.place, &policy.profile);
        let is_patch = !piece.stanza.strategy.is_whole();
        if is_patch && *policy.profile.merging.drops_empty_lists {
            drop_empty_lists(&mut settings);
        }
        let lists = lists(&policy.profile, policy.key());
        let merging = &policy.profile.merging;
        let units = MergeUnit::Paths(&merging.atomic_fields);
        let mut tree = Tree::read(settings, Some(&lists), &setting);
        if is_patch {
            for (path, text) in merging.assumed_when_unset.iter() {
                tree.imply(path, || Setting {
                    is_controller_default: true,
                    ..setting(&Value::from(text.as_str()))
                });
            }
        }
        let tree = tree.combined(units, &merging.combined_lists);
        if tree.is_empty() {
            // The stanza counts without settings.
            return Tree::Leaf(setting(&Value::Object(Map::new())));
        }
        tree
    }

    /// The paths of the settings.
    pub(crate) fn paths(self) -> Vec<SettingPath> {
        let mut paths = Vec::new();
        let mut keep = |path: &SettingPath, _: &Setting| paths.push(path.clone());
        self.tree().visit(&mut Vec::new(), &mut keep);
        paths
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::{Just, any, prop_assert_eq, prop_oneof, proptest};
    use proptest::{collection, strategy::Strategy};
    use serde_json::json;

    use super::{Lists, Map, ObjectKey, Setting, Tree, Value, leaves_in};
    use crate::model::ids::GroupKind;

    fn key() -> ObjectKey {
        ObjectKey::new(GroupKind::new("example.com", "P"), "ns", "p")
    }

    fn settings() -> impl Strategy<Value = Value> {
        let setting = prop_oneof![
            Just(Value::Null),
            any::<u8>().prop_map(Value::from),
            "[a-z]{0,200}".prop_map(Value::from),
        ];
        let name = prop_oneof!["rules", "items", "name", "[a-z]{0,70}"];
        setting.prop_recursive(4, 40, 5, move |inner| {
            let list = collection::vec(inner.clone(), 0..4);
            let map = collection::btree_map(name.clone(), inner, 0..5);
            prop_oneof![list.prop_map(Value::from), map.prop_map(|map| json!(map)),]
        })
    }

    proptest! {
        /// The count made before parsing equals the count after it.
        #[test]
        fn as_many_leaves_are_counted_as_are_read(settings in settings()) {
            let map = match settings {
                Value::Object(map) => map,
                other => Map::from_iter([("a".to_owned(), other)]),
            };
            let keys = [("items".to_owned(), "name".to_owned())].into();
            let (adding_up, policy) = (["rules".to_owned()], key());
            let lists = Lists { keys: &keys, combined: &BTreeMap::new(), adding_up: &adding_up, by_policy: &[], policy: &policy };
            let counted = leaves_in(map.iter(), &lists);
            let setting = |value: &Value| Setting { value: value.into(), policy: key(), strategy: None, is_controller_default: false };
            let tree = Tree::read(Value::Object(map), Some(&lists), &setting);
            prop_assert_eq!(counted, tree.leaves());
        }
    }
}
