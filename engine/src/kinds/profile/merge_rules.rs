//! Strategies, and the rules by which policies merge.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::DelegationMergeFile;
use super::file::PartitionBy;
use super::{
    DictatedBy, Direction, EmptySpec, Fact, IgnoredSettings, MergeWith, NotApplied, OnListeners,
    Op, PortSettings, ReplacingFilter, SpecPath, Strategy,
};
use crate::model::level::Level;

/// The strategies of a kind, and where the spec names them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Strategies {
    /// The path from `spec` of the field that names one.
    pub path: Option<String>,
    /// The strategies by the names that users write.
    pub values: BTreeMap<String, Strategy>,
    /// Whether these are all names.
    pub complete: bool,
    /// The fields of `spec` that are strategies, if the kind has such stanzas.
    pub stanzas: Option<StanzaNames>,
    /// The values of `strategy` inside a stanza, if known.
    pub nested: BTreeMap<String, Op>,
    /// Whether one policy may have both stanzas, which then merge field by field.
    pub follows_2021: bool,
    /// Whether nothing excludes both stanzas together, although the kind is not known to follow GEP-713 of 2021: a
    /// single stanza is atomic, and two in one policy merge field by field.
    pub takes_both: bool,
    /// The name that the API server fills in by default.
    pub default: Option<String>,
    /// Fields of `spec` that neither stanza contains: next to a stanza they are not settings.
    pub apart: Vec<String>,
    /// Maps with arbitrary keys, which GEP-713 of 2021 replaces as a whole; paths within the settings.
    pub maps: Vec<Vec<String>>,
}

/// The rules by which the policies of a kind merge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Merging {
    /// The policy whose strategy decides.
    pub dictated_by: Fact<DictatedBy>,
    /// The policies that one merges with, if the challenger decides.
    pub merge_with: Fact<MergeWith>,
    /// Fields that are replaced as a whole; `*` matches any key.
    pub atomic_fields: Fact<Vec<Vec<String>>>,
    /// The units that are replaced as a whole when policies merge by key, if any are given.
    pub units_by_key: Vec<Vec<String>>,
    /// Whether a policy first merges with the nearest one above the routes, if its strategy says so, and its missing
    /// settings are filled in then.
    pub parent_first: bool,
    /// Lists merged entry by entry: field name to the key of its entries.
    pub list_keys: Fact<BTreeMap<String, String>>,
    /// Lists whose entries are always combined: field name to the key that tells entries apart.
    pub combined_lists: Fact<BTreeMap<String, String>>,
    /// Lists that add up between levels under the operation strategic: the names of the field above them and of their
    /// own.
    pub lists_by_policy: Fact<Vec<[String; 2]>>,
    /// Whether empty lists are left out before policies merge.
    pub drops_empty_lists: Fact<bool>,
    /// The values that unset settings count as when policies merge, by paths within the settings.
    /// They count only where the policy has the object around the setting.
    pub assumed_when_unset: Fact<BTreeMap<SpecPath, String>>,
    /// Names of lists that add up on one target.
    pub append_lists: Fact<Vec<String>>,
    /// The effect of a policy without settings, if any source states it.
    pub empty_spec: Fact<Option<EmptySpec>>,
    /// Fields of the settings: a policy without any of them counts as empty; any field suffices if there are none.
    pub non_empty_if: Fact<Vec<String>>,
    /// Listeners to which only some settings apply.
    pub on_listeners: Fact<Vec<OnListeners>>,
    /// The settings for single ports.
    pub ports: Fact<Option<PortSettings>>,
    /// Settings that controllers do not read because of another setting of the same policy.
    pub ignored_settings: Fact<Vec<IgnoredSettings>>,
    /// Values of the merged settings with which controllers apply none of them.
    pub not_applied_if: Fact<Vec<NotApplied>>,
    /// Filters of rules that controllers use in place of settings.
    pub replaced_by_filters: Fact<Vec<ReplacingFilter>>,
    /// Levels whose policies merge by age.
    pub levels_by_age: Fact<Vec<Level>>,
    /// Levels that are merged first.
    pub stages: Fact<Vec<Vec<Level>>>,
    /// Whether each policy is a stage of its own.
    pub stage_per_policy: Fact<bool>,
    /// Settings of one stage that more specific stages do not undo, as paths within the settings.
    pub kept_from_above: Fact<Vec<SpecPath>>,
    /// Settings that are in force once per stage, in addition to those of other stages, as paths within the settings.
    pub accumulate_per_stage: Fact<Vec<SpecPath>>,
    /// The field by whose value policies are partitioned, if there is one.
    pub partition_by: Fact<Option<PartitionBy>>,
    /// The strategies by which policies of a route that delegates merge with those of the routes that it delegates to, if it may
    /// say so.
    pub delegation_merge: Fact<Option<Arc<DelegationMergeFile>>>,
}

/// The names of the stanzas of a kind: `defaults` and `overrides`, or the singular.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StanzaNames {
    /// The stanza of defaults.
    pub defaults: &'static str,
    /// The stanza of overrides.
    pub overrides: &'static str,
}

// === impl Merging ===

impl Merging {
    /// Whether a policy without settings counts like any other under this strategy.
    ///
    /// If policies replace each other as a whole, it does, unless the kind states otherwise. If policies merge, it
    /// adds nothing; but if it merges only with its nearest parent, it overrides the policies above that.
    pub fn counts_empty(&self, strategy: Strategy) -> bool {
        let defaults = Strategy::Merge(Direction::Defaults, Op::Atomic);
        match *self.empty_spec {
            Some(EmptySpec::Counts | EmptySpec::Acts) => true,
            Some(EmptySpec::Ignored) => {
                // It still brings in the settings of the policy that it merges with.
                self.parent_first && matches!(strategy, Strategy::Merge(_, op) if op != Op::ByKey)
            }
            Some(EmptySpec::IgnoredAsDefault) => strategy != defaults && strategy.is_whole(),
            None => strategy.is_whole() || self.merges_with_nearest_only(),
        }
    }

    /// The stage of a level: the levels of one stage are merged before others.
    pub fn stage(&self, level: Level) -> (usize, Option<Level>) {
        let mut stages = self.stages.iter();
        match stages.position(|levels| levels.contains(&level)) {
            Some(stage) => (stage, None),
            None => (usize::MAX, Some(level)),
        }
    }

    /// Whether a policy overrides others because it merges with only one of the policies above it.
    fn merges_with_nearest_only(&self) -> bool {
        *self.dictated_by == DictatedBy::Challenger && *self.merge_with != MergeWith::AllAncestors
    }
}

// === impl StanzaNames ===

impl StanzaNames {
    /// The current names of GEP-713.
    pub const PLURAL: Self = Self {
        defaults: "defaults",
        overrides: "overrides",
    };
    /// The earlier names of GEP-713.
    pub const SINGULAR: Self = Self {
        defaults: "default",
        overrides: "override",
    };
}
