//! The block of bytes that a kernel is launched with.

use smallvec::SmallVec;

use super::ptx::abi::ParameterLayout;
use super::slot::Slot;

pub struct Arguments<'l> {
    layout: &'l ParameterLayout,
    // u64s, because the block's words are up to that wide.
    words: SmallVec<[u64; 32]>,
}

impl<'l> Arguments<'l> {
    pub fn new(
        layout: &'l ParameterLayout,
        workgroups: [u32; 3],
        immediates: &[u8],
    ) -> Arguments<'l> {
        let mut arguments = Arguments {
            layout,
            words: SmallVec::from_elem(0, (layout.size as usize).div_ceil(8)),
        };
        for (axis, n) in (0..).zip(workgroups) {
            arguments.put(layout.workgroups + 4 * axis, &n.to_le_bytes());
        }
        arguments.put(layout.immediates, immediates);
        arguments
    }

    /// A binding's address and the elements of its runtime-sized array.
    pub fn set_buffer(&mut self, index: usize, address: u64, length: u32) {
        let at = self.layout.buffers[index];
        self.put(at.base, &address.to_le_bytes());
        self.put(at.length, &length.to_le_bytes());
    }

    /// The launch's slot, and nanoseconds that a wait may take.
    pub fn set_slot(&mut self, slot: &Slot, limit: u64) {
        let Some(at) = self.layout.control else {
            return;
        };
        self.put(at.slot, &slot.address.to_le_bytes());
        self.put(at.record, &slot.record_address.to_le_bytes());
        self.put(at.limit, &limit.to_le_bytes());
        self.put(at.base, &slot.base.to_le_bytes());
        self.put(at.exit_base, &slot.exit_base.to_le_bytes());
        self.put(at.sequence, &slot.sequence.to_le_bytes());
    }

    fn put(&mut self, at: u32, bytes: &[u8]) {
        let room = self.words.len() * 8;
        // SAFETY: a u64 may be written byte by byte; every byte pattern is a value of it.
        let block =
            unsafe { std::slice::from_raw_parts_mut(self.words.as_mut_ptr().cast::<u8>(), room) };
        block[at as usize..][..bytes.len()].copy_from_slice(bytes);
    }

    pub fn as_mut_ptr(&mut self) -> *mut std::ffi::c_void {
        self.words.as_mut_ptr().cast()
    }
}
