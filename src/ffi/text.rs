//! Strings: the caller's in, ours out by two calls.

use std::ffi::{CStr, c_char};

use super::args::{invalid, required};
use super::handle::What;
use crate::error::{Error, Result};

/// A string that may be absent.
///
/// # Safety
/// `text` is null or a NUL-terminated string that lives during `'a`.
pub unsafe fn optional<'a>(text: *const c_char, what: &dyn What) -> Result<Option<&'a str>> {
    if text.is_null() {
        return Ok(None);
    }
    // SAFETY: not null, so NUL-terminated and alive.
    let text = unsafe { CStr::from_ptr(text) };
    text.to_str()
        .map(Some)
        .map_err(|error| not_utf8(what, error.valid_up_to()))
}

/// A string that must be there.
///
/// # Safety
/// As [`optional`].
pub unsafe fn required_text<'a>(text: *const c_char, what: &dyn What) -> Result<&'a str> {
    // SAFETY: the caller's promise.
    match unsafe { optional(text, what) }? {
        Some(text) => Ok(text),
        None => Err(invalid(format!("{} is NULL", what.name()))),
    }
}

fn not_utf8(what: &dyn What, valid: usize) -> Error {
    invalid(format!(
        "{} is not UTF-8: byte {valid} does not belong there",
        what.name()
    ))
}

/// Gives a text by two calls: the first asks how many bytes it takes, the second fetches it.
///
/// `required` is written also when the text does not fit, which is how the caller learns what fits.
///
/// # Safety
/// `out` is null or valid for writes of `capacity` bytes, `required_size` is null or valid for writes.
pub unsafe fn give(
    text: &str,
    out: *mut c_char,
    capacity: usize,
    required_size: *mut usize,
) -> Result<()> {
    let needed = text.len() + 1;
    if !required_size.is_null() {
        // SAFETY: not null, so valid for writes.
        unsafe { required_size.write_unaligned(needed) };
    }
    if capacity == 0 {
        return match required_size.is_null() {
            false => Ok(()),
            true => Err(invalid(
                "text and required are both absent: there is nothing to write to".into(),
            )
            .with_fix("Pass a text buffer with its capacity, or a pointer for the required size, or both.")),
        };
    }
    let out = required(out, &"text")?;
    if capacity < needed {
        return Err(invalid(format!(
            "capacity is {capacity} but the text takes {needed} bytes with its NUL"
        ))
        .with_fix(
            "Call with capacity 0 to learn the required size, then with a buffer of that size.",
        ));
    }
    for (i, byte) in text.bytes().chain([0]).enumerate() {
        // A NUL inside would cut the text short where C reads it.
        let byte = if byte == 0 && i < text.len() {
            b'?'
        } else {
            byte
        };
        // SAFETY: i < needed <= capacity, and the caller promises that many bytes.
        unsafe { out.as_ptr().add(i).write(byte as c_char) };
    }
    Ok(())
}

/// Empties the output of a two-call text before anything can fail.
///
/// # Safety
/// As [`give`].
pub unsafe fn clear(out: *mut c_char, capacity: usize) {
    if capacity > 0 && !out.is_null() {
        // SAFETY: at least one byte, by the caller's promise.
        unsafe { out.write(0) };
    }
}
