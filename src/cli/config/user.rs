//! The user's own file: everything can be set here, except what only a command line may say.

use super::mistake::{Mistake, Source};
use super::reader::{At, Reader, Section};
use super::{Configured, Origin, key_command, key_file};
use crate::cli::paths::Environment;
use crate::domain::Secret;
use crate::domain::permission::Policy;
use crate::domain::settings::{ModelInfo, Price, Provider, ProviderKind, Quirks};
use std::path::Path;

const TOP: [&str; 7] = ["model", "models", "providers", "limits", "jobs", "policy", "screen"];
const PROVIDER: [&str; 7] = ["kind", "base_url", "key_env", "key_file", "key_command", "headers", "quirks"];
const KINDS: &str = "one of: openai (chat completions, what most servers speak), responses, anthropic";
const POLICIES: &str = "one of: read, ask, workspace";

/// Reads the file into what was configured so far.
pub(super) fn apply(source: &Source, configured: &mut Configured, env: &dyn Environment) -> Vec<Mistake> {
    let mut models = Vec::new();
    let mut mistakes = Reader::new(source).read(|top| {
        top.allow(&TOP);
        let mut file = File { path: &source.path, configured: &mut *configured, env };
        if let Some(section) = top.section("providers") {
            for name in section.keys() {
                file.provider(&section, &name);
            }
        }
        if let Some(section) = top.section("models") {
            for name in section.keys() {
                file.model_info(&section, &name);
            }
        }
        if let Some(section) = top.section("limits") {
            file.limits(&section);
        }
        if let Some(section) = top.section("jobs") {
            let jobs = super::jobs::read(&section, file.configured.settings.jobs);
            file.configured.settings.jobs = jobs;
            for key in section.keys() {
                file.note(format!("jobs.{}", key.value), key.line);
            }
        }
        if let Some(section) = top.section("screen") {
            file.configured.look = super::screen::look(&section, &source.path);
            for key in section.keys() {
                file.note(format!("screen.{}", key.value), key.line);
            }
        }
        if let Some(policy) = policy(top) {
            file.configured.settings.policy = policy.value;
            file.note("policy", policy.line);
        }
        if let Some(section) = top.section("model") {
            section.allow(&ROLES);
            models = ROLES.iter().filter_map(|role| Some((*role, section.text(role)?))).collect();
        }
    });
    if !mistakes.is_empty() {
        return mistakes;
    }
    for (role, model) in models {
        if let Err(message) = configured.settings.resolve(&model.value) {
            mistakes.push(source.mistake(model.span, message, "PROVIDER:NAME"));
            continue;
        }
        let settings = &mut configured.settings;
        let (name, slot) = match role {
            "subagent" => ("model.subagent", &mut settings.roles.subagent),
            "cheap" => ("model.cheap", &mut settings.roles.cheap),
            "fallback" => ("model.fallback", &mut settings.roles.fallback),
            _ => {
                settings.model = model.value;
                configured.set_origin("model", Origin::File(source.path.clone(), model.line));
                continue;
            }
        };
        *slot = Some(model.value);
        configured.set_origin(name, Origin::File(source.path.clone(), model.line));
    }
    mistakes
}

/// Who a model is chosen for.
const ROLES: [&str; 4] = ["default", "subagent", "cheap", "fallback"];

/// Reads `[model] default`, all that a project may choose.
pub(super) fn default_model(top: &Section) -> Option<At<String>> {
    let section = top.section("model")?;
    section.allow(&["default"]);
    section.text("default")
}

/// Reads `policy`. What only the command line may give is refused.
pub(super) fn policy(top: &Section) -> Option<At<Policy>> {
    let name = top.text("policy")?;
    match Policy::named(&name.value) {
        Some(_) if name.value == "full" => {
            top.mistake(&name.span, "`full` is never given by a file", "say --approve full on the command line");
            None
        }
        Some(policy) => Some(At { value: policy, span: name.span, line: name.line }),
        None => {
            top.mistake(&name.span, format!("there is no policy `{}`", name.value), POLICIES);
            None
        }
    }
}

struct File<'a> {
    path: &'a Path,
    configured: &'a mut Configured,
    env: &'a dyn Environment,
}

impl File<'_> {
    fn note(&mut self, name: impl Into<String>, line: usize) {
        let origin = Origin::File(self.path.to_owned(), line);
        self.configured.set_origin(name, origin);
    }

    fn provider(&mut self, providers: &Section, name: &At<String>) {
        let Some(section) = providers.section(&name.value) else { return };
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
        if name.value == "guide" {
            providers.mistake(&name.span, "`guide` is built in and has no settings", "choose another name");
            return;
        }
        if name.value.is_empty() || !name.value.chars().all(plain) {
            providers.mistake(&name.span, "this can't be a provider's name", "use small letters, digits, - and _");
            return;
        }
        section.allow_but(&PROVIDER, &["key"]);
        section.forbid("key", "keys don't stand in this file", "use key_env = \"NAME\" or key_file = \"PATH\"");
        let known = self.configured.settings.providers.get(&name.value).cloned();
        let kind = section.text("kind");
        let known_kind = kind.as_ref().and_then(|kind| {
            let is = |known: &&ProviderKind| known.as_str() == kind.value;
            ProviderKind::CONFIGURABLE.iter().find(is).copied()
        });
        match (&kind, known_kind) {
            (Some(kind), None) => {
                section.mistake(&kind.span, format!("there is no kind `{}`", kind.value), KINDS);
            }
            (None, _) if known.is_none() => {
                section.mistake(
                    section.span(),
                    format!("provider `{}` has no kind", name.value),
                    "add kind = \"openai\"",
                );
            }
            (Some(_) | None, _) => {}
        }
        let mut provider = known.unwrap_or_else(|| Provider::new(ProviderKind::Openai, ""));
        if let Some(kind) = known_kind {
            provider.kind = kind;
        }
        let place = format!("providers.{}", name.value);
        match section.text("base_url") {
            Some(url) => match base_url(&url.value) {
                Ok(base_url) => {
                    provider.base_url = base_url;
                    self.note(format!("{place}.base_url"), url.line);
                }
                Err(message) => section.mistake(&url.span, message, "such as http://127.0.0.1:8080/v1"),
            },
            None if provider.base_url.is_empty() => {
                let message = format!("provider `{}` has no base_url", name.value);
                section.mistake(section.span(), message, "add base_url = \"http://HOST:PORT/v1\"");
            }
            None => {}
        }
        self.key(&section, &place, &mut provider);
        if let Some(headers) = section.section("headers") {
            for header in headers.keys() {
                let Some(value) = headers.text(&header.value) else { continue };
                match header_problem(&header.value, &value.value) {
                    None => {
                        provider.headers.insert(header.value.to_ascii_lowercase(), Secret::new(value.value));
                        self.note(format!("{place}.headers.{}", header.value.to_ascii_lowercase()), value.line);
                    }
                    Some(problem) => {
                        headers.mistake(&header.span, problem, "NAME = \"VALUE\", visible characters only")
                    }
                }
            }
        }
        if let Some(quirks) = section.section("quirks") {
            quirks.allow(&[
                "limit_field",
                "stream_usage",
                "thinking_field",
                "kept_thinking",
                "signed_calls",
                "fenced_calls",
            ]);
            provider.quirks = Quirks {
                limit_field: quirks.text("limit_field").map(|at| at.value),
                stream_usage: quirks.truth("stream_usage").map(|at| at.value),
                thinking_field: quirks.text("thinking_field").map(|at| at.value),
                kept_thinking: quirks.truth("kept_thinking").map(|at| at.value),
                signed_calls: quirks.truth("signed_calls").map(|at| at.value),
                fenced_calls: quirks.truth("fenced_calls").map(|at| at.value),
            };
        }
        self.configured.settings.providers.insert(name.value.clone(), provider);
    }

    fn key(&mut self, section: &Section, place: &str, provider: &mut Provider) {
        let (variable, file) = (section.text("key_env"), section.text("key_file"));
        let command = section.text("key_command");
        let given: Vec<_> = [&variable, &file, &command].into_iter().flatten().collect();
        if let [_, second, ..] = given.as_slice() {
            section.mistake(&second.span, "the key is said to come from more than one place", "keep one of them");
            return;
        }
        if let Some(command) = command {
            match key_command::run(&command.value) {
                Ok(key) => {
                    provider.key = Some(key);
                    provider.key_env = None;
                    self.note(format!("{place}.key"), command.line);
                }
                Err(why) => section.mistake(&command.span, why, "a command that prints the key and ends with 0"),
            }
        }
        if let Some(variable) = variable {
            if variable.value.is_empty() || variable.value.contains(['=', '\0', ' ']) {
                section.mistake(&variable.span, "this can't be a variable's name", "such as OPENAI_API_KEY");
                return;
            }
            self.note(format!("{place}.key_env"), variable.line);
            provider.key_env = Some(variable.value);
        }
        if let Some(file) = file {
            let home = self.env.get("HOME");
            match key_file::read(&file.value, self.path.parent().unwrap_or(Path::new("/")), home.as_deref()) {
                Ok(key) => {
                    provider.key = Some(key);
                    provider.key_env = None;
                    self.note(format!("{place}.key"), file.line);
                }
                Err(problem) => section.mistake(&file.span, problem.message, problem.allowed),
            }
        }
    }

    fn model_info(&mut self, models: &Section, name: &At<String>) {
        let Some(section) = models.section(&name.value) else { return };
        section.allow(&["price", "context_tokens", "max_output_tokens", "steps", "request"]);
        let mut info = ModelInfo::default();
        let place = format!("models.{}", name.value);
        if let Some(price) = section.section("price") {
            price.allow(&["input", "output", "cached"]);
            match (price.amount("input"), price.amount("output")) {
                (Some(input), Some(output)) => {
                    let cached = price.amount("cached").map(|at| at.value);
                    info.price = Some(Price { input: input.value, cached, output: output.value });
                    self.note(format!("{place}.price"), input.line);
                }
                (None, _) | (_, None) => {
                    let allowed = "US dollars for a million tokens: { input = 1.25, output = 10, cached = 0.125 }";
                    price.mistake(price.span(), "a price needs input and output", allowed);
                }
            }
        }
        for (key, slot) in
            [("context_tokens", &mut info.context_tokens), ("max_output_tokens", &mut info.max_output_tokens)]
        {
            if let Some(tokens) = section.whole(key, 1..=1_000_000_000) {
                *slot = Some(tokens.value);
                let origin = Origin::File(self.path.to_owned(), tokens.line);
                self.configured.set_origin(format!("{place}.{key}"), origin);
            }
        }
        if let Some(steps) = section.truth("steps") {
            info.steps = steps.value;
            self.note(format!("{place}.steps"), steps.line);
        }
        if let Some(fields) = section.section("request") {
            // What holds the conversation is ours to say.
            const OURS: [&str; 6] = ["model", "messages", "input", "system", "instructions", "stream"];
            for field in fields.keys() {
                if OURS.contains(&field.value.as_str()) {
                    fields.mistake(
                        &field.span,
                        format!("`{}` is not for the configuration", field.value),
                        "leave it out",
                    );
                }
            }
            info.request = fields.json();
            self.note(format!("{place}.request"), fields.line());
        }
        self.configured.settings.models.insert(name.value.clone(), info);
    }

    fn limits(&mut self, section: &Section) {
        section.allow(&[
            "tool_output_bytes",
            "shell_seconds",
            "idle_seconds",
            "retries",
            "parallel_tools",
            "subagents",
        ]);
        let mut limits = self.configured.settings.limits;
        if let Some(at) = section.whole("tool_output_bytes", 1_000..=1_000_000) {
            limits.tool_output_bytes = at.value as usize;
            self.note("limits.tool_output_bytes", at.line);
        }
        if let Some(at) = section.whole("shell_seconds", 1..=86_400) {
            limits.shell_seconds = at.value;
            self.note("limits.shell_seconds", at.line);
        }
        if let Some(at) = section.whole("idle_seconds", 1..=86_400) {
            limits.idle_seconds = at.value;
            self.note("limits.idle_seconds", at.line);
        }
        if let Some(at) = section.whole("retries", 0..=100) {
            limits.retries = at.value as u32;
            self.note("limits.retries", at.line);
        }
        if let Some(at) = section.whole("parallel_tools", 1..=64) {
            limits.parallel_tools = at.value as usize;
            self.note("limits.parallel_tools", at.line);
        }
        if let Some(at) = section.whole("subagents", 1..=1000) {
            limits.subagents = at.value as usize;
            self.note("limits.subagents", at.line);
        }
        self.configured.settings.limits = limits;
    }
}

/// Checks the address of a server; gives it without a slash at its end.
pub(super) fn base_url(text: &str) -> Result<String, String> {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let Some(rest) = rest else { return Err("a base_url begins with http:// or https://".into()) };
    let host = rest.split('/').next().unwrap_or_default();
    if host.is_empty() || text.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return Err("a base_url names a server".into());
    }
    if host.contains('@') {
        return Err("a name and password don't stand in a base_url; use key_env or headers".into());
    }
    if text.contains(['?', '#']) {
        return Err("a base_url has no ? and no #".into());
    }
    Ok(text.trim_end_matches('/').to_owned())
}

fn header_problem(name: &str, value: &str) -> Option<&'static str> {
    let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    if name.is_empty() || !name.chars().all(token) {
        return Some("this can't be a header's name");
    }
    if !value.chars().all(|c| c == ' ' || c.is_ascii_graphic()) {
        return Some("this header's value can't be sent");
    }
    None
}
