//! Kernels of the caller's: PTX text with a list of what each parameter is given.
//!
//! `load` turns a description into something to launch, held against what `scan` reads in the text and
//! what the driver knows about the function (`parameters`). A module that declares the counter
//! `_vyre_grid_barrier` is under the module-scope contract: `gate` lets one launch sequence at a time pass,
//! `lease` is the right to be that one, and `audit` says how far the counter may have come.

mod audit;
mod gate;
mod lease;
mod load;
mod parameters;
mod scan;

use std::time::Instant;

pub use audit::check as check_counter;
pub use lease::{Failure, Lease, Steps};
pub use load::{check, compile};
pub use parameters::Passed;

use crate::error::{Error, Result, Status};
use gate::Gate;

pub struct Raw {
    pub text: String,
    /// By kernel parameter.
    pub parameters: Vec<Passed>,
    /// Bytes of shared memory to ask for at the launch.
    pub dynamic: u32,
    pub counter: Option<Counter>,
}

/// The counter of a module under the module-scope contract. One module, one counter, one gate.
pub struct Counter {
    pub address: u64,
    /// The word that tells waiting workgroups to leave, if the module has one.
    pub abort: Option<u64>,
    barriers: u64,
    gate: Gate,
}

impl Counter {
    fn new(address: u64, abort: Option<u64>, barriers: u64) -> Counter {
        Counter {
            address,
            abort,
            barriers,
            gate: Gate::new(),
        }
    }

    /// The right to launch; waits for who has it, but not past the deadline.
    pub fn lease(&self, kernel: &str, deadline: Option<Instant>) -> Result<Lease<'_>> {
        let guard = self.gate.acquire(deadline).ok_or_else(|| {
            Error::new(
                Status::Timeout,
                format!(
                    "the dispatch of `{kernel}` passed its time limit while another one used the module's {}; nothing was launched",
                    scan::COUNTER
                ),
            )
            .with_fix("Wait longer, or load the module once for each thread that dispatches it (with a label of its own).")
        })?;
        Ok(Lease::new(guard, self.address, self.barriers))
    }
}
