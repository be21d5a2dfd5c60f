//! Buffers of the CPU backend.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::backend::CpuBackend;
use super::memory::Memory;
use crate::backend::{Buffer, HostIn, HostOut, Lock, check_range, check_words, foreign_source};
use crate::error::Result;

pub struct CpuBuffer {
    memory: Memory,
    lock: Lock,
    backend: Arc<CpuBackend>,
}

impl CpuBuffer {
    pub fn new(backend: Arc<CpuBackend>, memory: Memory) -> CpuBuffer {
        let counters = backend.counters();
        counters.buffers.fetch_add(1, Relaxed);
        counters
            .buffer_bytes
            .fetch_add(memory.len() as u64, Relaxed);
        CpuBuffer {
            memory,
            lock: Lock::default(),
            backend,
        }
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
        check_range(what, self.size(), offset, size)?;
        // SAFETY: offset <= len, so the result is within the mapping or one past its end.
        Ok(unsafe { self.memory.as_ptr().add(offset as usize) })
    }
}

impl Buffer for CpuBuffer {
    fn size(&self) -> u64 {
        self.memory.len() as u64
    }

    fn write(&self, offset: u64, data: HostIn<'_>) -> Result<()> {
        let target = self.range("write", offset, data.len() as u64)?;
        let _guard = self.lock.write()?;
        // SAFETY: `range` checked the target, HostIn vouches for the source, and the exclusive lock keeps
        // others out; the caller's memory could lie inside the buffer only through `native_pointer`, so memmove.
        unsafe { std::ptr::copy(data.as_ptr(), target, data.len()) };
        self.backend.counters().count_in(data.len() as u64);
        Ok(())
    }

    fn read(&self, offset: u64, mut data: HostOut<'_>) -> Result<()> {
        let source = self.range("read", offset, data.len() as u64)?;
        let _guard = self.lock.read()?;
        // SAFETY: as in `write`, the other way round; the shared lock keeps writers out.
        unsafe { std::ptr::copy(source, data.as_mut_ptr(), data.len()) };
        self.backend.counters().count_out(data.len() as u64);
        Ok(())
    }

    fn fill(&self, offset: u64, size: u64, pattern: u32) -> Result<()> {
        let target = self.range("fill", offset, size)?;
        check_words(offset, size)?;
        let _guard = self.lock.write()?;
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
            .ok_or_else(foreign_source)?;
        let to = self.range("copy: destination", offset, size)?;
        let from = source.range("copy: source", source_offset, size)?;
        let _guards = self.lock.write_and_read(&source.lock)?;
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
