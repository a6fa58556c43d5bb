//! Takes what the command prints: the log first, then the tail for the screen.

use super::tail::Shared;
use crate::jobs::log::Writer;
use crate::jobs::now;
use crate::jobs::protocol::LogState;
use crate::jobs::terminal::{Piece, Query, Splitter};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::fd::OwnedFd;
use rustix::io::Errno;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How much is taken at once.
const CHUNK: usize = 64 * 1024;

/// When the command has ended and others still hold its output: how long to wait for more …
const QUIET: Duration = Duration::from_millis(50);

/// … and how long at most.
const PATIENCE: Duration = Duration::from_secs(1);

/// One stream of the command.
pub(super) struct Source {
    pub(super) fd: OwnedFd,
    pub(super) log: Writer,
}

/// Whether what is printed goes to a terminal, which can be asked and has modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Terminal,
    Pipes,
}

/// The thread that takes what is printed.
pub(super) struct Intake {
    thread: JoinHandle<()>,
    sources: SyncSender<Vec<Source>>,
    end: OwnedFd,
}

impl Intake {
    /// Starts it; it has nothing to take yet.
    pub(super) fn start(kind: Kind, shared: Arc<Shared>) -> std::io::Result<Self> {
        let (told, end) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC)?;
        let (sources, given) = sync_channel(1);
        let mut state = State { buffer: vec![0; CHUNK], splitter: Splitter::default(), kind, shared };
        // It needs little more than its buffer, which is not on the stack.
        let thread = std::thread::Builder::new().name("intake".into()).stack_size(128 * 1024).spawn(move || {
            if let Ok(sources) = given.recv() {
                state.run(sources, &told);
            }
        })?;
        Ok(Self { thread, sources, end })
    }

    /// Gives it the streams to take from.
    pub(super) fn take(&self, sources: Vec<Source>) {
        // It waits for exactly this.
        let _ = self.sources.send(sources);
    }

    /// Takes what is still on its way and waits until the log is complete.
    pub(super) fn finish(self) {
        drop(self.end);
        // Had it panicked, what it took is in the log all the same.
        let _ = self.thread.join();
    }
}

struct State {
    buffer: Vec<u8>,
    splitter: Splitter,
    kind: Kind,
    shared: Arc<Shared>,
}

/// What a read came to.
enum Taken {
    Bytes(usize),
    /// So many bytes, and no more will come.
    Last(usize),
}

impl State {
    fn run(&mut self, mut sources: Vec<Source>, told_to_end: &OwnedFd) {
        let mut deadline: Option<Instant> = None;
        while !sources.is_empty() {
            let waited = self.wait(&sources, told_to_end, deadline);
            if waited.is_told {
                deadline = Some(Instant::now() + PATIENCE);
            } else if deadline.is_some() && !waited.readable.contains(&true) {
                break;
            }
            let mut is_readable = waited.readable.into_iter();
            sources.retain_mut(|source| !is_readable.next().unwrap_or(false) || self.take_from(source));
            if deadline.is_some_and(|deadline| Instant::now() > deadline) {
                break;
            }
        }
        for source in &mut sources {
            source.log.finish(now());
        }
        self.shared.tail().is_over = true;
        self.shared.ring();
    }

    fn wait(&self, sources: &[Source], told_to_end: &OwnedFd, deadline: Option<Instant>) -> Waited {
        let timeout = deadline.map(|_| Timespec { tv_sec: 0, tv_nsec: QUIET.subsec_nanos().into() });
        let mut polled: Vec<PollFd<'_>> = sources.iter().map(|source| PollFd::new(&source.fd, PollFlags::IN)).collect();
        if deadline.is_none() {
            polled.push(PollFd::new(told_to_end, PollFlags::IN));
        }
        loop {
            match rustix::event::poll(&mut polled, timeout.as_ref()) {
                Ok(_) => break,
                Err(Errno::INTR) => {}
                // Out of memory, for a moment.
                Err(_) => std::thread::yield_now(),
            }
        }
        let mut readable: Vec<bool> = polled.iter().map(|fd| !fd.revents().is_empty()).collect();
        let is_told = readable.drain(sources.len()..).any(|is_ready| is_ready);
        Waited { readable, is_told }
    }

    /// Takes what a stream holds; says whether more may come.
    fn take_from(&mut self, source: &mut Source) -> bool {
        let (len, more) = match fill(&source.fd, &mut self.buffer) {
            Taken::Bytes(len) => (len, true),
            Taken::Last(len) => (len, false),
        };
        if len > 0 {
            let at = now();
            let before = (source.log.end(), source.log.lost());
            source.log.append(&self.buffer[..len], at);
            let mut tail = self.shared.tail();
            tail.log_bytes += source.log.end() - before.0;
            tail.lost_bytes += source.log.lost() - before.1;
            drop(tail);
            self.share(source, len, at);
        }
        if !more {
            source.log.finish(now());
        }
        more
    }

    /// Lets the other thread know.
    fn share(&mut self, source: &Source, len: usize, at: i64) {
        let bytes = &self.buffer[..len];
        let mut tail = self.shared.tail();
        let was_alternate = tail.modes.is_alternate();
        match self.kind {
            Kind::Terminal => {
                let start = tail.end();
                let tail = &mut *tail;
                self.splitter.feed(bytes, |piece, end| {
                    if let Piece::Sequence(sequence) = piece {
                        tail.modes.follow(sequence);
                        if let Some(query) = Query::of(sequence) {
                            tail.queries.push_back((start + end as u64, query));
                        }
                    }
                });
                tail.add(bytes);
            }
            // What a terminal would have made of it.
            Kind::Pipes => bytes.split_inclusive(|byte| *byte == b'\n').for_each(|line| match line {
                [text @ .., b'\n'] => {
                    tail.add(text);
                    tail.add(b"\r\n");
                }
                text => tail.add(text),
            }),
        }
        tail.last_output_at = Some(at);
        let log = match source.log.trouble() {
            None => LogState::Written,
            Some(trouble) => LogState::Lost { since: trouble.since, bytes: trouble.bytes, why: trouble.why.clone() },
        };
        let is_news = std::mem::discriminant(&log) != std::mem::discriminant(&tail.log);
        tail.log = log;
        let is_wanted = is_news
            || self.shared.is_listening()
            || !tail.queries.is_empty()
            || tail.modes.is_alternate() != was_alternate;
        drop(tail);
        if is_wanted {
            self.shared.ring();
        }
    }
}

/// What waiting came to.
struct Waited {
    /// Which of the sources can be read; none when nothing came in time.
    readable: Vec<bool>,
    /// The command has ended: what is on its way is all that comes.
    is_told: bool,
}

/// Reads until there is nothing more for now, or the buffer is full.
fn fill(fd: &OwnedFd, buffer: &mut [u8]) -> Taken {
    let mut len = 0;
    while len < buffer.len() {
        match rustix::io::read(fd, &mut buffer[len..]) {
            Ok(0) => return Taken::Last(len),
            Ok(read) => len += read,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => break,
            // A terminal that nobody has open any more says EIO.
            Err(_) => return Taken::Last(len),
        }
    }
    Taken::Bytes(len)
}
