//! The environment's layer: the model, the addresses of the built-in providers, and the keys that
//! providers name a variable for.

use super::user::base_url;
use super::{ConfigError, Configured, Origin};
use crate::cli::paths::Environment;
use crate::domain::Secret;
use crate::domain::settings::ProviderKind;

pub(super) fn apply(configured: &mut Configured, env: &dyn Environment) -> Result<(), ConfigError> {
    for (variable, name) in [("OPENAI_BASE_URL", "openai"), ("ANTHROPIC_BASE_URL", "anthropic")] {
        let Some(url) = env.get(variable) else { continue };
        let origin = Origin::Environment(variable.into());
        let url = base_url(&url).map_err(|message| ConfigError::Value { origin: origin.clone(), message })?;
        if let Some(provider) = configured.settings.providers.get_mut(name) {
            provider.base_url = url;
            configured.set_origin(format!("providers.{name}.base_url"), origin);
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
        if provider.kind != ProviderKind::Guide
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
