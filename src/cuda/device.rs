//! What a backend and everything on it share: the device, and the pools of what is dear to make.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use super::capabilities::Capabilities;
use super::context::{Context, Entered};
use super::disk_cache::DiskCache;
use super::driver::Driver;
use super::driver::sys::CUdevice;
use super::memory::{DevicePool, PinnedPool, TransientPool};
use super::ptx::Target;
use super::slot::SlotPool;
use super::stream::{EventHandle, Pool, StreamHandle};
use super::target;
use crate::backend::Counters;
use crate::error::{Error, Result, Status};

pub struct Device {
    pub context: Context,
    pub capabilities: Capabilities,
    pub counters: Counters,
    pub disk_cache: DiskCache,
    pub streams: Pool<StreamHandle>,
    pub events: Pool<EventHandle>,
    pub slots: SlotPool,
    pub transient: TransientPool,
    pub pinned: PinnedPool,
    pub memory: DevicePool,
    target: OnceLock<Target>,
}

impl Device {
    pub fn open(ordinal: u32) -> Result<Device> {
        let driver = Driver::get()?;
        let device = handle(driver, ordinal)?;
        let capabilities = Capabilities::of(driver, device)?;
        check_age(&capabilities)?;
        let context = Context::retain(driver, device)?;
        let memory = DevicePool::create(&context.enter()?, device, &capabilities)?;
        Ok(Device {
            context,
            memory,
            capabilities,
            counters: Counters::default(),
            disk_cache: DiskCache::default(),
            streams: Pool::default(),
            events: Pool::default(),
            slots: SlotPool::default(),
            transient: TransientPool::default(),
            pinned: PinnedPool::default(),
            target: OnceLock::new(),
        })
    }

    /// The context, current on this thread while the guard lives.
    pub fn enter(&self) -> Result<Entered<'_>> {
        self.context.enter()
    }

    /// Gives back what pools keep and nobody uses.
    pub fn trim(&self) {
        self.streams.clear(&self.context);
        self.events.clear(&self.context);
        self.transient.clear(&self.context, &self.memory);
        self.pinned.clear(&self.context);
        if let Some(entered) = self.context.enter_to_release() {
            self.memory.trim(&entered);
        }
    }

    /// Waits until no call is under way; the caller must not have entered the context.
    pub fn wait_until_idle(&self, limit: Duration) -> Result<()> {
        let start = Instant::now();
        loop {
            let count = self.context.users();
            if count == 0 {
                return Ok(());
            }
            if start.elapsed() > limit {
                return Err(Error::new(
                    Status::Timeout,
                    format!(
                        "{count} calls were still under way after {} s",
                        limit.as_secs()
                    ),
                ));
            }
            std::thread::sleep(Duration::from_micros(200));
        }
    }

    /// Gives back launch slots, if none is in use.
    pub fn trim_slots(&self) {
        self.slots.trim(&self.context);
    }

    /// Bytes that pools keep idle.
    pub fn retained_bytes(&self) -> u64 {
        let in_the_pool = match self.context.enter_to_release() {
            Some(entered) => self.memory.retained_bytes(&entered),
            None => 0,
        };
        self.transient.retained_bytes() + self.pinned.retained_bytes() + in_the_pool
    }

    /// For which machine programs are emitted; found out when the first is.
    pub fn target(self: &Arc<Self>, entered: &Entered<'_>) -> Result<Target> {
        if let Some(target) = self.target.get() {
            return Ok(*target);
        }
        let found = target::newest(self, entered)?;
        Ok(*self.target.get_or_init(|| found))
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        self.streams.clear(&self.context);
        self.events.clear(&self.context);
        self.slots.clear(&self.context);
        self.transient.clear(&self.context, &self.memory);
        self.pinned.clear(&self.context);
        self.memory.destroy(&self.context);
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
