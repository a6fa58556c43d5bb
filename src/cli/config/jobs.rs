//! `[jobs]`: how Jobs are kept, and the key that leaves one.

use super::reader::Section;
use crate::cli::units;
use crate::domain::settings::JobSettings;

/// A log that is smaller than this holds nothing to be looked at.
const LEAST_MEGABYTES: u64 = 1;

/// Reads the section over what holds so far.
pub(super) fn read(section: &Section, mut jobs: JobSettings) -> JobSettings {
    section.allow(&["log_megabytes", "keep_days", "detach"]);
    if let Some(at) = section.whole("log_megabytes", LEAST_MEGABYTES..=1_000_000) {
        jobs.log_bytes = at.value * 1_000_000;
    }
    if let Some(at) = section.whole("keep_days", 0..=36_500) {
        jobs.keep_days = at.value as u32;
    }
    if let Some(at) = section.text("detach") {
        match units::control_key(&at.value) {
            Ok(key) => jobs.detach = key,
            Err(shape) => section.mistake(&at.span, format!("`{}` can't leave a Job", at.value), shape),
        }
    }
    jobs
}
