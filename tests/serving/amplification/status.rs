//! The memory of a large cluster's state, with the status that controllers wrote on each object.

use std::sync::Arc;

use attache::cache::raw::RawObject;
use attache::config::Configuration;
use attache::engine::model::ids::GroupKind;
use attache::engine::model::intern::Interner;
use attache::engine::model::object::Object;
use attache::engine::state::snapshot::{Change, Snapshot};
use serde_json::Value;

use testing::load::life;

/// The limit for 100,000 routes and 10,000 policies (docs/reference/performance.md): 150 MiB of a process, of which a fifth is
/// the program itself and the allocator's caches.
const BUDGET: i64 = 120 << 20;
const OBJECTS: i64 = 110_000;

/// Objects as the watch of a kind reads them.
fn objects(gk: &GroupKind, all: impl Iterator<Item = Value>) -> Vec<Arc<Object>> {
    let mut interner = Interner::default();
    let read = all.map(|json| {
        let mut raw = RawObject::read(&json.to_string());
        Arc::new(raw.to_interned(gk, &mut interner).unwrap())
    });
    read.collect()
}

/// A cluster with this many routes, and a tenth as many policies.
fn cluster(routes: usize) -> Snapshot {
    let rules = Configuration::default().rules(testing::builtin());
    let crd = GroupKind::CRD;
    let definitions = objects(&crd, life::definitions().into_iter());
    let mut snapshot = Snapshot::new(rules).apply(Change::Listed(crd.clone(), definitions));
    let gateway = GroupKind::gateway_api("Gateway");
    let gateways = objects(&gateway, (0..life::gateways(routes)).map(life::gateway));
    snapshot = snapshot.apply(Change::Listed(gateway.clone(), gateways));
    let route = GroupKind::gateway_api("HTTPRoute");
    let all = objects(&route, (0..routes).map(life::route));
    snapshot = snapshot.apply(Change::Listed(route.clone(), all));
    for (kind, (group, name, ..)) in life::KINDS.iter().enumerate() {
        let gk = GroupKind::new(*group, *name);
        let of_kind = (0..routes / 10).filter(|i| i % life::KINDS.len() == kind);
        let policies = objects(&gk, of_kind.map(|i| life::policy(i, routes)));
        snapshot = snapshot.apply(Change::Listed(gk.clone(), policies));
    }
    snapshot
}

/// The memory of a cluster of this size.
fn takes(routes: usize) -> i64 {
    let mut kept = None;
    let taken = allocation_counter::measure(|| kept = Some(cluster(routes)));
    drop(kept);
    taken.bytes_current
}

/// Growth is linear, so the difference between two small sizes gives the size per object.
#[test]
fn objects_with_status_fit_into_the_budget() {
    let (few, many) = (1_000, 3_000);
    // Allocates what all objects share.
    takes(few);
    let more = i64::try_from(many - few + (many - few) / 10).unwrap();
    let each = (takes(many) - takes(few)) / more;
    let all = each * OBJECTS;
    println!(
        "{each} bytes an object with status, {} MiB for {OBJECTS}",
        all >> 20
    );
    assert!(all <= BUDGET, "{each} bytes an object, {all} for {OBJECTS}");
}
