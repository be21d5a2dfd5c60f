//! Memory that outlives a dispatch: frames and copies of borrowed bindings are taken from here and
//! given back, so that a warm dispatch asks the system for nothing.
//!
//! Lock: `free` alone; nothing else is taken while it is held.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::memory::Memory;
use crate::backend::Counters;
use crate::error::{Result, Status};

/// Bytes kept at most.
const RETAINED: usize = 256 << 20;
/// Smallest piece, in bytes.
const PIECE: usize = 4096;

#[derive(Default)]
pub struct Recycler {
    free: Mutex<Vec<Memory>>,
}

impl Recycler {
    fn lock(&self) -> MutexGuard<'_, Vec<Memory>> {
        // Entries come and go whole.
        self.free.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// At least `size` bytes with arbitrary contents.
    pub fn take(&self, counters: &Counters, size: usize) -> Result<Memory> {
        let found = {
            let mut free = self.lock();
            free.iter()
                .enumerate()
                .filter(|(_, memory)| memory.len() >= size && memory.len() / 4 <= size.max(PIECE))
                .min_by_key(|(_, memory)| memory.len())
                .map(|(index, _)| index)
                .map(|index| free.swap_remove(index))
        };
        if let Some(memory) = found {
            counters.pool_hits.fetch_add(1, Relaxed);
            return Ok(memory);
        }
        counters.pool_misses.fetch_add(1, Relaxed);
        let rounded = if size < RETAINED {
            size.max(PIECE).next_power_of_two()
        } else {
            size
        };
        Memory::zeroed(rounded as u64, Status::OutOfHostMemory)
    }

    pub fn give_back(&self, memory: Memory) {
        let mut free = self.lock();
        let kept: usize = free.iter().map(Memory::len).sum();
        if kept + memory.len() <= RETAINED {
            free.push(memory);
        }
    }

    pub fn retained_bytes(&self) -> u64 {
        self.lock().iter().map(|memory| memory.len() as u64).sum()
    }

    pub fn clear(&self) {
        let free = std::mem::take(&mut *self.lock());
        drop(free);
    }
}
