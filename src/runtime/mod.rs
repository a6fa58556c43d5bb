//! The Coordinator: take a command, decide, commit, deliver, wake and recover agents.
