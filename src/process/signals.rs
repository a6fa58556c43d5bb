//! The names of signals, as people write them.

use rustix::process::Signal;

/// The signals that are sent by hand.
const NAMED: [(&str, Signal); 18] = [
    ("HUP", Signal::HUP),
    ("INT", Signal::INT),
    ("QUIT", Signal::QUIT),
    ("ABRT", Signal::ABORT),
    ("KILL", Signal::KILL),
    ("USR1", Signal::USR1),
    ("USR2", Signal::USR2),
    ("SEGV", Signal::SEGV),
    ("PIPE", Signal::PIPE),
    ("ALRM", Signal::ALARM),
    ("TERM", Signal::TERM),
    ("CHLD", Signal::CHILD),
    ("CONT", Signal::CONT),
    ("STOP", Signal::STOP),
    ("TSTP", Signal::TSTP),
    ("TTIN", Signal::TTIN),
    ("TTOU", Signal::TTOU),
    ("WINCH", Signal::WINCH),
];

/// Finds the number of a signal by its name or number: `TERM`, `sigterm`, `15`.
pub fn signal_number(name: &str) -> Option<i32> {
    let name = name.trim().to_ascii_uppercase();
    if let Ok(number) = name.parse::<i32>() {
        return Signal::from_named_raw(number).map(Signal::as_raw);
    }
    let name = name.strip_prefix("SIG").unwrap_or(&name);
    NAMED.iter().find(|(known, _)| *known == name).map(|(_, signal)| signal.as_raw())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_is_known_by_its_name_in_any_case_and_by_its_number() {
        for name in ["TERM", "term", "SIGTERM", "sigterm", "15", " Term "] {
            assert_eq!(signal_number(name), Some(15), "{name}");
        }
        for name in ["", "SIG", "NOPE", "0", "-9", "999"] {
            assert_eq!(signal_number(name), None, "{name}");
        }
    }
}
