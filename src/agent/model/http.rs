//! The one HTTP client that models and pages are asked with.

use std::sync::OnceLock;
use std::time::Duration;

/// How long the making of a connection may take.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Chooses the cryptography of TLS for the whole process; more than once does no harm.
pub fn install_crypto() {
    // Refused only where one was chosen before, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

/// The client for hosts elsewhere: it goes through the system's proxy, trusts the system's
/// certificates (`SSL_CERT_FILE`, `SSL_CERT_DIR`), and follows no redirect, because a request may
/// carry a key.
pub fn http_client() -> reqwest::Client {
    static CLIENT: OnceLock<reqwest::Client> = OnceLock::new();
    CLIENT.get_or_init(|| build(|builder| builder)).clone()
}

/// The client for a base address: a host on this machine is never asked through a proxy.
pub(super) fn client_for(url: &reqwest::Url) -> reqwest::Client {
    static DIRECT: OnceLock<reqwest::Client> = OnceLock::new();
    match is_loopback(url) {
        true => DIRECT.get_or_init(|| build(reqwest::ClientBuilder::no_proxy)).clone(),
        false => http_client(),
    }
}

/// Whether an address is on this machine.
fn is_loopback(url: &reqwest::Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<std::net::IpAddr>();
    host == "localhost" || host.ends_with(".localhost") || address.is_ok_and(|address| address.is_loopback())
}

fn build(set_up: impl Fn(reqwest::ClientBuilder) -> reqwest::ClientBuilder) -> reqwest::Client {
    install_crypto();
    let builder = || {
        set_up(reqwest::Client::builder())
            .user_agent(concat!("cowork/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_TIMEOUT)
            .tcp_keepalive(Duration::from_secs(30))
            .redirect(reqwest::redirect::Policy::none())
    };
    // A machine without any certificate can still speak with a server of its own over plain HTTP;
    // TLS then fails when it is used, with a message of its own.
    let client = builder().build().or_else(|_| builder().tls_certs_only([]).build());
    client.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_on_this_machine_are_known_by_name_and_by_number() {
        let is = |url: &str| is_loopback(&url.parse().expect("a URL"));
        assert!(is("http://127.0.0.1:8080/v1") && is("http://[::1]:1/") && is("http://localhost:11434"));
        assert!(!is("https://example.com/v1") && !is("http://10.0.0.1/") && !is("http://localhost.example.com/"));
    }
}
