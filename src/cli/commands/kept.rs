//! `output`: the whole of an output of which an agent saw only a part, by the reference it was given.

use crate::cli::app::{App, Purpose};
use crate::cli::fault::{Exit, Fault};
use crate::domain::{Answer, BlobSlice, Query, sanitise};
use base64::Engine;
use std::io::IsTerminal;

/// How much is asked for at once.
const SLICE: u32 = 1024 * 1024;

#[derive(Debug, clap::Args)]
pub struct OutputArgs {
    /// The reference, such as output:3f2a…
    #[arg(value_name = "REF")]
    pub reference: String,
}

/// Prints it: on a terminal made safe, elsewhere byte for byte.
pub async fn run(app: &App, args: OutputArgs) -> Result<Exit, Fault> {
    let blob = args.reference.strip_prefix("output:").unwrap_or(&args.reference).to_owned();
    if blob.len() != 64 || !blob.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(Fault::usage(
            format!("`{}` is not a reference", args.reference),
            "it looks like output:3f2a…, as in `ref`",
        ));
    }
    let mut session = app.session(Purpose::Look).await?;
    let safe = std::io::stdout().is_terminal();
    let mut whole = Vec::new();
    let mut offset = 0;
    loop {
        let query = Query::Blob { blob: blob.clone(), offset, limit: SLICE };
        let Answer::Blob(BlobSlice { size, base64 }) = session.ask(query).await? else {
            return Err(Fault::bug("a part of an output was answered with something else"));
        };
        let bytes = base64::engine::general_purpose::STANDARD
            .decode(base64)
            .map_err(|error| Fault::bug(format!("the host sent broken base64: {error}")))?;
        offset += bytes.len() as u64;
        let end = bytes.is_empty() || offset >= size;
        if safe {
            whole.extend(bytes);
        } else {
            app.out.bytes(&bytes)?;
        }
        if end {
            break;
        }
    }
    if safe {
        app.out.piece(&sanitise::output(&String::from_utf8_lossy(&whole)))?;
    }
    Ok(Exit::Done)
}
