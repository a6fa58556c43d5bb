//! One decision loop: assemble context, stream a model turn, run the tool batch. It changes state
//! only by submitting commands through a [`port::Port`].

pub mod model;
pub mod port;
pub mod tools;
