//! A web server with pages of the test's choosing, for tools that reach the network.

use super::watch::{PATIENCE, Watch};
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;

/// The server; it lives as long as the test.
pub struct Pages {
    address: SocketAddr,
    asked: Arc<Watch<usize>>,
}

impl Pages {
    /// Answers every path with a page that names it, once so many were asked for at the same time.
    pub fn together(number: usize) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port on loopback");
        let address = listener.local_addr().expect("the port's address");
        let asked = Arc::new(Watch::new(0));
        let counting = Arc::clone(&asked);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let counting = Arc::clone(&counting);
                std::thread::spawn(move || serve(stream, &counting, number));
            }
        });
        Self { address, asked }
    }

    /// The address of a page.
    pub fn url(&self, name: &str) -> String {
        format!("http://{}/{name}", self.address)
    }

    /// How many pages were asked for.
    pub fn asked(&self) -> usize {
        *self.asked.look()
    }
}

fn serve(stream: TcpStream, asked: &Watch<usize>, number: usize) {
    let mut reader = BufReader::new(stream);
    let mut first = String::new();
    if reader.read_line(&mut first).is_err() {
        return;
    }
    let mut line = first.clone();
    while line.trim_end() != "" {
        line.clear();
        if reader.read_line(&mut line).unwrap_or(0) == 0 {
            return;
        }
    }
    asked.change(|asked| *asked += 1);
    let came_together = asked.wait(PATIENCE / 2, |asked| *asked >= number).is_ok();
    let name = first.split(['/', ' ']).nth(2).unwrap_or_default().to_owned();
    let page = if came_together {
        format!("<html><head><title>page {name}</title></head><body><p>This is page {name}.</p></body></html>")
    } else {
        "<html><body><p>nobody came with you</p></body></html>".to_owned()
    };
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        page.len()
    );
    let _ = reader.get_mut().write_all(format!("{head}{page}").as_bytes());
}
