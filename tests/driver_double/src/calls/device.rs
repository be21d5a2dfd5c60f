//! Starting, the device, and its context.

use std::ffi::{c_char, c_int, c_uint};

use crate::context::{self, PRIMARY};
use crate::entry::{INVALID_CONTEXT, INVALID_DEVICE, INVALID_VALUE, SUCCESS, driver, put};
use crate::memory;
use crate::module::{
    BLOCK_THREADS, BLOCKS, COMPUTE_CAPABILITY, MULTIPROCESSORS, REGISTERS, SHARED, SHARED_FIXED,
    SHARED_MOST, THREADS, VERSION,
};

const NAME: &str = "Driver double";

fn attribute(which: c_int) -> Option<u32> {
    Some(match which {
        1 => BLOCK_THREADS,
        2 | 3 => 1024,
        4 => 64,
        5 => i32::MAX as u32,
        6 | 7 => 65535,
        8 => SHARED_FIXED,
        10 => 32,
        16 => MULTIPROCESSORS,
        39 => THREADS,
        75 => COMPUTE_CAPABILITY / 10,
        76 => COMPUTE_CAPABILITY % 10,
        81 => SHARED,
        82 => REGISTERS,
        95 | 115 => 1,
        97 => SHARED_MOST,
        106 => BLOCKS,
        _ => return None,
    })
}

/// Names and meanings of the codes that are in use here.
const CODES: [(c_int, &std::ffi::CStr, &std::ffi::CStr); 24] = [
    (0, c"CUDA_SUCCESS", c"no error"),
    (1, c"CUDA_ERROR_INVALID_VALUE", c"invalid argument"),
    (2, c"CUDA_ERROR_OUT_OF_MEMORY", c"out of memory"),
    (3, c"CUDA_ERROR_NOT_INITIALIZED", c"initialization error"),
    (
        100,
        c"CUDA_ERROR_NO_DEVICE",
        c"no CUDA-capable device is detected",
    ),
    (101, c"CUDA_ERROR_INVALID_DEVICE", c"invalid device ordinal"),
    (
        200,
        c"CUDA_ERROR_INVALID_IMAGE",
        c"device kernel image is invalid",
    ),
    (
        201,
        c"CUDA_ERROR_INVALID_CONTEXT",
        c"invalid device context",
    ),
    (
        209,
        c"CUDA_ERROR_NO_BINARY_FOR_GPU",
        c"no kernel image is available for execution on the device",
    ),
    (
        214,
        c"CUDA_ERROR_ECC_UNCORRECTABLE",
        c"uncorrectable ECC error encountered",
    ),
    (
        218,
        c"CUDA_ERROR_INVALID_PTX",
        c"a PTX JIT compilation failed",
    ),
    (
        222,
        c"CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
        c"the provided PTX was compiled with an unsupported toolchain.",
    ),
    (
        400,
        c"CUDA_ERROR_INVALID_HANDLE",
        c"invalid resource handle",
    ),
    (500, c"CUDA_ERROR_NOT_FOUND", c"named symbol not found"),
    (600, c"CUDA_ERROR_NOT_READY", c"device not ready"),
    (
        700,
        c"CUDA_ERROR_ILLEGAL_ADDRESS",
        c"an illegal memory access was encountered",
    ),
    (
        701,
        c"CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
        c"too many resources requested for launch",
    ),
    (
        702,
        c"CUDA_ERROR_LAUNCH_TIMEOUT",
        c"the launch timed out and was terminated",
    ),
    (
        715,
        c"CUDA_ERROR_ILLEGAL_INSTRUCTION",
        c"an illegal instruction was encountered",
    ),
    (716, c"CUDA_ERROR_MISALIGNED_ADDRESS", c"misaligned address"),
    (
        719,
        c"CUDA_ERROR_LAUNCH_FAILED",
        c"unspecified launch failure",
    ),
    (
        720,
        c"CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE",
        c"too many blocks in cooperative launch",
    ),
    (801, c"CUDA_ERROR_NOT_SUPPORTED", c"operation not supported"),
    (999, c"CUDA_ERROR_UNKNOWN", c"unknown error"),
];

fn text_of(code: c_int, place: *mut *const c_char, meaning: bool) -> c_int {
    match CODES.iter().find(|known| known.0 == code) {
        Some((_, name, what)) => put(place, if meaning { what } else { name }.as_ptr()),
        None => {
            put(place, std::ptr::null());
            INVALID_VALUE
        }
    }
}

driver! {
    Nothing fn cuInit(_flags: c_uint) {
        context::initialise();
        SUCCESS
    }

    Nothing fn cuDriverGetVersion(version: *mut c_int) {
        put(version, VERSION)
    }

    Nothing fn cuGetErrorName(code: c_int, text: *mut *const c_char) {
        text_of(code, text, false)
    }

    Nothing fn cuGetErrorString(code: c_int, text: *mut *const c_char) {
        text_of(code, text, true)
    }

    Driver fn cuDeviceGetCount(count: *mut c_int) {
        put(count, 1)
    }

    Driver fn cuDeviceGet(device: *mut c_int, ordinal: c_int) {
        match ordinal {
            0 => put(device, 0),
            _ => INVALID_DEVICE,
        }
    }

    Driver fn cuDeviceGetName(text: *mut c_char, size: c_int, _device: c_int) {
        if text.is_null() || size < 1 {
            return INVALID_VALUE;
        }
        let bytes = &NAME.as_bytes()[..NAME.len().min(size as usize - 1)];
        // SAFETY: the caller has room for as many bytes as it says, and these with their NUL are not more.
        unsafe {
            text.cast::<u8>().copy_from_nonoverlapping(bytes.as_ptr(), bytes.len());
            text.add(bytes.len()).write(0);
        }
        SUCCESS
    }

    Driver fn cuDeviceGetAttribute(value: *mut c_int, which: c_int, _device: c_int) {
        match attribute(which) {
            Some(found) => put(value, found as c_int),
            None => INVALID_VALUE,
        }
    }

    Driver fn cuDeviceTotalMem_v2(bytes: *mut usize, _device: c_int) {
        put(bytes, memory::total() as usize)
    }

    Driver fn cuDevicePrimaryCtxRetain(place: *mut usize, _device: c_int) {
        context::retain();
        put(place, PRIMARY)
    }

    Return fn cuDevicePrimaryCtxRelease_v2(_device: c_int) {
        match context::release() {
            true => SUCCESS,
            false => INVALID_CONTEXT,
        }
    }

    Driver fn cuCtxPushCurrent_v2(which: usize) {
        if which != PRIMARY || context::retained() == 0 {
            context::violation(format_args!("{which:#x} is no context"));
            return INVALID_CONTEXT;
        }
        context::push(which);
        SUCCESS
    }

    Return fn cuCtxPopCurrent_v2(place: *mut usize) {
        match context::pop() {
            Some(popped) => {
                if !place.is_null() {
                    put(place, popped);
                }
                SUCCESS
            }
            None => {
                context::violation(format_args!("a context is popped where none is"));
                INVALID_CONTEXT
            }
        }
    }

    Driver fn cuCtxGetCurrent(place: *mut usize) {
        put(place, context::current())
    }
}
