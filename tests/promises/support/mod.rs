//! What the promises are tested with: a scripted model behind real HTTP, a home of its own for
//! each test, the real program in a real terminal.

pub mod calls;
pub mod controls;
pub mod crash;
pub mod home;
pub mod keys;
pub mod latch;
pub mod model_server;
pub mod pages;
pub mod process;
pub mod reply;
pub mod request;
pub mod terminal;
pub mod watch;
