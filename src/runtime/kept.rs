//! The blobs of the store as agents put them: keys are blotted out of text before it is kept.

use super::Coordinator;
use crate::agent::port::Blobs;
use crate::domain::redact::Redactor;
use crate::store::BlobDir;
use std::io::{self, Read};
use std::sync::Arc;

/// How much of a long output is looked through at once, in bytes.
const BLOCK: usize = 1 << 20;

/// The blobs of the store, with keys blotted out of text before it is kept.
pub(super) struct KeptBlobs {
    pub(super) dir: Arc<BlobDir>,
    pub(super) coordinator: Coordinator,
}

impl Blobs for KeptBlobs {
    fn put(&self, bytes: &[u8]) -> io::Result<String> {
        let mut bytes = bytes;
        self.put_from(&mut bytes)
    }

    fn put_from(&self, source: &mut dyn Read) -> io::Result<String> {
        let redactor = self.coordinator.redactor();
        self.dir.put_from(&mut Redacting { source, redactor: &redactor, raw: Vec::new(), clean: Vec::new(), at: 0 })
    }

    fn get(&self, name: &str, offset: u64, limit: usize) -> io::Result<(u64, Vec<u8>)> {
        self.dir.get(name, offset, limit)
    }
}

/// Redacts the text that passes through it, block by block.
struct Redacting<'a> {
    source: &'a mut dyn Read,
    redactor: &'a Redactor,
    raw: Vec<u8>,
    clean: Vec<u8>,
    at: usize,
}

impl Redacting<'_> {
    /// Makes the next block; false when there is none.
    fn advance(&mut self) -> io::Result<bool> {
        let missing = (BLOCK - self.raw.len()) as u64;
        self.source.take(missing).read_to_end(&mut self.raw)?;
        let end = if self.raw.len() < BLOCK { self.raw.len() } else { border(&self.raw) };
        self.at = 0;
        self.clean.clear();
        for chunk in self.raw[..end].utf8_chunks() {
            self.clean.extend_from_slice(self.redactor.redact(chunk.valid()).as_bytes());
            self.clean.extend_from_slice(chunk.invalid());
        }
        self.raw.drain(..end);
        Ok(end > 0)
    }
}

/// Where to end a block, since a key cut in two is not found: after a line, before a key of several
/// lines that has only begun, and never within a character.
fn border(raw: &[u8]) -> usize {
    let line_end = |range: &[u8]| range.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let last = |mark: &[u8]| raw.windows(mark.len()).rposition(|window| window == mark);
    let begun = last(b"-----BEGIN ").filter(|begun| last(b"-----END ").is_none_or(|ended| ended < *begun));
    match (begun.map_or(0, |begun| line_end(&raw[..begun])), line_end(raw)) {
        (0, 0) => raw.len() - raw.iter().rev().take(3).take_while(|byte| **byte & 0xc0 == 0x80).count() - 1,
        (0, end) | (end, _) => end,
    }
}

impl Read for Redacting<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.at == self.clean.len() {
            if !self.advance()? {
                return Ok(0);
            }
        }
        let count = buffer.len().min(self.clean.len() - self.at);
        buffer[..count].copy_from_slice(&self.clean[self.at..self.at + count]);
        self.at += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cleaned(raw: &[u8], redactor: &Redactor) -> Vec<u8> {
        let mut clean = Vec::new();
        let mut source = raw;
        let mut redacting = Redacting { source: &mut source, redactor, raw: Vec::new(), clean: Vec::new(), at: 0 };
        redacting.read_to_end(&mut clean).expect("read");
        clean
    }

    #[test]
    fn a_key_is_found_wherever_it_lies_in_a_long_output() {
        let redactor = Redactor::new(["the-very-secret-key-42"]);
        for before in [0, BLOCK - 30, BLOCK - 10, BLOCK, 2 * BLOCK - 11] {
            let mut raw = b"0123456789abcde\n".repeat(before / 16);
            raw.extend(b"x".repeat(before % 16));
            raw.extend_from_slice(b" the-very-secret-key-42 \xff\n");
            raw.extend(b"more\n".repeat(BLOCK / 5));
            let clean = cleaned(&raw, &redactor);
            let text = String::from_utf8_lossy(&clean);
            assert!(!text.contains("secret-key") && text.contains("[redacted]"), "{before}");
            assert_eq!(clean.len(), raw.len() - 22 + 10, "nothing else changed");
        }
    }

    #[test]
    fn a_key_of_several_lines_is_not_cut_by_the_end_of_a_block() {
        let key = format!(
            "-----BEGIN PRIVATE KEY-----\n{}-----END PRIVATE KEY-----\n",
            "MIIEvQIBADANBgkqhkiG9w0B\n".repeat(40)
        );
        let before = b"0123456789abcde\n".repeat(BLOCK / 16 - 20);
        let clean = cleaned(&[before.as_slice(), key.as_bytes(), b"after\n"].concat(), &Redactor::default());
        let text = String::from_utf8_lossy(&clean);
        assert!(!text.contains("MIIEvQ") && text.ends_with("after\n"), "{}", &text[text.len() - 200..]);
    }

    #[test]
    fn one_endless_line_passes_whole() {
        for unit in ["é", "x", "🌍"] {
            let raw = unit.repeat(3 * BLOCK / unit.len() + 1);
            assert!(cleaned(raw.as_bytes(), &Redactor::default()) == raw.as_bytes(), "{unit}");
        }
    }
}
