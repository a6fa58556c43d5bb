//! How a content is kept: a list of named blobs, mostly given as what differs from another list.
//!
//! A part that is large is kept as chunks named `part#key`, whose keys sort in the order of the
//! chunks; a chunk between two others gets a key between theirs, so that a small edit of a large
//! part changes a line or two of the list. A list stands alone (depth 0) or names what differs from
//! its base; after [`MAX_DEPTH`] steps, or where the difference is no smaller, it stands alone
//! again. Whoever keeps blobs and rows keeps what [`keep`] returns and gives it back to [`resolve`]
//! and [`assemble`].

use super::chunk::{self, Chunk};
use super::content::{Content, Hash};
use super::lines;
use super::refusal::Refusal;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::ops::Range;

/// How many lists may follow one another before one stands alone.
pub const MAX_DEPTH: u8 = 64;
/// A key longer than this is made anew when a list stands alone.
const KEY_LIMIT: usize = 24;

/// A blob in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The blob.
    pub blob: Hash,
    /// Its size.
    pub size: u64,
    /// What the part is.
    pub media_type: String,
}

/// A resolved list: every blob of a content by name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Manifest {
    entries: BTreeMap<String, Entry>,
}

/// A line of a row: an entry, or that the base's entry is gone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartRow {
    /// The name of the blob in the list.
    pub name: String,
    /// What it is now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<Entry>,
}

/// A list as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// Of the whole resolved list: its name.
    pub sha256: Hash,
    /// The list it differs from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Hash>,
    /// How many bases are under it.
    pub depth: u8,
    /// What differs; everything where it stands alone.
    pub parts: Vec<PartRow>,
}

/// Bytes that must be on disk before the row that names them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blob {
    /// Of the bytes.
    pub hash: Hash,
    /// The part they belong to.
    pub part: String,
    /// Where in that part.
    pub range: Range<usize>,
}

impl Blob {
    /// The bytes, taken from the content that was kept.
    pub fn of<'a>(&self, content: &'a Content) -> Option<&'a [u8]> {
        content.get(&self.part)?.bytes.get(self.range.clone())
    }
}

/// What is kept of a revision, so that the next one can be kept as a difference.
#[derive(Debug, Clone)]
pub struct Kept {
    /// The resolved list.
    pub manifest: Manifest,
    /// How many bases are under it.
    pub depth: u8,
    /// The content itself.
    pub content: Content,
}

/// What has to be written to keep a content.
#[derive(Debug, Clone)]
pub struct Keep {
    /// For the next revision.
    pub kept: Kept,
    /// The row to write, after the blobs; it may be there already under the same hash (a content
    /// that was there before), see [`Keep::written`].
    pub row: Row,
    /// The blobs that the previous list did not have.
    pub blobs: Vec<Blob>,
}

impl Keep {
    /// What the next revision is kept on, once the row is written; `stored_depth` is the depth of
    /// the row of that hash where one was there already: that is the base that counts.
    pub fn written(self, stored_depth: Option<u8>) -> Kept {
        Kept { depth: stored_depth.unwrap_or(self.row.depth), ..self.kept }
    }
}

impl Manifest {
    /// Names the list.
    pub fn hash(&self) -> Hash {
        let mut hash = Sha256::new();
        for (name, entry) in &self.entries {
            for column in [name.as_bytes(), entry.media_type.as_bytes(), &entry.blob.0] {
                hash.update((column.len() as u64).to_le_bytes());
                hash.update(column);
            }
        }
        Hash(hash.finalize().into())
    }

    /// The blobs in order.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &Entry)> {
        self.entries.iter().map(|(name, entry)| (name.as_str(), entry))
    }

    /// The entries of one part in the order of its bytes, by key.
    fn of_part<'a>(&'a self, part: &'a str) -> impl Iterator<Item = (&'a str, &'a Entry)> {
        self.entries
            .range(part.to_owned()..)
            .map_while(move |(name, entry)| {
                let rest = name.strip_prefix(part)?;
                Some((rest, entry))
            })
            .filter_map(|(rest, entry)| match rest.strip_prefix('#') {
                Some(key) => Some((key, entry)),
                None => rest.is_empty().then_some(("", entry)),
            })
    }
}

/// Says what to write to keep a content whose predecessor is kept.
pub fn keep(content: Content, previous: Option<&Kept>) -> Keep {
    let mut entries = BTreeMap::new();
    let mut places = BTreeMap::new();
    for (part, now) in content.iter() {
        let before =
            previous.and_then(|kept| Some((kept.manifest.of_part(part).collect::<Vec<_>>(), kept.content.get(part)?)));
        let (old_keys, chunks) = match &before {
            Some((old, old_part)) => {
                let old_chunks = chunks_of(old);
                let keys: Vec<(&str, Hash)> = old.iter().map(|(key, entry)| (*key, entry.blob)).collect();
                (keys, chunk::split_again(&old_part.bytes, &old_chunks, &now.bytes))
            }
            None => (Vec::new(), chunk::split(&now.bytes)),
        };
        for (name, chunk) in names(part, &old_keys, chunks) {
            let size = chunk.range.len() as u64;
            entries.insert(name, Entry { blob: chunk.hash, size, media_type: now.media_type.clone() });
            places.entry(chunk.hash).or_insert_with(|| (part.to_owned(), chunk.range));
        }
    }
    let manifest = Manifest { entries };
    let row = row(&manifest, previous);
    let had: std::collections::BTreeSet<Hash> =
        previous.into_iter().flat_map(|kept| kept.manifest.entries.values().map(|entry| entry.blob)).collect();
    let blobs = places
        .into_iter()
        .filter(|(hash, _)| !had.contains(hash))
        .map(|(hash, (part, range))| Blob { hash, part, range })
        .collect();
    Keep { kept: Kept { manifest, depth: row.depth, content }, row, blobs }
}

/// The chunks that a part was cut into, from its entries.
fn chunks_of(entries: &[(&str, &Entry)]) -> Vec<Chunk> {
    let mut at = 0;
    entries
        .iter()
        .filter(|(_, entry)| entry.size > 0)
        .map(|(_, entry)| {
            let range = at..at + entry.size as usize;
            at = range.end;
            Chunk { hash: entry.blob, range }
        })
        .collect()
}

/// Names the chunks of a part, leaving those that stay their names.
fn names(part: &str, old: &[(&str, Hash)], chunks: Vec<Chunk>) -> Vec<(String, Chunk)> {
    let single = |chunk: Chunk| vec![(part.to_owned(), chunk)];
    let mut chunks = chunks;
    match chunks.len() {
        0 => return single(Chunk { hash: Hash::of(b""), range: 0..0 }),
        1 => return single(chunks.remove(0)),
        _ => {}
    }
    let old: Vec<(&str, Hash)> = old.iter().filter(|(key, _)| !key.is_empty()).copied().collect();
    let old_hashes: Vec<Hash> = old.iter().map(|(_, hash)| *hash).collect();
    let new_hashes: Vec<Hash> = chunks.iter().map(|chunk| chunk.hash).collect();
    let mut keys: Vec<String> = Vec::with_capacity(chunks.len());
    let mut at = 0;
    let hunks = lines::diff(&old_hashes, &new_hashes);
    for hunk in &hunks {
        keys.extend(old[at..hunk.old.start].iter().map(|(key, _)| (*key).to_owned()));
        let reused = hunk.old.len().min(hunk.new.len());
        keys.extend(old[hunk.old.start..hunk.old.start + reused].iter().map(|(key, _)| (*key).to_owned()));
        let low = keys.last().cloned().unwrap_or_default();
        let high = old.get(hunk.old.end).map(|(key, _)| *key);
        keys_between(&low, high, hunk.new.len() - reused, &mut keys);
        at = hunk.old.end;
    }
    keys.extend(old[at..].iter().map(|(key, _)| (*key).to_owned()));
    if keys.iter().any(|key| key.len() > KEY_LIMIT) {
        keys.clear();
        keys_between("", None, chunks.len(), &mut keys);
    }
    keys.into_iter().zip(chunks).map(|(key, chunk)| (format!("{part}#{key}"), chunk)).collect()
}

/// Draws `n` keys in order between two.
fn keys_between(low: &str, high: Option<&str>, n: usize, out: &mut Vec<String>) {
    if n == 0 {
        return;
    }
    let middle = key_between(low.as_bytes(), high.map(str::as_bytes));
    keys_between(low, Some(&middle), n / 2, out);
    out.push(middle.clone());
    keys_between(&middle, high, n - n / 2 - 1, out);
}

/// Draws a key between two: both read as fractions in base 36; none ends in `0`.
fn key_between(low: &[u8], high: Option<&[u8]>) -> String {
    const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
    let value = |digit: u8| DIGITS.iter().position(|d| *d == digit).unwrap_or(0);
    let mut out = String::new();
    let mut bound = high;
    for at in 0.. {
        let below = low.get(at).map_or(0, |digit| value(*digit));
        let above = bound.map_or(36, |high| high.get(at).map_or(0, |digit| value(*digit)));
        if above > below + 1 {
            out.push(DIGITS[(below + above) / 2] as char);
            break;
        }
        out.push(DIGITS[below] as char);
        if above > below {
            bound = None;
        }
    }
    out
}

/// The row that keeps a list.
fn row(manifest: &Manifest, previous: Option<&Kept>) -> Row {
    let sha256 = manifest.hash();
    let line = |(name, entry): (&String, &Entry)| PartRow { name: name.clone(), entry: Some(entry.clone()) };
    let alone = || Row { sha256, base: None, depth: 0, parts: manifest.entries.iter().map(line).collect() };
    let Some(previous) = previous.filter(|kept| kept.depth < MAX_DEPTH) else { return alone() };
    let old = &previous.manifest.entries;
    let mut parts: Vec<PartRow> =
        manifest.entries.iter().filter(|(name, entry)| old.get(*name) != Some(entry)).map(line).collect();
    let gone = old.keys().filter(|name| !manifest.entries.contains_key(*name));
    parts.extend(gone.map(|name| PartRow { name: name.clone(), entry: None }));
    let base = previous.manifest.hash();
    // A list that differs from itself would be its own base.
    if base == sha256 || 2 * parts.len() > manifest.entries.len() {
        return alone();
    }
    Row { sha256, base: Some(base), depth: previous.depth + 1, parts }
}

/// Resolves a list from its rows, the one that stands alone first.
pub fn resolve<'a>(rows: impl IntoIterator<Item = &'a Row>) -> Result<Manifest, Refusal> {
    let mut manifest = Manifest::default();
    let mut last: Option<Hash> = None;
    for row in rows {
        if row.base != last {
            return Err(Refusal::Damaged { why: format!("the list {} does not follow its base", row.sha256) });
        }
        for part in &row.parts {
            match &part.entry {
                Some(entry) => manifest.entries.insert(part.name.clone(), entry.clone()),
                None => manifest.entries.remove(&part.name),
            };
        }
        if manifest.hash() != row.sha256 {
            return Err(Refusal::Damaged { why: format!("the list {} is not what its name says", row.sha256) });
        }
        last = Some(row.sha256);
    }
    Ok(manifest)
}

/// Puts a content together from its list; `fetch` gives the bytes of a blob.
pub fn assemble<E: From<Refusal>>(
    manifest: &Manifest,
    mut fetch: impl FnMut(&Hash) -> Result<Vec<u8>, E>,
) -> Result<Content, E> {
    let mut content = Content::default();
    let mut open: Option<(String, String, Vec<u8>)> = None;
    for (name, entry) in &manifest.entries {
        let part = name.split_once('#').map_or(name.as_str(), |(part, _)| part);
        let bytes = fetch(&entry.blob)?;
        if bytes.len() as u64 != entry.size {
            return Err(Refusal::Damaged { why: format!("the blob {} has another size", entry.blob) }.into());
        }
        match &mut open {
            Some((open_part, _, whole)) if open_part == part => whole.extend(bytes),
            _ => {
                close(&mut content, open.take())?;
                open = Some((part.to_owned(), entry.media_type.clone(), bytes));
            }
        }
    }
    close(&mut content, open)?;
    Ok(content)
}

fn close(content: &mut Content, part: Option<(String, String, Vec<u8>)>) -> Result<(), Refusal> {
    match part {
        Some((name, media_type, bytes)) => content.put(&name, &media_type, bytes),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashMap;

    /// A store in memory.
    #[derive(Default)]
    struct Store {
        blobs: HashMap<Hash, Vec<u8>>,
        rows: HashMap<Hash, Row>,
    }

    impl Store {
        fn write(&mut self, keep: Keep) -> Kept {
            for blob in &keep.blobs {
                let bytes = blob.of(&keep.kept.content).expect("the blob is in the content");
                assert_eq!(Hash::of(bytes), blob.hash);
                self.blobs.insert(blob.hash, bytes.to_vec());
            }
            let stored = self.rows.get(&keep.row.sha256).map(|row| row.depth);
            if let (None, Some(base)) = (stored, keep.row.base) {
                assert_eq!(keep.row.depth, self.rows[&base].depth + 1, "the depth is that of the base plus one");
            }
            self.rows.entry(keep.row.sha256).or_insert_with(|| keep.row.clone());
            keep.written(stored)
        }
        fn read(&self, name: Hash) -> Content {
            let mut chain = vec![&self.rows[&name]];
            while let Some(base) = chain.last().and_then(|row| row.base) {
                chain.push(&self.rows[&base]);
            }
            assert!(chain.len() <= usize::from(MAX_DEPTH) + 1);
            let manifest = resolve(chain.into_iter().rev()).expect("resolves");
            assemble::<Refusal>(&manifest, |hash| Ok(self.blobs[hash].clone())).expect("assembles")
        }
    }

    fn text(bytes: impl Into<std::sync::Arc<[u8]>>) -> Content {
        Content::single("text", "text/plain", bytes)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(16))]
        #[test]
        fn every_revision_is_read_back_as_it_was(
            seed in any::<u64>(), edits in proptest::collection::vec((any::<u32>(), 0usize..40_000, 0usize..4000), 1..90),
        ) {
            let mut store = Store::default();
            let mut bytes = crate::resources::tests::prose(seed, 2000).into_bytes();
            let mut previous: Option<Kept> = None;
            let mut history = Vec::new();
            for (at, delete, lines) in edits {
                let at = at as usize % (bytes.len() + 1);
                let end = (at + delete).min(bytes.len());
                bytes.splice(at..end, crate::resources::tests::prose(u64::from(lines as u32), lines / 10).into_bytes());
                let keep = keep(text(bytes.clone()), previous.as_ref());
                history.push((keep.row.sha256, keep.kept.content.clone()));
                previous = Some(store.write(keep));
            }
            for (name, content) in history {
                prop_assert_eq!(store.read(name), content);
            }
        }

        #[test]
        fn a_key_can_always_be_drawn_between_two(choices in proptest::collection::vec(any::<u16>(), 1..120)) {
            let mut keys: Vec<String> = Vec::new();
            for choice in choices {
                let at = usize::from(choice) % (keys.len() + 1);
                let low = at.checked_sub(1).map_or("", |i| keys[i].as_str()).to_owned();
                let key = key_between(low.as_bytes(), keys.get(at).map(|key| key.as_bytes()));
                keys.insert(at, key);
            }
            for pair in keys.windows(2) {
                prop_assert!(pair[0] < pair[1], "{:?}", pair);
            }
        }
    }

    #[test]
    fn parts_come_and_go_and_a_list_names_only_what_differs() {
        let mut store = Store::default();
        let mut content = text(*b"hello\n");
        for n in 0..10 {
            content.put(&format!("pictures/{n}.png"), "image/png", vec![n; 100]).expect("a name");
        }
        let first = store.write(keep(content.clone(), None));
        content.put("text", "text/plain", *b"").expect("a name");
        content.remove("pictures/3.png");
        let second = keep(content.clone(), Some(&first));
        assert_eq!((second.row.depth, second.row.parts.len(), second.blobs.len()), (1, 2, 1));
        let name = second.row.sha256;
        let second = store.write(second);
        assert_eq!(store.read(name), content);
        let same = keep(content.clone(), Some(&second));
        assert_eq!(same.row.sha256, name);
        assert!(same.blobs.is_empty());
        assert_eq!(store.write(same).depth, 1);
    }

    #[test]
    fn a_damaged_list_is_refused() {
        let keep = keep(text(*b"hello\n"), None);
        let mut row = keep.row.clone();
        row.parts[0].entry.as_mut().expect("an entry").blob = Hash::of(b"other");
        assert!(matches!(resolve([&row]), Err(Refusal::Damaged { .. })));
        let orphan = Row { base: Some(Hash::of(b"nobody")), ..keep.row };
        assert!(matches!(resolve([&orphan]), Err(Refusal::Damaged { .. })));
    }
}
