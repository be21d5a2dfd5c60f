//! A whole program: declarations, tables and the body.

use super::{Barrier, Body, LocalId, Scalar, Scope, Source, Span, ValueId};

/// Index into [`Program::buffers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BufferId(pub u32);

impl BufferId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// Index into [`Program::workgroup`], [`Program::private`] or [`Program::constants`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MemoryId(pub u32);

impl MemoryId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BufferSpace {
    Storage,
    Uniform,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BufferAccess {
    Read,
    ReadWrite,
}

/// The runtime-sized array that ends a buffer; both in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuntimeArray {
    pub offset: u64,
    pub stride: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct BufferDecl {
    pub group: u32,
    pub binding: u32,
    pub name: String,
    pub space: BufferSpace,
    pub access: BufferAccess,
    /// Smallest bound range in bytes: a runtime-sized array counts with one element.
    pub min_size: u64,
    pub runtime: Option<RuntimeArray>,
    /// Bytes of one array element if the buffer is (or ends in) an array, else of the whole type.
    pub element_size: u64,
    pub span: Span,
}

impl BufferDecl {
    /// How many elements of the trailing runtime-sized array a bound range of `size` bytes holds.
    pub fn array_length(&self, size: u64) -> u32 {
        let Some(array) = self.runtime else { return 0 };
        let elements = size.saturating_sub(array.offset) / array.stride;
        u32::try_from(elements).unwrap_or(u32::MAX)
    }
}

/// A workgroup variable or a private array.
#[derive(Clone, Debug, PartialEq)]
pub struct Memory {
    pub name: String,
    /// In bytes.
    pub size: u64,
    /// A power of two.
    pub align: u32,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct ValueDecl {
    pub ty: Scalar,
    /// The source expression that it stands for, for messages.
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct LocalDecl {
    pub ty: Scalar,
    pub name: String,
}

/// One entry point, lowered.
#[derive(Clone, Debug)]
pub struct Program {
    pub source: Source,
    pub entry_point: String,
    /// Overrides applied; no dimension is zero.
    pub workgroup_size: [u32; 3],
    /// Sorted by (group, binding).
    pub buffers: Vec<BufferDecl>,
    pub workgroup: Vec<Memory>,
    pub private: Vec<Memory>,
    /// Read-only tables, little-endian.
    pub constants: Vec<Vec<u8>>,
    /// Bytes of immediates that a dispatch passes; 0 for none.
    pub immediates_size: u32,
    pub values: Vec<ValueDecl>,
    pub locals: Vec<LocalDecl>,
    pub barriers: Vec<Barrier>,
    pub body: Body,
}

impl Program {
    pub fn buffer(&self, id: BufferId) -> &BufferDecl {
        &self.buffers[id.index()]
    }

    pub fn value_type(&self, id: ValueId) -> Scalar {
        self.values[id.index()].ty
    }

    pub fn local_type(&self, id: LocalId) -> Scalar {
        self.locals[id.index()].ty
    }

    pub fn operand_type(&self, operand: super::Operand) -> Scalar {
        match operand {
            super::Operand::Value(id) => self.value_type(id),
            super::Operand::Const(c) => c.ty,
        }
    }

    /// Invocations of one workgroup.
    pub fn workgroup_invocations(&self) -> u64 {
        self.workgroup_size.iter().map(|&n| u64::from(n)).product()
    }

    /// Bytes of workgroup memory, with the padding between variables.
    pub fn workgroup_memory(&self) -> u64 {
        layout(&self.workgroup).1
    }

    pub fn has_grid_barrier(&self) -> bool {
        self.has_barrier(Scope::Grid)
    }

    pub fn has_barrier(&self, scope: Scope) -> bool {
        self.barriers.iter().any(|b| b.scope == scope)
    }
}

/// Offsets of memories laid one after the other at their alignments, and the bytes they take.
pub fn layout(memories: &[Memory]) -> (Vec<u64>, u64) {
    let mut end = 0u64;
    let offsets = memories
        .iter()
        .map(|m| {
            let offset = end.next_multiple_of(u64::from(m.align));
            end = offset + m.size;
            offset
        })
        .collect();
    (offsets, end)
}
