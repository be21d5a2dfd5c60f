//! Loaded programs, and dispatches of them.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use smallvec::SmallVec;

use super::arguments::{Arguments, Block, List};
use super::backend::CudaBackend;
use super::bound::{self, Bound};
use super::compiled::{Compiled, Origin};
use super::context::Entered;
use super::device::Device;
use super::flight::{Flight, GRACE, Grid, Landed};
use super::raw::{Failure, Lease, Steps};
use super::stream::StreamHandle;
use super::timer::Timer;
use super::wait;
use crate::backend::{Binding, BindingSource, Dispatch, Pending, Program, PtxContract, Report};
use crate::error::{Error, Result, Status};
use crate::plan::{self, LaunchPlan, Planned};
use crate::program::{BindingInfo, Reflection};

pub struct CudaProgram {
    pub backend: Arc<CudaBackend>,
    pub compiled: Arc<Compiled>,
    pub from_cache: bool,
}

/// A dispatch that was found right.
struct Planning<'a> {
    dispatch: Dispatch<'a>,
    launch: LaunchPlan,
    planned: SmallVec<[Planned; 8]>,
    cooperative: bool,
}

impl Program for CudaProgram {
    fn reflection(&self) -> &Reflection {
        &self.compiled.reflection
    }

    fn ptx(&self, contract: PtxContract) -> Result<String> {
        match (contract, &self.compiled.origin) {
            (PtxContract::ModuleScope, Origin::Emitted(_, source)) => {
                let device = self.backend.device();
                let target = device.target(&device.enter()?)?;
                source.export(&self.backend.program_limits(), target)
            }
            _ => Ok(self.compiled.text().to_owned()),
        }
    }

    fn warm_up(&self, dispatch: &Dispatch<'_>) -> Result<()> {
        let (_, planned) = self.check(dispatch)?;
        let device = self.backend.device();
        let entered = device.enter()?;
        let _stream = device.streams.take(&entered)?;
        let _events = [device.events.take(&entered)?, device.events.take(&entered)?];
        if self.compiled.needs_slot() {
            let slot = device.slots.take(device, &entered)?;
            device.slots.give_back(slot);
        }
        // All at once, as the dispatch holds them.
        let mut lent = Vec::new();
        for plan in &planned {
            if let BindingSource::Host { .. } = dispatch.bindings[plan.binding].source {
                lent.push(device.transient.take(device, &entered, plan.size)?);
            }
        }
        Ok(())
    }

    fn submit<'a>(&'a self, dispatch: Dispatch<'a>) -> Result<Box<dyn Pending + 'a>> {
        Ok(Box::new(CudaPending {
            program: self,
            planning: self.plan(dispatch)?,
        }))
    }

    fn run_batch(
        &self,
        dispatches: Vec<Dispatch<'_>>,
        done: &mut dyn FnMut(usize, Report),
    ) -> Result<(), (usize, Error)> {
        let mut batch = Vec::with_capacity(dispatches.len());
        for (index, dispatch) in dispatches.into_iter().enumerate() {
            match self.plan(dispatch) {
                Ok(planning) => batch.push(planning),
                Err(error) => {
                    // What stands before it runs.
                    self.run_all(&mut batch, done)?;
                    return Err((index, error));
                }
            }
        }
        self.run_all(&mut batch, done)
    }
}

struct CudaPending<'a> {
    program: &'a CudaProgram,
    planning: Planning<'a>,
}

impl Pending for CudaPending<'_> {
    fn wait(self: Box<Self>) -> Result<Report> {
        let mut report = Report::default();
        let mut batch = [self.planning];
        self.program
            .run(&mut batch, &mut |_, done| report = done)
            .map_err(|(_, error)| error)?;
        Ok(report)
    }
}

impl CudaProgram {
    fn plan<'a>(&self, dispatch: Dispatch<'a>) -> Result<Planning<'a>> {
        let (launch, planned) = self.check(&dispatch)?;
        let cooperative = dispatch.cooperative || self.compiled.reflection.grid_barriers > 0;
        Ok(Planning {
            dispatch,
            launch,
            planned,
            cooperative,
        })
    }

    /// Finds everything that is wrong with a dispatch.
    fn check(&self, dispatch: &Dispatch<'_>) -> Result<(LaunchPlan, SmallVec<[Planned; 8]>)> {
        let compiled = &*self.compiled;
        let reflection = &compiled.reflection;
        let cooperative = dispatch.cooperative || reflection.grid_barriers > 0;
        if cooperative {
            (self.backend.device().capabilities).check_cooperative(&reflection.entry_point)?;
        }
        let launch = plan::launch(
            reflection,
            self.backend.limits(),
            dispatch,
            compiled.at_once,
        )
        .map_err(|error| self.explained(error))?;
        Ok((launch, plan::bind(reflection, &dispatch.bindings)?))
    }

    /// Says of a grid that is too large what keeps it from being larger.
    fn explained(&self, error: Error) -> Error {
        if error.status() != Status::GridTooLarge {
            return error;
        }
        let why = self
            .compiled
            .limited_by(&self.backend.device().capabilities);
        Error::new(error.status(), format!("{}: {why}", error.message())).with_fix(error.fix())
    }

    /// Runs a batch in as few flights as possible: borrowed bindings are copied between their launches.
    fn run_all(
        &self,
        batch: &mut [Planning<'_>],
        done: &mut dyn FnMut(usize, Report),
    ) -> Result<(), (usize, Error)> {
        let borrows = batch.iter().any(|planning| planning.borrows());
        let size = if borrows { 1 } else { batch.len().max(1) };
        for (n, part) in batch.chunks_mut(size).enumerate() {
            let first = n * size;
            self.run(part, &mut |index, report| done(first + index, report))
                .map_err(|(index, error)| (first + index, error))?;
        }
        Ok(())
    }

    /// Runs a batch as one flight on one stream.
    fn run(
        &self,
        batch: &mut [Planning<'_>],
        done: &mut dyn FnMut(usize, Report),
    ) -> Result<(), Failure> {
        let device = self.backend.device();
        let begin = |error| (0, error);
        let entered = device.enter().map_err(begin)?;
        let wait = self.limit(&batch[0]);
        let _guards = {
            let uses = batch.iter().flat_map(|planning| planning.uses(self));
            bound::lock(device, uses, wait).map_err(begin)?
        };
        let lease = match self.compiled.counter() {
            Some(counter) => {
                let deadline = Instant::now().checked_add(wait);
                counter.lease(&self.compiled.reflection.entry_point, deadline)
            }
            None => Ok(Lease::inert()),
        };
        let lease = lease.map_err(begin)?;
        let stream = device.streams.take(&entered).map_err(begin)?;
        let reports = batch.iter().map(|planning| self.report(planning)).collect();
        let mut sequence = Sequence {
            program: self,
            device,
            entered: &entered,
            stream: *stream,
            batch,
            flight: Flight::new(device, &entered, &self.compiled, *stream),
            timer: Timer::default(),
            deadline: Some(Instant::now()),
            bounds: SmallVec::new(),
            tally: Tally { reports },
        };
        let result = lease.launch_then_release(&mut sequence);
        let Sequence {
            batch,
            timer,
            mut bounds,
            tally,
            ..
        } = sequence;
        if timer.is_used() && result.is_ok() {
            // The record is written before the events are, which are not long in coming.
            let soon = Instant::now() + GRACE;
            wait::stream(&entered, *stream, Some(soon)).map_err(begin)?;
        }
        if result.is_err() && device.context.is_lost() {
            for bound in bounds {
                bound.leak();
            }
            stream.abandon();
        } else if result.is_ok() {
            for (bound, planning) in bounds.iter_mut().zip(batch.iter_mut()) {
                bound
                    .copy_out(device, &entered, &mut planning.dispatch.bindings)
                    .map_err(begin)?;
            }
        }
        let complete = result
            .as_ref()
            .map_or_else(|failure| failure.0, |()| batch.len());
        for (index, mut report) in tally.reports.into_iter().take(complete).enumerate() {
            if batch[index].dispatch.timed {
                report.device_time_ns = timer.elapsed(&entered, index).map_err(begin)?;
            }
            done(index, report);
        }
        let counters = &device.counters;
        counters.synchronises.fetch_add(1, Relaxed);
        counters.dispatches.fetch_add(complete as u64, Relaxed);
        result.map_err(|(index, error)| (index, self.told(&batch[index], error)))
    }

    /// Not all runs of a dispatch could be done in time.
    fn late(&self, done: u32) -> Error {
        Error::new(
            Status::Timeout,
            format!(
                "the dispatch of `{}` passed its time limit when {done} of its runs were done",
                self.compiled.reflection.entry_point
            ),
        )
    }

    fn is_emitted(&self) -> bool {
        matches!(self.compiled.origin, Origin::Emitted(..))
    }

    fn limit(&self, planning: &Planning<'_>) -> Duration {
        let default = self.backend.limits().default_timeout;
        planning.dispatch.timeout.unwrap_or(default)
    }

    fn report(&self, planning: &Planning<'_>) -> Report {
        Report {
            workgroups: planning.launch.total,
            from_cache: self.from_cache,
            // A kernel of the caller's may have a barrier of its own, of which we know nothing.
            audited: !planning.cooperative
                || self.compiled.reflection.grid_barriers > 0
                || self.is_emitted(),
            ..Report::default()
        }
    }

    /// Adds the time limit to an error about it.
    fn told(&self, planning: &Planning<'_>, error: Error) -> Error {
        if error.status() != Status::Timeout {
            return error;
        }
        let limit = self.limit(planning).as_secs_f64();
        let message = format!(
            "{} (limit {limit:.3} s); what it wrote so far stays written",
            error.message()
        );
        Error::new(Status::Timeout, message).with_fix(error.fix())
    }
}

impl<'a> Planning<'a> {
    fn borrows(&self) -> bool {
        let is_host = |source: &BindingSource<'_>| matches!(source, BindingSource::Host { .. });
        self.dispatch.bindings.iter().any(|b| is_host(&b.source))
    }

    fn uses<'s>(
        &'s self,
        program: &'s CudaProgram,
    ) -> impl Iterator<Item = (&'s Binding<'a>, &'s BindingInfo)> {
        (self.planned.iter())
            .zip(&program.compiled.reflection.bindings)
            .map(|(plan, info)| (&self.dispatch.bindings[plan.binding], info))
    }

    fn arguments<'c>(&self, compiled: &'c Compiled, bound: &Bound<'_>) -> Arguments<'c> {
        let immediates = self.dispatch.immediates;
        match &compiled.origin {
            Origin::Emitted(emitted, _) => {
                let layout = &emitted.ptx.parameters;
                let mut block = Block::new(layout, self.launch.workgroups, immediates);
                let buffers = &emitted.buffers;
                for (index, (place, decl)) in bound.places.iter().zip(buffers).enumerate() {
                    block.set_buffer(index, place.address, decl.array_length(place.size));
                }
                Arguments::Block(block)
            }
            Origin::Raw(raw) => {
                Arguments::List(List::new(&raw.parameters, &bound.places, immediates))
            }
        }
    }
}

/// The launches of a batch.
struct Sequence<'r, 'b> {
    program: &'r CudaProgram,
    device: &'r Arc<Device>,
    entered: &'r Entered<'r>,
    stream: StreamHandle,
    batch: &'r mut [Planning<'b>],
    flight: Flight<'r>,
    timer: Timer<'r>,
    /// When everything launched so far has to be over.
    deadline: Option<Instant>,
    bounds: SmallVec<[Bound<'r>; 1]>,
    tally: Tally,
}

impl Steps for Sequence<'_, '_> {
    fn launch(&mut self, lease: &Lease<'_>) -> Result<(), Failure> {
        (0..self.batch.len()).try_for_each(|index| self.launch_one(index, lease))
    }

    fn synchronise(&mut self) -> Result<(), Failure> {
        self.flight.synchronise(self.deadline)
    }

    fn audit(&mut self) -> Result<(), Failure> {
        self.flight.audit_all(&mut |landed| self.tally.add(landed))
    }
}

impl Sequence<'_, '_> {
    /// Enqueues all runs of one dispatch. When as many are under way as may be, they land first.
    fn launch_one(&mut self, index: usize, lease: &Lease<'_>) -> Result<(), Failure> {
        let &mut Sequence {
            program,
            device,
            entered,
            stream,
            ..
        } = self;
        let here = |error| (index, error);
        let planning = &self.batch[index];
        let limit = program.limit(planning);
        self.deadline = self
            .deadline
            .and_then(|deadline| deadline.checked_add(limit));
        let compiled = &*program.compiled;
        let bound = Bound::new(
            device,
            entered,
            &compiled.reflection.bindings,
            &planning.planned,
            &planning.dispatch.bindings,
        )
        .map_err(here)?;
        let mut arguments = planning.arguments(compiled, &bound);
        self.bounds.push(bound);
        if planning.dispatch.timed {
            self.timer.start(device, entered, stream).map_err(here)?;
        }
        let grid = Grid {
            dispatch: index,
            workgroups: planning.launch.workgroups,
            total: planning.launch.total,
            cooperative: planning.cooperative,
            limit: u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX),
        };
        let repeat = planning.dispatch.repeat.max(1);
        for runs in 0..repeat {
            if self.flight.is_full() {
                let tally = &mut self.tally;
                self.flight
                    .land(self.deadline, &mut |landed| tally.add(landed))?;
                if self
                    .deadline
                    .is_some_and(|deadline| Instant::now() >= deadline)
                {
                    return Err((index, program.late(runs)));
                }
            }
            let more_follow = runs + 1 < repeat || index + 1 < self.batch.len();
            self.flight
                .launch(&grid, &mut arguments, lease, more_follow)
                .map_err(here)?;
        }
        if planning.dispatch.timed {
            self.timer.stop(device, entered, stream).map_err(here)?;
        }
        Ok(())
    }
}

/// What the dispatches of a batch have done so far.
struct Tally {
    reports: SmallVec<[Report; 1]>,
}

impl Tally {
    fn add(&mut self, landed: Landed) {
        let report = &mut self.reports[landed.dispatch];
        report.barriers += landed.barriers;
        report.arrivals += landed.barriers.saturating_mul(landed.workgroups);
    }
}
