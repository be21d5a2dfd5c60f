//! Which library this is.

use std::ffi::{CStr, c_char};

use super::entry::entry;

/// Major version of the header; a change of it may change anything.
pub const VYRE_VERSION_MAJOR: u32 = 0;
/// Minor version of the header.
pub const VYRE_VERSION_MINOR: u32 = 1;
/// Patch level of the header.
pub const VYRE_VERSION_PATCH: u32 = 0;
/// MAJOR * 1000000 + MINOR * 1000 + PATCH of the header.
pub const VYRE_VERSION_NUMBER: u32 = 1000;
/// The binary interface of the header: the number in libvyre.so.N.
pub const VYRE_ABI_VERSION: u32 = 0;

/// The version of the library that runs, such as "0.1.0".
///
/// @return a NUL-terminated string that is never freed and never NULL
///
/// Any thread may call. Cannot fail.
#[unsafe(no_mangle)]
pub extern "C" fn vyre_version_string() -> *const c_char {
    entry!(value: VERSION.as_ptr(), VERSION.as_ptr())
}

/// The version of the library that runs, to be compared with VYRE_VERSION_NUMBER.
///
/// @return major * 1000000 + minor * 1000 + patch
///
/// Any thread may call. Cannot fail.
#[unsafe(no_mangle)]
pub extern "C" fn vyre_version_number() -> u32 {
    entry!(value: VYRE_VERSION_NUMBER, VYRE_VERSION_NUMBER)
}

/// The binary interface of the library that runs, to be compared with VYRE_ABI_VERSION.
///
/// @return the number in libvyre.so.N
///
/// Any thread may call. Cannot fail.
#[unsafe(no_mangle)]
pub extern "C" fn vyre_abi_version() -> u32 {
    entry!(value: VYRE_ABI_VERSION, VYRE_ABI_VERSION)
}

const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => panic!("the package's version holds a NUL"),
    };

// A release that changes the package's version without the header's does not compile.
const _: () = {
    let numbers = [
        (VYRE_VERSION_MAJOR, env!("CARGO_PKG_VERSION_MAJOR")),
        (VYRE_VERSION_MINOR, env!("CARGO_PKG_VERSION_MINOR")),
        (VYRE_VERSION_PATCH, env!("CARGO_PKG_VERSION_PATCH")),
    ];
    let mut i = 0;
    while i < numbers.len() {
        match u32::from_str_radix(numbers[i].1, 10) {
            Ok(number) => assert!(number == numbers[i].0),
            Err(_) => panic!("the package's version is no number"),
        }
        i += 1;
    }
    let number = VYRE_VERSION_MAJOR * 1_000_000 + VYRE_VERSION_MINOR * 1000 + VYRE_VERSION_PATCH;
    assert!(VYRE_VERSION_NUMBER == number);
};
