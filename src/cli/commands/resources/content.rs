//! Contents as the host gives them: piece by piece, put together here for the adapter of their kind.

use crate::cli::fault::Fault;
use crate::cli::session::Session;
use crate::domain::*;
use crate::resources::{Adapter, Content, Registry};
use base64::Engine;
use std::sync::Arc;

/// How much is asked for at once, in bytes.
const SLICE: u32 = 2 << 20;

/// The whole content of a revision or a Candidate.
pub(super) async fn whole(session: &mut Session<'_>, of: ContentOf) -> Result<Content, Fault> {
    let mut out = Content::default();
    let first = session.content(of.clone(), None, 0, 0).await?;
    for part in first.parts {
        let mut bytes: Vec<u8> = Vec::with_capacity(part.size as usize);
        while (bytes.len() as u64) < part.size {
            let at = bytes.len() as u64;
            let slice = session.content(of.clone(), Some(part.name.clone()), at, SLICE).await?;
            let piece = base64::engine::general_purpose::STANDARD
                .decode(&slice.base64)
                .map_err(|error| Fault::bug(format!("a content came damaged: {error}")))?;
            if piece.is_empty() {
                return Err(Fault::new("wrong_state", "the content changed while it was read", "try again"));
            }
            bytes.extend(piece);
        }
        out.put(&part.name, &part.media_type, bytes).map_err(refused)?;
    }
    Ok(out)
}

/// The content of a revision.
pub(super) async fn of_revision(session: &mut Session<'_>, id: &ResourceId, number: u64) -> Result<Content, Fault> {
    whole(session, ContentOf::Revision { resource: id.clone(), number: Some(number) }).await
}

/// The adapter of a kind.
pub(super) fn adapter(kind: &str) -> Result<Arc<dyn Adapter>, Fault> {
    Registry::default().get(kind).cloned().map_err(refused)
}

/// Says a refusal of an adapter in the words of the edge.
pub(super) fn refused(refusal: crate::resources::Refusal) -> Fault {
    Rejection::from(refusal).into()
}
