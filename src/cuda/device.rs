//! What a backend and everything on it share: the device, and the pools of what is dear to make.

use super::capabilities::Capabilities;
use super::context::{Context, Entered};
use super::driver::Driver;
use super::driver::sys::CUdevice;
use super::stream::{EventHandle, Pool, StreamHandle};
use crate::backend::Counters;
use crate::error::{Error, Result, Status};

pub struct Device {
    pub context: Context,
    pub capabilities: Capabilities,
    pub counters: Counters,
    pub streams: Pool<StreamHandle>,
    pub events: Pool<EventHandle>,
}

impl Device {
    pub fn open(ordinal: u32) -> Result<Device> {
        let driver = Driver::get()?;
        let device = handle(driver, ordinal)?;
        let capabilities = Capabilities::of(driver, device)?;
        check_age(&capabilities)?;
        Ok(Device {
            context: Context::retain(driver, device)?,
            capabilities,
            counters: Counters::default(),
            streams: Pool::default(),
            events: Pool::default(),
        })
    }

    /// The context, current on this thread while the guard lives.
    pub fn enter(&self) -> Result<Entered<'_>> {
        self.context.enter()
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        self.streams.clear(&self.context);
        self.events.clear(&self.context);
    }
}

/// Devices that the driver shows.
pub fn count(driver: &'static Driver) -> Result<u32> {
    let mut count = 0;
    // SAFETY: the place is valid for a write.
    let code = unsafe { (driver.api.device_get_count)(&mut count) };
    driver.check(code, "cuDeviceGetCount")?;
    Ok(u32::try_from(count).unwrap_or(0))
}

pub fn handle(driver: &'static Driver, ordinal: u32) -> Result<CUdevice> {
    let count = count(driver)?;
    if ordinal >= count {
        return Err(Error::new(
            Status::NoDevice,
            format!("there is no CUDA device {ordinal}: the driver shows {count}"),
        ));
    }
    let mut device = 0;
    // SAFETY: the place is valid for a write.
    let code = unsafe { (driver.api.device_get)(&mut device, ordinal as i32) };
    driver.check(code, "cuDeviceGet")?;
    Ok(device)
}

/// Scoped memory operations and independently scheduled threads, which what we emit rests on, begin with
/// 7.0.
pub fn check_age(capabilities: &Capabilities) -> Result<()> {
    let (major, minor) = capabilities.compute_capability;
    if major >= 7 {
        return Ok(());
    }
    Err(Error::new(
        Status::Unsupported,
        format!(
            "{} has compute capability {major}.{minor}; 7.0 or newer is needed",
            capabilities.name
        ),
    )
    .with_fix("Use a GPU of the Volta generation or newer, or acquire VYRE_BACKEND_CPU."))
}
