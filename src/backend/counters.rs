//! Telemetry counters; relaxed, because they order nothing.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use crate::backend::Telemetry;

#[derive(Default)]
pub struct Counters {
    pub dispatches: AtomicU64,
    pub copies_in: AtomicU64,
    pub copies_out: AtomicU64,
    pub bytes_in: AtomicU64,
    pub bytes_out: AtomicU64,
    pub synchronises: AtomicU64,
    pub audits: AtomicU64,
    pub refusals: AtomicU64,
    pub launches: AtomicU64,
    pub program_cache_hits: AtomicU64,
    pub program_cache_misses: AtomicU64,
    pub pool_hits: AtomicU64,
    pub pool_misses: AtomicU64,
    pub disk_hits: AtomicU64,
    pub disk_misses: AtomicU64,
    pub disk_writes: AtomicU64,
    /// Gauge.
    pub buffers: AtomicU64,
    /// Gauge.
    pub buffer_bytes: AtomicU64,
}

impl Counters {
    pub fn count_in(&self, bytes: u64) {
        self.copies_in.fetch_add(1, Relaxed);
        self.bytes_in.fetch_add(bytes, Relaxed);
    }

    pub fn count_out(&self, bytes: u64) {
        self.copies_out.fetch_add(1, Relaxed);
        self.bytes_out.fetch_add(bytes, Relaxed);
    }

    pub fn count_audit(&self) {
        self.audits.fetch_add(1, Relaxed);
    }

    pub fn count_refusal(&self) {
        self.refusals.fetch_add(1, Relaxed);
    }

    /// The counters as they are; `retained_bytes` is the caller's to fill in.
    pub fn snapshot(&self) -> Telemetry {
        Telemetry {
            dispatches: self.dispatches.load(Relaxed),
            copies_in: self.copies_in.load(Relaxed),
            copies_out: self.copies_out.load(Relaxed),
            bytes_in: self.bytes_in.load(Relaxed),
            bytes_out: self.bytes_out.load(Relaxed),
            synchronises: self.synchronises.load(Relaxed),
            audits: self.audits.load(Relaxed),
            refusals: self.refusals.load(Relaxed),
            launches: self.launches.load(Relaxed),
            program_cache_hits: self.program_cache_hits.load(Relaxed),
            program_cache_misses: self.program_cache_misses.load(Relaxed),
            pool_hits: self.pool_hits.load(Relaxed),
            pool_misses: self.pool_misses.load(Relaxed),
            retained_bytes: 0,
            buffers: self.buffers.load(Relaxed),
            buffer_bytes: self.buffer_bytes.load(Relaxed),
            disk_hits: self.disk_hits.load(Relaxed),
            disk_misses: self.disk_misses.load(Relaxed),
            disk_writes: self.disk_writes.load(Relaxed),
        }
    }

    /// Zeroes the counters; the gauges stay.
    pub fn reset(&self) {
        for counter in [
            &self.dispatches,
            &self.copies_in,
            &self.copies_out,
            &self.bytes_in,
            &self.bytes_out,
            &self.synchronises,
            &self.audits,
            &self.refusals,
            &self.launches,
            &self.program_cache_hits,
            &self.program_cache_misses,
            &self.pool_hits,
            &self.pool_misses,
            &self.disk_hits,
            &self.disk_misses,
            &self.disk_writes,
        ] {
            counter.store(0, Relaxed);
        }
    }
}
