//! What is answered of Resources beside their records: the bytes of contents, and who wrote what.

use super::super::Coordinator;
use super::{Resources, contents};
use crate::domain::*;
use crate::resources::{Attribution, Content};
use crate::store::Store;
use base64::Engine;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// The most that is answered of a part at once, in bytes.
const SLICE: u32 = 4 << 20;

impl Coordinator {
    /// Answers what the store alone can't, and hands everything else on.
    pub(in crate::runtime) async fn ask_of_resources(&self, query: Query) -> Result<Answer, Rejection> {
        let resources = self.inner.resources.clone();
        match query {
            Query::Content { of, part, offset, limit } => self
                .read(move |store| slice(store, &resources, &of, part, offset, limit.min(SLICE)))
                .await
                .map(Answer::Content),
            Query::Blame { resource, revision } => {
                self.read(move |store| blame(store, &resources, &resource, revision)).await.map(Answer::Blame)
            }
            query => self.ask_of_jobs(query).await,
        }
    }
}

fn slice(
    store: &Store,
    resources: &Resources,
    of: &ContentOf,
    part: Option<String>,
    offset: u64,
    limit: u32,
) -> Result<ContentSlice, Rejection> {
    let (revision, made) = match of {
        ContentOf::Revision { resource, number } => {
            let found = store.revision(resource, *number)?;
            (Some(found.number), found.made)
        }
        ContentOf::Candidate(candidate) => (None, store.candidate(candidate)?.made),
    };
    let kept = resources.contents.open(store, &made.content)?;
    let parts: Vec<PartInfo> = kept
        .content
        .iter()
        .map(|(name, part)| PartInfo {
            name: name.to_owned(),
            media_type: part.media_type.clone(),
            size: part.bytes.len() as u64,
        })
        .collect();
    let part = part.or_else(|| parts.first().map(|part| part.name.clone())).unwrap_or_default();
    let Some(found) = kept.content.get(&part) else {
        let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
        return Err(Rejection::not_found(format!("part `{part}`"), format!("parts: {}", names.join(", "))));
    };
    let from = usize::try_from(offset).unwrap_or(usize::MAX).min(found.bytes.len());
    let to = from.saturating_add(limit as usize).min(found.bytes.len());
    let base64 = base64::engine::general_purpose::STANDARD.encode(&found.bytes[from..to]);
    Ok(ContentSlice { revision, parts, part, base64 })
}

fn blame(store: &Store, resources: &Resources, id: &ResourceId, number: Option<u64>) -> Result<Vec<Blame>, Rejection> {
    let resource = store.resource(id)?;
    let target = store.revision(id, number)?.number;
    let attribution = authorship(store, resources, &resource, target)?;
    let mut known: BTreeMap<u64, Revision> = BTreeMap::new();
    let mut out = Vec::with_capacity(attribution.runs.len() + attribution.elements.len());
    let lines = attribution.runs.iter().map(|run| (run.lines, String::new(), run.revision));
    let elements = attribution.elements.iter().map(|(id, element)| (0, id.clone(), element.revision));
    for (lines, element, revision) in lines.chain(elements) {
        let by = match known.entry(revision) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(store.revision(id, Some(revision))?),
        };
        out.push(Blame { lines, element, revision, actor: by.actor.clone(), at: by.at });
    }
    Ok(out)
}

/// Carries authorship on from where somebody asked last, or from the first revision.
fn authorship(
    store: &Store,
    resources: &Resources,
    resource: &Resource,
    target: u64,
) -> Result<Attribution, Rejection> {
    let adapter = resources.registry.get(&resource.kind)?;
    let known = resources.authorship.lock().ok().and_then(|known| known.get(&resource.id).cloned());
    let content = |number| -> Result<Content, Rejection> {
        Ok(contents::load(store, &store.revision(&resource.id, Some(number))?.made.content)?.content)
    };
    let (mut attribution, mut before, mut next) = match known.filter(|(number, _)| *number <= target) {
        Some((number, attribution)) => (attribution, content(number)?, number + 1),
        None => (Attribution::default(), Content::default(), 0),
    };
    while next <= target {
        let after = content(next)?;
        adapter.attribute(&mut attribution, &before, &after, next)?;
        (before, next) = (after, next + 1);
    }
    if let Ok(mut known) = resources.authorship.lock()
        && known.get(&resource.id).is_none_or(|(number, _)| *number < target)
    {
        known.insert(resource.id.clone(), (target, attribution.clone()));
    }
    Ok(attribution)
}
