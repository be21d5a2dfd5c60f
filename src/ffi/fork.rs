//! Knowing a forked child.
//!
//! A child has the parent's memory but none of its threads: a lock that another thread held stays
//! held for ever, and the worker pool is gone. So the child is told before it touches a lock.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Set before the first backend is acquired; a process that forks earlier loses nothing.
static IN_USE: AtomicBool = AtomicBool::new(false);
static IN_CHILD: AtomicBool = AtomicBool::new(false);

/// Whether this process is a fork of one that had used backends.
pub fn in_child() -> bool {
    IN_CHILD.load(Relaxed)
}

/// From here on a forked child is refused.
pub fn mark_in_use() {
    IN_USE.store(true, Relaxed);
}

extern "C" fn in_forked_child() {
    if IN_USE.load(Relaxed) {
        IN_CHILD.store(true, Relaxed);
    }
}

extern "C" fn at_load() {
    // SAFETY: the handler only reads and writes atomics. If there is no memory for the registration, a
    // forked child goes unnoticed, which is what it would be without this.
    unsafe { libc::pthread_atfork(None, None, Some(in_forked_child)) };
}

/// Registered while the library loads: a registration at first use could be cut in half by a fork.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = at_load;
