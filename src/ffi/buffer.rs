//! Buffers.

use std::ffi::c_void;
use std::sync::Arc;

use super::args::{host_in, host_out, required};
use super::backend::resolve as backend_of;
use super::entry::entry;
use super::error::vyre_error;
use super::handle::{BUFFERS, BufferEntry, vyre_backend, vyre_buffer};
use super::status::vyre_status;
use crate::backend::{Backend, Buffer};
use crate::error::{Error, Result, Status};

/// Makes a zeroed buffer.
///
/// @param backend the backend that it lives on, and which it keeps alive
/// @param size in bytes; not 0
/// @param out receives the buffer, owned by the caller until vyre_buffer_release(); {0} on failure
/// @param err receives an error, NULL on success; may be NULL
/// @return VYRE_OK, VYRE_ERROR_INVALID_HANDLE, VYRE_ERROR_INVALID_ARGUMENT for NULL or a size of 0, or
///         VYRE_ERROR_OUT_OF_DEVICE_MEMORY
///
/// Any thread may call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_buffer_create(
    backend: vyre_backend,
    size: u64,
    out: *mut vyre_buffer,
    err: *mut *mut vyre_error,
) -> vyre_status {
    entry!(err: err, clear: [out], {
        let out = required(out, &"out")?;
        let backend = backend_of(backend)?;
        let handle = keep(backend.clone().create_buffer(size)?, backend)?;
        // SAFETY: not null, so valid for writes.
        unsafe { out.write_unaligned(handle) };
    })
}

/// Makes a buffer that holds a copy of the caller's bytes.
///
/// @param backend the backend that it lives on, and which it keeps alive
/// @param data the bytes; not kept
/// @param size how many; not 0
/// @param out receives the buffer, owned by the caller until vyre_buffer_release(); {0} on failure
/// @param err receives an error, NULL on success; may be NULL
/// @return VYRE_OK, VYRE_ERROR_INVALID_HANDLE, VYRE_ERROR_INVALID_ARGUMENT for NULL or a size of 0, or
///         VYRE_ERROR_OUT_OF_DEVICE_MEMORY
///
/// Any thread may call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_buffer_upload(
    backend: vyre_backend,
    data: *const c_void,
    size: u64,
    out: *mut vyre_buffer,
    err: *mut *mut vyre_error,
) -> vyre_status {
    entry!(err: err, clear: [out], {
        let out = required(out, &"out")?;
        let backend = backend_of(backend)?;
        // SAFETY: the function's contract: data has size bytes during the call.
        let data = unsafe { host_in(data, size, &"data", "size") }?;
        let buffer = backend.clone().create_buffer(size)?;
        buffer.write(0, data)?;
        let handle = keep(buffer, backend)?;
        // SAFETY: not null, so valid for writes.
        unsafe { out.write_unaligned(handle) };
    })
}

/// Makes a buffer over memory of the caller's, without a copy.
///
/// @param backend the backend that it lives on, and which it keeps alive
/// @param pointer a CUdeviceptr, or a host address on the CPU; a multiple of 16
/// @param size in bytes; not 0
/// @param out receives the buffer, owned by the caller until vyre_buffer_release(); {0} on failure
/// @param err receives an error, NULL on success; may be NULL
/// @return VYRE_OK, VYRE_ERROR_INVALID_HANDLE, or VYRE_ERROR_INVALID_ARGUMENT for NULL, a size of 0, an address
///         that is not a multiple of 16 or a range that wraps
///
/// The memory must stay valid until the buffer is released and its last use has ended. Calls on one buffer
/// are ordered by the library; calls on two buffers over the same memory are not, nor is the caller's own
/// access. One dispatch refuses overlapping bindings also across buffers. Any thread may call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_buffer_import(
    backend: vyre_backend,
    pointer: u64,
    size: u64,
    out: *mut vyre_buffer,
    err: *mut *mut vyre_error,
) -> vyre_status {
    entry!(err: err, clear: [out], {
        let out = required(out, &"out")?;
        let backend = backend_of(backend)?;
        // SAFETY: the function's contract: the memory is valid for the buffer's life.
        let buffer = unsafe { backend.clone().import_buffer(pointer, size) }?;
        let handle = keep(buffer, backend)?;
        // SAFETY: not null, so valid for writes.
        unsafe { out.write_unaligned(handle) };
    })
}

/// Copies host bytes into a buffer; done when it returns.
///
/// @param buffer the buffer
/// @param offset where they go, in bytes
/// @param data the bytes; not kept; may be NULL if size is 0
/// @param size how many
/// @param err receives an error, NULL on success; may be NULL
/// @return VYRE_OK, VYRE_ERROR_INVALID_HANDLE, VYRE_ERROR_INVALID_ARGUMENT for NULL, VYRE_ERROR_OUT_OF_RANGE if
///         offset + size is past the end, or VYRE_ERROR_TIMEOUT if others use the buffer for too long
///
/// Waits for calls that use the buffer. Any thread may call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_buffer_write(
    buffer: vyre_buffer,
    offset: u64,
    data: *const c_void,
    size: u64,
    err: *mut *mut vyre_error,
) -> vyre_status {
    entry!(err: err, clear: [], {
        let buffer = resolve(buffer, "buffer")?;
        within(&*buffer, offset, size)?;
        // SAFETY: the function's contract: data has size bytes during the call.
        buffer.write(offset, unsafe { host_in(data, size, &"data", "size") }?)?;
    })
}

/// Copies a buffer's bytes to the host; done when it returns.
///
/// @param buffer the buffer
/// @param offset where they start, in bytes
/// @param data receives the bytes; may be NULL if size is 0
/// @param size how many
/// @param err receives an error, NULL on success; may be NULL
/// @return VYRE_OK, VYRE_ERROR_INVALID_HANDLE, VYRE_ERROR_INVALID_ARGUMENT for NULL, VYRE_ERROR_OUT_OF_RANGE if
///         offset + size is past the end, or VYRE_ERROR_TIMEOUT if others write the buffer for too long
///
/// Waits for calls that write the buffer. data is untouched on failure. Any thread may call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_buffer_read(
    buffer: vyre_buffer,
    offset: u64,
    data: *mut c_void,
    size: u64,
    err: *mut *mut vyre_error,
) -> vyre_status {
    entry!(err: err, clear: [], {
        let buffer = resolve(buffer, "buffer")?;
        within(&*buffer, offset, size)?;
        // SAFETY: the function's contract: data has room for size bytes during the call.
        buffer.read(offset, unsafe { host_out(data, size, &"data", "size") }?)?;
    })
}

/// Repeats a 32-bit word over a range of a buffer.
///
/// @param buffer the buffer
/// @param offset where the range starts, in bytes; a multiple of 4
/// @param size in bytes; a multiple of 4
/// @param pattern the word
/// @param err receives an error, NULL on success; may be NULL
/// @return VYRE_OK, VYRE_ERROR_INVALID_HANDLE, VYRE_ERROR_INVALID_ARGUMENT if offset or size is no multiple of 4,
///         VYRE_ERROR_OUT_OF_RANGE if offset + size is past the end, or VYRE_ERROR_TIMEOUT
///
/// Waits for calls that use the buffer. Any thread may call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_buffer_fill(
    buffer: vyre_buffer,
    offset: u64,
    size: u64,
    pattern: u32,
    err: *mut *mut vyre_error,
) -> vyre_status {
    entry!(err: err, clear: [], {
        resolve(buffer, "buffer")?.fill(offset, size, pattern)?;
    })
}

/// Copies a range of one buffer into another of the same backend, or within one as if through a temporary.
///
/// @param destination the buffer that is written
/// @param destination_offset in bytes
/// @param source the buffer that is read
/// @param source_offset in bytes
/// @param size in bytes
/// @param err receives an error, NULL on success; may be NULL
/// @return VYRE_OK, VYRE_ERROR_INVALID_HANDLE, also for buffers of two backends, VYRE_ERROR_OUT_OF_RANGE if a
///         range is past its buffer's end, or VYRE_ERROR_TIMEOUT
///
/// Waits for calls that use the buffers. Any thread may call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_buffer_copy(
    destination: vyre_buffer,
    destination_offset: u64,
    source: vyre_buffer,
    source_offset: u64,
    size: u64,
    err: *mut *mut vyre_error,
) -> vyre_status {
    entry!(err: err, clear: [], {
        let destination = resolve(destination, "destination")?;
        let source = resolve(source, "source")?;
        destination.copy_from(destination_offset, &*source, source_offset, size)?;
    })
}

/// A buffer's size.
///
/// @param buffer the buffer
/// @param size receives the size in bytes; 0 on failure
/// @param err receives an error, NULL on success; may be NULL
/// @return VYRE_OK, VYRE_ERROR_INVALID_HANDLE, or VYRE_ERROR_INVALID_ARGUMENT for NULL
///
/// Any thread may call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_buffer_size(
    buffer: vyre_buffer,
    size: *mut u64,
    err: *mut *mut vyre_error,
) -> vyre_status {
    entry!(err: err, clear: [size], {
        let size = required(size, &"size")?;
        let buffer = resolve(buffer, "buffer")?;
        // SAFETY: not null, so valid for writes.
        unsafe { size.write_unaligned(buffer.size()) };
    })
}

/// Where a buffer's bytes are: a CUdeviceptr, or a host address on the CPU.
///
/// @param buffer the buffer
/// @param pointer receives the address; 0 on failure
/// @param err receives an error, NULL on success; may be NULL
/// @return VYRE_OK, VYRE_ERROR_INVALID_HANDLE, or VYRE_ERROR_INVALID_ARGUMENT for NULL
///
/// Valid while the buffer is. The library does not order the caller's own accesses through it. Any thread
/// may call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_buffer_native_pointer(
    buffer: vyre_buffer,
    pointer: *mut u64,
    err: *mut *mut vyre_error,
) -> vyre_status {
    entry!(err: err, clear: [pointer], {
        let pointer = required(pointer, &"pointer")?;
        let buffer = resolve(buffer, "buffer")?;
        // SAFETY: not null, so valid for writes.
        unsafe { pointer.write_unaligned(buffer.native_pointer()) };
    })
}

/// Gives a buffer back. Its memory is freed when the last call that uses it ends.
///
/// @param buffer the buffer; its handle is stale afterwards
/// @param err receives an error, NULL on success; may be NULL
/// @return VYRE_OK, or VYRE_ERROR_INVALID_HANDLE
///
/// Any thread may call, also while others use the buffer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_buffer_release(
    buffer: vyre_buffer,
    err: *mut *mut vyre_error,
) -> vyre_status {
    entry!(err: err, clear: [], {
        drop(BUFFERS.remove(buffer.id, &"buffer")?);
    })
}

fn keep(buffer: Arc<dyn Buffer>, backend: Arc<dyn Backend>) -> Result<vyre_buffer> {
    let id = BUFFERS.insert(BufferEntry { buffer, backend })?;
    Ok(vyre_buffer { id })
}

/// Before the caller's size becomes a length in memory, it must be one that the buffer has.
fn within(buffer: &dyn Buffer, offset: u64, size: u64) -> Result<()> {
    let held = buffer.size();
    if offset.checked_add(size).is_some_and(|end| end <= held) {
        return Ok(());
    }
    Err(Error::new(
        Status::OutOfRange,
        format!("offset {offset} + size {size} is outside the buffer's {held} bytes"),
    ))
}

fn resolve(buffer: vyre_buffer, what: &'static str) -> Result<Arc<dyn Buffer>> {
    BUFFERS.with(buffer.id, &what, |entry| entry.buffer.clone())
}
