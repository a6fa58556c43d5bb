//! Cowork: a terminal workstation in which people and AI agents work on the same things.
//!
//! The rooms, in the order in which to read them; who may know whom is a table in
//! `docs/architecture.md`, held by `tests/architecture.rs`:
//!
//! * [`domain`]: the words and the laws, pure.
//! * [`store`]: the SQLite file.
//! * [`process`]: starting and ending processes.
//! * [`resources`]: what people and agents edit together, one pure adapter per kind.
//! * [`jobs`]: processes that outlive us, their terminals and their logs.
//! * [`agent`]: the decision loop, its tools and its models.
//! * [`runtime`]: the Coordinator, which binds those together.
//! * [`host`]: the process that owns the runtime, and the way to it.
//! * [`tui`]: one attached terminal.
//! * [`cli`]: arguments, configuration, and which role this process plays.

pub mod agent;
pub mod cli;
pub mod crash;
pub mod domain;
pub mod host;
pub mod jobs;
pub mod process;
pub mod resources;
pub mod runtime;
pub mod store;
pub mod tui;
