//! The backend object: limits, telemetry, buffers, programs.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use super::SUBGROUP_SIZE;
use super::buffer::CudaBuffer;
use super::compiled::Compiled;
use super::device::Device;
use super::memory::PinnedMemory;
use super::program::CudaProgram;
use crate::backend::{
    Backend, BackendDesc, BackendInfo, Buffer, Cache, CacheKey, Format, HostMemory, Kind, Program,
    ProgramDesc, Telemetry,
};
use crate::error::Result;
use crate::program::Limits;

pub struct CudaBackend {
    device: Arc<Device>,
    info: BackendInfo,
    cache: Cache<Compiled>,
}

impl CudaBackend {
    pub fn new(desc: &BackendDesc, reason: String) -> Result<Arc<CudaBackend>> {
        let device = Arc::new(Device::open(desc.ordinal)?);
        let capabilities = &device.capabilities;
        let info = BackendInfo {
            kind: Kind::Cuda,
            ordinal: desc.ordinal,
            name: capabilities.name.clone(),
            reason,
            compute_capability: capabilities.compute_capability,
            memory: capabilities.memory,
            units: capabilities.multiprocessors,
            max_workgroup_size: capabilities.max_block,
            max_workgroup_invocations: capabilities.max_block_threads,
            max_workgroup_memory: u64::from(capabilities.shared_memory),
            max_workgroups: capabilities.max_grid,
            max_buffer_size: capabilities.memory,
            max_immediates_size: MOST_IMMEDIATES,
            subgroup_size: SUBGROUP_SIZE,
            cooperative: capabilities.cooperative_launch,
            default_timeout: Duration::from_secs(60),
        };
        Ok(Arc::new(CudaBackend {
            device,
            info,
            cache: Cache::default(),
        }))
    }

    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    pub fn limits(&self) -> &BackendInfo {
        &self.info
    }

    pub fn program_limits(&self) -> Limits {
        Limits {
            workgroup_size: self.info.max_workgroup_size,
            workgroup_invocations: self.info.max_workgroup_invocations,
            workgroup_memory: self.info.max_workgroup_memory,
            immediates_size: self.info.max_immediates_size,
        }
    }

    fn load_compiled(self: Arc<Self>, desc: &ProgramDesc<'_>) -> Result<Arc<dyn Program>> {
        let key = CacheKey::of(desc);
        let counters = &self.device.counters;
        if let Some(compiled) = self.cache.get(&key) {
            counters.program_cache_hits.fetch_add(1, Relaxed);
            return Ok(Arc::new(CudaProgram {
                backend: self,
                compiled,
                from_cache: true,
            }));
        }
        counters.program_cache_misses.fetch_add(1, Relaxed);
        let compiled = {
            let entered = self.device.enter()?;
            let compile = match desc.format {
                Format::Wgsl => Compiled::of,
                Format::Ptx => super::raw::compile,
            };
            Arc::new(compile(
                &self.device,
                &entered,
                desc,
                &self.program_limits(),
            )?)
        };
        self.cache.insert(key, &compiled);
        Ok(Arc::new(CudaProgram {
            backend: self,
            compiled,
            from_cache: false,
        }))
    }
}

/// In bytes; the bindings' addresses have their place in the 4096 bytes of a kernel's parameters, too.
const MOST_IMMEDIATES: u32 = 2048;

impl Backend for CudaBackend {
    fn info(&self) -> &BackendInfo {
        &self.info
    }

    fn telemetry(&self) -> Telemetry {
        Telemetry {
            retained_bytes: self.cache.retained_bytes() + self.device.retained_bytes(),
            ..self.device.counters.snapshot()
        }
    }

    fn reset_telemetry(&self) {
        self.device.counters.reset();
    }

    fn trim(&self, all: bool) -> Result<()> {
        if all {
            self.device.wait_until_idle(self.info.default_timeout)?;
            self.cache.clear();
            self.device.trim_slots();
        }
        self.device.trim();
        Ok(())
    }

    fn allocate_host(self: Arc<Self>, size: u64) -> Result<Box<dyn HostMemory>> {
        let entered = self.device.enter()?;
        let memory = PinnedMemory::allocate(&self.device, &entered, size)?;
        Ok(Box::new(memory))
    }

    fn create_buffer(self: Arc<Self>, size: u64) -> Result<Arc<dyn Buffer>> {
        Ok(Arc::new(CudaBuffer::create(&self.device, size)?))
    }

    unsafe fn import_buffer(self: Arc<Self>, pointer: u64, size: u64) -> Result<Arc<dyn Buffer>> {
        // SAFETY: the caller's promise.
        Ok(Arc::new(unsafe {
            CudaBuffer::import(&self.device, pointer, size)
        }?))
    }

    fn load(self: Arc<Self>, desc: &ProgramDesc<'_>) -> Result<Arc<dyn Program>> {
        self.load_compiled(desc)
    }
}
