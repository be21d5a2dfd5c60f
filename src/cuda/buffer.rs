//! Buffers of a CUDA backend.

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use super::context::Entered;
use super::device::Device;
use super::driver::code;
use super::driver::sys::CUpointer_attribute as PointerAttribute;
use super::memory::{DeviceMemory, copy};
use crate::backend::{
    Buffer, HostIn, HostOut, Lock, check_import, check_range, check_size, check_words,
    foreign_source,
};
use crate::error::{Error, Result, Status};

pub struct CudaBuffer {
    memory: DeviceMemory,
    lock: Lock,
}

impl CudaBuffer {
    pub fn create(device: &Arc<Device>, size: u64) -> Result<CudaBuffer> {
        check_size(size)?;
        let entered = device.enter()?;
        let memory = DeviceMemory::allocate(device, &entered, size)?;
        copy::zero(device, &entered, memory.address(), size)?;
        Ok(CudaBuffer::new(memory))
    }

    /// # Safety
    /// `pointer` is valid for `size` bytes of the device's memory for the buffer's life.
    pub unsafe fn import(device: &Arc<Device>, pointer: u64, size: u64) -> Result<CudaBuffer> {
        check_import(pointer, size)?;
        let entered = device.enter()?;
        check_device_memory(device, &entered, pointer, size)?;
        Ok(CudaBuffer::new(DeviceMemory::borrowed(
            device, pointer, size,
        )))
    }

    fn new(memory: DeviceMemory) -> CudaBuffer {
        let counters = &memory.device().counters;
        counters.buffers.fetch_add(1, Relaxed);
        counters.buffer_bytes.fetch_add(memory.size(), Relaxed);
        CudaBuffer {
            memory,
            lock: Lock::default(),
        }
    }

    pub fn lock(&self) -> &Lock {
        &self.lock
    }

    pub fn device(&self) -> &Arc<Device> {
        self.memory.device()
    }

    fn range(&self, what: &str, offset: u64, size: u64) -> Result<u64> {
        check_range(what, self.memory.size(), offset, size)?;
        Ok(self.memory.address() + offset)
    }
}

/// An import of memory that is not the device's would fail much later, and far from its cause.
fn check_device_memory(
    device: &Device,
    entered: &Entered<'_>,
    pointer: u64,
    size: u64,
) -> Result<()> {
    let refuse = |what: String| Err(Error::new(Status::InvalidArgument, what));
    let mut kind = 0u32;
    let attribute = PointerAttribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE as i32;
    // SAFETY: the attribute is a u32, which the place is.
    let code = unsafe {
        (entered.api().pointer_get_attribute)((&raw mut kind).cast(), attribute, pointer)
    };
    if code == code::INVALID_VALUE {
        return refuse(format!(
            "cannot import {size} bytes at address {pointer:#x}: the CUDA driver does not know this address"
        ));
    }
    entered.check(code, "cuPointerGetAttribute")?;
    let (mut base, mut held) = (0, 0);
    // SAFETY: the places are valid for writes.
    let code = unsafe { (entered.api().mem_get_address_range)(&mut base, &mut held, pointer) };
    entered.check(code, "cuMemGetAddressRange")?;
    let end = base.saturating_add(held as u64);
    if pointer.saturating_add(size) > end {
        return refuse(format!(
            "cannot import {size} bytes at address {pointer:#x}: the allocation there, on {}, ends after {}",
            device.capabilities.name,
            end.saturating_sub(pointer)
        ));
    }
    Ok(())
}

impl Buffer for CudaBuffer {
    fn size(&self) -> u64 {
        self.memory.size()
    }

    fn write(&self, offset: u64, data: HostIn<'_>) -> Result<()> {
        let target = self.range("write", offset, data.len() as u64)?;
        let _guard = self.lock.write()?;
        let entered = self.device().enter()?;
        copy::to_device(self.device(), &entered, target, data)
    }

    fn read(&self, offset: u64, mut data: HostOut<'_>) -> Result<()> {
        let source = self.range("read", offset, data.len() as u64)?;
        let _guard = self.lock.read()?;
        let entered = self.device().enter()?;
        copy::to_host(self.device(), &entered, &mut data, source)
    }

    fn fill(&self, offset: u64, size: u64, pattern: u32) -> Result<()> {
        let target = self.range("fill", offset, size)?;
        check_words(offset, size)?;
        let _guard = self.lock.write()?;
        let entered = self.device().enter()?;
        copy::fill(self.device(), &entered, target, size, pattern)
    }

    fn copy_from(
        &self,
        offset: u64,
        source: &dyn Buffer,
        source_offset: u64,
        size: u64,
    ) -> Result<()> {
        let device = self.device();
        let source = source
            .as_any()
            .downcast_ref::<CudaBuffer>()
            .filter(|source| Arc::ptr_eq(source.device(), device))
            .ok_or_else(foreign_source)?;
        let to = self.range("copy: destination", offset, size)?;
        let from = source.range("copy: source", source_offset, size)?;
        let _guards = self.lock.write_and_read(&source.lock)?;
        let entered = device.enter()?;
        if to.abs_diff(from) >= size {
            return copy::on_device(device, &entered, to, from, size);
        }
        let temporary = device.transient.take(device, &entered, size)?;
        copy::on_device(device, &entered, temporary.address(), from, size)?;
        copy::on_device(device, &entered, to, temporary.address(), size)
    }

    fn native_pointer(&self) -> u64 {
        self.memory.address()
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

impl Drop for CudaBuffer {
    fn drop(&mut self) {
        let counters = &self.memory.device().counters;
        counters.buffers.fetch_sub(1, Relaxed);
        counters.buffer_bytes.fetch_sub(self.memory.size(), Relaxed);
    }
}
