//! The fulfilment of guardrails by targets now, without a change.

use std::collections::{BTreeMap, BTreeSet};

use attache_engine::effective::Resolver;
use attache_engine::model::ids::{GroupKind, ObjectKey};
use attache_engine::state::snapshot::Snapshot;
use jiff::civil::Date;

use crate::exception::Exception;
use crate::functions::Functions;
use crate::guardrail::Guardrail;
use crate::guardrails::Guardrails;
use crate::judge::{Before, Fault, Judge, SharedPaths};
use crate::target_paths::TargetPaths;
use crate::values;

/// Whether a target fulfils a guardrail.
#[derive(Clone, Debug)]
pub enum Fulfilment {
    /// All rules hold on all paths.
    Fulfilled,
    /// Rules do not hold, or cannot be evaluated, on some path.
    Broken(Vec<Fault>),
    /// The guardrail does not apply to it for some time; whether it would fulfil it is not asked.
    Excepted(Exception),
}

// === impl Fulfilment ===

impl Fulfilment {
    /// The rules that do not hold, or cannot be evaluated, each with its path.
    pub(crate) fn faults(&self) -> &[Fault] {
        match self {
            Self::Fulfilled | Self::Excepted(_) => &[],
            Self::Broken(faults) => faults,
        }
    }
}

// === impl Judge ===

impl<'g> Judge<'g> {
    /// A judge of the current state. In rules, the state before is the current one, and the request
    /// is empty.
    pub fn of_current_state(functions: &'g Functions) -> Self {
        Self::with(functions, values::request(None, None), 0)
    }

    /// The guardrails that apply to an object, and whether it fulfils them. Guardrails that apply to no path of it are left out. A judge
    /// is asked with one resolver alone.
    pub fn of_target(
        &mut self,
        resolver: &mut Resolver<'_>,
        guardrails: &'g Guardrails,
        key: &ObjectKey,
        today: Date,
    ) -> Vec<(&'g Guardrail, Fulfilment)> {
        let snapshot = resolver.snapshot();
        let all = guardrails.iter();
        let applying: Vec<&Guardrail> = all
            .filter(|guardrail| guardrail.matcher.has(snapshot, key))
            .collect();
        if applying.is_empty() {
            return Vec::new();
        }
        let kinds = applying
            .iter()
            .map(|guardrail| guardrail.policy_kind.as_ref());
        let kinds: BTreeSet<Option<&GroupKind>> = kinds.collect();
        let of_kinds = kinds.into_iter();
        let at_owners = &mut self.at_owners;
        let of_kinds =
            of_kinds.map(|kind| (kind, TargetPaths::find(resolver, key, kind, at_owners)));
        let of_kinds: Vec<(Option<&GroupKind>, TargetPaths)> = of_kinds.collect();
        let paths = of_kinds.iter();
        let paths: Vec<_> = paths
            .map(|(kind, paths)| (*kind, paths.paths(snapshot)))
            .collect();
        let mut shared: BTreeMap<_, _> = paths
            .iter()
            .map(|(kind, paths)| (*kind, SharedPaths::new(paths, Before::Same)))
            .collect();
        let gateways = resolver.gateways_of(key);
        let mut results = Vec::new();
        for guardrail in applying {
            let Some(paths) = shared.get_mut(&guardrail.policy_kind.as_ref()) else {
                continue;
            };
            let result = self.judge(resolver, guardrail, paths, &gateways);
            if result.paths == 0 {
                continue;
            }
            let fulfilment = match guardrail.exception(snapshot, key, today) {
                Some(exception) => Fulfilment::Excepted(exception),
                None if result.faults.is_empty() => Fulfilment::Fulfilled,
                None => Fulfilment::Broken(result.faults),
            };
            results.push((guardrail, fulfilment));
        }
        results
    }
}

/// The objects that may be targets of a guardrail, in their order.
pub fn targets(snapshot: &Snapshot, guardrail: &Guardrail) -> Vec<ObjectKey> {
    let kinds = guardrail.matcher.kinds.iter();
    let objects = kinds.flat_map(|kind| snapshot.objects(kind));
    let objects = objects.filter(|object| !object.meta.deleting);
    let mut keys: Vec<ObjectKey> = objects
        .map(|object| object.key.clone())
        .filter(|key| guardrail.matcher.has(snapshot, key))
        .collect();
    keys.sort();
    keys
}

/// Why nothing can be known of a guardrail: its policy kind is unknown.
pub fn unknown_kind(snapshot: &Snapshot, guardrail: &Guardrail) -> Option<String> {
    let kind = guardrail.policy_kind.as_ref()?;
    snapshot.profile(kind).is_none().then(|| {
        format!(
            "there is no policy kind {kind}: correct spec.policyKind, or describe the kind in a profile (attache kinds lists those that are known)"
        )
    })
}
