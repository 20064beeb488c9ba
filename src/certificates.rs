//! Certificates: their validity and names, making them, and the rotation of those that attache makes for itself.
//!
//! Pure, except for the random numbers of keys: the clock is an argument, and
//! [`crate::cache::own_certificates`] reads and writes the Secret.

mod certificate;
mod generate;
mod rotation;
mod stored;

pub use certificate::{Validity, names};
pub use generate::{CaAndPair, Lifetimes, make, make_ca_and_pair};
pub use rotation::{Rotation, Step};
pub use stored::{Next, Pair, Previous, Stored, contains};
