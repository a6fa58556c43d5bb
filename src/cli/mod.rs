//! Composition: arguments, configuration, paths, which role this process plays.
