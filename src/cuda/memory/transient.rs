//! Device memory for the length of one call, kept for reuse.
//!
//! Lock: `idle`, taken alone.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::device::allocate;
use super::pool::DevicePool;
use crate::cuda::context::{Context, Entered};
use crate::cuda::device::Device;
use crate::error::Result;

/// Most bytes that are kept idle.
const KEPT: u64 = 128 << 20;
/// The smallest block.
const SMALLEST: u64 = 512;

#[derive(Default)]
struct Idle {
    /// Addresses by the size of their blocks.
    blocks: BTreeMap<u64, Vec<u64>>,
    bytes: u64,
}

#[derive(Default)]
pub struct TransientPool {
    idle: Mutex<Idle>,
}

/// Memory that nobody else uses; it goes back on drop, when nothing on the device uses it any more.
pub struct Transient<'t> {
    device: &'t Device,
    entered: &'t Entered<'t>,
    address: u64,
    block: u64,
}

impl TransientPool {
    fn idle(&self) -> MutexGuard<'_, Idle> {
        // Blocks come and go whole.
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// At least `size` bytes of undefined content.
    pub fn take<'t>(
        &self,
        device: &'t Device,
        entered: &'t Entered<'t>,
        size: u64,
    ) -> Result<Transient<'t>> {
        let block = block(size);
        let found = {
            let idle = &mut *self.idle();
            let found = idle.blocks.get_mut(&block).and_then(Vec::pop);
            if found.is_some() {
                idle.bytes -= block;
            }
            found
        };
        let counters = &device.counters;
        let address = match found {
            Some(address) => {
                counters.pool_hits.fetch_add(1, Relaxed);
                address
            }
            None => {
                counters.pool_misses.fetch_add(1, Relaxed);
                allocate(device, entered, block)?
            }
        };
        Ok(Transient {
            device,
            entered,
            address,
            block,
        })
    }

    pub fn retained_bytes(&self) -> u64 {
        self.idle().bytes
    }

    /// Frees what is idle.
    pub fn clear(&self, context: &Context, memory: &DevicePool) {
        if let Some(entered) = context.enter_to_release() {
            let idle = std::mem::take(&mut *self.idle());
            for address in idle.blocks.into_values().flatten() {
                memory.free(&entered, address);
            }
        }
    }
}

/// Sizes of blocks: four steps to each doubling, so that little is wasted and much is reused.
fn block(size: u64) -> u64 {
    let size = size.max(SMALLEST);
    let doubling = size.checked_next_power_of_two().unwrap_or(1 << 63);
    let step = (doubling / 8).max(SMALLEST);
    size.checked_next_multiple_of(step).unwrap_or(size)
}

impl Transient<'_> {
    pub fn address(&self) -> u64 {
        self.address
    }

    /// Never used again: the device may still write to it.
    pub fn leak(self) {
        std::mem::forget(self);
    }
}

impl Drop for Transient<'_> {
    fn drop(&mut self) {
        let idle = &mut *self.device.transient.idle();
        if idle.bytes + self.block <= KEPT {
            idle.bytes += self.block;
            idle.blocks
                .entry(self.block)
                .or_default()
                .push(self.address);
        } else {
            self.device.memory.free(self.entered, self.address);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_hold_what_was_asked_for_and_waste_little() {
        for size in [1, 511, 512, 513, 5000, 1 << 20, (1 << 20) + 1, 3 << 30] {
            let block = block(size);
            assert!(block >= size);
            assert!(size < 4096 || block - size <= size / 3, "{size}: {block}");
        }
        assert_eq!(block(u64::MAX), u64::MAX);
    }
}
