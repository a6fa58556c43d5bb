//! The commands, one file for each group. Each takes the [`App`](super::app::App) and its
//! arguments, talks to the runtime through a [`Session`](super::session::Session), and prints.

pub mod agents;
pub mod approvals;
pub mod checks;
pub mod completions;
pub mod config;
pub mod doctor;
pub mod events;
pub mod exec;
pub mod host;
pub mod inbox;
pub mod jobs;
pub mod kept;
pub mod keys;
pub mod models;
pub mod outside;
pub mod plain;
pub mod queue;
pub mod screen;
pub mod task_edit;
pub mod tasks;
pub mod trust;
