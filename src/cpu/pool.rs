//! A persistent pool of worker threads for parallel loops.
//!
//! One loop runs at a time; a caller that finds the pool busy runs its loop alone. The caller takes
//! part, so a loop never waits for a worker to wake up: workers join while the loop is open, and the
//! caller closes it when the work has run out and waits only for those who joined.
//!
//! Locks: `owner` (held by the caller for a whole dispatch) before `sleep`; a worker takes only `sleep`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle, Thread};
use std::time::{Duration, Instant};

/// How long an idle worker looks for the next loop before it sleeps: the phases of a dispatch follow
/// each other within microseconds, and waking a thread takes tens of them.
const SPIN: Duration = Duration::from_micros(50);

/// `ticket`: the loop's number in the upper half, then whether it is open, then how many workers joined.
const OPEN: u64 = 1 << 31;
const JOINED: u64 = OPEN - 1;
const NUMBER: u32 = 32;

type Job<'a> = dyn Fn(usize) + Sync + 'a;

struct State {
    ticket: AtomicU64,
    /// The open loop's body: a pointer to the caller's `&Job`.
    job: AtomicPtr<()>,
    asleep: AtomicUsize,
    sleep: Mutex<()>,
    wake: Condvar,
    closing: AtomicBool,
    /// A worker's share of the open loop panicked.
    panicked: AtomicBool,
    /// Who waits for the last worker to leave.
    waiting: Mutex<Option<Thread>>,
}

pub struct Pool {
    state: Arc<State>,
    owner: Mutex<()>,
    /// Started on the first parallel loop.
    workers: Mutex<Vec<JoinHandle<()>>>,
    threads: usize,
}

/// The right to run loops on the pool.
pub struct Crew<'p> {
    pool: &'p Pool,
    /// `None` for a caller that works alone.
    _owner: Option<MutexGuard<'p, ()>>,
    alone: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing that these locks guard is left half done by a panic.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Pool {
    /// `threads` counts the caller.
    pub fn new(threads: usize) -> Pool {
        Pool {
            state: Arc::new(State {
                ticket: AtomicU64::new(0),
                job: AtomicPtr::new(std::ptr::null_mut()),
                asleep: AtomicUsize::new(0),
                sleep: Mutex::new(()),
                wake: Condvar::new(),
                closing: AtomicBool::new(false),
                panicked: AtomicBool::new(false),
                waiting: Mutex::new(None),
            }),
            owner: Mutex::new(()),
            workers: Mutex::new(Vec::new()),
            threads: threads.max(1),
        }
    }

    /// The whole crew if nobody else has it, else the caller alone.
    pub fn crew(&self, parallel: bool) -> Crew<'_> {
        let owner = if parallel && self.threads > 1 {
            match self.owner.try_lock() {
                Ok(owner) => Some(owner),
                Err(std::sync::TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
                Err(std::sync::TryLockError::WouldBlock) => None,
            }
        } else {
            None
        };
        let alone = owner.is_none() || !self.start_workers();
        Crew {
            pool: self,
            _owner: owner,
            alone,
        }
    }

    /// Whether there is at least one worker.
    fn start_workers(&self) -> bool {
        let mut workers = lock(&self.workers);
        while workers.len() + 1 < self.threads {
            let state = Arc::clone(&self.state);
            let number = workers.len() + 1;
            let started = thread::Builder::new()
                .name(format!("vyre-{number}"))
                .stack_size(super::STACK_SIZE)
                .spawn(move || state.work(number));
            match started {
                Ok(handle) => workers.push(handle),
                // Fewer threads than asked for give the same results later.
                Err(_) => break,
            }
        }
        !workers.is_empty()
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.state.closing.store(true, Ordering::SeqCst);
        drop(lock(&self.state.sleep));
        self.state.wake.notify_all();
        let here = thread::current().id();
        for worker in lock(&self.workers).drain(..) {
            // A worker never owns the pool, but joining oneself would never end.
            if worker.thread().id() != here {
                let _ = worker.join();
            }
        }
    }
}

impl Crew<'_> {
    /// Threads that `run` may use.
    pub fn threads(&self) -> usize {
        if self.alone { 1 } else { self.pool.threads }
    }

    /// Calls `job` once on each thread that takes part, at least on the caller's, with a thread number
    /// below `threads()`. The job takes its share of the work from a counter of its own.
    pub fn run(&self, job: &(dyn Fn(usize) + Sync)) {
        if self.alone {
            job(0);
            return;
        }
        let state = &*self.pool.state;
        let job: &Job<'_> = job;
        let opened = state.open(&job);
        // Closed on unwind too: no worker may see the job once it is gone.
        let close = Close { state };
        job(0);
        drop(close);
        debug_assert_eq!(state.ticket.load(Ordering::Relaxed) >> NUMBER, opened);
        if state.panicked.swap(false, Ordering::Relaxed) {
            panic!("a worker thread panicked");
        }
    }
}

struct Close<'s> {
    state: &'s State,
}

impl Drop for Close<'_> {
    fn drop(&mut self) {
        self.state.close();
    }
}

impl State {
    /// Publishes a loop; returns its number.
    fn open(&self, job: &&Job<'_>) -> u64 {
        let pointer: *const &Job<'_> = job;
        self.job
            .store(pointer.cast_mut().cast::<()>(), Ordering::Relaxed);
        let number = (self.ticket.load(Ordering::Relaxed) >> NUMBER).wrapping_add(1) & 0xffff_ffff;
        // SeqCst, as is `asleep`: either this sees a sleeper, or the sleeper sees the ticket.
        self.ticket
            .store((number << NUMBER) | OPEN, Ordering::SeqCst);
        if self.asleep.load(Ordering::SeqCst) > 0 {
            drop(lock(&self.sleep));
            self.wake.notify_all();
        }
        number
    }

    /// Lets nobody in any more and waits for those inside.
    fn close(&self) {
        let mut left = self.ticket.fetch_and(!OPEN, Ordering::AcqRel) & JOINED;
        let start = Instant::now();
        while left > 0 {
            if start.elapsed() < 4 * SPIN {
                for _ in 0..64 {
                    std::hint::spin_loop();
                }
            } else {
                *lock(&self.waiting) = Some(thread::current());
                // Bounded, so that a wake-up between the check and the park costs little.
                if self.ticket.load(Ordering::Acquire) & JOINED > 0 {
                    thread::park_timeout(Duration::from_millis(1));
                }
                *lock(&self.waiting) = None;
            }
            left = self.ticket.load(Ordering::Acquire) & JOINED;
        }
    }

    /// A worker's life.
    fn work(&self, number: usize) {
        let mut last = 0;
        while let Some(loop_number) = self.next(last) {
            last = loop_number;
            let job = self.job.load(Ordering::Relaxed).cast_const();
            // SAFETY: this worker joined the loop while it was open, so the caller's `&Job` is alive until
            // it leaves below: `close` waits for that. The pointer was published before the ticket.
            let job: &Job<'_> = unsafe { *job.cast::<&Job<'_>>() };
            // The caller must not wait for ever for a worker that panicked; it panics in its place.
            if catch_unwind(AssertUnwindSafe(|| job(number))).is_err() {
                self.panicked.store(true, Ordering::Relaxed);
            }
            let before = self.ticket.fetch_sub(1, Ordering::AcqRel);
            if before & (OPEN | JOINED) == 1
                && let Some(waiting) = lock(&self.waiting).as_ref()
            {
                waiting.unpark();
            }
        }
    }

    /// Joins the next loop and returns its number; `None` when the pool closes.
    fn next(&self, last: u64) -> Option<u64> {
        let mut start = Instant::now();
        loop {
            if self.closing.load(Ordering::Relaxed) {
                return None;
            }
            if let Some(number) = self.join(last) {
                return Some(number);
            }
            if start.elapsed() < SPIN {
                for _ in 0..64 {
                    std::hint::spin_loop();
                }
                continue;
            }
            self.asleep.fetch_add(1, Ordering::SeqCst);
            let mut guard = lock(&self.sleep);
            while !self.closing.load(Ordering::SeqCst) && !self.is_open(last) {
                guard = self
                    .wake
                    .wait(guard)
                    .unwrap_or_else(PoisonError::into_inner);
            }
            drop(guard);
            self.asleep.fetch_sub(1, Ordering::SeqCst);
            start = Instant::now();
        }
    }

    fn is_open(&self, last: u64) -> bool {
        let ticket = self.ticket.load(Ordering::SeqCst);
        ticket & OPEN != 0 && ticket >> NUMBER != last
    }

    fn join(&self, last: u64) -> Option<u64> {
        let mut ticket = self.ticket.load(Ordering::Acquire);
        while ticket & OPEN != 0 && ticket >> NUMBER != last {
            match self.ticket.compare_exchange_weak(
                ticket,
                ticket + 1,
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                Ok(_) => return Some(ticket >> NUMBER),
                Err(now) => ticket = now,
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

    #[test]
    fn every_share_is_done_once_in_every_loop() {
        let pool = Pool::new(4);
        let crew = pool.crew(true);
        for round in 0..2000u64 {
            let next = AtomicU64::new(0);
            let sum = AtomicU64::new(0);
            crew.run(&|_| {
                loop {
                    let share = next.fetch_add(1, Ordering::Relaxed);
                    if share >= 20 {
                        break;
                    }
                    sum.fetch_add(share + round, Ordering::Relaxed);
                }
            });
            assert_eq!(sum.into_inner(), 190 + 20 * round);
        }
    }

    #[test]
    fn workers_take_part() {
        let pool = Pool::new(3);
        let crew = pool.crew(true);
        let seen = AtomicU32::new(0);
        crew.run(&|number| {
            seen.fetch_or(1 << number, Ordering::SeqCst);
            let start = Instant::now();
            while seen.load(Ordering::SeqCst) != 0b111 && start.elapsed() < Duration::from_secs(20)
            {
                thread::yield_now();
            }
        });
        assert_eq!(seen.into_inner(), 0b111);
    }

    #[test]
    fn a_second_caller_works_alone() {
        let pool = Pool::new(2);
        let first = pool.crew(true);
        let second = pool.crew(true);
        assert_eq!((first.threads(), second.threads()), (2, 1));
        drop(first);
        assert_eq!(pool.crew(true).threads(), 2);
    }

    #[test]
    fn a_long_share_is_waited_for() {
        let pool = Pool::new(2);
        let crew = pool.crew(true);
        for _ in 0..20 {
            let done = AtomicU32::new(0);
            let joined = AtomicU32::new(0);
            crew.run(&|number| {
                joined.fetch_add(1, Ordering::SeqCst);
                if number == 0 {
                    while joined.load(Ordering::SeqCst) < 2 {
                        thread::yield_now();
                    }
                } else {
                    thread::sleep(Duration::from_millis(5));
                    done.store(1, Ordering::SeqCst);
                }
            });
            assert_eq!(done.into_inner(), 1);
        }
    }
}
