//! `models`: which providers are configured, which can be reached and why not, what they have, and
//! which servers on this machine could be configured.

use crate::agent::model::{Found, Reach, find_local, reach};
use crate::cli::app::App;
use crate::cli::config::{Configured, Origin};
use crate::cli::fault::{Exit, Fault};
use crate::cli::output::Style;
use crate::domain::sanitise::line;
use crate::domain::settings::{Provider, ProviderKind};
use futures_util::future::join_all;
use serde_json::json;

/// Shows them; servers are asked at the same time.
pub async fn run(app: &App) -> Result<Exit, Fault> {
    let configured = &app.configured()?;
    let asked = configured
        .settings
        .providers
        .iter()
        .map(|(name, provider)| async move { (name, provider, reach(name, provider).await) });
    for (name, provider, reached) in join_all(asked).await {
        if app.out.json {
            print_json(app, configured, name, provider, &reached)?;
        } else {
            print_text(app, name, provider, &reached)?;
        }
    }
    let addresses: Vec<&str> = configured.settings.providers.values().map(|p| p.base_url.as_str()).collect();
    for found in find_local(&addresses).await {
        offer(app, &found)?;
    }
    if !app.out.json {
        let origin = configured.origin("model");
        app.out.line(&format!("default: {} ({origin})", line(&configured.settings.model)))?;
        let roles = &configured.settings.roles;
        for (role, model) in roles.all() {
            if let Some(model) = model {
                let origin = configured.origin(&format!("model.{role}"));
                app.out.line(&format!("{role}: {} ({origin})", line(model)))?;
            }
        }
        advise(app, configured);
    }
    for warning in &configured.warnings {
        app.out.note(&format!("{} {}", app.out.err.paint(Style::Warn, "note:"), line(warning)));
    }
    Ok(Exit::Done)
}

/// Whether a provider is only there because it is built in.
fn is_unset(configured: &Configured, name: &str, provider: &Provider) -> bool {
    let untouched = |value: &str| configured.origin(&format!("providers.{name}.{value}")) == Origin::BuiltIn;
    provider.kind != ProviderKind::Guide && provider.key.is_none() && untouched("base_url")
}

/// Offers a server of this machine that nobody configured.
fn offer(app: &App, found: &Found) -> Result<(), Fault> {
    let Found { name, base_url, models } = found;
    if app.out.json {
        let models: Vec<String> = models.iter().map(|model| format!("{name}:{model}")).collect();
        return app.out.json(&json!({
            "provider": name, "kind": ProviderKind::Openai, "key": false, "base_url": base_url, "state": "found",
            "models": models,
        }));
    }
    let heading = app.out.out.paint(Style::Strong, name);
    app.out.line(&format!("{heading}  runs on this machine and is not configured: {base_url}"))?;
    for model in models {
        app.out.line(&format!("  {}", line(model)))?;
    }
    app.out.note(&format!(
        "to use it, in {}:\n[providers.{name}]\nkind = \"openai\"\nbase_url = \"{base_url}\"",
        app.paths.config.display()
    ));
    Ok(())
}

fn key_words(provider: &Provider) -> String {
    match (&provider.key, &provider.key_env) {
        (Some(_), _) => "a key".into(),
        (None, Some(variable)) => format!("no key (${variable} is not set)"),
        (None, None) => "no key".into(),
    }
}

fn print_text(app: &App, name: &str, provider: &Provider, reached: &Reach) -> Result<(), Fault> {
    let place = match provider.kind {
        ProviderKind::Guide => "built in: no network, no key, no AI".to_owned(),
        ProviderKind::Openai | ProviderKind::Responses | ProviderKind::Anthropic => {
            format!("{}, {}, {}", provider.kind.as_str(), line(&provider.base_url), key_words(provider))
        }
    };
    app.out.line(&format!("{}  {place}", app.out.out.paint(Style::Strong, name)))?;
    match reached {
        Reach::Ok { models } => {
            for model in models {
                app.out.line(&format!("  {name}:{}", line(model)))?;
            }
            if models.is_empty() {
                app.out.line("  reachable; it names no models")?;
            }
        }
        Reach::NoKey { why } | Reach::Unreachable { why } => {
            app.out.line(&format!("  {}", app.out.out.paint(Style::Warn, &line(why))))?;
        }
    }
    Ok(())
}

fn print_json(
    app: &App,
    configured: &Configured,
    name: &str,
    provider: &Provider,
    reached: &Reach,
) -> Result<(), Fault> {
    let mut object = json!({ "provider": name, "kind": provider.kind, "key": provider.key.is_some() });
    if !provider.base_url.is_empty() {
        object["base_url"] = provider.base_url.clone().into();
    }
    match reached {
        Reach::Ok { models } => {
            object["state"] = "reachable".into();
            object["models"] = json!(models.iter().map(|model| format!("{name}:{model}")).collect::<Vec<_>>());
        }
        Reach::NoKey { why } => {
            object["state"] = "no_key".into();
            object["why"] = why.clone().into();
        }
        Reach::Unreachable { why } => {
            object["state"] = "unreachable".into();
            object["why"] = why.clone().into();
        }
    }
    let default = &configured.settings.model;
    if default.split_once(':').is_some_and(|(provider, _)| provider == name) {
        object["default"] = default.clone().into();
    }
    app.out.json(&object)
}

/// Says how to use a server that is there while the guide is the default.
fn advise(app: &App, configured: &Configured) {
    let servers: Vec<&String> = configured
        .settings
        .providers
        .iter()
        .filter(|(name, provider)| provider.kind != ProviderKind::Guide && !is_unset(configured, name, provider))
        .map(|(name, _)| name)
        .collect();
    let guide = configured.settings.model.starts_with("guide:");
    match (guide, servers.first()) {
        (true, Some(name)) => app.out.note(&format!(
            "to use {name}: COWORK_MODEL={name}:MODEL, or in {}:\n[model]\ndefault = \"{name}:MODEL\"",
            app.paths.config.display()
        )),
        (true, None) => app.out.note(
            "to use a model: set OPENAI_API_KEY (or OPENAI_BASE_URL for a server of your own) and COWORK_MODEL=openai:NAME",
        ),
        (false, _) => {}
    }
}
