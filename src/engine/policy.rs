//! A policy: targets, strategy, spec proper. (stub)
