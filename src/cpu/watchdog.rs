//! Time limits: a thread that sets the stop flag of dispatches whose time is up.
//!
//! Registering costs two uncontended lock operations. The thread sleeps until the nearest deadline
//! could matter and goes away from the clock entirely when nothing runs.
//!
//! Lock: `watched` alone; nothing else is taken while it is held.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How far behind a deadline the flag may be set.
const TICK: Duration = Duration::from_millis(2);
/// How long the thread keeps ticking after the last dispatch, so that a series of dispatches does
/// not wake it each time.
const LINGER: Duration = Duration::from_millis(100);

/// The flag that emitted code polls.
pub type Stop = Arc<AtomicU32>;

/// The flag's value when the time limit has passed.
pub const TIMED_OUT: u32 = 1;

#[derive(Default)]
struct Watched {
    /// Deadline and flag of what runs; `None` in free places.
    entries: Vec<Option<(Instant, Stop)>>,
    running: usize,
    idle_since: Option<Instant>,
    /// The thread waits without a time limit of its own.
    asleep: bool,
    closing: bool,
}

#[derive(Default)]
struct State {
    watched: Mutex<Watched>,
    wake: Condvar,
}

#[derive(Default)]
pub struct Watchdog {
    state: Arc<State>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

/// Keeps a dispatch watched until it is dropped.
pub struct Watch<'w> {
    state: &'w State,
    place: usize,
}

impl State {
    fn lock(&self) -> MutexGuard<'_, Watched> {
        // A panic leaves the table whole: every change is a single assignment.
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn run(&self) {
        let mut watched = self.lock();
        loop {
            if watched.closing {
                return;
            }
            let now = Instant::now();
            for (deadline, stop) in watched.entries.iter().flatten() {
                if now >= *deadline {
                    stop.store(TIMED_OUT, Ordering::Relaxed);
                }
            }
            let idle = watched.running == 0
                && watched
                    .idle_since
                    .is_none_or(|since| now.duration_since(since) > LINGER);
            watched.asleep = idle;
            watched = if idle {
                self.wake
                    .wait(watched)
                    .unwrap_or_else(PoisonError::into_inner)
            } else {
                self.wake
                    .wait_timeout(watched, TICK)
                    .unwrap_or_else(PoisonError::into_inner)
                    .0
            };
            watched.asleep = false;
        }
    }
}

impl Watchdog {
    /// Sets `stop` once `limit` has passed, unless the result is dropped first.
    /// `None` if no thread could be started to do so.
    pub fn watch(&self, limit: Duration, stop: &Stop) -> Option<Watch<'_>> {
        let deadline = Instant::now().checked_add(limit);
        if deadline.is_some() && !self.start() {
            return None;
        }
        let mut watched = self.state.lock();
        // Past the end of the clock there is no deadline; the place is taken all the same.
        let entry = deadline.map(|deadline| (deadline, Arc::clone(stop)));
        let place = match watched.entries.iter().position(Option::is_none) {
            Some(place) if entry.is_some() => {
                watched.entries[place] = entry;
                place
            }
            _ if entry.is_some() => {
                watched.entries.push(entry);
                watched.entries.len() - 1
            }
            _ => usize::MAX,
        };
        watched.running += 1;
        if watched.asleep && place != usize::MAX {
            self.state.wake.notify_one();
        }
        Some(Watch {
            state: &self.state,
            place,
        })
    }

    fn start(&self) -> bool {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if thread.is_none() {
            let state = Arc::clone(&self.state);
            *thread = thread::Builder::new()
                .name("vyre-watchdog".into())
                .stack_size(64 << 10)
                .spawn(move || state.run())
                .ok();
        }
        thread.is_some()
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        let mut watched = self.state.lock();
        if let Some(entry) = watched.entries.get_mut(self.place) {
            *entry = None;
        }
        watched.running -= 1;
        if watched.running == 0 {
            watched.idle_since = Some(Instant::now());
        }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.state.lock().closing = true;
        self.state.wake.notify_all();
        let thread = self
            .thread
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set_within(stop: &Stop, limit: Duration) -> bool {
        let start = Instant::now();
        while start.elapsed() < limit {
            if stop.load(Ordering::Relaxed) != 0 {
                return true;
            }
            thread::sleep(Duration::from_millis(1));
        }
        false
    }

    #[test]
    fn the_flag_is_set_when_the_time_is_up_and_not_before() {
        let watchdog = Watchdog::default();
        for _ in 0..3 {
            let (soon, later) = (Stop::default(), Stop::default());
            let first = watchdog.watch(Duration::from_millis(20), &soon);
            let second = watchdog.watch(Duration::from_secs(600), &later);
            assert!(first.is_some() && second.is_some());
            assert!(set_within(&soon, Duration::from_secs(10)));
            assert_eq!(later.load(Ordering::Relaxed), 0);
            // Long enough for the thread to go to sleep in between.
            drop((first, second));
            thread::sleep(LINGER + 10 * TICK);
        }
    }

    #[test]
    fn a_finished_dispatch_is_left_alone_and_an_endless_limit_never_ends() {
        let watchdog = Watchdog::default();
        let (finished, endless) = (Stop::default(), Stop::default());
        drop(watchdog.watch(Duration::from_millis(10), &finished));
        let watch = watchdog.watch(Duration::MAX, &endless);
        thread::sleep(Duration::from_millis(50));
        drop(watch);
        assert_eq!(finished.load(Ordering::Relaxed), 0);
        assert_eq!(endless.load(Ordering::Relaxed), 0);
    }
}
