//! The backend object: limits, telemetry, buffers, programs.

use std::ptr::NonNull;
use std::sync::Arc;
use std::time::Duration;

use super::buffer::CpuBuffer;
use super::counters::Counters;
use super::memory::{self, Memory};
use crate::backend::{
    Backend, BackendDesc, BackendInfo, Buffer, Format, Kind, Program, ProgramDesc, Telemetry,
};
use crate::error::{Error, Result, Status};

pub struct CpuBackend {
    info: BackendInfo,
    counters: Counters,
}

impl CpuBackend {
    pub fn new(desc: &BackendDesc, reason: String) -> Result<Arc<CpuBackend>> {
        let threads = match desc.cpu_threads {
            0 => available_threads(),
            n => n,
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
            subgroup_size: 32,
            cooperative: true,
            default_timeout: Duration::from_secs(60),
        };
        Ok(Arc::new(CpuBackend {
            info,
            counters: Counters::default(),
        }))
    }

    pub fn counters(&self) -> &Counters {
        &self.counters
    }
}

impl Backend for CpuBackend {
    fn info(&self) -> &BackendInfo {
        &self.info
    }

    fn telemetry(&self) -> Telemetry {
        self.counters.snapshot()
    }

    fn reset_telemetry(&self) {
        self.counters.reset();
    }

    fn trim(&self) {}

    fn create_buffer(self: Arc<Self>, size: u64) -> Result<Arc<dyn Buffer>> {
        if size == 0 {
            return Err(Error::new(
                Status::InvalidArgument,
                "size is 0; a buffer holds at least one byte",
            ));
        }
        let memory = Memory::zeroed(size, Status::OutOfDeviceMemory)?;
        Ok(Arc::new(CpuBuffer::new(self, memory)))
    }

    unsafe fn import_buffer(self: Arc<Self>, pointer: u64, size: u64) -> Result<Arc<dyn Buffer>> {
        let bytes = usize::try_from(size).ok().filter(|&n| n > 0);
        let start = usize::try_from(pointer)
            .ok()
            .and_then(|a| NonNull::new(a as *mut u8));
        let (Some(bytes), Some(start)) = (bytes, start) else {
            return Err(Error::new(
                Status::InvalidArgument,
                format!(
                    "cannot import {size} bytes at address {pointer:#x}: both must be non-zero"
                ),
            ));
        };
        if pointer.checked_add(size).is_none() || !pointer.is_multiple_of(16) {
            return Err(Error::new(
                Status::InvalidArgument,
                format!(
                    "cannot import {size} bytes at address {pointer:#x}: the address must be a multiple of 16 and the range must not wrap"
                ),
            ));
        }
        // SAFETY: the caller promises that the range stays valid for the buffer's life.
        let memory = unsafe { Memory::borrowed(start, bytes) };
        Ok(Arc::new(CpuBuffer::new(self, memory)))
    }

    fn load(self: Arc<Self>, desc: &ProgramDesc<'_>) -> Result<Arc<dyn Program>> {
        match desc.format {
            Format::Ptx => Err(Error::new(
                Status::Unsupported,
                "PTX programs need a CUDA backend; this is the CPU backend",
            )
            .with_fix("Load the program as WGSL, or acquire VYRE_BACKEND_CUDA.")),
            Format::Wgsl => Err(Error::new(Status::Unsupported, "under construction")),
        }
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
