//! Launch slots: the counter that one launch's workgroups arrive at, and the record of what it did.
//!
//! Each launch in flight has a slot of its own, so launches of one program may overlap. A slot's counter
//! goes on from where the last audited launch left it; after any failure it is zeroed before it is used
//! again.
//!
//! Lock: `idle`, taken alone.

use std::ptr::null_mut;
use std::sync::atomic::{AtomicU32, Ordering::Acquire, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::context::{Context, Entered};
use super::driver::sys::CUdeviceptr;
use super::ptx::abi::{GROUPS, Shape, abort, group_size, record, slot};
use super::stream::StreamHandle;
use crate::error::{Error, Result, Status};

/// Slots that are made at once.
const CHUNK: usize = 64;
/// Bytes from one record to the next: records of launches that overlap share no cache line.
const RECORD_STRIDE: usize = 128;
/// CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP
const MAPPED: u32 = 1 | 2;

/// A slot and what is known about it. Whoever holds it is its only user.
pub struct Slot {
    /// In device memory.
    pub address: CUdeviceptr,
    /// The record as the device sees it.
    pub record_address: CUdeviceptr,
    record: *const Record,
    /// The counter before the launch.
    pub base: u32,
    /// The count of ended workgroups before the launch.
    pub exit_base: u32,
    /// The groups' counts of arrivals and of releases before the launch; the latter are all the same.
    pub arrivals: [u32; GROUPS as usize],
    pub releases: u32,
    /// What the launch is to write as its record's last word.
    pub sequence: u32,
}

// SAFETY: the record is memory that the pool keeps, of atomics.
unsafe impl Send for Slot {}

/// In host memory that the device writes to; laid out as `abi::record` says.
#[repr(C)]
struct Record {
    executed: AtomicU32,
    observed: AtomicU32,
    sequence: AtomicU32,
    aborted: AtomicU32,
    ended: AtomicU32,
    unused: [u32; 3],
    arrivals: [AtomicU32; GROUPS as usize],
    releases: [AtomicU32; GROUPS as usize],
}

const _: () = {
    assert!(std::mem::offset_of!(Record, executed) == record::EXECUTED as usize);
    assert!(std::mem::offset_of!(Record, observed) == record::OBSERVED as usize);
    assert!(std::mem::offset_of!(Record, sequence) == record::SEQUENCE as usize);
    assert!(std::mem::offset_of!(Record, aborted) == record::ABORTED as usize);
    assert!(std::mem::offset_of!(Record, ended) == record::ENDED as usize);
    assert!(std::mem::offset_of!(Record, arrivals) == record::ARRIVALS as usize);
    assert!(std::mem::offset_of!(Record, releases) == record::RELEASES as usize);
    assert!(size_of::<Record>() == record::SIZE as usize);
    assert!(size_of::<Record>() <= RECORD_STRIDE);
};

/// What a launch's record proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Audited {
    /// Grid barriers that the grid passed.
    pub executed: u32,
    /// The slot's counter afterwards.
    observed: u32,
    /// The slot's count of ended workgroups afterwards.
    ended: u32,
    /// The groups' counts of arrivals and of releases afterwards, if the shape has them.
    arrivals: [u32; GROUPS as usize],
    releases: [u32; GROUPS as usize],
}

/// What a slot's counts were before a launch.
#[derive(Clone, Copy)]
struct Before {
    base: u32,
    exit_base: u32,
    arrivals: [u32; GROUPS as usize],
    releases: u32,
}

/// Why a record proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The kernel gave up: one of `abi::abort`.
    Aborted(u32),
    /// The kernel ended without writing it.
    Unwritten,
    /// Arrivals are missing or too many.
    Arrivals {
        seen: u32,
        expected: u32,
        executed: u32,
    },
    /// Workgroups that ended are missing or too many.
    Ended { seen: u32 },
    /// A group's arrivals, or the releases that it waited for, are missing or too many.
    Group {
        group: u32,
        what: &'static str,
        seen: u32,
        expected: u32,
    },
}

impl Slot {
    /// Makes the record ready for a launch.
    pub fn arm(&mut self) {
        // Zero is never a sequence: the record is cleared to it.
        self.sequence = match self.sequence.wrapping_add(1) {
            0 => 1,
            next => next,
        };
        let record = self.record();
        record.ended.store(0, Relaxed);
        record.executed.store(0, Relaxed);
        record.observed.store(0, Relaxed);
        record.aborted.store(0, Relaxed);
        record.sequence.store(0, Relaxed);
    }

    fn record(&self) -> &Record {
        // SAFETY: the pool keeps the memory for as long as it has slots out.
        unsafe { &*self.record }
    }

    /// Holds what the launch left in the record against what it must be, exactly. `workgroups` arrive at
    /// each barrier.
    pub fn audit(&self, workgroups: u64) -> Result<Audited, Refusal> {
        let record = self.record();
        let written = record.sequence.load(Acquire);
        let left = (written == self.sequence).then(|| Audited {
            executed: record.executed.load(Relaxed),
            observed: record.observed.load(Relaxed),
            ended: record.ended.load(Relaxed),
            arrivals: std::array::from_fn(|group| record.arrivals[group].load(Relaxed)),
            releases: std::array::from_fn(|group| record.releases[group].load(Relaxed)),
        });
        let before = Before {
            base: self.base,
            exit_base: self.exit_base,
            arrivals: self.arrivals,
            releases: self.releases,
        };
        audit(before, left, record.aborted.load(Relaxed), workgroups)
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
        self.record().sequence.load(Acquire) == self.sequence
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
        self.base = audited.observed;
        self.exit_base = audited.ended;
        let shape = Shape::of(workgroups);
        if shape >= Shape::Groups {
            self.arrivals = audited.arrivals;
        }
        if shape == Shape::Releases {
            self.releases = audited.releases[0];
        }
    }
}

fn audit(
    before: Before,
    left: Option<Audited>,
    aborted: u32,
    workgroups: u64,
) -> Result<Audited, Refusal> {
    if aborted != 0 {
        return Err(Refusal::Aborted(aborted));
    }
    let left = left.ok_or(Refusal::Unwritten)?;
    let shape = Shape::of(workgroups);
    // All counts wrap.
    let raised = |by: u32| left.executed.wrapping_mul(by);
    let expected = raised(shape.arrivals(workgroups));
    let seen = left.observed.wrapping_sub(before.base);
    if seen != expected {
        return Err(Refusal::Arrivals {
            seen,
            expected,
            executed: left.executed,
        });
    }
    let check = |group: u32, what, seen: u32, expected| match seen == expected {
        true => Ok(()),
        false => Err(Refusal::Group {
            group,
            what,
            seen,
            expected,
        }),
    };
    for group in 0..GROUPS {
        let at = group as usize;
        if shape >= Shape::Groups {
            let seen = left.arrivals[at].wrapping_sub(before.arrivals[at]);
            let expected = raised(group_size(group, workgroups));
            check(group, "arrivals", seen, expected)?;
        }
        if shape == Shape::Releases {
            let seen = left.releases[at].wrapping_sub(before.releases);
            check(group, "releases", seen, expected)?;
        }
    }
    let workgroups = workgroups as u32;
    // All of them, or of a quiet launch none.
    let ended = left.ended.wrapping_sub(before.exit_base);
    if ended != workgroups && ended != 0 {
        return Err(Refusal::Ended { seen: ended });
    }
    Ok(left)
}

impl Refusal {
    pub fn error(self, kernel: &str, workgroups: u64) -> Error {
        match self {
            Refusal::Aborted(abort::TIME_LIMIT) | Refusal::Aborted(abort::CANCELLED) => Error::new(
                Status::Timeout,
                format!("the dispatch of `{kernel}` passed its time limit and was stopped"),
            ),
            Refusal::Aborted(abort::UNEVEN) => Error::new(
                Status::BarrierAudit,
                format!(
                    "not all of the {workgroups} workgroups of `{kernel}` met at a gridBarrier(): one had ended while another waited there"
                ),
            ),
            Refusal::Aborted(cause) => Error::new(
                Status::DispatchFailed,
                format!("the dispatch of `{kernel}` was stopped for cause {cause}"),
            ),
            Refusal::Ended { seen } => Error::new(
                Status::BarrierAudit,
                format!(
                    "gridBarrier() cannot be trusted in `{kernel}`: {seen} workgroups were seen to end, {workgroups} were expected"
                ),
            ),
            Refusal::Unwritten => Error::new(
                Status::BarrierAudit,
                format!(
                    "the dispatch of `{kernel}` ended without the record of its gridBarrier() calls: not all of its {workgroups} workgroups ran to their end"
                ),
            ),
            Refusal::Arrivals {
                seen,
                expected,
                executed,
            } => {
                let arriving = match Shape::of(workgroups) {
                    Shape::Counter => "",
                    Shape::Groups | Shape::Releases => " in 8 groups",
                };
                Error::new(
                    Status::BarrierAudit,
                    format!(
                        "gridBarrier() did not hold in `{kernel}`: {seen} arrivals were seen, {expected} were expected ({executed} barriers x {workgroups} workgroups{arriving})"
                    ),
                )
            }
            Refusal::Group {
                group,
                what,
                seen,
                expected,
            } => Error::new(
                Status::BarrierAudit,
                format!(
                    "gridBarrier() did not hold in `{kernel}`: {seen} {what} of group {group} of its {workgroups} workgroups were seen, {expected} were expected"
                ),
            ),
        }
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

    pub fn take(&self, entered: &Entered<'_>) -> Result<Slot> {
        if let Some(slot) = self.idle().slots.pop() {
            return Ok(slot);
        }
        let (chunk, mut slots) = make(entered)?;
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
            slot.base = 0;
            slot.exit_base = 0;
            slot.arrivals = [0; GROUPS as usize];
            slot.releases = 0;
            self.give_back(slot);
        }
    }

    /// Frees everything if nothing is in use.
    pub fn trim(&self, context: &Context) {
        let idle = {
            let mut idle = self.idle();
            if idle.slots.len() != idle.chunks.len() * CHUNK {
                return;
            }
            std::mem::take(&mut *idle)
        };
        free(idle, context);
    }

    /// Frees everything; nothing may be in use.
    pub fn clear(&self, context: &Context) {
        let idle = std::mem::take(&mut *self.idle());
        free(idle, context);
    }
}

fn free(idle: Idle, context: &Context) {
    if let Some(entered) = context.enter_to_release() {
        for chunk in idle.chunks {
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
    let made = entered.check(code, "cuMemHostAlloc").and_then(|()| {
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
        base: 0,
        exit_base: 0,
        arrivals: [0; GROUPS as usize],
        releases: 0,
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

#[cfg(test)]
mod tests {
    use super::*;

    fn left(executed: u32, observed: u32, ended: u32) -> Audited {
        Audited {
            executed,
            observed,
            ended,
            arrivals: [0; 8],
            releases: [0; 8],
        }
    }

    fn before(base: u32, exit_base: u32) -> Before {
        Before {
            base,
            exit_base,
            arrivals: [0; 8],
            releases: 0,
        }
    }

    #[test]
    fn the_audit_is_an_equality_that_wraps() {
        let passed = |base, executed, observed| {
            let record = left(executed, observed, 7 + 132);
            assert_eq!(audit(before(base, 7), Some(record), 0, 132), Ok(record));
        };
        passed(0, 0, 0);
        passed(10, 3, 406);
        passed(u32::MAX - 100, 2, 163);
        for observed in [405, 407, 10, 0, 406 + 396] {
            let refused = audit(before(10, 7), Some(left(3, observed, 139)), 0, 132).unwrap_err();
            assert!(matches!(refused, Refusal::Arrivals { expected: 396, .. }));
            let error = refused.error("main", 132);
            assert_eq!(error.status(), Status::BarrierAudit);
            assert!(error.message().contains("396 were expected"), "{error}");
        }
    }

    #[test]
    fn all_workgroups_end_or_are_not_counted() {
        let ended = |ended| audit(before(0, u32::MAX - 3), Some(left(0, 0, ended)), 0, 8);
        assert!(ended(4).is_ok() && ended(u32::MAX - 3).is_ok());
        for wrong in [3, 5, 0, u32::MAX - 4] {
            let error = ended(wrong).unwrap_err().error("main", 8);
            assert_eq!(error.status(), Status::BarrierAudit);
            assert!(error.message().contains("8 were expected"), "{error}");
        }
    }

    #[test]
    fn each_group_is_audited_by_itself() {
        // 1501 workgroups: 188 in the first five groups, 187 in the others.
        let sizes: [u32; 8] = std::array::from_fn(|group| group_size(group as u32, 1501));
        assert_eq!(sizes, [188, 188, 188, 188, 188, 187, 187, 187]);
        assert_eq!(sizes.iter().sum::<u32>(), 1501);
        let start = Before {
            arrivals: std::array::from_fn(|group| u32::MAX - group as u32),
            releases: u32::MAX - 3,
            ..before(u32::MAX - 2, 0)
        };
        let right = Audited {
            arrivals: std::array::from_fn(|at| start.arrivals[at].wrapping_add(3 * sizes[at])),
            releases: [start.releases.wrapping_add(3 * 8); 8],
            ..left(3, start.base.wrapping_add(3 * 8), 1501)
        };
        assert_eq!(audit(start, Some(right), 0, 1501), Ok(right));
        let mut wrong = right;
        // What one group has too many another has too few.
        wrong.arrivals.swap(1, 6);
        let error = audit(start, Some(wrong), 0, 1501)
            .unwrap_err()
            .error("main", 1501);
        assert_eq!(error.status(), Status::BarrierAudit);
        assert!(error.message().contains("arrivals of group 1"), "{error}");
        let mut wrong = right;
        wrong.releases[7] = wrong.releases[7].wrapping_sub(8);
        let error = audit(start, Some(wrong), 0, 1501)
            .unwrap_err()
            .error("main", 1501);
        assert!(
            error.message().contains("16 releases of group 7"),
            "{error}"
        );
    }

    #[test]
    fn a_kernel_that_left_nothing_behind_proves_nothing() {
        assert_eq!(audit(before(0, 0), None, 0, 8), Err(Refusal::Unwritten));
        assert_eq!(
            audit(before(0, 0), Some(left(1, 8, 8)), abort::TIME_LIMIT, 8),
            Err(Refusal::Aborted(abort::TIME_LIMIT))
        );
        let error = Refusal::Aborted(abort::TIME_LIMIT).error("main", 8);
        assert_eq!(error.status(), Status::Timeout);
    }
}
