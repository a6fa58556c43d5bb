//! What a process does to become a supervisor that outlives everyone who may have started it.

use super::system::{self, Disposition};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use std::ffi::c_int;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicI32, Ordering};

/// Where the handler of SIGCHLD writes to.
static BELL: AtomicI32 = AtomicI32::new(-1);

/// What a supervisor does not end by. They are caught rather than ignored, since what is ignored
/// would be ignored by every program that it starts.
const OUTLASTED: [Signal; 8] =
    [Signal::HUP, Signal::INT, Signal::QUIT, Signal::TERM, Signal::USR1, Signal::USR2, Signal::ALARM, Signal::TSTP];

/// A process that has become a supervisor.
#[derive(Debug)]
pub struct Supervisor {
    bell: OwnedFd,
    _ring: OwnedFd,
}

impl Supervisor {
    /// Finds a child that has exited, adopted ones included, and leaves it to be reaped.
    pub fn exited(&self) -> Option<Pid> {
        system::exited_child()
    }

    /// Whether there is a child besides `known`, adopted ones included; `None` where the system does
    /// not list children. Once `known` has exited nothing descends from us without such a child.
    pub fn has_others(known: Pid) -> Option<bool> {
        let tasks = std::fs::read_dir("/proc/self/task").ok()?;
        let mut others = false;
        for task in tasks {
            let children = std::fs::read_to_string(task.ok()?.path().join("children")).ok()?;
            others |= children.split_ascii_whitespace().any(|child| child.parse() != Ok(known.as_raw_pid()));
        }
        Some(others)
    }

    /// Reaps a child that has exited; how it ended is lost.
    pub fn reap(&self, child: Pid) {
        let _ = rustix::process::waitid(WaitId::Pid(child), WaitIdOptions::EXITED | WaitIdOptions::NOHANG);
    }

    /// Takes note that it was told of a child; look at the children after this, not before.
    pub fn heard(&self) {
        let mut buffer = [0; 64];
        while rustix::io::read(&self.bell, &mut buffer).is_ok_and(|read| read > 0) {}
    }
}

impl AsFd for Supervisor {
    /// The descriptor becomes readable when a child has changed.
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}

/// Leaves its parent for good, leads a session of its own, outlasts being told to end, adopts what
/// its descendants leave behind, and hears of its children's ends.
///
/// Whoever called the program sees it exit at once; this returns in its child only.
///
/// # Safety
///
/// The process must have a single thread.
pub unsafe fn become_supervisor() -> io::Result<Supervisor> {
    // SAFETY: as the caller promises; whoever called the program has nothing of ours to end.
    unsafe { system::step_into_child() }?;
    rustix::process::setsid()?;
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    let (bell, ring) = rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC | rustix::pipe::PipeFlags::NONBLOCK)?;
    BELL.store(ring.as_raw_fd(), Ordering::Relaxed);
    for outlasted in OUTLASTED {
        // SAFETY: the handler does nothing.
        unsafe { system::dispose(outlasted, Disposition::Call(outlast)) };
    }
    // SAFETY: the handler only writes to a pipe, which is allowed in one.
    unsafe { system::dispose(Signal::CHILD, Disposition::Call(ring_bell)) };
    Ok(Supervisor { bell, _ring: ring })
}

extern "C" fn outlast(_: c_int) {}

extern "C" fn ring_bell(_: c_int) {
    let ring = BELL.load(Ordering::Relaxed);
    if ring >= 0 {
        // SAFETY: the descriptor is kept open as long as the process lives.
        let ring = unsafe { BorrowedFd::borrow_raw(ring) };
        // A full pipe has rung already.
        let _ = rustix::io::write(ring, &[1]);
    }
}
