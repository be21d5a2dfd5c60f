//! The backend object: limits, telemetry, buffers, programs.

use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use super::buffer::CpuBuffer;
use super::compiled::Compiled;
use super::memory::{self, Memory};
use super::pool::Pool;
use super::program::CpuProgram;
use super::recycler::Recycler;
use super::watchdog::Watchdog;
use crate::backend::{
    Backend, BackendDesc, BackendInfo, Buffer, Cache, CacheKey, Counters, Format, HostMemory, Kind,
    Program, ProgramDesc, Telemetry, check_import, check_size,
};
use crate::error::{Error, Result, Status};
use crate::program::Limits;

/// Shared by its buffers and programs, which keep it alive.
pub struct CpuBackend {
    info: BackendInfo,
    counters: Counters,
    pool: Pool,
    watchdog: Watchdog,
    cache: Cache<Compiled>,
    recycler: Recycler,
}

impl CpuBackend {
    pub fn new(desc: &BackendDesc, reason: String) -> Arc<CpuBackend> {
        let threads = match desc.cpu_threads {
            0 => available_threads(),
            n => n.min(MAX_THREADS),
        };
        let info = BackendInfo {
            kind: Kind::Cpu,
            ordinal: 0,
            name: processor_name(),
            reason,
            compute_capability: (0, 0),
            memory: memory::physical_bytes(),
            units: threads,
            max_workgroup_size: [1024, 1024, 1024],
            max_workgroup_invocations: 1024,
            max_workgroup_memory: 256 << 10,
            max_workgroups: [u32::MAX; 3],
            max_buffer_size: memory::physical_bytes(),
            max_immediates_size: 4096,
            subgroup_size: super::SUBGROUP_SIZE,
            cooperative: true,
            default_timeout: Duration::from_secs(60),
        };
        Arc::new(CpuBackend {
            info,
            counters: Counters::default(),
            pool: Pool::new(threads as usize),
            watchdog: Watchdog::default(),
            cache: Cache::default(),
            recycler: Recycler::default(),
        })
    }

    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    pub fn limits(&self) -> &BackendInfo {
        &self.info
    }

    pub fn pool(&self) -> &Pool {
        &self.pool
    }

    pub fn watchdog(&self) -> &Watchdog {
        &self.watchdog
    }

    pub fn recycler(&self) -> &Recycler {
        &self.recycler
    }

    /// `count` frames of `size` bytes, given back on drop.
    pub fn frames(&self, count: u64, size: u64) -> Result<Frames<'_>> {
        let bytes = count
            .checked_mul(size)
            .and_then(|n| usize::try_from(n).ok());
        let memory = match bytes {
            Some(0) => None,
            Some(bytes) => Some(self.recycler.take(&self.counters, bytes)?),
            None => {
                return Err(Error::new(
                    Status::OutOfHostMemory,
                    format!(
                        "{count} workgroups of {size} bytes of state are more than any machine has"
                    ),
                )
                .with_fix(
                    "Dispatch fewer workgroups, or keep less alive across the grid barrier.",
                ));
            }
        };
        Ok(Frames {
            backend: self,
            memory,
        })
    }

    fn program_limits(&self) -> Limits {
        Limits {
            workgroup_size: self.info.max_workgroup_size,
            workgroup_invocations: self.info.max_workgroup_invocations,
            workgroup_memory: self.info.max_workgroup_memory,
            immediates_size: self.info.max_immediates_size,
        }
    }
}

/// More threads than any machine has processors are a mistake that would only take memory.
const MAX_THREADS: u32 = 1024;

/// Memory for a dispatch's frames.
pub struct Frames<'b> {
    backend: &'b CpuBackend,
    memory: Option<Memory>,
}

impl Frames<'_> {
    /// Null when there is nothing to hold.
    pub fn as_ptr(&self) -> *mut u8 {
        self.memory
            .as_ref()
            .map_or(std::ptr::null_mut(), Memory::as_ptr)
    }
}

impl Drop for Frames<'_> {
    fn drop(&mut self) {
        if let Some(memory) = self.memory.take() {
            self.backend.recycler.give_back(memory);
        }
    }
}

impl Backend for CpuBackend {
    fn info(&self) -> &BackendInfo {
        &self.info
    }

    fn telemetry(&self) -> Telemetry {
        Telemetry {
            retained_bytes: self.cache.retained_bytes() + self.recycler.retained_bytes(),
            ..self.counters.snapshot()
        }
    }

    fn reset_telemetry(&self) {
        self.counters.reset();
    }

    fn trim(&self, all: bool) -> Result<()> {
        // Whoever runs keeps what it runs alive, so there is nothing to wait for.
        if all {
            self.cache.clear();
        }
        self.recycler.clear();
        Ok(())
    }

    fn allocate_host(self: Arc<Self>, size: u64) -> Result<Box<dyn HostMemory>> {
        Ok(Box::new(Memory::zeroed(size, Status::OutOfHostMemory)?))
    }

    fn create_buffer(self: Arc<Self>, size: u64) -> Result<Arc<dyn Buffer>> {
        check_size(size)?;
        let memory = Memory::zeroed(size, Status::OutOfDeviceMemory)?;
        Ok(Arc::new(CpuBuffer::new(self, memory)))
    }

    unsafe fn import_buffer(self: Arc<Self>, pointer: u64, size: u64) -> Result<Arc<dyn Buffer>> {
        check_import(pointer, size)?;
        let start = NonNull::new(pointer as *mut u8).expect("checked: it is not null");
        // SAFETY: the caller promises that the range stays valid for the buffer's life.
        let memory = unsafe { Memory::borrowed(start, size as usize) };
        Ok(Arc::new(CpuBuffer::new(self, memory)))
    }

    fn load(self: Arc<Self>, desc: &ProgramDesc<'_>) -> Result<Arc<dyn Program>> {
        match desc.format {
            Format::Ptx => Err(Error::new(
                Status::Unsupported,
                "PTX programs need a CUDA backend; this is the CPU backend",
            )
            .with_fix("Load the program as WGSL, or acquire VYRE_BACKEND_CUDA.")),
            Format::Wgsl => self.load_wgsl(desc),
        }
    }
}

impl CpuBackend {
    fn load_wgsl(self: Arc<Self>, desc: &ProgramDesc<'_>) -> Result<Arc<dyn Program>> {
        let key = CacheKey::of(desc);
        if let Some(compiled) = self.cache.get(&key) {
            self.counters.program_cache_hits.fetch_add(1, Relaxed);
            return Ok(Arc::new(CpuProgram {
                backend: self,
                compiled,
                from_cache: true,
            }));
        }
        self.counters.program_cache_misses.fetch_add(1, Relaxed);
        let compiled = Arc::new(Compiled::of(desc, &self.program_limits())?);
        self.cache.insert(key, &compiled);
        Ok(Arc::new(CpuProgram {
            backend: self,
            compiled,
            from_cache: false,
        }))
    }
}

/// Processors that this process may run on.
pub fn available_threads() -> u32 {
    std::thread::available_parallelism().map_or(1, |n| u32::try_from(n.get()).unwrap_or(u32::MAX))
}

/// The processor's name as the system gives it.
pub fn processor_name() -> String {
    std::fs::read_to_string("/proc/cpuinfo")
        .ok()
        .and_then(|text| {
            text.lines()
                .find(|line| line.starts_with("model name"))
                .and_then(|line| line.split(':').nth(1))
                .map(|name| name.trim().to_owned())
        })
        .unwrap_or_else(|| format!("{} processor", std::env::consts::ARCH))
}
