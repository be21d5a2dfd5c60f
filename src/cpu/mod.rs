//! The CPU backend: phases as parallel loops over workgroups.
//!
//! `backend`, `buffer` and `program` implement the traits of [`crate::backend`]. `compiled` is a program
//! made ready by `emit` (IR to machine code) with its state laid out by `frame`.
//! `grid` runs it (in `turns` and with `subgroup` where subgroups meet), on the threads of `pool`, under the eye of `watchdog`, over the memory that
//! `bound` locked and copied. `memory` and `recycler` are the bytes.

mod backend;
mod bound;
mod buffer;
mod compiled;
mod emit;
mod frame;
mod grid;
mod memory;
mod pool;
mod program;
mod recycler;
mod subgroup;
mod turns;
mod watchdog;

use std::sync::Arc;

use crate::backend::{Backend, BackendDesc, DeviceInfo, Kind};
use crate::error::Result;

/// Invocations of one subgroup.
pub const SUBGROUP_SIZE: u32 = 32;

/// Stack of the pool's threads, in bytes: emitted functions with many live values have large frames.
const STACK_SIZE: usize = 16 << 20;

/// The CPU as a device.
pub fn device() -> DeviceInfo {
    DeviceInfo {
        kind: Kind::Cpu,
        ordinal: 0,
        name: backend::processor_name(),
        memory: memory::physical_bytes(),
        units: backend::available_threads(),
        compute_capability: (0, 0),
        unusable_because: String::new(),
    }
}

pub fn acquire(desc: &BackendDesc, reason: String) -> Result<Arc<dyn Backend>> {
    Ok(backend::CpuBackend::new(desc, reason))
}
