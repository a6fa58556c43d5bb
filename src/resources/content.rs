//! The content of a Resource: named parts, each with its bytes and media type.
//!
//! A text document has one part, a deck has its data and its pictures, a scene its file and its
//! script. Content is what an adapter sees; how it is kept is the business of [`super::manifest`].

use super::refusal::Refusal;
use crate::domain::permission::hex;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// A SHA-256; in JSON 64 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash(pub [u8; 32]);

impl Hash {
    /// Hashes bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0[..6]))
    }
}

impl FromStr for Hash {
    type Err = Refusal;
    fn from_str(text: &str) -> Result<Self, Refusal> {
        let bad = || Refusal::Invalid { what: format!("`{text}` is not a SHA-256 in hex") };
        if text.len() != 64 || !text.is_ascii() {
            return Err(bad());
        }
        let mut bytes = [0; 32];
        for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
            let pair = std::str::from_utf8(pair).map_err(|_| bad())?;
            *byte = u8::from_str_radix(pair, 16).map_err(|_| bad())?;
        }
        Ok(Self(bytes))
    }
}

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// One named part of a content.
#[derive(Clone, PartialEq, Eq)]
pub struct Part {
    /// What the bytes are, such as `text/markdown`.
    pub media_type: String,
    /// The bytes, shared: cloning a content copies none of them.
    pub bytes: Arc<[u8]>,
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} bytes)", self.media_type, self.bytes.len())
    }
}

/// The longest name a part may have.
const NAME_LIMIT: usize = 200;

/// The content of one revision: its parts by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Content {
    parts: BTreeMap<String, Part>,
}

impl Content {
    /// A content of a single part.
    pub fn single(name: &str, media_type: &str, bytes: impl Into<Arc<[u8]>>) -> Self {
        let part = Part { media_type: media_type.into(), bytes: bytes.into() };
        Self { parts: BTreeMap::from([(name.to_owned(), part)]) }
    }

    /// Puts a part, replacing the one of that name.
    ///
    /// A name is a relative path without `#` (which marks the chunks of a part that is kept in
    /// several pieces), without `..`, and of at most 200 bytes.
    pub fn put(&mut self, name: &str, media_type: &str, bytes: impl Into<Arc<[u8]>>) -> Result<(), Refusal> {
        let sound = !name.is_empty()
            && name.len() <= NAME_LIMIT
            && !name.contains(['#', '\0', '\n'])
            && name.split('/').all(|step| !step.is_empty() && step != "." && step != "..");
        if !sound {
            return Err(Refusal::Invalid { what: format!("`{}` can't be the name of a part", name.escape_debug()) });
        }
        self.parts.insert(name.to_owned(), Part { media_type: media_type.into(), bytes: bytes.into() });
        Ok(())
    }

    /// Takes a part out.
    pub fn remove(&mut self, name: &str) -> Option<Part> {
        self.parts.remove(name)
    }

    /// The part of that name.
    pub fn get(&self, name: &str) -> Option<&Part> {
        self.parts.get(name)
    }

    /// The parts in the order of their names.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Part)> {
        self.parts.iter().map(|(name, part)| (name.as_str(), part))
    }

    /// The size of all parts in bytes.
    pub fn size(&self) -> u64 {
        self.parts.values().map(|part| part.bytes.len() as u64).sum()
    }

    /// Names this very content, however it is kept.
    pub fn hash(&self) -> Hash {
        let mut hash = Sha256::new();
        for (name, part) in &self.parts {
            for column in [name.as_bytes(), part.media_type.as_bytes(), &part.bytes] {
                hash.update((column.len() as u64).to_le_bytes());
                hash.update(column);
            }
        }
        Hash(hash.finalize().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_read_back_from_its_hex() {
        let hash = Hash::of(b"x");
        assert_eq!(hash.to_string().parse::<Hash>().expect("parses"), hash);
        assert!("zz".parse::<Hash>().is_err());
        assert!("é".repeat(32).parse::<Hash>().is_err());
    }

    #[test]
    fn contents_that_run_together_hash_differently() {
        let one = Content::single("a", "t", *b"bc");
        let other = Content::single("ab", "t", *b"c");
        assert_ne!(one.hash(), other.hash());
        assert_eq!(one.hash(), one.clone().hash());
    }

    #[test]
    fn a_name_that_leaves_the_content_or_looks_like_a_chunk_is_refused() {
        let mut content = Content::default();
        for name in ["", "../a", "a//b", "/a", "a#b", "a\nb", ".", &"x".repeat(201)] {
            assert!(content.put(name, "t", *b"").is_err(), "{name:?}");
        }
        content.put("pictures/a.png", "image/png", *b"").expect("a path is a name");
    }
}
