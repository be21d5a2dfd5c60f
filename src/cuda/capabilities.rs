//! What a device can do, asked once.

use std::ffi::c_char;

use super::driver::Driver;
use super::driver::sys::{CUdevice, CUdevice_attribute as Attribute};
use crate::error::{Error, Result, Status};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    pub name: String,
    /// Major and minor.
    pub compute_capability: (u32, u32),
    pub multiprocessors: u32,
    /// Bytes of memory.
    pub memory: u64,
    pub max_block: [u32; 3],
    pub max_block_threads: u32,
    pub max_grid: [u32; 3],
    /// Bytes of shared memory that a block may have when asked for at the launch.
    pub shared_memory: u32,
    /// Of one multiprocessor.
    pub threads: u32,
    pub registers: u32,
    pub shared_per_multiprocessor: u32,
    pub warp: u32,
    /// Whether all blocks of a grid can be launched together.
    pub cooperative_launch: bool,
    /// Whether memory can be had from pools.
    pub memory_pools: bool,
}

impl Capabilities {
    pub fn of(driver: &'static Driver, device: CUdevice) -> Result<Capabilities> {
        let get = |attribute: Attribute| -> Result<u32> {
            let mut value = 0;
            // SAFETY: the place is valid for a write; the device came from the driver.
            let code =
                unsafe { (driver.api.device_get_attribute)(&mut value, attribute as i32, device) };
            driver.check(code, "cuDeviceGetAttribute")?;
            Ok(u32::try_from(value).unwrap_or(0))
        };
        let mut memory = 0;
        // SAFETY: as above.
        let code = unsafe { (driver.api.device_total_mem)(&mut memory, device) };
        driver.check(code, "cuDeviceTotalMem")?;
        use Attribute::*;
        Ok(Capabilities {
            name: name(driver, device)?,
            compute_capability: (
                get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
                get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
            ),
            multiprocessors: get(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            memory: memory as u64,
            max_block: [
                get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X)?,
                get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y)?,
                get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)?,
            ],
            max_block_threads: get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            max_grid: [
                get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X)?,
                get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y)?,
                get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z)?,
            ],
            shared_memory: get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
            threads: get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR)?,
            registers: get(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR)?,
            shared_per_multiprocessor: get(
                CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
            )?,
            warp: get(CU_DEVICE_ATTRIBUTE_WARP_SIZE)?,
            cooperative_launch: get(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH)? != 0,
            // An old driver does not know the question.
            memory_pools: get(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED).unwrap_or(0) != 0,
        })
    }

    /// Whether the device launches grids that meet.
    pub fn check_cooperative(&self, entry_point: &str) -> Result<()> {
        if self.cooperative_launch {
            return Ok(());
        }
        let (major, minor) = self.compute_capability;
        Err(Error::new(
            Status::Unsupported,
            format!(
                "`{entry_point}` needs a cooperative launch, but {} (compute capability {major}.{minor}) does not report CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH",
                self.name
            ),
        )
        .with_fix("Use a device that reports it (compute capability 6.0 or newer, not under an old WDDM driver), or acquire VYRE_BACKEND_CPU."))
    }

    /// Compute capability times ten.
    pub fn sm(&self) -> u32 {
        self.compute_capability.0 * 10 + self.compute_capability.1
    }
}

fn name(driver: &'static Driver, device: CUdevice) -> Result<String> {
    let mut text = [0 as c_char; 256];
    // SAFETY: the text has the room that is told; the driver ends it with a NUL.
    let code =
        unsafe { (driver.api.device_get_name)(text.as_mut_ptr(), text.len() as i32 - 1, device) };
    driver.check(code, "cuDeviceGetName")?;
    let bytes: Vec<u8> = (text.iter())
        .take_while(|&&c| c != 0)
        .map(|&c| c as u8)
        .collect();
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_that_cannot_launch_cooperatively_is_refused_by_capability_and_attribute() {
        let mut device = Capabilities {
            name: "Old".into(),
            compute_capability: (5, 2),
            multiprocessors: 8,
            memory: 1 << 30,
            max_block: [1024, 1024, 64],
            max_block_threads: 1024,
            max_grid: [i32::MAX as u32, 65535, 65535],
            shared_memory: 48 << 10,
            threads: 2048,
            registers: 65536,
            shared_per_multiprocessor: 96 << 10,
            warp: 32,
            cooperative_launch: true,
            memory_pools: false,
        };
        assert!(device.check_cooperative("main").is_ok());
        device.cooperative_launch = false;
        let error = device.check_cooperative("main").unwrap_err();
        assert_eq!(error.status(), Status::Unsupported);
        for part in ["`main`", "Old", "5.2", "COOPERATIVE_LAUNCH"] {
            assert!(error.message().contains(part), "{error}");
        }
    }
}
