//! The user's own file: everything can be set here, except what only a command line may say.

use super::mistake::{Mistake, Source};
use super::reader::{At, Reader, Section};
use super::{Configured, Origin, key_file};
use crate::cli::paths::Environment;
use crate::domain::Secret;
use crate::domain::permission::Policy;
use crate::domain::settings::{ModelInfo, Price, Provider, ProviderKind};
use std::collections::BTreeMap;
use std::path::Path;

const TOP: [&str; 5] = ["model", "models", "providers", "limits", "policy"];
const PROVIDER: [&str; 5] = ["kind", "base_url", "key_env", "key_file", "headers"];
const POLICIES: &str = "one of: read, ask, workspace";

/// Reads the file into what was configured so far.
pub(super) fn apply(source: &Source, configured: &mut Configured, env: &dyn Environment) -> Vec<Mistake> {
    let mut model = None;
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
        if let Some(policy) = policy(top) {
            file.configured.settings.policy = policy.value;
            file.note("policy", policy.line);
        }
        model = default_model(top);
    });
    if let (true, Some(model)) = (mistakes.is_empty(), model) {
        match configured.settings.resolve(&model.value) {
            Ok(_) => {
                configured.set_origin("model", Origin::File(source.path.clone(), model.line));
                configured.settings.model = model.value;
            }
            Err(message) => mistakes.push(source.mistake(model.span, message, "PROVIDER:NAME")),
        }
    }
    mistakes
}

/// Reads `[model] default`.
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
        match &kind {
            Some(kind) if kind.value != "openai" => {
                let message = format!("there is no kind `{}`", kind.value);
                section.mistake(&kind.span, message, "openai (every server that speaks chat completions)");
            }
            None if known.is_none() => {
                section.mistake(
                    section.span(),
                    format!("provider `{}` has no kind", name.value),
                    "add kind = \"openai\"",
                );
            }
            Some(_) | None => {}
        }
        let mut provider = known.unwrap_or_else(|| Provider {
            kind: ProviderKind::Openai,
            base_url: String::new(),
            key_env: None,
            key: None,
            headers: BTreeMap::new(),
        });
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
        self.configured.settings.providers.insert(name.value.clone(), provider);
    }

    fn key(&mut self, section: &Section, place: &str, provider: &mut Provider) {
        let (variable, file) = (section.text("key_env"), section.text("key_file"));
        if let (Some(_), Some(file)) = (&variable, &file) {
            section.mistake(&file.span, "key_env and key_file are both given", "keep one of them");
            return;
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
        section.allow(&["price", "context_tokens", "max_output_tokens"]);
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
        self.configured.settings.models.insert(name.value.clone(), info);
    }

    fn limits(&mut self, section: &Section) {
        section.allow(&["tool_output_bytes", "shell_seconds", "idle_seconds", "retries", "parallel_tools"]);
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
