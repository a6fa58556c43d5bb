//! What a host that was just started says to the client that started it, over its standard output.
//!
//! One word when it listens or when another one owns the state; anything else before the end of
//! the output is the reason why it did not start, whoever printed it.

use std::io::Write;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader};

const LISTENING: &str = "ready";
const BUSY: &str = "busy";

/// How much of its last words is kept.
const LONGEST: u64 = 64 * 1024;

/// Who waits for this host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ready {
    /// A client reads our standard output; once we listen, nothing more comes there.
    Starter,
    /// A person started the host by hand.
    Nobody,
}

impl Ready {
    /// Says that clients can come, and lets go of the starter's pipe.
    pub fn listening(self) {
        self.say(LISTENING);
    }

    /// Says that another host owns the state.
    pub fn busy(self) {
        self.say(BUSY);
    }

    fn say(self, word: &str) {
        match self {
            Self::Nobody => {}
            Self::Starter => {
                let mut out = std::io::stdout();
                // The starter may be gone; somebody else will come.
                let _ = writeln!(out, "{word}").and_then(|()| out.flush());
                if let Ok(nowhere) = std::fs::OpenOptions::new().write(true).open("/dev/null") {
                    let _ = rustix::stdio::dup2_stdout(&nowhere);
                    let _ = rustix::stdio::dup2_stderr(&nowhere);
                }
            }
        }
    }
}

/// What became of a host that was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It listens.
    Listening,
    /// Another host owns the state.
    Busy,
    /// It ended; its last words.
    Ended(String),
}

/// Reads what a started host says until that is clear.
pub(super) async fn outcome(says: impl AsyncRead + Unpin) -> Outcome {
    let mut lines = BufReader::new(says.take(LONGEST)).split(b'\n');
    let mut words = String::new();
    while let Ok(Some(line)) = lines.next_segment().await {
        match String::from_utf8_lossy(&line).as_ref() {
            LISTENING => return Outcome::Listening,
            BUSY => return Outcome::Busy,
            line => words.extend([line, "\n"]),
        }
    }
    let words = words.trim();
    // The program marks its errors for a terminal; here they become part of a sentence.
    Outcome::Ended(words.strip_prefix("error: ").unwrap_or(words).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_words_of_a_started_host_are_understood() {
        assert_eq!(outcome(&b"ready\n"[..]).await, Outcome::Listening);
        assert_eq!(outcome(&b"a warning\nready\n"[..]).await, Outcome::Listening);
        assert_eq!(outcome(&b"busy\n"[..]).await, Outcome::Busy);
        let words = "the database is damaged\nrun `cowork doctor`";
        assert_eq!(outcome(format!("error: {words}\n").as_bytes()).await, Outcome::Ended(words.into()));
        assert_eq!(outcome(&b""[..]).await, Outcome::Ended(String::new()));
    }
}
