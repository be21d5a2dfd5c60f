//! Status codes, their names and their default advice.

use std::ffi::c_char;

use super::entry::entry;
use crate::error::Status;

/// The outcome of a call. 0 is success; values are never renumbered, new ones may be added.
pub type vyre_status = i32;

/// The call did what it says.
pub const VYRE_OK: i32 = 0;
/// A null pointer where none is allowed, a bad size, an unknown kind, format or flag.
pub const VYRE_ERROR_INVALID_ARGUMENT: i32 = 1;
/// A null, released, foreign or wrong-kind handle.
pub const VYRE_ERROR_INVALID_HANDLE: i32 = 2;
/// No CUDA driver, or too old a one.
pub const VYRE_ERROR_DRIVER_UNAVAILABLE: i32 = 3;
/// No such device.
pub const VYRE_ERROR_NO_DEVICE: i32 = 4;
/// This backend, device or build cannot do it.
pub const VYRE_ERROR_UNSUPPORTED: i32 = 5;
/// The program does not parse, validate, prove uniform or assemble.
pub const VYRE_ERROR_INVALID_PROGRAM: i32 = 6;
/// A binding is missing, superfluous, named twice, too small, overlapping or of the wrong access.
pub const VYRE_ERROR_BINDING_MISMATCH: i32 = 7;
/// A buffer range or a grid outside what exists.
pub const VYRE_ERROR_OUT_OF_RANGE: i32 = 8;
/// More workgroups than can be co-resident.
pub const VYRE_ERROR_GRID_TOO_LARGE: i32 = 9;
/// The device's memory does not suffice.
pub const VYRE_ERROR_OUT_OF_DEVICE_MEMORY: i32 = 10;
/// The host's memory does not suffice.
pub const VYRE_ERROR_OUT_OF_HOST_MEMORY: i32 = 11;
/// A grid barrier did not hold: the results are wrong.
pub const VYRE_ERROR_BARRIER_AUDIT: i32 = 12;
/// The time limit passed.
pub const VYRE_ERROR_TIMEOUT: i32 = 13;
/// The dispatch was cancelled.
pub const VYRE_ERROR_CANCELLED: i32 = 14;
/// The dispatch started and could not be finished; what it wrote is undefined.
pub const VYRE_ERROR_DISPATCH_FAILED: i32 = 15;
/// The backend is gone and every later call on it says so; release it. Also the answer to every
/// call in a forked child, which inherits ids but neither threads nor devices.
pub const VYRE_ERROR_DEVICE_LOST: i32 = 16;
/// The on-disk cache cannot be read or written.
pub const VYRE_ERROR_IO: i32 = 17;
/// A caught panic: a bug in vyre.
pub const VYRE_ERROR_INTERNAL: i32 = 18;

/// A status's name, such as "VYRE_ERROR_TIMEOUT"; "VYRE_ERROR_?" for a number that is no status.
///
/// @param status any number
/// @return a NUL-terminated string that is never freed and never NULL
///
/// Any thread may call. Cannot fail.
#[unsafe(no_mangle)]
pub extern "C" fn vyre_status_name(status: vyre_status) -> *const c_char {
    entry!(value: UNKNOWN_NAME.as_ptr(), {
        lookup(&NAMES, status).unwrap_or(UNKNOWN_NAME.as_ptr())
    })
}

/// What to do about a status when no error object says more; never empty.
///
/// @param status any number
/// @return a NUL-terminated string that is never freed and never NULL
///
/// Any thread may call. Cannot fail.
#[unsafe(no_mangle)]
pub extern "C" fn vyre_status_fix(status: vyre_status) -> *const c_char {
    entry!(value: UNKNOWN_FIX.as_ptr(), {
        lookup(&FIXES, status).unwrap_or(UNKNOWN_FIX.as_ptr())
    })
}

const UNKNOWN_NAME: &std::ffi::CStr = c"VYRE_ERROR_?";
const UNKNOWN_FIX: &std::ffi::CStr =
    c"This number is no status of this library: pass what a call returned, or use a newer library.";

const COUNT: usize = Status::ALL.len();
/// The texts with their NULs, made by the compiler so that no call allocates.
static NAMES: [[u8; 48]; COUNT] = terminated(false);
static FIXES: [[u8; 160]; COUNT] = terminated(true);

const fn terminated<const N: usize>(fixes: bool) -> [[u8; N]; COUNT] {
    let mut table = [[0; N]; COUNT];
    let mut i = 0;
    while i < COUNT {
        let status = Status::ALL[i];
        let text = if fixes {
            status.default_fix()
        } else {
            status.name()
        };
        let text = text.as_bytes();
        assert!(text.len() < N, "a status's text outgrew its table");
        let mut k = 0;
        while k < text.len() {
            table[i][k] = text[k];
            k += 1;
        }
        i += 1;
    }
    table
}

fn lookup<const N: usize>(table: &'static [[u8; N]; COUNT], status: i32) -> Option<*const c_char> {
    let row = table.get(usize::try_from(status).ok()?)?;
    Some(row.as_ptr().cast())
}

const CODES: [i32; COUNT] = [
    VYRE_OK,
    VYRE_ERROR_INVALID_ARGUMENT,
    VYRE_ERROR_INVALID_HANDLE,
    VYRE_ERROR_DRIVER_UNAVAILABLE,
    VYRE_ERROR_NO_DEVICE,
    VYRE_ERROR_UNSUPPORTED,
    VYRE_ERROR_INVALID_PROGRAM,
    VYRE_ERROR_BINDING_MISMATCH,
    VYRE_ERROR_OUT_OF_RANGE,
    VYRE_ERROR_GRID_TOO_LARGE,
    VYRE_ERROR_OUT_OF_DEVICE_MEMORY,
    VYRE_ERROR_OUT_OF_HOST_MEMORY,
    VYRE_ERROR_BARRIER_AUDIT,
    VYRE_ERROR_TIMEOUT,
    VYRE_ERROR_CANCELLED,
    VYRE_ERROR_DISPATCH_FAILED,
    VYRE_ERROR_DEVICE_LOST,
    VYRE_ERROR_IO,
    VYRE_ERROR_INTERNAL,
];
// The constants are what C sees and the enum is what Rust does: the compiler holds them equal.
const _: () = {
    let mut i = 0;
    while i < COUNT {
        assert!(CODES[i] == Status::ALL[i] as i32);
        i += 1;
    }
};

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    #[test]
    fn every_status_has_its_name_and_advice_in_c() {
        for status in Status::ALL {
            // SAFETY: both functions return static NUL-terminated strings.
            let (name, fix) = unsafe {
                (
                    CStr::from_ptr(vyre_status_name(status as i32)),
                    CStr::from_ptr(vyre_status_fix(status as i32)),
                )
            };
            assert_eq!(name.to_str(), Ok(status.name()));
            assert_eq!(fix.to_str(), Ok(status.default_fix()));
        }
        for stranger in [-1, 19, i32::MIN, i32::MAX] {
            // SAFETY: as above.
            let name = unsafe { CStr::from_ptr(vyre_status_name(stranger)) };
            assert_eq!(name, UNKNOWN_NAME);
        }
    }
}
