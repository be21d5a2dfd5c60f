//! The right to launch a module that has a counter of its own, for the length of one call.
//!
//! Whoever holds a lease resets the counter before each launch, and the gate is freed only when everything
//! launched is over and audited, whatever fails on the way.

use super::gate::Guard;
use crate::error::{Error, Result};

/// Which launch of the sequence failed, and how.
pub type Failure = (usize, Error);

/// The parts of a launch sequence, by whoever does them: the device, or a test.
pub trait Steps {
    /// Resets the counter before each launch, and enqueues it with the read-back behind.
    fn launch(&mut self, lease: &Lease<'_>) -> Result<(), Failure>;
    /// Waits for all of it.
    fn synchronise(&mut self) -> Result<(), Failure>;
    /// Holds what was read back against what may be.
    fn audit(&mut self) -> Result<(), Failure>;
}

/// Inert for programs without the counter: it holds nothing and enqueues nothing.
pub struct Lease<'g> {
    held: Option<Held<'g>>,
}

struct Held<'g> {
    /// Address of the counter.
    counter: u64,
    /// Barriers of the module's text.
    barriers: u64,
    _guard: Guard<'g>,
}

impl<'g> Lease<'g> {
    pub fn inert() -> Lease<'g> {
        Lease { held: None }
    }

    pub fn new(guard: Guard<'g>, counter: u64, barriers: u64) -> Lease<'g> {
        Lease {
            held: Some(Held {
                counter,
                barriers,
                _guard: guard,
            }),
        }
    }

    /// The most arrivals that a launch of this grid may leave; `None` for an inert lease.
    pub fn ceiling(&self, grid: [u32; 3]) -> Result<Option<u64>> {
        let held = self.held.as_ref();
        held.map(|held| super::audit::ceiling(held.barriers, grid))
            .transpose()
    }

    /// Zeroes the counter before the next launch, in stream order; `zero` is given its address.
    pub fn enqueue_reset(&self, zero: impl FnOnce(u64) -> Result<()>) -> Result<()> {
        #[cfg(test)]
        if crate::cuda::stale::RESETS_ARE_SKIPPED.load(std::sync::atomic::Ordering::Relaxed) {
            return Ok(());
        }
        match &self.held {
            Some(held) => zero(held.counter),
            None => Ok(()),
        }
    }

    /// Launches, waits, audits, frees the gate, and then reports. In that order whatever fails: after a failed
    /// launch what was launched before it is waited for and audited, after a failed wait there is nothing to
    /// audit. The failure of the earliest launch is the one reported.
    pub fn launch_then_release(self, steps: &mut dyn Steps) -> Result<(), Failure> {
        let launched = steps.launch(&self);
        let ended = match steps.synchronise() {
            Ok(()) => steps.audit(),
            Err(failure) => Err(failure),
        };
        drop(self);
        match (launched, ended) {
            (Err(launch), Err(end)) if launch.0 <= end.0 => Err(launch),
            (_, Err(end)) => Err(end),
            (launched, Ok(())) => launched,
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use crate::cuda::raw::gate::Gate;
    use crate::error::Status;
    use std::time::Instant;

    /// Writes down what happens, and whether the gate was held then.
    struct Fake<'g> {
        gate: &'g Gate,
        log: Vec<(&'static str, bool)>,
        fails: &'static [&'static str],
        panics: bool,
    }

    impl Fake<'_> {
        fn step(&mut self, name: &'static str) -> Result<(), Failure> {
            let held = self.gate.acquire(Some(Instant::now())).is_none();
            self.log.push((name, held));
            match self.fails.contains(&name) {
                true => Err((0, Error::new(Status::DispatchFailed, name))),
                false => Ok(()),
            }
        }
    }

    impl Steps for Fake<'_> {
        fn launch(&mut self, lease: &Lease<'_>) -> Result<(), Failure> {
            let mut resets = Vec::new();
            lease
                .enqueue_reset(|address| {
                    resets.push(address);
                    Ok(())
                })
                .expect("it enqueues");
            for address in resets {
                assert_eq!(address, 0x1000);
                self.step("reset")?;
            }
            assert!(!self.panics, "on purpose");
            self.step("launch")
        }

        fn synchronise(&mut self) -> Result<(), Failure> {
            self.step("synchronise")
        }

        fn audit(&mut self) -> Result<(), Failure> {
            self.step("audit")
        }
    }

    fn run(fails: &'static [&'static str]) -> (Vec<(&'static str, bool)>, Option<String>) {
        let gate = Gate::new();
        let mut fake = Fake {
            gate: &gate,
            log: Vec::new(),
            fails,
            panics: false,
        };
        let lease = Lease::new(gate.acquire(None).unwrap(), 0x1000, 1);
        let result = lease.launch_then_release(&mut fake);
        let log = fake.log;
        assert!(gate.acquire(Some(Instant::now())).is_some(), "{fails:?}");
        (
            log,
            result.err().map(|(_, error)| error.message().to_owned()),
        )
    }

    #[test]
    fn the_gate_is_held_from_the_reset_until_the_audit() {
        let all = ["reset", "launch", "synchronise", "audit"].map(|step| (step, true));
        assert_eq!(run(&[]), (all.to_vec(), None));
    }

    #[test]
    fn whatever_fails_reaches_the_caller_and_frees_the_gate() {
        let steps =
            |log: Vec<(&'static str, bool)>| -> Vec<_> { log.iter().map(|s| s.0).collect() };
        let (log, error) = run(&["launch"]);
        assert_eq!(steps(log), ["reset", "launch", "synchronise", "audit"]);
        assert_eq!(error.as_deref(), Some("launch"));
        // Nothing can be said about a launch that was not seen to end.
        let (log, error) = run(&["synchronise", "audit"]);
        assert_eq!(steps(log), ["reset", "launch", "synchronise"]);
        assert_eq!(error.as_deref(), Some("synchronise"));
        let (log, error) = run(&["audit"]);
        assert_eq!(steps(log), ["reset", "launch", "synchronise", "audit"]);
        assert_eq!(error.as_deref(), Some("audit"));
        let (_, error) = run(&["launch", "synchronise"]);
        assert_eq!(error.as_deref(), Some("launch"));
    }

    #[test]
    fn a_panic_in_the_launch_frees_the_gate() {
        let gate = Gate::new();
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut fake = Fake {
                gate: &gate,
                log: Vec::new(),
                fails: &[],
                panics: true,
            };
            let lease = Lease::new(gate.acquire(None).unwrap(), 0x1000, 1);
            lease.launch_then_release(&mut fake)
        }));
        assert!(result.is_err());
        assert!(gate.acquire(Some(Instant::now())).is_some());
    }

    #[test]
    fn a_second_lease_waits_for_the_first() {
        let gate = Gate::new();
        let first = Lease::new(gate.acquire(None).unwrap(), 0x1000, 1);
        assert!(gate.acquire(Some(Instant::now())).is_none());
        std::thread::scope(|scope| {
            let second = scope.spawn(|| gate.acquire(None).is_some());
            assert!(!second.is_finished());
            drop(first);
            assert!(second.join().unwrap());
        });
    }

    #[test]
    fn an_inert_lease_holds_and_enqueues_nothing() {
        let gate = Gate::new();
        let mut fake = Fake {
            gate: &gate,
            log: Vec::new(),
            fails: &[],
            panics: false,
        };
        let lease = Lease::inert();
        assert_eq!(lease.ceiling([8, 1, 1]).unwrap(), None);
        lease.launch_then_release(&mut fake).unwrap();
        let free = ["launch", "synchronise", "audit"].map(|step| (step, false));
        assert_eq!(fake.log, free);
    }
}
