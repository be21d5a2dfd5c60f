//! Device memory, and copies between it and the host.
//!
//! `device` is an allocation that frees itself, `transient` keeps some for reuse, `copy` moves bytes.

pub mod copy;
mod device;
mod transient;

pub use device::DeviceMemory;
pub use transient::{Transient, TransientPool};
