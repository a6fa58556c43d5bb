//! The one place where processes are started: session, environment, limits, confinement, identity,
//! killing a tree.
