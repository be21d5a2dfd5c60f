//! Launches of one program under way on one stream, and their end: awaited, audited, and attributed.

use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use smallvec::SmallVec;

use super::arguments::Arguments;
use super::compiled::Compiled;
use super::context::{Entered, HUNG};
use super::device::Device;
use super::ptx::abi::{abort, slot};
use super::slot::{Refusal, Slot};
use super::stream::StreamHandle;
use super::wait;
use crate::error::{Error, Result, Status};

/// Launches that are under way at most: no more can be lost to a time limit than this, and no more slots
/// are taken.
pub const MOST: usize = 128;

/// How long a kernel that was told to stop may take to look.
const GRACE: Duration = Duration::from_secs(5);

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
}

/// A launch that is over, with the grid barriers that its grid passed.
#[derive(Clone, Copy, Debug)]
pub struct Landed {
    pub dispatch: usize,
    pub barriers: u64,
    pub workgroups: u64,
}

pub struct Flight<'f> {
    device: &'f Device,
    entered: &'f Entered<'f>,
    compiled: &'f Compiled,
    stream: StreamHandle,
    launched: SmallVec<[Launched; 1]>,
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
        }
    }

    pub fn is_full(&self) -> bool {
        self.launched.len() == MOST
    }

    pub fn launch(&mut self, grid: &Grid, arguments: &mut Arguments<'_>) -> Result<()> {
        let slot = match self.compiled.ptx.parameters.control {
            Some(_) => {
                let mut slot = self.device.slots.take(self.entered)?;
                slot.arm();
                arguments.set_slot(&slot, grid.limit);
                Some(slot)
            }
            None => None,
        };
        let mut parameters = [arguments.as_mut_ptr()];
        let [x, y, z] = grid.workgroups;
        let [w, h, d] = self.compiled.reflection.workgroup_size;
        let dynamic = self.compiled.ptx.shared.dynamic as u32;
        let function = self.compiled.function.raw();
        let stream = self.stream.raw();
        let api = self.entered.api();
        let parameters = parameters.as_mut_ptr();
        // SAFETY: the function has one parameter, a block of the layout's size, which the arguments hold; what
        // its addresses point to is kept by the dispatch until this launch is over.
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
        if let Err(error) = self.entered.check(code, call) {
            // It never began, so the counter stands where it stood.
            if let Some(slot) = slot {
                self.device.slots.give_back(slot);
            }
            return Err(error);
        }
        self.device.counters.launches.fetch_add(1, Relaxed);
        self.launched.push(Launched {
            dispatch: grid.dispatch,
            workgroups: grid.total,
            slot,
        });
        Ok(())
    }

    /// Waits for everything under way and audits it, in order. The first failure is named by its dispatch;
    /// what landed before it is told.
    pub fn land(
        &mut self,
        deadline: Option<Instant>,
        landed: &mut dyn FnMut(Landed),
    ) -> Result<(), (usize, Error)> {
        let Some(first) = self.launched.first().map(|launched| launched.dispatch) else {
            return Ok(());
        };
        let late = self.wait(deadline).map_err(|error| {
            // Slots of launches that may not be over are never used again.
            self.launched.clear();
            (first, error)
        })?;
        let mut failure = None;
        for launched in std::mem::take(&mut self.launched) {
            let result = self.audit(&launched, late);
            let slot = launched.slot;
            match result {
                Ok((slot_use, barriers)) => {
                    if let Some(mut slot) = slot {
                        if let Some(audited) = slot_use {
                            slot.settle(audited, launched.workgroups);
                        }
                        self.device.slots.give_back(slot);
                    }
                    if failure.is_none() {
                        landed(Landed {
                            dispatch: launched.dispatch,
                            barriers,
                            workgroups: launched.workgroups,
                        });
                    }
                }
                Err(error) => {
                    if let Some(slot) = slot {
                        self.device
                            .slots
                            .quarantine(self.entered, self.stream, slot);
                    }
                    failure.get_or_insert((launched.dispatch, error));
                }
            }
        }
        match failure {
            Some(failure) => Err(failure),
            None => Ok(()),
        }
    }

    fn audit(
        &self,
        launched: &Launched,
        late: bool,
    ) -> Result<(Option<super::slot::Audited>, u64)> {
        let Some(slot) = &launched.slot else {
            return Ok((None, 0));
        };
        let name = &self.compiled.reflection.entry_point;
        if self.compiled.reflection.grid_barriers == 0 {
            // Nothing meets, but loops that might not end look at the time.
            let cause = slot.aborted().or(late.then_some(abort::CANCELLED));
            return match cause {
                None => Ok((None, 0)),
                Some(cause) => Err(Refusal::Aborted(cause).error(name, launched.workgroups)),
            };
        }
        let counters = &self.device.counters;
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
                let error = refusal.error(name, launched.workgroups);
                if error.status() == Status::BarrierAudit {
                    counters.count_refusal();
                }
                Err(error)
            }
        }
    }

    /// Whether everything had to be told to stop.
    fn wait(&self, deadline: Option<Instant>) -> Result<bool> {
        if self.has_landed() || wait::stream(self.entered, self.stream, deadline)? {
            return Ok(false);
        }
        self.stop()?;
        if wait::stream(self.entered, self.stream, Some(Instant::now() + GRACE))? {
            return Ok(true);
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
    fn has_landed(&self) -> bool {
        let slot = match self.launched.last() {
            Some(Launched {
                slot: Some(slot), ..
            }) if self.compiled.reflection.grid_barriers > 0 => slot,
            _ => return false,
        };
        let start = Instant::now();
        loop {
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

    /// Sets the abort word of every launch under way.
    fn stop(&self) -> Result<()> {
        // The stream of the launches would wait for them.
        let control = self.device.streams.take(self.entered)?;
        for slot in self.launched.iter().filter_map(|l| l.slot.as_ref()) {
            // A copy, not a fill: a fill may be a kernel, which has no place beside a grid that fills the device.
            // SAFETY: the slot is ours until the launch is over, and the word is static.
            let code = unsafe {
                (self.entered.api().memcpy_htod_async)(
                    slot.address + u64::from(slot::ABORT),
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
