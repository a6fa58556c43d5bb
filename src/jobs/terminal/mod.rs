//! The terminal that a Job's command believes in: what it asks of it, and what stands on it.
//!
//! Everything that a program prints is watched for [`Query`]s and [`Modes`]; that is cheap and
//! always done. A [`Model`] of the screen is kept only while somebody needs it. What a client gets
//! to see is drawn anew from the model: no sequence of the program ever reaches a user's terminal.

mod charset;
mod model;
mod modes;
mod query;
mod sequence;

pub(super) use model::Model;
pub(super) use modes::Modes;
pub(super) use query::{Facts, Query, answer};
pub(super) use sequence::{Piece, Splitter};
