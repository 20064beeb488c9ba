//! The environment of the tests: a cluster, an attache, and `kubectl` as a user.

mod absent;
mod attache;
mod cluster;
mod kubectl;
pub(crate) mod manifests;
pub(crate) mod pod;
mod setup;
mod webhook;

pub(crate) use attache::Attache;
pub(crate) use cluster::Cluster;
pub(crate) use kubectl::{Kubectl, Said};
pub(crate) use setup::{TestSetup, fixture, retry_policy_crd};
pub(crate) use testing::eventually::{eventually, soon};
