//! Composition: arguments, configuration, paths, which role this process plays.

mod config;
mod fault;
mod paths;
mod units;
