//! The typed program that every backend runs.
//!
//! A [`Program`] is one compute entry point after lowering: functions inlined, pointers resolved,
//! vectors and structures split into scalars, control flow structured and labelled. `types` and
//! `program` hold what a program is made of, `node` its statements, `expr` its pure computations,
//! `subgroup` what neighbouring invocations compute together.
//! `validate` checks the form and `uniformity` proves that barriers are met evenly;
//! `phases` cuts the program at its barriers, and `ranges` finds checks that cannot fail. `source` turns spans into lines and columns.

mod expr;
mod node;
pub mod phases;
mod print;
mod program;
pub mod ranges;
mod source;
mod subgroup;
#[cfg(test)]
pub mod testing;
mod types;
pub mod uniformity;
mod validate;

pub use expr::{Axis, BinaryOp, Builtin, CompareOp, Expr, MathOp, UnaryOp};
pub use node::{
    Access, AtomicOp, Barrier, BarrierId, Body, Case, Label, LocalId, Node, NodeKind, Region, Scope,
};
pub use program::{
    BufferAccess, BufferDecl, BufferId, BufferSpace, LocalDecl, Memory, MemoryId, Program,
    RuntimeArray, ValueDecl, layout,
};
pub use source::{Source, Span};
pub use subgroup::{Fold, SubgroupOp};
pub use types::{Const, Operand, Scalar, ValueId};
pub use validate::{MAX_NESTING, validate};
