//! What a loaded program says about itself.

use super::entry::entry;
use super::sized::{initialise, sized};
use crate::program::{Access, BindingInfo, Reflection};

/// One of VYRE_ACCESS_*.
pub type vyre_access = u32;

/// `var<storage, read>`: host_in only.
pub const VYRE_ACCESS_READ: u32 = 1;
/// `var<storage, read_write>`: host_out, and host_in if it should not start as zeros.
pub const VYRE_ACCESS_READ_WRITE: u32 = 2;
/// `var<uniform>`: host_in only.
pub const VYRE_ACCESS_UNIFORM: u32 = 3;

/// A program's interface. Smallest struct_size: 16.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct vyre_program_properties {
    /// sizeof(vyre_program_properties); set by the caller.
    pub struct_size: u32,
    /// Invocations of a workgroup in each dimension, overrides applied.
    pub workgroup_size: [u32; 3],
    /// Bytes of workgroup memory.
    pub workgroup_memory: u64,
    /// Bytes of immediates that a dispatch passes; exactly this many.
    pub immediates_size: u32,
    /// How many bindings a dispatch passes; see vyre_program_binding().
    pub binding_count: u32,
    /// Places where the program calls gridBarrier(), functions inlined; 0: it uses none.
    pub grid_barriers: u32,
    /// Places where it calls workgroupBarrier(), functions inlined.
    pub workgroup_barriers: u32,
    /// Most workgroups of a dispatch if the program uses a grid barrier.
    pub max_cooperative_workgroups: u64,
}

sized!(vyre_program_properties, min 16, default {
    workgroup_size: [0; 3],
    workgroup_memory: 0,
    immediates_size: 0,
    binding_count: 0,
    grid_barriers: 0,
    workgroup_barriers: 0,
    max_cooperative_workgroups: 0,
});

/// Sets struct_size and zeroes the rest, as VYRE_PROGRAM_PROPERTIES_INIT does.
///
/// @param properties the structure; NULL is ignored
///
/// Any thread may call. Cannot fail.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_program_properties_init(properties: *mut vyre_program_properties) {
    entry!(value: (), {
        // SAFETY: the function's contract: null or valid for writes.
        unsafe { initialise(properties) }
    })
}

/// One binding of a program. Smallest struct_size: 16.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct vyre_binding_properties {
    /// sizeof(vyre_binding_properties); set by the caller.
    pub struct_size: u32,
    /// WGSL's group number.
    pub group: u32,
    /// WGSL's binding number.
    pub binding: u32,
    /// One of VYRE_ACCESS_*.
    pub access: vyre_access,
    /// Bytes of one element of the array that the binding is or ends in, else of the whole.
    pub element_size: u64,
    /// Smallest range in bytes that may be bound.
    pub min_size: u64,
    /// 1 if it ends in a runtime-sized array, else 0.
    pub runtime_sized: u32,
    /// 0.
    pub reserved: u32,
}

sized!(vyre_binding_properties, min 16, default {
    group: 0,
    binding: 0,
    access: 0,
    element_size: 0,
    min_size: 0,
    runtime_sized: 0,
    reserved: 0,
});

/// Sets struct_size and zeroes the rest, as VYRE_BINDING_PROPERTIES_INIT does.
///
/// @param properties the structure; NULL is ignored
///
/// Any thread may call. Cannot fail.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_binding_properties_init(properties: *mut vyre_binding_properties) {
    entry!(value: (), {
        // SAFETY: the function's contract: null or valid for writes.
        unsafe { initialise(properties) }
    })
}

impl From<&Reflection> for vyre_program_properties {
    fn from(reflection: &Reflection) -> vyre_program_properties {
        vyre_program_properties {
            struct_size: size_of::<vyre_program_properties>() as u32,
            workgroup_size: reflection.workgroup_size,
            workgroup_memory: reflection.workgroup_memory,
            immediates_size: reflection.immediates_size,
            binding_count: u32::try_from(reflection.bindings.len()).unwrap_or(u32::MAX),
            grid_barriers: reflection.grid_barriers,
            workgroup_barriers: reflection.workgroup_barriers,
            max_cooperative_workgroups: reflection.max_cooperative_workgroups,
        }
    }
}

impl From<&BindingInfo> for vyre_binding_properties {
    fn from(info: &BindingInfo) -> vyre_binding_properties {
        vyre_binding_properties {
            struct_size: size_of::<vyre_binding_properties>() as u32,
            group: info.group,
            binding: info.binding,
            access: match info.access {
                Access::Read => VYRE_ACCESS_READ,
                Access::ReadWrite => VYRE_ACCESS_READ_WRITE,
                Access::Uniform => VYRE_ACCESS_UNIFORM,
            },
            element_size: info.element_size,
            min_size: info.min_size,
            runtime_sized: u32::from(info.runtime_sized),
            reserved: 0,
        }
    }
}

pub(super) fn access(code: vyre_access) -> Option<Access> {
    match code {
        VYRE_ACCESS_READ => Some(Access::Read),
        VYRE_ACCESS_READ_WRITE => Some(Access::ReadWrite),
        VYRE_ACCESS_UNIFORM => Some(Access::Uniform),
        _ => None,
    }
}
