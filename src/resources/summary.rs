//! What others changed, told within a budget: the words stand in the domain, since they are what a
//! message says; this room makes the digests.

pub use crate::domain::changes::{Change, Digest, UnitChange, others, summarise};
