//! The process that owns the runtime: lock, socket, protocol, server end, client end.

pub mod address;
pub mod client;
pub mod error;
pub mod home;
pub mod line;
pub mod lock;
pub mod log;
pub mod protocol;

pub use error::HostError;
