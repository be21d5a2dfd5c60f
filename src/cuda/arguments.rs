//! What a kernel is launched with.

use std::ffi::c_void;

use smallvec::SmallVec;

use super::bound::Place;
use super::compiled::{Compiled, Origin};
use super::emitted::Emitted;
use super::ptx::abi::{ControlHead, Shape};
use super::raw::Passed;
use super::slot::Slot;

pub enum Arguments<'c> {
    /// Of a kernel that we emitted.
    Block(Block<'c>),
    /// Of a kernel of the caller's.
    List(List<'c>),
}

impl<'c> Arguments<'c> {
    /// Room for what any dispatch of the program passes.
    pub fn of(compiled: &'c Compiled) -> Arguments<'c> {
        match &compiled.origin {
            Origin::Emitted(emitted, _) => Arguments::Block(Block::of(emitted)),
            Origin::Raw(raw) => Arguments::List(List {
                parameters: &raw.parameters,
                words: SmallVec::new(),
                starts: SmallVec::new(),
            }),
        }
    }

    /// What a dispatch passes.
    pub fn set(&mut self, workgroups: [u32; 3], places: &[Place], immediates: &[u8]) {
        match self {
            Arguments::Block(block) => block.set(workgroups, places, immediates),
            Arguments::List(list) => list.set(places, immediates),
        }
    }

    /// The launch's slot, how its workgroups meet, nanoseconds that a wait may take, and whether nobody looks for the
    /// launch's end, for kernels that know of slots.
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
pub struct Block<'c> {
    emitted: &'c Emitted,
    // u64s, because the block's words are up to that wide.
    words: SmallVec<[u64; 32]>,
}

impl<'c> Block<'c> {
    pub fn of(emitted: &'c Emitted) -> Block<'c> {
        let size = emitted.ptx.parameters.size as usize;
        Block {
            emitted,
            words: SmallVec::from_elem(0, size.div_ceil(8)),
        }
    }

    pub fn set(&mut self, workgroups: [u32; 3], places: &[Place], immediates: &[u8]) {
        let layout = &self.emitted.ptx.parameters;
        let mut grid = [0; 12];
        for (to, n) in grid.chunks_exact_mut(4).zip(workgroups) {
            to.copy_from_slice(&n.to_le_bytes());
        }
        self.put(layout.workgroups, &grid);
        if !immediates.is_empty() {
            self.put(layout.immediates, immediates);
        }
        let declared = layout.buffers.iter().zip(&self.emitted.buffers);
        for ((at, declared), place) in declared.zip(places) {
            let length = declared.array_length(place.size);
            self.put(at.base, &place.address.to_le_bytes());
            self.put(at.length, &length.to_le_bytes());
        }
    }

    fn set_slot(&mut self, slot: &Slot, shape: Shape, limit: u64, quiet: bool) {
        let Some(at) = self.emitted.ptx.parameters.control else {
            return;
        };
        let head = ControlHead {
            slot: slot.address,
            record: slot.record_address,
            limit,
            base: slot.before.base,
            exit_base: slot.before.exit_base,
            sequence: slot.sequence,
            quiet: u32::from(quiet),
            shape: shape as u32,
            releases: slot.before.releases,
        };
        self.put(at.slot, head.bytes());
        if shape == Shape::Counter {
            return;
        }
        for (group, arrivals) in (0..).zip(slot.before.arrivals) {
            self.put(at.arrivals + 4 * group, &arrivals.to_le_bytes());
        }
    }

    fn put(&mut self, at: u32, bytes: &[u8]) {
        put(&mut self.words, at as usize, bytes);
    }
}

/// The parameters of a kernel of the caller's, each at a multiple of 16 bytes, which suits any type.
pub struct List<'c> {
    parameters: &'c [Passed],
    words: SmallVec<[u64; 32]>,
    /// Where each value starts, in words.
    starts: SmallVec<[usize; 16]>,
}

impl List<'_> {
    fn set(&mut self, places: &[Place], immediates: &[u8]) {
        self.words.clear();
        self.starts.clear();
        for parameter in self.parameters {
            match *parameter {
                Passed::Address(binding) => self.push(&places[binding].address.to_le_bytes()),
                Passed::Size(binding) => self.push(&places[binding].size.to_le_bytes()),
                Passed::Immediates => self.push(immediates),
            }
        }
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
