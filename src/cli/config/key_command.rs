//! A key that a command prints, such as one of a password store.

use crate::domain::Secret;
use crate::process::output_of;
use std::time::Duration;

/// How long a command may take: a person may have to unlock something.
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs the command; an error is fit to be shown and holds nothing that it printed.
pub(super) fn run(line: &str) -> Result<Secret, String> {
    let output = output_of(line, PATIENCE).map_err(|error| format!("this command gives no key: {error}"))?;
    let text = String::from_utf8(output).unwrap_or_default();
    let key = text.trim();
    if key.is_empty() || !key.chars().all(|c| c.is_ascii_graphic()) {
        return Err("this command does not print one key".into());
    }
    Ok(Secret::new(key))
}
