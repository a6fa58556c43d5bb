//! One decision loop: assemble context, stream a model turn, run the tool batch. It changes state
//! only by submitting commands through a [`port::Port`].
//!
//! The loop keeps nothing that is not on disk: what to do next is asked of
//! [`next_step`](crate::domain::next_step) each time, so an agent that was killed goes on where
//! one that was not killed would.

mod batch;
mod context;
mod drive;
mod held;
mod judge;
pub mod model;
mod naming;
pub mod port;
pub mod running;
pub mod tools;
mod turn;

pub use drive::drive;
