//! Launch slots: the counter that one launch's workgroups arrive at, and the record of what it did.
//!
//! Each launch in flight has a slot of its own, so launches of one program may overlap. A slot's counter
//! goes on from where the last audited launch left it; after any failure it is zeroed before it is used
//! again.
//!
//! Lock: `idle`, taken alone.

use std::ptr::null_mut;
use std::sync::atomic::{Ordering::Acquire, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::audit::{self, Audited, Before, Record, Refusal};
use super::context::{Context, Entered};
use super::device::Device;
use super::driver::code;
use super::driver::sys::CUdeviceptr;
use super::memory::no_page_locked;
use super::ptx::abi::slot;
use super::stream::StreamHandle;
use crate::error::Result;

/// Slots that are made at once.
const CHUNK: usize = 64;
/// Bytes from one record to the next: records of launches that overlap share no cache line.
const RECORD_STRIDE: usize = 128;
const _: () = assert!(size_of::<Record>() <= RECORD_STRIDE);
/// CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP
const MAPPED: u32 = 1 | 2;

/// A slot and what is known about it. Whoever holds it is its only user.
pub struct Slot {
    /// In device memory.
    pub address: CUdeviceptr,
    /// The record as the device sees it.
    pub record_address: CUdeviceptr,
    record: *const Record,
    pub before: Before,
    /// What the launch is to write as its record's last word.
    pub sequence: u32,
}

// SAFETY: the record is memory that the pool keeps, of atomics.
unsafe impl Send for Slot {}

impl Slot {
    /// Makes the record ready for a launch.
    pub fn arm(&mut self) {
        // Zero is never a sequence: the record is cleared to it.
        self.sequence = match self.sequence.wrapping_add(1) {
            0 => 1,
            next => next,
        };
        self.record().clear();
    }

    fn record(&self) -> &Record {
        // SAFETY: the pool keeps the memory for as long as it has slots out.
        unsafe { &*self.record }
    }

    /// Holds what the launch left in the record against what it must be, exactly. `workgroups` arrive at
    /// each barrier.
    pub fn audit(&self, workgroups: u64) -> Result<Audited, Refusal> {
        let record = self.record();
        let left = record.read(self.sequence);
        let aborted = record.aborted.load(Relaxed);
        audit::audit(self.before, left, aborted, workgroups)
    }

    /// Where a counter of a module's own is copied to after the launch; read by [`Self::read_back`].
    pub fn place_for_counter(&self) -> *mut std::ffi::c_void {
        (&raw const self.record().observed).cast_mut().cast()
    }

    /// What was copied there.
    pub fn read_back(&self) -> u32 {
        self.record().observed.load(Acquire)
    }

    /// Whether the grid has ended and written its record.
    pub fn has_landed(&self) -> bool {
        self.record().is_of(self.sequence)
    }

    /// Why the kernel gave up, if it did: one of `abi::abort`.
    pub fn aborted(&self) -> Option<u32> {
        match self.record().aborted.load(Relaxed) {
            0 => None,
            cause => Some(cause),
        }
    }

    /// The next launch counts on from what this one of so many workgroups left.
    pub fn settle(&mut self, audited: Audited, workgroups: u64) {
        #[cfg(test)]
        if super::stale::RESETS_ARE_SKIPPED.load(Relaxed) {
            return;
        }
        self.before.settle(audited, workgroups);
    }
}

struct Chunk {
    slots: CUdeviceptr,
    records: *mut u8,
}

// SAFETY: plain memory.
unsafe impl Send for Chunk {}

#[derive(Default)]
struct Idle {
    slots: Vec<Slot>,
    chunks: Vec<Chunk>,
}

#[derive(Default)]
pub struct SlotPool {
    idle: Mutex<Idle>,
}

impl SlotPool {
    fn idle(&self) -> MutexGuard<'_, Idle> {
        // Slots come and go whole.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn take(&self, device: &Device, entered: &Entered<'_>) -> Result<Slot> {
        if let Some(slot) = self.idle().slots.pop() {
            return Ok(slot);
        }
        let made = match make(entered) {
            Err(error) if error.native_code() == code::OUT_OF_MEMORY => {
                device.trim();
                make(entered)
            }
            made => made,
        };
        let (chunk, mut slots) = made?;
        let slot = slots.pop().expect("a chunk has slots");
        let mut idle = self.idle();
        idle.chunks.push(chunk);
        idle.slots.append(&mut slots);
        Ok(slot)
    }

    /// For a slot whose launch was audited, or never began.
    pub fn give_back(&self, slot: Slot) {
        self.idle().slots.push(slot);
    }

    /// For a slot whose launch failed and has ended for certain: zeroed before it is used again. If that
    /// fails it is never used again.
    pub fn quarantine(&self, entered: &Entered<'_>, stream: StreamHandle, mut slot: Slot) {
        let api = entered.api();
        // SAFETY: the slot is ours, and nothing runs that uses it.
        let zeroed = unsafe {
            entered
                .check(
                    (api.memset_d8_async)(slot.address, 0, slot::SIZE as usize, stream.raw()),
                    "cuMemsetD8Async",
                )
                .and_then(|()| {
                    entered.check(
                        (api.stream_synchronize)(stream.raw()),
                        "cuStreamSynchronize",
                    )
                })
        };
        if zeroed.is_ok() {
            slot.before = Before::default();
            self.give_back(slot);
        }
    }

    /// Frees everything if nothing is in use.
    pub fn trim(&self, context: &Context) {
        self.free(context, |idle| {
            idle.slots.len() == idle.chunks.len() * CHUNK
        });
    }

    /// Frees everything; nothing may be in use.
    pub fn clear(&self, context: &Context) {
        self.free(context, |_| true);
    }

    fn free(&self, context: &Context, may: impl FnOnce(&Idle) -> bool) {
        let Some(entered) = context.enter_to_release() else {
            return;
        };
        let chunks = {
            let mut idle = self.idle();
            if !may(&idle) {
                return;
            }
            std::mem::take(&mut *idle).chunks
        };
        for chunk in chunks {
            // SAFETY: nobody uses the chunk's slots any more.
            unsafe {
                (entered.api().mem_free)(chunk.slots);
                (entered.api().mem_free_host)(chunk.records.cast());
            }
        }
    }
}

/// Zeroed slots with their records.
fn make(entered: &Entered<'_>) -> Result<(Chunk, Vec<Slot>)> {
    let api = entered.api();
    let bytes = CHUNK * slot::SIZE as usize;
    let mut address = 0;
    // SAFETY: the place is valid for a write; the context is current.
    entered.check(
        unsafe { (api.mem_alloc)(&mut address, bytes) },
        "cuMemAlloc",
    )?;
    let mut records = null_mut();
    // SAFETY: as above.
    let code = unsafe { (api.mem_host_alloc)(&mut records, CHUNK * RECORD_STRIDE, MAPPED) };
    let chunk = Chunk {
        slots: address,
        records: records.cast(),
    };
    let allocated = match code {
        code::OUT_OF_MEMORY => Err(no_page_locked((CHUNK * RECORD_STRIDE) as u64)),
        code => entered.check(code, "cuMemHostAlloc"),
    };
    let made = allocated.and_then(|()| {
        // SAFETY: the memory is ours, and has this many bytes.
        unsafe { chunk.records.write_bytes(0, CHUNK * RECORD_STRIDE) };
        let mut mapped = 0;
        // SAFETY: the place is valid for a write; the memory was allocated as mapped.
        let code = unsafe { (api.mem_host_get_device_pointer)(&mut mapped, records, 0) };
        entered.check(code, "cuMemHostGetDevicePointer")?;
        zero(entered, address, bytes)?;
        Ok(mapped)
    });
    match made {
        Ok(mapped) => Ok((chunk, slots(address, records.cast(), mapped))),
        Err(error) => {
            // SAFETY: both are ours, or null.
            unsafe {
                (api.mem_free)(address);
                if !records.is_null() {
                    (api.mem_free_host)(records);
                }
            }
            Err(error)
        }
    }
}

fn slots(address: CUdeviceptr, records: *mut u8, mapped: CUdeviceptr) -> Vec<Slot> {
    let slot = |n: usize| Slot {
        address: address + (n * slot::SIZE as usize) as u64,
        record_address: mapped + (n * RECORD_STRIDE) as u64,
        record: records.wrapping_add(n * RECORD_STRIDE).cast(),
        before: Before::default(),
        sequence: 0,
    };
    (0..CHUNK).rev().map(slot).collect()
}

/// Zeroes and waits: other streams are about to use the memory.
fn zero(entered: &Entered<'_>, address: CUdeviceptr, bytes: usize) -> Result<()> {
    let api = entered.api();
    let mut stream = null_mut();
    // SAFETY: the place is valid for a write; the context is current.
    entered.check(
        unsafe { (api.stream_create)(&mut stream, 1) },
        "cuStreamCreate",
    )?;
    // SAFETY: the memory is ours and the stream alive until it is destroyed here.
    unsafe {
        let result = entered
            .check(
                (api.memset_d8_async)(address, 0, bytes, stream),
                "cuMemsetD8Async",
            )
            .and_then(|()| entered.check((api.stream_synchronize)(stream), "cuStreamSynchronize"));
        (api.stream_destroy)(stream);
        result
    }
}
