//! The chart, as Helm renders it: the same objects as `manifests/`, what each value changes, and which values are refused.
//!
//! Without helm and kubectl on the PATH the tests print SKIPPED and pass; with `ATTACHE_REQUIRE_HELM` and
//! `ATTACHE_REQUIRE_KUSTOMIZE`, as in CI, they fail. `ATTACHE_BLESS=1 cargo test --test repository chart::` writes the golden
//! files.

mod cases;
mod package;
mod probe;
mod refusals;
mod run;
mod same;
mod schema;
