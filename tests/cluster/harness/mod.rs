//! What the tests stand on: a cluster, attache beside it, and `kubectl` in the hands of a user.

mod attache;
mod cluster;
mod eventually;
mod kubectl;
pub(crate) mod manifests;
mod webhook;
mod world;

pub(crate) use attache::Attache;
pub(crate) use cluster::Cluster;
pub(crate) use eventually::{eventually, soon};
pub(crate) use kubectl::{Kubectl, Said};
pub(crate) use world::{World, fixture, retry_policy_crd};
