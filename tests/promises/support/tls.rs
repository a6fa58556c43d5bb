//! The scripted model behind TLS, with a certificate of an authority that no system knows.
//!
//! It holds the requests of one client after the other: each is read whole, passed on, and its
//! answer passed back. Certificate and key are for this alone; they are valid until 2120.

use super::model_server::ModelServer;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;

/// The certificate of the authority, to be trusted.
pub fn authority() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/promises/support/tls/authority.pem")
}

/// Listens with TLS in front of a scripted model; gives the base URL.
pub fn in_front_of(server: &ModelServer) -> String {
    let certificate = CertificateDer::from(include_bytes!("tls/server.der").to_vec());
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(include_bytes!("tls/server.key.der").to_vec()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions of TLS")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .expect("a certificate with its key");
    let config = Arc::new(config);
    let behind = server.url().trim_start_matches("http://").trim_end_matches("/v1").to_owned();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port on loopback");
    let base = format!("https://localhost:{}/v1", listener.local_addr().expect("an address").port());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A client that refuses the certificate is no fault of the server's.
            let _ = serve(stream, config.clone(), &behind);
        }
    });
    base
}

fn serve(stream: TcpStream, config: Arc<ServerConfig>, behind: &str) -> std::io::Result<()> {
    let connection = ServerConnection::new(config).map_err(std::io::Error::other)?;
    let mut client = StreamOwned::new(connection, stream);
    let request = read_request(&mut client)?;
    let mut server = TcpStream::connect(behind)?;
    server.write_all(&request)?;
    let mut answer = Vec::new();
    let mut buffer = [0; 4096];
    // The scripted model answers in chunks; the empty one is the end.
    while !answer.ends_with(b"0\r\n\r\n") {
        match server.read(&mut buffer)? {
            0 => break,
            read => {
                answer.extend_from_slice(&buffer[..read]);
                client.write_all(&buffer[..read])?;
            }
        }
    }
    client.conn.send_close_notify();
    client.flush()
}

fn read_request(client: &mut impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, _)) = text.split_once("\r\n\r\n") {
            let head_length = head.len() + 4;
            let head = head.to_ascii_lowercase();
            let length = head.split("content-length: ").nth(1).and_then(|rest| rest.split("\r\n").next()?.parse().ok());
            if bytes.len() >= head_length + length.unwrap_or(0) {
                return Ok(bytes);
            }
        }
        match client.read(&mut buffer)? {
            0 => return Err(std::io::ErrorKind::UnexpectedEof.into()),
            read => bytes.extend_from_slice(&buffer[..read]),
        }
    }
}
