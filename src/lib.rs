//! attache
