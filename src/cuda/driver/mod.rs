//! The CUDA driver, opened at run time.
//!
//! `library` finds it, `api` looks its functions up by name and `code` says what their results mean.
//! Nothing here panics when there is no driver, or an old one: each is an error that says what was seen.

mod api;
pub mod code;
mod library;

use std::ffi::{CStr, c_int};
use std::sync::{Mutex, PoisonError};

pub use api::Api;
pub use cudarc::driver::sys;

use crate::error::{Error, Result, Status};

/// The opened driver.
pub struct Driver {
    pub api: Api,
    /// As the driver numbers it: 12040 for 12.4.
    pub version: i32,
    path: String,
}

const CHECK_THE_DRIVER: &str =
    "Run nvidia-smi to see what is wrong with the driver, or acquire VYRE_BACKEND_CPU.";

/// Opened once and never closed: its threads and exit handlers outlive us. A failure is not kept, so
/// that a driver that appears later is found.
///
/// Lock: taken alone.
static DRIVER: Mutex<Option<&'static Driver>> = Mutex::new(None);

impl Driver {
    /// The driver, initialised.
    pub fn get() -> Result<&'static Driver> {
        // Nothing is left half done under this lock.
        let mut slot = DRIVER.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(driver) = *slot {
            return Ok(driver);
        }
        let driver = Box::leak(Box::new(Driver::open()?));
        *slot = Some(driver);
        Ok(driver)
    }

    /// Whether there is a driver to complain about: one was found or named, whatever it does.
    pub fn is_present() -> bool {
        library::is_present()
    }

    fn open() -> Result<Driver> {
        let library = library::open()?;
        // SAFETY: looks the name up only; the type is that of cuInit.
        let path =
            unsafe { library.get::<unsafe extern "C" fn(u32) -> c_int>(c"cuInit".to_bytes()) }
                .map_or_else(
                    |_| "the library".to_owned(),
                    |f| library::path_of(*f as *const ()),
                );
        let library = std::mem::ManuallyDrop::new(libloading::Library::from(library));
        let api = Api::of(&library).map_err(|symbol| {
            Error::new(
                Status::DriverUnavailable,
                format!("the CUDA driver at {path} has no function {symbol}: it is too old, or another library of that name"),
            )
            .with_fix("Install a newer NVIDIA driver (of CUDA 11.4 or later), or acquire VYRE_BACKEND_CPU.")
        })?;
        let mut driver = Driver {
            api,
            version: 0,
            path,
        };
        // SAFETY: cuInit may be called any number of times, from any thread.
        driver.initialised(unsafe { (api.init)(0) })?;
        // SAFETY: the place is valid for a write.
        let code = unsafe { (api.driver_get_version)(&mut driver.version) };
        driver.check(code, "cuDriverGetVersion")?;
        Ok(driver)
    }

    /// Tells the ways apart in which a driver refuses to start.
    fn initialised(&self, code: i32) -> Result<()> {
        let path = &self.path;
        match code {
            code::SUCCESS => Ok(()),
            code::STUB_LIBRARY => Err(Error::new(
                Status::DriverUnavailable,
                format!("the CUDA stub library was found instead of the driver at {path}"),
            )
            .with_fix(format!(
                "Take the toolkit's stubs folder off LD_LIBRARY_PATH, or set {} to the driver's libcuda.so.1.",
                library::VARIABLE
            ))
            .with_native_code(code)),
            code::NO_DEVICE => Err(Error::new(
                Status::NoDevice,
                format!("the CUDA driver at {path} finds no device (CUDA_ERROR_NO_DEVICE, 100)"),
            )
            .with_fix("Make a GPU visible (see CUDA_VISIBLE_DEVICES and nvidia-smi), or acquire VYRE_BACKEND_CPU.")
            .with_native_code(code)),
            _ => {
                let error = Error::new(
                    Status::DriverUnavailable,
                    format!("the CUDA driver at {path} refuses to start: cuInit gave {}", self.describe(code)),
                )
                .with_native_code(code);
                Err(match code::fix(code) {
                    Some(fix) => error.with_fix(fix),
                    None => error.with_fix(CHECK_THE_DRIVER),
                })
            }
        }
    }

    /// A code as an error of the call that gave it, for calls that find out what there is: no program runs
    /// yet, so a failure that says nothing else is the driver's.
    pub fn check(&self, code: i32, call: &str) -> Result<()> {
        if code == code::SUCCESS {
            return Ok(());
        }
        let error = self.error(code, call);
        if error.status() != Status::DispatchFailed {
            return Err(error);
        }
        Err(Error::new(Status::DriverUnavailable, error.message())
            .with_fix(CHECK_THE_DRIVER)
            .with_native_code(code))
    }

    #[cold]
    pub fn error(&self, code: i32, call: &str) -> Error {
        let error = Error::new(
            code::status(code),
            format!("{call} failed with {}", self.describe(code)),
        )
        .with_native_code(code);
        match code::fix(code) {
            Some(fix) => error.with_fix(fix),
            None => error,
        }
    }

    /// A code's name, number and meaning, as far as the driver knows them.
    pub fn describe(&self, code: i32) -> String {
        let ask = |get: unsafe extern "C" fn(c_int, *mut *const std::ffi::c_char) -> c_int| {
            let mut text = std::ptr::null();
            // SAFETY: the place is valid for a write; an unknown code leaves it null.
            let result = unsafe { get(code, &mut text) };
            // SAFETY: the driver's names are NUL-terminated and static.
            (result == code::SUCCESS && !text.is_null())
                .then(|| unsafe { CStr::from_ptr(text) }.to_string_lossy())
        };
        match (ask(self.api.get_error_name), ask(self.api.get_error_string)) {
            (Some(name), Some(meaning)) => format!("{name} ({code}): {meaning}"),
            _ => format!("code {code}, which this driver does not name"),
        }
    }
}
