//! What the terminal sends: bytes in, crossterm's events out.
//!
//! crossterm's own reader can't be used: it spins on a terminal that is gone, keeps a paste whose
//! end never comes for ever, and takes a mouse report that is cut in two for typed text. Its event
//! types are the vocabulary all the same. [`decode`] is pure; [`tty`] reads the device.

pub mod decode;
pub mod tty;
