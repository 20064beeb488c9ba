//! Load, overload and rolling updates: what must hold on any machine. `cargo bench --bench soak` measures the rest.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    missing_docs
)]

#[path = "../../benches/soak/api.rs"]
mod api;
mod balancer;
#[path = "../../benches/soak/client.rs"]
mod client;
#[path = "../../benches/soak/mix.rs"]
mod mix;
#[path = "../../benches/soak/objects.rs"]
mod objects;
#[path = "../../benches/soak/overload.rs"]
#[allow(dead_code)]
mod overload;
#[path = "../../benches/soak/pace.rs"]
mod pace;
#[path = "../../benches/soak/process.rs"]
#[allow(dead_code)]
mod process;
mod rolling;
#[path = "../../benches/soak/sample.rs"]
#[allow(dead_code)]
mod sample;
mod soak;
#[path = "../cache/server.rs"]
#[allow(dead_code, unused_imports, unreachable_pub)]
mod stand_in;

const CONFIG: &str = "apiVersion: attache.dev/v1\nkind: Configuration\n";
