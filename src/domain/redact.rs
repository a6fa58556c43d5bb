//! Blots keys out of text before it is stored, logged or sent.
//!
//! Two nets: the secrets that are known here, in every form in which they usually travel, and the
//! [`shapes`] of keys that are not known. Whatever leaves for the database, a log, an export or a
//! model's context goes through a [`Redactor`] once, whole: a key cut in two is not found.
//! It can't find a key that was encrypted, compressed or spelled in another way.

mod shapes;

use aho_corasick::{AhoCorasick, MatchKind};
use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use serde_json::Value;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::{self, Write};
use std::ops::Range;

pub use shapes::names_a_secret;

/// What stands where a key stood.
pub const REDACTED: &str = "[redacted]";

/// The shortest secret that is looked for; anything shorter would blot out ordinary words.
const SHORTEST: usize = 6;

/// Blots out the secrets it was made with, and whatever has the shape of one.
#[derive(Clone, Default)]
pub struct Redactor {
    known: Option<AhoCorasick>,
}

impl fmt::Debug for Redactor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The automaton holds the secrets.
        f.write_str("Redactor(•••)")
    }
}

impl Redactor {
    /// Makes one from the secrets that are known: configured keys and headers, and the values of
    /// environment variables whose name [`names_a_secret`].
    ///
    /// Values that can't be secrets are passed over, since blotting them out would only spoil
    /// ordinary text: short ones, place holders such as `ollama`, dates, numbers, paths, addresses.
    pub fn new<S: AsRef<str>>(secrets: impl IntoIterator<Item = S>) -> Self {
        let mut forms = BTreeSet::new();
        for secret in secrets {
            let secret = secret.as_ref().trim();
            add_forms(secret, &mut forms);
            // A header's value: the scheme before the key is no secret.
            if let Some((_, key)) = secret.split_once(' ') {
                add_forms(key.trim(), &mut forms);
            }
        }
        let known = match forms.is_empty() {
            true => None,
            // Building fails only beyond billions of states; shapes still work then.
            false => AhoCorasick::builder().match_kind(MatchKind::LeftmostLongest).build(&forms).ok(),
        };
        Self { known }
    }

    /// Replaces every key by [`REDACTED`]; borrows where there is none.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut spans = Vec::new();
        if let Some(known) = &self.known {
            spans.extend(known.find_iter(text).map(|found| found.range()));
        }
        shapes::find(text, &mut spans);
        if spans.is_empty() {
            return Cow::Borrowed(text);
        }
        Cow::Owned(blot(text, spans))
    }

    /// Redacts every string within a value, the names of fields as well; a field whose name says
    /// that it holds a secret needs no further proof than a random look.
    pub fn redact_value(&self, value: &mut Value) {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
            Value::String(text) => {
                if let Cow::Owned(clean) = self.redact(text) {
                    *text = clean;
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.redact_value(item)),
            Value::Object(fields) => {
                let leaky = fields.keys().any(|name| matches!(self.redact(name), Cow::Owned(_)));
                if leaky {
                    let old = std::mem::take(fields);
                    fields.extend(old.into_iter().map(|(name, value)| (self.redact(&name).into_owned(), value)));
                }
                for (name, value) in fields.iter_mut() {
                    match value {
                        Value::String(text) if names_a_secret(name) && shapes::looks_random(text) => {
                            *text = REDACTED.to_owned();
                        }
                        other => self.redact_value(other),
                    }
                }
            }
        }
    }
}

/// Writes [`REDACTED`] over spans, which may overlap; spans that touch become one.
fn blot(text: &str, mut spans: Vec<Range<usize>>) -> String {
    spans.sort_by_key(|span| span.start);
    let mut clean = String::with_capacity(text.len());
    let mut done = 0;
    let mut after_blot = false;
    for span in spans {
        if span.start > done || !after_blot {
            clean.push_str(&text[done..span.start]);
            clean.push_str(REDACTED);
            after_blot = true;
        }
        done = done.max(span.end);
    }
    clean.push_str(&text[done..]);
    clean
}

/// Adds a secret as it is, in Base64 at each of the three alignments, percent-encoded, and as it
/// stands within a JSON string.
fn add_forms(secret: &str, forms: &mut BTreeSet<String>) {
    if secret.len() < SHORTEST || shapes::is_ordinary(secret) {
        return;
    }
    let mut json = Value::String(secret.to_owned()).to_string();
    json.pop();
    json.remove(0);
    let encoded = [percent_encoded(secret, false), percent_encoded(secret, true), json];
    forms.insert(secret.to_owned());
    forms.extend(encoded);
    for before in 0..3 {
        // Only the characters that depend on nothing but the secret.
        let first = (before * 8usize).div_ceil(6);
        let end = (before + secret.len()) * 8 / 6;
        let mut bytes = vec![0; before];
        bytes.extend_from_slice(secret.as_bytes());
        for text in [STANDARD_NO_PAD.encode(&bytes), URL_SAFE_NO_PAD.encode(&bytes)] {
            forms.insert(text[first..end].to_owned());
        }
    }
}

fn percent_encoded(secret: &str, lower: bool) -> String {
    let mut encoded = String::with_capacity(secret.len() * 2);
    for byte in secret.bytes() {
        // Writing to a String cannot fail.
        let _ = match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => write!(encoded, "{}", byte as char),
            _ if lower => write!(encoded, "%{byte:02x}"),
            _ => write!(encoded, "%{byte:02X}"),
        };
    }
    encoded
}

#[cfg(test)]
mod tests;
