//! The end of a Job: the rest of what it printed, its record, and the news of it.

use super::Serve;
use crate::jobs::now;
use crate::jobs::protocol::FromShim;
use crate::jobs::record::{End, ExitRecord, StopState, listed};
use crate::jobs::shim::client::Client;
use crate::jobs::shim::ending::Ending;
use crate::jobs::shim::screen::Screen;
use rustix::event::{PollFd, PollFlags, Timespec};
use std::os::unix::process::ExitStatusExt;
use std::process::Child;
use std::time::{Duration, Instant};

/// How long clients have to take the news of the end.
const FAREWELL: Duration = Duration::from_millis(200);

impl Serve {
    /// Records the end and tells everybody.
    pub(super) fn finish(mut self: Box<Self>) {
        // The command's side of the terminal is let go of, so that the end of what it printed shows.
        self.terminal = None;
        let result = self.ending.as_ref().map(Ending::result);
        let (stop, ended, survivors) = result.unwrap_or((StopState::NotAsked, Vec::new(), Vec::new()));
        let Self { intake, shared, mut notes, mut child, exit, mut clients, address, record, mut screen, .. } = *self;
        intake.finish();
        let Some(end) = reap(&mut child) else {
            // Somebody else reaped it: nothing is known, and nothing is said.
            address.remove();
            return;
        };
        show_last(&mut screen, &mut clients);
        let (log_bytes, lost_bytes) = {
            let tail = shared.tail();
            (tail.log_bytes, tail.lost_bytes)
        };
        let record = ExitRecord {
            job: record.job,
            end,
            ended_at: now(),
            log_bytes,
            lost_bytes,
            stop,
            ended: listed(ended),
            survivors: listed(survivors),
        };
        notes.close(log_bytes);
        // Where even its own room can't be written nothing is left to write to.
        let _ = exit.write(&record);
        address.remove();
        say_farewell(record, &mut clients);
    }
}

/// Takes the command's exit.
fn reap(child: &mut Child) -> Option<End> {
    let status = child.try_wait().ok()??;
    match (status.code(), status.signal()) {
        (Some(code), _) => Some(End::Exited { code }),
        (None, Some(signal)) => Some(End::Signaled { signal }),
        (None, None) => None,
    }
}

/// Draws what was printed last.
fn show_last(screen: &mut Screen, clients: &mut [Client]) {
    let watchers = clients.iter().filter(|client| client.sees_screen()).count();
    if watchers == 0 {
        return;
    }
    while screen.follow(watchers).is_behind {}
    if let Some(changes) = screen.draw() {
        let update = FromShim::Update(changes);
        clients.iter_mut().filter(|client| client.sees_screen()).for_each(|client| client.say(0, &update));
    }
}

/// Tells everybody how it ended, and gives them a moment to take it.
fn say_farewell(record: ExitRecord, clients: &mut [Client]) {
    let word = FromShim::Ended(Box::new(record));
    for client in clients.iter_mut().filter(|client| client.introduced.is_some()) {
        client.say(0, &word);
    }
    let deadline = Instant::now() + FAREWELL;
    while clients.iter().any(Client::is_waited_for) {
        let left = deadline.saturating_duration_since(Instant::now());
        let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(left.subsec_nanos()) };
        let waited_for = clients.iter().filter(|client| client.is_waited_for());
        let mut polled: Vec<PollFd<'_>> = waited_for.map(|client| PollFd::new(client, PollFlags::OUT)).collect();
        if matches!(rustix::event::poll(&mut polled, Some(&timeout)), Ok(0)) {
            return;
        }
        clients.iter_mut().for_each(Client::send);
    }
}
