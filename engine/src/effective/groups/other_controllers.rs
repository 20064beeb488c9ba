//! Gateways whose controllers do not apply a policy kind.

use std::collections::BTreeSet;

use crate::effective::{Resolver, controllers_follow};
use crate::kinds::profile::Profile;
use crate::model::ids::ObjectKey;
use crate::model::level::{Level, Step};
use crate::topology::{gateway_of, to_gateway};

impl Resolver<'_> {
    /// Whether these steps lead through a Gateway whose controller applies known policy kinds, but not this one; or to an object of
    /// a mesh without a Gateway in front of it, if only such Gateways apply the kind.
    pub fn is_run_by_others(&mut self, profile: &Profile, steps: &[Step]) -> bool {
        self.stacks.is_run_by_others(profile, steps)
    }

    /// Whether requests reach an object, and all of them through Gateways whose controllers do not apply the kind.
    pub(super) fn is_only_behind_others(&mut self, key: &ObjectKey, profile: &Profile) -> bool {
        if !profile.knows_controllers() {
            return false;
        }
        // The class of a Gateway decides, whatever other Gateways its routes are attached to.
        let gateway = self.snapshot.get(gateway_of(self.snapshot, key));
        if let Some(gateway) = gateway.filter(|gateway| gateway.key.gk.is_gateway_api("Gateway")) {
            return self.stacks.is_run_by_others(profile, &to_gateway(gateway));
        }
        let subgraph = self.subgraph(key);
        let mut paths = subgraph.above().peekable();
        paths.peek().is_some()
            && paths.all(|path| {
                !controllers_follow(profile, path)
                    || self.stacks.is_run_by_others(profile, &path.steps)
            })
    }

    /// The Gateways through which requests reach the target of a direct kind, and whose controllers do not apply the kind.
    pub fn gateways_not_applying(
        &mut self,
        key: &ObjectKey,
        profile: &Profile,
    ) -> BTreeSet<ObjectKey> {
        let mut gateways = BTreeSet::new();
        if !profile.knows_controllers() {
            return gateways;
        }
        let subgraph = self.subgraph(key);
        for path in subgraph.above() {
            let mut steps = path.steps.iter();
            let gateway = steps.find(|step| step.level == Level::Gateway);
            let gateway = gateway.map(|step| &step.place.object);
            let gateway = gateway.filter(|gateway| !gateways.contains(*gateway));
            if let Some(gateway) = gateway
                && self.stacks.is_run_by_others(profile, &path.steps)
            {
                gateways.insert(gateway.clone());
            }
        }
        gateways
    }
}
