//! What a kernel is launched with.

use std::ffi::c_void;

use smallvec::SmallVec;

use super::bound::Place;
use super::ptx::abi::{ParameterLayout, Shape};
use super::raw::Passed;
use super::slot::Slot;

pub enum Arguments<'l> {
    /// Of a kernel that we emitted.
    Block(Block<'l>),
    /// Of a kernel of the caller's.
    List(List),
}

impl Arguments<'_> {
    /// The launch's slot, how its workgroups meet, nanoseconds that a wait may take, and whether nobody looks for the launch's end, for
    /// kernels that know of slots.
    pub fn set_slot(&mut self, slot: &Slot, shape: Shape, limit: u64, quiet: bool) {
        match self {
            Arguments::Block(block) => block.set_slot(slot, shape, limit, quiet),
            Arguments::List(_) => {}
        }
    }

    /// Addresses of the parameters' values; valid until this is moved or changed.
    pub fn pointers(&mut self) -> SmallVec<[*mut c_void; 8]> {
        match self {
            Arguments::Block(block) => SmallVec::from_slice(&[block.words.as_mut_ptr().cast()]),
            Arguments::List(list) => {
                let words = list.words.as_mut_ptr();
                let at = |start: &usize| words.wrapping_add(*start).cast();
                list.starts.iter().map(at).collect()
            }
        }
    }
}

/// The one parameter of an emitted kernel: a block of bytes.
pub struct Block<'l> {
    layout: &'l ParameterLayout,
    // u64s, because the block's words are up to that wide.
    words: SmallVec<[u64; 32]>,
}

impl<'l> Block<'l> {
    pub fn new(layout: &'l ParameterLayout, workgroups: [u32; 3], immediates: &[u8]) -> Block<'l> {
        let mut block = Block {
            layout,
            words: SmallVec::from_elem(0, (layout.size as usize).div_ceil(8)),
        };
        for (axis, n) in (0..).zip(workgroups) {
            block.put(layout.workgroups + 4 * axis, &n.to_le_bytes());
        }
        block.put(layout.immediates, immediates);
        block
    }

    /// A binding's address and the elements of its runtime-sized array.
    pub fn set_buffer(&mut self, index: usize, address: u64, length: u32) {
        let at = self.layout.buffers[index];
        self.put(at.base, &address.to_le_bytes());
        self.put(at.length, &length.to_le_bytes());
    }

    fn set_slot(&mut self, slot: &Slot, shape: Shape, limit: u64, quiet: bool) {
        let Some(at) = self.layout.control else {
            return;
        };
        self.put(at.slot, &slot.address.to_le_bytes());
        self.put(at.record, &slot.record_address.to_le_bytes());
        self.put(at.limit, &limit.to_le_bytes());
        self.put(at.base, &slot.before.base.to_le_bytes());
        self.put(at.exit_base, &slot.before.exit_base.to_le_bytes());
        self.put(at.sequence, &slot.sequence.to_le_bytes());
        self.put(at.quiet, &u32::from(quiet).to_le_bytes());
        self.put(at.shape, &(shape as u32).to_le_bytes());
        self.put(at.releases, &slot.before.releases.to_le_bytes());
        for (group, arrivals) in (0..).zip(slot.before.arrivals) {
            self.put(at.arrivals + 4 * group, &arrivals.to_le_bytes());
        }
    }

    fn put(&mut self, at: u32, bytes: &[u8]) {
        put(&mut self.words, at as usize, bytes);
    }
}

/// The parameters of a kernel of the caller's, each at a multiple of 16 bytes, which suits any type.
pub struct List {
    words: SmallVec<[u64; 32]>,
    /// Where each value starts, in words.
    starts: SmallVec<[usize; 16]>,
}

impl List {
    pub fn new(parameters: &[Passed], places: &[Place], immediates: &[u8]) -> List {
        let mut list = List {
            words: SmallVec::new(),
            starts: SmallVec::new(),
        };
        for parameter in parameters {
            match *parameter {
                Passed::Address(binding) => list.push(&places[binding].address.to_le_bytes()),
                Passed::Size(binding) => list.push(&places[binding].size.to_le_bytes()),
                Passed::Immediates => list.push(immediates),
            }
        }
        list
    }

    fn push(&mut self, value: &[u8]) {
        let start = self.words.len();
        self.starts.push(start);
        self.words
            .resize(start + value.len().div_ceil(16).max(1) * 2, 0);
        put(&mut self.words, start * 8, value);
    }
}

fn put(words: &mut [u64], at: usize, bytes: &[u8]) {
    let room = words.len() * 8;
    // SAFETY: a u64 may be written byte by byte; every byte pattern is a value of it.
    let block = unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast::<u8>(), room) };
    block[at..][..bytes.len()].copy_from_slice(bytes);
}
