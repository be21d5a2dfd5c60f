//! Which backend to acquire, and what was got.

use super::args::{flags, invalid};
use super::entry::entry;
use super::sized::{initialise, sized};
use crate::backend::{BackendDesc, BackendInfo, Choice, Kind};
use crate::error::Result;

/// One of VYRE_BACKEND_*.
pub type vyre_backend_kind = u32;

/// CUDA device `ordinal` if it can be used, else the CPU; vyre_backend_reason() says which and why.
pub const VYRE_BACKEND_AUTO: u32 = 0;
/// The processors of this machine.
pub const VYRE_BACKEND_CPU: u32 = 1;
/// A CUDA device.
pub const VYRE_BACKEND_CUDA: u32 = 2;

/// Which backend to acquire. Smallest struct_size: 8.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct vyre_backend_desc {
    /// sizeof(vyre_backend_desc).
    pub struct_size: u32,
    /// One of VYRE_BACKEND_*; default VYRE_BACKEND_AUTO.
    pub kind: vyre_backend_kind,
    /// CUDA device, from 0; the CPU ignores it.
    pub ordinal: u32,
    /// Threads of the CPU backend, the dispatching one included; 0: as many as the process may run on. More
    /// than 1024 count as 1024; vyre_backend_info() says how many there are.
    pub cpu_threads: u32,
    /// No flag is defined yet: 0.
    pub flags: u64,
}

sized!(vyre_backend_desc, min 8, default {
    kind: VYRE_BACKEND_AUTO,
    ordinal: 0,
    cpu_threads: 0,
    flags: 0,
});

/// Fills a description with its defaults, as VYRE_BACKEND_DESC_INIT does.
///
/// @param desc the description; NULL is ignored
///
/// Any thread may call. Cannot fail.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_backend_desc_init(desc: *mut vyre_backend_desc) {
    entry!(value: (), {
        // SAFETY: the function's contract: null or valid for writes.
        unsafe { initialise(desc) }
    })
}

/// What a backend is and what it allows. Every limit is the one that is enforced. Smallest struct_size: 8.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct vyre_backend_properties {
    /// sizeof(vyre_backend_properties); set by the caller.
    pub struct_size: u32,
    /// VYRE_BACKEND_CPU or VYRE_BACKEND_CUDA.
    pub kind: vyre_backend_kind,
    /// CUDA device; 0 on the CPU.
    pub ordinal: u32,
    /// Threads of the CPU backend, streaming multiprocessors of a CUDA device.
    pub units: u32,
    /// CUDA's, 0 on the CPU.
    pub compute_capability_major: u32,
    /// CUDA's, 0 on the CPU.
    pub compute_capability_minor: u32,
    /// Bytes of memory that the device has.
    pub memory: u64,
    /// Largest workgroup in each dimension, in invocations.
    pub max_workgroup_size: [u32; 3],
    /// Largest workgroup in all, in invocations.
    pub max_workgroup_invocations: u32,
    /// Bytes of workgroup memory that a program may declare.
    pub max_workgroup_memory: u64,
    /// Largest grid in each dimension, in workgroups.
    pub max_workgroups: [u32; 3],
    /// Invocations of a subgroup.
    pub subgroup_size: u32,
    /// Largest buffer in bytes.
    pub max_buffer_size: u64,
    /// Bytes of immediates that a program may declare.
    pub max_immediates_size: u32,
    /// 1 if programs with a grid barrier run, else 0.
    pub cooperative: u32,
    /// Time limit of a dispatch that names none, in nanoseconds.
    pub default_timeout_ns: u64,
}

sized!(vyre_backend_properties, min 8, default {
    kind: 0,
    ordinal: 0,
    units: 0,
    compute_capability_major: 0,
    compute_capability_minor: 0,
    memory: 0,
    max_workgroup_size: [0; 3],
    max_workgroup_invocations: 0,
    max_workgroup_memory: 0,
    max_workgroups: [0; 3],
    subgroup_size: 0,
    max_buffer_size: 0,
    max_immediates_size: 0,
    cooperative: 0,
    default_timeout_ns: 0,
});

/// Sets struct_size and zeroes the rest, as VYRE_BACKEND_PROPERTIES_INIT does.
///
/// @param properties the structure; NULL is ignored
///
/// Any thread may call. Cannot fail.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn vyre_backend_properties_init(properties: *mut vyre_backend_properties) {
    entry!(value: (), {
        // SAFETY: the function's contract: null or valid for writes.
        unsafe { initialise(properties) }
    })
}

impl vyre_backend_desc {
    pub(super) fn parse(&self) -> Result<BackendDesc> {
        flags(self.flags, 0, "desc->flags")?;
        Ok(BackendDesc {
            choice: match self.kind {
                VYRE_BACKEND_AUTO => Choice::Auto,
                VYRE_BACKEND_CPU => Choice::Cpu,
                VYRE_BACKEND_CUDA => Choice::Cuda,
                kind => {
                    return Err(invalid(format!(
                        "desc->kind is {kind}; VYRE_BACKEND_AUTO (0), _CPU (1) or _CUDA (2) was expected"
                    )));
                }
            },
            ordinal: self.ordinal,
            cpu_threads: self.cpu_threads,
        })
    }
}

impl From<&BackendInfo> for vyre_backend_properties {
    fn from(info: &BackendInfo) -> vyre_backend_properties {
        vyre_backend_properties {
            struct_size: size_of::<vyre_backend_properties>() as u32,
            kind: kind_code(info.kind),
            ordinal: info.ordinal,
            units: info.units,
            compute_capability_major: info.compute_capability.0,
            compute_capability_minor: info.compute_capability.1,
            memory: info.memory,
            max_workgroup_size: info.max_workgroup_size,
            max_workgroup_invocations: info.max_workgroup_invocations,
            max_workgroup_memory: info.max_workgroup_memory,
            max_workgroups: info.max_workgroups,
            subgroup_size: info.subgroup_size,
            max_buffer_size: info.max_buffer_size,
            max_immediates_size: info.max_immediates_size,
            cooperative: u32::from(info.cooperative),
            default_timeout_ns: u64::try_from(info.default_timeout.as_nanos()).unwrap_or(u64::MAX),
        }
    }
}

pub(super) fn kind_code(kind: Kind) -> vyre_backend_kind {
    match kind {
        Kind::Cpu => VYRE_BACKEND_CPU,
        Kind::Cuda => VYRE_BACKEND_CUDA,
    }
}
