//! Launch slots: the counter that one launch's workgroups arrive at, and the record of what it did.
//!
//! Each launch in flight has a slot of its own, so launches of one program may overlap. A slot's counter
//! goes on from where the last audited launch left it; after any failure it is zeroed before it is used
//! again.
//!
//! Lock: `idle`, taken alone.

use std::ops::{Deref, DerefMut};
use std::ptr::null_mut;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::audit::{self, Audited, Before, Record, Refusal};
use super::context::{Context, Entered};
use super::device::Device;
use super::driver::code;
use super::driver::sys::CUdeviceptr;
use super::memory::no_page_locked;
use super::placement;
use super::ptx::abi::{Shape, slot};
use super::stream::StreamHandle;
use crate::error::{Result, Status};

/// Slots that are made at once: as many as a word has bits.
const CHUNK: usize = 64;
/// Slots taken until it is worth finding out which are near.
const OFTEN: u32 = 16;
/// Bytes behind a chunk's slots in which their distances are told.
const DISTANCES: usize = CHUNK * 4;
const CHUNK_SIZE: usize = CHUNK * slot::SIZE as usize + DISTANCES;
/// Bytes from one record to the next: records of launches that overlap share no cache line.
const RECORD_STRIDE: usize = 128;
const _: () = assert!(size_of::<Record>() <= RECORD_STRIDE && CHUNK == u64::BITS as usize);
/// CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP
const MAPPED: u32 = 1 | 2;

/// A slot and what is known about it. Whoever holds it is its only user. It changes hands several times for each launch,
/// so it is boxed.
pub struct Slot(Box<State>);

/// Where a slot is, and what its last launch left there.
pub struct State {
    /// Its place in the pool.
    number: usize,
    /// In device memory.
    pub address: CUdeviceptr,
    /// The record as the device sees it.
    pub record_address: CUdeviceptr,
    record: *const Record,
    pub before: Before,
    /// What the launch is to write into its record, by which it is known.
    pub sequence: u32,
}

// SAFETY: the record is memory that the pool keeps, of atomics.
unsafe impl Send for State {}

impl Deref for Slot {
    type Target = State;

    fn deref(&self) -> &State {
        &self.0
    }
}

impl DerefMut for Slot {
    fn deref_mut(&mut self) -> &mut State {
        &mut self.0
    }
}

impl State {
    /// Makes it ready for a launch. The record stays as it is: the sequence tells old from new, and what the device
    /// wrote last is slow to touch.
    pub fn arm(&mut self) {
        // Zero is never a sequence: a new record holds it.
        self.sequence = match self.sequence.wrapping_add(1) {
            0 => 1,
            next => next,
        };
    }

    fn record(&self) -> &Record {
        // SAFETY: the pool keeps the memory for as long as it has slots out.
        unsafe { &*self.record }
    }

    /// Holds what the launch left in the record against what it must be, exactly. `workgroups` arrive at
    /// each barrier.
    pub fn audit(&self, workgroups: u64) -> Result<Audited, Refusal> {
        let record = self.record();
        let left = record.read(self.sequence, Shape::of(workgroups));
        let aborted = record.aborted.load(Relaxed);
        audit::audit(self.before, left, aborted, workgroups)
    }

    /// Where a counter of a module's own is copied to after the launch; read by [`Self::read_back`].
    pub fn place_for_counter(&self) -> *mut std::ffi::c_void {
        self.record().place_for_counter()
    }

    /// What was copied there.
    pub fn read_back(&self) -> u32 {
        self.record().read_back()
    }

    /// Asks for its record ahead of time.
    pub fn prefetch(&self) {
        self.record().prefetch();
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
    /// By their numbers; none where one is in use. The nearest of a chunk has its lowest number.
    slots: Vec<Option<Slot>>,
    /// For each chunk a bit for each slot, set where it is idle.
    bits: Vec<u64>,
    chunks: Vec<Chunk>,
    /// How many were ever taken.
    taken: u32,
    /// Whether those of the first chunk are in order.
    is_placed: bool,
}

impl Idle {
    /// All of the first chunk, if they are idle and not in order.
    fn unplaced(&mut self) -> Option<(CUdeviceptr, Vec<Slot>)> {
        if self.is_placed || *self.bits.first()? != u64::MAX {
            return None;
        }
        self.is_placed = true;
        self.bits[0] = 0;
        let slots = self.slots[..CHUNK].iter_mut().filter_map(Option::take);
        Some((self.chunks[0].slots, slots.collect()))
    }

    /// The lowest number.
    fn take(&mut self) -> Option<Slot> {
        let chunk = self.bits.iter().position(|&bits| bits != 0)?;
        let bits = &mut self.bits[chunk];
        let lowest = bits.trailing_zeros() as usize;
        *bits &= *bits - 1;
        self.slots[chunk * CHUNK + lowest].take()
    }

    fn give_back(&mut self, slot: Slot) {
        let number = slot.number;
        self.bits[number / CHUNK] |= 1 << (number % CHUNK);
        self.slots[number] = Some(slot);
    }

    fn add(&mut self, chunk: Chunk, slots: Vec<Slot>) {
        let first = self.slots.len();
        self.chunks.push(chunk);
        self.bits.push(u64::MAX);
        self.slots
            .extend(slots.into_iter().enumerate().map(|(n, mut slot)| {
                slot.number = first + n;
                Some(slot)
            }));
    }
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

    /// The nearest `count` that are idle, or at least one.
    pub fn take(
        &self,
        device: &Device,
        entered: &Entered<'_>,
        count: usize,
        taken: &mut impl Extend<Slot>,
    ) -> Result<()> {
        loop {
            let mut idle = self.idle();
            idle.taken = idle.taken.saturating_add(1);
            if !idle.is_placed && idle.taken >= OFTEN {
                drop(idle);
                self.place(device, entered)?;
                idle = self.idle();
            }
            let mut found = false;
            taken.extend(
                std::iter::from_fn(|| idle.take())
                    .take(count)
                    .inspect(|_| found = true),
            );
            if found {
                return Ok(());
            }
            drop(idle);
            self.add(device, entered)?;
        }
    }

    fn add(&self, device: &Device, entered: &Entered<'_>) -> Result<()> {
        let made = match make(device, entered) {
            Err(error) if error.native_code() == code::OUT_OF_MEMORY => {
                device.trim();
                make(device, entered)
            }
            made => made,
        };
        let (chunk, slots) = made?;
        self.idle().add(chunk, slots);
        Ok(())
    }

    /// Makes slots, and finds out which are near: ahead of time, or else it is done when they were taken a few times.
    pub fn warm_up(&self, device: &Device, entered: &Entered<'_>) -> Result<()> {
        let is_empty = self.idle().chunks.is_empty();
        if is_empty {
            self.add(device, entered)?;
        }
        self.place(device, entered)
    }

    /// Puts the slots of the first chunk in order, if all of them are idle. It takes a few milliseconds, once.
    fn place(&self, device: &Device, entered: &Entered<'_>) -> Result<()> {
        if !device.capabilities.cooperative_launch {
            return Ok(());
        }
        let unplaced = self.idle().unplaced();
        let Some((address, slots)) = unplaced else {
            return Ok(());
        };
        let stream = device.streams.take(entered)?;
        let order = placement::nearest_first::<CHUNK>(
            entered,
            *stream,
            address,
            address + (CHUNK_SIZE - DISTANCES) as u64,
            device.capabilities.multiprocessors,
            || zero(entered, *stream, address, CHUNK_SIZE),
        );
        let order = match order {
            Ok(order) => order,
            Err(error) if error.status() == Status::Timeout => {
                // It may yet count in these slots: they are nobody's any more.
                stream.abandon();
                return Ok(());
            }
            Err(error) if device.context.is_lost() => return Err(error),
            // They are as good in any order.
            Err(_) => std::array::from_fn(|number| number),
        };
        zero(entered, *stream, address, CHUNK_SIZE)?;
        let mut slots: Vec<Option<Slot>> = slots.into_iter().map(Some).collect();
        let mut idle = self.idle();
        for (number, from) in order.into_iter().enumerate() {
            // The order is a permutation.
            if let Some(mut slot) = slots[from].take() {
                slot.number = number;
                slot.before = Before::default();
                idle.give_back(slot);
            }
        }
        Ok(())
    }

    /// For slots whose launches were audited, or never began.
    pub fn give_back(&self, slots: impl Iterator<Item = Slot>) {
        let mut idle = self.idle();
        slots.for_each(|slot| idle.give_back(slot));
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
            slot.record().clear();
            self.give_back(std::iter::once(slot));
        }
    }

    /// Frees everything if nothing is in use.
    pub fn trim(&self, context: &Context) {
        self.free(context, |idle| {
            idle.bits.iter().all(|&bits| bits == u64::MAX)
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
fn make(device: &Device, entered: &Entered<'_>) -> Result<(Chunk, Vec<Slot>)> {
    let api = entered.api();
    let mut address = 0;
    // SAFETY: the place is valid for a write; the context is current.
    entered.check(
        unsafe { (api.mem_alloc)(&mut address, CHUNK_SIZE) },
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
        zero(entered, *device.streams.take(entered)?, address, CHUNK_SIZE)?;
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
    let state = |n: usize| State {
        number: 0,
        address: address + (n * slot::SIZE as usize) as u64,
        record_address: mapped + (n * RECORD_STRIDE) as u64,
        record: records.wrapping_add(n * RECORD_STRIDE).cast(),
        before: Before::default(),
        sequence: 0,
    };
    (0..CHUNK).map(|n| Slot(Box::new(state(n)))).collect()
}

/// Zeroes and waits: other streams are about to use the memory.
fn zero(
    entered: &Entered<'_>,
    stream: StreamHandle,
    address: CUdeviceptr,
    bytes: usize,
) -> Result<()> {
    let api = entered.api();
    // SAFETY: the memory is ours, and has this many bytes.
    let code = unsafe { (api.memset_d8_async)(address, 0, bytes, stream.raw()) };
    entered.check(code, "cuMemsetD8Async")?;
    // SAFETY: the stream is alive.
    let code = unsafe { (api.stream_synchronize)(stream.raw()) };
    entered.check(code, "cuStreamSynchronize")
}
