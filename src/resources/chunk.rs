//! Cutting bytes into chunks at places that their content chooses.
//!
//! A small edit of a large text changes a chunk or two; the others are found by their hash and kept
//! once. A cut is made at the end of the line in which a rolling hash of the bytes fires, or a
//! little later where there are no lines. It depends on the bytes of its own chunk alone, so that
//! after an edit the old cuts are soon met again and the rest need not be looked at
//! ([`split_again`]).
//!
//! The constants and the table are a format: with others, what is kept would still be read, but
//! nothing new would match it.

use super::content::Hash;
use super::lines;
use std::ops::Range;

/// No chunk but the last is smaller.
pub const MIN: usize = 4 << 10;
/// No chunk is larger.
pub const MAX: usize = 64 << 10;
/// Fires once in this many bytes, on average: with `MIN` and half a line, chunks of some 12 KiB.
const MASK: u64 = ((8 << 10) - 1) << 48;
/// How far the end of the line may be from where the hash fired.
const LINE: usize = 4 << 10;

/// A random number per byte value (splitmix64).
const GEAR: [u64; 256] = {
    let mut table = [0; 256];
    let mut state = 0u64;
    let mut i = 0;
    while i < 256 {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        table[i] = z ^ (z >> 31);
        i += 1;
    }
    table
};

/// A piece of a part, named by its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chunk {
    /// Of its bytes.
    pub hash: Hash,
    /// Where in the part it is.
    pub range: Range<usize>,
}

/// Cuts bytes into chunks; no bytes give no chunks.
pub fn split(bytes: &[u8]) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    split_from(bytes, 0, &mut chunks, |_| None);
    chunks
}

/// Cuts new bytes into chunks, given how their predecessor was cut: the same chunks as [`split`],
/// looking only at what lies around the changes.
pub fn split_again(old: &[u8], old_chunks: &[Chunk], new: &[u8]) -> Vec<Chunk> {
    let front = lines::common_prefix(old, new);
    let back = lines::common_suffix(&old[front..], &new[front..]);
    // A chunk that lies wholly in the common front was cut by its own bytes, unless by the end.
    let kept = old_chunks.partition_point(|chunk| chunk.range.end <= front && chunk.range.end < old.len());
    let mut chunks = old_chunks[..kept].to_vec();
    let start = chunks.last().map_or(0, |chunk| chunk.range.end);
    split_from(new, start, &mut chunks, |cut| {
        // In the common back, a cut that the old bytes had too: from here on all is as it was.
        let in_old = (cut + old.len()).checked_sub(new.len())?;
        if cut < new.len() - back || in_old < old.len() - back {
            return None;
        }
        let next = old_chunks.binary_search_by_key(&in_old, |chunk| chunk.range.start).ok()?;
        let moved = |at: usize| at + cut - in_old;
        let rest = old_chunks[next..].iter();
        Some(
            rest.map(|chunk| Chunk { hash: chunk.hash, range: moved(chunk.range.start)..moved(chunk.range.end) })
                .collect(),
        )
    });
    chunks
}

/// Cuts from `start` on; after each cut, `known` may give all that follows.
fn split_from(bytes: &[u8], mut start: usize, chunks: &mut Vec<Chunk>, known: impl Fn(usize) -> Option<Vec<Chunk>>) {
    while start < bytes.len() {
        if let Some(rest) = known(start) {
            chunks.extend(rest);
            return;
        }
        let range = start..start + cut(&bytes[start..]);
        chunks.push(Chunk { hash: Hash::of(&bytes[range.clone()]), range: range.clone() });
        start = range.end;
    }
}

/// Where the first chunk of `bytes` ends.
fn cut(bytes: &[u8]) -> usize {
    let limit = bytes.len().min(MAX);
    if limit <= MIN {
        return limit;
    }
    // A byte is shifted out of the hash after 64 others: starting there sees all that counts. Where
    // the hash never fires, the end of a line is looked for in time before the limit.
    let mut hash = 0u64;
    let mut fired = None;
    for (at, byte) in bytes[..limit].iter().enumerate().skip(MIN - 64) {
        hash = (hash << 1).wrapping_add(GEAR[usize::from(*byte)]);
        match fired {
            None if at >= MIN && (hash & MASK == 0 || at + LINE >= MAX) => fired = Some(at),
            None => {}
            Some(place) if *byte == b'\n' || at - place >= LINE => return at + 1,
            Some(_) => {}
        }
    }
    limit
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::tests::prose;
    use proptest::prelude::*;

    fn joined(bytes: &[u8], chunks: &[Chunk]) -> Vec<u8> {
        chunks.iter().flat_map(|chunk| bytes[chunk.range.clone()].iter().copied()).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn joining_the_chunks_gives_the_bytes_and_cutting_again_cuts_alike(
            seed in any::<u64>(), lines in 0usize..3000, at in any::<u32>(), delete in 0usize..9000, insert in "[a\n京]{0,40}", times in 1usize..300,
        ) {
            let old = prose(seed, lines).into_bytes();
            let chunks = split(&old);
            prop_assert_eq!(joined(&old, &chunks), old.clone());
            for chunk in chunks.iter().take(chunks.len().saturating_sub(1)) {
                prop_assert!(chunk.range.len() >= MIN && chunk.range.len() <= MAX);
                prop_assert_eq!(old[chunk.range.end - 1], b'\n');
            }
            let at = at as usize % (old.len() + 1);
            let mut new = old.clone();
            new.splice(at..(at + delete).min(old.len()), insert.repeat(times).into_bytes());
            prop_assert_eq!(split_again(&old, &chunks, &new), split(&new));
        }

        #[test]
        fn bytes_without_lines_are_cut_too(bytes in proptest::collection::vec(any::<u8>(), 0..20), times in 1usize..30_000) {
            let bytes = bytes.repeat(times);
            let chunks = split(&bytes);
            prop_assert_eq!(joined(&bytes, &chunks), bytes);
            prop_assert!(chunks.iter().all(|chunk| chunk.range.len() <= MAX));
        }
    }

    #[test]
    fn chunks_are_some_twelve_kibibytes_on_average() {
        let text = prose(7, 40_000);
        let average = text.len() / split(text.as_bytes()).len();
        assert!((9_000..18_000).contains(&average), "{average}");
    }
}
