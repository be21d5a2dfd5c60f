//! The one error type: what was seen, what was expected, and what to do about it.

use std::fmt;

/// The outcome of a call. The numbers are the C ABI's and are never renumbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(i32)]
pub enum Status {
    Ok = 0,
    InvalidArgument = 1,
    InvalidHandle = 2,
    DriverUnavailable = 3,
    NoDevice = 4,
    Unsupported = 5,
    InvalidProgram = 6,
    BindingMismatch = 7,
    OutOfRange = 8,
    GridTooLarge = 9,
    OutOfDeviceMemory = 10,
    OutOfHostMemory = 11,
    BarrierAudit = 12,
    Timeout = 13,
    Cancelled = 14,
    DispatchFailed = 15,
    DeviceLost = 16,
    Io = 17,
    Internal = 18,
}

impl Status {
    /// Every status, in numeric order.
    pub const ALL: [Status; 19] = [
        Status::Ok,
        Status::InvalidArgument,
        Status::InvalidHandle,
        Status::DriverUnavailable,
        Status::NoDevice,
        Status::Unsupported,
        Status::InvalidProgram,
        Status::BindingMismatch,
        Status::OutOfRange,
        Status::GridTooLarge,
        Status::OutOfDeviceMemory,
        Status::OutOfHostMemory,
        Status::BarrierAudit,
        Status::Timeout,
        Status::Cancelled,
        Status::DispatchFailed,
        Status::DeviceLost,
        Status::Io,
        Status::Internal,
    ];

    /// The status with this number, if there is one.
    pub fn from_code(code: i32) -> Option<Status> {
        usize::try_from(code)
            .ok()
            .and_then(|i| Self::ALL.get(i).copied())
    }

    /// The C constant's name.
    pub const fn name(self) -> &'static str {
        match self {
            Status::Ok => "VYRE_OK",
            Status::InvalidArgument => "VYRE_ERROR_INVALID_ARGUMENT",
            Status::InvalidHandle => "VYRE_ERROR_INVALID_HANDLE",
            Status::DriverUnavailable => "VYRE_ERROR_DRIVER_UNAVAILABLE",
            Status::NoDevice => "VYRE_ERROR_NO_DEVICE",
            Status::Unsupported => "VYRE_ERROR_UNSUPPORTED",
            Status::InvalidProgram => "VYRE_ERROR_INVALID_PROGRAM",
            Status::BindingMismatch => "VYRE_ERROR_BINDING_MISMATCH",
            Status::OutOfRange => "VYRE_ERROR_OUT_OF_RANGE",
            Status::GridTooLarge => "VYRE_ERROR_GRID_TOO_LARGE",
            Status::OutOfDeviceMemory => "VYRE_ERROR_OUT_OF_DEVICE_MEMORY",
            Status::OutOfHostMemory => "VYRE_ERROR_OUT_OF_HOST_MEMORY",
            Status::BarrierAudit => "VYRE_ERROR_BARRIER_AUDIT",
            Status::Timeout => "VYRE_ERROR_TIMEOUT",
            Status::Cancelled => "VYRE_ERROR_CANCELLED",
            Status::DispatchFailed => "VYRE_ERROR_DISPATCH_FAILED",
            Status::DeviceLost => "VYRE_ERROR_DEVICE_LOST",
            Status::Io => "VYRE_ERROR_IO",
            Status::Internal => "VYRE_ERROR_INTERNAL",
        }
    }

    /// What to do when an error carries no more particular advice.
    pub const fn default_fix(self) -> &'static str {
        match self {
            Status::Ok => "Nothing to do: the call succeeded.",
            Status::InvalidArgument => {
                "Correct the argument that the message names and call again."
            }
            Status::InvalidHandle => {
                "Pass a handle that this library returned and that has not been released yet."
            }
            Status::DriverUnavailable => {
                "Install the NVIDIA driver (it provides libcuda.so.1), or acquire VYRE_BACKEND_CPU."
            }
            Status::NoDevice => {
                "Choose an ordinal below vyre_device_count(), or acquire VYRE_BACKEND_CPU."
            }
            Status::Unsupported => {
                "Use a backend that can do it, or leave the unsupported feature out."
            }
            Status::InvalidProgram => "Correct the program at the position that the message names.",
            Status::BindingMismatch => {
                "Bind each of the program's bindings once, as vyre_program_binding() describes it."
            }
            Status::OutOfRange => {
                "Keep offset + size within the buffer, and the grid within the limits of vyre_backend_info()."
            }
            Status::GridTooLarge => {
                "Ask for fewer workgroups, or for {0, 0, 0}: as many as can be co-resident."
            }
            Status::OutOfDeviceMemory => {
                "Release buffers, call vyre_backend_trim(), or ask for less memory."
            }
            Status::OutOfHostMemory => "Free host memory, or ask for less.",
            Status::BarrierAudit => {
                "Discard the results: make every workgroup reach the same grid barriers, then dispatch again."
            }
            Status::Timeout => {
                "Raise timeout_ns if the work is lawfully long; otherwise look for a loop that never ends."
            }
            Status::Cancelled => "Dispatch again if the result is still wanted.",
            Status::DispatchFailed => "Correct the program as the message says and dispatch again.",
            Status::DeviceLost => {
                "Release the backend and everything on it, then acquire a new one."
            }
            Status::Io => {
                "Check that the cache directory exists and is writable, or name another one."
            }
            Status::Internal => {
                "This is a bug in vyre: report it with the message and the program that led to it."
            }
        }
    }
}

/// A place in a program's source; both count from 1, the column in bytes of UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    pub line: u32,
    pub column: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct Error {
    status: Status,
    message: String,
    fix: Option<String>,
    native_code: i32,
    position: Option<Position>,
}

pub type Result<T, E = Error> = std::result::Result<T, E>;

impl Error {
    pub fn new(status: Status, message: impl Into<String>) -> Error {
        Error {
            status,
            message: message.into(),
            fix: None,
            native_code: 0,
            position: None,
        }
    }

    /// Replaces the status's default advice by one for this very case.
    #[must_use]
    pub fn with_fix(mut self, fix: impl Into<String>) -> Error {
        let fix = fix.into();
        debug_assert!(!fix.is_empty());
        self.fix = Some(fix);
        self
    }

    /// The CUresult or errno behind the error.
    #[must_use]
    pub fn with_native_code(mut self, code: i32) -> Error {
        self.native_code = code;
        self
    }

    #[must_use]
    pub fn with_position(mut self, position: Option<Position>) -> Error {
        self.position = position;
        self
    }

    pub fn status(&self) -> Status {
        self.status
    }

    pub fn message(&self) -> &str {
        &self.message
    }

    pub fn fix(&self) -> &str {
        self.fix
            .as_deref()
            .unwrap_or_else(|| self.status.default_fix())
    }

    pub fn native_code(&self) -> i32 {
        self.native_code
    }

    pub fn position(&self) -> Option<Position> {
        self.position
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.status.name(), self.message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_keep_their_numbers_and_have_advice() {
        for (code, status) in Status::ALL.into_iter().enumerate() {
            assert_eq!(status as i32, i32::try_from(code).unwrap());
            assert_eq!(Status::from_code(status as i32), Some(status));
            assert!(status.default_fix().len() > 20);
        }
        assert_eq!(Status::from_code(-1), None);
        assert_eq!(Status::from_code(19), None);
    }
}
