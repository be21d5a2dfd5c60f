//! Where a dispatch finds the bytes of a binding.

use std::ffi::c_void;
use std::sync::Arc;

use super::args::{host_in, host_out, invalid};
use super::handle::{BUFFERS, Element, vyre_buffer};
use crate::backend::{Backend, Binding, BindingSource};
use crate::error::{Error, Result, Status};

/// A range of a buffer, or host bytes lent for the call. The structure is frozen: it has no struct_size.
///
/// Bindings of one dispatch may share memory only if the program writes none of it.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct vyre_binding {
    /// WGSL's group number.
    pub group: u32,
    /// WGSL's binding number.
    pub binding: u32,
    /// A buffer of the program's backend; {0}: host bytes are lent.
    pub buffer: vyre_buffer,
    /// Where the range starts in the buffer, in bytes; a multiple of 16. 0 for host bytes.
    pub offset: u64,
    /// Bytes of the range, or of the host bytes. 0 for a buffer: to its end.
    pub size: u64,
    /// Host bytes that the program finds; required for read-only and uniform bindings, NULL: zeros for
    /// read-write ones. NULL with a buffer.
    pub host_in: *const c_void,
    /// Where what the program wrote goes, if the dispatch succeeds; required for read-write bindings, NULL for
    /// others. May equal host_in. NULL with a buffer.
    pub host_out: *mut c_void,
}

impl vyre_binding {
    /// # Safety
    /// The host pointers are null or valid during `'a`, as the fields' comments say.
    pub(super) unsafe fn parse<'a>(
        &self,
        array: &'static str,
        index: usize,
        backend: &Arc<dyn Backend>,
    ) -> Result<Binding<'a>> {
        let source = if self.buffer.id != 0 {
            self.resident(array, index, backend)?
        } else {
            // SAFETY: the caller's promise.
            unsafe { self.host(array, index) }?
        };
        Ok(Binding {
            group: self.group,
            binding: self.binding,
            source,
        })
    }

    fn resident<'a>(
        &self,
        array: &'static str,
        index: usize,
        backend: &Arc<dyn Backend>,
    ) -> Result<BindingSource<'a>> {
        if !self.host_in.is_null() || !self.host_out.is_null() {
            return Err(invalid(format!(
                "{array}[{index}] names a buffer and host bytes: one was expected"
            ))
            .with_fix("Set host_in and host_out to NULL, or buffer to {0}."));
        }
        let what = Element {
            array,
            index,
            field: ".buffer",
        };
        let (buffer, ours) = BUFFERS.with(self.buffer.id, &what, |entry| {
            (entry.buffer.clone(), Arc::ptr_eq(&entry.backend, backend))
        })?;
        if !ours {
            return Err(Error::new(
                Status::InvalidHandle,
                format!("{array}[{index}].buffer belongs to another backend than the program"),
            )
            .with_fix("Bind buffers of the backend that the program was loaded on."));
        }
        Ok(BindingSource::Buffer {
            buffer,
            offset: self.offset,
            size: self.size,
        })
    }

    /// # Safety
    /// As [`Self::parse`].
    unsafe fn host<'a>(&self, array: &'static str, index: usize) -> Result<BindingSource<'a>> {
        let element = |field| Element {
            array,
            index,
            field,
        };
        if self.host_in.is_null() && self.host_out.is_null() {
            return Err(invalid(format!(
                "{array}[{index}].buffer is null and so are host_in and host_out: there is nothing to bind"
            ))
            .with_fix("Name a buffer, or lend host bytes through host_in and host_out."));
        }
        if self.offset != 0 {
            return Err(invalid(format!(
                "{array}[{index}].offset is {} but host bytes have none: 0 was expected",
                self.offset
            ))
            .with_fix("Add the offset to host_in and host_out."));
        }
        let size_name = "its size";
        let input = match self.host_in.is_null() {
            true => None,
            // SAFETY: the caller's promise.
            false => {
                Some(unsafe { host_in(self.host_in, self.size, &element(".host_in"), size_name) }?)
            }
        };
        let output = match self.host_out.is_null() {
            true => None,
            // SAFETY: the caller's promise.
            false => Some(unsafe {
                host_out(self.host_out, self.size, &element(".host_out"), size_name)
            }?),
        };
        Ok(BindingSource::Host {
            input,
            output,
            size: self.size,
        })
    }
}
