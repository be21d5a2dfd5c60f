//! Allocations on the device.

use std::sync::Arc;

use crate::cuda::context::Entered;
use crate::cuda::device::Device;
use crate::cuda::driver::code;
use crate::error::{Error, Result, Status};

pub struct DeviceMemory {
    device: Arc<Device>,
    address: u64,
    size: u64,
    owned: bool,
}

impl DeviceMemory {
    /// Bytes of undefined content.
    pub fn allocate(
        device: &Arc<Device>,
        entered: &Entered<'_>,
        size: u64,
    ) -> Result<DeviceMemory> {
        Ok(DeviceMemory {
            device: Arc::clone(device),
            address: allocate(device, entered, size)?,
            size,
            owned: true,
        })
    }

    /// Memory of somebody else's, which is not freed.
    pub fn borrowed(device: &Arc<Device>, address: u64, size: u64) -> DeviceMemory {
        DeviceMemory {
            device: Arc::clone(device),
            address,
            size,
            owned: false,
        }
    }

    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    pub fn address(&self) -> u64 {
        self.address
    }

    pub fn size(&self) -> u64 {
        self.size
    }
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        if self.owned
            && let Some(entered) = self.device.context.enter_to_release()
        {
            self.device.memory.free(&entered, self.address);
        }
    }
}

/// The address of `size` new bytes. When there is no room, what pools keep is given back and it is tried
/// once more.
pub fn allocate(device: &Device, entered: &Entered<'_>, size: u64) -> Result<u64> {
    if size > device.capabilities.memory {
        return Err(out_of_memory(device, entered, size));
    }
    let allocated = match device.memory.allocate(entered, size) {
        Err(code::OUT_OF_MEMORY) => {
            device.trim();
            device.memory.allocate(entered, size)
        }
        allocated => allocated,
    };
    allocated.map_err(|code| match code {
        code::OUT_OF_MEMORY => out_of_memory(device, entered, size),
        code => device.context.error(code, "allocating device memory"),
    })
}

fn out_of_memory(device: &Device, entered: &Entered<'_>, size: u64) -> Error {
    let (mut free, mut total) = (0, 0);
    // SAFETY: the places are valid for writes; the context is current.
    let code = unsafe { (entered.api().mem_get_info)(&mut free, &mut total) };
    let room = match code {
        code::SUCCESS => format!("{free} of {total} are free"),
        _ => "how many are free is not known".to_owned(),
    };
    Error::new(
        Status::OutOfDeviceMemory,
        format!(
            "{size} bytes were asked for on {}, but {room}",
            device.capabilities.name
        ),
    )
    .with_native_code(code::OUT_OF_MEMORY)
}
