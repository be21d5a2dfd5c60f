//! Memory: allocations by address, and pools that they may be taken from.
//!
//! The device's memory has addresses that no host has, so that a host that reads them faults. Page-locked memory has
//! the same address on both sides.

use std::alloc::Layout;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use crate::context;
use crate::entry::{INVALID_VALUE, OUT_OF_MEMORY};
use crate::handles::Table;

/// Above what a process on a host has.
const FIRST: u64 = 1 << 48;
/// Between allocations nothing lies.
const GAP: u64 = 1 << 16;
/// What addresses are multiples of.
pub const ALIGN: usize = 512;
/// Smaller allocations begin with bytes that nobody takes for zeros.
const SPOILT: usize = 1 << 20;
const SPOIL: u8 = 0xa5;
/// Little enough to be used up by a test.
const TOTAL: u64 = 1 << 30;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Device,
    /// Of the pool with this handle.
    Pooled(usize),
    Host,
    /// A module's variable.
    Variable,
}

pub struct Allocation {
    pub start: u64,
    pub size: usize,
    pub kind: Kind,
    data: *mut u8,
    layout: Layout,
}

// SAFETY: bytes, which are the caller's to share as with the driver's.
unsafe impl Send for Allocation {}
// SAFETY: as above.
unsafe impl Sync for Allocation {}

impl Allocation {
    fn new(size: usize, kind: Kind, at: Option<u64>) -> Option<Arc<Allocation>> {
        let layout = Layout::from_size_align(size.max(1), 4096).ok()?;
        // SAFETY: the layout is not empty. Large memory is zeroed so that it need not be touched.
        let data = unsafe { std::alloc::alloc_zeroed(layout) };
        if data.is_null() {
            return None;
        }
        if size < SPOILT {
            // SAFETY: just allocated, with this many bytes.
            unsafe { data.write_bytes(SPOIL, size) };
        }
        Some(Arc::new(Allocation {
            start: at.unwrap_or(data as u64),
            size,
            kind,
            data,
            layout,
        }))
    }

    pub fn end(&self) -> u64 {
        self.start + self.size as u64
    }

    /// The host's address of `address`, which lies inside.
    pub fn at(&self, address: u64) -> *mut u8 {
        self.data.wrapping_add((address - self.start) as usize)
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout; whoever uses the memory holds the allocation.
        unsafe { std::alloc::dealloc(self.data, self.layout) };
    }
}

static KNOWN: RwLock<BTreeMap<u64, Arc<Allocation>>> = RwLock::new(BTreeMap::new());
static NEXT: AtomicU64 = AtomicU64::new(FIRST);
static ROOM: AtomicU64 = AtomicU64::new(TOTAL);
/// Bytes that the device is out of: of allocations, and of what pools hold.
static HELD: AtomicU64 = AtomicU64::new(0);

pub struct Pool {
    pub state: Mutex<PoolState>,
}

#[derive(Clone, Copy, Default)]
pub struct PoolState {
    pub used: u64,
    pub reserved: u64,
    pub threshold: u64,
}

impl Pool {
    pub fn state(&self) -> PoolState {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives back all but `keep` of what nobody uses.
    pub fn shrink(&self, keep: u64) {
        let state = &mut *self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let reserved = state.used.max(keep.min(state.reserved));
        HELD.fetch_sub(state.reserved - reserved, Ordering::SeqCst);
        state.reserved = reserved;
    }
}

pub static POOLS: Table<Pool> = Table::new("pool", 0xb0);

pub fn total() -> u64 {
    ROOM.load(Ordering::SeqCst)
}

pub fn set_total(bytes: u64) {
    ROOM.store(bytes, Ordering::SeqCst);
}

pub fn free_bytes() -> u64 {
    total().saturating_sub(HELD.load(Ordering::SeqCst))
}

fn hold(bytes: u64) -> bool {
    let more = |held: u64| held.checked_add(bytes).filter(|&held| held <= total());
    HELD.fetch_update(Ordering::SeqCst, Ordering::SeqCst, more)
        .is_ok()
}

fn place(size: u64) -> u64 {
    let room = (size + GAP).next_multiple_of(GAP);
    NEXT.fetch_add(room, Ordering::SeqCst)
}

fn known(allocation: Arc<Allocation>) -> u64 {
    let start = allocation.start;
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    known.insert(start, allocation);
    start
}

/// New memory's address, or a CUresult.
pub fn allocate(size: usize, kind: Kind) -> Result<u64, i32> {
    if size == 0 {
        return Err(INVALID_VALUE);
    }
    let bytes = size.next_multiple_of(ALIGN) as u64;
    match kind {
        Kind::Host => {
            let made = Allocation::new(size, kind, None).ok_or(OUT_OF_MEMORY)?;
            return Ok(known(made));
        }
        Kind::Pooled(pool) => {
            let pool = POOLS.get(pool).ok_or(INVALID_VALUE)?;
            let state = &mut *pool.state.lock().unwrap_or_else(PoisonError::into_inner);
            let more = (state.used + bytes).saturating_sub(state.reserved);
            if !hold(more) {
                return Err(OUT_OF_MEMORY);
            }
            state.reserved += more;
            state.used += bytes;
        }
        Kind::Device | Kind::Variable => {
            if !hold(bytes) {
                return Err(OUT_OF_MEMORY);
            }
        }
    }
    let made = Allocation::new(size, kind, Some(place(bytes))).ok_or(OUT_OF_MEMORY)?;
    Ok(known(made))
}

/// Ends an allocation of this kind that starts there.
pub fn free(address: u64, is_right: impl Fn(Kind) -> bool) -> Result<(), i32> {
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    match known.get(&address) {
        Some(allocation) if is_right(allocation.kind) => {}
        _ => {
            context::violation(format_args!("{address:#x} is freed, where nothing starts"));
            return Err(INVALID_VALUE);
        }
    }
    let Some(allocation) = known.remove(&address) else {
        return Err(INVALID_VALUE);
    };
    let bytes = allocation.size.next_multiple_of(ALIGN) as u64;
    match allocation.kind {
        Kind::Host => {}
        Kind::Pooled(pool) => {
            // It may have ended before its last allocation.
            if let Some(pool) = POOLS.peek(pool) {
                let mut state = pool.state.lock().unwrap_or_else(PoisonError::into_inner);
                state.used -= bytes;
            }
        }
        Kind::Device | Kind::Variable => {
            HELD.fetch_sub(bytes, Ordering::SeqCst);
        }
    }
    Ok(())
}

/// What lies at an address.
pub fn find(address: u64) -> Option<Arc<Allocation>> {
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    let (_, allocation) = known.range(..=address).next_back()?;
    (address < allocation.end()).then(|| Arc::clone(allocation))
}

/// The allocation that has all of a range, and the host's address of its start.
pub fn range(address: u64, size: usize) -> Option<(Arc<Allocation>, *mut u8)> {
    let allocation = find(address)?;
    let end = address.checked_add(size as u64)?;
    (end <= allocation.end()).then(|| {
        let at = allocation.at(address);
        (allocation, at)
    })
}

pub fn count(is_counted: impl Fn(Kind) -> bool) -> usize {
    let known = KNOWN.read().unwrap_or_else(PoisonError::into_inner);
    known.values().filter(|a| is_counted(a.kind)).count()
}

/// Frees that streams have not come to.
pub static BEING_FREED: AtomicU64 = AtomicU64::new(0);

/// Allocations that are callers' own, and not given back.
pub fn allocations() -> usize {
    let being_freed = BEING_FREED.load(Ordering::SeqCst) as usize;
    count(|kind| kind != Kind::Variable).saturating_sub(being_freed)
}

pub fn clear() {
    let mut known = KNOWN.write().unwrap_or_else(PoisonError::into_inner);
    known.clear();
    POOLS.clear();
    BEING_FREED.store(0, Ordering::SeqCst);
    HELD.store(0, Ordering::SeqCst);
}

/// Copies bytes; words whole, as others may look at them meanwhile.
///
/// # Safety
/// Both ranges are memory of that many bytes, and do not overlap.
pub unsafe fn copy(to: *mut u8, from: *const u8, size: usize) {
    let is_aligned = |to: usize| to.is_multiple_of(size);
    // SAFETY: as promised to this function; alignments are checked.
    unsafe {
        match size {
            4 if is_aligned(to as usize) => {
                AtomicU32::from_ptr(to.cast())
                    .store(from.cast::<u32>().read_unaligned(), Ordering::Release);
            }
            8 if is_aligned(to as usize) => {
                AtomicU64::from_ptr(to.cast())
                    .store(from.cast::<u64>().read_unaligned(), Ordering::Release);
            }
            _ => std::ptr::copy(from, to, size),
        }
    }
}
