//! A backend's counters.

use super::entry::entry;
use super::sized::{initialise, sized};
use crate::backend::Telemetry;

/// Counts since a backend was acquired or its counters were reset, and gauges as they are now. Smallest
/// struct_size: 16.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct vyre_backend_counters {
    /// sizeof(vyre_backend_counters); set by the caller.
    pub struct_size: u32,
    /// 0.
    pub reserved: u32,
    /// Dispatches, each repeat counted.
    pub dispatches: u64,
    /// Copies from host memory.
    pub copies_in: u64,
    /// Copies to host memory.
    pub copies_out: u64,
    /// Bytes copied from host memory.
    pub bytes_in: u64,
    /// Bytes copied to host memory.
    pub bytes_out: u64,
    /// Waits for the device.
    pub synchronises: u64,
    /// Checks that every grid barrier of a dispatch held.
    pub audits: u64,
    /// Program loads that found their code in a cache.
    pub program_cache_hits: u64,
    /// Program loads that had to compile.
    pub program_cache_misses: u64,
    /// Allocations that a pool served.
    pub pool_hits: u64,
    /// Allocations that the system served.
    pub pool_misses: u64,
    /// Gauge: bytes that pools and caches hold and vyre_backend_trim() would give back.
    pub retained_bytes: u64,
    /// Gauge: buffers alive.
    pub buffers: u64,
    /// Gauge: bytes in them.
    pub buffer_bytes: u64,
    /// Kernels that a CUDA device was given; 0 on the CPU.
    pub launches: u64,
    /// Audits that found a grid barrier that had not held.
    pub refusals: u64,
    /// Program loads that found their PTX in the cache on disk; they count as program_cache_misses too, as the
    /// backend itself had nothing.
    pub disk_hits: u64,
    /// Program loads that looked there and had to compile.
    pub disk_misses: u64,
    /// Programs written to the cache on disk.
    pub disk_writes: u64,
}

sized!(vyre_backend_counters, min 16, default {
    reserved: 0,
    dispatches: 0,
    copies_in: 0,
    copies_out: 0,
    bytes_in: 0,
    bytes_out: 0,
    synchronises: 0,
    audits: 0,
    program_cache_hits: 0,
    program_cache_misses: 0,
    pool_hits: 0,
    pool_misses: 0,
    retained_bytes: 0,
    buffers: 0,
    buffer_bytes: 0,
    launches: 0,
    refusals: 0,
    disk_hits: 0,
    disk_misses: 0,
    disk_writes: 0,
});

/// Sets struct_size and zeroes the rest, as VYRE_BACKEND_COUNTERS_INIT does.
///
/// @param counters the structure; NULL is ignored
///
/// Any thread may call. Cannot fail.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_backend_counters_init(counters: *mut vyre_backend_counters) {
    entry!(value: (), {
        // SAFETY: the function's contract: null or valid for writes.
        unsafe { initialise(counters) }
    })
}

impl From<Telemetry> for vyre_backend_counters {
    fn from(telemetry: Telemetry) -> vyre_backend_counters {
        vyre_backend_counters {
            struct_size: size_of::<vyre_backend_counters>() as u32,
            reserved: 0,
            dispatches: telemetry.dispatches,
            copies_in: telemetry.copies_in,
            copies_out: telemetry.copies_out,
            bytes_in: telemetry.bytes_in,
            bytes_out: telemetry.bytes_out,
            synchronises: telemetry.synchronises,
            audits: telemetry.audits,
            program_cache_hits: telemetry.program_cache_hits,
            program_cache_misses: telemetry.program_cache_misses,
            pool_hits: telemetry.pool_hits,
            pool_misses: telemetry.pool_misses,
            retained_bytes: telemetry.retained_bytes,
            buffers: telemetry.buffers,
            buffer_bytes: telemetry.buffer_bytes,
            launches: telemetry.launches,
            refusals: telemetry.refusals,
            disk_hits: telemetry.disk_hits,
            disk_misses: telemetry.disk_misses,
            disk_writes: telemetry.disk_writes,
        }
    }
}
