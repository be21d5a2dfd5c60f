//! Checks of pointers, slices and flags.

use std::ptr::NonNull;

use super::handle::What;
use crate::backend::{HostIn, HostOut};
use crate::error::{Error, Result, Status};

pub fn invalid(message: String) -> Error {
    Error::new(Status::InvalidArgument, message)
}

/// A pointer that must not be null.
#[inline]
pub fn required<T>(pointer: *mut T, what: &dyn What) -> Result<NonNull<T>> {
    NonNull::new(pointer).ok_or_else(|| invalid(format!("{} is NULL", what.name())))
}

/// Length of a slice that may be absent when it is empty; `None` when it is empty.
#[inline]
pub fn slice<T>(
    pointer: *const T,
    count: u64,
    what: &dyn What,
    count_name: &str,
) -> Result<Option<(NonNull<T>, usize)>> {
    if count == 0 {
        return Ok(None);
    }
    let bytes = count.checked_mul(size_of::<T>() as u64);
    let count = match bytes.map(isize::try_from) {
        Some(Ok(_)) => count as usize,
        _ => {
            return Err(invalid(format!(
                "{count_name} is {count}: {} cannot be that long",
                what.name()
            )));
        }
    };
    match NonNull::new(pointer.cast_mut()) {
        Some(start) => Ok(Some((start, count))),
        None => Err(invalid(format!(
            "{} is NULL but {count_name} is {count}",
            what.name()
        ))
        .with_fix("Pass a pointer to that many, or NULL and 0 for none.")),
    }
}

/// Bytes that the caller lends for reading.
///
/// # Safety
/// `pointer` is null or valid for reads of `size` bytes during `'a`.
pub unsafe fn host_in<'a>(
    pointer: *const std::ffi::c_void,
    size: u64,
    what: &dyn What,
    size_name: &str,
) -> Result<HostIn<'a>> {
    Ok(match slice(pointer.cast::<u8>(), size, what, size_name)? {
        // SAFETY: the caller's promise.
        Some((start, len)) => unsafe { HostIn::new(start, len) },
        None => HostIn::from(&[][..]),
    })
}

/// Bytes that the caller lends for writing.
///
/// # Safety
/// `pointer` is null or valid for writes of `size` bytes during `'a`.
pub unsafe fn host_out<'a>(
    pointer: *mut std::ffi::c_void,
    size: u64,
    what: &dyn What,
    size_name: &str,
) -> Result<HostOut<'a>> {
    Ok(
        match slice(pointer.cast::<u8>().cast_const(), size, what, size_name)? {
            // SAFETY: the caller's promise.
            Some((start, len)) => unsafe { HostOut::new(start, len) },
            None => HostOut::from(&mut [][..]),
        },
    )
}

/// Refuses flag bits that this library does not know.
pub fn flags(given: u64, known: u64, what: &str) -> Result<()> {
    let unknown = given & !known;
    if unknown == 0 {
        return Ok(());
    }
    Err(invalid(format!(
        "{what} has unknown bits {unknown:#x}; known are {known:#x}"
    )))
}

/// Refuses a reserved field that is in use: a newer caller may mean something by it.
pub fn reserved(value: u32, what: &str) -> Result<()> {
    if value == 0 {
        return Ok(());
    }
    Err(invalid(format!(
        "{what} is {value}; it is reserved and must be 0"
    )))
}
