//! A program on its way from text to a backend: `build` lowers and checks it, on a stack that `stack`
//! provides, and [`Reflection`] is what a caller may know about it.

mod build;
mod stack;

pub use build::{Checked, Limits, build};
pub use stack::on_a_large_stack;

use crate::ir::{self, BufferAccess, BufferSpace, Scope};

/// How a program uses a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// `var<storage, read>`
    Read,
    /// `var<storage, read_write>`
    ReadWrite,
    /// `var<uniform>`
    Uniform,
}

#[derive(Clone, Debug, PartialEq)]
pub struct BindingInfo {
    pub group: u32,
    pub binding: u32,
    pub name: String,
    pub access: Access,
    /// Bytes of one element of the array that the binding is or ends in, else of the whole.
    pub element_size: u64,
    /// Smallest range in bytes that may be bound.
    pub min_size: u64,
    /// Whether it ends in a runtime-sized array.
    pub runtime_sized: bool,
}

/// A program's interface.
#[derive(Clone, Debug, PartialEq)]
pub struct Reflection {
    pub entry_point: String,
    pub label: Option<String>,
    pub workgroup_size: [u32; 3],
    /// In bytes.
    pub workgroup_memory: u64,
    /// In bytes; a dispatch passes exactly this many.
    pub immediates_size: u32,
    /// Sorted by (group, binding).
    pub bindings: Vec<BindingInfo>,
    /// Call sites after inlining.
    pub grid_barriers: u32,
    pub workgroup_barriers: u32,
    /// Largest grid that a dispatch with a grid barrier may have.
    pub max_cooperative_workgroups: u64,
}

impl Reflection {
    pub fn of(program: &ir::Program, max_cooperative_workgroups: u64) -> Reflection {
        let sites = |scope: Scope| {
            let n = program.barriers.iter().filter(|b| b.scope == scope).count();
            u32::try_from(n).unwrap_or(u32::MAX)
        };
        Reflection {
            entry_point: program.entry_point.clone(),
            label: program.source.label().map(str::to_owned),
            workgroup_size: program.workgroup_size,
            workgroup_memory: program.workgroup_memory(),
            immediates_size: program.immediates_size,
            bindings: program.buffers.iter().map(BindingInfo::of).collect(),
            grid_barriers: sites(Scope::Grid),
            workgroup_barriers: sites(Scope::Workgroup),
            max_cooperative_workgroups,
        }
    }
}

impl BindingInfo {
    pub fn of(buffer: &ir::BufferDecl) -> BindingInfo {
        BindingInfo {
            group: buffer.group,
            binding: buffer.binding,
            name: buffer.name.clone(),
            access: match (buffer.space, buffer.access) {
                (BufferSpace::Uniform, _) => Access::Uniform,
                (BufferSpace::Storage, BufferAccess::Read) => Access::Read,
                (BufferSpace::Storage, BufferAccess::ReadWrite) => Access::ReadWrite,
            },
            element_size: buffer.element_size,
            min_size: buffer.min_size,
            runtime_sized: buffer.runtime.is_some(),
        }
    }
}
