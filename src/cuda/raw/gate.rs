//! One launch sequence at a time for a module whose counter is its own.
//!
//! Two launches of such a module in flight would mix their arrivals, and one's reset would wipe out the
//! other's. So whoever launches holds the module's gate until what it launched is over and audited.
//!
//! Lock: `held`, for the time of a look; a gate is taken after the buffers' locks and before a slot.

use std::time::Instant;

#[cfg(loom)]
use loom::sync::{Condvar, Mutex, MutexGuard};
use std::sync::PoisonError;
#[cfg(not(loom))]
use std::sync::{Condvar, Mutex, MutexGuard};

pub struct Gate {
    held: Mutex<bool>,
    freed: Condvar,
}

/// The gate is held while this lives, and free afterwards, however its holder ends.
pub struct Guard<'g> {
    gate: &'g Gate,
}

impl Gate {
    pub fn new() -> Gate {
        Gate {
            held: Mutex::new(false),
            freed: Condvar::new(),
        }
    }

    fn held(&self) -> MutexGuard<'_, bool> {
        // Nothing is half done under this lock, and a gate that wedges would end every later launch.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the gate, but not past the deadline.
    pub fn acquire(&self, deadline: Option<Instant>) -> Option<Guard<'_>> {
        let mut held = self.held();
        while *held {
            held = match deadline {
                None => (self.freed.wait(held)).unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let left = deadline.checked_duration_since(Instant::now())?;
                    let waited = self.freed.wait_timeout(held, left);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        *held = true;
        Some(Guard { gate: self })
    }
}

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        *self.gate.held() = false;
        self.gate.freed.notify_one();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
    use std::time::Duration;

    #[test]
    fn one_at_a_time_and_the_next_one_when_it_is_freed() {
        let gate = Gate::new();
        let inside = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..100 {
                        let _guard = gate.acquire(None).expect("no deadline");
                        assert_eq!(inside.fetch_add(1, SeqCst), 0);
                        std::thread::yield_now();
                        inside.fetch_sub(1, SeqCst);
                    }
                });
            }
        });
    }

    #[test]
    fn nobody_waits_past_a_deadline() {
        let gate = Gate::new();
        let guard = gate.acquire(None);
        let start = Instant::now();
        assert!(gate.acquire(Some(start)).is_none());
        assert!(
            gate.acquire(Some(start + Duration::from_millis(20)))
                .is_none()
        );
        assert!(start.elapsed() >= Duration::from_millis(20));
        drop(guard);
        assert!(gate.acquire(Some(start)).is_some());
    }

    #[test]
    fn a_panic_frees_it() {
        let gate = Gate::new();
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _guard = gate.acquire(None);
            panic!("on purpose");
        }));
        assert!(result.is_err());
        assert!(gate.acquire(Some(Instant::now())).is_some());
    }
}

#[cfg(all(test, loom))]
mod model {
    use super::*;
    use crate::cuda::raw::lease::{Failure, Lease, Steps};
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicU32, Ordering::Relaxed};

    /// A module's counter that launches of two threads would spoil for each other.
    struct Launch<'l> {
        counter: &'l AtomicU32,
        seen: u32,
    }

    impl Steps for Launch<'_> {
        fn launch(&mut self, _: &Lease<'_>) -> Result<(), Failure> {
            self.counter.store(0, Relaxed);
            for _ in 0..2 {
                self.counter.fetch_add(1, Relaxed);
                loom::thread::yield_now();
            }
            Ok(())
        }

        fn synchronise(&mut self) -> Result<(), Failure> {
            self.seen = self.counter.load(Relaxed);
            Ok(())
        }

        fn audit(&mut self) -> Result<(), Failure> {
            assert_eq!(self.seen, 2, "two launches were in flight at once");
            Ok(())
        }
    }

    #[test]
    fn leases_exclude_each_other() {
        loom::model(|| {
            let shared = Arc::new((Gate::new(), AtomicU32::new(0)));
            let run = |shared: &(Gate, AtomicU32)| {
                let guard = shared.0.acquire(None).expect("no deadline");
                let mut launch = Launch {
                    counter: &shared.1,
                    seen: 0,
                };
                let lease = Lease::new(guard, 0, 1);
                lease.launch_then_release(&mut launch).expect("it holds");
            };
            let threads: Vec<_> = (0..2)
                .map(|_| {
                    let shared = Arc::clone(&shared);
                    loom::thread::spawn(move || run(&shared))
                })
                .collect();
            run(&shared);
            for thread in threads {
                thread.join().expect("it did not panic");
            }
        });
    }
}
