//! How keys look that nobody told us: well-known prefixes, headers, private key blocks, and
//! assignments of random-looking text to names that speak of secrets.

use regex::{Regex, RegexSet};
use std::ops::Range;
use std::sync::LazyLock;

/// What else must hold for a match.
#[derive(Clone, Copy, PartialEq)]
enum Proof {
    /// The shape says enough.
    Shape,
    /// The key must look random too.
    Random,
}

/// The shapes; group 1 is the key. Boundaries are ASCII ones, so that the fast engine serves text
/// of every script.
const SHAPES: &[(&str, Proof)] = &[
    (r"(?-u:\b)(sk-[A-Za-z0-9_-]{16,})", Proof::Random),
    (r"(?-u:\b)((?:sk|rk)_(?:live|test)_[A-Za-z0-9]{16,})", Proof::Shape),
    (r"(?-u:\b)(gh[pousr]_[A-Za-z0-9]{30,})", Proof::Shape),
    (r"(?-u:\b)(github_pat_[A-Za-z0-9_]{22,})", Proof::Shape),
    (r"(?-u:\b)(glpat-[A-Za-z0-9_-]{20,})", Proof::Shape),
    (r"(?-u:\b)(xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[0-9]-[A-Za-z0-9-]{10,})", Proof::Shape),
    (r"(?-u:\b)((?:AKIA|ASIA)[A-Z0-9]{16})(?-u:\b)", Proof::Shape),
    (r"(?-u:\b)(AIza[A-Za-z0-9_-]{35})", Proof::Shape),
    (r"(?-u:\b)((?:hf|npm)_[A-Za-z0-9]{30,})", Proof::Shape),
    (r"(?-u:\b)(eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,})", Proof::Shape),
    (r"(?i)(?-u:\b)(?:bearer|basic)[ \t]+([A-Za-z0-9._~+/-]{16,}=*)", Proof::Random),
    (
        r"(-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?:\\[nr]|[A-Za-z0-9+/=\s]|(?:Proc-Type|DEK-Info|Version|Comment): ?[^\n]*){40,}(?:-----END [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----)?)",
        Proof::Shape,
    ),
    (
        r#"(?i)(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credentials?)\\?["']?[ \t]{0,8}(?:=>|:=|[:=])[ \t]{0,8}\\?["']?([A-Za-z0-9_+/=~.$!@%^*-]{16,})"#,
        Proof::Random,
    ),
];

struct Compiled {
    any: RegexSet,
    each: Vec<(Regex, Proof)>,
}

/// A shape that does not compile is a mistake of ours that the tests find.
static COMPILED: LazyLock<Option<Compiled>> = LazyLock::new(|| {
    let any = RegexSet::new(SHAPES.iter().map(|(pattern, _)| pattern)).ok()?;
    let each = SHAPES.iter().filter_map(|(pattern, proof)| Some((Regex::new(pattern).ok()?, *proof))).collect();
    Some(Compiled { any, each })
});

/// Adds the place of every key to `spans`. Text without one is looked through once.
pub(super) fn find(text: &str, spans: &mut Vec<Range<usize>>) {
    let Some(compiled) = COMPILED.as_ref() else { return };
    for ix in compiled.any.matches(text) {
        let Some((regex, proof)) = compiled.each.get(ix) else { continue };
        for found in regex.captures_iter(text) {
            let Some(key) = found.get(1) else { continue };
            if *proof == Proof::Shape || looks_random(key.as_str()) {
                spans.push(key.range());
            }
        }
    }
}

/// Whether text looks drawn, not written: long, of letters and digits, changing between kinds of
/// characters far more often than words, identifiers and versions do.
pub(super) fn looks_random(text: &str) -> bool {
    #[derive(PartialEq, Clone, Copy)]
    enum Kind {
        Lower,
        Upper,
        Digit,
    }
    let (mut count, mut changes, mut digits, mut letters) = (0usize, 0usize, false, false);
    let mut last = None;
    for byte in text.bytes() {
        let kind = match byte {
            b'a'..=b'z' => Kind::Lower,
            b'A'..=b'Z' => Kind::Upper,
            b'0'..=b'9' => Kind::Digit,
            _ => continue,
        };
        count += 1;
        match kind {
            Kind::Digit => digits = true,
            Kind::Lower | Kind::Upper => letters = true,
        }
        // A capital before small letters begins a word; that is no sign of chance.
        if last.is_some_and(|last| last != kind && (last, kind) != (Kind::Upper, Kind::Lower)) {
            changes += 1;
        }
        last = Some(kind);
    }
    text.len() >= 16 && count >= 14 && digits && letters && changes * 4 >= count
}

/// Whether the name of a variable or a field says that its value is a secret.
pub fn names_a_secret(name: &str) -> bool {
    const LAST_WORDS: [&str; 11] = [
        "KEY",
        "TOKEN",
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "PASSPHRASE",
        "PASS",
        "PWD",
        "CREDENTIALS",
        "CREDENTIAL",
        "AUTH",
    ];
    const PARTS: [&str; 8] =
        ["API_KEY", "APIKEY", "SECRET", "PASSWORD", "PRIVATE_KEY", "ACCESS_KEY", "ACCESS_TOKEN", "AUTHORIZATION"];
    let name = name.to_ascii_uppercase().replace(['-', '.', ' '], "_");
    if name == "PWD" || name == "OLDPWD" {
        return false; // the working directory has an unlucky name
    }
    let last_word = name.rsplit('_').next().unwrap_or_default();
    LAST_WORDS.contains(&last_word) || PARTS.iter().any(|part| name.contains(part))
}

/// Whether a value is known to be none: what people write where a key is asked for and none is
/// needed, and values of ordinary headers and variables.
pub(super) fn is_ordinary(value: &str) -> bool {
    const PLACEHOLDERS: &[&str] = &[
        "redacted",
        "[redacted]",
        "ollama",
        "lm-studio",
        "lmstudio",
        "llama.cpp",
        "no-key",
        "nokey",
        "no_key",
        "not-needed",
        "not_needed",
        "sk-no-key-required",
        "placeholder",
        "unused",
        "anything",
        "change-me",
        "changeme",
        "cowork",
        "secret",
        "password",
        "default",
        "disabled",
        "enabled",
        "bearer",
        "your-api-key",
        "local-key",
        "application/json",
        "text/event-stream",
    ];
    let lower = value.to_ascii_lowercase();
    let number_or_date =
        value.len() < 12 && value.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'.' | b':' | b'/' | b' '));
    let address =
        (lower.starts_with("http://") || lower.starts_with("https://")) && !value.contains('@') && !value.contains('?');
    let path =
        (value.starts_with('/') && value.matches('/').count() > 1 || value.starts_with("~/")) && !looks_random(value);
    PLACEHOLDERS.contains(&lower.as_str()) || number_or_date || address || path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shape_compiles() {
        let compiled = COMPILED.as_ref().expect("the set compiles");
        assert_eq!(compiled.each.len(), SHAPES.len());
    }

    #[test]
    fn drawn_text_looks_random_and_written_text_does_not() {
        for drawn in [
            "a8F3kQz91LmX0pRt",
            "550e8400-e29b-41d4-a716-446655440000",
            "9f86d081884c7d659a2feaa0c55ad015",
            "Zm9vYmFyYmF6MTIzNDU2Nzg5",
        ] {
            assert!(looks_random(drawn), "{drawn}");
        }
        for written in [
            "getAccessTokenForUser1",
            "my_secret_token_v2_final",
            "password123",
            "process.env.OPENAI_API_KEY",
            "std.collections.HashMap2",
            "2026-01-02T03:04:05Z",
            "aaaaaaaaaaaaaaaaaaaa1",
        ] {
            assert!(!looks_random(written), "{written}");
        }
    }

    #[test]
    fn names_of_secrets_are_known() {
        for name in [
            "OPENAI_API_KEY",
            "GITHUB_TOKEN",
            "aws_secret_access_key",
            "DB_PASSWORD",
            "token",
            "api-key",
            "NPM_AUTH",
            "Authorization",
        ] {
            assert!(names_a_secret(name), "{name}");
        }
        for name in ["PWD", "OLDPWD", "PATH", "MONKEY", "KEYBOARD", "HOME", "SSH_AUTH_SOCK", "max_tokens", "AUTHOR"] {
            assert!(!names_a_secret(name), "{name}");
        }
    }
}
