//! The environment of the tests: a cluster, an attache, and `kubectl` as a user.

mod absent;
mod attache;
mod cluster;
mod kubectl;
pub(crate) mod manifests;
pub(crate) mod pod;
mod webhook;
mod world;

pub(crate) use attache::Attache;
pub(crate) use cluster::Cluster;
pub(crate) use kubectl::{Kubectl, Said};
pub(crate) use testing::eventually::{eventually, soon};
pub(crate) use world::{World, fixture, retry_policy_crd};
