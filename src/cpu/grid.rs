//! One run of a grid: each phase is a parallel loop over the workgroups.

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::Relaxed};

use super::compiled::Compiled;
use super::emit::abi::{self, Context};
use super::frame::head;
use super::pool::Crew;
use crate::ir::phases::Keep;

/// Why a run ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The stop flag was set.
    Stopped,
    /// Invocations of one workgroup arrived at different places.
    Invocations {
        workgroup: [u32; 3],
        first: u32,
        other: u32,
        /// The local_invocation_index of the one that went elsewhere.
        invocation: u32,
    },
    /// Workgroups arrived at different places.
    Workgroups {
        first: u32,
        other: u32,
        workgroup: [u32; 3],
    },
}

pub struct Run<'r> {
    pub compiled: &'r Compiled,
    pub context: &'r Context,
    pub stop: &'r AtomicU32,
    pub total: u64,
    /// A frame of `frame.scratch_size` bytes for each thread of the crew.
    pub scratch: *mut u8,
    /// `frame.persistent_size` bytes for each workgroup.
    pub persistent: *mut u8,
}

// SAFETY: a Run is shared by the crew's threads; each uses its own scratch frame and the persistent
// frames of the workgroups that it took from the counter, and buffers are shared as the program says.
unsafe impl Sync for Run<'_> {}

/// What the workgroups of one phase found.
struct Verdict {
    /// Where the first one to finish arrived; `abi::STOPPED` until then.
    arrived: AtomicU32,
    failed: AtomicBool,
    fault: Mutex<Option<Fault>>,
}

impl Run<'_> {
    /// Runs until the end of the program; returns how many grid barriers were passed.
    pub fn run(&self, crew: &Crew<'_>) -> Result<u64, Fault> {
        let mut at = 0;
        let mut barriers = 0;
        loop {
            let next = self.phase(crew, at)?;
            if next == abi::END {
                return Ok(barriers);
            }
            barriers += 1;
            at = next;
        }
    }

    /// Runs every workgroup from one resume point to the next grid barrier or the end.
    fn phase(&self, crew: &Crew<'_>, at: u32) -> Result<u32, Fault> {
        let verdict = Verdict {
            arrived: AtomicU32::new(abi::STOPPED),
            failed: AtomicBool::new(false),
            fault: Mutex::new(None),
        };
        // Several shares per thread even out uneven ones; large ones keep the counter out of the way.
        let threads = crew.threads() as u64;
        let share = (self.total / (threads * 16)).clamp(1, 4096);
        let next = AtomicU64::new(0);
        crew.run(&|thread| {
            while !verdict.failed.load(Relaxed) {
                let first = next.fetch_add(share, Relaxed);
                if first >= self.total {
                    break;
                }
                let last = (first + share).min(self.total);
                self.share(&verdict, at, thread, first..last);
            }
        });
        let fault = verdict
            .fault
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        match fault {
            Some(fault) => Err(fault),
            None => Ok(verdict.arrived.into_inner()),
        }
    }

    fn share(&self, verdict: &Verdict, at: u32, thread: usize, workgroups: std::ops::Range<u64>) {
        let frame = &self.compiled.frame;
        // SAFETY: there is a scratch frame for every thread of the crew.
        let scratch = unsafe { self.scratch.add(thread * frame.scratch_size as usize) };
        let grid = self.context.workgroups;
        let width = u64::from(grid[0]);
        let plane = width * u64::from(grid[1]);
        for index in workgroups {
            let id = [index % width, index % plane / width, index / plane].map(|i| i as u32);
            // SAFETY: there is a persistent frame for every workgroup; none at all gives a null offset of 0.
            let persistent = unsafe {
                self.persistent
                    .add((index * frame.persistent_size) as usize)
            };
            let arrived = match self.workgroup(at, id, scratch, persistent) {
                Ok(code) => code,
                Err(fault) => return verdict.fail(fault),
            };
            let first = verdict
                .arrived
                .compare_exchange(abi::STOPPED, arrived, Relaxed, Relaxed);
            if let Err(first) = first
                && first != arrived
            {
                return verdict.fail(Fault::Workgroups {
                    first,
                    other: arrived,
                    workgroup: id,
                });
            }
            if self.stop.load(Relaxed) != 0 {
                return verdict.fail(Fault::Stopped);
            }
        }
    }

    /// Runs one workgroup up to a grid barrier or its end.
    fn workgroup(
        &self,
        mut at: u32,
        id: [u32; 3],
        scratch: *mut u8,
        persistent: *mut u8,
    ) -> Result<u32, Fault> {
        if at == 0 {
            for zeroed in &self.compiled.frame.zeroed {
                let base = match zeroed.keep {
                    Keep::Workgroup => scratch,
                    Keep::Grid => persistent,
                };
                // SAFETY: the range lies in the frame, which is this thread's for now.
                unsafe {
                    base.add(zeroed.offset as usize)
                        .write_bytes(0, zeroed.size as usize)
                };
            }
        }
        if let Some(exchange) = self.compiled.frame.subgroups {
            return self.in_turns(at, id, (exchange, scratch), persistent);
        }
        loop {
            let Some(segment) = self.compiled.code.segment(at) else {
                unreachable!("emitted code returns resume points that have segments");
            };
            // SAFETY: the context and both frames are as the code was emitted for, and the dispatch holds
            // the locks of all bound buffers.
            let code = unsafe { segment(self.context, id[0], id[1], id[2], scratch, persistent) };
            match code {
                abi::END => return Ok(code),
                abi::STOPPED => return Err(Fault::Stopped),
                abi::DISAGREED => {
                    let word = |offset: u64| {
                        // SAFETY: the head of the scratch frame holds aligned words that the code just wrote.
                        unsafe { scratch.add(offset as usize).cast::<u32>().read() }
                    };
                    return Err(Fault::Invocations {
                        workgroup: id,
                        first: word(head::FIRST),
                        other: word(head::OTHER),
                        invocation: word(head::INVOCATION),
                    });
                }
                code if self.compiled.is_grid_barrier(code) => return Ok(code),
                code => at = code,
            }
        }
    }
}

impl Verdict {
    /// Keeps the first fault; a disagreement says more than a stop.
    fn fail(&self, fault: Fault) {
        let mut kept = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.is_none_or(|kept| kept == Fault::Stopped) {
            *kept = Some(fault);
        }
        self.failed.store(true, Relaxed);
    }
}
