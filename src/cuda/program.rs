//! Loaded programs, and dispatches of them.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use smallvec::SmallVec;

use super::arguments::Arguments;
use super::backend::CudaBackend;
use super::bound::{self, Bound};
use super::compiled::Compiled;
use super::context::Entered;
use super::flight::{Flight, Grid, Landed};
use super::timer::Timer;
use super::wait;
use crate::backend::{BindingSource, Dispatch, Pending, Program, Report};
use crate::error::{Error, Result, Status};
use crate::plan::{self, LaunchPlan, Planned};
use crate::program::Reflection;

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

    fn ptx(&self) -> Result<String> {
        Ok(self.compiled.ptx.text.clone())
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
        let compiled = &*self.compiled;
        let reflection = &compiled.reflection;
        let cooperative = dispatch.cooperative || reflection.grid_barriers > 0;
        if cooperative {
            self.backend.check_cooperative(&reflection.entry_point)?;
        }
        let launch = plan::launch(
            reflection,
            self.backend.limits(),
            &dispatch,
            compiled.at_once,
        )
        .map_err(|error| self.explained(error))?;
        let planned = plan::bind(reflection, &dispatch.bindings)?;
        Ok(Planning {
            dispatch,
            launch,
            planned,
            cooperative,
        })
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
    ) -> Result<(), (usize, Error)> {
        let device = self.backend.device();
        let compiled = &*self.compiled;
        let begin = |error| (0, error);
        let entered = device.enter().map_err(begin)?;
        let wait = self.limit(&batch[0]);
        let _guards = {
            let uses = batch.iter().flat_map(|planning| planning.uses(compiled));
            bound::lock(device, uses, wait).map_err(begin)?
        };
        let stream = device.streams.take(&entered).map_err(begin)?;
        let mut tally = Tally {
            reports: batch.iter().map(|p| self.report(p)).collect(),
        };
        let mut flight = Flight::new(device, &entered, compiled, *stream);
        let mut timer = Timer::default();
        let mut deadline = Some(Instant::now());
        let mut bounds = SmallVec::<[Bound<'_>; 1]>::new();
        let mut failure = None;
        'batch: for (index, planning) in batch.iter().enumerate() {
            let limit = self.limit(planning);
            deadline = deadline.and_then(|deadline| deadline.checked_add(limit));
            let begun = self.bind(planning, &entered).and_then(|bound| {
                if planning.dispatch.timed {
                    timer.start(device, &entered, *stream)?;
                }
                Ok(bound)
            });
            let bound = match begun {
                Ok(bound) => bound,
                Err(error) => {
                    failure = Some((index, error));
                    break 'batch;
                }
            };
            let mut arguments = planning.arguments(compiled, &bound);
            bounds.push(bound);
            let grid = Grid {
                dispatch: index,
                workgroups: planning.launch.workgroups,
                total: planning.launch.total,
                cooperative: planning.cooperative,
                limit: u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX),
            };
            for done_runs in 0..planning.dispatch.repeat.max(1) {
                if flight.is_full() {
                    let landed = flight.land(deadline, &mut |l| tally.add(l));
                    let is_late = deadline.is_some_and(|deadline| Instant::now() >= deadline);
                    let landed = match landed {
                        Ok(()) if is_late => Err((index, self.late(done_runs))),
                        landed => landed,
                    };
                    if let Err(error) = landed {
                        failure = Some(error);
                        break 'batch;
                    }
                }
                if let Err(error) = flight.launch(&grid, &mut arguments) {
                    failure = Some((index, error));
                    break 'batch;
                }
            }
            if planning.dispatch.timed
                && let Err(error) = timer.stop(device, &entered, *stream)
            {
                failure = Some((index, error));
                break 'batch;
            }
        }
        let landed = flight.land(deadline, &mut |l| tally.add(l));
        // The first failure is the one of what was launched first.
        let failure = match (landed, failure) {
            (Err(early), _) => Some(early),
            (Ok(()), late) => late,
        };
        if timer.is_used() && failure.is_none() {
            // The record is written before the events are.
            wait::stream(&entered, *stream, None).map_err(begin)?;
        }
        if failure.is_some() && device.context.is_lost() {
            for bound in bounds {
                bound.leak();
            }
            stream.abandon();
        } else {
            for (bound, planning) in bounds.iter_mut().zip(batch.iter_mut()) {
                if failure.is_none() {
                    bound
                        .copy_out(device, &entered, &mut planning.dispatch.bindings)
                        .map_err(begin)?;
                }
            }
        }
        let complete = failure.as_ref().map_or(batch.len(), |(index, _)| *index);
        for (index, mut report) in tally.reports.into_iter().take(complete).enumerate() {
            if batch[index].dispatch.timed {
                report.device_time_ns = timer.elapsed(&entered, index).map_err(begin)?;
            }
            done(index, report);
        }
        let counters = &device.counters;
        counters.synchronises.fetch_add(1, Relaxed);
        counters.dispatches.fetch_add(complete as u64, Relaxed);
        match failure {
            None => Ok(()),
            Some((index, error)) => Err((index, self.told(&batch[index], error))),
        }
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

    fn bind<'d>(&'d self, planning: &Planning<'_>, entered: &'d Entered<'d>) -> Result<Bound<'d>> {
        Bound::new(
            self.backend.device(),
            entered,
            &self.compiled.buffers,
            &planning.planned,
            &planning.dispatch.bindings,
        )
    }

    fn limit(&self, planning: &Planning<'_>) -> Duration {
        let default = self.backend.limits().default_timeout;
        planning.dispatch.timeout.unwrap_or(default)
    }

    fn report(&self, planning: &Planning<'_>) -> Report {
        Report {
            workgroups: planning.launch.total,
            from_cache: self.from_cache,
            audited: true,
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
        compiled: &'s Compiled,
    ) -> impl Iterator<Item = (&'s crate::backend::Binding<'a>, &'s crate::ir::BufferDecl)> {
        (self.planned.iter())
            .zip(&compiled.buffers)
            .map(|(plan, decl)| (&self.dispatch.bindings[plan.binding], decl))
    }

    fn arguments<'c>(&self, compiled: &'c Compiled, bound: &Bound<'_>) -> Arguments<'c> {
        let mut arguments = Arguments::new(
            &compiled.ptx.parameters,
            self.launch.workgroups,
            self.dispatch.immediates,
        );
        for (index, (place, decl)) in bound.places.iter().zip(&compiled.buffers).enumerate() {
            arguments.set_buffer(index, place.address, decl.array_length(place.size));
        }
        arguments
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
