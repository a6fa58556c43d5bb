//! The program: one for every role (screen, host, command line, Job shim).

use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os().skip(1);
    // Before anything else: a shim stays small and never starts an async runtime.
    if arguments.next().is_some_and(|role| role == coworkos::jobs::shim::ROLE) {
        return coworkos::jobs::shim::main(arguments);
    }
    ExitCode::SUCCESS
}
