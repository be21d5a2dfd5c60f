//! The CPU backend: phases as parallel loops over workgroups.
//!
//! `backend` and `buffer` implement the traits of [`crate::backend`]; `memory` is the bytes behind
//! a buffer and `counters` the telemetry.

mod backend;
mod buffer;
mod counters;
mod memory;

use std::sync::Arc;

use crate::backend::{Backend, BackendDesc, DeviceInfo, Kind};
use crate::error::Result;

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
    Ok(backend::CpuBackend::new(desc, reason)?)
}
