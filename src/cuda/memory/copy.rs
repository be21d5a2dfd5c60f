//! Copies between the host and the device; over when the call returns.

use std::time::{Duration, Instant};

use super::staged::{self, Copy, Way};
use crate::backend::{HostIn, HostOut};
use crate::cuda::context::Entered;
use crate::cuda::device::Device;
use crate::cuda::driver::code;
use crate::cuda::driver::sys::{
    CUmemorytype as MemoryType, CUpointer_attribute as PointerAttribute,
};
use crate::cuda::stream::StreamHandle;
use crate::cuda::wait;
use crate::error::{Error, Result, Status};

/// How long a copy may take, however slow the machine: so long and a second for each 100 MB.
const PATIENCE: Duration = Duration::from_secs(60);
const SLOWEST: u64 = 100_000_000;

pub fn to_device(
    device: &Device,
    entered: &Entered<'_>,
    address: u64,
    data: HostIn<'_>,
) -> Result<()> {
    let size = data.len();
    let host = data.as_ptr();
    if !staged(
        device,
        entered,
        Way::ToDevice,
        host.cast_mut(),
        address,
        size,
    )? {
        enqueue(device, entered, size as u64, |stream| {
            let copy = entered.api().memcpy_htod_async;
            // SAFETY: the caller has checked the range on the device, and the host's is lent to us until this is over.
            let code = unsafe { copy(address, host.cast(), size, stream.raw()) };
            entered.check(code, "cuMemcpyHtoDAsync")
        })?;
    }
    device.counters.count_in(size as u64);
    Ok(())
}

pub fn to_host(
    device: &Device,
    entered: &Entered<'_>,
    data: &mut HostOut<'_>,
    address: u64,
) -> Result<()> {
    let size = data.len();
    let host = data.as_mut_ptr();
    if !staged(device, entered, Way::ToHost, host, address, size)? {
        enqueue(device, entered, size as u64, |stream| {
            let copy = entered.api().memcpy_dtoh_async;
            // SAFETY: as above, the other way round.
            let code = unsafe { copy(host.cast(), address, size, stream.raw()) };
            entered.check(code, "cuMemcpyDtoHAsync")
        })?;
    }
    device.counters.count_out(size as u64);
    Ok(())
}

/// Whether a copy goes through chunks of ours: it is long, and the driver does not know the memory.
fn is_staged(entered: &Entered<'_>, host: *const u8, size: usize) -> bool {
    size >= staged::FROM
        && !(is_pinned(entered, host) && is_pinned(entered, host.wrapping_add(size - 1)))
}

fn is_pinned(entered: &Entered<'_>, host: *const u8) -> bool {
    let mut kind = 0u32;
    let attribute = PointerAttribute::CU_POINTER_ATTRIBUTE_MEMORY_TYPE as i32;
    // SAFETY: the attribute is a u32, which the place is. The driver only looks the address up.
    let code = unsafe {
        (entered.api().pointer_get_attribute)((&raw mut kind).cast(), attribute, host as u64)
    };
    code == code::SUCCESS && kind == MemoryType::CU_MEMORYTYPE_HOST as u32
}

/// Copies through chunks of ours if that is worth it and possible, and says whether it did.
fn staged(
    device: &Device,
    entered: &Entered<'_>,
    way: Way,
    host: *mut u8,
    address: u64,
    size: usize,
) -> Result<bool> {
    if !is_staged(entered, host, size) {
        return Ok(false);
    }
    let copy = Copy {
        way,
        host,
        address,
        size,
        deadline: Instant::now() + limit(size as u64),
    };
    staged::run(device, &copy)
}

fn limit(size: u64) -> Duration {
    PATIENCE + Duration::from_secs(size / SLOWEST)
}

pub fn on_device(
    device: &Device,
    entered: &Entered<'_>,
    to: u64,
    from: u64,
    size: u64,
) -> Result<()> {
    enqueue(device, entered, size, |stream| {
        let copy = entered.api().memcpy_dtod_async;
        // SAFETY: the caller has checked both ranges, and they don't overlap.
        let code = unsafe { copy(to, from, size as usize, stream.raw()) };
        entered.check(code, "cuMemcpyDtoDAsync")
    })
}

pub fn zero(device: &Device, entered: &Entered<'_>, address: u64, size: u64) -> Result<()> {
    enqueue(device, entered, size, |stream| {
        let fill = entered.api().memset_d8_async;
        // SAFETY: the caller has checked the range.
        let code = unsafe { fill(address, 0, size as usize, stream.raw()) };
        entered.check(code, "cuMemsetD8Async")
    })
}

/// `size` and `address` are multiples of 4.
pub fn fill(
    device: &Device,
    entered: &Entered<'_>,
    address: u64,
    size: u64,
    pattern: u32,
) -> Result<()> {
    enqueue(device, entered, size, |stream| {
        let fill = entered.api().memset_d32_async;
        // SAFETY: the caller has checked the range.
        let code = unsafe { fill(address, pattern, (size / 4) as usize, stream.raw()) };
        entered.check(code, "cuMemsetD32Async")
    })
}

/// Puts work on a stream and waits for it.
fn enqueue(
    device: &Device,
    entered: &Entered<'_>,
    size: u64,
    work: impl FnOnce(StreamHandle) -> Result<()>,
) -> Result<()> {
    if size == 0 {
        return Ok(());
    }
    let stream = device.streams.take(entered)?;
    work(*stream)?;
    let limit = limit(size);
    if wait::stream(entered, *stream, Some(Instant::now() + limit))? {
        return Ok(());
    }
    // The device may still be at it; nothing that it uses may be reused.
    device.context.lose(crate::cuda::context::HUNG);
    Err(Error::new(
        Status::DeviceLost,
        format!(
            "a copy of {size} bytes did not end within {} s; the backend is lost",
            limit.as_secs()
        ),
    ))
}
