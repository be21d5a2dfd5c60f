//! What emitted code and the code that calls it agree on.

use std::sync::atomic::AtomicU32;

/// One bound range.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct BoundBuffer {
    pub base: *mut u8,
    /// Elements of the trailing runtime-sized array.
    pub length: u32,
    pub padding: u32,
}

// SAFETY: an address; who may touch the bytes behind it is decided by the dispatch that holds the locks.
unsafe impl Sync for BoundBuffer {}

/// What a whole dispatch shares; read only while it runs.
#[repr(C)]
#[derive(Debug)]
pub struct Context {
    /// Non-zero: leave at the next loop end.
    pub stop: *const AtomicU32,
    pub buffers: *const BoundBuffer,
    pub immediates: *const u8,
    /// 64 zero bytes, aligned: what an access out of bounds reads.
    pub zeros: *const u8,
    pub workgroups: [u32; 3],
    pub padding: u32,
}

/// Runs one segment for a workgroup. Returns the resume code where its invocations arrived.
pub type SegmentFn = unsafe extern "C" fn(
    context: *const Context,
    workgroup_x: u32,
    workgroup_y: u32,
    workgroup_z: u32,
    scratch: *mut u8,
    persistent: *mut u8,
) -> u32;

/// Resume codes that are not resume points.
pub const END: u32 = u32::MAX;
/// The stop flag was seen.
pub const STOPPED: u32 = u32::MAX - 1;
/// Invocations arrived at different points; the head of the scratch frame says which.
pub const DISAGREED: u32 = u32::MAX - 2;
