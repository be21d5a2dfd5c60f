//! A module as it is run.

use std::collections::HashMap;

use super::operand::Operand;
use super::quick::Quick;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    Global,
    Shared,
    Local,
    Param,
}

/// Base and offset.
#[derive(Clone, Copy, Debug)]
pub struct Address {
    pub space: Space,
    pub base: Operand,
    pub offset: u64,
    /// Of one element.
    pub size: usize,
}

/// A register and the bits that it has.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    pub register: u32,
    pub mask: u64,
}

#[derive(Debug)]
pub enum Kind {
    Branch(usize),
    End,
    /// The workgroup's barrier, and where the outcome of a vote there goes with one's own part.
    Barrier(Option<(Target, Operand)>),
    /// What a warp does together.
    Warp {
        op: Vec<&'static str>,
        target: Option<Target>,
        args: Vec<Operand>,
    },
    Nothing,
    Load {
        targets: Vec<Target>,
        from: Address,
        /// Somebody else may be about to write it.
        waits: bool,
        /// It is no wait, but its order is relaxed: somebody reports what is there.
        reports: bool,
    },
    Store {
        to: Address,
        values: Vec<Operand>,
    },
    Atomic {
        /// Absent for reductions.
        target: Option<Target>,
        at: Address,
        /// The operation and its type.
        op: [&'static str; 2],
        values: Vec<Operand>,
        /// As workgroups arrive at a barrier of the grid.
        arrives: bool,
    },
    Quick {
        op: Quick,
        target: Target,
        args: [Operand; 3],
    },
    Compute {
        op: Vec<&'static str>,
        target: Target,
        args: Vec<Operand>,
    },
}

#[derive(Debug)]
pub struct Instruction {
    /// A predicate's register, and what it must be.
    pub guard: Option<(u32, bool)>,
    pub kind: Kind,
    pub line: u32,
}

#[derive(Debug, Default)]
pub struct Kernel {
    pub name: String,
    pub code: Vec<Instruction>,
    pub registers: usize,
    /// Place and size of each parameter.
    pub parameters: Vec<(usize, usize)>,
    pub parameter_bytes: usize,
    /// Bytes of shared memory that are declared; what is asked for at the launch lies behind.
    pub shared: usize,
    pub local: usize,
    pub required: Option<[u32; 3]>,
}

/// A variable of the module's, in the device's memory.
#[derive(Debug)]
pub struct Variable {
    pub size: usize,
    pub bytes: Vec<u8>,
}

#[derive(Debug, Default)]
pub struct Module {
    pub kernels: Vec<Kernel>,
    pub variables: HashMap<String, Variable>,
}
