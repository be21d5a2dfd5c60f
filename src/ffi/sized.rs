//! Structures that start with `uint32_t struct_size`, set by the caller to its own sizeof.
//!
//! An older caller's structure is shorter: what it lacks is the default. A newer caller's is longer: it
//! is accepted if everything that this library does not know is zero, and unknown outputs are zeroed.
//! Sizes are multiples of 8 because every structure here ends on one; so no field is ever cut in half.

use std::ptr::NonNull;

use super::args::{invalid, required};
use crate::error::{Error, Result};

/// A structure with a leading `struct_size`.
///
/// # Safety
/// `repr(C)`, no padding, a `u32` size first, any bit pattern is a value, size a multiple of 8.
pub unsafe trait Sized8: Copy {
    const NAME: &'static str;
    /// Bytes that every caller passes: up to the last field without a default.
    const MIN_SIZE: u32;
    /// What `vyre_x_init` gives, `struct_size` included.
    fn initial() -> Self;
}

/// Larger sizes are garbage, not a newer caller.
const MAX_SIZE: u32 = 4096;

/// The size that the caller set.
///
/// # Safety
/// `pointer` is valid for reads of four bytes.
unsafe fn size_of_callers<T: Sized8>(pointer: NonNull<T>, what: &str) -> Result<usize> {
    // SAFETY: the caller's promise.
    let size = unsafe { pointer.cast::<u32>().read_unaligned() };
    let known = size_of::<T>();
    let why = if size < T::MIN_SIZE {
        format!("at least {} were expected", T::MIN_SIZE)
    } else if size > MAX_SIZE {
        format!("at most {MAX_SIZE} were expected")
    } else if !size.is_multiple_of(8) {
        "a multiple of 8 was expected".into()
    } else {
        return Ok(size as usize);
    };
    Err(invalid(format!(
        "{what}->struct_size is {size}; {why} (sizeof({}) is {known} in this library)",
        T::NAME
    ))
    .with_fix(format!(
        "Initialise the structure with {}_init(), or set struct_size to its sizeof.",
        T::NAME
    )))
}

/// Reads a description. Returns it with its size in the caller's memory, which is the stride of an array.
///
/// # Safety
/// `pointer` is null or points to a structure whose first member is its size in bytes.
pub unsafe fn read<T: Sized8>(pointer: *const T, what: &str) -> Result<(T, usize)> {
    let start = required(pointer.cast_mut(), &what)?;
    // SAFETY: the caller's promise: at least the size is there.
    let size = unsafe { size_of_callers(start, what) }?;
    let known = size_of::<T>();
    if size == known {
        // SAFETY: the caller says that its structure has `size` bytes; C promises no alignment.
        return Ok((unsafe { start.as_ptr().read_unaligned() }, size));
    }
    let bytes = start.as_ptr().cast::<u8>().cast_const();
    for i in known..size {
        // SAFETY: i < size, and the caller says that its structure has `size` bytes.
        if unsafe { bytes.add(i).read() } != 0 {
            return Err(unknown_tail::<T>(what, i, size));
        }
    }
    let mut value = T::initial();
    // SAFETY: both have at least that many bytes, they are distinct, and any bytes make a T.
    unsafe {
        std::ptr::copy_nonoverlapping(bytes, (&raw mut value).cast::<u8>(), size.min(known));
    }
    Ok((value, size))
}

fn unknown_tail<T: Sized8>(what: &str, at: usize, size: usize) -> Error {
    invalid(format!(
        "{what}->struct_size is {size}, and byte {at} is not zero: this library knows the first {} bytes of {}",
        size_of::<T>(),
        T::NAME
    ))
    .with_fix("Leave fields that the running library does not know at zero, or install a newer library.")
}

/// A structure of the caller's that gets filled.
pub struct Output<T> {
    start: NonNull<T>,
    size: usize,
}

impl<T: Sized8> Output<T> {
    /// Checks the size and zeroes everything behind it.
    ///
    /// # Safety
    /// `pointer` is null or points to a structure whose first member is its size in bytes, valid for writes
    /// while the result lives.
    pub unsafe fn new(pointer: *mut T, what: &str) -> Result<Output<T>> {
        let start = required(pointer, &what)?;
        // SAFETY: the caller's promise: at least the size is there.
        let size = unsafe { size_of_callers(start, what) }?;
        // SAFETY: MIN_SIZE is above 4, and the caller says that its structure has `size` bytes.
        unsafe { start.as_ptr().cast::<u8>().add(4).write_bytes(0, size - 4) };
        Ok(Output { start, size })
    }

    /// The caller's sizeof, which is the stride of an array.
    pub fn stride(&self) -> usize {
        self.size
    }

    /// Writes what the caller's structure has room for; its `struct_size` stays.
    pub fn set(&mut self, value: &T) {
        let known = size_of::<T>().min(self.size);
        let from = std::ptr::from_ref(value).cast::<u8>();
        let to = self.start.as_ptr().cast::<u8>();
        // SAFETY: both have `known` bytes, and `value` is ours, so they are distinct.
        unsafe { std::ptr::copy_nonoverlapping(from.add(4), to.add(4), known - 4) };
    }
}

/// Declares a structure to be one of these and checks what that takes.
macro_rules! sized {
    ($type:ident, min $min:expr, default { $($field:ident: $value:expr),* $(,)? }) => {
        const _: () = {
            assert!(size_of::<$type>().is_multiple_of(8) && align_of::<$type>() <= 8);
            assert!($min >= 8 && $min <= size_of::<$type>() && ($min as usize).is_multiple_of(8));
            assert!(std::mem::offset_of!($type, struct_size) == 0);
        };
        // SAFETY: repr(C) with explicit padding (a test compares it with C), integers and pointers only.
        unsafe impl $crate::ffi::sized::Sized8 for $type {
            const NAME: &'static str = stringify!($type);
            const MIN_SIZE: u32 = $min as u32;
            fn initial() -> $type {
                $type { struct_size: size_of::<$type>() as u32, $($field: $value),* }
            }
        }
    };
}
pub(super) use sized;

/// Writes a structure's initial value; the body of every `vyre_x_init`.
///
/// It writes the whole structure as this library's header has it. If a structure grows, its init
/// function gets a new symbol behind the same name (a macro), because a caller that was compiled
/// against the shorter one has no room for more.
///
/// # Safety
/// `out` is null or valid for writes.
pub unsafe fn initialise<T: Sized8>(out: *mut T) {
    if !out.is_null() {
        // SAFETY: not null, so valid for writes.
        unsafe { out.write_unaligned(T::initial()) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(C)]
    struct probe {
        struct_size: u32,
        a: u32,
        b: u64,
        c: u64,
    }
    sized!(probe, min 16, default { a: 1, b: 2, c: 3 });

    #[repr(C)]
    struct Longer {
        probe: probe,
        tail: [u8; 16],
    }

    fn longer(size: u32) -> Longer {
        Longer {
            probe: probe {
                struct_size: size,
                a: 10,
                b: 20,
                c: 30,
            },
            tail: [0; 16],
        }
    }

    fn read_one(from: &Longer) -> Result<(probe, usize)> {
        // SAFETY: no size in these tests is above the structure's, apart from ones refused before a read.
        unsafe { read((&raw const *from).cast::<probe>(), "desc") }
    }

    #[test]
    fn shorter_gets_defaults_and_longer_needs_zeros() {
        let (short, stride) = read_one(&longer(16)).unwrap();
        assert_eq!((short.b, short.c, stride), (20, 3, 16));
        assert_eq!(read_one(&longer(24)).unwrap().0.c, 30);
        let mut long = longer(40);
        assert_eq!(read_one(&long).unwrap().0.c, 30);
        long.tail[15] = 1;
        let error = read_one(&long).unwrap_err();
        assert!(error.message().contains("byte 39"), "{error}");
    }

    #[test]
    fn impossible_sizes_are_refused() {
        for size in [0, 4, 8, 15, 17, 20, 4104, u32::MAX] {
            let error = read_one(&longer(size)).unwrap_err();
            assert!(error.message().contains("desc->struct_size"), "{error}");
        }
        // SAFETY: null is allowed.
        let error = unsafe { read(std::ptr::null::<probe>(), "desc") }.unwrap_err();
        assert_eq!(error.message(), "desc is NULL");
    }

    #[test]
    fn outputs_are_zeroed_then_filled_as_far_as_they_go() {
        let value = probe {
            struct_size: 24,
            a: 1,
            b: 2,
            c: 3,
        };
        let mut long = longer(40);
        long.tail = [9; 16];
        // SAFETY: the size is the structure's.
        let mut output = unsafe { Output::new((&raw mut long).cast::<probe>(), "info") }.unwrap();
        assert_eq!(output.stride(), 40);
        output.set(&value);
        assert_eq!(
            long.probe,
            probe {
                struct_size: 40,
                ..value
            }
        );
        assert_eq!(long.tail, [0; 16]);

        let mut short = longer(16);
        // SAFETY: the size is within the structure.
        let mut output = unsafe { Output::new((&raw mut short).cast::<probe>(), "info") }.unwrap();
        output.set(&value);
        assert_eq!(
            short.probe,
            probe {
                struct_size: 16,
                a: 1,
                b: 2,
                c: 30
            }
        );
    }
}
