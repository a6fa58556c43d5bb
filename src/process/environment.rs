//! The environment a child gets: names that are allowed, never one that looks like a key.
//!
//! The list is short on purpose. Whoever starts a process adds the names it needs with
//! [`super::Spec::pass`]; what looks like a secret does not pass, whoever asks for it.

use crate::domain::redact::{Redactor, names_a_secret};
use std::borrow::Cow;
use std::ffi::{OsStr, OsString};

/// What every child may see of our environment.
const ALLOWED: [&str; 8] = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR"];

/// Where programs are looked for when our own environment does not say.
pub(super) const DEFAULT_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// What is known of the values that a child may get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Values {
    /// Nothing: what looks like a key is left out.
    Any,
    /// Whoever started us has left out what looks like a key. Looking for the shapes of keys again
    /// would cost a shim more than all the rest of it.
    Sifted,
}

/// Picks what a child may see out of `ours`, then what `set` adds or replaces.
pub(super) fn build(
    ours: impl IntoIterator<Item = (OsString, OsString)>,
    pass: &[String],
    set: &[(String, OsString)],
    values: Values,
) -> Vec<(OsString, OsString)> {
    let looks_secret = |name: &str, value: &OsStr| match values {
        Values::Any => looks_secret(name, value),
        Values::Sifted => names_a_secret(name),
    };
    let passes = |name: &str, value: &OsStr| {
        ALLOWED.contains(&name)
            || (name.starts_with("LC_") || pass.iter().any(|added| added == name)) && !looks_secret(name, value)
    };
    let mut out: Vec<(OsString, OsString)> =
        ours.into_iter().filter(|(name, value)| name.to_str().is_some_and(|name| passes(name, value))).collect();
    for (name, value) in set.iter().filter(|(name, value)| !looks_secret(name, value)) {
        out.retain(|(known, _)| known != name.as_str());
        out.push((name.into(), value.clone()));
    }
    // No child of ours has a terminal; programs that ask are told so.
    for (name, value) in [("TERM", "dumb"), ("PATH", DEFAULT_PATH)] {
        if !out.iter().any(|(known, _)| known == name) {
            out.push((name.into(), value.into()));
        }
    }
    out
}

/// Says whether a variable looks like a key, a token or a password, by its name or by its value.
pub fn looks_secret(name: &str, value: &OsStr) -> bool {
    let value = value.to_string_lossy();
    let with_password = value.split_once("://").is_some_and(|(_, rest)| {
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        host.rsplit_once('@').is_some_and(|(who, _)| who.contains(':'))
    });
    names_a_secret(name) || with_password || matches!(Redactor::default().redact(&value), Cow::Owned(_))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ours(list: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
        list.iter().map(|(name, value)| (name.into(), value.into())).collect()
    }

    fn names(list: &[(OsString, OsString)]) -> Vec<String> {
        let mut names: Vec<_> = list.iter().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn only_allowed_names_pass() {
        let seen = build(
            ours(&[
                ("PATH", "/bin"),
                ("HOME", "/h"),
                ("LC_ALL", "C"),
                ("LD_PRELOAD", "x"),
                ("BASH_ENV", "y"),
                ("TERM", "xterm"),
            ]),
            &[],
            &[],
            Values::Any,
        );
        assert_eq!(names(&seen), ["HOME", "LC_ALL", "PATH", "TERM"]);
        assert!(seen.contains(&("TERM".into(), "dumb".into())));
    }

    #[test]
    fn a_secret_does_not_pass_even_when_it_is_asked_for() {
        let secrets = [
            ("OPENAI_API_KEY", "x"),
            ("GITHUB_TOKEN", "x"),
            ("DB_PASSWORD", "x"),
            ("MY_SECRET_THING", "x"),
            ("apikey", "x"),
            ("PLAIN", "sk-proj-Zk3vQ9xT7bLm2Rw8Yc4Hn6Jd"),
            ("PROXY", "http://me:pw@proxy:80/"),
        ];
        let pass: Vec<String> = secrets.iter().map(|(name, _)| (*name).to_owned()).collect();
        let set: Vec<(String, OsString)> =
            secrets.iter().map(|(name, value)| ((*name).to_owned(), value.into())).collect();
        assert_eq!(names(&build(ours(&secrets), &pass, &[], Values::Any)), ["PATH", "TERM"]);
        assert_eq!(names(&build(Vec::new(), &[], &set, Values::Any)), ["PATH", "TERM"]);
    }

    #[test]
    fn what_was_sifted_before_passes_by_its_name() {
        let pass = ["PLAIN".to_owned(), "GITHUB_TOKEN".to_owned()];
        let sifted = ours(&[("PLAIN", "sk-proj-Zk3vQ9xT7bLm2Rw8Yc4Hn6Jd"), ("GITHUB_TOKEN", "x"), ("OTHER", "y")]);
        assert_eq!(names(&build(sifted, &pass, &[], Values::Sifted)), ["PATH", "PLAIN", "TERM"]);
    }

    #[test]
    fn what_the_caller_adds_passes_and_what_it_sets_wins() {
        let seen = build(
            ours(&[("CARGO_HOME", "/c"), ("LANG", "C"), ("PROXY", "http://proxy:80/")]),
            &["CARGO_HOME".into(), "PROXY".into()],
            &[("LANG".into(), "en".into())],
            Values::Any,
        );
        assert_eq!(names(&seen), ["CARGO_HOME", "LANG", "PATH", "PROXY", "TERM"]);
        assert!(seen.contains(&("LANG".into(), "en".into())));
    }
}
