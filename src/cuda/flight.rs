//! Launches of one program under way on one stream, and their end: awaited, audited, and attributed.

use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use smallvec::SmallVec;

use super::arguments::Arguments;
use super::audit::{Audited, Refusal};
use super::compiled::Compiled;
use super::context::{Entered, HUNG};
use super::device::Device;
use super::ptx::abi::{Shape, abort, slot};
use super::raw::{self, Counter, Failure, Lease};
use super::slot::Slot;
use super::stream::StreamHandle;
use super::wait;
use crate::error::{Error, Result, Status};

/// Launches that are under way at most: no more can be lost to a time limit than this, and no more slots
/// are taken.
pub const MOST: usize = 128;

/// How many launches ago one was that is probably over by now, so that its record can be fetched.
const LIKELY_OVER: usize = 8;

/// How long a kernel that was told to stop may take to look.
pub const GRACE: Duration = Duration::from_secs(5);

/// How long to look for a record before asking the driver, which knows of faults.
const LANDING: Duration = Duration::from_micros(100);

/// What the abort word of a launch that is to stop is set to.
static STOP: u32 = abort::CANCELLED;

/// A launch that nobody has waited for yet.
struct Launched {
    /// Which of the dispatches it is part of.
    dispatch: usize,
    workgroups: u64,
    slot: Option<Slot>,
    /// The most arrivals that a module's own counter may show.
    ceiling: Option<u64>,
    /// Its record says nothing of its end.
    quiet: bool,
    /// The grid barriers that it passed, if it is audited already.
    passed: Option<u32>,
}

/// A launch that is over, with the grid barriers that its grid passed.
#[derive(Clone, Copy, Debug)]
pub struct Landed {
    pub dispatch: usize,
    pub barriers: u64,
}

pub struct Flight<'f> {
    device: &'f Device,
    entered: &'f Entered<'f>,
    compiled: &'f Compiled,
    stream: StreamHandle,
    launched: SmallVec<[Launched; 1]>,
    /// Taken for launches to come.
    spare: SmallVec<[Slot; 1]>,
    /// Whether what was waited for had to be told to stop.
    late: bool,
}

/// One launch's grid.
pub struct Grid {
    pub dispatch: usize,
    pub workgroups: [u32; 3],
    pub total: u64,
    pub cooperative: bool,
    /// Nanoseconds that a wait inside of the kernel may take.
    pub limit: u64,
}

impl<'f> Flight<'f> {
    pub fn new(
        device: &'f Device,
        entered: &'f Entered<'f>,
        compiled: &'f Compiled,
        stream: StreamHandle,
    ) -> Flight<'f> {
        Flight {
            device,
            entered,
            compiled,
            stream,
            launched: SmallVec::new(),
            spare: SmallVec::new(),
            late: false,
        }
    }

    pub fn is_full(&self) -> bool {
        self.launched.len() == MOST
    }

    /// Enqueues one run of a grid, behind which `more` are going to be. Under the module-scope contract the counter is
    /// reset before, and copied to the launch's record behind it.
    pub fn launch(
        &mut self,
        grid: &Grid,
        arguments: &mut Arguments<'_>,
        lease: &Lease<'_>,
        more: usize,
    ) -> Result<()> {
        let shape = Shape::of(grid.total);
        // When the flight is full, it lands. And the first workgroup to end does not know that all releases are out.
        let quiet = more > 0 && self.launched.len() + 1 < MOST && shape != Shape::Releases;
        let ceiling = lease.ceiling(grid.workgroups)?;
        let slot = match self.compiled.needs_slot() {
            true => {
                let mut slot = self.slot(more)?;
                slot.arm();
                arguments.set_slot(&slot, shape, grid.limit, quiet);
                Some(slot)
            }
            false => None,
        };
        let enqueued = lease
            .enqueue_reset(|address| self.reset(address))
            .and_then(|()| self.enqueue(grid, arguments));
        if let Err(error) = enqueued {
            // It never began, so the counter stands where it stood.
            self.spare.extend(slot);
            return Err(error);
        }
        self.device.counters.launches.fetch_add(1, Relaxed);
        // A launch whose counter could not be read back is under way all the same; the error fails its dispatch.
        let read_back = match (&slot, self.compiled.counter()) {
            (Some(slot), Some(counter)) => self.read_back(slot, counter),
            _ => Ok(()),
        };
        if let Some(earlier) = self.launched.len().checked_sub(LIKELY_OVER) {
            let slot = self.launched[earlier].slot.as_ref();
            slot.inspect(|slot| slot.prefetch());
        }
        self.launched.push(Launched {
            dispatch: grid.dispatch,
            workgroups: grid.total,
            slot,
            ceiling,
            quiet,
            passed: None,
        });
        read_back
    }

    /// A slot for one launch; those for `more` of this flight are taken with it.
    fn slot(&mut self, more: usize) -> Result<Slot> {
        loop {
            if let Some(slot) = self.spare.pop() {
                return Ok(slot);
            }
            let room = MOST - self.launched.len();
            let count = room.min(more + 1);
            self.launched.reserve(count);
            self.spare.reserve(count);
            (self.device.slots).take(self.device, self.entered, count, &mut self.spare)?;
        }
    }

    fn enqueue(&self, grid: &Grid, arguments: &mut Arguments<'_>) -> Result<()> {
        let [x, y, z] = grid.workgroups;
        let [w, h, d] = self.compiled.reflection.workgroup_size;
        let dynamic = self.compiled.dynamic();
        let function = self.compiled.function.raw();
        let stream = self.stream.raw();
        let api = self.entered.api();
        let mut pointers = arguments.pointers();
        let parameters = pointers.as_mut_ptr();
        // SAFETY: there is a pointer for each of the function's parameters, to a value of its size; what addresses
        // among them point to is kept by the dispatch until this launch is over.
        let (code, call) = unsafe {
            if grid.cooperative {
                let launch = api.launch_cooperative_kernel;
                let code = launch(function, x, y, z, w, h, d, dynamic, stream, parameters);
                (code, "cuLaunchCooperativeKernel")
            } else {
                let launch = api.launch_kernel;
                let extra = std::ptr::null_mut();
                let code = launch(
                    function, x, y, z, w, h, d, dynamic, stream, parameters, extra,
                );
                (code, "cuLaunchKernel")
            }
        };
        self.entered.check(code, call)
    }

    /// Zeroes a module's counter, and its abort word.
    fn reset(&self, counter: u64) -> Result<()> {
        let abort = self.compiled.counter().and_then(|counter| counter.abort);
        for address in std::iter::once(counter).chain(abort) {
            // SAFETY: the words are the module's, which is loaded, and nobody else launches it now.
            let code =
                unsafe { (self.entered.api().memset_d32_async)(address, 0, 1, self.stream.raw()) };
            self.entered.check(code, "cuMemsetD32Async")?;
        }
        Ok(())
    }

    fn read_back(&self, slot: &Slot, counter: &Counter) -> Result<()> {
        // SAFETY: the record is pinned memory that lives until the slot is given back, after the stream's end.
        let code = unsafe {
            (self.entered.api().memcpy_dtoh_async)(
                slot.place_for_counter(),
                counter.address,
                4,
                self.stream.raw(),
            )
        };
        self.entered.check(code, "cuMemcpyDtoHAsync")
    }

    /// Waits for everything under way and audits it, in order. The first failure is named by its dispatch;
    /// what landed before it is told.
    pub fn land(
        &mut self,
        deadline: Option<Instant>,
        landed: &mut dyn FnMut(Landed),
    ) -> Result<(), Failure> {
        self.synchronise(deadline)?;
        self.audit_all(landed)
    }

    /// Waits for everything under way.
    pub fn synchronise(&mut self, deadline: Option<Instant>) -> Result<(), Failure> {
        let Some(first) = self.launched.first().map(|launched| launched.dispatch) else {
            return Ok(());
        };
        match self.wait(deadline) {
            Ok(late) => {
                self.late = late;
                Ok(())
            }
            Err(error) => {
                // Launches that may not be over leave the context lost, and their slots are never used again.
                let is_over = !self.device.context.is_lost();
                for launched in std::mem::take(&mut self.launched) {
                    if let Some(slot) = launched.slot.filter(|_| is_over) {
                        self.device
                            .slots
                            .quarantine(self.entered, self.stream, slot);
                    }
                }
                Err((first, error))
            }
        }
    }

    /// Audits what `synchronise` has seen to end.
    pub fn audit_all(&mut self, landed: &mut dyn FnMut(Landed)) -> Result<(), Failure> {
        let late = std::mem::take(&mut self.late);
        let mut failure = None;
        for at in 0..self.launched.len() {
            let result = self.audit(&self.launched[at], late);
            let launched = &mut self.launched[at];
            let slot = launched.slot.take();
            match result {
                Ok((audited, barriers)) => {
                    if let Some(mut slot) = slot {
                        if let Some(audited) = audited {
                            slot.settle(audited, launched.workgroups);
                        }
                        self.spare.push(slot);
                    }
                    if failure.is_none() {
                        landed(Landed {
                            dispatch: launched.dispatch,
                            barriers,
                        });
                    }
                }
                Err(error) => {
                    if error.status() == Status::BarrierAudit {
                        self.device.counters.count_refusal();
                    }
                    if let Some(slot) = slot {
                        self.device
                            .slots
                            .quarantine(self.entered, self.stream, slot);
                    }
                    failure.get_or_insert((launched.dispatch, error));
                }
            }
        }
        self.launched.clear();
        match failure {
            Some(failure) => Err(failure),
            None => Ok(()),
        }
    }

    fn audit(&self, launched: &Launched, late: bool) -> Result<(Option<Audited>, u64)> {
        let Some(slot) = &launched.slot else {
            return Ok((None, 0));
        };
        if let Some(passed) = launched.passed {
            return Ok((None, passed.into()));
        }
        let name = &self.compiled.reflection.entry_point;
        let counters = &self.device.counters;
        if let Some(ceiling) = launched.ceiling {
            if late {
                return Err(Refusal::Aborted(abort::CANCELLED).error(name, launched.workgroups));
            }
            let observed = slot.read_back();
            raw::check_counter(name, observed, ceiling)?;
            counters.count_audit();
            return Ok((None, u64::from(observed) / launched.workgroups.max(1)));
        }
        if self.compiled.reflection.grid_barriers == 0 {
            // Nothing meets, but loops that might not end look at the time.
            let cause = slot.aborted().or(late.then_some(abort::CANCELLED));
            return match cause {
                None => Ok((None, 0)),
                Some(cause) => Err(Refusal::Aborted(cause).error(name, launched.workgroups)),
            };
        }
        match slot.audit(launched.workgroups) {
            Ok(audited) => {
                counters.count_audit();
                Ok((Some(audited), u64::from(audited.executed)))
            }
            Err(refusal) => {
                let refusal = match refusal {
                    // We told it to leave, so it wrote nothing.
                    Refusal::Unwritten if late => Refusal::Aborted(abort::CANCELLED),
                    refusal => refusal,
                };
                Err(refusal.error(name, launched.workgroups))
            }
        }
    }

    /// Whether everything had to be told to stop.
    fn wait(&mut self, deadline: Option<Instant>) -> Result<bool> {
        if self.has_landed() || wait::stream(self.entered, self.stream, deadline)? {
            return Ok(false);
        }
        // Also when they could not be told: while they go on, nothing that they use may be reused.
        let stopped = self.stop();
        if wait::stream(self.entered, self.stream, Some(Instant::now() + GRACE))? {
            return stopped.map(|()| true);
        }
        self.device.context.lose(HUNG);
        Err(Error::new(
            Status::Timeout,
            format!(
                "the dispatch of `{}` passed its time limit and did not stop within {} s; the backend is lost",
                self.compiled.reflection.entry_point,
                GRACE.as_secs()
            ),
        ))
    }

    /// Whether the last launch is seen to land within the time that most take. Its record tells so earlier
    /// than the driver does, and the launches before it are over then, being on the same stream.
    fn has_landed(&mut self) -> bool {
        match self.launched.last() {
            Some(Launched {
                slot: Some(_),
                quiet: false,
                ..
            }) if self.compiled.writes_records() => {}
            _ => return false,
        }
        let start = Instant::now();
        let mut first = 0;
        loop {
            first = self.audit_from(first);
            let Some(slot) = self.launched.last().and_then(|last| last.slot.as_ref()) else {
                return false;
            };
            // A look at the clock costs as much as many at the record.
            for _ in 0..64 {
                if slot.has_landed() {
                    return true;
                }
                std::hint::spin_loop();
            }
            if start.elapsed() > LANDING || slot.aborted().is_some() {
                return false;
            }
        }
    }

    /// Audits launches, while others are under way, whose successors have written: a launch begins when the one before
    /// is over. Where that fails it is left for later. Which one is the first that is not over yet.
    fn audit_from(&mut self, first: usize) -> usize {
        for at in first..self.launched.len().saturating_sub(1) {
            let next = self.launched[at + 1].slot.as_ref();
            if !next.is_some_and(|slot| slot.has_landed()) {
                return at;
            }
            let Launched {
                slot: Some(slot),
                workgroups,
                passed,
                ..
            } = &mut self.launched[at]
            else {
                continue;
            };
            if let Ok(audited) = slot.audit(*workgroups) {
                self.device.counters.count_audit();
                slot.settle(audited, *workgroups);
                *passed = Some(audited.executed);
            }
        }
        self.launched.len()
    }

    /// Sets the abort word of every launch under way.
    fn stop(&self) -> Result<()> {
        // The stream of the launches would wait for them.
        let control = self.device.streams.take(self.entered)?;
        let of_slots = self.launched.iter().filter_map(|launched| {
            let slot = launched.slot.as_ref()?;
            Some(slot.address + u64::from(slot::ABORT))
        });
        let of_the_module = self.compiled.counter().and_then(|counter| counter.abort);
        for word in of_slots.chain(of_the_module) {
            // A copy, not a fill: a fill may be a kernel, which has no place beside a grid that fills the device.
            // SAFETY: slots are ours and the module loaded until the launch is over; what is copied is static.
            let code = unsafe {
                (self.entered.api().memcpy_htod_async)(
                    word,
                    (&raw const STOP).cast(),
                    4,
                    control.raw(),
                )
            };
            self.entered.check(code, "cuMemcpyHtoDAsync")?;
        }
        wait::stream(self.entered, *control, Some(Instant::now() + GRACE))?;
        Ok(())
    }
}

impl Drop for Flight<'_> {
    fn drop(&mut self) {
        self.device.slots.give_back(self.spare.drain(..));
    }
}
