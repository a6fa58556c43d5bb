//! `config`: where the configuration is, what it comes to, and whether it is right.

use crate::cli::app::{App, Purpose};
use crate::cli::config::{ConfigError, Configured, Origin, Project};
use crate::cli::fault::{Exit, Fault};
use crate::cli::paths::project_config;
use crate::domain::sanitise::line;
use serde_json::{Value, json};

#[derive(Debug, clap::Args)]
pub struct ConfigArgs {
    #[command(subcommand)]
    pub verb: Verb,
}

#[derive(Debug, clap::Subcommand)]
pub enum Verb {
    /// Print where the user's file is
    Path,
    /// Print every effective value and where it comes from; keys are dots
    Show,
    /// Check the files; every mistake is shown at its place
    Check,
}

/// Shows or checks.
pub async fn run(app: &App, args: ConfigArgs) -> Result<Exit, Fault> {
    match args.verb {
        Verb::Path => path(app),
        Verb::Show => show(app).await,
        Verb::Check => check(app).await,
    }
}

fn path(app: &App) -> Result<Exit, Fault> {
    let config = app.paths.config.display().to_string();
    if app.out.json {
        let home = app.paths.home.display().to_string();
        let instructions = app.paths.instructions().display().to_string();
        let exists = app.paths.config.exists();
        app.out.json(&json!({ "config": config, "exists": exists, "instructions": instructions, "home": home }))?;
    } else {
        app.out.line(&line(&config))?;
    }
    Ok(Exit::Done)
}

/// One effective value.
struct Entry {
    name: String,
    value: Value,
    origin: Origin,
}

async fn show(app: &App) -> Result<Exit, Fault> {
    let configured = app.configured()?;
    let project = project(app, &configured).await?;
    let entries = entries(&configured, &project);
    if app.out.json {
        for Entry { name, value, origin } in &entries {
            app.out.json(&json!({ "name": name, "value": value, "origin": origin.to_string() }))?;
        }
        return Ok(Exit::Done);
    }
    let rows: Vec<Vec<String>> = entries
        .iter()
        .map(|entry| {
            let value = match &entry.value {
                Value::String(text) => line(text).into_owned(),
                other => other.to_string(),
            };
            vec![line(&entry.name).into_owned(), value, line(&entry.origin.to_string()).into_owned()]
        })
        .collect();
    app.out.table(&["name", "value", "origin"], &rows)?;
    Ok(Exit::Done)
}

/// What a trusted project's file adds; the runtime is asked only where there is such a file.
async fn project(app: &App, configured: &Configured) -> Result<Project, Fault> {
    let dir = app.project_dir()?;
    if !project_config(&dir).exists() {
        return Ok(Project::default());
    }
    let mut session = app.session(Purpose::Look).await?;
    app.project(&mut session, &dir, configured).await
}

fn entries(configured: &Configured, project: &Project) -> Vec<Entry> {
    const DOTS: &str = "••••••••";
    let settings = &configured.settings;
    let mut out = Vec::new();
    let mut add = |name: String, value: Value| {
        let origin = configured.origin(&name);
        out.push(Entry { name, value, origin });
    };
    add("model".into(), json!(settings.model));
    let roles = &settings.roles;
    for (role, model) in roles.all() {
        if let Some(model) = model {
            add(format!("model.{role}"), json!(model));
        }
    }
    add("policy".into(), json!(settings.policy.name()));
    add("limits.tool_output_bytes".into(), json!(settings.limits.tool_output_bytes));
    add("limits.shell_seconds".into(), json!(settings.limits.shell_seconds));
    add("limits.idle_seconds".into(), json!(settings.limits.idle_seconds));
    add("limits.retries".into(), json!(settings.limits.retries));
    add("limits.parallel_tools".into(), json!(settings.limits.parallel_tools));
    add("limits.subagents".into(), json!(settings.limits.subagents));
    add("jobs.log_megabytes".into(), json!(settings.jobs.log_bytes / 1_000_000));
    add("jobs.keep_days".into(), json!(settings.jobs.keep_days));
    add("jobs.detach".into(), json!(crate::cli::units::control_key_name(settings.jobs.detach)));
    let look = &configured.look;
    add("screen.theme".into(), json!(look.theme.name()));
    add("screen.motion".into(), json!(look.motion.name()));
    add("screen.form".into(), json!(look.form.name()));
    add("screen.bell".into(), json!(look.calls.bell));
    add("screen.notify".into(), json!(look.calls.notify));
    add("screen.title".into(), json!(look.calls.title));
    for (name, provider) in &settings.providers {
        let place = format!("providers.{name}");
        add(format!("{place}.kind"), json!(provider.kind));
        if !provider.base_url.is_empty() {
            add(format!("{place}.base_url"), json!(provider.base_url));
        }
        if let Some(variable) = &provider.key_env {
            add(format!("{place}.key_env"), json!(variable));
        }
        if provider.key.is_some() {
            add(format!("{place}.key"), json!(DOTS));
        }
        for header in provider.headers.keys() {
            add(format!("{place}.headers.{header}"), json!(DOTS));
        }
    }
    for (name, info) in &settings.models {
        let place = format!("models.{name}");
        if let Some(price) = &info.price {
            add(format!("{place}.price"), json!(price));
        }
        if let Some(tokens) = info.context_tokens {
            add(format!("{place}.context_tokens"), json!(tokens));
        }
        if let Some(tokens) = info.max_output_tokens {
            add(format!("{place}.max_output_tokens"), json!(tokens));
        }
        if info.steps {
            add(format!("{place}.steps"), json!(true));
        }
        if !info.request.is_empty() {
            add(format!("{place}.request"), json!(info.request));
        }
    }
    if !settings.instructions.is_empty() {
        add("instructions".into(), json!(format!("{} bytes", settings.instructions.len())));
    }
    for entry in &mut out {
        let of_project = match entry.name.as_str() {
            "model" => project.model.as_ref().map(|(model, origin)| (json!(model), origin)),
            "policy" => project.policy.as_ref().map(|(policy, origin)| (json!(policy.name()), origin)),
            _ => None,
        };
        if let Some((value, origin)) = of_project {
            (entry.value, entry.origin) = (value, origin.clone());
        }
    }
    out
}

async fn check(app: &App) -> Result<Exit, Fault> {
    let configured = match app.configured() {
        Ok(configured) => configured,
        Err(ConfigError::Mistakes(mistakes)) => return tell(app, &mistakes),
        Err(error) => return Err(error.into()),
    };
    let dir = app.project_dir()?;
    if project_config(&dir).exists() {
        let mut session = app.session(Purpose::Look).await?;
        match app.project_layer(&mut session, &dir, &configured).await? {
            Ok(_) => {}
            Err(ConfigError::Mistakes(mistakes)) => return tell(app, &mistakes),
            Err(error) => return Err(error.into()),
        }
    }
    for warning in &configured.warnings {
        app.out.note(&line(warning));
    }
    app.out.note("the configuration is right");
    Ok(Exit::Done)
}

/// Shows every mistake: with `--json` one a line on standard output, else on standard error.
fn tell(app: &App, mistakes: &[crate::cli::config::Mistake]) -> Result<Exit, Fault> {
    for mistake in mistakes {
        if app.out.json {
            app.out.json(&json!({
                "file": mistake.path.display().to_string(),
                "line": mistake.line,
                "column": mistake.column,
                "message": mistake.message,
                "hint": mistake.allowed,
            }))?;
        } else {
            app.out.warn(&format!("{mistake}\n  = {}", mistake.allowed));
        }
    }
    let number = mistakes.len();
    let message = format!("the configuration has {number} mistake{}", if number == 1 { "" } else { "s" });
    Err(Fault::new("config", message, "mend them at the places shown"))
}
