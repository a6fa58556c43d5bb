//! Proofs of the Coordinator's domain: what a random, an exhaustive and a simulated history must
//! never show.
//!
//! Pure: no database, no clock, no model. What stands is cut to its live part after every step, as
//! the store does before it decides, so that a law which leans on something settled is found out.

mod chance;
mod driver;
mod exhaustive;
mod found;
mod laws;
mod ledger;
mod random;
mod simulation;
mod world;

use chance::Chance;
use ledger::Ledger;
use world::World;
