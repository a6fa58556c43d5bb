//! The process that owns the runtime: lock, socket, protocol, server end, client end.

pub mod client;
pub mod line;
pub mod protocol;
