//! Buffers of the CPU backend.
//!
//! Lock order: the buffers of one call are locked in the order of their ids, each once, and no
//! other lock of the library is taken while waiting for one.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use parking_lot::RwLock;

use super::backend::CpuBackend;
use super::memory::Memory;
use crate::backend::{Buffer, HostIn, HostOut};
use crate::error::{Error, Result, Status};

/// Shared by readers, exclusive to writers; it guards the bytes, which is why it holds nothing.
pub type Lock = Arc<RwLock<()>>;

pub struct CpuBuffer {
    id: u64,
    memory: Memory,
    lock: Lock,
    backend: Arc<CpuBackend>,
}

impl CpuBuffer {
    pub fn new(backend: Arc<CpuBackend>, memory: Memory) -> CpuBuffer {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let counters = backend.counters();
        counters.buffers.fetch_add(1, Relaxed);
        counters
            .buffer_bytes
            .fetch_add(memory.len() as u64, Relaxed);
        CpuBuffer {
            id: NEXT.fetch_add(1, Relaxed),
            memory,
            lock: Arc::default(),
            backend,
        }
    }

    /// Unique in the process; the lock order.
    pub fn id(&self) -> u64 {
        self.id
    }

    pub fn lock(&self) -> &Lock {
        &self.lock
    }

    pub fn backend(&self) -> &Arc<CpuBackend> {
        &self.backend
    }

    /// Bytes that only a holder of the lock may touch.
    pub fn as_ptr(&self) -> *mut u8 {
        self.memory.as_ptr()
    }

    fn range(&self, what: &str, offset: u64, size: u64) -> Result<*mut u8> {
        let end = offset.checked_add(size);
        let held = self.memory.len() as u64;
        if end.is_none_or(|end| end > held) {
            return Err(Error::new(
                Status::OutOfRange,
                format!(
                    "{what}: offset {offset} + size {size} is outside the buffer's {held} bytes"
                ),
            ));
        }
        // SAFETY: offset <= len, so the result is within the mapping or one past its end.
        Ok(unsafe { self.memory.as_ptr().add(offset as usize) })
    }
}

/// How long a call waits for a buffer that others use.
const WAIT: Duration = Duration::from_secs(60);

fn busy() -> Error {
    Error::new(
        Status::Timeout,
        format!(
            "the buffer was in use by other calls for {} s",
            WAIT.as_secs()
        ),
    )
    .with_fix("Wait for the dispatches that use the buffer, or give them shorter time limits.")
}

impl Buffer for CpuBuffer {
    fn size(&self) -> u64 {
        self.memory.len() as u64
    }

    fn write(&self, offset: u64, data: HostIn<'_>) -> Result<()> {
        let target = self.range("write", offset, data.len() as u64)?;
        let _guard = self.lock.try_write_for(WAIT).ok_or_else(busy)?;
        // SAFETY: `range` checked the target, HostIn vouches for the source, and the exclusive lock keeps
        // others out; the caller's memory could lie inside the buffer only through `native_pointer`, so memmove.
        unsafe { std::ptr::copy(data.as_ptr(), target, data.len()) };
        self.backend.counters().count_in(data.len() as u64);
        Ok(())
    }

    fn read(&self, offset: u64, mut data: HostOut<'_>) -> Result<()> {
        let source = self.range("read", offset, data.len() as u64)?;
        let _guard = self.lock.try_read_for(WAIT).ok_or_else(busy)?;
        // SAFETY: as in `write`, the other way round; the shared lock keeps writers out.
        unsafe { std::ptr::copy(source, data.as_mut_ptr(), data.len()) };
        self.backend.counters().count_out(data.len() as u64);
        Ok(())
    }

    fn fill(&self, offset: u64, size: u64, pattern: u32) -> Result<()> {
        let target = self.range("fill", offset, size)?;
        if !offset.is_multiple_of(4) || !size.is_multiple_of(4) {
            return Err(Error::new(
                Status::InvalidArgument,
                format!("fill: offset {offset} and size {size} must be multiples of 4"),
            ));
        }
        let _guard = self.lock.try_write_for(WAIT).ok_or_else(busy)?;
        let words = (size / 4) as usize;
        // SAFETY: `range` checked these bytes, which the exclusive lock gives to us; no reference to them exists elsewhere.
        let bytes = unsafe { std::slice::from_raw_parts_mut(target, words * 4) };
        for word in bytes.chunks_exact_mut(4) {
            word.copy_from_slice(&pattern.to_ne_bytes());
        }
        Ok(())
    }

    fn copy_from(
        &self,
        offset: u64,
        source: &dyn Buffer,
        source_offset: u64,
        size: u64,
    ) -> Result<()> {
        let source = source
            .as_any()
            .downcast_ref::<CpuBuffer>()
            .filter(|source| Arc::ptr_eq(&source.backend, &self.backend))
            .ok_or_else(|| {
                Error::new(
                    Status::InvalidHandle,
                    "copy: source belongs to another backend than destination",
                )
                .with_fix("Copy between buffers of one backend; across backends read, then write.")
            })?;
        let to = self.range("copy: destination", offset, size)?;
        let from = source.range("copy: source", source_offset, size)?;
        let _guards = if self.id == source.id {
            (self.lock.try_write_for(WAIT), None)
        } else if self.id < source.id {
            let first = self.lock.try_write_for(WAIT).ok_or_else(busy)?;
            (Some(first), source.lock.try_read_for(WAIT))
        } else {
            let first = source.lock.try_read_for(WAIT).ok_or_else(busy)?;
            (self.lock.try_write_for(WAIT), Some(first))
        };
        if _guards.0.is_none() || (_guards.1.is_none() && self.id != source.id) {
            return Err(busy());
        }
        // SAFETY: both ranges were checked and both locks are held; memmove allows them to overlap.
        unsafe { std::ptr::copy(from, to, size as usize) };
        Ok(())
    }

    fn native_pointer(&self) -> u64 {
        self.memory.as_ptr() as u64
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for CpuBuffer {
    fn drop(&mut self) {
        let counters = self.backend.counters();
        counters.buffers.fetch_sub(1, Relaxed);
        counters
            .buffer_bytes
            .fetch_sub(self.memory.len() as u64, Relaxed);
    }
}
