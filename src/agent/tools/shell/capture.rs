//! What a command prints: its beginning and its end in memory, the whole in a temporary file once
//! it is long, and what is new for those who watch.

use super::super::ToolContext;
use super::super::output::{self, Whole};
use std::io::{self, Seek};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::time::Instant;

/// How much of the beginning, and how much of the end, is held in memory, in bytes.
const HELD: usize = 256 << 10;

/// The most that is kept of one output, in bytes.
const MOST_KEPT: u64 = 256 << 20;

/// The output of one command.
pub(super) struct Capture {
    head: Vec<u8>,
    /// What came after the head; its end, once `dropped`.
    tail: Vec<u8>,
    dropped: bool,
    whole: Whole,
    file: Spool,
}

/// The file that holds all of a long output.
enum Spool {
    /// The output is short so far.
    No,
    /// It is being written.
    Open(tokio::fs::File, u64),
    /// It can't be.
    Failed(io::Error),
}

impl Capture {
    pub(super) fn new() -> Self {
        let whole = Whole { bytes: 0, lines: 0 };
        Self { head: Vec::new(), tail: Vec::new(), dropped: false, whole, file: Spool::No }
    }

    /// Takes the next piece.
    pub(super) async fn push(&mut self, ctx: &ToolContext, chunk: &[u8]) {
        self.whole.bytes += chunk.len() as u64;
        self.whole.lines += output::count_lines(chunk);
        let (head, rest) = chunk.split_at(chunk.len().min(HELD - self.head.len()));
        self.head.extend_from_slice(head);
        if rest.is_empty() {
            return;
        }
        self.tail.extend_from_slice(rest);
        if self.tail.len() > 2 * HELD {
            self.tail.drain(..self.tail.len() - HELD);
            self.dropped = true;
        }
        if matches!(self.file, Spool::No) {
            self.file = open(ctx, &self.head).await.unwrap_or_else(Spool::Failed);
        }
        if let Spool::Open(file, kept) = &mut self.file {
            let part = &rest[..rest.len().min(MOST_KEPT.saturating_sub(*kept) as usize)];
            *kept += part.len() as u64;
            if let Err(error) = file.write_all(part).await {
                self.file = Spool::Failed(error);
            }
        }
    }

    /// Makes of it what the model sees, and keeps the whole where that is not all.
    pub(super) async fn told(mut self, ctx: &ToolContext) -> String {
        let limit = ctx.limits.tool_output_bytes;
        if !self.dropped {
            self.head.append(&mut self.tail);
            let text = output::clean(&self.head);
            if text.len() <= limit {
                return text;
            }
        }
        let reference = self.keep(ctx).await;
        let tail = if self.dropped { self.tail.as_slice() } else { self.head.as_slice() };
        // The end of what is held may begin within a line, or within a character.
        let start = if self.dropped { tail.iter().position(|byte| *byte == b'\n').map_or(0, |end| end + 1) } else { 0 };
        output::excerpt(&self.head, &tail[start..], self.whole, limit, &reference, output::clean)
    }

    async fn keep(&mut self, ctx: &ToolContext) -> String {
        let blobs = ctx.blobs.clone();
        let whole = self.whole.bytes;
        match std::mem::replace(&mut self.file, Spool::No) {
            Spool::No => output::reference(&blobs.put(&self.head)),
            Spool::Failed(error) => output::reference(&Err(error)),
            Spool::Open(mut file, kept) => {
                let flushed = file.flush().await;
                let mut file = file.into_std().await;
                let keep = move || {
                    flushed?;
                    file.rewind()?;
                    blobs.put_from(&mut file)
                };
                let name = tokio::task::spawn_blocking(keep).await.unwrap_or_else(|error| Err(io::Error::other(error)));
                let reference = output::reference(&name);
                if kept < whole {
                    format!("{reference}, as far as the first {kept} bytes, which were kept")
                } else {
                    reference
                }
            }
        }
    }
}

async fn open(ctx: &ToolContext, head: &[u8]) -> io::Result<Spool> {
    // The general temporary folder may be in memory; it is only the second choice.
    let file = tempfile::tempfile_in(&ctx.own).or_else(|_| tempfile::tempfile())?;
    let mut file = tokio::fs::File::from_std(file);
    file.write_all(head).await?;
    Ok(Spool::Open(file, head.len() as u64))
}

/// How often those who watch are told at most.
const TELL_EVERY: Duration = Duration::from_millis(30);

/// The most they are told at once, in bytes: nobody reads faster.
const MOST_TOLD: usize = 8 << 10;

/// The output as those see it who watch it come.
pub(super) struct Live {
    /// The beginning of a character whose rest has not come yet.
    begun: Vec<u8>,
    waiting: String,
    next: Instant,
}

impl Live {
    pub(super) fn new() -> Self {
        Self { begun: Vec::new(), waiting: String::new(), next: Instant::now() }
    }

    /// Takes the next piece, wherever it was cut.
    pub(super) fn push(&mut self, chunk: &[u8]) {
        let mut bytes = std::mem::take(&mut self.begun);
        bytes.extend_from_slice(chunk);
        let complete = complete(&bytes);
        self.begun = bytes.split_off(complete);
        self.waiting.push_str(&String::from_utf8_lossy(&bytes));
        if self.waiting.len() > 2 * MOST_TOLD {
            let from = self.waiting.ceil_char_boundary(self.waiting.len() - MOST_TOLD);
            self.waiting.replace_range(..from, "…\n");
        }
    }

    /// When there is something to tell, and it may be told.
    pub(super) fn due(&self) -> Option<Instant> {
        (!self.waiting.is_empty()).then_some(self.next)
    }

    /// Tells what is new.
    pub(super) fn tell(&mut self, ctx: &ToolContext) {
        if !self.waiting.is_empty() {
            (ctx.live)(&std::mem::take(&mut self.waiting));
            self.next = Instant::now() + TELL_EVERY;
        }
    }

    /// Tells the rest, when nothing more will come.
    pub(super) fn end(mut self, ctx: &ToolContext) {
        self.waiting.push_str(&String::from_utf8_lossy(&self.begun));
        self.tell(ctx);
    }
}

/// How many bytes there are before a character that may only have begun.
fn complete(bytes: &[u8]) -> usize {
    let last = bytes.utf8_chunks().last().map_or(&[][..], |chunk| chunk.invalid());
    let wanted = match last.first() {
        Some(0xc2..=0xdf) => 2,
        Some(0xe0..=0xef) => 3,
        Some(0xf0..=0xf4) => 4,
        Some(_) | None => 0,
    };
    if bytes.ends_with(last) && last.len() < wanted { bytes.len() - last.len() } else { bytes.len() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::tools::testing::Bench;

    #[test]
    fn characters_are_whole_wherever_the_pieces_are_cut() {
        let text = "北京那🌍é\x1b[0m";
        for cut in 0..=text.len() {
            let bench = Bench::new();
            let mut live = Live::new();
            live.push(&text.as_bytes()[..cut]);
            live.tell(&bench.ctx);
            live.push(&text.as_bytes()[cut..]);
            live.end(&bench.ctx);
            assert_eq!(*bench.live.lock().expect("unbroken"), text, "cut at {cut}");
        }
        let bench = Bench::new();
        let mut live = Live::new();
        live.push(b"a\xff\xe4");
        live.end(&bench.ctx);
        assert_eq!(*bench.live.lock().expect("unbroken"), "a\u{fffd}\u{fffd}");
    }

    #[tokio::test]
    async fn a_long_output_is_whole_in_its_blob_and_bounded_in_memory() {
        let bench = Bench::new();
        let mut capture = Capture::new();
        let mut whole = Vec::new();
        for n in 0..40_000 {
            let line = format!("{n} {}\n", "x".repeat(40));
            capture.push(&bench.ctx, line.as_bytes()).await;
            whole.extend_from_slice(line.as_bytes());
        }
        assert!(capture.head.len() + capture.tail.len() <= 3 * HELD);
        let text = capture.told(&bench.ctx).await;
        assert!(text.len() <= bench.ctx.limits.tool_output_bytes + 200);
        assert!(text.starts_with("0 xx") && text.ends_with(&format!("39999 {}\n", "x".repeat(40))));
        let name = bench.blobs.only();
        assert!(text.contains(&format!("output:{name}")));
        assert_eq!(crate::agent::port::Blobs::get(&*bench.blobs, &name, 0, usize::MAX).expect("kept").1, whole);
    }
}
