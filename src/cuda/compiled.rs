//! A program ready to launch: its kernel in the device's memory, and what a dispatch has to know about it.

use std::sync::Arc;

use super::capabilities::Capabilities;
use super::context::Entered;
use super::device::Device;
use super::disk_cache::{self, Key};
use super::emitted::{Emitted, Source};
use super::module::{Function, Module};
use super::raw::{Counter, Raw};
use crate::backend::{ProgramDesc, Retained};
use crate::error::Result;
use crate::program::{Limits, Reflection};

pub struct Compiled {
    pub reflection: Reflection,
    pub function: Function,
    /// Workgroups that the device holds at once.
    pub at_once: u64,
    pub origin: Origin,
}

/// Where the kernel came from, which decides how it is called and how its barriers are audited.
pub enum Origin {
    Emitted(Box<Emitted>, Source),
    Raw(Raw),
}

impl Compiled {
    /// Compiles WGSL, or takes what was compiled before from the cache on disk.
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
        let ptx = &emitted.ptx;
        let module = Module::load(device, entered, ptx.text.as_bytes())?;
        let function = module.function(entered, &ptx.kernel)?;
        let dynamic = ptx.shared.dynamic as u32;
        if dynamic > 0 {
            function.allow_dynamic_shared(entered, dynamic)?;
        }
        let threads = emitted.reflection.workgroup_size.iter().product();
        let blocks = function.occupancy(entered, threads, dynamic)?;
        let at_once = u64::from(blocks) * u64::from(device.capabilities.multiprocessors);
        Ok(Compiled {
            reflection: Reflection {
                label: desc.label.map(str::to_owned),
                max_cooperative_workgroups: at_once,
                ..emitted.reflection.clone()
            },
            function,
            at_once,
            origin: Origin::Emitted(Box::new(emitted), Source::of(desc)),
        })
    }

    pub fn text(&self) -> &str {
        match &self.origin {
            Origin::Emitted(emitted, _) => &emitted.ptx.text,
            Origin::Raw(raw) => &raw.text,
        }
    }

    /// The counter of a module under the module-scope contract.
    pub fn counter(&self) -> Option<&Counter> {
        match &self.origin {
            Origin::Emitted(..) => None,
            Origin::Raw(raw) => raw.counter.as_ref(),
        }
    }

    /// Whether each launch takes a slot: for its barriers and polls, or for the place that a counter of the
    /// module's own is read back to.
    pub fn needs_slot(&self) -> bool {
        match &self.origin {
            Origin::Emitted(emitted, _) => emitted.ptx.parameters.control.is_some(),
            Origin::Raw(raw) => raw.counter.is_some(),
        }
    }

    /// Whether the kernel itself writes a record at its end.
    pub fn writes_records(&self) -> bool {
        matches!(self.origin, Origin::Emitted(..)) && self.reflection.grid_barriers > 0
    }

    /// Bytes of shared memory to ask for at the launch.
    pub fn dynamic(&self) -> u32 {
        match &self.origin {
            Origin::Emitted(emitted, _) => emitted.ptx.shared.dynamic as u32,
            Origin::Raw(raw) => raw.dynamic,
        }
    }

    /// Which resource keeps more workgroups from being resident.
    pub fn limited_by(&self, device: &Capabilities) -> String {
        let [x, y, z] = self.reflection.workgroup_size;
        let threads = (x * y * z).next_multiple_of(device.warp.max(1));
        let resources = &self.function.resources;
        let shared = resources.shared + self.dynamic();
        // Registers are handed out to warps in units, so this is a little high; it tells which is least.
        let registers = resources.registers.max(1) * threads;
        let limits = [
            (
                device.threads / threads.max(1),
                format!("{threads} threads"),
            ),
            (
                device.registers / registers,
                format!("{registers} registers"),
            ),
            (
                device
                    .shared_per_multiprocessor
                    .checked_div(shared)
                    .unwrap_or(u32::MAX),
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
        // The kernel's code takes about as much as its text, and so does what it was emitted from.
        3 * self.text().len() as u64
    }
}
