//! The CUDA backend. Arrows: `cuda -> {plan, program, ir}`; `cpu` and `cuda` never see each other.
//!
//! `backend`, `buffer` and `program` implement the traits of [`crate::backend`]. They share a `device`: its
//! `capabilities`, its `context` as the `driver` gives it, and the pools of `stream` and `slot`. `compiled` is
//! a program made ready: `ptx` turns it into text for the `target`, which makes it `emitted` and is kept in the
//! `disk_cache`, and `module` has it assembled; `raw` loads kernels of the caller's. A dispatch finds its memory
//! in `bound`, hands it over in `arguments`, and is a `flight` of launches that end by `wait` and `audit`;
//! `timer` takes the time.

mod arguments;
mod audit;
mod backend;
mod bound;
mod buffer;
mod capabilities;
mod compiled;
mod context;
mod device;
mod disk_cache;
pub mod driver;
mod emitted;
mod flight;
mod memory;
mod module;
pub mod placement;
mod program;
pub mod ptx;
mod raw;
mod slot;
#[cfg(test)]
mod stale;
mod stream;
mod target;
mod timer;
mod wait;

use std::sync::Arc;

use crate::backend::{Backend, BackendDesc, DeviceInfo, Kind, ProgramDesc};
use crate::error::{Error, Result};
use capabilities::Capabilities;
use driver::Driver;

/// Invocations of one subgroup: a warp.
const SUBGROUP_SIZE: u32 = 32;

/// The devices that the driver shows, or why there are none.
pub fn devices() -> Result<Vec<DeviceInfo>> {
    let driver = Driver::get()?;
    (0..device::count(driver)?)
        .map(|ordinal| describe(driver, ordinal))
        .collect()
}

/// The devices for a list of what there is. A driver that shows none takes the place of one that cannot be
/// used, so that a list tells a driver that refuses from one without devices, and both from no driver.
pub fn listed() -> Vec<DeviceInfo> {
    let why = match devices() {
        Ok(devices) if !devices.is_empty() => return devices,
        Ok(_) => "the CUDA driver shows no device".to_owned(),
        Err(_) if !Driver::is_present() => return Vec::new(),
        Err(error) => error.message().to_owned(),
    };
    vec![DeviceInfo {
        kind: Kind::Cuda,
        ordinal: 0,
        name: "CUDA driver".into(),
        memory: 0,
        units: 0,
        compute_capability: (0, 0),
        unusable_because: why,
    }]
}

fn describe(driver: &'static Driver, ordinal: u32) -> Result<DeviceInfo> {
    let handle = device::handle(driver, ordinal)?;
    let capabilities = Capabilities::of(driver, handle)?;
    let refusal = device::check_age(&capabilities).err();
    Ok(DeviceInfo {
        kind: Kind::Cuda,
        ordinal,
        memory: capabilities.memory,
        units: capabilities.multiprocessors,
        compute_capability: capabilities.compute_capability,
        name: capabilities.name,
        unusable_because: refusal
            .as_ref()
            .map(Error::message)
            .unwrap_or_default()
            .to_owned(),
    })
}

pub fn acquire(desc: &BackendDesc, reason: String) -> Result<Arc<dyn Backend>> {
    Ok(backend::CudaBackend::new(desc, reason)?)
}

/// What can be said against a PTX program without a driver: for tests of hostile texts.
#[doc(hidden)]
pub fn check_ptx(desc: &ProgramDesc<'_>, most_immediates: u32) -> Result<()> {
    raw::check(desc, most_immediates)
}
