//! Asks a server whether it is there and which models it has.

use super::http::client_for;
use super::server::Server;
use super::wire::Wire;
use super::{ErrorClass, Reach};
use crate::domain::settings::Provider;
use serde_json::Value;
use std::time::Duration;

/// How long a server may take to say what it has.
const PATIENCE: Duration = Duration::from_secs(8);

/// Tries `GET {base}/models`.
pub(super) async fn reach(name: &str, wire: Wire, provider: &Provider) -> Reach {
    let server = match Server::new(name, wire, provider) {
        Ok(server) => server,
        Err(error) if error.class == ErrorClass::Auth => return Reach::NoKey { why: error.message },
        Err(error) => return Reach::Unreachable { why: error.message },
    };
    let request = client_for(&server.base).get(server.endpoint(&["models"])).headers(server.headers.clone());
    let response = match request.timeout(PATIENCE).send().await {
        Ok(response) => response,
        Err(error) => return Reach::Unreachable { why: server.unreachable("", &error, false).message },
    };
    let status = response.status();
    let headers = response.headers().clone();
    let body = match response.text().await {
        Ok(body) => body,
        Err(error) => return Reach::Unreachable { why: server.unreachable("", &error, true).message },
    };
    if !status.is_success() {
        let error = server.refused("", status, &headers, &body);
        return match (error.class, &server.key) {
            (ErrorClass::Auth, None) => Reach::NoKey { why: error.message },
            _ => Reach::Unreachable { why: error.message },
        };
    }
    match serde_json::from_str::<Value>(&body).ok().and_then(|value| models(&value)) {
        Some(models) => Reach::Ok { models },
        None => Reach::Unreachable {
            why: server
                .failure(ErrorClass::Config, &format!("{name} answers, but not with a list of models"), "")
                .message,
        },
    }
}

/// Reads the list in the forms there are: `{"data": […]}`, `{"models": […]}`, a bare list.
fn models(value: &Value) -> Option<Vec<String>> {
    let list = value["data"].as_array().or_else(|| value["models"].as_array()).or_else(|| value.as_array())?;
    let name = |model: &Value| {
        let fields = [&model["id"], &model["name"], &model["model"], model];
        fields.into_iter().find_map(Value::as_str).map(|name| name.trim_start_matches("models/").to_owned())
    };
    let mut models: Vec<String> = list.iter().filter_map(name).collect();
    models.sort();
    models.dedup();
    Some(models)
}
