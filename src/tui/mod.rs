//! One attached terminal: keys to actions to effects; a projection folded from the host's feed;
//! panes drawn from the projection.
//!
//! The way of a key: bytes → [`input`] → an event → [`keymap`] → one [`Action`](action::Action) →
//! [`update`] changes the [`Model`](model::Model) and gives [`Effect`](action::Effect)s →
//! [`run`](mod@run) carries them out through the host's client → what comes of it comes back as an
//! action → [`view`] draws the model.
//!
//! Everything here is pure but for [`run`](mod@run), [`link`] and [`screen`], the only places that
//! know tokio or the terminal, and `input::tty`, which reads it.

pub mod action;
pub mod agents;
pub mod asks;
pub mod attention;
pub mod chat;
pub mod colours;
pub mod composer;
mod diff;
pub mod editor;
mod finder;
#[cfg(test)]
mod fixtures;
pub mod inbox;
pub mod input;
mod job_order;
pub mod jobs;
pub mod key;
pub mod keymap;
pub mod layout;
mod link;
mod links;
pub mod look;
mod markdown;
pub mod model;
mod painter;
pub mod paper;
pub mod picker;
mod ports;
pub mod projection;
pub mod run;
mod screen;
pub mod selection;
pub mod shell;
mod signals;
pub mod sizes;
mod styled;
mod summary;
pub mod text;
pub mod theme;
pub mod update;
pub mod view;
mod words;
pub mod wrap;

pub use keymap::keys_markdown;
pub use ports::{Attach, Connect, Editor, KeepModel, Lent, Show, Start};
pub use run::{Error, Exit, run};
