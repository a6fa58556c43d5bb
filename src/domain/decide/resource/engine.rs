//! Edits that an engine has to be asked for: recorded before, settled once after.
//!
//! | the intent is | what came | what comes of it |
//! |---|---|---|
//! | open, or uncertain after a crash | an outcome | as an edit of the intent's base |
//! | open, or uncertain after a crash | a failure | nothing but that it failed |
//! | told as failed | an outcome after all | a Candidate: it is never committed by itself |
//! | settled | anything else | nothing |

use super::super::*;
use super::{Admission, admit, commit, is_unchanged, keep, no_such};
use serde_json::Value;

pub(super) fn intend(
    d: &mut Decision,
    resource: &Resource,
    base: u64,
    actor: Actor,
    operation: &Value,
    request: &Value,
) {
    let intent = EngineIntent {
        id: EngineIntentId::new(&mut d.ids),
        resource: resource.id.clone(),
        base,
        actor,
        operation: operation.clone(),
        request: request.clone(),
        state: EngineState::Intent,
        outcome: None,
        at: d.at,
    };
    d.emit(resource.task.as_ref(), Event::EngineAsked { intent });
}

/// Takes what an engine answered, once; what comes after its failure was told is never committed by itself.
pub(super) fn conclude(
    d: &mut Decision,
    id: &EngineIntentId,
    outcome: &Value,
    made: Option<&Made>,
) -> Result<(), Rejection> {
    let intent =
        d.snap.engine_intents.get(id).cloned().ok_or_else(|| Rejection::not_found(format!("intent {id}"), ""))?;
    let resource = d.snap.resources.get(&intent.resource).cloned().ok_or_else(|| no_such(&intent.resource))?;
    let is_late = match (intent.state, made) {
        (EngineState::Done, Some(_) | None) | (EngineState::Failed, None) => return Ok(()),
        (EngineState::Failed, Some(_)) => true,
        (EngineState::Intent | EngineState::Uncertain, Some(_) | None) => false,
    };
    if !is_late {
        let state = if made.is_some() { EngineState::Done } else { EngineState::Failed };
        let event = Event::EngineAnswered { intent: id.clone(), state, outcome: outcome.clone() };
        d.emit(resource.task.as_ref(), event);
    }
    let Some(made) = made else { return Ok(()) };
    match admit(d, &resource, intent.base, &intent.actor) {
        // Late or not, there is nothing in it that does not stand.
        Admission::Next if is_unchanged(d, &resource, made) => {}
        Admission::Next if !is_late => commit(d, &resource, intent.actor, made, None),
        Admission::Next => drop(keep(d, &resource, intent.base, intent.actor, made, CandidateState::Submitted)),
        Admission::Kept(state) => drop(keep(d, &resource, intent.base, intent.actor, made, state)),
    }
    Ok(())
}

/// An owner that died asked engines: nobody knows how far they came.
pub(in crate::domain::decide) fn take_over(d: &mut Decision) {
    let open: Vec<EngineIntent> =
        d.snap.engine_intents.values().filter(|intent| intent.state == EngineState::Intent).cloned().collect();
    for intent in open {
        let task = d.snap.resources.get(&intent.resource).and_then(|resource| resource.task.clone());
        let event = Event::EngineAnswered { intent: intent.id, state: EngineState::Uncertain, outcome: Value::Null };
        d.emit(task.as_ref(), event);
    }
}
