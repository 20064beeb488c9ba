//! The page of `attache ui`.

mod access;
mod changes;
mod hostile;
mod keys;
mod large;
mod pages;
mod server;
