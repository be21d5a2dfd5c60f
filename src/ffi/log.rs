//! The log callback.

use std::ffi::{CString, c_char, c_void};

use super::args::invalid;
use super::entry::entry;
use super::error::vyre_error;
use super::status::vyre_status;
use crate::log::{self, Level, Sink};

/// No messages.
pub const VYRE_LOG_OFF: i32 = 0;
/// A call failed; the message starts with the status's name.
pub const VYRE_LOG_ERROR: i32 = 1;
/// Something works, but not as well as it could.
pub const VYRE_LOG_WARN: i32 = 2;
/// A backend was acquired or released, and why it was chosen.
pub const VYRE_LOG_INFO: i32 = 3;
/// A program was loaded.
pub const VYRE_LOG_DEBUG: i32 = 4;

/// Takes log messages: userdata, one of VYRE_LOG_*, and NUL-terminated UTF-8 that lives during the call.
///
/// Called from any thread, from several at once, without a lock of the library: it may call any
/// function of the library. What such calls log is not passed on. It must return, not throw or longjmp.
pub type vyre_log_callback =
    Option<unsafe extern "C" fn(userdata: *mut c_void, level: i32, message: *const c_char)>;

/// Called once with the userdata when the library has done with it. As vyre_log_callback, it must return.
pub type vyre_finalizer = Option<unsafe extern "C" fn(userdata: *mut c_void)>;

/// Sets, replaces or clears the log callback of the process.
///
/// @param level the highest of VYRE_LOG_* that is passed on; VYRE_LOG_OFF for none
/// @param callback takes the messages; NULL clears
/// @param userdata is passed to callback and finalizer; owned by the library until finalizer is called
/// @param finalizer is called exactly once: when the callback was replaced or cleared and its last call
///        has returned; at once if callback is NULL; not at process exit; not if this call fails; may be NULL
/// @param err receives an error, NULL on success; may be NULL
/// @return VYRE_OK, or VYRE_ERROR_INVALID_ARGUMENT for an unknown level
///
/// Any thread may call, also from within the callback.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_set_log_callback(
    level: i32,
    callback: vyre_log_callback,
    userdata: *mut c_void,
    finalizer: vyre_finalizer,
    err: *mut *mut vyre_error,
) -> vyre_status {
    entry!(err: err, clear: [], {
        let threshold = match level {
            VYRE_LOG_OFF => None,
            VYRE_LOG_ERROR => Some(Level::Error),
            VYRE_LOG_WARN => Some(Level::Warn),
            VYRE_LOG_INFO => Some(Level::Info),
            VYRE_LOG_DEBUG => Some(Level::Debug),
            _ => {
                return Err(invalid(format!(
                    "level is {level}; VYRE_LOG_OFF (0) to VYRE_LOG_DEBUG (4) were expected"
                )));
            }
        };
        // Owns the userdata from here on: dropping it runs the finalizer.
        let sink = CallbackSink { callback, userdata, finalizer };
        log::set_sink(match threshold {
            Some(level) if callback.is_some() => Some((level, std::sync::Arc::new(sink))),
            // Levels are off, but the callback was set: it is kept until it is replaced.
            _ if callback.is_some() => Some((Level::Off, std::sync::Arc::new(sink))),
            _ => None,
        });
    })
}

struct CallbackSink {
    callback: vyre_log_callback,
    userdata: *mut c_void,
    finalizer: vyre_finalizer,
}

// SAFETY: the contract says that callback and finalizer are called from any thread.
unsafe impl Send for CallbackSink {}
// SAFETY: and from several at once.
unsafe impl Sync for CallbackSink {}

impl Sink for CallbackSink {
    fn message(&self, level: Level, text: &str) {
        let Some(callback) = self.callback else {
            return;
        };
        let text = CString::new(text).or_else(|_| CString::new(text.replace('\0', "?")));
        if let Ok(text) = text {
            // SAFETY: the contract of the callback; the userdata is not finalized before this sink is dropped.
            unsafe { callback(self.userdata, level as i32, text.as_ptr()) };
        }
    }
}

impl Drop for CallbackSink {
    fn drop(&mut self) {
        if let Some(finalizer) = self.finalizer {
            // SAFETY: the contract of the finalizer; this is the sink's only drop.
            unsafe { finalizer(self.userdata) };
        }
    }
}
