//! A project's own file, `.cowork/config.toml`: read only in a trusted folder, and even then it
//! only says what its new Tasks begin with. It can't name servers, keys, prices or limits, and it
//! can't make more possible, or ask less often, than the user has it.

use super::mistake::{Mistake, Source};
use super::reader::{At, Reader};
use super::{Configured, Origin, user};
use crate::domain::permission::Policy;

/// What a project's new Tasks begin with, where it says so.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Project {
    /// The model, one of the user's.
    pub model: Option<(String, Origin)>,
    /// The policy, no wider than the user's.
    pub policy: Option<(Policy, Origin)>,
}

pub(super) fn read(source: &Source, configured: &Configured) -> Result<Project, Vec<Mistake>> {
    let origin = |line| Origin::File(source.path.clone(), line);
    let mut project = Project::default();
    let mistakes = Reader::new(source).read(|top| {
        const USERS: [&str; 3] = ["providers", "models", "limits"];
        for key in USERS {
            let message = format!("a project can't set `{key}`");
            top.forbid(key, &message, "only the user's own configuration can; a project sets model and policy");
        }
        top.allow_but(&["model", "policy"], &USERS);
        if let Some(At { value, span, line }) = user::default_model(top) {
            match configured.settings.resolve(&value) {
                Ok(_) => project.model = Some((value, origin(line))),
                Err(message) => top.mistake(&span, message, "PROVIDER:NAME of a provider you configured"),
            }
        }
        if let Some(At { value, span, line }) = user::policy(top) {
            let yours = configured.settings.policy;
            if value.reach <= yours.reach && value.ask <= yours.ask {
                project.policy = Some((value, origin(line)));
            } else {
                let message = format!("a project can't go beyond your own policy, `{}`", yours.name());
                top.mistake(&span, message, "the same or a stricter one; yours stands in your configuration");
            }
        }
    });
    // The environment stands above every file.
    if matches!(configured.origin("model"), Origin::Environment(_)) {
        project.model = None;
    }
    if mistakes.is_empty() { Ok(project) } else { Err(mistakes) }
}
