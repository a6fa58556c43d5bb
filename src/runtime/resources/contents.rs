//! Contents as adapters see them, put together from the pieces in the store; the last few are kept.

use crate::domain::Rejection;
use crate::domain::rejection::RejectionKind;
use crate::resources::manifest::{self, Kept, Row};
use crate::resources::{Hash, Refusal};
use crate::store::Store;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

/// How much of contents is kept in memory, in bytes.
const ROOM: u64 = 96 << 20;

/// How many contents are kept.
const COUNT: usize = 32;

/// The last contents that were looked at, the newest first.
#[derive(Default)]
pub(in crate::runtime) struct Contents {
    last: Mutex<VecDeque<(String, Arc<Kept>)>>,
}

impl Contents {
    /// The content of this name. Blocks.
    pub(in crate::runtime) fn open(&self, store: &Store, sha256: &str) -> Result<Arc<Kept>, Rejection> {
        if let Ok(mut last) = self.last.lock()
            && let Some(at) = last.iter().position(|(name, _)| name == sha256)
            && let Some(found) = last.remove(at)
        {
            let kept = found.1.clone();
            last.push_front(found);
            return Ok(kept);
        }
        let kept = Arc::new(load(store, sha256)?);
        if let Ok(mut last) = self.last.lock() {
            last.push_front((sha256.to_owned(), kept.clone()));
            let mut bytes = 0;
            let fits = last.iter().take(COUNT).take_while(|(_, kept)| {
                bytes += kept.content.size();
                bytes <= ROOM
            });
            let fits = fits.count();
            last.truncate(fits);
        }
        Ok(kept)
    }
}

/// Puts a content together. Blocks.
pub(super) fn load(store: &Store, sha256: &str) -> Result<Kept, Rejection> {
    let damaged = |why: String| Rejection::from(Refusal::Damaged { why });
    let rows = store.content(sha256)?;
    let mut lists = Vec::with_capacity(rows.len());
    for row in &rows {
        lists.push(Row {
            sha256: row.sha256.parse()?,
            base: row.base.as_deref().map(str::parse).transpose()?,
            depth: row.depth,
            parts: serde_json::from_str(&row.parts).map_err(|error| damaged(error.to_string()))?,
        });
    }
    if lists.is_empty() {
        return Err(damaged(format!("the content {sha256} is not there")));
    }
    let depth = lists.last().map_or(0, |row| row.depth);
    let manifest = manifest::resolve(&lists)?;
    let content = store.with_pieces(|fetch| {
        manifest::assemble(&manifest, |hash: &Hash| -> Result<Vec<u8>, Rejection> {
            let bytes = fetch(&hash.to_string())
                .map_err(|error| Rejection::new(RejectionKind::Storage, error.to_string(), "run `cowork doctor`"))?;
            bytes.ok_or_else(|| damaged(format!("the piece {hash} is not there")))
        })
    })??;
    Ok(Kept { manifest, depth, content })
}
