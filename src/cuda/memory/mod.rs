//! Device memory, and copies between it and the host.
//!
//! `pool` is where it comes from, `device` is an allocation that frees itself, `transient` keeps some for
//! reuse. `copy` moves bytes; long copies of memory that is not `pinned` are `staged` through such memory.

pub mod copy;
mod device;
mod pinned;
mod pool;
mod staged;
mod transient;

pub use device::DeviceMemory;
pub use pinned::{PinnedMemory, PinnedPool, no_page_locked};
pub use pool::DevicePool;
pub use transient::{Transient, TransientPool};
