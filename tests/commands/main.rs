//! The commands as they are run: arguments in, text out.
//!
//! Golden files say what is printed. `ATTACHE_BLESS=1` writes them anew; read the difference before you
//! commit it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

mod graph;
