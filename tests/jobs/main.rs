//! Jobs with real processes: what is promised of them, and their bad days.

mod attach;
mod bad_days;
mod crowd;
mod log;
mod truth;
mod world;
