//! A line between two machines, in small: passes bytes between a client and a port, until it is
//! frozen or broken.

use super::watch::Watch;
use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// A line that listens on a port of its own.
pub struct Wire {
    port: u16,
    shared: Arc<Watch<State>>,
}

#[derive(Default)]
struct State {
    frozen: bool,
    /// How often everything was broken off.
    resets: u32,
    ends: Vec<TcpStream>,
}

impl Wire {
    /// Leads to this port of this machine.
    pub fn to(port: u16) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let ours = listener.local_addr().expect("its number").port();
        let shared = Arc::new(Watch::new(State::default()));
        let state = Arc::clone(&shared);
        std::thread::spawn(move || {
            for near in listener.incoming().flatten() {
                let Ok(far) = TcpStream::connect(SocketAddr::from(([127, 0, 0, 1], port))) else { continue };
                let ends = [&near, &far].map(|end| end.try_clone().expect("a second handle"));
                state.change(|state| state.ends.extend(ends));
                for (from, to) in [(&near, &far), (&far, &near)] {
                    let (from, to) = (from.try_clone().expect("a handle"), to.try_clone().expect("a handle"));
                    let state = Arc::clone(&state);
                    std::thread::spawn(move || pass(from, to, &state));
                }
            }
        });
        Self { port: ours, shared }
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Passes nothing on, as a link that hangs; both ends still believe in it.
    pub fn freeze(&self) {
        self.shared.change(|state| state.frozen = true);
    }

    /// Passes everything on again.
    pub fn thaw(&self) {
        self.shared.change(|state| state.frozen = false);
    }

    /// Breaks every connection off with a TCP reset.
    pub fn reset(&self) {
        self.shared.change(|state| {
            for end in state.ends.drain(..) {
                // Closing without lingering is a reset; the readers let go of their handles first.
                let _ = rustix::net::sockopt::set_socket_linger(&end, Some(Duration::ZERO));
                let _ = end.shutdown(Shutdown::Read);
            }
            state.frozen = false;
            state.resets += 1;
        });
    }
}

fn pass(mut from: TcpStream, mut to: TcpStream, shared: &Watch<State>) {
    let mut buffer = vec![0; 64 * 1024];
    let before = shared.look().resets;
    loop {
        let read = from.read(&mut buffer).unwrap_or(0);
        let thawed = shared.wait(Duration::from_secs(600), |state| !state.frozen).is_ok();
        if shared.look().resets != before {
            return; // The last handle that is closed resets the connection.
        }
        if read == 0 || !thawed || to.write_all(&buffer[..read]).is_err() {
            let _ = to.shutdown(Shutdown::Write);
            return;
        }
    }
}
