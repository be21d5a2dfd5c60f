//! Loaded programs, and dispatches of them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};

use smallvec::SmallVec;

use super::backend::CpuBackend;
use super::bound::Bound;
use super::compiled::Compiled;
use super::emit::abi::{BoundBuffer, Context};
use super::grid::{Fault, Run};
use crate::backend::{Dispatch, Program, PtxContract, Report};
use crate::error::{Error, Result, Status};
use crate::plan::{self, LaunchPlan, Planned};
use crate::program::Reflection;

pub struct CpuProgram {
    pub backend: Arc<CpuBackend>,
    pub compiled: Arc<Compiled>,
    pub from_cache: bool,
}

impl Program for CpuProgram {
    fn reflection(&self) -> &Reflection {
        &self.compiled.reflection
    }

    fn ptx(&self, _contract: PtxContract) -> Result<String> {
        Err(Error::new(
            Status::Unsupported,
            "the CPU backend compiles to the processor's own code; it has no PTX",
        )
        .with_fix("Ask a program that was loaded on a CUDA backend."))
    }

    fn warm_up(&self, dispatch: &Dispatch<'_>) -> Result<()> {
        // The workers run, and the code is compiled; there is nothing else to make.
        self.plan(dispatch).map(|_| ())
    }

    fn run(&self, dispatch: &mut Dispatch<'_>) -> Result<Report> {
        let (launch, planned) = self.plan(dispatch)?;
        let planning = Planning {
            program: self,
            dispatch,
            launch,
            planned,
        };
        planning.carry_out()
    }
}

impl CpuProgram {
    /// Finds everything that is wrong with a dispatch.
    fn plan(&self, dispatch: &Dispatch<'_>) -> Result<(LaunchPlan, SmallVec<[Planned; 8]>)> {
        let reflection = &self.compiled.reflection;
        let info = self.backend.limits();
        let launch = plan::launch(reflection, info, dispatch, u64::from(info.units))?;
        Ok((launch, plan::bind(reflection, &dispatch.bindings)?))
    }
}

/// A dispatch that was found right.
struct Planning<'p, 'd> {
    program: &'p CpuProgram,
    dispatch: &'p mut Dispatch<'d>,
    launch: LaunchPlan,
    planned: SmallVec<[Planned; 8]>,
}

/// Bytes of stack that any caller is taken to have left.
const CALLER_STACK: usize = 16 << 10;

/// What a load or an atomic out of bounds reads.
#[repr(align(64))]
struct Zeros([u8; 64]);
static ZEROS: Zeros = Zeros([0; 64]);

impl Planning<'_, '_> {
    /// The work is done here, on the caller's thread and the pool's.
    fn carry_out(self) -> Result<Report> {
        let backend = &self.program.backend;
        let limit = self
            .dispatch
            .timeout
            .unwrap_or(backend.limits().default_timeout);
        let start = Instant::now();
        let stop = Arc::new(AtomicU32::new(0));
        let _watch = backend.watchdog().watch(limit, &stop).ok_or_else(|| {
            Error::new(
                Status::OutOfHostMemory,
                "no thread could be started to watch over the time limit",
            )
        })?;
        let mut bound = Bound::new(
            backend,
            &self.program.compiled,
            &self.planned,
            &self.dispatch.bindings,
            limit,
        )?;
        let (work, barriers) = self.on_a_stack(|| self.run(bound.table(), &stop, limit, start))?;
        bound.copy_out(backend, &mut self.dispatch.bindings);
        let counters = backend.counters();
        counters.dispatches.fetch_add(1, Relaxed);
        counters.synchronises.fetch_add(1, Relaxed);
        if barriers > 0 {
            counters.audits.fetch_add(1, Relaxed);
        }
        Ok(Report {
            device_time_ns: u64::try_from(work.as_nanos()).unwrap_or(u64::MAX),
            barriers,
            arrivals: barriers.saturating_mul(self.launch.total),
            workgroups: self.launch.total,
            from_cache: self.program.from_cache,
            // Every phase compares where its workgroups arrived.
            audited: true,
        })
    }

    /// Runs `work` here, or, if the code needs a large stack, on a thread that has one: the caller's may
    /// be small.
    fn on_a_stack<T: Send>(&self, work: impl FnOnce() -> Result<T> + Send) -> Result<T> {
        if self.program.compiled.code.frame_size() <= CALLER_STACK {
            return work();
        }
        std::thread::scope(|scope| {
            std::thread::Builder::new()
                .name("vyre-dispatch".into())
                .stack_size(super::STACK_SIZE)
                .spawn_scoped(scope, work)
                .map_err(|error| {
                    Error::new(
                        Status::OutOfHostMemory,
                        format!("no thread with a large stack to run the program on: {error}"),
                    )
                })?
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    fn run(
        &self,
        bound: &[BoundBuffer],
        stop: &AtomicU32,
        limit: Duration,
        start: Instant,
    ) -> Result<(Duration, u64)> {
        let backend = &self.program.backend;
        let compiled = &*self.program.compiled;
        let crew = backend.pool().crew(self.launch.total > 1);
        let threads = crew.threads() as u64;
        let scratch = backend.frames(threads, compiled.frame.scratch_size)?;
        let persistent = backend.frames(self.launch.total, compiled.frame.persistent_size)?;
        let immediates = aligned(self.dispatch.immediates);
        let context = Context {
            stop,
            buffers: bound.as_ptr(),
            immediates: immediates.as_ptr().cast(),
            zeros: ZEROS.0.as_ptr(),
            workgroups: self.launch.workgroups,
            padding: 0,
        };
        let run = Run {
            compiled,
            context: &context,
            stop,
            total: self.launch.total,
            scratch: scratch.as_ptr(),
            persistent: persistent.as_ptr(),
        };
        let began = Instant::now();
        let mut barriers = 0;
        for done in 0..self.dispatch.repeat.max(1) {
            barriers += run
                .run(&crew)
                .map_err(|fault| self.error(fault, done, limit, start))?;
        }
        Ok((began.elapsed(), barriers))
    }

    fn error(&self, fault: Fault, done: u32, limit: Duration, start: Instant) -> Error {
        let compiled = &self.program.compiled;
        let name = &compiled.reflection.entry_point;
        match fault {
            Fault::Stopped => Error::new(
                Status::Timeout,
                format!(
                    "the dispatch of `{name}` was stopped after {:.3} s, past its time limit of {:.3} s \
                     ({done} of {} runs were done); what it wrote so far stays written",
                    start.elapsed().as_secs_f64(),
                    limit.as_secs_f64(),
                    self.dispatch.repeat.max(1),
                ),
            ),
            Fault::Invocations {
                workgroup: [x, y, z],
                first,
                other,
                invocation,
            } => compiled.error_at(
                Status::DispatchFailed,
                [first, other],
                &format!(
                    "not all invocations of workgroup ({x}, {y}, {z}) met at a barrier: invocation 0 reached {}, \
                     invocation {invocation} reached {}",
                    compiled.place(first),
                    compiled.place(other),
                ),
            )
            .with_fix(
                "Move the barrier out of the condition or loop that the invocations leave differently.",
            ),
            Fault::Workgroups {
                first,
                other,
                workgroup: [x, y, z],
            } => compiled.error_at(
                Status::BarrierAudit,
                [first, other],
                &format!(
                    "not all workgroups met at a grid barrier: one reached {}, workgroup ({x}, {y}, {z}) reached {}; \
                     the results are wrong",
                    compiled.place(first),
                    compiled.place(other),
                ),
            )
            .with_fix(
                "Make every workgroup reach the same grid barriers; VYRE_PROGRAM_TRUST_UNIFORMITY only silences the proof.",
            ),
        }
    }
}

/// The immediates at the alignment of their widest type.
fn aligned(bytes: &[u8]) -> SmallVec<[u64; 16]> {
    bytes
        .chunks(8)
        .map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_ne_bytes(word)
        })
        .collect()
}
