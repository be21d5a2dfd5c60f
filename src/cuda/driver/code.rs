//! What the driver's result codes mean for us.

use crate::error::Status;

pub const SUCCESS: i32 = 0;
pub const INVALID_VALUE: i32 = 1;
pub const OUT_OF_MEMORY: i32 = 2;
pub const NOT_INITIALIZED: i32 = 3;
pub const DEINITIALIZED: i32 = 4;
pub const STUB_LIBRARY: i32 = 34;
pub const NO_DEVICE: i32 = 100;
pub const INVALID_DEVICE: i32 = 101;
pub const INVALID_IMAGE: i32 = 200;
pub const INVALID_CONTEXT: i32 = 201;
pub const NO_BINARY_FOR_GPU: i32 = 209;
pub const ECC_UNCORRECTABLE: i32 = 214;
pub const INVALID_PTX: i32 = 218;
pub const NVLINK_UNCORRECTABLE: i32 = 220;
pub const JIT_COMPILER_NOT_FOUND: i32 = 221;
pub const UNSUPPORTED_PTX_VERSION: i32 = 222;
pub const NOT_FOUND: i32 = 500;
pub const NOT_READY: i32 = 600;
pub const ILLEGAL_ADDRESS: i32 = 700;
pub const LAUNCH_OUT_OF_RESOURCES: i32 = 701;
pub const LAUNCH_TIMEOUT: i32 = 702;
pub const CONTEXT_IS_DESTROYED: i32 = 709;
pub const ASSERT: i32 = 710;
pub const HARDWARE_STACK_ERROR: i32 = 714;
pub const ILLEGAL_INSTRUCTION: i32 = 715;
pub const MISALIGNED_ADDRESS: i32 = 716;
pub const INVALID_ADDRESS_SPACE: i32 = 717;
pub const INVALID_PC: i32 = 718;
pub const LAUNCH_FAILED: i32 = 719;
pub const COOPERATIVE_LAUNCH_TOO_LARGE: i32 = 720;
pub const NOT_PERMITTED: i32 = 800;
pub const NOT_SUPPORTED: i32 = 801;
pub const SYSTEM_NOT_READY: i32 = 802;
pub const SYSTEM_DRIVER_MISMATCH: i32 = 803;

/// Whether nothing can be done with the context after this code.
pub fn is_sticky(code: i32) -> bool {
    matches!(
        code,
        DEINITIALIZED
            | INVALID_CONTEXT
            | ECC_UNCORRECTABLE
            | NVLINK_UNCORRECTABLE
            | ILLEGAL_ADDRESS
            | LAUNCH_TIMEOUT
            | CONTEXT_IS_DESTROYED
            | ASSERT
            | HARDWARE_STACK_ERROR
            | ILLEGAL_INSTRUCTION
            | MISALIGNED_ADDRESS
            | INVALID_ADDRESS_SPACE
            | INVALID_PC
            | LAUNCH_FAILED
    )
}

/// The status that a caller gets for a code.
pub fn status(code: i32) -> Status {
    match code {
        SUCCESS => Status::Ok,
        _ if is_sticky(code) => Status::DeviceLost,
        OUT_OF_MEMORY => Status::OutOfDeviceMemory,
        STUB_LIBRARY
        | NOT_INITIALIZED
        | SYSTEM_NOT_READY
        | SYSTEM_DRIVER_MISMATCH
        | JIT_COMPILER_NOT_FOUND => Status::DriverUnavailable,
        NO_DEVICE | INVALID_DEVICE => Status::NoDevice,
        INVALID_IMAGE | NO_BINARY_FOR_GPU | INVALID_PTX | UNSUPPORTED_PTX_VERSION | NOT_FOUND => {
            Status::InvalidProgram
        }
        COOPERATIVE_LAUNCH_TOO_LARGE => Status::GridTooLarge,
        NOT_PERMITTED | NOT_SUPPORTED => Status::Unsupported,
        _ => Status::DispatchFailed,
    }
}

/// Advice for codes that the status's own does not fit.
pub fn fix(code: i32) -> Option<&'static str> {
    Some(match code {
        NO_BINARY_FOR_GPU => {
            "Build the kernel for this device's compute capability, or pass PTX for an older one."
        }
        UNSUPPORTED_PTX_VERSION => {
            "Install a newer NVIDIA driver, or build the kernel with an older CUDA toolkit (its PTX has a lower .version)."
        }
        JIT_COMPILER_NOT_FOUND => {
            "Install the whole NVIDIA driver: libnvidia-ptxjitcompiler.so.1 is missing beside libcuda.so.1."
        }
        SYSTEM_NOT_READY => {
            "Start the services that the device needs (nvidia-fabricmanager on NVLink systems), then acquire again."
        }
        SYSTEM_DRIVER_MISMATCH => {
            "Make libcuda.so.1 and the kernel's NVIDIA module of one version: reboot after a driver update, or repair the container's mounts."
        }
        LAUNCH_OUT_OF_RESOURCES => {
            "Use a smaller workgroup size: the kernel's registers or workgroup memory do not fit."
        }
        ILLEGAL_ADDRESS | MISALIGNED_ADDRESS | INVALID_ADDRESS_SPACE => {
            "Find the access out of bounds (load the program without VYRE_PROGRAM_UNCHECKED, or run under compute-sanitizer), release the backend and acquire a new one."
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_status_also_one_that_nobody_knows() {
        assert_eq!(status(12345), Status::DispatchFailed);
        assert_eq!(status(-1), Status::DispatchFailed);
        assert_eq!(status(ILLEGAL_ADDRESS), Status::DeviceLost);
        assert_eq!(status(OUT_OF_MEMORY), Status::OutOfDeviceMemory);
        assert!(!is_sticky(OUT_OF_MEMORY) && !is_sticky(12345) && is_sticky(LAUNCH_FAILED));
    }
}
