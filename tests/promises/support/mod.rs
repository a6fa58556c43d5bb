//! What the promises are tested with: a scripted model behind real HTTP, a home of its own for
//! each test, the real program in a real terminal.

pub mod attached;
pub mod calls;
pub mod controls;
pub mod crash;
pub mod disk;
pub mod home;
pub mod keys;
pub mod latch;
pub mod machine;
pub mod model_server;
pub mod pages;
pub mod process;
pub mod reply;
pub mod request;
pub mod story;
pub mod terminal;
pub mod tls;
pub mod watch;
pub mod wire;
pub mod wires;
