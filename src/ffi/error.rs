//! The error object: immutable, owned by the caller.

use std::ffi::{CStr, c_char};
use std::ptr::NonNull;

use super::entry::entry;
use super::status::{VYRE_OK, vyre_status};
use crate::error::{Error, Position, Status};

/// What went wrong in one call: status, message, advice, native code, source position.
///
/// The caller owns it and frees it with vyre_error_free(). It never changes, so any threads may read
/// it at once. Its strings live as long as it does.
pub struct vyre_error {
    status: Status,
    native_code: i32,
    position: Option<Position>,
    message: Text,
    fix: Text,
    /// The static errors below are never freed.
    owned: bool,
}

/// NUL-terminated text.
enum Text {
    Static(&'static CStr),
    /// A `malloc`-ed string: allocating it may fail without ending the process.
    Owned(NonNull<c_char>),
}

// SAFETY: the owned text is a private allocation that nobody writes after it was made.
unsafe impl Send for vyre_error {}
// SAFETY: as above.
unsafe impl Sync for vyre_error {}

const fn fixed(status: Status, message: &'static CStr, fix: &'static CStr) -> vyre_error {
    vyre_error {
        status,
        native_code: 0,
        position: None,
        message: Text::Static(message),
        fix: Text::Static(fix),
        owned: false,
    }
}

static PANICKED: vyre_error = fixed(
    Status::Internal,
    c"vyre caught a panic of its own inside this call; outputs are null and the objects it used stay valid",
    c"This is a bug in vyre: report it with the panic's text (on standard error, and in the log callback) and the program that led to it.",
);
static NO_MEMORY: vyre_error = fixed(
    Status::OutOfHostMemory,
    c"the call failed, and there was no memory left to say why",
    c"Free host memory and call again.",
);
static FORKED: vyre_error = fixed(
    Status::DeviceLost,
    c"this process is a fork() of one that had acquired a vyre backend: the child has its ids but neither its threads nor its devices",
    c"Use vyre in the parent only, fork before the first vyre_backend_acquire(), or exec() a new program in the child.",
);

impl Text {
    fn new(text: &str) -> Option<Text> {
        // SAFETY: malloc takes any size.
        let start = unsafe { libc::malloc(text.len() + 1) }.cast::<c_char>();
        let start = NonNull::new(start)?;
        for (i, byte) in text.bytes().chain([0]).enumerate() {
            // A NUL inside would cut the text short where C reads it.
            let byte = if byte == 0 && i < text.len() {
                b'?'
            } else {
                byte
            };
            // SAFETY: i <= text.len(), and text.len() + 1 bytes were allocated.
            unsafe { start.as_ptr().add(i).write(byte as c_char) };
        }
        Some(Text::Owned(start))
    }

    fn as_ptr(&self) -> *const c_char {
        match self {
            Text::Static(text) => text.as_ptr(),
            Text::Owned(start) => start.as_ptr(),
        }
    }
}

impl Drop for Text {
    fn drop(&mut self) {
        if let Text::Owned(start) = self {
            // SAFETY: `Text::new` got it from malloc, and this is its only owner.
            unsafe { libc::free(start.as_ptr().cast()) };
        }
    }
}

impl vyre_error {
    /// The object for an error; the static one when memory is short.
    pub(super) fn new(error: &Error) -> *const vyre_error {
        let (Some(message), Some(fix)) = (Text::new(error.message()), Text::new(error.fix()))
        else {
            return &NO_MEMORY;
        };
        let layout = std::alloc::Layout::new::<vyre_error>();
        // SAFETY: a vyre_error is not zero-sized.
        let place = unsafe { std::alloc::alloc(layout) }.cast::<vyre_error>();
        if place.is_null() {
            return &NO_MEMORY;
        }
        // SAFETY: `place` is fresh, aligned memory for one vyre_error; `Box::from_raw` takes it back in `free`.
        unsafe {
            place.write(vyre_error {
                status: error.status(),
                native_code: error.native_code(),
                position: error.position(),
                message,
                fix,
                owned: true,
            });
        }
        place
    }

    pub(super) fn panicked() -> *const vyre_error {
        &PANICKED
    }

    pub(super) fn forked() -> *const vyre_error {
        &FORKED
    }

    /// Gives an error to the caller, or frees it if it isn't wanted; returns its status.
    ///
    /// # Safety
    /// `error` comes from one of the functions above; `err` is null or valid for writes.
    pub(super) unsafe fn deliver(
        error: *const vyre_error,
        err: *mut *mut vyre_error,
    ) -> vyre_status {
        // SAFETY: both are the caller's promises; after `free` nothing reads `error`.
        unsafe {
            let status = (*error).status as i32;
            if err.is_null() {
                free(error.cast_mut());
            } else {
                err.write_unaligned(error.cast_mut());
            }
            status
        }
    }
}

/// # Safety
/// `error` is null or an object that was delivered and not freed since.
unsafe fn free(error: *mut vyre_error) {
    // SAFETY: not null, so a live object; only owned ones came from the allocator, in Box's layout.
    unsafe {
        if !error.is_null() && (*error).owned {
            drop(Box::from_raw(error));
        }
    }
}

/// The status that came with an error.
///
/// @param error an error, or NULL
/// @return its status; VYRE_OK for NULL
///
/// Any thread may call. Cannot fail.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_error_status(error: *const vyre_error) -> vyre_status {
    entry!(value: VYRE_OK, {
        // SAFETY: the function's contract: null or a live error.
        unsafe { error.as_ref() }.map_or(VYRE_OK, |e| e.status as i32)
    })
}

/// What happened: which argument, what was seen, what was expected.
///
/// @param error an error, or NULL
/// @return NUL-terminated UTF-8 that lives as long as the error; "" for NULL, never NULL
///
/// Any thread may call. Cannot fail.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_error_message(error: *const vyre_error) -> *const c_char {
    entry!(value: c"".as_ptr(), {
        // SAFETY: the function's contract: null or a live error.
        unsafe { error.as_ref() }.map_or(c"".as_ptr(), |e| e.message.as_ptr())
    })
}

/// What to do about it; never empty.
///
/// @param error an error, or NULL
/// @return NUL-terminated UTF-8 that lives as long as the error; never NULL
///
/// Any thread may call. Cannot fail.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_error_fix(error: *const vyre_error) -> *const c_char {
    entry!(value: NOTHING_TO_FIX.as_ptr(), {
        // SAFETY: the function's contract: null or a live error.
        unsafe { error.as_ref() }.map_or(NOTHING_TO_FIX.as_ptr(), |e| e.fix.as_ptr())
    })
}

const NOTHING_TO_FIX: &CStr = c"Nothing to do: there is no error.";

/// The code that the system or the driver gave: an errno, a CUresult, or 0.
///
/// @param error an error, or NULL
/// @return the code; 0 for NULL
///
/// Any thread may call. Cannot fail.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_error_native_code(error: *const vyre_error) -> i32 {
    entry!(value: 0, {
        // SAFETY: the function's contract: null or a live error.
        unsafe { error.as_ref() }.map_or(0, |e| e.native_code)
    })
}

/// Where in the program's source the error lies, if it lies there.
///
/// @param error an error, or NULL
/// @param line receives the line, from 1; 0 if there is no position; may be NULL
/// @param column receives the column in bytes of UTF-8, from 1; 0 if there is no position; may be NULL
/// @return whether there is a position
///
/// Any thread may call. Cannot fail.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_error_source_position(
    error: *const vyre_error,
    line: *mut u32,
    column: *mut u32,
) -> bool {
    entry!(value: false, {
        // SAFETY: the function's contract: null or a live error.
        let position = unsafe { error.as_ref() }.and_then(|e| e.position);
        for (out, value) in [(line, position.map(|p| p.line)), (column, position.map(|p| p.column))] {
            if !out.is_null() {
                // SAFETY: not null, so valid for writes.
                unsafe { out.write_unaligned(value.unwrap_or(0)) };
            }
        }
        position.is_some()
    })
}

/// Frees an error. Its strings die with it.
///
/// @param error an error that was not freed yet, or NULL
///
/// Any thread may call. Cannot fail.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_error_free(error: *mut vyre_error) {
    entry!(value: (), {
        // SAFETY: the function's contract: null or a live error, which dies here.
        unsafe { free(error) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_terminated_and_inner_nuls_replaced() {
        let error = Error::new(Status::Io, "a\0b")
            .with_native_code(5)
            .with_position(Some(Position { line: 3, column: 9 }));
        let mut object = std::ptr::null_mut();
        let (mut line, mut column) = (0, 0);
        // SAFETY: `object` is a live local, then a live error until it is freed.
        unsafe {
            assert_eq!(
                vyre_error::deliver(vyre_error::new(&error), &mut object),
                17
            );
            assert_eq!(CStr::from_ptr(vyre_error_message(object)), c"a?b");
            assert_eq!(
                CStr::from_ptr(vyre_error_fix(object)).to_str(),
                Ok(Status::Io.default_fix())
            );
            assert_eq!(vyre_error_native_code(object), 5);
            assert!(vyre_error_source_position(object, &mut line, &mut column));
            vyre_error_free(object);
        }
        assert_eq!((line, column), (3, 9));
    }

    #[test]
    fn null_is_no_error() {
        // SAFETY: null is allowed by each of these.
        unsafe {
            assert_eq!(vyre_error_status(std::ptr::null()), VYRE_OK);
            assert_eq!(CStr::from_ptr(vyre_error_message(std::ptr::null())), c"");
            assert!(!CStr::from_ptr(vyre_error_fix(std::ptr::null())).is_empty());
            assert!(!vyre_error_source_position(
                std::ptr::null(),
                std::ptr::null_mut(),
                std::ptr::null_mut()
            ));
            vyre_error_free(std::ptr::null_mut());
            assert_eq!(
                vyre_error::deliver(&NO_MEMORY, std::ptr::null_mut()),
                Status::OutOfHostMemory as i32
            );
        }
    }
}
