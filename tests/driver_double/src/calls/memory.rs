//! Memory and copies.

use std::ffi::{c_int, c_uint, c_void};

use crate::context;
use crate::entry::{INVALID_HANDLE, INVALID_VALUE, SUCCESS, driver, put};
use crate::memory::{self, Kind, find, range};
use crate::stream::{STREAMS, synchronise_all};

const POINTER_MEMORY_TYPE: c_int = 2;
const TYPE_HOST: u32 = 1;
const TYPE_DEVICE: u32 = 2;

fn done(result: Result<(), c_int>) -> c_int {
    result.map_or_else(|code| code, |()| SUCCESS)
}

/// Memory of one range, kept while work on a stream uses it.
struct Place {
    _kept: Option<std::sync::Arc<memory::Allocation>>,
    at: *mut u8,
}

// SAFETY: memory that is kept, or that the caller keeps until the stream has come past its use.
unsafe impl Send for Place {}

impl Place {
    /// A range of the device's; one that is not within an allocation is noted.
    fn on_device(address: u64, size: usize) -> Result<Place, c_int> {
        let Some((kept, at)) = range(address, size) else {
            context::violation(format_args!(
                "{size} bytes at {address:#x} are not within an allocation"
            ));
            return Err(INVALID_VALUE);
        };
        Ok(Place {
            _kept: Some(kept),
            at,
        })
    }

    /// A range of the host's, and whether it is page-locked.
    fn on_host(at: *mut u8, size: usize) -> Result<(Place, bool), c_int> {
        if at.is_null() {
            return Err(INVALID_VALUE);
        }
        let is_locked = |found: &std::sync::Arc<memory::Allocation>| found.kind == Kind::Host;
        match find(at as u64).filter(is_locked) {
            Some(found) if (at as u64) + size as u64 > found.end() => {
                context::violation(format_args!(
                    "a copy goes past the end of page-locked memory"
                ));
                Err(INVALID_VALUE)
            }
            Some(found) => Ok((
                Place {
                    _kept: Some(found),
                    at,
                },
                true,
            )),
            None => Ok((Place { _kept: None, at }, false)),
        }
    }
}

/// The copy is over when this returns, or when the stream has come past it.
fn copy(to: Place, from: Place, size: usize, stream: usize, waits: bool) -> c_int {
    let Some(stream) = STREAMS.get(stream) else {
        return INVALID_HANDLE;
    };
    stream.enqueue(move || {
        let (to, from) = (to, from);
        // SAFETY: both are memory of so many bytes, kept until now.
        unsafe { memory::copy(to.at, from.at, size) };
    });
    match waits {
        true => stream.synchronise(),
        false => SUCCESS,
    }
}

fn fill(address: u64, size: usize, stream: usize, pattern: [u8; 4]) -> c_int {
    let place = match Place::on_device(address, size) {
        Ok(place) => place,
        Err(code) => return code,
    };
    let Some(stream) = STREAMS.get(stream) else {
        return INVALID_HANDLE;
    };
    stream.enqueue(move || {
        let place = place;
        // SAFETY: the place has so many bytes.
        unsafe {
            if pattern == [pattern[0]; 4] && size > 4 {
                place.at.write_bytes(pattern[0], size);
                return;
            }
            for start in (0..size).step_by(4) {
                memory::copy(place.at.add(start), pattern.as_ptr(), 4.min(size - start));
            }
        }
    });
    SUCCESS
}

driver! {
    Context fn cuMemAlloc_v2(place: *mut u64, size: usize) {
        match memory::allocate(size, Kind::Device) {
            Ok(address) => put(place, address),
            Err(code) => code,
        }
    }

    Context fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) {
        put(free, memory::free_bytes() as usize);
        put(total, memory::total() as usize)
    }

    Release fn cuMemFree_v2(address: u64) {
        if address == 0 {
            return SUCCESS;
        }
        synchronise_all();
        done(memory::free(address, |kind| kind == Kind::Device))
    }

    Context fn cuMemHostAlloc(place: *mut u64, size: usize, _flags: c_uint) {
        match memory::allocate(size, Kind::Host) {
            Ok(address) => put(place, address),
            Err(code) => code,
        }
    }

    Release fn cuMemFreeHost(pointer: u64) {
        synchronise_all();
        done(memory::free(pointer, |kind| kind == Kind::Host))
    }

    Context fn cuMemHostGetDevicePointer_v2(place: *mut u64, pointer: u64, _flags: c_uint) {
        match find(pointer) {
            Some(found) if found.kind == Kind::Host => put(place, pointer),
            _ => INVALID_VALUE,
        }
    }

    Context fn cuMemcpyHtoDAsync_v2(to: u64, from: *mut u8, size: usize, stream: usize) {
        let places = Place::on_device(to, size)
            .and_then(|to| Place::on_host(from, size).map(|(from, is_locked)| (to, from, is_locked)));
        match places {
            // Pageable memory is the caller's again at once.
            Ok((to, from, is_locked)) => copy(to, from, size, stream, !is_locked),
            Err(code) => code,
        }
    }

    Context fn cuMemcpyDtoHAsync_v2(to: *mut u8, from: u64, size: usize, stream: usize) {
        let places = Place::on_device(from, size)
            .and_then(|from| Place::on_host(to, size).map(|(to, is_locked)| (to, from, is_locked)));
        match places {
            Ok((to, from, is_locked)) => copy(to, from, size, stream, !is_locked),
            Err(code) => code,
        }
    }

    Context fn cuMemcpyDtoDAsync_v2(to: u64, from: u64, size: usize, stream: usize) {
        if to.abs_diff(from) < size as u64 {
            context::violation(format_args!("a copy on the device overlaps itself"));
            return INVALID_VALUE;
        }
        let places = Place::on_device(to, size).and_then(|to| Ok((to, Place::on_device(from, size)?)));
        match places {
            Ok((to, from)) => copy(to, from, size, stream, false),
            Err(code) => code,
        }
    }

    Context fn cuMemsetD8Async(address: u64, value: u8, size: usize, stream: usize) {
        fill(address, size, stream, [value; 4])
    }

    Context fn cuMemsetD32Async(address: u64, value: c_uint, count: usize, stream: usize) {
        if !address.is_multiple_of(4) {
            return INVALID_VALUE;
        }
        fill(address, count * 4, stream, value.to_ne_bytes())
    }

    Context fn cuPointerGetAttribute(place: *mut c_void, which: c_int, address: u64) {
        if which != POINTER_MEMORY_TYPE {
            return INVALID_VALUE;
        }
        match find(address) {
            None => INVALID_VALUE,
            Some(found) if found.kind == Kind::Host => put(place.cast(), TYPE_HOST),
            Some(_) => put(place.cast(), TYPE_DEVICE),
        }
    }

    Context fn cuMemGetAddressRange_v2(start: *mut u64, size: *mut usize, address: u64) {
        match find(address) {
            None => INVALID_VALUE,
            Some(found) => {
                put(start, found.start);
                put(size, found.size)
            }
        }
    }
}
