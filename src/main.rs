//! The program: one for every role (screen, host, command line, Job shim); `cli` decides which.
//!
//! Standard library defaults that matter: SIGPIPE stays ignored, so a closed pipe or socket is an
//! error that is handled where it happens, and child processes get the default back. The umask
//! stays the user's: it is theirs for the files that agents write, and what is private is created
//! private.

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    // Before anything else: a shim stays small and never starts an async runtime.
    if arguments.next().is_some_and(|role| role == coworkos::jobs::shim::ROLE) {
        return coworkos::jobs::shim::main(arguments);
    }
    ExitCode::from(coworkos::cli::run(std::env::args_os().collect()))
}
