//! Processes that outlive us: the shim, its log, its exit record, reconciliation, attach.

pub mod folder;
pub mod log;
pub mod record;
pub mod spec;
mod terminal;
pub mod shim {
    pub const ROLE: &str = "shim";
    pub fn main(_: impl Iterator) -> std::process::ExitCode {
        std::process::ExitCode::SUCCESS
    }
}
