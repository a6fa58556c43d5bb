//! Model servers on this machine, found at the ports they usually listen on.
//!
//! Looked for only when a person asks which models there are, never at start; nothing is sent but
//! the question for the list of models, and nothing but such a list counts as an answer.

use super::{Reach, reach};
use crate::domain::settings::{Provider, ProviderKind};
use futures_util::future::join_all;
use std::time::Duration;

/// How long a server on this machine may take to say that it is there.
const PATIENCE: Duration = Duration::from_millis(700);

/// The servers people run, by the name a provider of them gets, and their usual port.
const USUAL: [(&str, u16); 4] = [("ollama", 11434), ("lmstudio", 1234), ("llamacpp", 8080), ("vllm", 8000)];

/// A server that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// What it is by its port.
    pub name: &'static str,
    /// Its address, to be configured.
    pub base_url: String,
    /// What it has.
    pub models: Vec<String>,
}

/// Looks for servers that are not among those addresses.
pub async fn find_local(configured: &[&str]) -> Vec<Found> {
    find_at(&USUAL, configured).await
}

async fn find_at(places: &[(&'static str, u16)], configured: &[&str]) -> Vec<Found> {
    let is_known = |port: u16| {
        let hosts = ["127.0.0.1", "localhost", "[::1]"];
        let known = |url: &&str| hosts.iter().any(|host| url.starts_with(&format!("http://{host}:{port}")));
        configured.iter().any(known)
    };
    let places = places.iter().filter(|(_, port)| !is_known(*port));
    let asked = places.map(|(name, port)| async move {
        let base_url = format!("http://127.0.0.1:{port}/v1");
        let provider = Provider::new(ProviderKind::Openai, base_url.as_str());
        match tokio::time::timeout(PATIENCE, reach(name, &provider)).await {
            Ok(Reach::Ok { models }) => Some(Found { name, base_url, models }),
            Ok(Reach::NoKey { .. } | Reach::Unreachable { .. }) | Err(_) => None,
        }
    });
    join_all(asked).await.into_iter().flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};
    use std::net::TcpListener;

    /// A server that answers each request with this body; its port.
    fn server(body: &'static str) -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let _ = stream.read(&mut [0; 2048]);
                let length = body.len();
                let _ =
                    write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}");
            }
        });
        port
    }

    #[tokio::test]
    async fn a_model_server_is_found_and_other_servers_and_closed_ports_are_not() {
        let models = server(r#"{"object":"list","data":[{"id":"qwen3:4b"}]}"#);
        let web = server("<html>hello</html>");
        let silent = TcpListener::bind("127.0.0.1:0").expect("a port");
        let silent_port = silent.local_addr().expect("an address").port();
        let closed = TcpListener::bind("127.0.0.1:0").and_then(|one| one.local_addr()).expect("a port").port();
        let places = [("ollama", models), ("vllm", web), ("lmstudio", silent_port), ("llamacpp", closed)];
        let base_url = format!("http://127.0.0.1:{models}/v1");
        let expected = Found { name: "ollama", base_url: base_url.clone(), models: vec!["qwen3:4b".into()] };
        assert_eq!(find_at(&places, &["https://api.openai.com/v1"]).await, [expected]);
        assert_eq!(find_at(&places, &[&base_url]).await, [], "what is configured is not offered again");
    }
}
