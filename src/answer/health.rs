//! `attache health`: how tools can tell from the status of a policy whether it is healthy, per policy kind.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::engine::kinds::profile::{NothingToApplyToCondition, Profile, StatusShape};
use crate::engine::model::ids::GroupKind;
use crate::engine::model::object::status::{
    ACCEPTANCE, CONFLICTED, ENFORCEMENT, MERGED, OVERRIDDEN, RESOLVED, WAITING,
};

/// The rule for one policy kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HealthRule {
    /// The kind.
    pub gk: GroupKind,
    /// The version that is stored, or listed first, if any is known.
    pub version: Option<Arc<str>>,
    /// The place of the conditions.
    pub place: Conditions,
    /// The controllers whose entries count; all if empty.
    pub controllers: Vec<Arc<str>>,
    /// Conditions that report that a policy is accepted or in force, if they are `True`.
    pub positive: BTreeSet<Arc<str>>,
    /// Conditions that report that a policy has nothing to apply to yet.
    pub idle: Vec<NothingToApplyToCondition>,
    /// Whether controllers may report nothing about a policy that is in force.
    pub may_be_empty: bool,
}

/// The place of the conditions in a status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conditions {
    /// In each entry of this list.
    Entries(&'static str),
    /// In `status.conditions`.
    Whole,
}

/// Why a kind has no rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WithoutRule {
    /// Controllers write no status.
    NoStatus,
    /// Its status is in fields of its own.
    OwnFields,
    /// Nothing is known of its status.
    Unknown,
}

/// Names of conditions and reasons.
#[derive(Clone, Copy, Debug)]
pub struct ConditionNames {
    /// The condition that is a fault if it is `False`, and no acceptance if it is `True`.
    pub resolved: &'static str,
    /// The condition that is a fault if it is `True`.
    pub conflicted: &'static str,
    /// The condition, or the reason, that reports that other policies override a policy.
    pub overridden: &'static str,
    /// The reason of a policy that was merged with others.
    pub merged: &'static str,
    /// Reasons of a condition that does not hold yet.
    pub waiting: &'static [&'static str],
}

/// The names of conditions and reasons that all kinds share.
pub const CONDITION_NAMES: ConditionNames = ConditionNames {
    resolved: RESOLVED,
    conflicted: CONFLICTED,
    overridden: OVERRIDDEN,
    merged: MERGED,
    waiting: &WAITING,
};

// === impl HealthRule ===

impl HealthRule {
    /// The rule for a kind.
    ///
    /// # Errors
    /// If the status of the kind has no conditions to judge by.
    pub fn from_profile(profile: &Profile) -> Result<Self, WithoutRule> {
        let place = match *profile.status {
            Some(StatusShape::Ancestors) => Conditions::Entries("ancestors"),
            Some(StatusShape::Controllers) => Conditions::Entries("controllers"),
            Some(StatusShape::Conditions) => Conditions::Whole,
            Some(StatusShape::None) => return Err(WithoutRule::NoStatus),
            Some(StatusShape::Other) => return Err(WithoutRule::OwnFields),
            None => return Err(WithoutRule::Unknown),
        };
        let common = ACCEPTANCE.into_iter().chain(ENFORCEMENT).map(Arc::from);
        let own = profile.must_be_true.iter().cloned();
        Ok(Self {
            gk: profile.gk.clone(),
            version: profile.versions.first().cloned(),
            place,
            controllers: match place {
                Conditions::Entries(_) => profile.controllers.to_vec(),
                // Such a status names no controller.
                Conditions::Whole => Vec::new(),
            },
            positive: common.chain(own).collect(),
            idle: profile.nothing_to_apply_to.to_vec(),
            may_be_empty: *profile.may_be_empty,
        })
    }
}

// === impl WithoutRule ===

impl WithoutRule {
    /// In words, after the name of a kind.
    pub fn text(self) -> &'static str {
        match self {
            Self::NoStatus => "its controllers write no status",
            Self::OwnFields => "its status has no conditions, only fields of its own",
            Self::Unknown => "its CRD says nothing about its status",
        }
    }
}
