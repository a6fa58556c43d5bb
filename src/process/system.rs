//! The few calls of the system that neither the standard library nor rustix offers.

use rustix::process::{Pid, Signal, WaitIdOptions};
use std::ffi::{c_char, c_int};
use std::io;

unsafe extern "C" {
    fn fork() -> c_int;
    fn _exit(code: c_int) -> !;
    fn signal(number: c_int, handler: usize) -> usize;
    fn waitid(kind: c_int, id: u32, info: *mut ChildInfo, options: c_int) -> c_int;
    fn execve(path: *const c_char, arguments: *const *const c_char, environment: *const *const c_char) -> c_int;
}

/// The beginning of what `waitid` tells of a child, and room for the rest.
#[repr(C)]
#[derive(Default)]
struct ChildInfo {
    signal: c_int,
    error: c_int,
    code: c_int,
    #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
    _padding: c_int,
    pid: c_int,
    _rest: [u64; 16],
}

/// Any child, to `waitid`.
const ALL: c_int = 0;

/// What becomes of a signal.
#[derive(Debug, Clone, Copy)]
pub(super) enum Disposition {
    /// What the system does with it.
    Default,
    /// Nothing.
    Ignore,
    /// This is called, until another program is loaded.
    Call(extern "C" fn(c_int)),
}

/// Goes on in a child, and ends the process that called it.
///
/// # Safety
///
/// The process must have a single thread, and nothing that is to be done at its end.
pub(super) unsafe fn step_into_child() -> io::Result<()> {
    // SAFETY: with one thread the child is whole; the parent leaves without running anything.
    match unsafe { fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => Ok(()),
        _ => unsafe { _exit(0) },
    }
}

/// Says what becomes of a signal. May be called between fork and exec.
///
/// # Safety
///
/// What is called must keep to what is allowed in a signal handler.
pub(super) unsafe fn dispose(of: Signal, disposition: Disposition) {
    let handler = match disposition {
        Disposition::Default => 0,
        Disposition::Ignore => 1,
        Disposition::Call(handler) => handler as usize,
    };
    // SAFETY: the handler is one of the system's two, or a function of the right kind.
    unsafe { signal(of.as_raw(), handler) };
}

/// Finds a child that has exited, and leaves it to be reaped.
pub(super) fn exited_child() -> Option<Pid> {
    let mut info = ChildInfo::default();
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    // SAFETY: `info` begins as the system's own and is larger.
    let found = unsafe { waitid(ALL, 0, &raw mut info, options.bits() as c_int) };
    if found == 0 { Pid::from_raw(info.pid) } else { None }
}

/// Becomes another program; returns only with the reason why not.
///
/// # Safety
///
/// The path and every entry of both lists must end with a zero, the lists with a null.
pub(super) unsafe fn become_program(
    path: *const c_char,
    arguments: *const *const c_char,
    environment: *const *const c_char,
) -> io::Error {
    // SAFETY: as the caller promises.
    unsafe { execve(path, arguments, environment) };
    io::Error::last_os_error()
}
