//! What every function of the driver passes through.

use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::context;
use crate::fault::{self, Effect};

pub const SUCCESS: c_int = 0;
pub const INVALID_VALUE: c_int = 1;
pub const OUT_OF_MEMORY: c_int = 2;
pub const NOT_INITIALIZED: c_int = 3;
pub const INVALID_DEVICE: c_int = 101;
pub const INVALID_IMAGE: c_int = 200;
pub const INVALID_CONTEXT: c_int = 201;
pub const NO_BINARY_FOR_GPU: c_int = 209;
pub const INVALID_PTX: c_int = 218;
pub const UNSUPPORTED_PTX_VERSION: c_int = 222;
pub const INVALID_HANDLE: c_int = 400;
pub const NOT_FOUND: c_int = 500;
pub const NOT_READY: c_int = 600;
pub const ILLEGAL_ADDRESS: c_int = 700;
pub const COOPERATIVE_LAUNCH_TOO_LARGE: c_int = 720;
pub const ILLEGAL_INSTRUCTION: c_int = 715;
pub const MISALIGNED_ADDRESS: c_int = 716;
pub const UNKNOWN: c_int = 999;

/// What a call needs to be there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Need {
    Nothing,
    /// cuInit.
    Driver,
    /// The same; and it gives something back, which it does whatever code it returns.
    Return,
    /// A current context that works.
    Context,
    /// The same; and it gives something back, which it does whatever code it returns.
    Release,
}

pub fn call(name: &'static str, need: Need, body: impl FnOnce() -> c_int) -> c_int {
    let body = || {
        catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|_| {
            context::violation(format_args!("{name} panicked"));
            UNKNOWN
        })
    };
    let effect = fault::at(name);
    if let Some(Effect::Delay(time)) = effect {
        std::thread::sleep(time);
    }
    if need != Need::Nothing && !context::is_initialised() {
        return NOT_INITIALIZED;
    }
    let is_inside = matches!(need, Need::Context | Need::Release);
    if is_inside && !context::is_current() {
        context::violation(format_args!("{name} without a current context"));
        return INVALID_CONTEXT;
    }
    if let Some(Effect::Code(code)) = effect {
        if matches!(need, Need::Release | Need::Return) {
            body();
        }
        if fault::is_sticky(code) {
            context::fail(code);
        }
        return code;
    }
    match context::sticky() {
        code if code == SUCCESS || !is_inside => body(),
        code => {
            if need == Need::Release {
                body();
            }
            code
        }
    }
}

/// Writes a result where the caller wants it.
pub fn put<T>(place: *mut T, value: T) -> c_int {
    if place.is_null() {
        return INVALID_VALUE;
    }
    // SAFETY: the driver's callers pass places that are valid for a write, or null.
    unsafe { place.write(value) };
    SUCCESS
}

/// Functions with the driver's names.
macro_rules! driver {
    ($($need:ident fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block)*) => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name($($arg: $ty),*) -> ::std::ffi::c_int {
                $crate::entry::call(stringify!($name), $crate::entry::Need::$need, move || $body)
            }
        )*
    };
}
pub(crate) use driver;
