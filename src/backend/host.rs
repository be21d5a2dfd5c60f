//! Memory that a caller lends for the length of one call.
//!
//! The caller may lend one range as input and output at once, so these are pointers that are only
//! ever copied from or to, never references.

use std::marker::PhantomData;
use std::ptr::NonNull;

/// Bytes to read.
#[derive(Clone, Copy)]
pub struct HostIn<'a> {
    pointer: NonNull<u8>,
    len: usize,
    lent: PhantomData<&'a u8>,
}

impl<'a> HostIn<'a> {
    /// # Safety
    /// `pointer` is valid for reads of `len` bytes during `'a`.
    pub unsafe fn new(pointer: NonNull<u8>, len: usize) -> HostIn<'a> {
        HostIn {
            pointer,
            len,
            lent: PhantomData,
        }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    pub fn as_ptr(&self) -> *const u8 {
        self.pointer.as_ptr()
    }
}

impl<'a> From<&'a [u8]> for HostIn<'a> {
    fn from(bytes: &'a [u8]) -> HostIn<'a> {
        HostIn {
            pointer: NonNull::from(bytes).cast(),
            len: bytes.len(),
            lent: PhantomData,
        }
    }
}

/// Bytes to write; they may be uninitialised.
pub struct HostOut<'a> {
    pointer: NonNull<u8>,
    len: usize,
    lent: PhantomData<&'a mut u8>,
}

impl<'a> HostOut<'a> {
    /// # Safety
    /// `pointer` is valid for writes of `len` bytes during `'a`.
    pub unsafe fn new(pointer: NonNull<u8>, len: usize) -> HostOut<'a> {
        HostOut {
            pointer,
            len,
            lent: PhantomData,
        }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Where the bytes are; to compare, not to write.
    pub fn address(&self) -> u64 {
        self.pointer.as_ptr() as u64
    }

    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.pointer.as_ptr()
    }
}

impl<'a> From<&'a mut [u8]> for HostOut<'a> {
    fn from(bytes: &'a mut [u8]) -> HostOut<'a> {
        HostOut {
            len: bytes.len(),
            pointer: NonNull::from(bytes).cast(),
            lent: PhantomData,
        }
    }
}

// SAFETY: a HostIn is a shared borrow of plain bytes in all but name.
unsafe impl Send for HostIn<'_> {}
// SAFETY: as above; nothing is written through it.
unsafe impl Sync for HostIn<'_> {}
// SAFETY: a HostOut is an exclusive borrow of plain bytes in all but name.
unsafe impl Send for HostOut<'_> {}
// SAFETY: as above; a shared reference to it writes nothing.
unsafe impl Sync for HostOut<'_> {}
