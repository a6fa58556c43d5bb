//! The host's end of one connection, from its first line to its last.
//!
//! What a client does not read makes the client wait, never the host's memory grow.

use super::desk::Desk;
use super::greeting::{farewell, greet};
use super::hub::Hub;
use super::line::{self, Lines};
use super::outbox::{Outgoing, outbox};
use super::protocol::MAX_REQUEST;
use crate::domain::ClientId;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadHalf, WriteHalf};
use tokio::time::timeout;

/// At this many bytes what is to be sent is written.
const BATCH: usize = 64 * 1024;

/// How long a new connection may take to say hello.
const GREETING: Duration = Duration::from_secs(10);

/// How long answers on their way may take to leave when a connection ends.
const PARTING: Duration = Duration::from_secs(1);

/// Serves one connection until the client leaves or the host ends. It closes when what comes back
/// is dropped, so that a host can let its clients see its end when it really has ended.
pub(super) async fn attend<S>(hub: Arc<Hub>, stream: S) -> Option<WriteHalf<S>>
where
    S: AsyncRead + AsyncWrite + Send + 'static,
{
    let _attached = hub.attach();
    let (reader, mut writer) = tokio::io::split(stream);
    let mut lines = Lines::new(reader, MAX_REQUEST);
    let greeting = tokio::select! {
        greeting = timeout(GREETING, greet(&hub, &mut lines, &mut writer)) => greeting,
        () = hub.stopping() => return Some(writer),
    };
    match greeting {
        Ok(Ok(client)) => {
            tracing::info!(%client, "a client came");
            let writer = serve(&hub, client.clone(), lines, writer).await;
            tracing::info!(%client, "a client left");
            writer
        }
        Ok(Err(unwelcome)) => {
            tracing::warn!(reason = %unwelcome, "a connection did not come about");
            Some(writer)
        }
        Err(_) => None,
    }
}

async fn serve<S>(
    hub: &Arc<Hub>,
    client: ClientId,
    mut lines: Lines<ReadHalf<S>>,
    writer: WriteHalf<S>,
) -> Option<WriteHalf<S>>
where
    S: AsyncRead + AsyncWrite + Send + 'static,
{
    let (outbox, outgoing) = outbox();
    let mut writing = tokio::spawn(write(writer, outgoing));
    let mut desk = Desk::new(hub.clone(), client, outbox.clone());
    let reason = tokio::select! {
        reason = desk.take_all(&mut lines) => reason,
        () = hub.stopping() => None,
        () = outbox.closed() => None,
    };
    let parting = async {
        desk.close().await;
        if let Some(reason) = reason {
            tracing::warn!(reason, "a client is sent away");
            let _ = outbox.send(farewell(reason)).await; // It may be gone.
        }
        drop(outbox);
        (&mut writing).await.ok()
    };
    let parted = timeout(PARTING, parting).await;
    if parted.is_err() {
        writing.abort();
    }
    parted.ok().flatten()
}

/// Writes what is sent to a client, until nothing more is or the client is gone.
async fn write<S: AsyncWrite>(mut to: WriteHalf<S>, mut outgoing: Outgoing) -> WriteHalf<S> {
    let mut out = Vec::new();
    while let Some(line) = outgoing.next().await {
        out.extend_from_slice(&line);
        // What waits already goes out together.
        while out.len() < BATCH
            && let Some(line) = outgoing.try_next()
        {
            out.extend_from_slice(&line);
        }
        if to.write_all(&out).await.is_err() {
            break;
        }
        line::reuse(&mut out);
    }
    to
}
