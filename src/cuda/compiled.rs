//! A program ready to launch: its kernel in the device's memory, and what a dispatch has to know about it.

use std::sync::Arc;

use super::capabilities::Capabilities;
use super::context::Entered;
use super::device::Device;
use super::disk_cache::{self, Key};
use super::emitted::Emitted;
use super::module::{Function, Module};
use super::ptx::Ptx;
use crate::backend::{ProgramDesc, Retained};
use crate::error::Result;
use crate::ir::{BufferAccess, BufferDecl, BufferSpace};
use crate::program::{Limits, Reflection};

pub struct Compiled {
    pub reflection: Reflection,
    pub buffers: Vec<BufferDecl>,
    pub ptx: Ptx,
    pub function: Function,
    /// Workgroups that the device holds at once.
    pub at_once: u64,
}

impl Compiled {
    pub fn of(
        device: &Arc<Device>,
        entered: &Entered<'_>,
        desc: &ProgramDesc<'_>,
        limits: &Limits,
    ) -> Result<Compiled> {
        let folder = disk_cache::folder_named_by(|name| std::env::var_os(name))?;
        let target = device.target(entered)?;
        let key = Key::of(desc, limits, target);
        let emitted = device
            .disk_cache
            .get_or_make(&folder, &key, &device.counters, || {
                Emitted::of(desc, limits, target)
            })?;
        let Emitted {
            mut reflection,
            buffers,
            ptx,
        } = emitted;
        let module = Module::load(device, entered, ptx.text.as_bytes())?;
        let function = module.function(entered, &ptx.kernel)?;
        let dynamic = ptx.shared.dynamic as u32;
        if dynamic > 0 {
            function.allow_dynamic_shared(entered, dynamic)?;
        }
        let threads = reflection.workgroup_size.iter().product();
        let blocks = function.occupancy(entered, threads, dynamic)?;
        let at_once = u64::from(blocks) * u64::from(device.capabilities.multiprocessors);
        reflection.label = desc.label.map(str::to_owned);
        reflection.max_cooperative_workgroups = at_once;
        Ok(Compiled {
            reflection,
            buffers,
            ptx,
            function,
            at_once,
        })
    }

    pub fn is_written(buffer: &BufferDecl) -> bool {
        buffer.space == BufferSpace::Storage && buffer.access == BufferAccess::ReadWrite
    }

    /// Which resource keeps more workgroups from being resident.
    pub fn limited_by(&self, device: &Capabilities) -> String {
        let [x, y, z] = self.reflection.workgroup_size;
        let threads = (x * y * z).next_multiple_of(device.warp.max(1));
        let resources = &self.function.resources;
        let shared = u64::from(resources.shared) + self.ptx.shared.dynamic;
        // Registers are handed out to warps in units, so this is a little high; it tells which is least.
        let registers = resources.registers.max(1) * threads;
        let limits = [
            (
                u64::from(device.threads / threads.max(1)),
                format!("{threads} threads"),
            ),
            (
                u64::from(device.registers / registers),
                format!("{registers} registers"),
            ),
            (
                u64::from(device.shared_per_multiprocessor)
                    .checked_div(shared)
                    .unwrap_or(u64::MAX),
                format!("{shared} bytes of workgroup memory"),
            ),
        ];
        let (_, what) = (limits.iter().min_by_key(|(blocks, _)| *blocks)).expect("there are three");
        format!(
            "a workgroup takes {what}, so each of the {} multiprocessors holds {}",
            device.multiprocessors,
            self.at_once / u64::from(device.multiprocessors.max(1)),
        )
    }
}

impl Retained for Compiled {
    fn size(&self) -> u64 {
        // The kernel's code takes about as much as its text.
        2 * self.ptx.text.len() as u64
    }
}
