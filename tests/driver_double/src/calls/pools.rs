//! Pools of the device's memory.

use std::ffi::{c_int, c_void};
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Mutex, PoisonError};

use crate::context;
use crate::entry::{INVALID_HANDLE, INVALID_VALUE, SUCCESS, driver, put};
use crate::memory::{self, BEING_FREED, Kind, POOLS, Pool, PoolState};
use crate::stream::STREAMS;

const RELEASE_THRESHOLD: c_int = 4;
const RESERVED_CURRENT: c_int = 5;
const USED_CURRENT: c_int = 7;

driver! {
    Context fn cuMemPoolCreate(place: *mut usize, properties: *const c_void) {
        if properties.is_null() {
            return INVALID_VALUE;
        }
        let pool = Pool {
            state: Mutex::new(PoolState::default()),
        };
        put(place, POOLS.add(Arc::new(pool)))
    }

    Release fn cuMemPoolDestroy(pool: usize) {
        match POOLS.remove(pool) {
            Some(pool) => {
                pool.shrink(0);
                SUCCESS
            }
            None => INVALID_HANDLE,
        }
    }

    Context fn cuMemPoolSetAttribute(pool: usize, which: c_int, value: *mut c_void) {
        let Some(pool) = POOLS.get(pool) else {
            return INVALID_HANDLE;
        };
        if which != RELEASE_THRESHOLD || value.is_null() {
            return INVALID_VALUE;
        }
        // SAFETY: this attribute is a 64-bit number, which the caller passes by address.
        let value = unsafe { value.cast::<u64>().read() };
        let mut state = pool.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.threshold = value;
        SUCCESS
    }

    Context fn cuMemPoolGetAttribute(pool: usize, which: c_int, value: *mut c_void) {
        let Some(pool) = POOLS.get(pool) else {
            return INVALID_HANDLE;
        };
        let state = pool.state();
        match which {
            RELEASE_THRESHOLD => put(value.cast(), state.threshold),
            RESERVED_CURRENT => put(value.cast(), state.reserved),
            USED_CURRENT => put(value.cast(), state.used),
            _ => INVALID_VALUE,
        }
    }

    Context fn cuMemPoolTrimTo(pool: usize, keep: usize) {
        match POOLS.get(pool) {
            Some(pool) => {
                pool.shrink(keep as u64);
                SUCCESS
            }
            None => INVALID_HANDLE,
        }
    }

    Context fn cuMemAllocFromPoolAsync(place: *mut u64, size: usize, pool: usize, stream: usize) {
        if STREAMS.get(stream).is_none() {
            return INVALID_HANDLE;
        }
        match memory::allocate(size, Kind::Pooled(pool)) {
            Ok(address) => put(place, address),
            Err(code) => code,
        }
    }

    Release fn cuMemFreeAsync(address: u64, stream: usize) {
        let Some(stream) = STREAMS.get(stream) else {
            return INVALID_HANDLE;
        };
        let is_right = |kind| matches!(kind, Kind::Pooled(_));
        if context::sticky() != SUCCESS {
            // Nothing on a stream is done any more, but the books are kept.
            return memory::free(address, is_right).map_or_else(|code| code, |()| SUCCESS);
        }
        if !memory::find(address).is_some_and(|found| found.start == address && is_right(found.kind)) {
            context::violation(format_args!("{address:#x} is freed, and of no pool"));
            return INVALID_VALUE;
        }
        BEING_FREED.fetch_add(1, SeqCst);
        stream.enqueue(move || {
            let _ = memory::free(address, is_right);
            BEING_FREED.fetch_sub(1, SeqCst);
        });
        SUCCESS
    }
}
