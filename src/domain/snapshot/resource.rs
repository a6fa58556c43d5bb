//! Folding what happened to Resources.

use super::Snapshot;
use crate::domain::event::Event;
use crate::domain::ids::*;
use crate::domain::records::*;

impl Snapshot {
    /// Takes in an event about a Resource.
    pub(super) fn apply_to_resource(&mut self, actor: &Actor, at: Millis, event: &Event) {
        match event {
            Event::ResourceCreated { resource, first } => {
                self.resources.insert(resource.id.clone(), resource.clone());
                self.revisions.insert((first.resource.clone(), first.number), first.clone());
            }
            Event::RevisionCommitted { revision } => {
                if let Some(resource) = self.resources.get_mut(&revision.resource) {
                    resource.revision = revision.number;
                    resource.updated_at = at;
                    resource.updated_by = revision.actor.clone();
                    self.revisions.insert((revision.resource.clone(), revision.number), revision.clone());
                }
            }
            Event::CandidateKept { candidate } if self.resources.contains_key(&candidate.resource) => {
                self.candidates.insert(candidate.id.clone(), candidate.clone());
            }
            Event::CandidateRevised { candidate, made } => {
                if let Some(candidate) = self.candidates.get_mut(candidate) {
                    candidate.made = made.clone();
                }
            }
            Event::CandidateMoved { candidate, state, because, revision, rebased_to } => {
                if let Some(candidate) = self.candidates.get_mut(candidate) {
                    candidate.state = *state;
                    candidate.because = because.clone();
                    candidate.revision = *revision;
                    candidate.rebased_to = rebased_to.clone();
                    candidate.settled_by = (!state.is_open()).then(|| actor.clone());
                }
            }
            Event::ResourceRenamed { resource, name } => {
                if let Some(resource) = self.resources.get_mut(resource) {
                    resource.name = name.clone();
                }
            }
            Event::ResourceMirrored { resource, mirror } => {
                if let Some(resource) = self.resources.get_mut(resource) {
                    resource.mirror = mirror.clone();
                    (resource.in_file, resource.trouble) = (None, None);
                }
            }
            Event::MirrorLooked { resource, revision, trouble } => {
                if let Some(resource) = self.resources.get_mut(resource) {
                    (resource.in_file, resource.trouble) = (*revision, trouble.clone());
                }
            }
            Event::ResourceSeen { by, resource, revision } => {
                if let Some(view) = self.view(by, resource) {
                    view.seen = *revision;
                }
            }
            Event::ResourceSelected { resource, selection } => {
                if let Some(view) = self.view(actor, resource) {
                    view.selection = selection.clone();
                }
            }
            Event::ResourceRemoved { resource, .. } => self.remove_resource(resource),
            Event::EngineAsked { intent } if self.resources.contains_key(&intent.resource) => {
                self.engine_intents.insert(intent.id.clone(), intent.clone());
            }
            Event::EngineAnswered { intent, state, outcome } => {
                if let Some(intent) = self.engine_intents.get_mut(intent) {
                    intent.state = *state;
                    intent.outcome = Some(outcome.clone());
                }
            }
            _ => {}
        }
    }

    /// What an actor knows of a Resource that there is.
    fn view(&mut self, actor: &Actor, resource: &ResourceId) -> Option<&mut ResourceView> {
        if !self.resources.contains_key(resource) {
            return None;
        }
        let view = self.resource_views.entry((actor.clone(), resource.clone()));
        Some(view.or_insert_with(|| ResourceView {
            actor: actor.clone(),
            resource: resource.clone(),
            seen: 0,
            selection: None,
        }))
    }

    /// Takes a Resource out with everything that is kept of it.
    pub(super) fn remove_resource(&mut self, id: &ResourceId) {
        self.resources.remove(id);
        self.revisions.retain(|(resource, _), _| resource != id);
        self.candidates.retain(|_, candidate| candidate.resource != *id);
        self.resource_views.retain(|(_, resource), _| resource != id);
        self.engine_intents.retain(|_, intent| intent.resource != *id);
    }
}
