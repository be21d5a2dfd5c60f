//! Page-locked host memory: what the caller asks for, and chunks kept for staging.
//!
//! Lock: `idle`, taken alone.

use std::ptr::{NonNull, null_mut};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::backend::HostMemory;
use crate::cuda::context::{Context, Entered};
use crate::cuda::device::Device;
use crate::cuda::driver::code;
use crate::error::{Error, Result, Status};

/// Bytes of a staging chunk: long enough that a copy's fixed cost does not count.
pub const CHUNK: usize = 4 << 20;
/// Chunks that are kept idle: 128 MiB.
const KEPT: usize = (128 << 20) / CHUNK;
/// CU_MEMHOSTALLOC_PORTABLE
const PORTABLE: u32 = 1;

/// Memory of the caller's, on behalf of `vyre_host_alloc`.
pub struct PinnedMemory {
    device: Arc<Device>,
    pointer: NonNull<u8>,
}

// SAFETY: an address that only its owner frees.
unsafe impl Send for PinnedMemory {}

impl PinnedMemory {
    pub fn allocate(
        device: &Arc<Device>,
        entered: &Entered<'_>,
        size: u64,
    ) -> Result<PinnedMemory> {
        let bytes = usize::try_from(size).unwrap_or(usize::MAX);
        let pointer = match allocate(entered, bytes) {
            Err(code::OUT_OF_MEMORY) => {
                device.trim();
                allocate(entered, bytes)
            }
            allocated => allocated,
        };
        match pointer {
            Ok(pointer) => Ok(PinnedMemory {
                device: Arc::clone(device),
                pointer,
            }),
            Err(code::OUT_OF_MEMORY | code::INVALID_VALUE) => Err(no_page_locked(size)),
            Err(code) => Err(device.context.error(code, "cuMemHostAlloc")),
        }
    }
}

pub fn no_page_locked(size: u64) -> Error {
    Error::new(
        Status::OutOfHostMemory,
        format!("the driver could not page-lock {size} bytes of host memory"),
    )
    .with_native_code(code::OUT_OF_MEMORY)
}

impl HostMemory for PinnedMemory {
    fn pointer(&self) -> NonNull<u8> {
        self.pointer
    }
}

impl Drop for PinnedMemory {
    fn drop(&mut self) {
        if let Some(entered) = self.device.context.enter_to_release() {
            free(&entered, self.pointer);
        }
    }
}

fn allocate(entered: &Entered<'_>, bytes: usize) -> Result<NonNull<u8>, i32> {
    let mut pointer = null_mut();
    // SAFETY: the place is valid for a write; the context is current.
    let code = unsafe { (entered.api().mem_host_alloc)(&mut pointer, bytes, PORTABLE) };
    match NonNull::new(pointer.cast()) {
        Some(pointer) if code == code::SUCCESS => Ok(pointer),
        _ if code == code::SUCCESS => Err(code::OUT_OF_MEMORY),
        _ => Err(code),
    }
}

fn free(entered: &Entered<'_>, pointer: NonNull<u8>) {
    // SAFETY: the pointer came from `allocate` and nobody uses it any more.
    unsafe { (entered.api().mem_free_host)(pointer.as_ptr().cast()) };
}

#[derive(Clone, Copy)]
struct Chunk(NonNull<u8>);

// SAFETY: memory of whoever holds it.
unsafe impl Send for Chunk {}

#[derive(Default)]
pub struct PinnedPool {
    idle: Mutex<Vec<Chunk>>,
}

/// [`CHUNK`] bytes that nobody else uses; they go back on drop, when no copy uses them any more.
pub struct Staging<'d> {
    device: &'d Device,
    chunk: Chunk,
}

impl PinnedPool {
    fn idle(&self) -> MutexGuard<'_, Vec<Chunk>> {
        // A vector is pushed to and popped from whole.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `None` if the system has no page-locked memory to give.
    pub fn take<'d>(device: &'d Device, entered: &Entered<'_>) -> Result<Option<Staging<'d>>> {
        let found = device.pinned.idle().pop();
        let counters = &device.counters;
        let chunk = match found {
            Some(chunk) => {
                counters.pool_hits.fetch_add(1, Relaxed);
                chunk
            }
            None => {
                counters.pool_misses.fetch_add(1, Relaxed);
                match allocate(entered, CHUNK) {
                    Ok(made) => Chunk(made),
                    Err(code::OUT_OF_MEMORY) => return Ok(None),
                    Err(code) => return Err(device.context.error(code, "cuMemHostAlloc")),
                }
            }
        };
        Ok(Some(Staging { device, chunk }))
    }

    pub fn retained_bytes(&self) -> u64 {
        (self.idle().len() * CHUNK) as u64
    }

    pub fn clear(&self, context: &Context) {
        if self.idle().is_empty() {
            return;
        }
        if let Some(entered) = context.enter_to_release() {
            let idle = std::mem::take(&mut *self.idle());
            for chunk in idle {
                free(&entered, chunk.0);
            }
        }
    }
}

impl Staging<'_> {
    pub fn as_ptr(&self) -> *mut u8 {
        self.chunk.0.as_ptr()
    }

    /// Never used again: a copy may still be under way.
    pub fn leak(self) {
        std::mem::forget(self);
    }
}

impl Drop for Staging<'_> {
    fn drop(&mut self) {
        let mut idle = self.device.pinned.idle();
        if idle.len() < KEPT {
            idle.push(self.chunk);
            return;
        }
        drop(idle);
        if let Some(entered) = self.device.context.enter_to_release() {
            free(&entered, self.chunk.0);
        }
    }
}
