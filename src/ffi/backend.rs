//! Acquiring, asking and releasing backends.

use std::ffi::c_char;
use std::sync::Arc;

use super::args::{flags as check_flags, required};
use super::backend_desc::{vyre_backend_desc, vyre_backend_properties};
use super::entry::entry;
use super::error::vyre_error;
use super::fork;
use super::handle::{BACKENDS, vyre_backend};
use super::sized::{self, Output};
use super::status::vyre_status;
use super::telemetry::vyre_backend_counters;
use super::text;
use crate::backend::Backend;
use crate::error::Result;
use crate::log::{Level, log};

/// Opens a backend.
///
/// @param desc which one; see vyre_backend_desc
/// @param out receives the backend, owned by the caller until vyre_backend_release(); {0} on failure
/// @param err receives an error, NULL on success; may be NULL
/// @return VYRE_OK; VYRE_ERROR_INVALID_ARGUMENT for NULL, a bad struct_size, kind or flag;
///         VYRE_ERROR_UNSUPPORTED, _DRIVER_UNAVAILABLE or _NO_DEVICE if there is no such backend
///
/// Each call makes a backend of its own: objects of different backends don't mix. Any thread may call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_backend_acquire(
    desc: *const vyre_backend_desc,
    out: *mut vyre_backend,
    err: *mut *mut vyre_error,
) -> vyre_status {
    entry!(err: err, clear: [out], {
        let out = required(out, &"out")?;
        // SAFETY: the function's contract: null or a description with its size.
        let (desc, _) = unsafe { sized::read(desc, "desc") }?;
        let desc = desc.parse()?;
        fork::mark_in_use();
        let backend = crate::backend::acquire(&desc)?;
        let info = backend.info();
        log(Level::Info, || format!("acquired {}: {}", info.name, info.reason));
        let id = BACKENDS.insert(backend)?;
        // SAFETY: not null, so valid for writes.
        unsafe { out.write_unaligned(vyre_backend { id }) };
    })
}

/// Gives a backend's handle back. Buffers and programs on it stay valid; the backend goes with the last.
///
/// @param backend the backend; its handle is stale afterwards
/// @param err receives an error, NULL on success; may be NULL
/// @return VYRE_OK, or VYRE_ERROR_INVALID_HANDLE
///
/// Any thread may call, also while others use the backend.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_backend_release(
    backend: vyre_backend,
    err: *mut *mut vyre_error,
) -> vyre_status {
    entry!(err: err, clear: [], {
        let backend = BACKENDS.remove(backend.id, &"backend")?;
        log(Level::Info, || format!("released {}", backend.info().name));
    })
}

/// What a backend is and allows.
///
/// @param backend the backend
/// @param info receives the properties; its struct_size is set by the caller
/// @param err receives an error, NULL on success; may be NULL
/// @return VYRE_OK, VYRE_ERROR_INVALID_HANDLE, or VYRE_ERROR_INVALID_ARGUMENT for NULL or a bad struct_size
///
/// Any thread may call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_backend_info(
    backend: vyre_backend,
    info: *mut vyre_backend_properties,
    err: *mut *mut vyre_error,
) -> vyre_status {
    entry!(err: err, clear: [], {
        // SAFETY: the function's contract: null or a structure with its size, valid for writes.
        let mut info = unsafe { Output::new(info, "info") }?;
        info.set(&vyre_backend_properties::from(resolve(backend)?.info()));
    })
}

/// The device's name, by two calls.
///
/// @param backend the backend
/// @param text receives NUL-terminated UTF-8; may be NULL if capacity is 0
/// @param capacity bytes that text has room for; 0 asks for the size only
/// @param required receives the bytes that the text takes with its NUL, also when capacity is too small; may
///        be NULL if capacity is not 0
/// @param err receives an error, NULL on success; may be NULL
/// @return VYRE_OK, VYRE_ERROR_INVALID_HANDLE, or VYRE_ERROR_INVALID_ARGUMENT if capacity is too small or
///         there is nowhere to write to
///
/// Any thread may call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_backend_name(
    backend: vyre_backend,
    text: *mut c_char,
    capacity: usize,
    required: *mut usize,
    err: *mut *mut vyre_error,
) -> vyre_status {
    entry!(err: err, clear: [required], {
        // SAFETY: the function's contract: text has room for capacity bytes.
        unsafe { text::clear(text, capacity) };
        // SAFETY: as above, and required is null or valid for writes.
        unsafe { text::give(&resolve(backend)?.info().name, text, capacity, required) }?;
    })
}

/// Why this backend was chosen, by two calls. For VYRE_BACKEND_AUTO it says what was tried.
///
/// @param backend the backend
/// @param text receives NUL-terminated UTF-8; may be NULL if capacity is 0
/// @param capacity bytes that text has room for; 0 asks for the size only
/// @param required receives the bytes that the text takes with its NUL, also when capacity is too small; may
///        be NULL if capacity is not 0
/// @param err receives an error, NULL on success; may be NULL
/// @return VYRE_OK, VYRE_ERROR_INVALID_HANDLE, or VYRE_ERROR_INVALID_ARGUMENT if capacity is too small or
///         there is nowhere to write to
///
/// Any thread may call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_backend_reason(
    backend: vyre_backend,
    text: *mut c_char,
    capacity: usize,
    required: *mut usize,
    err: *mut *mut vyre_error,
) -> vyre_status {
    entry!(err: err, clear: [required], {
        // SAFETY: the function's contract: text has room for capacity bytes.
        unsafe { text::clear(text, capacity) };
        // SAFETY: as above, and required is null or valid for writes.
        unsafe { text::give(&resolve(backend)?.info().reason, text, capacity, required) }?;
    })
}

/// A backend's counters.
///
/// @param backend the backend
/// @param counters receives the counters; its struct_size is set by the caller
/// @param err receives an error, NULL on success; may be NULL
/// @return VYRE_OK, VYRE_ERROR_INVALID_HANDLE, or VYRE_ERROR_INVALID_ARGUMENT for NULL or a bad struct_size
///
/// Any thread may call. Counters are read one by one while others count on.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_backend_telemetry(
    backend: vyre_backend,
    counters: *mut vyre_backend_counters,
    err: *mut *mut vyre_error,
) -> vyre_status {
    entry!(err: err, clear: [], {
        // SAFETY: the function's contract: null or a structure with its size, valid for writes.
        let mut counters = unsafe { Output::new(counters, "counters") }?;
        counters.set(&vyre_backend_counters::from(resolve(backend)?.telemetry()));
    })
}

/// Zeroes a backend's counters; the gauges stay.
///
/// @param backend the backend
/// @param err receives an error, NULL on success; may be NULL
/// @return VYRE_OK, or VYRE_ERROR_INVALID_HANDLE
///
/// Any thread may call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_backend_telemetry_reset(
    backend: vyre_backend,
    err: *mut *mut vyre_error,
) -> vyre_status {
    entry!(err: err, clear: [], {
        resolve(backend)?.reset_telemetry();
    })
}

/// Trim flag: first wait until nothing of the backend is under way, and give back what its caches of compiled
/// programs hold, too. Later loads compile again.
pub const VYRE_TRIM_ALL: u64 = 1;

/// Gives back the memory that a backend's pools hold and nobody uses.
///
/// @param backend the backend
/// @param flags 0 or VYRE_TRIM_ALL
/// @param err receives an error, NULL on success; may be NULL
/// @return VYRE_OK; VYRE_ERROR_INVALID_HANDLE; VYRE_ERROR_INVALID_ARGUMENT for an unknown flag; with VYRE_TRIM_ALL
///         VYRE_ERROR_TIMEOUT if something was still under way after the default time limit of a dispatch
///
/// Any thread may call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_backend_trim(
    backend: vyre_backend,
    flags: u64,
    err: *mut *mut vyre_error,
) -> vyre_status {
    entry!(err: err, clear: [], {
        let backend = resolve(backend)?;
        check_flags(flags, VYRE_TRIM_ALL, "flags")?;
        backend.trim(flags & VYRE_TRIM_ALL != 0)?;
    })
}

/// The backend that a handle stands for.
pub(super) fn resolve(backend: vyre_backend) -> Result<Arc<dyn Backend>> {
    BACKENDS.with(backend.id, &"backend", Arc::clone)
}
