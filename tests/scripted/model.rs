//! The scripted model of `docs/a-real-run.md`, to be started by a reader: a server on loopback that
//! speaks chat completions, follows its script and is no AI.
//!
//! ```text
//! cargo run --example scripted_model            # on port 4141, or the one that is named
//! ```

#![allow(dead_code)]

/// The server that the tests use, and the script.
#[path = "../promises/support"]
mod support {
    pub mod calls;
    pub mod latch;
    pub mod model_server;
    pub mod reply;
    pub mod request;
    pub mod story;
    pub mod watch;
}

use std::process::ExitCode;
use support::model_server::ModelServer;

fn main() -> ExitCode {
    let port = std::env::args().nth(1).map_or(Ok(4141), |word| word.parse());
    let Ok(port) = port else {
        eprintln!("usage: scripted_model [PORT]");
        return ExitCode::from(2);
    };
    let server = ModelServer::at(port);
    server.otherwise(support::story::answer);
    println!("the scripted model listens; for `cowork`:\n");
    println!("  export OPENAI_BASE_URL={} COWORK_MODEL=openai:scripted\n", server.url());
    loop {
        std::thread::park();
    }
}
