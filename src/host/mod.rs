//! The process that owns the runtime: lock, socket, protocol, server end, client end.
//!
//! The way in, from a client: [`start`] reaches or starts a host, [`client`] talks to it in the
//! words of [`protocol`], framed by [`line`]. The other end: [`home`], [`lock`] and [`address`]
//! make a process the one host of a state folder, [`server`] runs it, `connection` serves one
//! client, `desk` takes its requests and `subscription` is its feed.

pub mod address;
pub mod client;
mod connection;
mod desk;
pub mod error;
mod greeting;
pub mod home;
mod hub;
pub mod line;
pub mod lock;
pub mod log;
mod outbox;
pub mod protocol;
pub mod ready;
pub mod server;
pub mod start;
mod subscription;

pub use error::HostError;

#[cfg(test)]
mod tests;
