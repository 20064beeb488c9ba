//! The commands as people run them: arguments and files in, text and exit code out.
//!
//! `TRYCMD=overwrite cargo test --test commands` writes what was printed into the golden files; read the
//! difference before you commit it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    missing_docs
)]

mod check;
