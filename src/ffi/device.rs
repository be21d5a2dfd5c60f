//! What could be acquired.

use std::ffi::c_char;

use super::args::required;
use super::backend_desc::{kind_code, vyre_backend_kind};
use super::entry::entry;
use super::error::vyre_error;
use super::sized::{Output, initialise, sized};
use super::status::vyre_status;
use super::text;
use crate::backend::DeviceInfo;
use crate::error::{Error, Result, Status};

/// A device that a backend could be acquired on. Smallest struct_size: 16.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct vyre_device_properties {
    /// sizeof(vyre_device_properties); set by the caller.
    pub struct_size: u32,
    /// VYRE_BACKEND_CPU or VYRE_BACKEND_CUDA: for vyre_backend_desc.
    pub kind: vyre_backend_kind,
    /// For vyre_backend_desc.
    pub ordinal: u32,
    /// Processors, or streaming multiprocessors.
    pub units: u32,
    /// Bytes of memory that the device has.
    pub memory: u64,
    /// CUDA's, 0 on the CPU.
    pub compute_capability_major: u32,
    /// CUDA's, 0 on the CPU.
    pub compute_capability_minor: u32,
    /// 1 if it can be acquired, else 0: vyre_device_reason() says why not.
    pub usable: u32,
    /// 0.
    pub reserved: u32,
}

sized!(vyre_device_properties, min 16, default {
    kind: 0,
    ordinal: 0,
    units: 0,
    memory: 0,
    compute_capability_major: 0,
    compute_capability_minor: 0,
    usable: 0,
    reserved: 0,
});

/// Sets struct_size and zeroes the rest, as VYRE_DEVICE_PROPERTIES_INIT does.
///
/// @param properties the structure; NULL is ignored
///
/// Any thread may call. Cannot fail.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_device_properties_init(properties: *mut vyre_device_properties) {
    entry!(value: (), {
        // SAFETY: the function's contract: null or valid for writes.
        unsafe { initialise(properties) }
    })
}

/// How many devices there are: CUDA devices first, the CPU last. A CUDA driver that refuses to start or shows
/// no device counts as one device that is not usable, and vyre_device_reason() says which; where no driver is
/// installed there is the CPU alone.
///
/// @param count receives the number; 0 on failure
/// @param err receives an error, NULL on success; may be NULL
/// @return VYRE_OK, or VYRE_ERROR_INVALID_ARGUMENT for NULL
///
/// Any thread may call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_device_count(
    count: *mut u32,
    err: *mut *mut vyre_error,
) -> vyre_status {
    entry!(err: err, clear: [count], {
        let count = required(count, &"count")?;
        let devices = crate::backend::devices().len();
        // SAFETY: not null, so valid for writes.
        unsafe { count.write_unaligned(u32::try_from(devices).unwrap_or(u32::MAX)) };
    })
}

/// What a device is.
///
/// @param index from 0, below vyre_device_count()
/// @param info receives the properties; its struct_size is set by the caller
/// @param err receives an error, NULL on success; may be NULL
/// @return VYRE_OK, VYRE_ERROR_NO_DEVICE for an index too large, or VYRE_ERROR_INVALID_ARGUMENT for NULL or a
///         bad struct_size
///
/// Any thread may call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_device_info(
    index: u32,
    info: *mut vyre_device_properties,
    err: *mut *mut vyre_error,
) -> vyre_status {
    entry!(err: err, clear: [], {
        // SAFETY: the function's contract: null or a structure with its size, valid for writes.
        let mut info = unsafe { Output::new(info, "info") }?;
        let device = device(index)?;
        info.set(&vyre_device_properties {
            struct_size: size_of::<vyre_device_properties>() as u32,
            kind: kind_code(device.kind),
            ordinal: device.ordinal,
            units: device.units,
            memory: device.memory,
            compute_capability_major: device.compute_capability.0,
            compute_capability_minor: device.compute_capability.1,
            usable: u32::from(device.unusable_because.is_empty()),
            reserved: 0,
        });
    })
}

/// A device's name, by two calls.
///
/// @param index from 0, below vyre_device_count()
/// @param text receives NUL-terminated UTF-8; may be NULL if capacity is 0
/// @param capacity bytes that text has room for; 0 asks for the size only
/// @param required receives the bytes that the text takes with its NUL, also when capacity is too small; may
///        be NULL if capacity is not 0
/// @param err receives an error, NULL on success; may be NULL
/// @return VYRE_OK, VYRE_ERROR_NO_DEVICE for an index too large, or VYRE_ERROR_INVALID_ARGUMENT if capacity is
///         too small or there is nowhere to write to
///
/// Any thread may call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_device_name(
    index: u32,
    text: *mut c_char,
    capacity: usize,
    required: *mut usize,
    err: *mut *mut vyre_error,
) -> vyre_status {
    entry!(err: err, clear: [required], {
        // SAFETY: the function's contract: text has room for capacity bytes.
        unsafe { text::clear(text, capacity) };
        // SAFETY: as above, and required is null or valid for writes.
        unsafe { text::give(&device(index)?.name, text, capacity, required) }?;
    })
}

/// Why a device cannot be acquired, by two calls; "" if it can.
///
/// @param index from 0, below vyre_device_count()
/// @param text receives NUL-terminated UTF-8; may be NULL if capacity is 0
/// @param capacity bytes that text has room for; 0 asks for the size only
/// @param required receives the bytes that the text takes with its NUL, also when capacity is too small; may
///        be NULL if capacity is not 0
/// @param err receives an error, NULL on success; may be NULL
/// @return VYRE_OK, VYRE_ERROR_NO_DEVICE for an index too large, or VYRE_ERROR_INVALID_ARGUMENT if capacity is
///         too small or there is nowhere to write to
///
/// Any thread may call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_device_reason(
    index: u32,
    text: *mut c_char,
    capacity: usize,
    required: *mut usize,
    err: *mut *mut vyre_error,
) -> vyre_status {
    entry!(err: err, clear: [required], {
        // SAFETY: the function's contract: text has room for capacity bytes.
        unsafe { text::clear(text, capacity) };
        // SAFETY: as above, and required is null or valid for writes.
        unsafe { text::give(&device(index)?.unusable_because, text, capacity, required) }?;
    })
}

fn device(index: u32) -> Result<DeviceInfo> {
    let mut devices = crate::backend::devices();
    if (index as usize) < devices.len() {
        return Ok(devices.swap_remove(index as usize));
    }
    Err(Error::new(
        Status::NoDevice,
        format!("index is {index} but there are {} devices", devices.len()),
    ))
}
