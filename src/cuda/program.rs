//! Loaded programs, and dispatches of them.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use smallvec::SmallVec;

use super::arguments::Arguments;
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
use crate::backend::{Binding, BindingSource, Dispatch, Program, PtxContract, Report};
use crate::error::{Error, Result, Status};
use crate::plan::{self, LaunchPlan, Planned};
use crate::program::{BindingInfo, Reflection};

pub struct CudaProgram {
    pub backend: Arc<CudaBackend>,
    pub compiled: Arc<Compiled>,
    pub from_cache: bool,
}

/// Dispatches that were found right.
#[derive(Default)]
struct Plan {
    launches: SmallVec<[Planning; 1]>,
    /// The bindings of one behind those of the other.
    planned: SmallVec<[Planned; 8]>,
}

struct Planning {
    launch: LaunchPlan,
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
        let mut plan = Plan::default();
        self.plan(dispatch, &mut plan)?;
        let device = self.backend.device();
        let entered = device.enter()?;
        let _stream = device.streams.take(&entered)?;
        let _events = [device.events.take(&entered)?, device.events.take(&entered)?];
        if self.compiled.needs_slot() {
            device.slots.warm_up(device, &entered)?;
        }
        // All at once, as the dispatch holds them.
        let mut lent = Vec::new();
        for plan in &plan.planned {
            if let BindingSource::Host { .. } = dispatch.bindings[plan.binding].source {
                lent.push(device.transient.take(device, &entered, plan.size)?);
            }
        }
        Ok(())
    }

    fn run(&self, dispatch: &mut Dispatch<'_>) -> Result<Report> {
        let mut plan = Plan::default();
        self.plan(dispatch, &mut plan)?;
        let mut report = Report::default();
        let dispatches = std::slice::from_mut(dispatch);
        self.run_part(&plan, 0, dispatches, 1, &mut |_, done| report = done)
            .map_err(|(_, error)| error)?;
        Ok(report)
    }

    fn run_batch(
        &self,
        dispatches: &mut [Dispatch<'_>],
        done: &mut dyn FnMut(usize, Report),
    ) -> Result<(), (usize, Error)> {
        let mut plan = Plan::default();
        plan.launches.reserve(dispatches.len());
        let mut count = 0;
        let mut wrong = None;
        for dispatch in &*dispatches {
            if let Err(error) = self.plan(dispatch, &mut plan) {
                wrong = Some((count, error));
                break;
            }
            count += dispatch.times;
        }
        // What stands before the one that is wrong runs.
        let dispatches = &mut dispatches[..plan.launches.len()];
        if !dispatches.iter().any(borrows) {
            if count > 0 {
                self.run_part(&plan, 0, dispatches, count, done)?;
            }
            return wrong.map_or(Ok(()), Err);
        }
        // Borrowed bindings are copied between the launches.
        let mut index = 0;
        for (which, dispatch) in dispatches.iter_mut().enumerate() {
            for _ in 0..std::mem::replace(&mut dispatch.times, 1) {
                let one = std::slice::from_mut(dispatch);
                self.run_part(&plan, which, one, 1, &mut |_, report| done(index, report))
                    .map_err(|(_, error)| (index, error))?;
                index += 1;
            }
        }
        wrong.map_or(Ok(()), Err)
    }
}

fn borrows(dispatch: &Dispatch<'_>) -> bool {
    let is_host = |source: &BindingSource<'_>| matches!(source, BindingSource::Host { .. });
    dispatch.bindings.iter().any(|b| is_host(&b.source))
}

impl CudaProgram {
    /// Finds everything that is wrong with a dispatch.
    fn plan(&self, dispatch: &Dispatch<'_>, plan: &mut Plan) -> Result<()> {
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
        plan::bind_onto(&mut plan.planned, reflection, &dispatch.bindings)?;
        plan.launches.push(Planning {
            launch,
            cooperative,
        });
        Ok(())
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

    /// Runs dispatches, of which the plan's `first` is the first and which are `count` with all their times, as one flight
    /// on one stream.
    fn run_part(
        &self,
        plan: &Plan,
        first: usize,
        dispatches: &mut [Dispatch<'_>],
        count: usize,
        done: &mut dyn FnMut(usize, Report),
    ) -> Result<(), Failure> {
        let infos = &self.compiled.reflection.bindings;
        let part = Part {
            launches: &plan.launches[first..][..dispatches.len()],
            planned: &plan.planned[first * infos.len()..],
            infos,
        };
        let device = self.backend.device();
        let begin = |error| (0, error);
        let entered = device.enter().map_err(begin)?;
        let wait = self.limit(&dispatches[0]);
        let _guards = {
            let uses = dispatches.iter().enumerate();
            let uses = uses.flat_map(|(index, dispatch)| part.uses(index, dispatch));
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
        let mut sequence = Sequence {
            program: self,
            device,
            entered: &entered,
            stream: *stream,
            part,
            dispatches,
            count,
            flight: Flight::new(device, &entered, &self.compiled, *stream),
            arguments: Arguments::of(&self.compiled),
            timer: Timer::default(),
            began: None,
            allowed: Some(Duration::ZERO),
            bound: Bound::default(),
            tally: Tally::of(count),
        };
        let result = lease.launch_then_release(&mut sequence);
        if sequence.timer.is_used() && result.is_ok() {
            // The record is written before the events are, which are not long in coming.
            let soon = Instant::now() + GRACE;
            wait::stream(&entered, *stream, Some(soon)).map_err(begin)?;
        }
        if result.is_err() && device.context.is_lost() {
            std::mem::take(&mut sequence.bound).leak();
            stream.abandon();
        } else if result.is_ok() {
            (sequence.bound)
                .copy_out(device, &entered, sequence.dispatches)
                .map_err(begin)?;
        }
        let complete = result.as_ref().map_or_else(|failure| failure.0, |()| count);
        let mut passed = (sequence.tally.passed.iter().take(complete)).enumerate();
        for (dispatch, planning) in sequence.dispatches.iter().zip(part.launches) {
            for (index, &barriers) in passed.by_ref().take(dispatch.times) {
                let mut report = self.report(planning, barriers);
                if dispatch.timed {
                    report.device_time_ns =
                        (sequence.timer).elapsed(&entered, index).map_err(begin)?;
                }
                done(index, report);
            }
        }
        let counters = &device.counters;
        counters.synchronises.fetch_add(1, Relaxed);
        counters.dispatches.fetch_add(complete as u64, Relaxed);
        result.map_err(|(index, error)| {
            let limit = self.limit(sequence.dispatch(index));
            (index, told(limit, error))
        })
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

    fn limit(&self, dispatch: &Dispatch<'_>) -> Duration {
        let default = self.backend.limits().default_timeout;
        dispatch.timeout.unwrap_or(default)
    }

    fn report(&self, planning: &Planning, barriers: u64) -> Report {
        let workgroups = planning.launch.total;
        Report {
            workgroups,
            barriers,
            arrivals: barriers.saturating_mul(workgroups),
            from_cache: self.from_cache,
            // A kernel of the caller's may have a barrier of its own, of which we know nothing.
            audited: !planning.cooperative
                || self.compiled.reflection.grid_barriers > 0
                || self.is_emitted(),
            ..Report::default()
        }
    }
}

/// Adds the time limit to an error about it.
fn told(limit: Duration, error: Error) -> Error {
    if error.status() != Status::Timeout {
        return error;
    }
    let message = format!(
        "{} (limit {:.3} s); what it wrote so far stays written",
        error.message(),
        limit.as_secs_f64()
    );
    Error::new(Status::Timeout, message).with_fix(error.fix())
}

/// What of a plan one flight does.
#[derive(Clone, Copy)]
struct Part<'p> {
    launches: &'p [Planning],
    planned: &'p [Planned],
    infos: &'p [BindingInfo],
}

impl<'p> Part<'p> {
    fn planned(&self, index: usize) -> &'p [Planned] {
        &self.planned[index * self.infos.len()..][..self.infos.len()]
    }

    fn uses<'s>(
        &self,
        index: usize,
        dispatch: &'s Dispatch<'s>,
    ) -> impl Iterator<Item = (&'s Binding<'s>, &'p BindingInfo)> {
        (self.planned(index).iter())
            .zip(self.infos)
            .map(|(plan, info)| (&dispatch.bindings[plan.binding], info))
    }
}

/// The launches of a batch.
struct Sequence<'r, 'b> {
    program: &'r CudaProgram,
    device: &'r Arc<Device>,
    entered: &'r Entered<'r>,
    stream: StreamHandle,
    part: Part<'r>,
    dispatches: &'r mut [Dispatch<'b>],
    /// How many they are with all their times.
    count: usize,
    flight: Flight<'r>,
    arguments: Arguments<'r>,
    timer: Timer<'r>,
    /// When the first launch was.
    began: Option<Instant>,
    /// How long everything launched so far may take; `None` for as long as it takes.
    allowed: Option<Duration>,
    bound: Bound<'r>,
    tally: Tally,
}

impl Steps for Sequence<'_, '_> {
    fn launch(&mut self, lease: &Lease<'_>) -> Result<(), Failure> {
        let mut first = 0;
        for which in 0..self.dispatches.len() {
            self.launch_all(which, first, lease)?;
            first += self.dispatches[which].times;
        }
        Ok(())
    }

    fn synchronise(&mut self) -> Result<(), Failure> {
        self.flight.synchronise(self.deadline())
    }

    fn audit(&mut self) -> Result<(), Failure> {
        self.flight.audit_all(&mut |landed| self.tally.add(landed))
    }
}

impl Sequence<'_, '_> {
    /// When everything launched so far has to be over.
    fn deadline(&self) -> Option<Instant> {
        let began = self.began.unwrap_or_else(Instant::now);
        began.checked_add(self.allowed?)
    }

    /// The dispatch that the one with this index of the batch is.
    fn dispatch(&self, index: usize) -> &Dispatch<'_> {
        let mut end = 0;
        let is_in = |dispatch: &&Dispatch<'_>| {
            end += dispatch.times;
            index < end
        };
        let found = self.dispatches.iter().find(is_in);
        found.expect("only dispatches of the batch fail")
    }

    /// Enqueues all times of one dispatch, which have the indices from `first` on in the batch.
    fn launch_all(&mut self, which: usize, first: usize, lease: &Lease<'_>) -> Result<(), Failure> {
        let part = self.part;
        let dispatch = &self.dispatches[which];
        let Planning {
            launch,
            cooperative,
        } = &part.launches[which];
        let limit = self.program.limit(dispatch);
        let bindings = (which, &*dispatch.bindings);
        self.bound
            .bind(
                self.device,
                self.entered,
                part.infos,
                part.planned(which),
                bindings,
            )
            .map_err(|error| (first, error))?;
        (self.arguments).set(launch.workgroups, &self.bound.places, dispatch.immediates);
        let timed = dispatch.timed;
        let repeat = dispatch.repeat.max(1);
        let mut grid = Grid {
            dispatch: first,
            workgroups: launch.workgroups,
            total: launch.total,
            cooperative: *cooperative,
            limit: u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX),
        };
        for _ in 0..dispatch.times {
            self.allowed = (self.allowed).and_then(|allowed| allowed.checked_add(limit));
            self.launch_one(&grid, (timed, repeat), lease)?;
            grid.dispatch += 1;
        }
        Ok(())
    }

    /// Enqueues all runs of one dispatch. When as many are under way as may be, they land first.
    fn launch_one(
        &mut self,
        grid: &Grid,
        (timed, repeat): (bool, u32),
        lease: &Lease<'_>,
    ) -> Result<(), Failure> {
        let (device, entered, stream) = (self.device, self.entered, self.stream);
        let index = grid.dispatch;
        let here = |error| (index, error);
        if timed {
            self.timer.start(device, entered, stream).map_err(here)?;
        }
        for runs in 0..repeat {
            if self.flight.is_full() {
                let deadline = self.deadline();
                let tally = &mut self.tally;
                self.flight
                    .land(deadline, &mut |landed| tally.add(landed))?;
                if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                    return Err((index, self.program.late(runs)));
                }
            }
            let of_this = (repeat - runs - 1) as usize;
            let more = of_this + (self.count - index - 1);
            self.flight
                .launch(grid, &mut self.arguments, lease, more)
                .map_err(here)?;
            self.began.get_or_insert_with(Instant::now);
        }
        if timed {
            self.timer.stop(device, entered, stream).map_err(here)?;
        }
        Ok(())
    }
}

/// The grid barriers that each of a flight's dispatches has passed so far.
struct Tally {
    passed: SmallVec<[u64; 1]>,
}

impl Tally {
    fn of(dispatches: usize) -> Tally {
        let passed = match dispatches {
            1 => SmallVec::from_buf([0]),
            // Zeroed at once.
            _ => vec![0; dispatches].into(),
        };
        Tally { passed }
    }

    fn add(&mut self, landed: Landed) {
        self.passed[landed.dispatch] += landed.barriers;
    }
}
