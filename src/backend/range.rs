//! Checks of a buffer's ranges, the same on every backend.

use crate::error::{Error, Result, Status};

/// Whether offset + size stay within a buffer of `held` bytes.
pub fn check_range(what: &str, held: u64, offset: u64, size: u64) -> Result<()> {
    if offset.checked_add(size).is_some_and(|end| end <= held) {
        return Ok(());
    }
    Err(Error::new(
        Status::OutOfRange,
        format!("{what}: offset {offset} + size {size} is outside the buffer's {held} bytes"),
    ))
}

/// Whether a range can be filled with words.
pub fn check_words(offset: u64, size: u64) -> Result<()> {
    if offset.is_multiple_of(4) && size.is_multiple_of(4) {
        return Ok(());
    }
    Err(Error::new(
        Status::InvalidArgument,
        format!("fill: offset {offset} and size {size} must be multiples of 4"),
    ))
}

/// A buffer that holds nothing is a mistake.
pub fn check_size(size: u64) -> Result<()> {
    if size > 0 {
        return Ok(());
    }
    Err(Error::new(
        Status::InvalidArgument,
        "size is 0; a buffer holds at least one byte",
    ))
}

/// Whether memory of the caller's can be a buffer.
pub fn check_import(pointer: u64, size: u64) -> Result<()> {
    if pointer == 0 || size == 0 {
        return Err(Error::new(
            Status::InvalidArgument,
            format!("cannot import {size} bytes at address {pointer:#x}: both must be non-zero"),
        ));
    }
    if pointer.checked_add(size).is_none() || !pointer.is_multiple_of(16) {
        return Err(Error::new(
            Status::InvalidArgument,
            format!(
                "cannot import {size} bytes at address {pointer:#x}: the address must be a multiple of 16 and the range must not wrap"
            ),
        ));
    }
    Ok(())
}

/// The source of a copy is of another backend.
pub fn foreign_source() -> Error {
    Error::new(
        Status::InvalidHandle,
        "copy: source belongs to another backend than destination",
    )
    .with_fix("Copy between buffers of one backend; across backends read, then write.")
}
