//! A planned change of one file's content: looked at, shown, and made only if the file still is
//! what was looked at.
//!
//! `write` and `edit` say what the new content is; everything else is here. The hashes of before
//! and after go into the plan, so that after a crash [`probe`] can tell whether it was made.

use super::paths::{self, Located};
use super::replace::{Expected, NotReplaced, replace, sweep};
use super::{BadCall, Outcome, Plan, ToolContext, content, diff, off_thread};
use crate::domain::permission::{Access, hex};
use futures_util::future::BoxFuture;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// What stands for the hash of a file that is not there.
const ABSENT: &str = "-";

/// The largest file that is held in memory, in bytes.
const MOST_HELD: u64 = 32_000_000;

/// How much of a diff a person is shown, and how much of one the model, in bytes.
const MOST_DETAIL: usize = 16_000;
const MOST_RESULT: usize = 4_000;

/// What a file holds now.
pub(super) struct Before {
    /// Where.
    pub(super) located: Located,
    /// Its content; `None` when there is no file.
    pub(super) bytes: Option<Vec<u8>>,
    /// Under how many names it is there.
    links: u64,
}

/// Looks at the file a call wants to change. Touches nothing.
pub(super) fn look(ctx: &ToolContext, path: &str) -> Result<Before, BadCall> {
    let located = paths::locate(ctx, path)?;
    let shown = paths::shown(ctx, &located.path);
    if path.ends_with('/') {
        return Err(BadCall(format!("{shown} is named as a folder; give the path of a file")));
    }
    let found = match std::fs::metadata(&located.path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Before { located, bytes: None, links: 0 }),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(BadCall(format!("{shown} can't be there: a part of its path is a file, not a folder")));
        }
        Err(error) => return Err(BadCall(format!("{shown} can't be looked at: {error}"))),
    };
    if found.is_dir() {
        return Err(BadCall(format!("{shown} is a folder, not a file")));
    }
    if !found.is_file() {
        return Err(BadCall(format!("{shown} is not a file (a pipe, socket or device)")));
    }
    // Replacing a file asks the folder alone, and would pass over the file's own protection.
    if rustix::fs::access(&located.path, rustix::fs::Access::WRITE_OK).is_err() {
        return Err(BadCall(format!("{shown} is read-only; ask the user before changing its mode")));
    }
    if found.len() > MOST_HELD {
        return Err(BadCall(format!("{shown} has {} bytes, too many to change here; use a command", found.len())));
    }
    let bytes = std::fs::read(&located.path).map_err(|error| BadCall(format!("{shown} can't be read: {error}")))?;
    Ok(Before { located, bytes: Some(bytes), links: found.nlink() })
}

/// Plans to make `after` the content. `done` says what that was, in the past tense.
pub(super) fn plan(ctx: &ToolContext, tool: &'static str, before: Before, after: Vec<u8>, done: String) -> Plan {
    let Before { located, bytes, links } = before;
    let others = if links > 1 { "(other hard links to it keep the old content)\n" } else { "" };
    let pre_hash = bytes.as_deref().map_or_else(|| ABSENT.to_owned(), hash);
    let post_hash = hash(&after);
    let old = bytes.unwrap_or_default();
    // The approval of an action holds a hash of what is shown; with this line in it, it holds the
    // whole content, also where the diff is cut.
    let shown = diff::unified(&old, &after, MOST_DETAIL);
    let detail = format!("{shown}{others}(makes it {} bytes, SHA-256 {post_hash})\n", after.len());
    let done = format!("{done}\n{others}");
    let action = located.action(ctx, tool, Access::Write, detail);
    let target = located.path.clone();
    let (expected, next) = (pre_hash.clone(), post_hash.clone());
    let run = Box::new(move |ctx: ToolContext| -> BoxFuture<'static, Outcome> {
        Box::pin(async move {
            if ctx.cancel.is_cancelled() {
                return Outcome::cancelled("stopped before anything was written");
            }
            off_thread(ctx, move |ctx| make(ctx, &located, &old, &after, &expected, &next, &done)).await
        })
    });
    Plan {
        action,
        pre_hash: Some(pre_hash),
        post_hash: Some(post_hash),
        target: Some(target),
        again: super::Again::Probe,
        run,
    }
}

fn make(
    ctx: &ToolContext,
    located: &Located,
    old: &[u8],
    after: &[u8],
    expected: &str,
    next: &str,
    done: &str,
) -> Outcome {
    let shown = paths::shown(ctx, &located.path);
    if let Err(moved) = located.recheck() {
        return Outcome::error(moved);
    }
    match hash_of(&located.path) {
        Ok(now) if now == *expected => {}
        Ok(_) => return Outcome::error(overtaken(&shown, &located.path, old)),
        Err(error) => return Outcome::error(format!("{shown} can't be read: {error}. Nothing was changed")),
    }
    if expected == next {
        return Outcome::done(format!("{shown} holds exactly this already; nothing was changed"));
    }
    let is_same = || Ok(hash_of(&located.path)? == expected);
    let expected = if expected == ABSENT { Expected::Nothing } else { Expected::File(&is_same) };
    match replace(&located.path, after, expected) {
        Ok(()) => Outcome::done(format!("{shown}: {done}{}", diff::unified(old, after, MOST_RESULT))),
        Err(NotReplaced::Overtaken | NotReplaced::Displaced(_)) => {
            Outcome::error(overtaken(&shown, &located.path, old))
        }
        Err(NotReplaced::Failed(words)) => Outcome::error(words),
    }
}

/// Tells the second writer what the first one did.
fn overtaken(shown: &str, path: &Path, old: &[u8]) -> String {
    let changed = format!("{shown} was changed by someone else since you looked at it. Nothing was written.");
    match std::fs::read(path) {
        Ok(now) if matches!(content::kind(&now[..now.len().min(content::SNIFF)]), content::Kind::Text) => {
            let changes = diff::unified(old, &now, MOST_RESULT);
            format!("{changed} What they changed (lines with + and without a sign are there now):\n{changes}")
        }
        Ok(_) => format!("{changed} It is no text any more."),
        Err(error) if error.kind() == io::ErrorKind::NotFound => format!("{changed} It is gone now."),
        Err(error) => format!("{changed} It can't be read now: {error}"),
    }
}

/// Refuses to replace a file that somebody changed since the agent last saw it, and shows what it
/// holds now.
pub(super) fn still_as_seen(ctx: &ToolContext, before: &Before) -> Result<(), BadCall> {
    let (Some(bytes), Some(seen)) = (&before.bytes, ctx.seen.get(&before.located.path)) else { return Ok(()) };
    if hash(bytes) == *seen {
        return Ok(());
    }
    let shown = paths::shown(ctx, &before.located.path);
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(MOST_RESULT)]);
    Err(BadCall(format!(
        "{shown} was changed by somebody else since you last saw it, and was not replaced. Merge what you want into \
         what it holds now (read it for the rest), or edit it:\n{text}"
    )))
}

/// The hash of a file that is read, so that a later change of it is noticed; none for what is no
/// file or too large to be replaced whole.
pub(super) fn seen_hash(path: &Path) -> Option<String> {
    let found = std::fs::metadata(path).ok()?;
    (found.is_file() && found.len() <= MOST_HELD).then(|| hash_of(path).ok()).flatten()
}

/// Whether an interrupted change was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Probe {
    /// The new content is there.
    Done,
    /// The old content is there: it can be run again.
    NotDone,
    /// Neither is there, or it can't be read.
    Unknown,
}

/// Looks whether an interrupted change of `target` was made, and takes away what it left beside it.
/// What was never recorded is unknown.
pub fn probe(target: Option<&Path>, pre_hash: Option<&str>, post_hash: Option<&str>) -> Probe {
    let (Some(target), Some(pre_hash), Some(post_hash)) = (target, pre_hash, post_hash) else {
        return Probe::Unknown;
    };
    sweep(target, post_hash);
    match hash_of(target) {
        Ok(now) if now == post_hash => Probe::Done,
        Ok(now) if now == pre_hash => Probe::NotDone,
        Ok(_) | Err(_) => Probe::Unknown,
    }
}

/// The file that a call of `write` or `edit` changes, for a call that can't be planned again
/// because it may have been made already.
pub fn target(arguments: &Value, ctx: &ToolContext) -> Option<PathBuf> {
    let path = arguments.get("path")?.as_str()?;
    paths::locate(ctx, path).ok().map(|located| located.path)
}

pub(super) fn hash(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hash_of(path: &Path) -> io::Result<String> {
    let mut file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(ABSENT.to_owned()),
        Err(error) => return Err(error),
    };
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 65_536];
    loop {
        match io::Read::read(&mut file, &mut buffer)? {
            0 => return Ok(hex(&digest.finalize())),
            count => digest.update(&buffer[..count]),
        }
    }
}
