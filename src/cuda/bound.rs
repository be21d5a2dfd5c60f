//! The memory behind a dispatch's bindings: locks of resident buffers, device copies of borrowed bytes.

use std::sync::Arc;
use std::time::Duration;

use smallvec::SmallVec;

use super::buffer::CudaBuffer;
use super::context::Entered;
use super::device::Device;
use super::memory::Transient;
use super::memory::copy;
use crate::backend::{Binding, BindingSource, Dispatch, Guards, Use};
use crate::error::{Error, Result, Status};
use crate::plan::Planned;
use crate::program::{Access, BindingInfo};

/// One binding as a kernel sees it.
#[derive(Clone, Copy)]
pub struct Place {
    pub address: u64,
    pub size: u64,
}

/// A borrowed binding's copy.
struct Lent<'d> {
    dispatch: usize,
    /// Index into the dispatch's bindings.
    binding: usize,
    memory: Transient<'d>,
    size: u64,
    written: bool,
}

/// Addresses of one dispatch's bindings after the other's, in the order of the program's, and copies of what they
/// borrow.
#[derive(Default)]
pub struct Bound<'d> {
    pub places: SmallVec<[Place; 8]>,
    lent: SmallVec<[Lent<'d>; 2]>,
}

impl<'d> Bound<'d> {
    /// Goes on to the bindings of the dispatch with this index.
    pub fn bind(
        &mut self,
        device: &'d Device,
        entered: &'d Entered<'d>,
        infos: &[BindingInfo],
        planned: &[Planned],
        (dispatch, bindings): (usize, &[Binding<'_>]),
    ) -> Result<()> {
        self.places.clear();
        for (plan, info) in planned.iter().zip(infos) {
            let address = match &bindings[plan.binding].source {
                BindingSource::Buffer { buffer, .. } => {
                    buffer.native_pointer().wrapping_add(plan.offset)
                }
                BindingSource::Host { input, .. } => {
                    let memory = device.transient.take(device, entered, plan.size)?;
                    let address = memory.address();
                    match input {
                        Some(input) => copy::to_device(device, entered, address, *input)?,
                        None => copy::zero(device, entered, address, plan.size)?,
                    }
                    self.lent.push(Lent {
                        dispatch,
                        binding: plan.binding,
                        memory,
                        size: plan.size,
                        written: info.access == Access::ReadWrite,
                    });
                    address
                }
            };
            self.places.push(Place {
                address,
                size: plan.size,
            });
        }
        Ok(())
    }

    /// Gives borrowed read-write bindings their results.
    pub fn copy_out(
        &mut self,
        device: &Device,
        entered: &Entered<'_>,
        dispatches: &mut [Dispatch<'_>],
    ) -> Result<()> {
        for lent in &self.lent {
            let bindings = &mut dispatches[lent.dispatch].bindings;
            if let BindingSource::Host {
                output: Some(output),
                ..
            } = &mut bindings[lent.binding].source
                && lent.written
            {
                debug_assert_eq!(output.len() as u64, lent.size);
                copy::to_host(device, entered, output, lent.memory.address())?;
            }
        }
        Ok(())
    }

    /// The kernel may still be writing: the copies are not given back.
    pub fn leak(self) {
        for lent in self.lent {
            lent.memory.leak();
        }
    }
}

/// Locks every buffer that dispatches use, in the order of their ids: one that is written, exclusively.
pub fn lock<'b>(
    device: &Arc<Device>,
    uses: impl Iterator<Item = (&'b Binding<'b>, &'b BindingInfo)>,
    wait: Duration,
) -> Result<Guards> {
    let mut users: SmallVec<[Use<'_>; 8]> = SmallVec::new();
    for (binding, info) in uses {
        if let BindingSource::Buffer { buffer, .. } = &binding.source {
            let buffer = own(device, &**buffer, &info.name)?;
            users.push(Use {
                lock: buffer.lock(),
                written: info.access == Access::ReadWrite,
            });
        }
    }
    crate::backend::lock(users, wait)
}

/// The buffer as one of this backend.
fn own<'b>(
    device: &Arc<Device>,
    buffer: &'b dyn crate::backend::Buffer,
    name: &str,
) -> Result<&'b CudaBuffer> {
    buffer
        .as_any()
        .downcast_ref::<CudaBuffer>()
        .filter(|buffer| Arc::ptr_eq(buffer.device(), device))
        .ok_or_else(|| {
            Error::new(
                Status::InvalidHandle,
                format!("binding `{name}`: its buffer belongs to another backend than the program"),
            )
            .with_fix("Create the buffer on the backend that the program was loaded on.")
        })
}
