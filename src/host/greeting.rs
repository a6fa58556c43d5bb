//! The first exchange on a connection: who comes, in which version, and whether that fits.
//!
//! A client of another version is refused, but may still end the host: that is how a person
//! replaces a host that was left running by an older program.

use super::hub::Hub;
use super::line::{self, LineError, Lines};
use super::protocol::{FromHost, MAX_LINE, PROTOCOL, ToHost, VERSION};
use crate::domain::{ClientId, Settings};
use serde::Deserialize;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, ReadHalf, WriteHalf};

/// Why a connection did not come about.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unwelcome {
    /// It ended before it began.
    #[error("the client left before it said hello")]
    Gone,
    /// What came was no hello.
    #[error("the first line must be a hello: {0}")]
    NoHello(#[from] LineError),
    /// The client is of another version.
    #[error(
        "this is cowork {version} (protocol {protocol}), and the host that runs is cowork {VERSION} (protocol \
         {PROTOCOL}); end it with `cowork host stop` (nothing is lost, work goes on with the next one), then try again"
    )]
    OtherVersion { protocol: u32, version: String },
}

/// What the hello of any version has.
#[derive(Deserialize)]
struct AnyHello {
    protocol: u32,
    #[serde(default)]
    version: String,
}

/// The last line to a client, with the reason.
pub(super) fn farewell(reason: impl Into<String>) -> FromHost {
    FromHost::Refused { protocol: PROTOCOL, version: VERSION.into(), reason: reason.into() }
}

/// Reads the hello and answers it.
pub(super) async fn greet<S: AsyncRead + AsyncWrite>(
    hub: &Hub,
    lines: &mut Lines<ReadHalf<S>>,
    writer: &mut WriteHalf<S>,
) -> Result<ClientId, Unwelcome> {
    match read_hello(lines).await {
        Ok((client, settings)) => {
            if let Some(settings) = settings {
                hub.coordinator.set_settings(*settings);
            }
            let welcome = FromHost::Welcome {
                protocol: PROTOCOL,
                version: VERSION.into(),
                seq: hub.coordinator.seq(),
                fence: hub.coordinator.fence(),
                pid: std::process::id(),
            };
            say(writer, &welcome).await?;
            Ok(client)
        }
        Err(unwelcome) => {
            say(writer, &farewell(unwelcome.to_string())).await?;
            if let Unwelcome::OtherVersion { .. } = &unwelcome
                && let Some(ToHost::StopHost { request }) = lines.next().await?
            {
                say(writer, &FromHost::Done { request }).await?;
                hub.stop();
            }
            Err(unwelcome)
        }
    }
}

async fn read_hello<S: AsyncRead>(
    lines: &mut Lines<ReadHalf<S>>,
) -> Result<(ClientId, Option<Box<Settings>>), Unwelcome> {
    let line = lines.next_line().await?.ok_or(Unwelcome::Gone)?;
    let AnyHello { protocol, version } = serde_json::from_slice(&line).map_err(LineError::from)?;
    if protocol != PROTOCOL || version != VERSION {
        return Err(Unwelcome::OtherVersion { protocol, version });
    }
    match serde_json::from_slice(&line).map_err(LineError::from)? {
        ToHost::Hello { client, settings, .. } => Ok((client, settings)),
        ToHost::Command { .. }
        | ToHost::Ask { .. }
        | ToHost::Subscribe { .. }
        | ToHost::KeepDraft { .. }
        | ToHost::StopHost { .. } => Err(Unwelcome::Gone),
    }
}

async fn say<S: AsyncWrite>(writer: &mut WriteHalf<S>, message: &FromHost) -> Result<(), LineError> {
    let mut out = Vec::new();
    line::append(&mut out, message, MAX_LINE)?;
    Ok(writer.write_all(&out).await?)
}
