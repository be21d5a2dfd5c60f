//! What to run.

use std::ffi::c_void;
use std::sync::Arc;
use std::time::Duration;

use super::args::{flags, reserved, slice};
use super::binding::vyre_binding;
use super::entry::entry;
use super::program_desc::room;
use super::sized::{initialise, sized};
use crate::backend::{Backend, Dispatch};
use crate::error::Result;

/// Dispatch flag: launch cooperatively also without a grid barrier.
pub const VYRE_DISPATCH_COOPERATIVE: u64 = 1;

/// A timeout_ns that never passes.
pub const VYRE_TIMEOUT_UNBOUNDED: u64 = 0xFFFF_FFFF_FFFF_FFFF;

/// What to run. Smallest struct_size: 40.
#[derive(Clone, Copy, PartialEq)]
#[repr(C)]
pub struct vyre_dispatch_desc {
    /// sizeof(vyre_dispatch_desc).
    pub struct_size: u32,
    /// The grid, in workgroups; all zero: as many as the backend runs at once.
    pub workgroups: [u32; 3],
    /// VYRE_DISPATCH_COOPERATIVE or 0.
    pub flags: u64,
    /// One for each of the program's bindings, in any order; may be NULL if binding_count is 0.
    pub bindings: *const vyre_binding,
    /// How many.
    pub binding_count: usize,
    /// The program's immediates; may be NULL if immediates_size is 0.
    pub immediates: *const c_void,
    /// Bytes of them; exactly the program's immediates_size.
    pub immediates_size: usize,
    /// Time limit in nanoseconds, all repeats together; 0: the backend's default_timeout_ns;
    /// VYRE_TIMEOUT_UNBOUNDED: none.
    pub timeout_ns: u64,
    /// How often to run, each run seeing what the one before wrote; 0 means 1.
    pub repeat: u32,
    /// 0.
    pub reserved: u32,
}

sized!(vyre_dispatch_desc, min 40, default {
    workgroups: [0; 3],
    flags: 0,
    bindings: std::ptr::null(),
    binding_count: 0,
    immediates: std::ptr::null(),
    immediates_size: 0,
    timeout_ns: 0,
    repeat: 0,
    reserved: 0,
});

/// Fills a description with its defaults, as VYRE_DISPATCH_DESC_INIT does.
///
/// @param desc the description; NULL is ignored
///
/// Any thread may call. Cannot fail.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_dispatch_desc_init(desc: *mut vyre_dispatch_desc) {
    entry!(value: (), {
        // SAFETY: the function's contract: null or valid for writes.
        unsafe { initialise(desc) }
    })
}

/// The C names of what a description holds: it stands alone or in an array.
pub(super) struct Names {
    flags: &'static str,
    reserved: &'static str,
    bindings: &'static str,
    binding_count: &'static str,
    immediates: &'static str,
    immediates_size: &'static str,
}

pub(super) const ALONE: Names = Names {
    flags: "desc->flags",
    reserved: "desc->reserved",
    bindings: "desc->bindings",
    binding_count: "desc->binding_count",
    immediates: "desc->immediates",
    immediates_size: "desc->immediates_size",
};

/// Which element it is, the batch's error says in front.
pub(super) const IN_BATCH: Names = Names {
    flags: "flags",
    reserved: "reserved",
    bindings: "bindings",
    binding_count: "binding_count",
    immediates: "immediates",
    immediates_size: "immediates_size",
};

impl vyre_dispatch_desc {
    /// Checks the fields and borrows what they point to.
    ///
    /// # Safety
    /// The pointers are null or valid during `'a`, as the fields' comments say.
    #[inline]
    pub(super) unsafe fn parse<'a>(
        &self,
        names: &Names,
        backend: &Arc<dyn Backend>,
    ) -> Result<Dispatch<'a>> {
        flags(self.flags, VYRE_DISPATCH_COOPERATIVE, names.flags)?;
        reserved(self.reserved, names.reserved)?;
        let immediates = slice(
            self.immediates.cast::<u8>(),
            self.immediates_size as u64,
            &names.immediates,
            names.immediates_size,
        )?;
        Ok(Dispatch {
            workgroups: self.workgroups,
            // SAFETY: the caller's promise.
            bindings: unsafe { self.bindings(names, backend) }?,
            immediates: match immediates {
                // SAFETY: the caller promises that many bytes; they are only read.
                Some((start, len)) => unsafe { std::slice::from_raw_parts(start.as_ptr(), len) },
                None => &[],
            },
            timeout: match self.timeout_ns {
                0 => None,
                VYRE_TIMEOUT_UNBOUNDED => Some(Duration::MAX),
                limit => Some(Duration::from_nanos(limit)),
            },
            repeat: self.repeat.max(1),
            cooperative: self.flags & VYRE_DISPATCH_COOPERATIVE != 0,
            timed: false,
            times: 1,
        })
    }

    /// # Safety
    /// As [`Self::parse`].
    unsafe fn bindings<'a>(
        &self,
        names: &Names,
        backend: &Arc<dyn Backend>,
    ) -> Result<Vec<crate::backend::Binding<'a>>> {
        let given = slice(
            self.bindings,
            self.binding_count as u64,
            &names.bindings,
            names.binding_count,
        )?;
        let Some((start, count)) = given else {
            return Ok(Vec::new());
        };
        let mut bindings = room(count, names.binding_count)?;
        for index in 0..count {
            // SAFETY: the caller promises `count` of them; C promises no alignment to a wrong pointer.
            let one = unsafe { start.as_ptr().add(index).read_unaligned() };
            // SAFETY: the caller's promise.
            bindings.push(unsafe { one.parse(names.bindings, index, backend) }?);
        }
        Ok(bindings)
    }
}
