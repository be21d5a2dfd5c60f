//! What every exported function consists of: clear the outputs, guard against panics and forks, turn
//! an error into a status and an object.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::error::vyre_error;
use super::fork;
use super::status::{VYRE_OK, vyre_status};
use crate::error::{Error, Result, Status};
use crate::log::{self, Level};

/// The body of an exported function; nothing stands beside it (a test looks).
///
/// Three forms: calls that can fail, functions that give a value, and functions that give nothing.
/// The header generator reads signatures only, which is why the signature is not in the macro.
macro_rules! entry {
    (err: $err:expr, clear: [$($out:expr),*], $body:block) => {{
        $(
            // SAFETY: the function's contract: an output pointer is null or valid for writes.
            unsafe { $crate::ffi::entry::clear($out) };
        )*
        let body = || {
            $body
            Ok(())
        };
        // SAFETY: as above.
        unsafe { $crate::ffi::entry::fallible($err, body) }
    }};
    (value: $on_panic:expr, $body:expr) => {
        $crate::ffi::entry::infallible($on_panic, || $body)
    };
}
pub(super) use entry;

/// Writes a type's null to an output, if there is one. C promises no alignment to a wrong pointer.
///
/// # Safety
/// `out` is null or valid for writes.
pub unsafe fn clear<T: Default>(out: *mut T) {
    if !out.is_null() {
        // SAFETY: not null, so valid for writes.
        unsafe { out.write_unaligned(T::default()) };
    }
}

/// Runs the body of a call that can fail.
///
/// # Safety
/// `err` is null or valid for writes.
pub unsafe fn fallible(
    err: *mut *mut vyre_error,
    body: impl FnOnce() -> Result<()>,
) -> vyre_status {
    // SAFETY: the caller's promise.
    let deliver = |error| unsafe { vyre_error::deliver(error, err) };
    if !err.is_null() {
        // SAFETY: not null, so valid for writes.
        unsafe { err.write_unaligned(std::ptr::null_mut()) };
    }
    if fork::in_child() {
        // Before anything else: another thread of the parent may have held any lock when it forked.
        return deliver(vyre_error::forked());
    }
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        body().map_err(|error| {
            log::log(Level::Error, || error.to_string());
            vyre_error::new(&error)
        })
    }));
    match outcome {
        Ok(Ok(())) => VYRE_OK,
        Ok(Err(error)) => deliver(error),
        Err(payload) => {
            report_panic(payload);
            deliver(vyre_error::panicked())
        }
    }
}

/// Runs a body that cannot fail by itself.
pub fn infallible<T>(on_panic: T, body: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|payload| {
        report_panic(payload);
        on_panic
    })
}

/// Logs a caught panic; if that panics too, it is dropped: nothing may unwind into C.
fn report_panic(payload: Box<dyn Any + Send>) {
    let _ = catch_unwind(AssertUnwindSafe(|| {
        let text = payload
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| payload.downcast_ref::<&str>().copied())
            .unwrap_or("no text");
        log::log(Level::Error, || {
            Error::new(Status::Internal, format!("a panic was caught: {text}")).to_string()
        });
    }));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ffi::error::{vyre_error_fix, vyre_error_free, vyre_error_message};
    use crate::ffi::status::VYRE_ERROR_INTERNAL;
    use std::ffi::CStr;

    #[test]
    fn a_panic_becomes_an_internal_error() {
        let mut error = std::ptr::null_mut();
        // SAFETY: `error` is a live local.
        let status =
            unsafe { fallible(&mut error, || panic!("thrown by a test, as it should be")) };
        assert_eq!(status, VYRE_ERROR_INTERNAL);
        // SAFETY: `error` is the object just delivered; its texts live as long as it does.
        unsafe {
            let message = CStr::from_ptr(vyre_error_message(error));
            assert!(message.to_str().unwrap().contains("panic"));
            assert!(!CStr::from_ptr(vyre_error_fix(error)).is_empty());
            vyre_error_free(error);
            // A static error survives: freeing it frees nothing.
            assert!(message.to_str().unwrap().contains("panic"));
        }
        assert_eq!(
            infallible(7, || panic!("thrown by a test, as it should be")),
            7
        );
    }
}
