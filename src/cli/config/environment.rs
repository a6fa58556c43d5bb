//! The environment's layer: the model, the address and key of the `openai` provider, and the keys
//! that providers name a variable for.

use super::user::base_url;
use super::{ConfigError, Configured, Origin};
use crate::cli::paths::Environment;
use crate::domain::Secret;
use crate::domain::settings::ProviderKind;

pub(super) fn apply(configured: &mut Configured, env: &dyn Environment) -> Result<(), ConfigError> {
    if let Some(url) = env.get("OPENAI_BASE_URL") {
        let origin = Origin::Environment("OPENAI_BASE_URL".into());
        let url = base_url(&url).map_err(|message| ConfigError::Value { origin: origin.clone(), message })?;
        if let Some(provider) = configured.settings.providers.get_mut("openai") {
            provider.base_url = url;
            configured.set_origin("providers.openai.base_url", origin);
        }
    }
    read_keys(configured, env);
    if let Some(model) = env.get("COWORK_MODEL") {
        let origin = Origin::Environment("COWORK_MODEL".into());
        if let Err(message) = configured.settings.resolve(&model) {
            return Err(ConfigError::Value { origin, message });
        }
        configured.settings.model = model;
        configured.set_origin("model", origin);
    }
    Ok(())
}

fn read_keys(configured: &mut Configured, env: &dyn Environment) {
    let mut found = Vec::new();
    for (name, provider) in &mut configured.settings.providers {
        if let Some(variable) = provider.key_env.clone()
            && let Some(key) = env.get(&variable)
        {
            provider.key = Some(Secret::new(key.trim()));
            found.push((format!("providers.{name}.key"), Origin::Environment(variable)));
        }
        let local =
            ["http://127.", "http://localhost", "http://[::1]"].iter().any(|at| provider.base_url.starts_with(at));
        if provider.kind == ProviderKind::Openai
            && provider.key.is_some()
            && provider.base_url.starts_with("http://")
            && !local
        {
            configured.warnings.push(format!(
                "provider `{name}` sends its key unencrypted to {}: use https:// unless the network is yours",
                provider.base_url
            ));
        }
    }
    configured.origins.extend(found);
}
