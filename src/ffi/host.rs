//! Host memory that copies are fastest with.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::args::{invalid, required};
use super::backend::resolve as backend_of;
use super::entry::entry;
use super::error::vyre_error;
use super::handle::vyre_backend;
use super::status::vyre_status;
use crate::backend::HostMemory;

/// What was given out, by its address.
///
/// Lock: taken alone.
static GIVEN: Mutex<BTreeMap<usize, Box<dyn HostMemory>>> = Mutex::new(BTreeMap::new());

fn given() -> MutexGuard<'static, BTreeMap<usize, Box<dyn HostMemory>>> {
    // Entries come and go whole.
    GIVEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Allocates host memory that copies to and from a backend's device are fastest with: page-locked memory on
/// CUDA, ordinary pages on the CPU. It is the caller's, for anything; its content is undefined. Page-locked
/// memory is dear to make and taken from everybody else: allocate once, and use it again and again.
///
/// @param backend the backend that it is for, and which it keeps alive
/// @param size in bytes; not 0
/// @param out receives the address, a multiple of 64, owned by the caller until vyre_host_free(); NULL on failure
/// @param err receives an error, NULL on success; may be NULL
/// @return VYRE_OK, VYRE_ERROR_INVALID_HANDLE, VYRE_ERROR_INVALID_ARGUMENT for NULL or a size of 0, or
///         VYRE_ERROR_OUT_OF_HOST_MEMORY
///
/// Any thread may call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_host_alloc(
    backend: vyre_backend,
    size: u64,
    out: *mut *mut c_void,
    err: *mut *mut vyre_error,
) -> vyre_status {
    entry!(err: err, clear: [out.cast::<usize>()], {
        // (Cleared as a number: 0 is NULL.)
        let out = required(out, &"out")?;
        let backend = backend_of(backend)?;
        if size == 0 {
            return Err(invalid("size is 0; at least one byte was expected".into()));
        }
        let memory = backend.allocate_host(size)?;
        let address = memory.pointer().as_ptr();
        given().insert(address as usize, memory);
        // SAFETY: not null, so valid for writes.
        unsafe { out.write_unaligned(address.cast()) };
    })
}

/// Frees what vyre_host_alloc() gave.
///
/// @param memory the address; NULL is ignored. No call may be using the memory.
/// @param err receives an error, NULL on success; may be NULL
/// @return VYRE_OK, or VYRE_ERROR_INVALID_ARGUMENT for an address that vyre_host_alloc() did not give or that was
///         freed already
///
/// Any thread may call. On CUDA it may wait for what the device is doing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_host_free(
    memory: *mut c_void,
    err: *mut *mut vyre_error,
) -> vyre_status {
    entry!(err: err, clear: [], {
        if !memory.is_null() {
            let found = given().remove(&(memory as usize));
            // Freed here, outside the lock.
            drop(found.ok_or_else(|| unknown(memory))?);
        }
    })
}

#[cold]
fn unknown(memory: *mut c_void) -> crate::error::Error {
    invalid(format!(
        "memory is {memory:p}, which vyre_host_alloc() did not give, or which was freed already"
    ))
    .with_fix("Free each address that vyre_host_alloc() gives once, and nothing else.")
}
